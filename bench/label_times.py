"""CPU time of labeling the rows of generated tables, one thread: milliseconds a row.

    python bench/label_times.py [--program regretless] [--case KS32 ...]

A table is labeled by `regretless label`, with reading the costs, checking the decisions and writing
the labels. Printed is the least of three runs, since other work on the machine only adds time.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

# Rows of each benchmark: labels of all of them take some seconds at most.
CASES = {
    "SP5x5": 2000,
    "SP30x30": 500,
    "ROAD400": 1000,
    "KS32": 2000,
    "KS500": 100,
    "AP25": 1000,
    "AP100": 200,
    "MCK40x5": 1000,
    "TP6x8": 1000,
    "MST20": 1000,
    "STORAGE48": 1000,
    "TSP20": 1000,
    "TSP50": 300,
    "CVRP20": 60,
}
RUNS = 3
# No benchmark generates this problem: a table of random numbers.
TOP_K = "top 10 of 50 (CSV)"
TOP_K_ROWS = 2000


def write_top_k(folder: Path) -> list[str]:
    """Write a table and its problem; return the options that name them."""
    generator = random.Random(1)
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(f"c{item}" for item in range(50))
        for _ in range(TOP_K_ROWS):
            writer.writerow(round(generator.uniform(1, 9), 4) for _ in range(50))
    problem = 'kind = "top_k"\nitems = 50\nk = 10\nsense = "maximize"\n'
    (folder / "problem.toml").write_text(problem)
    return ["--data", "table.csv", "--costs", "c*"]


def cpu_seconds(words: list[str], folder: Path) -> float:
    """Run a command and return the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(program: str, name: str) -> tuple[int, float]:
    """Return the rows of a case and the milliseconds that one takes."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        if name == TOP_K:
            rows, data = TOP_K_ROWS, write_top_k(folder)
        else:
            rows, data = CASES[name], ["--cost-data", "costs.npy"]
            generate = [program, "generate", "--benchmark", name, "--instances", str(rows)]
            subprocess.run(
                [*generate, "--format", "npy", "--out", text, "--force"],
                check=True,
                capture_output=True,
            )
        seconds = []
        for _ in range(RUNS):
            for labels in folder.glob("*.labels"):
                shutil.rmtree(labels)
            words = [program, "label", *data, "--problem", "problem.toml", "--threads", "1"]
            seconds.append(cpu_seconds(words, folder))
        return rows, 1e3 * min(seconds) / rows


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="regretless")
    parser.add_argument("--case", nargs="+", default=[*CASES, TOP_K])
    arguments = parser.parse_args()
    program = shutil.which(arguments.program)
    if program is None:
        parser.error(f"there is no program {arguments.program}")
    print("| problem | rows | ms a row |\n|---|---:|---:|")
    for name in arguments.case:
        rows, milliseconds = measured(str(Path(program).resolve()), name)
        print(f"| {name} | {rows:,} | {milliseconds:.2g} |", flush=True)


if __name__ == "__main__":
    main()
