"""What a table says beyond its numbers: names of columns, labels of rows.

Rows are matched by position everywhere. Where two tables carry row labels that contradict this, the answer would be wrong without a
word; the checks here refuse such pairs. Names of costs are matched in ``_names``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np


def column_names(table: Any) -> list[str] | None:
    """Names of the columns of a table such as pandas' or polars', if all of them are text."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def row_labels(table: Any) -> Any:
    """The index of a pandas table; None for tables without one."""
    index = getattr(table, "index", None)
    # A list has a method of this name; only an index can be compared and sorted.
    return index if hasattr(index, "equals") and hasattr(index, "sort_values") else None


def check_same_rows(first: Any, second: Any, words: tuple[str, str] = ("X", "C")) -> None:
    """Refuses two tables whose row labels are the same in another order; warns where the labels are different ones."""
    check_same_labels(row_labels(first), row_labels(second), words)


def check_same_labels(one: Any, other: Any, words: tuple[str, str]) -> None:
    """The same for two indices, or None where a table has none."""
    # Tables of different length are refused by whoever reads their numbers.
    if one is None or other is None or len(one) != len(other) or one.equals(other):
        return
    left, right = words
    place = next((row for row, (a, b) in enumerate(zip(one, other)) if a != b), 0)
    where = (
        f"row {place} (counted from 0) is {one[place]!r} in {left} and {other[place]!r} in {right}"
    )
    if Counter(one) == Counter(other):
        unique = getattr(one, "is_unique", False)
        remedy = f"{right} = {right}.loc[{left}.index]" if unique else "sort both tables alike"
        raise ValueError(
            f"{left} and {right} have the same row labels in another order: {where}. Rows are matched by position. "
            f"Bring them into one order: {remedy}; if the labels mean nothing: {right}.reset_index(drop=True), the same for {left}"
        )
    if not (counts_rows(one) or counts_rows(other)):
        warnings.warn(
            f"{left} and {right} have different row labels: {where}. Rows are matched by position",
            stacklevel=4,
        )


def counts_rows(index: Any) -> bool:
    """Whether an index only counts rows from 0 on, as pandas makes it where nobody gave labels."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def same_features(known: list[str] | None, found: list[str] | None) -> None:
    """Refuses features with other names, or in another order, than those a model was trained on."""
    if known is None or found is None or known == found:
        return
    if len(known) != len(found):
        raise ValueError(
            f"X has {len(found)} features, the model was trained on {len(known)}: {', '.join(known[:8])}"
        )
    place = next(column for column, name in enumerate(found) if name != known[column])
    remedy = (
        "; the names are the same in another order: X[model.feature_names]"
        if sorted(known) == sorted(found)
        else ""
    )
    raise ValueError(
        f"feature {place} of X is '{found[place]}', the model was trained with '{known[place]}' there{remedy}"
    )


def as_numbers(table: Any, what: str, *, missing: bool) -> np.ndarray:
    """A table as rows of floating-point numbers; text, dates, complex numbers and masks are refused by column.

    Missing values (NaN) pass where `missing` says so; infinite ones never.
    """
    if isinstance(table, np.ma.MaskedArray):
        raise ValueError(
            f"{what} is a masked array, whose mask numpy drops on the way: give {what}.filled(…) or leave the rows out"
        )
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"{what} is one row per instance, not an array of shape {array.shape}")
    names = column_names(table) or [str(column) for column in range(array.shape[1])]
    if array.dtype.kind not in "fiub":
        array = np.stack(
            [
                one_column(table, array, column, f"{what}, column {names[column]}")
                for column in range(array.shape[1])
            ],
            axis=1,
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    wrong = np.isinf(array) if missing else ~np.isfinite(array)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{what}, row {row} (counted from 0), column {names[column]}: {array[row, column]} is not a finite number"
        )
    return np.ascontiguousarray(array)


def one_column(table: Any, array: np.ndarray, column: int, place: str) -> np.ndarray:
    """One column of a table of several types as numbers."""
    # A frame knows the type of each column; the joined array of several types knows none.
    values = np.asarray(table.iloc[:, column]) if hasattr(table, "iloc") else array[:, column]
    kinds = (
        {values.dtype.kind}
        if values.dtype.kind != "O"
        else {np.asarray(value).dtype.kind for value in values}
    )
    if not kinds <= set("fiub"):
        raise ValueError(
            f"{place}: {values[0]!r} is not a number; encode it first (categories, dates) or leave the column out"
        )
    return values.astype(np.float64)
