"""Row parameters: known numbers of each row that its feasible set or its known costs depend on.

A problem names the columns it reads (:func:`column`, :func:`columns`); calls get their numbers as
``parameters=`` beside ``X`` and ``C``. This module turns what users pass into float64 arrays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regretless._core import _Problem
from regretless.tables.frames import check_same_rows
from regretless.tables.numbers import as_numeric_array

MAX_NAMES_SHOWN = 8
"""Most names in an error message. Untuned: keeps messages short."""


def parameter_columns(
    value: Any,
    rows: int,
    needed: Sequence[str],
    features: Any,
    table: Any,
    table_name: str,
    nodes: Sequence[str] = (),
) -> list[tuple[str, Any]]:
    """Return the parameters of the rows of a table by name.

    Parameters
    ----------
    value : mapping, DataFrame or sequence of str
        Arrays of shape (n,) or (n, k) by name, a DataFrame, or names of columns of ``features``.
    rows : int
        Number of rows of the table.
    needed : sequence of str
        Names and patterns that the problem reads.
    features : DataFrame or None
        The features, if the call has some.
    table : object
        The table that the parameters stand beside, and ``table_name`` its name in messages.
    nodes : sequence of str, optional
        Names of the parameters that are nodes: their entries may be text.

    Returns
    -------
    list of tuple
        Names and float64 arrays in C order, or lists of text for nodes.

    Raises
    ------
    ValueError
        For names that the problem does not read, other numbers of rows, and entries that are not
        numbers.
    """
    if rows == 0:
        raise ValueError(f"{table_name} has no rows")
    named = named_columns(value, features)
    if table is not None and not isinstance(value, Mapping) and not is_list_of_names(value):
        check_same_rows(value, table, ("parameters", table_name))
    check_names(named, needed)
    found: list[tuple[str, Any]] = []
    for name, entries in named.items():
        texts = node_names(entries) if name in nodes else None
        if texts is not None:
            if len(texts) != rows:
                raise ValueError(
                    f"parameters: '{name}' has {len(texts)} rows, {table_name} has {rows}"
                )
            found.append((name, texts))
            continue
        array = as_numeric_array(entries, f"parameters, '{name}',")
        if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
            raise ValueError(
                f"parameters: '{name}' has the shape {array.shape}; it needs one number per row, "
                "(n,), or several, (n, k)"
            )
        if len(array) != rows:
            raise ValueError(f"parameters: '{name}' has {len(array)} rows, {table_name} has {rows}")
        found.append((name, np.ascontiguousarray(array, dtype=np.float64)))
    return found


def plain_parameters(
    problem: Any, value: Any, rows: int, table: Any, table_name: str, features: Any = None
) -> list[tuple[str, Any]] | None:
    """Return the parameters of the rows of a call as the compiled module takes them.

    Parameters
    ----------
    problem : Problem
        The problem.
    value : Any
        The argument ``parameters`` of a call.
    rows : int
        Number of rows.
    table : object
        The table that the parameters stand beside, and ``table_name`` its name in messages.
    features : DataFrame, optional
        Features: the argument may name columns of them, and those that the problem reads are found
        without being named.

    Returns
    -------
    list of tuple or None
        As :func:`parameter_columns` returns them; None without parameters.
    """
    check_problem(problem)
    needed = problem.parameters
    if value is None:
        value = columns_in_features(features, needed)
    if value is None:
        return None
    nodes = problem._node_parameters
    return parameter_columns(value, rows, needed, features, table, table_name, nodes)


def check_problem(problem: Any) -> None:
    """Refuse anything but a problem, before its attributes are read."""
    if not isinstance(problem, _Problem):
        raise TypeError(f"'{type(problem).__name__}' object is not an instance of 'Problem'")


def plain_row_parameters(problem: Any, value: Any) -> list[tuple[str, Any]] | None:
    """Return the parameters of a call for one row as the compiled module takes them."""
    if value is None:
        return None
    return row_parameter_columns(value, problem.parameters, problem._node_parameters)


def row_parameter_columns(
    value: Any, needed: Sequence[str], nodes: Sequence[str] = ()
) -> list[tuple[str, Any]]:
    """Return the parameters of a single row by name, as arrays of shape (1, k).

    Parameters
    ----------
    value : mapping or Series
        A number or a one-dimensional array by name.
    needed : sequence of str
        Names and patterns that the problem reads.
    nodes : sequence of str, optional
        Names of the parameters that are nodes: their entries may be text.
    """
    if is_list_of_names(value) or not hasattr(value, "items"):
        raise ValueError(
            "parameters of one row are numbers by name, such as {'capacity': 40.0}, not "
            f"{type(value).__name__}"
        )
    named = {str(name): entry for name, entry in value.items()}
    check_names(named, needed)
    found: list[tuple[str, Any]] = []
    for name, entry in named.items():
        texts = node_names([entry]) if name in nodes else None
        if texts is not None:
            found.append((name, texts))
            continue
        array = as_numeric_array(entry, f"parameters, '{name}',")
        if array.ndim > 1 or array.size == 0:
            raise ValueError(
                f"parameters: '{name}' has the shape {array.shape}; for one row it is a number or "
                "a one-dimensional array"
            )
        found.append((name, np.ascontiguousarray(array.reshape(1, -1), dtype=np.float64)))
    return found


def columns_in_features(features: Any, needed: Sequence[str]) -> list[str] | None:
    """Return the names of the columns of a DataFrame that a problem reads; None without any.

    Parameters
    ----------
    features : Any
        Features; only a DataFrame has names.
    needed : sequence of str
        Names and patterns that the problem reads.
    """
    if not needed or features is None or not is_table(features):
        return None
    names = features.column_names if hasattr(features, "column_names") else features.columns
    found = [
        name
        for name in names
        if isinstance(name, str) and any(matches(pattern, name) for pattern in needed)
    ]
    return found or None


def given_parameters(features: Any, value: Any, needed: Sequence[str]) -> Any:
    """Return the parameters as given, or else the columns of the features that a problem reads.

    These columns stay features, as on the command line.

    Parameters
    ----------
    features : Any
        Features.
    value : Any
        Parameters as a user gave them, or None.
    needed : sequence of str
        Names and patterns that the problem reads.
    """
    found = columns_in_features(features, needed) if value is None else None
    return value if found is None else named_columns(found, features)


def one_row(value: Any) -> Any:
    """Return parameters of one row as a table with one row; names and tables stay as they are."""
    if is_list_of_names(value) or is_table(value) or not hasattr(value, "items"):
        return value
    named = {}
    for name, entries in value.items():
        shape = np.shape(entries)
        is_row = shape == () or (len(shape) == 1 and shape != (1,))
        named[name] = [entries] if is_row else entries
    return named


def table_parameters(value: Any, features: Any) -> Any:
    """Return parameters beside a table, if they may be named columns of the features."""
    return named_columns(value, features) if is_list_of_names(value) else value


def select_rows(value: Any, rows: Any) -> Any:
    """Return the parameters of these rows, in the kind of table they were given in."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: np.asarray(entries)[rows] for name, entries in value.items()}
    return value.iloc[rows] if hasattr(value, "iloc") else value[rows]


