"""Generate, label and train where a row has 12,497,500 costs: time and memory of each step.

    python bench/large_data.py [--program regretless] [--nodes 5000] [--folder FOLDER]
                               [--json measurements.json]

A TSP with 50 rows, 2.5 GB of costs with 5000 nodes; the files take 5 GB in all, in a temporary
folder unless one is named. Memory is in GB of 10⁹ bytes: the peak of the resident size, as the
system records it, and the peak of its anonymous part (RssAnon in /proc, read every hundredth of a
second), which is without the pages of the mapped file. Needs Linux.

`--json` writes what else is measured: seconds of an epoch, sizes of checkpoint and model, and the
normalized regret of the two test rows after 10 epochs, and after one with the default learning
rate. A training that is killed at its first checkpoint, and resumed, must finish with the same
bytes; otherwise the script ends with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import commands
from commands import Finished, run

ROWS = 50
SPLIT = "46,2,2"
EPOCHS = 10
LABELS = [
    *("--cost-data", "large/costs.npy", "--problem", "large/problem.toml"),
    *("--heuristic", "local-search", "--threads", "2"),
]
LONG = ["--learning-rate", "0.1", "--epochs", str(EPOCHS)]
GB = 1e9
# Seconds between two looks for a checkpoint.
INTERVAL = 0.001


def kill_at_checkpoint(words: list[str], folder: Path, model: str) -> float:
    """Kill a training when its first checkpoint is written; return the GB of that."""
    print(" ".join(words), "# killed", file=sys.stderr, flush=True)
    # Gets this name when it is complete.
    checkpoint = folder / f"{model}.checkpoints" / "epoch.safetensors"
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    while process.poll() is None and not checkpoint.exists():
        time.sleep(INTERVAL)
    process.kill()
    if process.wait() == 0 or not checkpoint.exists():
        sys.exit("the training ended before it was killed; take more nodes")
    return checkpoint.stat().st_size / GB


def digest(path: Path) -> str:
    """Return a hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def epoch_seconds(path: Path) -> list[float]:
    """Return the seconds of every epoch; the file has those since the start."""
    with path.open(newline="") as file:
        ends = [float(row["seconds"]) for row in csv.DictReader(file)]
    return [end - begin for begin, end in zip(ends, ends[1:])]


def train_words(program: str) -> list[str]:
    """Return the command of a training, without learning rate, epochs and model."""
    return [
        *(program, "train", "--data", "large/features.npy", *LABELS),
        *("--select", "validation-loss", "--split", SPLIT, "--json"),
    ]


def run_steps(program: str, nodes: int, folder: Path) -> dict[str, Finished]:
    """Generate, label and train; return what each took."""
    benchmark = ["--benchmark", f"TSP{nodes}", "--instances", str(ROWS)]
    words = {
        f"generate {ROWS} rows": [
            *(program, "generate", *benchmark, "--format", "npy", "--out", "large"),
        ],
        f"label {ROWS} rows by local search, 2 threads": [program, "label", *LABELS],
        f"train {EPOCHS} epochs of MAE(O,S), a checkpoint, evaluate 4 rows": [
            *(*train_words(program), *LONG, "--out", "large/model.safetensors"),
        ],
    }
    return {name: run(command, folder) for name, command in words.items()}


def check_resuming(program: str, folder: Path, expected: str) -> float:
    """Kill a training, resume it and compare its model; return the GB of the checkpoint."""
    model = "large/resumed.safetensors"
    words = [*train_words(program), *LONG, "--checkpoint-interval", "0", "--out", model]
    checkpoint = kill_at_checkpoint(words, folder, model)
    if "resuming after epoch" not in run(words, folder).messages:
        sys.exit("the training that was killed did not resume")
    if digest(folder / model) != expected:
        sys.exit("the training that was killed and resumed has other bytes")
    (folder / model).unlink()
    return checkpoint


def other_measurements(program: str, training: Finished, folder: Path) -> dict[str, object]:
    """Measure what the table does not have, after the steps of the table."""
    model = folder / "large" / "model.safetensors"
    epochs = epoch_seconds(folder / "large" / "model.epochs.csv")
    checkpoint = check_resuming(program, folder, digest(model))
    words = [*train_words(program), "--epochs", "1", "--out", "large/short.safetensors"]
    short = run(words, folder)
    return {
        "epoch_seconds_min": min(epochs),
        "epoch_seconds_max": max(epochs),
        "checkpoint_gb": checkpoint,
        "model_gb": model.stat().st_size / GB,
        "normalized_regret": normalized_regret(training),
        "normalized_regret_after_one_epoch": normalized_regret(short),
        "resumed_has_same_bytes": True,
    }


def normalized_regret(training: Finished) -> float:
    """Return the normalized regret of the test rows that a training printed."""
    return json.loads(training.printed)["test"]["normalized_regret"]


def shown(seconds: float) -> str:
    """Format seconds: whole ones, or two digits where they are few."""
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="regretless")
    parser.add_argument("--nodes", type=int, default=5000, help="fewer, to try the script")
    parser.add_argument("--folder", type=Path, help="where the files are kept")
    parser.add_argument("--json", type=Path, help="file of the other measurements")
    arguments = parser.parse_args()
    program = commands.find_program(parser, arguments.program)
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        steps = run_steps(program, arguments.nodes, folder)
        *_, training = steps.values()
        others = other_measurements(program, training, folder)
    print(json.dumps(others, indent=2), file=sys.stderr)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(others, indent=2) + "\n")
    print("| step | CPU seconds | wall seconds | peak resident | without mapped pages |")
    print("|---|--:|--:|--:|--:|")
    for name, step in steps.items():
        times = f"{shown(step.cpu_seconds)} | {shown(step.wall_seconds)}"
        peaks = f"{step.peak_bytes / GB:.2f} | {step.peak_anonymous_bytes / GB:.2f}"
        print(f"| {name} | {times} | {peaks} |")


if __name__ == "__main__":
    main()
