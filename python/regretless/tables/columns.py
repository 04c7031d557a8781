"""Columns of DataFrames that are not plain numbers: categories, texts, dates, truth values, gaps.

A table of numbers without gaps is read as one array. Any other table is read column by column and
encoded by what the training rows say, as the command line does.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from regretless._core import _FeatureSettings, _Model, _NamedArray
from regretless.tables.names import NamedTable, names_of, plain_table

__all__ = [
    "column_to_encode",
    "feature_columns",
    "holiday_texts",
    "model_columns",
    "model_features",
    "needs_encoding",
    "row_count",
    "text_list",
    "training_features",
]

PlainFeatures = np.ndarray | _NamedArray | list[tuple[str, str, Any]]
"""Features as the compiled module takes them: an array, or columns of several kinds."""

NUMBER_KINDS = "iuf"
"""Kinds of types that are numbers, of numpy and of pandas' nullable types."""

MAX_EXACT_INTEGER = 2**24
"""Up to this number float32 has all whole numbers."""

DATE_TEXT = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?")
"""Texts that are meant to be dates of ISO 8601."""


def training_features(X: Any, settings: _FeatureSettings) -> PlainFeatures:
    """Return features of a training: a table of numbers without gaps is one array.

    Parameters
    ----------
    X : array_like or DataFrame
        Features.
    settings : _FeatureSettings
        How columns become features.

    Raises
    ------
    ValueError
        If the settings name columns and the features have no names.
    """
    names = names_of(X)
    if names is None and not settings.is_default:
        raise ValueError(
            "X: categories, target_statistics, dates, holidays and missing need a DataFrame, whose "
            "columns have names"
        )
    if names is None or (settings.is_default and not needs_encoding(X)):
        return plain_table(X, "X", single=True)
    return feature_columns(X, texts=settings.text_columns(names))


def model_features(X: Any, model: _Model) -> PlainFeatures:
    """Return features as a model expects them; columns of a DataFrame are found by name."""
    if not model._has_encoding:
        return plain_table(model_columns(X, model.feature_names), "X", single=True)
    names = names_of(X)
    if names is None:
        return plain_table(X, "X", single=True)
    wanted = model.column_names
    return feature_columns(X, wanted, model._text_columns([*names, *wanted]))


def row_count(features: PlainFeatures) -> int:
    """Return the number of rows of features, or of another table of the compiled module."""
    if isinstance(features, list):
        return len(features[0][2]) if features else 0
    # A single number has no rows; it is refused where it is read.
    return len(features) if isinstance(features, _NamedArray) or features.ndim else 0


def text_list(texts: str | Sequence[str] | None) -> list[str]:
    """Return one text, several or none as a list."""
    if texts is None:
        return []
    return [texts] if isinstance(texts, str) else list(texts)


def needs_encoding(table: Any) -> bool:
    """Return whether a table has columns with names that are no numbers, or have gaps.

    Parameters
    ----------
    table : Any
        Anything that is passed as features. Only tables with names of columns need an encoding.

    Returns
    -------
    bool
    """
    return column_to_encode(table) is not None


def column_to_encode(table: Any) -> str | None:
    """Return the first column that holds something else than numbers, or has gaps.

    Parameters
    ----------
    table : Any
        As in `needs_encoding`.
    """
    # A NamedTable has the names of an array of numbers.
    if isinstance(table, (np.ndarray, NamedTable)) or names_of(table) is None:
        return None
    return next((name for name, column in _columns(table) if _is_raw(column)), None)


