"""Tours and routes of the paper's synthetic data: medians of solves, projections, memory.

    python bench/synthetic_routes.py                     # milliseconds of a solve
    python bench/synthetic_routes.py --table projections
    python bench/synthetic_routes.py --table memory [--program regretless]

Times and memory are what the benchmarks of the library print, which cargo builds and runs in this
checkout: the ignored tests `tsp_benchmark` and the benchmarks `cvrp`, `relax` and `memory`. Times
are CPU times of one thread. Up to 100 nodes they are the least of several runs, and in parentheses
those of the first run.

Memory is the peak while 200 rows of TSP1000 are labeled on two threads, in MB of 2²⁰ bytes; `label`
takes minutes for the true costs.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import commands

# The test that measures an instance, and the name that it prints.
TOURS = {
    "TSP20": ("branch_and_bound_20", "TSP20"),
    "TSP50": ("branch_and_bound_50", "TSP50"),
    "TSP100": ("branch_and_cut_100", "CUT100"),
    "TSP250": ("branch_and_cut_250", "CUT250"),
    "TSP500": ("branch_and_cut_500", "CUT500"),
    "TSP1000, at most 400 tree nodes": ("branch_and_cut_1000", "CUT1000"),
}
RELAXATIONS = {
    "TSP1000, degree relaxation + cost ranging": ("relaxations_1000", "RELAX1000", "Plain"),
    "TSP1000, subtour relaxation + cost ranging": ("relaxations_1000", "RELAX1000", "Tight"),
}
ROUTES = ["CVRP20", "CVRP30", "CVRP40"]
# Largest number of nodes of which the tests repeat every solve.
MAX_REPEATED_NODES = 100
# Names of the costs in the output: true, and predicted by least squares.
KINDS = ["c", "h"]
PROJECTIONS = ["TSP20", "TSP100", "TSP250"]
MEMORY_ROWS = 200
MB = 2**20


def shown(milliseconds: float) -> str:
    """Format a time with three digits."""
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def find(pattern: str, printed: str) -> re.Match:
    """Return the line that a benchmark printed, or end with an error."""
    found = re.search(pattern, printed)
    if found is None:
        sys.exit(f"no benchmark printed {pattern}")
    return found


def tour_cell(printed: str, name: str, kind: str) -> str:
    """Return the median of a tour, with that of the first run and with what was not proven."""
    line = find(
        rf"\b{name} +{kind} +median +([\d.]+) ms \(first run +([\d.]+)\).* unproven (\d+)", printed
    )
    median, first, unproven = float(line[1]), float(line[2]), int(line[3])
    cell = shown(median)
    if int(re.sub(r"\D", "", name)) <= MAX_REPEATED_NODES:
        cell += f" ({shown(first)})"
    return f"{cell}, {unproven} unproven" if unproven else cell


def relaxation_cell(printed: str, name: str, kind: str, relaxation: str) -> str:
    """Return the medians of a relaxation and of its cost ranging."""
    line = find(
        rf"\b{name} +{kind} +{relaxation} median +([\d.]+) ms, ranging +([\d.]+) ms", printed
    )
    return f"{shown(float(line[1]))} + {shown(float(line[2]))}"


def route_cell(printed: str, name: str, kind: str) -> str:
    """Return the median of a CVRP."""
    line = find(rf"\b{name} {kind}: median ([\d.]+) ms .* unproven (\d+)", printed)
    unproven = int(line[2])
    cell = shown(float(line[1]))
    return f"{cell}, {unproven} unproven" if unproven else cell


def print_solves() -> None:
    """Print the medians of solves."""
    tests = {test for test, *_ in [*TOURS.values(), *RELAXATIONS.values()]}
    names = [f"tests::tsp_benchmark::{test}" for test in sorted(tests)]
    printed = commands.cargo(
        [
            *("test", "--release", "--locked", "-p", "regretless", "--lib", "--"),
            *(*names, "--exact", "--ignored", "--nocapture", "--test-threads", "1"),
        ]
    )
    routes = commands.cargo(["bench", "--locked", "-p", "regretless", "--bench", "cvrp"])
    print("| problem | true costs (ms) | predicted costs (ms) |\n|---|---:|---:|")
    for row, (_, name) in TOURS.items():
        print_row(row, [tour_cell(printed, name, kind) for kind in KINDS])
    for row, (_, name, relaxation) in RELAXATIONS.items():
        print_row(row, [relaxation_cell(printed, name, kind, relaxation) for kind in KINDS])
    for name in ROUTES:
        print_row(name, [route_cell(routes, name, kind) for kind in KINDS])


def print_projections() -> None:
    """Print the medians of projections onto the normal cone of a tour."""
    printed = commands.cargo(
        ["bench", "--locked", "-p", "regretless", "--bench", "relax", "--", *PROJECTIONS]
    )
    print("| problem | projection (ms) |\n|---|---:|")
    for name in PROJECTIONS:
        line = find(rf"\b{name} projection +median +([\d.]+) µs", printed)
        print_row(name, [shown(float(line[1]) / 1e3)])


def peaks(words: list[str]) -> tuple[int, int]:
    """Run the benchmark of memory; return the peak in MB before the first solve and at the end."""
    rows = str(MEMORY_ROWS)
    printed = commands.cargo(
        ["bench", "--locked", "-p", "regretless", "--bench", "memory", "--", rows, rows, *words]
    )
    table = find(rf"{rows} rows of \d+ costs: .* (\d+) MB at most", printed)
    solved = find(rf"{rows} rows solved: .* (\d+) MB at most", printed)
    return int(table[1]), int(solved[1])


def print_memory(program: str) -> None:
    """Print peaks of labeling."""
    table, solved = peaks([])
    _, warm = peaks(["warm"])
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        generate = [program, "generate", "--benchmark", "TSP1000", "--instances", str(MEMORY_ROWS)]
        commands.run([*generate, "--format", "npy", "--out", "tours"], folder)
        files = ["--cost-data", "tours/costs.npy", "--problem", "tours/problem.toml"]
        label = commands.run([program, "label", *files, "--threads", "2"], folder)
    print("| labeling 200 rows of TSP1000 | peak (MB) | CPU seconds | wall seconds |")
    print("|---|---:|---:|---:|")
    print_row("the table itself, before the first row", [f"{table}", "", ""])
    print_row("predicted costs", [f"{solved}", "", ""])
    print_row("predicted costs, a warm start of every row", [f"{warm}", "", ""])
    seconds = [f"{value:.0f}" for value in (label.cpu_seconds, label.wall_seconds)]
    print_row("true costs, `regretless label`", [f"{label.peak_bytes / MB:.0f}", *seconds])


def print_row(name: str, cells: list[str]) -> None:
    """Print a row of a table."""
    print("| " + " | ".join([name, *cells]) + " |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="regretless")
    parser.add_argument("--table", choices=["solves", "projections", "memory"], default="solves")
    arguments = parser.parse_args()
    if arguments.table == "solves":
        print_solves()
    elif arguments.table == "projections":
        print_projections()
    else:
        print_memory(commands.find_program(parser, arguments.program))


if __name__ == "__main__":
    main()
