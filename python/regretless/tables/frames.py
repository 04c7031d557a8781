"""Properties of DataFrames beyond their numbers: column names, row labels, the library they are of.

Rows are matched by position everywhere. If two tables have row labels that contradict this, results
would be silently wrong; the checks here refuse such pairs. Cost names are matched in
:mod:`regretless.tables.names`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless._user_warnings import warn


@dataclass(frozen=True)
class FrameTemplate:
    """The kind of DataFrame that results should be.

    Attributes
    ----------
    library : str
        ``"pandas"`` or ``"polars"``.
    index : pandas.Index or None
        The row labels of the input; polars has none.
    """

    library: str
    index: Any = None

    def select(self, rows: Sequence[int]) -> FrameTemplate:
        """Return the template of some of the rows."""
        index = None if self.index is None else self.index[list(rows)]
        return FrameTemplate(self.library, index)

    def build(self, values: np.ndarray, columns: Sequence[str]) -> Any:
        """Return a DataFrame of these numbers.

        Parameters
        ----------
        values : ndarray of shape (n, d)
            One row per row of the input.
        columns : sequence of str
            Names of the columns.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
        """
        if self.library == "pandas":
            pandas = _pandas()
            return pandas.DataFrame(values, index=self.index, columns=list(columns))
        import polars

        return polars.DataFrame(np.asarray(values), schema=list(columns), orient="row")

    def table(self, columns: dict[str, Any], rows: np.ndarray | None = None) -> Any:
        """Return a DataFrame of columns of several types.

        Parameters
        ----------
        columns : dict
            One sequence per name.
        rows : ndarray of int, optional
            The row of the input that each row belongs to, whose label it has in pandas; by default
            there is one row per row of the input.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
        """
        if self.library == "pandas":
            pandas = _pandas()
            index = self.index
            if rows is not None:
                numbers = pandas.Index(rows, name="instance")
                index = numbers if index is None else index[rows]
            return pandas.DataFrame(columns, index=index)
        import polars

        return polars.DataFrame(columns)


def _pandas() -> Any:
    """Return pandas, which results of arrays need if a DataFrame is asked for."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        message = "a DataFrame needs pandas: pip install pandas"
        raise ModuleNotFoundError(message, name="pandas") from error
    return pandas


def frame_template(table: Any) -> FrameTemplate | None:
    """Return the template of a pandas or polars DataFrame; ``None`` for anything else."""
    known = getattr(table, "frame_template", None)
    if isinstance(known, FrameTemplate):
        return known
    # A DataFrame exists only if its library is imported already.
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)
        frame = getattr(module, "DataFrame", None)
        if frame is not None and isinstance(table, frame):
            return FrameTemplate(library, getattr(table, "index", None))
    return None


def decision_frame(
    template: FrameTemplate | None,
    values: np.ndarray,
    columns: Sequence[str],
    objectives: np.ndarray,
    statuses: Sequence[str],
    sparse: bool,
) -> Any:
    """Return decisions as a DataFrame: the table that ``regretless decide`` writes.

    Parameters
    ----------
    template : FrameTemplate or None
        The kind of DataFrame; pandas with row numbers for ``None``.
    values : ndarray of shape (n, k)
        The values of all columns; NaN in rows without a decision.
    columns : sequence of str
        Names of the columns.
    objectives : ndarray of shape (n,)
        The objective of each row.
    statuses : sequence of str
        The status of each row.
    sparse : bool
        One row per value that is not 0 instead of one row per instance.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
    """
    template = template or FrameTemplate("pandas")
    if not sparse:
        data: dict[str, Any] = {"objective": objectives, "status": list(statuses)}
        for column, name in enumerate(columns):
            if name in data:
                raise ValueError(
                    f"two columns would be named '{name}': use to_frame(sparse=True), or values"
                )
            data[name] = values[:, column]
        return template.table(data)
    chosen = (values != 0) & ~np.isnan(values)
    # A row of zeros stays in the table, with its first column.
    chosen[~chosen.any(axis=1), :1] = True
    rows, entries = np.nonzero(chosen)
    data = {
        "objective": np.asarray(objectives)[rows],
        "status": [statuses[row] for row in rows.tolist()],
        "column": [columns[entry] for entry in entries.tolist()],
        "value": values[rows, entries],
    }
    if template.library == "polars":
        data = {"instance": rows, **data}
    return template.table(data, rows)


def importance_table(table: Any, features: Sequence[str], increases: np.ndarray) -> Any:
    """Return the importance of features, as a DataFrame if ``table`` is one.

    Parameters
    ----------
    table : table or array_like
        The features.
    features : sequence of str
        Their names.
    increases : ndarray of shape (p, repeats)
        The increase of the mean regret in each repeat.

    Returns
    -------
    DataFrame or dict of ndarray
    """
    repeats = increases.shape[1]
    deviation = increases.std(axis=1, ddof=1) if repeats > 1 else np.zeros(len(features))
    columns = {"regret_increase": increases.mean(axis=1), "deviation": deviation}
    template = frame_template(table)
    if template is not None and template.library == "pandas":
        import pandas

        return pandas.DataFrame(columns, index=pandas.Index(features, name="feature"))
    return row_table(template, {"feature": list(features), **columns})


def row_table(template: FrameTemplate | None, columns: dict[str, Any]) -> Any:
    """Return columns as a DataFrame if there is a template, else as a dict of arrays."""
    if template is not None:
        return template.table(columns)
    return {name: np.asarray(values) for name, values in columns.items()}


