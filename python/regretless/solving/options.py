"""How the rows of a call are solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["SolveOptions"]


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
