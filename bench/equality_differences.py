"""Component E and component S, seed by seed, of a finished `reproduce equality`.

    python bench/equality_differences.py runs/equality

Cells are mean and standard deviation of the test regret relative to MSE; the lowest mean of a
problem is bold. E − S is the mean of the differences of these ratios, seed by seed, with the number
of seeds in which E is lower.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from experiment_cells import read_table

# In the order of the table; each is followed by the same loss with E in place of S.
METHODS = [f"{base}({components}S)" for base in ("MSE", "MAE") for components in ("", "O,", "C,O,")]


def with_equality(method: str) -> str:
    """Return the name of a loss with E in place of S."""
    return re.sub(r"S\)$", "E)", method)


def signed(value: float, digits: int) -> str:
    """Format a number with its sign, a minus and not a hyphen."""
    return f"{value:+.{digits}f}".replace("-", "−")


def difference(ratios: dict[str, dict[str, float]], method: str) -> str:
    """Return the cell of E − S for a loss with S: the mean, and how often E is lower."""
    base, changed = ratios.get(method, {}), ratios.get(with_equality(method), {})
    values = [changed[seed] - base[seed] for seed in changed if seed in base]
    if not values:
        return ""
    lower = sum(value < 0 for value in values)
    return f"{signed(sum(values) / len(values), 3)} ({lower})"


def ratio_cells(summary: list[dict[str, str]], problem: str) -> dict[str, str]:
    """Return mean and standard deviation of every method on a problem, the lowest mean bold."""
    rows = {
        row["method"]: row for row in summary if row["problem"] == problem and row["ratio_mean"]
    }
    lowest = min(rows, key=lambda method: float(rows[method]["ratio_mean"]), default="")
    cells = {}
    for method, row in rows.items():
        text = f"{float(row['ratio_mean']):.2f}"
        if row["ratio_sd"]:
            text += f" ± {float(row['ratio_sd']):.2f}"
        cells[method] = f"**{text}**" if method == lowest else text
    return cells


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the experiment")
    folder = parser.parse_args().folder
    summary = read_table(folder / "summary.csv")
    # Problems in their order, with the number of seeds.
    seeds = {row["problem"]: row["seeds"] for row in summary}
    ratios: dict[str, dict[str, dict[str, float]]] = {problem: {} for problem in seeds}
    for row in read_table(folder / "cells.csv"):
        if row["ratio"]:
            of_method = ratios[row["problem"]].setdefault(row["method"], {})
            of_method[row["seed"]] = float(row["ratio"])
    cells = {problem: ratio_cells(summary, problem) for problem in seeds}
    headings = [f"{problem} ({count} seeds) | E − S" for problem, count in seeds.items()]
    print("| method | " + " | ".join(headings) + " |")
    print("|---|" + "---:|---:|" * len(seeds))
    for method in METHODS:
        equality = with_equality(method)
        without = [f"{cells[problem].get(method, '')} | " for problem in seeds]
        with_it = [
            f"{cells[problem].get(equality, '')} | {difference(ratios[problem], method)}"
            for problem in seeds
        ]
        print(f"| {method} | " + " | ".join(without) + " |")
        print(f"| {equality} | " + " | ".join(with_it) + " |")


if __name__ == "__main__":
    main()
