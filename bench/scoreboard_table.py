"""Regrets and ranks of `auto` on the tasks of a finished `reproduce scoreboard`.

    python bench/scoreboard_table.py runs/scoreboard [--seconds | --ranks]

The rank on a task is one more than the number of published methods with a lower mean regret.
`--seconds` prints the mean seconds of a search, `--ranks` the mean ranks over all tasks, and over
those without `cubic`, whose costs no linear predictor can represent.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

OURS = ("auto", "auto, linear")
NOT_LINEAR = "cubic"


def digits(mean: float) -> int:
    """Return the decimals of a regret: four, or six where four would show zeros."""
    return 4 if mean >= 1e-4 else 6


def shown(sample: dict) -> str:
    """Return a mean with its standard deviation; a single seed has none."""
    spread = sample["spread"]
    places = digits(spread["mean"])
    deviation = "" if spread["sd"] is None else f" ± {spread['sd']:.{places}f}"
    return f"{spread['mean']:.{places}f}{deviation}"


def interval(sample: dict) -> str:
    """Return the interval of a mean; a single seed has none."""
    if sample["interval"] is None:
        return ""
    places = digits(sample["spread"]["mean"])
    return f"{sample['interval']['lower']:.{places}f} to {sample['interval']['upper']:.{places}f}"


def rank(task: dict, mean: float) -> int:
    """Return the rank of a mean regret among the published methods of a task."""
    others = [sample["spread"]["mean"] for sample in task["published_regrets"].values()]
    return 1 + sum(other < mean for other in others)


def methods(task: dict) -> dict[str, dict]:
    """Return our results of a task by the name of the method."""
    return {method["name"]: method for method in task["methods"] if method["regret_sample"]}


def print_regrets(tasks: list[dict]) -> None:
    """Print a row for every task and method."""
    print("| task | method | regret | 95 % interval | rank | best published |")
    print("|---|---|---:|---|---:|---|")
    for task in tasks:
        published = task["published_regrets"].values()
        best = min(published, key=lambda sample: sample["spread"]["mean"])
        for name, method in methods(task).items():
            sample = method["regret_sample"]
            place = rank(task, sample["spread"]["mean"])
            cells = [shown(sample), interval(sample), str(place), shown(best)]
            print(f"| {task['name']} | {name} | {' | '.join(cells)} |")


def print_seconds(tasks: list[dict]) -> None:
    """Print the mean seconds of a training."""
    print("| task | method | seconds |\n|---|---|---:|")
    for task in tasks:
        for name, method in methods(task).items():
            print(f"| {task['name']} | {name} | {method['seconds']['mean']:.1f} |")


def ranks_of(task: dict) -> dict[str, int]:
    """Return the ranks of all methods of a task, ours and published."""
    means = {name: method["regret_sample"]["spread"] for name, method in methods(task).items()}
    means |= {name: sample["spread"] for name, sample in task["published_regrets"].items()}
    return {name: rank(task, spread["mean"]) for name, spread in means.items()}


def print_ranks(tasks: list[dict]) -> None:
    """Print mean ranks of ours and of the published method with the best one."""
    every = {task["name"]: ranks_of(task) for task in tasks}
    linear = [ranks for name, ranks in every.items() if name != NOT_LINEAR]
    if not linear:
        raise SystemExit(f"scoreboard_table: mean ranks need a task other than {NOT_LINEAR}")
    on_all = set.intersection(*(set(ranks) for ranks in every.values()))

    def mean_rank(name: str, of_tasks: list[dict[str, int]]) -> float:
        return sum(ranks[name] for ranks in of_tasks) / len(of_tasks)

    published = [name for name in on_all if name in tasks[0]["published_regrets"]]
    best = min(sorted(published), key=lambda name: mean_rank(name, [*every.values()]))
    print(f"| method | mean rank, {len(every)} tasks | without {NOT_LINEAR} |")
    print("|---|---:|---:|")
    for name, label in [*((name, name) for name in OURS), (best, f"best published ({best})")]:
        if name in on_all:
            means = [mean_rank(name, [*every.values()]), mean_rank(name, linear)]
            print(f"| {label} | {means[0]:.2f} | {means[1]:.2f} |")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the experiment")
    parser.add_argument("--seconds", action="store_true")
    parser.add_argument("--ranks", action="store_true")
    arguments = parser.parse_args()
    tasks = json.loads((arguments.folder / "results.json").read_text())["problems"]
    if arguments.seconds:
        print_seconds(tasks)
    elif arguments.ranks:
        print_ranks(tasks)
    else:
        print_regrets(tasks)


if __name__ == "__main__":
    main()
