"""Cost names: which column of a table is which cost of a problem.

The rule is that of the compiled module: where table and problem both have names, columns are
matched by name, otherwise by position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from regretless._core import Problem, _column_names, _costs_in_order
from regretless.tables.frames import FrameTemplate, frame_template

__all__ = [
    "NamedTable",
    "column_order",
    "columns_in_order",
    "costs_in_order",
    "names_of",
    "with_names",
]


class NamedTable:
    """An array with column names, and the DataFrame that results should look like.

    Parameters
    ----------
    values : array_like
        The numbers.
    columns : sequence of str or None
        Names of the columns.
    template : FrameTemplate or None
        Where given, decisions made from this table become a DataFrame of that kind.
    """

    def __init__(
        self, values: Any, columns: Sequence[str] | None, template: FrameTemplate | None = None
    ) -> None:
        self.values = np.asarray(values)
        self.columns = None if columns is None else list(columns)
        self.frame_template = template

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy:
            return np.array(self.values, dtype=dtype)
        return np.asarray(self.values, dtype=dtype)


def names_of(table: Any) -> list[str] | None:
    """Return the column names of a table; ``None`` for arrays and for numbered columns."""
    return _column_names(table)


def with_names(table: Any, names: Sequence[str] | None, like: Any = None) -> Any:
    """Return the same numbers with column names.

    Parameters
    ----------
    table : array_like
        The numbers.
    names : sequence of str or None
        Names of the columns; ``None`` leaves the table without names.
    like : table, optional
        Where this is a DataFrame, decisions made from the result become one, with its index.
    """
    template = frame_template(like)
    if names is None and template is None:
        return table
    return NamedTable(table, names, template)


def costs_in_order(problem: Problem, C: Any) -> np.ndarray:
    """Return costs in the order of the problem, in float32 or float64 as they were given."""
    return _costs_in_order(problem, C)


def column_order(problem: Problem, C: Any) -> list[int] | None:
    """Return for each cost of the problem its column in a table.

    ``None`` where table and problem do not both have names, or have them in the same order.
    """
    actual, expected = names_of(C), problem.cost_names
    if actual is None or expected is None or actual == expected:
        return None
    position = {name: number for number, name in enumerate(actual)}
    return [position[name] for name in expected]


def columns_in_order(table: Any, names: Sequence[str] | None, argument: str) -> np.ndarray:
    """Return a table as an array whose columns are in the order of these cost names.

    Parameters
    ----------
    table : array_like or DataFrame of shape (n, d)
        The numbers. Without names, of the table or of the costs, they are in this order already.
    names : sequence of str or None
        Names of the costs.
    argument : str
        What the table is called in messages.

    Raises
    ------
    ValueError
        Where the table has other names.
    """
    values, actual = np.asarray(table), names_of(table)
    if actual is None or names is None or actual == list(names):
        return values
    if Counter(actual) != Counter(names):
        extra = [name for name in actual if name not in names]
        missing = [name for name in names if name not in actual]
        differences = [
            f"{text} '{found[0]}'"
            for text, found in (("there is no cost", extra), ("it lacks", missing))
            if found
        ]
        raise ValueError(
            f"costs are matched by name, and {argument} ({len(actual)} columns) does not have the "
            f"names of the {len(names)} costs: {', '.join(differences) or 'a name is repeated'}"
        )
    position = {name: number for number, name in enumerate(actual)}
    return values[:, [position[name] for name in names]]
