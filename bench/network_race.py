"""Solvers of networks, offers and storage beside SciPy, OR-Tools and HiGHS, one thread each.

    python bench/network_race.py [--instances 20] [--smoke] [--task assignment]

Every solver gets the same instances; the objectives must agree. Times are processor times, medians
over the instances, the shortest of three passes: of the call that takes costs and returns a
solution, with its Python interface. Of OR-Tools and HiGHS only the solve counts, not the transfer
of costs. These two cannot be loaded together, so every peer runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# First: it limits numpy to one thread.
from network_tasks import tasks  # isort: skip

import numpy as np
from network_solvers import PEERS, TITLES, Solve, our_solver

PASSES = 3
# Relative difference of objectives that is rounding. Integer programs of HiGHS end at the gap 1e-9.
TOLERANCE = 1e-6


@dataclass
class Timed:
    """Median seconds and objectives of a solver."""

    seconds: list[float]
    objectives: list[float]

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return float(np.median(self.seconds))


def measured(solve: Solve, rows: int, passes: int) -> Timed:
    """Solve all rows several times; `solve` returns the objective and its processor seconds."""
    seconds, objectives = [np.inf] * rows, [0.0] * rows
    for _ in range(passes):
        for row in range(rows):
            objectives[row], taken = solve(row)
            seconds[row] = min(seconds[row], taken)
    return Timed(seconds, objectives)


def run_peer(arguments: argparse.Namespace) -> None:
    """Time one peer on one task and print the result as JSON."""
    task = list(tasks(arguments.instances, arguments.smoke))[arguments.number]
    rows = len(task.costs)
    slow = arguments.peer == "highs" and task.kind != "storage"
    rows, passes = (min(rows, task.slow), 1) if slow else (rows, PASSES)
    timed = measured(PEERS[arguments.peer](task), rows, passes)
    print(json.dumps({"seconds": timed.seconds, "objectives": timed.objectives}))


def peer_result(arguments: argparse.Namespace, number: int, peer: str) -> Timed:
    """Run a peer in a process of its own."""
    command = [sys.executable, __file__, "--peer", peer, "--number", str(number)]
    command += ["--instances", str(arguments.instances)]
    command += ["--smoke"] if arguments.smoke else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Timed(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Race all tasks and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--smoke", action="store_true", help="small instances")
    parser.add_argument("--task", help="only tasks whose name contains this")
    parser.add_argument("--peer", choices=sorted(PEERS), help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        run_peer(arguments)
        return
    print(f"{processor()}, one thread, {arguments.instances} instances")
    print("| task | other solver | ours | theirs | speedup |\n|---|---|---:|---:|---:|")
    for number, task in enumerate(tasks(arguments.instances, arguments.smoke)):
        if arguments.task and arguments.task not in task.name:
            continue
        ours = measured(our_solver(task), len(task.costs), PASSES)
        for peer in task.peers:
            theirs = peer_result(arguments, number, peer)
            count = len(theirs.objectives)
            np.testing.assert_allclose(ours.objectives[:count], theirs.objectives, rtol=TOLERANCE)
            median = float(np.median(ours.seconds[:count]))
            print(
                f"| {task.name} | {TITLES[peer]} | {1e3 * median:.3f} | {1e3 * theirs.median:.3f} "
                f"| {theirs.median / median:.1f}× |",
                flush=True,
            )


def processor() -> str:
    """Return the name of the processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
