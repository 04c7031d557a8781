"""Arrow tables as matrices, without copies but the matrix itself.

A column of an Arrow table is contiguous, a row of a matrix is: the numbers are written once, from
Arrow's buffers into the matrix. A table whose only column has lists of equal length (Arrow's
``fixed_size_list``) is a matrix already and is read in place.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["arrow_table", "is_list_matrix", "matrix"]


def arrow_table(value: Any) -> Any | None:
    """Return a pyarrow table of a value.

    ``None`` for anything that does not offer Arrow's interface, and for DataFrames of pandas and
    polars, which have interfaces of their own.
    """
    is_table = hasattr(value, "column_names") or hasattr(value, "columns")
    if not is_table or not hasattr(value, "__arrow_c_stream__"):
        return None
    if any(is_frame_of(value, library) for library in ("pandas", "polars")):
        return None
    try:
        import pyarrow
    except ImportError as error:
        raise ValueError("tables in Arrow's format need the package pyarrow") from error
    # Imports buffers of other libraries without copying them.
    return value if isinstance(value, pyarrow.Table) else pyarrow.table(value)


def is_frame_of(value: Any, library: str) -> bool:
    """Return whether a value is a DataFrame of a library, which is imported if it is."""
    frame = getattr(sys.modules.get(library), "DataFrame", None)
    return frame is not None and isinstance(value, frame)


def matrix(table: Any, what: str, single: bool) -> np.ndarray:
    """Return the numbers of a table of numeric columns.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    what : str
        What it is called in messages.
    single : bool
        Whether the numbers are needed in single precision; otherwise they are in double precision
        if a column is.

    Returns
    -------
    ndarray of shape (n, d)
        A missing value is NaN.
    """
    import pyarrow.types as types

    if is_list_matrix(table):
        return list_matrix(table.column(0), what)
    for field in table.schema:
        is_number = (
            types.is_floating(field.type)
            or types.is_integer(field.type)
            or types.is_decimal(field.type)
        )
        if not is_number and not types.is_boolean(field.type):
            raise ValueError(
                f"{what}, column '{field.name}', holds {field.type}, not numbers; convert it or "
                "leave it out"
            )
    exact = any(not fits_single(field.type) for field in table.schema)
    dtype = np.float64 if exact and not single else np.float32
    result = np.empty((table.num_rows, table.num_columns), dtype=dtype)
    with np.errstate(over="ignore"):
        for number, column in enumerate(table.columns):
            start = 0
            for chunk in column.chunks:
                result[start : start + len(chunk), number] = numbers(chunk)
                start += len(chunk)
    return result


def is_list_matrix(table: Any) -> bool:
    """Return whether the only column of an Arrow table has lists of equal length."""
    return table.num_columns == 1 and hasattr(table.schema.field(0).type, "list_size")


def fits_single(kind: Any) -> bool:
    """Return whether single precision holds every number of a type."""
    import pyarrow.types as types

    if types.is_boolean(kind):
        return True
    if types.is_decimal(kind):
        return False
    return kind.bit_width <= (32 if types.is_floating(kind) else 16)


def numbers(chunk: Any) -> np.ndarray:
    """Return the numbers of a chunk: a view of its buffer if nothing is missing."""
    import pyarrow.types as types

    if types.is_decimal(chunk.type):
        chunk = chunk.cast("float64")
    if chunk.null_count == 0 and chunk.type.bit_width >= 8:
        return chunk.to_numpy(zero_copy_only=True)
    # Booleans are bits; missing values become NaN.
    values = chunk.to_numpy(zero_copy_only=False)
    return values.astype(np.float64) if values.dtype == object else values


def list_matrix(column: Any, what: str) -> np.ndarray:
    """Return the matrix of a column of lists of equal length."""
    if column.null_count:
        raise ValueError(f"{what} has rows without a list of numbers")
    width = column.type.list_size
    parts = [numbers(chunk.flatten()).reshape(-1, width) for chunk in column.chunks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty((0, width))])
