"""Common parts of the solver suite: read the instances, solve them, time each solve.

The model is built once per problem. The time of a solve includes setting the costs, solving, and
reading the decision, all through the solver's Python interface.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Callable, Protocol, Sequence

import common

np = common.require("numpy")


class Solver(Protocol):
    """A model that was built once."""

    def solve(self, costs: Any) -> Any:
        """The indices of the chosen variables, or None where no decision was found."""

    @property
    def proven(self) -> bool:
        """Whether the last decision is proven optimal, up to the solver's own gap."""

    @property
    def solver_seconds(self) -> float | None:
        """Seconds of the last solve as the solver reports them, or None."""


Problem = dict[str, Any]


def run(
    name: str,
    version: str,
    builders: dict[str, Callable[[Problem, float], Solver]],
    heuristic: bool = False,
    relaxes: bool = False,
) -> None:
    """Runs the job and prints the times of a solver.

    `builders` has a model for each kind of problem; `relaxes` states that the feasible set is
    larger than that of the other solvers.
    """
    job = common.job()
    problem: Problem = job["problem"]
    build = builders.get(problem["kind"])
    if build is None:
        common.skip(f"{name} has no model for {problem['kind']} here")
    try:
        solver = build(problem, job["limit"])
        kinds = {kind: measure(solver, load(job, kind), job) for kind in job["kinds"]}
    except common.Refused as refused:
        common.skip(f"{name} refuses: {refused}")
    common.respond(
        {
            "name": name,
            "version": version,
            "heuristic": heuristic,
            "relaxes": relaxes,
            "kinds": kinds,
        }
    )


def load(job: dict[str, Any], kind: str) -> Any:
    """The cost vectors of a kind, one per row."""
    return np.load(Path(job["folder"]) / f"{kind}.npy").astype(np.float64)


def measure(solver: Solver, rows: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Solves all rows in several passes within the time budget; keeps the shortest time per row."""
    start = time.perf_counter()
    records: list[dict[str, Any]] = []
    for _ in range(job["passes"]):
        for row, costs in enumerate(rows):
            if time.perf_counter() - start > job["budget"] and records:
                return columns(records)
            record = solve_once(solver, costs)
            if row == len(records):
                records.append(record)
            else:
                records[row] = with_shorter_times(records[row], record)
    return columns(records)


def solve_once(solver: Solver, costs: Any) -> dict[str, Any]:
    """One solve with its times."""
    wall, cpu = time.perf_counter(), time.process_time()
    chosen = solver.solve(costs)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    objective = None if chosen is None else float(costs[np.asarray(chosen, dtype=np.int64)].sum())
    return {
        "wall": wall,
        "cpu": cpu,
        "solver_seconds": solver.solver_seconds,
        "objective": objective,
        "proven": solver.proven,
    }


def with_shorter_times(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The first of two solves of the same instance, with the shorter times of both."""
    clocks = ["wall", "cpu"]
    if first["solver_seconds"] is not None:
        clocks.append("solver_seconds")
    return {**first, **{clock: min(first[clock], second[clock]) for clock in clocks}}


def columns(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A list per column instead of a record per instance."""
    keys = ("wall", "cpu", "solver_seconds", "objective", "proven")
    return {key: [record[key] for record in records] for key in keys}
