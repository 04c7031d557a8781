"""CPU seconds of the trainings of a finished `reproduce front`, and as multiples of those of MSE.

    python bench/front_table.py runs/front

Means over seeds, if there are several.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiment_cells import cpu_seconds


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the experiment")
    seconds = cpu_seconds(parser.parse_args().folder)
    means = {key: sum(values) / len(values) for key, values in seconds.items()}
    print("| problem | method | seconds | MSE's seconds | multiple |\n|---|---|---:|---:|---:|")
    for (problem, method), own in means.items():
        base = means[problem, "MSE"]
        multiple = own / base
        shown = f"{multiple:.0f}" if multiple >= 100 else f"{multiple:.2g}"
        print(f"| {problem} | {method} | {own:.3g} | {base:.2g} | {shown} |")


if __name__ == "__main__":
    main()