def series(template: FrameTemplate | None, values: np.ndarray, name: str, rows: np.ndarray) -> Any:
    """Return numbers of some rows as a Series if there is a template, else unchanged.

    Parameters
    ----------
    template : FrameTemplate or None
        The kind of DataFrame of the input.
    values : ndarray of shape (n,)
        The numbers.
    name : str
        The name of the Series.
    rows : ndarray of int
        The row of the input that each number belongs to.

    Returns
    -------
    pandas.Series, polars.Series or ndarray
    """
    if template is None:
        return values
    if template.library == "pandas":
        import pandas

        return pandas.Series(values, index=template.index[rows], name=name)
    import polars

    return polars.Series(name, values)


def as_frame_like(table: Any, values: np.ndarray, columns: Sequence[str]) -> Any:
    """Return ``values`` as a DataFrame if ``table`` is one, else unchanged."""
    template = frame_template(table)
    return values if template is None else template.build(values, columns)


def column_names(table: Any) -> list[str] | None:
    """Return the column names of a pandas or polars table, if all of them are strings."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def row_labels(table: Any) -> Any:
    """Return the index of a pandas table; ``None`` for tables without one."""
    index = getattr(table, "index", None)
    # A list has a method of this name; only an index can be compared and sorted.
    return index if hasattr(index, "equals") and hasattr(index, "sort_values") else None


def check_same_rows(first: Any, second: Any, names: tuple[str, str] = ("X", "C")) -> None:
    """Refuse two tables with the same row labels in a different order.

    Parameters
    ----------
    first, second : tables
        Any objects; those without row labels pass.
    names : tuple of two str
        What the tables are called in messages.

    Raises
    ------
    ValueError
        If the labels are the same in a different order.

    Warns
    -----
    UserWarning
        If the labels are different ones.
    """
    check_same_labels(row_labels(first), row_labels(second), names)


def check_same_labels(first: Any, second: Any, names: tuple[str, str]) -> None:
    """Check two indices as :func:`check_same_rows` does; ``None`` is a table without one."""
    # Tables of different length are refused where their numbers are read.
    if first is None or second is None or len(first) != len(second) or first.equals(second):
        return
    left, right = names
    row = next((row for row, (a, b) in enumerate(zip(first, second)) if a != b), 0)
    difference = (
        f"row {row} (counted from 0) is {first[row]!r} in {left} and {second[row]!r} in {right}"
    )
    if Counter(first) == Counter(second):
        unique = getattr(first, "is_unique", False)
        remedy = f"{right} = {right}.loc[{left}.index]" if unique else "sort both tables alike"
        raise ValueError(
            f"{left} and {right} have the same row labels in a different order: {difference}. "
            f"Rows are matched by position. Bring them into one order: {remedy}; if the labels "
            f"have no meaning: {right}.reset_index(drop=True), the same for {left}"
        )
    if not (is_default_index(first) or is_default_index(second)):
        warn(
            f"{left} and {right} have different row labels: {difference}. "
            "Rows are matched by position"
        )


def is_default_index(index: Any) -> bool:
    """Return whether an index is 0, 1, 2, …, as pandas makes it if no labels were given."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def check_same_features(trained: list[str] | None, names: list[str] | None) -> None:
    """Refuse features with other names, or in a different order, than a model was trained on."""
    if trained is None or names is None or trained == names:
        return
    if len(trained) != len(names):
        raise ValueError(
            f"X has {len(names)} features, the model was trained on {len(trained)}: "
            f"{', '.join(trained[:8])}"
        )
    column = next(column for column, name in enumerate(names) if name != trained[column])
    remedy = ""
    if sorted(trained) == sorted(names):
        remedy = "; the names are the same in a different order: X[model.feature_names]"
    raise ValueError(
        f"feature {column} of X is '{names[column]}', the model was trained with "
        f"'{trained[column]}' there{remedy}"
    )


def as_float_rows(table: Any, what: str, *, allow_missing: bool) -> np.ndarray:
    """Return a table as rows of floating-point numbers.

    Parameters
    ----------
    table : table or array_like
        The numbers; text, dates, complex numbers and masks are refused by column.
    what : str
        What the table is called in messages.
    allow_missing : bool
        Whether missing values (NaN) are allowed; infinite ones never are.

    Returns
    -------
    ndarray of shape (n, d)
        float32 or float64, in C order.
    """
    if isinstance(table, np.ma.MaskedArray):
        raise ValueError(
            f"{what} is a masked array, whose mask would be lost: give {what}.filled(…) or "
            "leave the rows out"
        )
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"{what} needs one row per instance, not the shape {array.shape}")
    names = column_names(table) or [str(column) for column in range(array.shape[1])]
    if array.dtype.kind not in "fiub":
        columns = [
            float_column(table, array, column, f"{what}, column {names[column]}")
            for column in range(array.shape[1])
        ]
        array = np.stack(columns, axis=1)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    invalid = np.isinf(array) if allow_missing else ~np.isfinite(array)
    if invalid.any():
        row, column = np.argwhere(invalid)[0]
        raise ValueError(
            f"{what}, row {row} (counted from 0), column {names[column]}: "
            f"{array[row, column]} is not a finite number"
        )
    return np.ascontiguousarray(array)


def float_column(table: Any, array: np.ndarray, column: int, place: str) -> np.ndarray:
    """Return one column of a table of several types as float64."""
    # A DataFrame has the type of each column; the joined array has only their common one.
    values = np.asarray(table.iloc[:, column]) if hasattr(table, "iloc") else array[:, column]
    kinds = {values.dtype.kind}
    if values.dtype.kind == "O":
        kinds = {np.asarray(value).dtype.kind for value in values}
    if not kinds <= set("fiub"):
        raise ValueError(
            f"{place}: {values[0]!r} is not a number; encode it first (categories, dates) or "
            "leave the column out"
        )
    return values.astype(np.float64)