def as_arrays(value: Any, features: Any = None) -> dict[str, np.ndarray] | None:
    """Return parameters as a dict of arrays, for other processes and for slices; None for None."""
    if value is None:
        return None
    arrays = {}
    for name, entries in named_columns(value, features).items():
        texts = node_names(entries)
        arrays[name] = (
            as_numeric_array(entries, f"parameters, '{name}',")
            if texts is None
            else np.array(texts)
        )
    return arrays


def node_names(entries: Any) -> list[str] | None:
    """Return a column of names as text; None if it holds anything else than text and numbers."""
    array = np.asarray(entries)
    if array.ndim != 1 or array.dtype.kind not in "UO":
        return None
    names = array.tolist()
    if any(isinstance(name, str) for name in names) and all(
        isinstance(name, (str, int)) for name in names
    ):
        return [str(name).strip() for name in names]
    return None


def is_list_of_names(value: Any) -> bool:
    """Return whether parameters are names of columns of the features."""
    return isinstance(value, str) or (
        isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)
    )


def named_columns(value: Any, features: Any) -> dict[str, Any]:
    """Return the columns of a mapping, a DataFrame, or of the features, by name."""
    if isinstance(value, Mapping):
        return {check_name(name): entries for name, entries in value.items()}
    if is_list_of_names(value):
        names = [value] if isinstance(value, str) else list(value)
        if features is None or not is_table(features):
            raise ValueError(
                f"parameters={value!r} are columns of X, which has to be a DataFrame; give the "
                "numbers themselves otherwise: parameters={'name': numbers}"
            )
        return {name: table_column(features, name, "X") for name in names}
    if not is_table(value):
        raise ValueError(
            "parameters are a mapping from names to arrays, or a DataFrame, not "
            f"{type(value).__name__}"
        )
    names = value.column_names if hasattr(value, "column_names") else value.columns
    return {check_name(name): table_column(value, name, "parameters") for name in names}


def is_table(value: Any) -> bool:
    """Return whether a value is a DataFrame (pandas, polars, pyarrow)."""
    return not isinstance(value, np.ndarray) and (
        hasattr(value, "column_names") or (hasattr(value, "columns") and hasattr(value, "shape"))
    )


def table_column(table: Any, name: str, what: str) -> Any:
    """Return one column of a table; two of one name are refused."""
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if name not in names:
        shown = ", ".join(map(str, names[:MAX_NAMES_SHOWN]))
        raise ValueError(f"{what} has no column '{name}'; the first are {shown}")
    if names.count(name) > 1:
        raise ValueError(f"{what} has two columns '{name}'")
    return table[name]


def check_name(name: Any) -> str:
    """Return a name that is text."""
    if not isinstance(name, str):
        raise ValueError(f"parameters have names of type str, not {name!r}")
    return name


def check_names(named: Mapping[str, Any], needed: Sequence[str]) -> None:
    """Refuse parameters that the problem does not read: their name may be misspelled."""
    for name in named:
        if any(name == pattern or matches(pattern, name) for pattern in needed):
            continue
        if not needed:
            raise ValueError(f"the problem has no parameters per row, and '{name}' was given")
        shown = ", ".join(f"'{pattern}'" for pattern in list(needed)[:MAX_NAMES_SHOWN])
        raise ValueError(f"the problem does not read the parameter '{name}'; it reads {shown}")


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern in which ``*`` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def refuse_patterns(problem: Any) -> None:
    """Raise ValueError if a problem reads columns by a pattern, in the order of each table.

    For models that do not store the names of the columns: another order would be other numbers.
    """
    for name in problem.parameters:
        if "*" in name:
            raise ValueError(
                f"the problem reads '{name}' in the order of each table, which this model does "
                "not store; use the name of one array of shape (n, k), or name every column"
            )
