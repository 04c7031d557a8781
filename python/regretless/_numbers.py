"""Plain arrays of numbers out of arrays, lists and tables; what is no number is refused by name."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np

PLAIN = "biuf"
"""Kinds of numpy's types that are numbers: bool, whole, not negative, floating."""

NO_NUMBERS = {
    "M": "dates",
    "m": "spans of time",
    "c": "complex numbers",
    "V": "records of several fields",
}

# Numpy turns its own dates into floats without a word.
NO_NUMBER = (
    np.datetime64,
    np.timedelta64,
    datetime.date,
    datetime.timedelta,
    complex,
    np.complexfloating,
)


def numbers(value: Any, what: str) -> np.ndarray:
    """The array behind ``value``, of bool, whole or floating numbers; errors name ``what`` and the column."""
    if np.ma.isMaskedArray(value):
        if np.ma.getmaskarray(value).any():
            place = tuple(int(index) for index in np.argwhere(np.ma.getmaskarray(value))[0])
            raise ValueError(
                f"{what}: the entry at {place} is masked; fill masked entries or leave their rows out"
            )
        value = np.ma.getdata(value)
    for name, column in columns_to_check(value):
        checked(column, f"{what}, column '{name}',")
    return checked(value, what)


def checked(value: Any, what: str) -> np.ndarray:
    """The same of an array or one column."""
    try:
        array = np.asarray(value)
    except Exception as error:
        raise ValueError(f"{what} must be an array of numbers: {error}") from error
    kind = array.dtype.kind
    if kind in PLAIN:
        return array
    if kind in NO_NUMBERS:
        raise ValueError(
            f"{what} holds {NO_NUMBERS[kind]}, not numbers; turn them into numbers or leave them out"
        )
    if kind == "O":
        for entry in array.flat:
            if isinstance(entry, NO_NUMBER):
                raise ValueError(
                    f"{what} holds {entry!r}, not a number; turn it into a number or leave it out"
                )
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must be an array of numbers: {error}") from error


def columns_to_check(table: Any) -> Iterator[tuple[Any, Any]]:
    """Names and columns of a table such as pandas' or polars' that may hold something else than numbers."""
    if (
        isinstance(table, np.ndarray)
        or not hasattr(table, "columns")
        or not hasattr(table, "shape")
    ):
        return
    if hasattr(table, "iloc"):
        for place, (name, dtype) in enumerate(zip(table.columns, table.dtypes)):
            if dtype.kind not in PLAIN:
                yield name, table.iloc[:, place]
    elif hasattr(table, "column_names"):
        # Arrow: its columns are under numbers.
        for place, name in enumerate(table.column_names):
            yield name, table.column(place)
    else:
        for name in table.columns:
            yield name, table[name]
