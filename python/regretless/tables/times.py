"""Times of rows, for splits by time."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.tables.frames import column_names

__all__ = ["time_column", "time_texts", "without_column", "without_times"]


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
    """Return a column of a DataFrame; ``None`` where the table has no such column."""
    names = column_names(table)
    return table[name] if names is not None and name in names else None


def without_column(table: Any, name: str) -> Any:
    """Return a DataFrame without a column."""
    names = column_names(table) or []
    return table[[other for other in names if other != name]]


def without_times(C: Any, X: Any, split: Any) -> Any:
    """Return a table of costs without the column of times that a split such as "time:date" names.

    Parameters
    ----------
    C, X : tables
        Costs and features; the column is looked up in the features first.
    split : Any
        As in `train`.
    """
    if not isinstance(split, str) or not split.strip().startswith("time:"):
        return C
    name = split.strip().removeprefix("time:").split(",")[0].strip()
    if time_column(X, name) is not None or time_column(C, name) is None:
        return C
    return without_column(C, name)
