"""Costs with names: which column of a table is which cost of a problem.

The rule is that of the compiled part: where table and problem both have names, names decide; otherwise positions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regretless._core import Problem, _column_names, _costs_in_order

__all__ = ["NamedTable", "in_order", "item_order", "named", "names_of"]


class NamedTable:
    """An array and the names of its columns: what is needed of a DataFrame."""

    def __init__(self, values: Any, columns: Sequence[str]) -> None:
        self.values, self.columns = np.asarray(values), list(columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)


def names_of(table: Any) -> list[str] | None:
    """Names of a table's columns; ``None`` for arrays and for columns that are only numbered."""
    return _column_names(table)


def named(table: Any, names: Sequence[str] | None) -> Any:
    """The same numbers under these names, if there are any."""
    return table if names is None else NamedTable(table, names)


def in_order(problem: Problem, costs: Any) -> np.ndarray:
    """Costs as rows of float32 or float64, as they were given, in the order of the problem's costs."""
    return _costs_in_order(problem, costs)


def item_order(problem: Problem, costs: Any) -> list[int] | None:
    """For each cost of the problem its column in a table, where both have names and the orders differ."""
    theirs, ours = names_of(costs), problem.cost_names
    if theirs is None or ours is None or theirs == ours:
        return None
    place = {name: number for number, name in enumerate(theirs)}
    return [place[name] for name in ours]
