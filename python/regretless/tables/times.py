"""Times of rows, for splits by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless._core import _time_column
from regretless.tables.frames import column_names
from regretless.tables.numbers import row_array

__all__ = ["SplitTables", "split_tables", "time_column", "time_texts", "without_column"]


@dataclass
class SplitTables:
    """Features and costs without the column of times, and the split of their rows."""

    X: Any
    C: Any
    split: Any
    """A text, a number, numbers, or arrays of rows; with times the text of a rule, or fractions."""
    times: list[str] | None
    """The time of every row, if the split is by time."""


def split_tables(split: Any, X: Any, C: Any) -> SplitTables:
    """Return tables and their split as the compiled module takes it.

    Parameters
    ----------
    split : Any
        As in `train`: "time:date" with a column of ``X`` or ``C``, ("time", times) with fractions
        behind it, or any other split. A column of ``X`` stays a feature.
    X, C : tables
        Features and costs.
    """
    if isinstance(split, str):
        return split_by_text(split, X, C)
    if split is None or is_number(split):
        return SplitTables(X, C, split, None)
    parts = list(split)
    if parts and isinstance(parts[0], str) and parts[0] == "time":
        return split_by_times(parts[1:], X, C)
    if not all(is_number(part) for part in parts):
        parts = [row_array(part, "split") for part in parts]
    return SplitTables(X, C, parts, None)


def split_by_text(split: str, X: Any, C: Any) -> SplitTables:
    """Return tables split by a text, which may name a column of times."""
    if split.strip() == "time":
        raise ValueError(
            'split: name the column of the times, "time:date", or give the times, ("time", times)'
        )
    column = _time_column(split)
    if column is None:
        return SplitTables(X, C, split, None)
    found = time_column(X, column)
    if found is None:
        found = time_column(C, column)
        if found is None:
            raise ValueError(
                f"split: neither X nor C is a DataFrame with a column '{column}'; give the times "
                'as ("time", times)'
            )
        C = without_column(C, column)
    return SplitTables(X, C, split, time_texts(found))


def split_by_times(given: list[Any], X: Any, C: Any) -> SplitTables:
    """Return tables split by times, which come before fractions for validation and test."""
    if not given:
        raise ValueError('split: ("time", times) needs the time of every row')
    times, fractions = given[0], given[1:]
    if len(fractions) > 2:
        raise ValueError('split: ("time", times) takes fractions for validation and test behind it')
    return SplitTables(X, C, fractions, time_texts(times))


def is_number(value: Any) -> bool:
    """Return whether a value is one number."""
    if isinstance(value, str) or getattr(value, "ndim", 0) > 0:
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def time_texts(values: Any) -> list[str]:
    """Return times as texts: ISO dates and date-times, or numbers.

    Parameters
    ----------
    values : array_like of shape (n,)
        numpy or pandas times, objects of ``datetime``, texts or numbers. A missing value becomes a
        text that is no time.

    Returns
    -------
    list of str
        One text per row.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"split: times need one value per row, not the shape {array.shape}")
    if array.dtype.kind == "M":
        return [str(text) for text in np.datetime_as_string(array)]
    return [str(value) for value in array.tolist()]


def time_column(table: Any, name: str) -> Any:
    """Return a column of a DataFrame; ``None`` if the table has no such column."""
    names = column_names(table)
    return table[name] if names is not None and name in names else None


def without_column(table: Any, name: str) -> Any:
    """Return a DataFrame without a column."""
    names = column_names(table) or []
    return table[[other for other in names if other != name]]
