"""Functions that rebuild a pickled problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from regretless.solving.problem import Problem


def from_dict(description: dict[str, Any]) -> Problem:
    """Build the problem with this description."""
    return Problem(description)


def from_solver(
    solve: Callable[..., Any],
    num_costs: int,
    sense: Literal["minimize", "maximize"],
    binary: bool,
    name: str,
    thread_safe: bool = False,
    cost_names: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    check: Callable[..., Any] | None = None,
    known: Any = None,
    exact: bool = True,
) -> Problem:
    """Build the problem that this function solves."""
    problem = Problem.from_solver(
        solve,
        num_costs,
        sense=sense,
        binary=binary,
        name=name,
        thread_safe=thread_safe,
        cost_names=cost_names,
        parameters=parameters,
        check=check,
        exact=exact,
    )
    return problem if known is None else problem.with_known(known)
