"""Numeric arrays from arrays, lists and tables; other contents are refused by name."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from regretless.tables.arrow import arrow_table, matrix

NUMERIC_KINDS = "biuf"
"""Kinds of numpy types that are numbers: bool, signed, unsigned, floating."""

REFUSED_KINDS = {
    "M": "dates",
    "m": "time differences",
    "c": "complex numbers",
    "V": "records of several fields",
}

REFUSED_TYPES = (
    np.datetime64,
    np.timedelta64,
    datetime.date,
    datetime.timedelta,
    complex,
    np.complexfloating,
)
"""Types of entries that numpy would convert to floats silently."""


def as_numeric_array(value: Any, what: str, single: bool = False) -> np.ndarray:
    """Return the array of a value, with entries of type bool, integer or floating.

    Parameters
    ----------
    value : array_like or table
        The numbers.
    what : str
        What the value is called in messages.
    single : bool, default False
        Whether single precision is all that is needed; an Arrow table is then written in it.

    Raises
    ------
    ValueError
        If an entry is masked or not a number; the message gives the column of a table.
    """
    if np.ma.isMaskedArray(value):
        mask = np.ma.getmaskarray(value)
        if mask.any():
            position = tuple(int(index) for index in np.argwhere(mask)[0])
            raise ValueError(
                f"{what}: the entry at {position} is masked; fill masked entries or leave their "
                "rows out"
            )
        value = np.ma.getdata(value)
    table = arrow_table(value)
    if table is not None:
        return matrix(table, what, single)
    for name, column in columns_to_check(value):
        check_numeric(column, f"{what}, column '{name}',")
    return check_numeric(value, what)


def check_numeric(value: Any, what: str) -> np.ndarray:
    """Return the numeric array of an array or one column."""
    try:
        array = np.asarray(value)
    except Exception as error:
        raise ValueError(f"{what} must be an array of numbers: {error}") from error
    kind = array.dtype.kind
    if kind in NUMERIC_KINDS:
        return array
    if kind == "O" and array.size and isinstance(array.flat[0], Mapping):
        raise ValueError(
            f"{what} is a list of dicts, not a table of numbers: use pandas.DataFrame({what})"
        )
    if kind in REFUSED_KINDS:
        raise ValueError(
            f"{what} holds {REFUSED_KINDS[kind]}, not numbers; convert them or leave them out"
        )
    if kind == "O":
        for entry in array.flat:
            if isinstance(entry, REFUSED_TYPES):
                raise ValueError(
                    f"{what} holds {entry!r}, not a number; convert it or leave it out"
                )
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must be an array of numbers: {error}") from error


def matrix_arrays(A: Any) -> Any:
    """Return a matrix as an array, or the arrays of a sparse one in CSR format and its shape."""
    if not hasattr(A, "tocsr"):
        return as_numeric_array(A, "A")
    sparse = A.tocsr()
    sparse.sum_duplicates()
    return sparse.indptr, sparse.indices, sparse.data, sparse.shape


def number_or_array(value: Any, what: str) -> Any:
    """Return one number, truth value or None as it is, and anything else as an array."""
    if value is None or isinstance(value, (bool, int, float, np.generic)):
        return value
    return as_numeric_array(value, what)


def row_array(rows: Any, what: str) -> np.ndarray:
    """Return row numbers as an array; anything that is no array of numbers is refused."""
    try:
        return as_numeric_array(rows, what)
    except ValueError:
        raise ValueError(f"{what} must be row numbers: integers from 0 on") from None


def check_seed(seed: Any) -> None:
    """Refuse a seed that is no integer from 0 on, as the compiled functions do."""
    is_integer = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not is_integer or not 0 <= seed < 2**32:
        raise ValueError(f"seed is an integer from 0 on, below 2^32, not {seed!r}")


def columns_to_check(table: Any) -> Iterator[tuple[Any, Any]]:
    """Yield names and columns of a table that may hold something else than numbers."""
    if (
        isinstance(table, np.ndarray)
        or not hasattr(table, "columns")
        or not hasattr(table, "shape")
    ):
        return
    if hasattr(table, "iloc"):
        for position, (name, dtype) in enumerate(zip(table.columns, table.dtypes)):
            if dtype.kind not in NUMERIC_KINDS:
                yield name, table.iloc[:, position]
    else:
        for name in table.columns:
            yield name, table[name]
