"""Rows of a table that a user selects."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["selected_rows"]


def selected_rows(rows: Any, count: int) -> list[int]:
    """Return the row numbers of a slice, of row numbers or of a boolean mask.

    Parameters
    ----------
    rows : slice or array_like
        Negative numbers count from the end.
    count : int
        Number of rows there are.

    Raises
    ------
    TypeError
        For anything else, and for a single number.
    IndexError
        For rows that do not exist.
    """
    if isinstance(rows, slice):
        return list(range(*rows.indices(count)))
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (count,):
        return np.flatnonzero(array).tolist()
    if array.size == 0 and array.ndim == 1:
        return []
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise TypeError(
            "rows are a slice, an array of row numbers, or a boolean mask with one entry per row"
        )
    for row in array.tolist():
        if not -count <= row < count:
            raise IndexError(f"row {row} does not exist; there are {count}")
    return (array % count).tolist() if count else []
