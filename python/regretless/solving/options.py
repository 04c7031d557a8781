"""How the rows of a call are solved."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypedDict, TypeVar

__all__ = ["SolveOptions"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class SolveOptions:
    """How the rows of a call are solved: the keywords that many functions take.

    Attributes
    ----------
    threads : int, optional
        Number of threads; all by default. Results do not depend on it.
    progress : bool, default False
        Whether to show a progress bar.
    heuristic : str, optional
        "local-search" (TSP and CVRP) or "node-limit 100" instead of an exact solver.
    gap : float, default 0
        Relative gap between objective and dual bound at which a search may stop.
    nodes : int, optional
        Maximum number of branch-and-bound nodes of a search, which ends with its incumbent.
    seconds : float, optional
        Maximum seconds of a search, which ends with its incumbent. Results then depend on the
        machine: they are not reproducible.
    """

    threads: int | None = None
    progress: bool = False
    heuristic: str | None = None
    gap: float | None = None
    nodes: int | None = None
    seconds: float | None = None

    def _names_given(self) -> list[str]:
        """Return which of the options that change solutions are given, by name."""
        given: dict[str, Any] = {
            "heuristic": self.heuristic,
            "gap": self.gap,
            "nodes": self.nodes,
            "seconds": self.seconds,
        }
        return [name for name, value in given.items() if value is not None]


class SolveKeywords(TypedDict, total=False):
    """The fields of :class:`SolveOptions` as keywords, for type checkers."""

    threads: int | None
    progress: bool
    heuristic: str | None
    gap: float | None
    nodes: int | None
    seconds: float | None


def takes_solve_options(function: _Function) -> _Function:
    """Show the fields of :class:`SolveOptions` in a signature that ends with `**solving`.

    Other keywords raise the ``TypeError`` of a function without `**solving`.
    """
    signature = inspect.signature(function)
    *named, _ = signature.parameters.values()
    shown = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=option.type,
        )
        for option in fields(SolveOptions)
    ]
    signature = signature.replace(parameters=[*named, *shown])

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for keyword in kwargs:
            if keyword not in signature.parameters:
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument '{keyword}'"
                )
        return function(*args, **kwargs)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return checked  # type: ignore[return-value]
