"""Published tours and routes, solved by `regretless solve`: objective, dual bound and CPU time.

    python bench/published_instances.py [--program regretless] [--no-tree-nodes]

Objectives and dual bounds are compared with the published optima in `testdata`: a search without
limits must prove the optimum, one with limits must have it between bound and objective. Seconds are
CPU seconds of the whole command; of three runs the least where they are short, since other work on
the machine only adds time.

The program does not print tree nodes; they are those that the unit tests of the same searches
print, whose objectives and dual bounds must be the same. Tours of up to 64 nodes have none: the
program solves them by branch and bound on 1-trees, the tests by branch and cut.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import commands

DATA = commands.ROOT / "testdata"
# As `BRANCH_AND_BOUND_MAX_NODES` of `Tsp`.
MAX_BRANCH_AND_BOUND_NODES = 64
RUNS = 3
# A run that takes longer is not repeated.
MAX_SECONDS_OF_REPEATED_RUNS = 5.0
# The instance whose published optimum is that of its numbers read by rows, and its optimum when
# they are read by columns, as its file states.
BY_COLUMNS, OPTIMUM_BY_COLUMNS = "E-n13-k4", 290.0

TOURS = "published_tours_are_optimal"
ROUTES = "published_routes_are_optimal"
COLUMNS = "dantzig_and_ramsers_table_is_read_by_columns_as_its_file_states"
GAP = "bounds_of_large_published_tours_bracket_the_optimum"
LARGE_TOURS = "bounds_of_large_published_tours_are_close_after_a_thousand_nodes"
LARGE_ROUTES = "bounds_of_larger_published_routes_bracket_the_optimum"


class Case(NamedTuple):
    """An instance, the options of its search, and the unit test that runs the same search."""

    instance: str
    test: str
    options: str = ""
    note: str = ""
    is_proven: bool = True


CASES = [
    *(Case(name, TOURS) for name in ("gr17", "gr24", "bayg29", "bays29", "dantzig42", "att48")),
    *(Case(name, TOURS) for name in ("eil51", "berlin52", "ulysses16", "st70", "pr76")),
    *(Case(name, TOURS) for name in ("kroA100", "lin105", "ch130")),
    *(Case(name, LARGE_TOURS) for name in ("a280", "pcb442")),
    Case("pr1002", GAP, "--gap 0.005", is_proven=False),
    Case("pr1002", LARGE_TOURS, "--nodes 1000", is_proven=False),
    Case(BY_COLUMNS, ROUTES, note=" by rows"),
    Case(BY_COLUMNS, COLUMNS, note=" by columns"),
    *(Case(name, ROUTES) for name in ("P-n16-k8", "P-n20-k2", "P-n22-k2", "E-n22-k4", "P-n23-k8")),
    *(Case(name, ROUTES) for name in ("E-n30-k3", "B-n31-k5", "A-n32-k5")),
    Case("A-n37-k5", LARGE_ROUTES),
    Case("A-n45-k6", LARGE_ROUTES, "--nodes 60", is_proven=False),
    Case("E-n51-k5", LARGE_ROUTES, "--nodes 60", is_proven=False),
]


class Search(NamedTuple):
    """The result of a search that a unit test printed."""

    objective: float
    bound: float
    tree_nodes: int


def published() -> dict[str, tuple[int, float]]:
    """Return nodes and optimum of every instance."""
    found = {}
    for folder, column in (("tsplib", "optimum"), ("cvrp", "optimum_cvrplib")):
        with (DATA / folder / "optima.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                found[row["name"]] = (int(row["nodes"]), float(row[column]))
    return found


def searches_of_tests() -> dict[tuple[str, str], Search]:
    """Run the unit tests; return their searches by test and instance."""
    printed = commands.cargo(
        [
            *("test", "--locked", "--workspace", "--lib", "--", "tests::routing::published"),
            *("--include-ignored", "--nocapture", "--test-threads", "1"),
        ]
    )
    found, test = {}, ""
    for line in printed.splitlines():
        if name := re.match(r"test tests::routing::published::(\w+) \.\.\. ", line):
            test, line = name[1], line[name.end() :]
        search = re.match(r"([\w-]+): ([\d.]+) of [\d.]+, bound ([\d.]+) .*, (\d+) nodes, ", line)
        if search:
            result = Search(float(search[2]), float(search[3]), int(search[4]))
            found[test, search[1]] = result
    return found


def file_of(case: Case, folder: Path) -> Path:
    """Return the file of a case; one that is read by rows is written to a folder."""
    path = DATA / "tsplib" / f"{case.instance}.tsp"
    if not path.exists():
        path = DATA / "cvrp" / f"{case.instance}.vrp"
    if case.note != " by rows":
        return path
    changed = folder / path.name
    changed.write_text(path.read_text().replace("LOWER_COL", "LOWER_ROW"))
    return changed


def solved(program: str, case: Case, folder: Path) -> tuple[dict, float]:
    """Solve a case; return the result and the CPU seconds."""
    words = [program, "solve", str(file_of(case, folder)), *case.options.split(), "--json"]
    seconds: list[float] = []
    while len(seconds) < RUNS and sum(seconds) < MAX_SECONDS_OF_REPEATED_RUNS:
        finished = commands.run(words, folder)
        seconds.append(finished.cpu_seconds)
    (result,) = json.loads(finished.printed)
    return result, min(seconds)


def check(case: Case, result: dict, optimum: float) -> list[str]:
    """Return what differs from the published optimum."""
    name = f"{case.instance}{case.note} {case.options}".strip()
    objective, bound, status = result["objective"], result["bound"], result["status"]
    if case.is_proven and (objective != optimum or status != "optimal"):
        return [f"{name}: {status} with {objective}, but the optimum is {optimum}"]
    if not bound <= optimum <= objective:
        return [f"{name}: the optimum {optimum} is not between {bound} and {objective}"]
    return []


def check_test(case: Case, result: dict, search: Search | None) -> list[str]:
    """Return how a search of the program differs from that of the unit test."""
    if search is None:
        return [f"{case.instance}{case.note}: no search of the test {case.test}"]
    objective, bound = result["objective"], result["bound"]
    # Tests print one digit.
    if search.objective != objective or abs(search.bound - bound) > 0.0501:
        test = f"{search.objective}, bound {search.bound}"
        return [f"{case.instance} {case.options}: {objective}, bound {bound}; in the test {test}"]
    return []


def shown(seconds: float) -> str:
    """Format seconds with one to three digits."""
    digits = 3 if seconds < 0.1 else 2 if seconds < 10 else 0
    return f"{seconds:.{digits}f}"


def row(case: Case, result: dict, optimum: float, tree_nodes: str, seconds: float) -> str:
    """Return a row of the table."""
    objective, bound = f"{result['objective']:.0f}", f"{result['bound']:.0f}"
    if result["objective"] != optimum:
        objective += f" (optimum {optimum:.0f})"
    if result["gap"] > 0:
        bound = f"{result['bound']:.1f} ({100 * result['gap']:.2f} %)"
    options = f"`{case.options}`" if case.options else ""
    cells = [f"{case.instance}{case.note}", options, objective, bound, tree_nodes, shown(seconds)]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="regretless")
    parser.add_argument(
        "--no-tree-nodes", action="store_true", help="leave out the unit tests, which cargo builds"
    )
    arguments = parser.parse_args()
    program = commands.find_program(parser, arguments.program)
    optima, searches = published(), {}
    if not arguments.no_tree_nodes:
        searches = searches_of_tests()
    findings = []
    print("| instance | options | objective | dual bound | tree nodes | seconds |")
    print("|---|---|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            nodes, optimum = optima[case.instance]
            if case.test == COLUMNS:
                optimum = OPTIMUM_BY_COLUMNS
            result, seconds = solved(program, case, Path(folder))
            findings += check(case, result, optimum)
            tree_nodes = ""
            uses_other_search = case.test == TOURS and nodes <= MAX_BRANCH_AND_BOUND_NODES
            if searches and not uses_other_search:
                search = searches.get((case.test, case.instance))
                findings += check_test(case, result, search)
                tree_nodes = "" if search is None else str(search.tree_nodes)
            print(row(case, result, optimum, tree_nodes, seconds), flush=True)
    if findings:
        sys.exit("\n".join(findings))


if __name__ == "__main__":
    main()
