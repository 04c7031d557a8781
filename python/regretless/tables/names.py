"""Cost names: which column of a table is which cost of a problem.

If table and problem both have names, columns are matched by name, otherwise by position; the
compiled module matches them. Labels of columns that are strings are names. Other labels, such as
the numbers that pandas gives to unnamed columns, are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from regretless._core import _costs_in_order, _NamedArray, _Problem
from regretless.tables.arrow import is_list_matrix
from regretless.tables.frames import FrameTemplate, frame_template
from regretless.tables.numbers import NUMERIC_KINDS, as_numeric_array

__all__ = [
    "NamedTable",
    "column_order",
    "columns_in_order",
    "costs_in_order",
    "names_of",
    "plain_row",
    "plain_table",
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
        If given, decisions made from this table become a DataFrame of that kind.
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
    """Return the column names of a table; ``None`` for arrays and for numbered columns.

    Raises
    ------
    ValueError
        If labels have several levels, or only some of them are strings.
    """
    if type(table) is np.ndarray:
        return None
    # The attribute ``columns`` of a pyarrow table is its data.
    if hasattr(table, "column_names"):
        return None if is_list_matrix(table) else label_names(table.column_names)
    return label_names(getattr(table, "columns", None))


def label_names(labels: Any) -> list[str] | None:
    """Return labels of columns that are names; ``None`` if none is a string."""
    if getattr(labels, "nlevels", 1) > 1:
        raise ValueError(
            "the columns have labels of several levels (a MultiIndex); give each column one name"
        )
    try:
        labels = list(labels)
    except TypeError:
        return None
    names = [label for label in labels if isinstance(label, str)]
    if not names:
        return None
    if len(names) < len(labels):
        raise ValueError(
            f"some labels of columns are strings ('{names[0]}') and some are not; give every "
            "column a name, or none"
        )
    return names


def plain_table(table: Any, what: str, *, single: bool = False) -> np.ndarray | _NamedArray:
    """Return a table as the compiled module takes it: an array, with the names that it has.

    Arguments are those of :func:`.numbers.as_numeric_array`.
    """
    if type(table) is np.ndarray and table.dtype.kind in NUMERIC_KINDS:
        return table
    names = names_of(table)
    array = as_numeric_array(table, what, single)
    return array if names is None else _NamedArray(array, names)


def plain_row(row: Any, what: str) -> np.ndarray | _NamedArray:
    """Return one row of numbers as :func:`plain_table` returns a table; a Series can have names."""
    if type(row) is np.ndarray and row.dtype.kind in NUMERIC_KINDS:
        return row
    labels = getattr(row, "index", None)
    # A list has a method of this name.
    names = None if callable(labels) else label_names(labels)
    array = as_numeric_array(row, what)
    return array if names is None else _NamedArray(array, names)


def with_names(table: Any, names: Sequence[str] | None, like: Any = None) -> Any:
    """Return the same numbers with column names.

    Parameters
    ----------
    table : array_like
        The numbers.
    names : sequence of str or None
        Names of the columns; ``None`` leaves the table without names.
    like : table, optional
        If this is a DataFrame, decisions made from the result become one, with its index.
    """
    template = frame_template(like)
    if names is None and template is None:
        return table
    return NamedTable(table, names, template)


def costs_in_order(problem: _Problem, C: Any) -> np.ndarray:
    """Return costs in the order of the problem, in float32 or float64 as they were given."""
    return _costs_in_order(problem, plain_table(C, "C"))


def column_order(problem: _Problem, C: Any) -> list[int] | None:
    """Return for each cost of the problem its column in a table.

    ``None`` if table and problem do not both have names, or have them in the same order.
    """
    actual, expected = names_of(C), problem.cost_names
    if actual is None or expected is None or actual == expected:
        return None
    within = order_within(actual, expected)
    if within is not None:
        return within
    position = {name: number for number, name in enumerate(actual)}
    return [position[name] for name in expected]


def order_within(actual: Sequence[str], expected: Sequence[str]) -> list[int] | None:
    """Return for each expected name the column that has it between one beginning and one end.

    ``margin_fish`` and ``margin_milk`` belong to ``fish`` and ``milk``. ``None`` where the names
    are not alike in this way, or are the same.
    """
    if len(actual) != len(expected) or len(actual) < 2 or set(actual) == set(expected):
        return None
    position = {name: number for number, name in enumerate(actual)}
    first = actual[0]
    for name in expected:
        start = first.find(name)
        while start >= 0:
            end = first[start + len(name) :]
            wanted = [f"{first[:start]}{other}{end}" for other in expected]
            if all(one in position for one in wanted):
                return [position[one] for one in wanted]
            start = first.find(name, start + 1)
    return None


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
        If the table has other names.
    """
    values, actual = np.asarray(table), names_of(table)
    if actual is None or names is None or actual == list(names):
        return values
    within = order_within(actual, names)
    if within is not None:
        return values[:, within]
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
