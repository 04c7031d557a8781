"""Runs cases on several processes, and prints failures and counts."""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from .cases import INTERFACES, KINDS, draw_case
from .column_cases import ColumnRun
from .command_line import CommandLineRun, remove
from .comparison import discrepancies
from .python_interface import PythonRun

# Cases that a process takes at a time.
CHUNK = 8


@dataclass
class CaseResult:
    """What is left of a case: numbers, and a report where it failed."""

    number: int
    kind: str
    interface: str
    rows: int
    failures: list = field(default_factory=list)
    report: str = ""


def run_case(seed, number, kind=None, interface=None, folder=None, tamper=None, verbose=False):
    """Draw, run and compare one case. Tests of the tester change its outcomes by ``tamper``."""
    folder = Path(folder or tempfile.gettempdir()) / f"case-{seed}-{number}"
    remove(folder)
    folder.mkdir(parents=True)
    case, session = None, None
    try:
        case = draw_case(seed, number, kind, interface)
        runs = {"python": PythonRun, "command line": CommandLineRun}
        runner = (
            ColumnRun(case, folder)
            if case.kind == "columns"
            else runs[case.interface](case, folder)
        )
        session = runner.session
        runner.run()
        if tamper is not None:
            tamper(case, session)
        failures = [text for one in session.outcomes for text in discrepancies(case, one)]
    except Exception:  # noqa: BLE001 - every failure of a case is reported, and others go on
        failures = [traceback.format_exc()]
    result = CaseResult(
        number,
        case.kind if case else kind or "?",
        case.interface if case else interface or "?",
        case.rows if case else 0,
        failures,
    )
    if failures or verbose:
        result.report = describe(seed, result, case, session, folder)
    else:
        remove(folder)
    return result


def describe(seed, result, case, session, folder):
    """Everything that is needed to repeat a case."""
    lines = [f"case {result.number} of seed {seed}: {result.kind}, {result.interface}"]
    lines.append(f"  again: scripts/differential --seed {seed} --case {result.number}")
    lines.append(f"  files: {folder}")
    if case is not None and case.kind == "columns":
        lines.append(f"  {case.rows} rows of {case.style}")
    elif case is not None:
        spec = {key: value for key, value in case.drawn.spec.items() if key != "solve"}
        lines.append(f"  problem: {spec}")
        lines.append(f"  {case.rows} rows, costs {case.style}")
    if session is not None:
        lines += [f"  {text}" for text in session.reproduction]
    lines += [f"  FAILED {text}" for text in result.failures]
    return "\n".join(lines)


def run_numbers(task):
    """Run several cases in a worker process."""
    seed, numbers, kind, interface, folder = task
    return [run_case(seed, number, kind, interface, folder) for number in numbers]


def tasks(seed, kind, interface, folder):
    first = 0
    while True:
        yield seed, range(first, first + CHUNK), kind, interface, folder
        first += CHUNK


def results_of(arguments, folder):
    """Results in the order of the cases, whatever the number of processes."""
    stream = tasks(arguments.seed, arguments.kind, arguments.interface, folder)
    if arguments.jobs == 1:
        for task in stream:
            yield from run_numbers(task)
        return
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        waiting = collections.deque(
            pool.apply_async(run_numbers, (next(stream),)) for _ in range(3 * arguments.jobs)
        )
        while True:
            finished = waiting.popleft().get()
            waiting.append(pool.apply_async(run_numbers, (next(stream),)))
            yield from finished


class Counts:
    """Instances by kind and interface."""

    def __init__(self):
        self.rows = collections.Counter()
        self.cases = self.failed_rows = self.failed_cases = 0

    def add(self, result):
        self.rows[result.kind, result.interface] += result.rows
        self.cases += 1
        if result.failures:
            self.failed_cases += 1
            self.failed_rows += max(result.rows, 1)

    @property
    def total(self):
        return sum(self.rows.values())

    def table(self):
        kinds = sorted({kind for kind, _ in self.rows})
        lines = [f"{'kind':<26}" + "".join(f"{name:>14}" for name in INTERFACES) + f"{'total':>14}"]
        for kind in [*kinds, "total"]:
            cells = [
                sum(n for (k, i), n in self.rows.items() if i == name and kind in (k, "total"))
                for name in INTERFACES
            ]
            numbers = "".join(f"{cell:>14,}" for cell in [*cells, sum(cells)])
            lines.append(f"{kind:<26}{numbers}")
        return "\n".join(lines)


def parse(words):
    parser = argparse.ArgumentParser(
        prog="scripts/differential",
        description="Random problems and tables, decided by the program and again by brute force.",
    )
    parser.add_argument("--instances", type=int, default=10_000, help="rows to check")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=sorted(KINDS), help="cases of one kind only")
    parser.add_argument("--interface", choices=INTERFACES, help="cases of one interface only")
    parser.add_argument("--case", type=int, help="run one case alone and print all of it")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--folder", help="folder of the files of cases that failed")
    return parser.parse_args(words)


def main(words=None):
    """Run the cases that the words ask for; returns the exit code."""
    arguments = parse(words)
    folder = arguments.folder or tempfile.mkdtemp(prefix="differential-")
    if arguments.case is not None:
        result = run_case(
            arguments.seed,
            arguments.case,
            arguments.kind,
            arguments.interface,
            folder,
            verbose=True,
        )
        print(result.report)
        print("FAILED" if result.failures else "passed")
        return 1 if result.failures else 0
    counts, started, shown = Counts(), time.perf_counter(), 0
    for result in results_of(arguments, folder):
        counts.add(result)
        if result.failures:
            print(result.report, flush=True)
        if counts.total >= shown + 100_000:
            shown = counts.total
            print(f"{shown:,} instances, {counts.failed_cases} failed cases", flush=True)
        if counts.total >= arguments.instances:
            break
    seconds = time.perf_counter() - started
    print(counts.table())
    print(f"{counts.cases:,} cases, {counts.total / seconds:,.0f} instances per second")
    print(f"suite summary: {counts.total} instances, - optimal")
    print(f"{counts.total - counts.failed_rows} passed, {counts.failed_rows} failed")
    return 1 if counts.failed_cases else 0


if __name__ == "__main__":
    sys.exit(main())