def feature_columns(
    table: Any, wanted: Sequence[str] | None = None, texts: Sequence[str] = ()
) -> list[tuple[str, str, Any]]:
    """Return the columns of a table by their kind.

    Parameters
    ----------
    table : DataFrame
        A table of pandas, polars or pyarrow.
    wanted : sequence of str, optional
        Names of the columns that a model needs, which may be levels of the index; all columns by
        default.
    texts : sequence of str
        Names of the columns whose values are texts, even if they are numbers: codes with more
        digits than float32 has stay different.

    Returns
    -------
    list of tuple
        Name, kind ("numbers", "texts", "categories" or "dates"), and values: an array of float32,
        or a list of texts in which None is a gap.

    Raises
    ------
    ValueError
        If a column is missing or holds something else.
    """
    columns = dict(_columns(table))
    names = list(columns) if wanted is None else list(wanted)
    columns.update({name: entries for name, entries in _index_levels(table, names, columns)})
    missing = [name for name in names if name not in columns]
    if missing:
        found = ", ".join(str(name) for name in columns)
        raise ValueError(f"X: there is no column '{missing[0]}'; the table has {found}")
    return [(name, *_typed(name, columns[name], name in texts)) for name in names]


def model_columns(table: Any, names: Sequence[str]) -> Any:
    """Return the columns of a table that a model of numbers needs, in their order.

    Parameters
    ----------
    table : Any
        Anything that is passed as features.
    names : sequence of str
        Names of the columns that the model needs.

    Returns
    -------
    Any
        A table with these columns; the table itself if it has no names, or lacks one of them.
    """
    if isinstance(table, (np.ndarray, NamedTable)):
        return table
    found = names_of(table)
    if found is None or list(found) == list(names):
        return table
    if hasattr(table, "iloc"):
        columns = dict(_columns(table))
        levels = list(_index_levels(table, names, columns))
        if levels:
            table = table.assign(**dict(levels))
            found = list(table.columns)
    if any(found.count(name) != 1 for name in names):
        return table
    if hasattr(table, "iloc"):
        return table.iloc[:, [found.index(name) for name in names]]
    return table.select(list(names)) if hasattr(table, "select") else table


