"""Ratios of `auto` to the best single method, seed by seed, of a finished `reproduce auto`.

    python bench/auto_ratios.py runs/auto [--seconds]

The best single method of a problem is the one with the lowest mean of normalized regrets.
`--seconds` prints the CPU seconds of the searches instead.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from experiment_cells import cpu_seconds, read_table

SEARCHES = ("auto, linear", "auto")


def quantile(values: list[float], level: float) -> float:
    """Return a quantile, interpolated between the two nearest values."""
    ordered = sorted(values)
    place = level * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def print_seconds(folder: Path) -> None:
    """Print the CPU seconds of all searches."""
    print("| problem | method | CPU seconds, mean (most) |\n|---|---|---:|")
    for (problem, method), seconds in cpu_seconds(folder).items():
        if method in SEARCHES:
            mean, most = sum(seconds) / len(seconds), max(seconds)
            print(f"| {problem} | {method} | {mean:.1f} ({most:.1f}) |")


def print_ratios(folder: Path) -> None:
    """Print the ratios of every problem and search."""
    singles: dict[str, tuple[float, str]] = {}
    for row in read_table(folder / "summary.csv"):
        if row["method"] not in SEARCHES and row["normalized_regret"]:
            candidate = (float(row["normalized_regret"]), row["method"])
            singles[row["problem"]] = min(singles.get(row["problem"], candidate), candidate)
    # To MSE: the ratio of two such ratios is that of the regrets.
    ratios: dict[tuple[str, str], dict[str, float]] = {}
    for row in read_table(folder / "cells.csv"):
        if row["ratio"]:
            of_method = ratios.setdefault((row["problem"], row["method"]), {})
            of_method[row["seed"]] = float(row["ratio"])
    print("| problem | method | single method | mean ratio to it | 95th percentile | highest |")
    print("|---|---|---|---:|---:|---:|")
    for problem, (_, single) in singles.items():
        for search in SEARCHES:
            found = ratios.get((problem, search))
            if found is not None:
                base = ratios[problem, single]
                values = [ratio / base[seed] for seed, ratio in found.items()]
                mean, highest = sum(values) / len(values), max(values)
                print(
                    f"| {problem} | {search} | {single} | {mean:.4f} "
                    f"| {quantile(values, 0.95):.4f} | {highest:.4f} |"
                )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the experiment")
    parser.add_argument("--seconds", action="store_true")
    arguments = parser.parse_args()
    if arguments.seconds:
        print_seconds(arguments.folder)
    else:
        print_ratios(arguments.folder)


if __name__ == "__main__":
    main()