def _index_levels(
    table: Any, names: Sequence[str], columns: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the levels of the index of a pandas table that are wanted and are no columns."""
    if not hasattr(table, "iloc"):
        return
    index = table.index
    for name in names:
        if name not in columns and name in index.names:
            yield name, index.get_level_values(name).to_series(index=index)


def holiday_texts(dates: Any) -> list[str]:
    """Return dates of any kind as texts of ISO 8601."""
    if isinstance(dates, str):
        dates = [dates]
    array = np.asarray(dates)
    if array.dtype.kind == "M":
        return [str(text) for text in np.datetime_as_string(array, unit="D")]
    return [str(date)[:10] for date in array.tolist()]


def _columns(table: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a table by name."""
    if hasattr(table, "iloc"):
        for position, name in enumerate(table.columns):
            yield name, table.iloc[:, position]
    elif hasattr(table, "column_names"):
        # pyarrow numbers its columns.
        for position, name in enumerate(table.column_names):
            yield name, table.column(position)
    else:
        for name in table.columns:
            yield name, table[name]


def _kind(column: Any) -> str:
    """Return the kind of a column's type as numpy calls it; "O" for anything else."""
    dtype = getattr(column, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if isinstance(kind, str):
        return kind
    name = str(dtype if dtype is not None else getattr(column, "type", "")).lower()
    if name.startswith(("int", "i8", "i16", "i32", "i64")):
        return "i"
    if name.startswith("uint"):
        return "u"
    if name.startswith(("float", "double", "halffloat")):
        return "f"
    if name.startswith("bool"):
        return "b"
    return "O"


def _is_raw(column: Any) -> bool:
    """Return whether a column is something else than numbers without gaps."""
    kind = _kind(column)
    if kind == "b":
        return _has_gaps(column)
    return kind not in NUMBER_KINDS or _has_gaps(column)


def _has_gaps(column: Any) -> bool:
    if hasattr(column, "isna"):
        return bool(column.isna().any())
    nulls = getattr(column, "null_count", 0)
    if nulls() if callable(nulls) else nulls:
        return True
    if _kind(column) != "f":
        return False
    return bool(np.isnan(np.asarray(column)).any())


def _typed(name: str, column: Any, is_text: bool) -> tuple[str, Any]:
    """Return kind and values of a column."""
    kind = _kind(column)
    if kind in NUMBER_KINDS:
        codes = _long_codes(_plain_values(column)) if is_text else None
        return ("numbers", _numbers(column)) if codes is None else ("texts", codes)
    if kind == "M":
        return "dates", _clock_times(column)
    values = _plain_values(column)
    known = [value for value in values if value is not None]
    if _is_categorical(column):
        return "categories", [None if value is None else _text(value) for value in values]
    if known and all(isinstance(value, (datetime.date, np.datetime64)) for value in known):
        return "dates", [None if value is None else _clock_time(value) for value in values]
    numbers = (int, float, decimal.Decimal, np.integer, np.floating)
    if known and all(
        isinstance(value, numbers) and not isinstance(value, (bool, np.bool_)) for value in known
    ):
        codes = _long_codes(values) if is_text else None
        filled = [np.nan if value is None else value for value in values]
        return (
            ("numbers", np.asarray(filled, dtype=np.float32)) if codes is None else ("texts", codes)
        )
    for value in known:
        if not isinstance(value, (str, bool, np.bool_, *numbers)):
            raise ValueError(
                f"X, column '{name}', holds {value!r}, which is no number, text, date or truth "
                "value; convert it or leave it out"
            )
    if known and isinstance(known[0], str) and DATE_TEXT.fullmatch(known[0].strip()):
        return "dates", [None if value is None else str(value) for value in values]
    return "texts", [None if value is None else _text(value) for value in values]


def _long_codes(values: Sequence[Any]) -> list[str | None] | None:
    """Return numbers as texts if float32 would merge whole ones; None if it would not."""
    if all(value is None or abs(value) <= MAX_EXACT_INTEGER for value in values):
        return None
    return [
        None
        if value is None
        else str(int(value))
        if float(value).is_integer()
        else str(float(value))
        for value in values
    ]


def _numbers(column: Any) -> np.ndarray:
    if hasattr(column, "isna"):
        return column.to_numpy(dtype=np.float64, na_value=np.nan).astype(np.float32)
    if hasattr(column, "null_count") and hasattr(column, "to_pylist"):
        values = [np.nan if value is None else value for value in column.to_pylist()]
        return np.asarray(values, dtype=np.float64).astype(np.float32)
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    return np.asarray(array, dtype=np.float64).astype(np.float32)


def _plain_values(column: Any) -> list[Any]:
    """Return Python values, with None in place of gaps of any kind."""
    if hasattr(column, "to_pylist"):
        values = _whole_microseconds(column).to_pylist()
    elif hasattr(column, "to_list"):
        values = column.to_list()
    else:
        values = list(column)
    if hasattr(column, "isna"):
        gaps = column.isna().to_numpy()
        return [None if gap else value for value, gap in zip(values, gaps)]
    return [None if value is None or value != value else value for value in values]


def _whole_microseconds(column: Any) -> Any:
    """Return a pyarrow column whose times, if it has some, Python can hold."""
    if not str(column.type).startswith("timestamp[ns"):
        return column
    import pyarrow

    return column.cast(pyarrow.timestamp("us", column.type.tz), safe=False)


def _is_categorical(column: Any) -> bool:
    dtype = getattr(column, "dtype", getattr(column, "type", None))
    name = str(dtype).lower()
    return name.startswith(("category", "categorical", "enum", "dictionary"))


def _text(value: Any) -> str:
    """Return a category as the command line reads it from a CSV file."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value)


def _clock_times(column: Any) -> list[str | None]:
    """Return times of a pandas column as the clock of their zone shows them."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_localize(None)
    texts = np.datetime_as_string(column.to_numpy(), unit="s")
    return [None if text == "NaT" else str(text) for text in texts]


def _clock_time(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="s"))
    if isinstance(value, datetime.datetime):
        # Times of pandas have nanoseconds, too.
        return value.replace(tzinfo=None).isoformat(timespec="seconds")
    return value.isoformat()
