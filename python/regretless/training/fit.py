"""From a table to a verdict, a model and a page, as the command ``regretless fit`` does it."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regretless._core import _run_fit, _write_fit_example
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.pages import first_names, html_table, notebook_html, short_text
from regretless.results.savings import SavingsResult, frame_or_records, method_rows
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.problem import Problem
from regretless.tables.numbers import check_seed
from regretless.training.fit_files import files_of, holidays_file, names_file, paths
from regretless.training.model import Model

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["FitResult", "fit"]

MODEL_FILE = "model.safetensors"
"""The model in the folder of a fit."""
NEW_ROWS_FILE = "new-rows.csv"
"""What a table to decide on looks like, in the folder of a fit."""


@dataclass(frozen=True)
class _Call:
    """What a fit was called with."""

    problem: Problem
    settings: dict[str, Any]
    holidays: Any
    solve: SolveOptions


def _records(file: Path) -> Any:
    """Return the rows of a file."""
    with open(file, encoding="utf-8", newline="") as opened:
        text = opened.read()
    rows = list(csv.DictReader(io.StringIO(text)))
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.read_csv(io.StringIO(text))


def _lag_words(lags: str | int | Sequence[int] | None) -> list[str]:
    """Return lags as the command line takes them; an empty list means none."""
    if lags is None:
        return []
    if isinstance(lags, (str, int)):
        return [str(lags)]
    return [str(lag) for lag in lags] or ["none"]


@dataclass(frozen=True, repr=False)
class FitResult(SavingsResult):
    """Outcome of a fit.

    Attributes
    ----------
    verdict : str
        Whether the method is better than the best baseline, and which model follows from that.
    remarks : list of str
        What the method saves against past decisions, and what limits the verdict.
    method : str
        The method of the model.
    epochs : int or None
        Epochs of its training, if it has some.
    model : Model
        Fitted to all rows.
    roles : dict of str
        The columns of the table by what they were taken for: ``costs``, ``time``, ``keys``,
        ``decisions``, ``forecasts``, ``parameters``, ``features``, ``lags`` and ``unused``;
        ``calendar`` and ``history`` say what became of the time and of earlier costs.
    summary : dict
        Totals, savings with intervals and failures, as the command line writes them to
        ``summary.json``.
    methods : pandas.DataFrame or list of dict
        One row per method, as in `BacktestResult`.
    new_rows : pandas.DataFrame or list of dict
        What a table to decide on looks like: the rows without costs at the end of the table or,
        if times are regular, the row of the next period, with the costs of earlier periods and
        empty cells to fill in. `rows_after` makes that of a longer table.
    page : str
        The page that `report` writes.
    """

    verdict: str
    remarks: list[str]
    method: str
    epochs: int | None
    model: Model
    roles: dict[str, Any]
    summary: dict[str, Any]
    methods: Any
    new_rows: Any
    page: str
    _call: _Call

    def rows_after(self, table: Any) -> Any:
        """Return what the model needs to decide after the last row of a table.

        Parameters
        ----------
        table : path or DataFrame
            The table of the fit with rows for the periods that are known by now. With lags, the
            costs of its last rows are among the new columns.

        Returns
        -------
        pandas.DataFrame or list of dict
            Rows like `new_rows`, with empty cells for what only you know: fill them in.
        """
        call = self._call
        # Every role as it was found: a longer table must have the same columns.
        chosen = {
            role: _list(self.roles[role]) or ["none"]
            for role in ("costs", "decisions", "forecasts", "keys")
        }
        if self.roles.get("instances"):
            # The cost of a long table is its cost column.
            chosen["costs"] = []
        settings = {
            **call.settings,
            **chosen,
            "time": self.roles["time"] or "none",
            "features": self.roles["features"],
            "lags": _lag_words(self.roles["lag_periods"]),
            "rows_only": True,
            "names": None,
        }
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            settings["folder"] = temporary
            settings["tables"] = files_of(table, folder, force=True)
            settings["holidays"] = holidays_file(call.holidays, folder, force=True)
            _run_fit(call.problem, None, json.dumps(settings), call.solve)
            return _records(folder / NEW_ROWS_FILE)

    def __repr__(self) -> str:
        """Return the verdict in a line."""
        return f"<FitResult: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return verdict, roles and methods, for notebooks."""
        roles = [
            [role.replace("_", " "), first_names(_names(columns))]
            for role, columns in self.roles.items()
            if columns and role != "lag_periods"
        ]
        rows = method_rows(self.summary)
        header = [name.replace("_", " ") for name in rows[0]]
        cells = [
            ["" if cell is None else short_text(cell) for cell in row.values()] for row in rows
        ]
        return notebook_html(
            [self.verdict, *self.remarks],
            html_table("columns", ["role", "columns"], roles),
            html_table("methods", header, cells),
        )


def _names(columns: Any) -> list[str]:
    """Return the names of the columns of a role."""
    if isinstance(columns, str):
        return [columns]
    names: list[str] = []
    for column in columns:
        if isinstance(column, str):
            names.append(column)
        elif isinstance(column, dict):
            names.append(column["name"])
        else:
            # A group of columns that belong to one cost each.
            names.extend(column)
    return names


def _list(value: str | Sequence[str] | None) -> list[str]:
    """Return names or patterns as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _with_example(name: str, folder: Path, settings: dict[str, Any]) -> tuple[str, str]:
    """Write an example, add its settings where others are not given; return problem and table."""
    written = _write_fit_example(name, folder)
    for role, columns in written["columns"].items():
        if not settings[role] and columns is not None:
            settings[role] = [columns] if role == "costs" else columns
    settings["unit"] = written["unit"] if settings["unit"] is None else settings["unit"]
    settings["title"] = written["title"] if settings["title"] is None else settings["title"]
    settings["names"] = written["names"]
    return written["problem"], written["table"]


@takes_solve_options
def fit(
    problem: Any = None,
    table: Any = None,
    *,
    example: str | None = None,
    costs: str | Sequence[str] | None = None,
    time: str | None = None,
    keys: str | Sequence[str] | None = None,
    decisions: str | Sequence[str] | None = None,
    forecasts: str | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    instance_column: str | None = None,
    item_column: str | None = None,
    cost_column: str | None = None,
    parameters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    categories: str | Sequence[str] | None = None,
    target_statistics: str | Sequence[str] | None = None,
    dates: str | Sequence[str] | None = None,
    holidays: Any = None,
    missing: Literal["impute", "error"] = "impute",
    method: str | OwnLoss | None = None,
    budget: float | None = None,
    season: int | None = None,
    lags: str | int | Sequence[int] | None = None,
    horizon: int = 1,
    seed: int = 0,
    unit: str | None = None,
    title: str | None = None,
    names: Mapping[str, str] | str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    **solving: Unpack[SolveKeywords],
) -> FitResult:
    """Find out what the columns of a table are, compare methods on it, and fit the best one.

    With a column of dates, models decide later rows only; otherwise rows are cross-validated. The
    method is compared with least squares, the mean of the costs, the last period, columns that are
    forecasts, and decisions that were made. The model is fitted to all rows.

    Parameters
    ----------
    problem : Problem or path
        The problem, or its file. A problem of Python functions cannot be fitted.
    table : path, list of paths or DataFrame
        A row per decision: a CSV or Parquet file, or a DataFrame of pandas or polars. Several files
        with the same columns are joined, one after the other.
    example : str, optional
        An example on real data instead of a problem and a table: "battery", "machine" or
        "houses".
    costs : str or list of str, optional
        Names or patterns such as ``"c_*"``; by default the columns named after the problem's costs,
        or the only group of as many columns with names that are alike.
    time : str, optional
        The column of times, or ``"none"``; by default the only column of dates.
    keys : str or list of str, optional
        Columns that name the rows, such as order numbers, or ``"none"``; by default texts and whole
        numbers called id with another value in every row.
    decisions : str or list of str, optional
        Decisions that were made, one column for each cost, or ``"none"``; by default columns named
        after the costs that are 0 and 1, or mostly 0, if all rows are feasible.
    forecasts : str or list of str, optional
        Forecasts of the costs, one column for each, or ``"none"``; by default the only other
        columns named after the costs. They are compared as they are, and features too.
    features, ignore : str or list of str, optional
        Names or patterns of the features, and of columns to leave out.
    instance_column, item_column, cost_column : str, optional
        The columns of a long table, with a row per instance and cost.
    parameters : path or list of paths, optional
        Files of parameters of the rows that are not in the table: CSV with a row per instance, or
        ``"NAME=FILE.npy"``.
    delimiter, decimal : str, optional
        What separates the cells of CSV files, and what precedes decimals; a comma (a tab in .tsv
        files) and a point by default.
    categories, target_statistics, dates, holidays, missing : optional
        How texts, dates and gaps become features: the fields of `FeatureOptions`. Holidays are
        dates, or a `Path` of a file with a date in each line.
    method : str or loss, optional
        What is compared with the baselines; `auto` by default.
    budget : float, default 20.0
        CPU seconds that all searches of `auto` may take together, counted by work.
    season : int, optional
        Periods of a season; the costs of a season before are then compared, too.
    lags : int or list of int, optional
        The costs of how many periods before are features, such as ``[1, 7]``, or ``"none"``; only
        where times are regular. By default 1 and a season, if there are ten rows for each column.
    horizon : int, default 1
        Periods between a decision and the last period whose costs are known when it is made.
    seed : int, default 0
        Seed of folds, initial parameters and batches.
    unit : str, optional
        The unit of costs, such as EUR.
    title : str, optional
        The title of the page.
    names : mapping or path, optional
        What people call the costs, for the page: names by cost, or a CSV file with a header such as
        ``cost,name``. Tables and models keep the names of the columns.
    out : path, optional
        Folder of the model, the page and all results; the same call resumes there. Its
        ``settings.toml`` has every setting and role: ``regretless fit --config`` repeats the fit.
    force : bool, default False
        Whether results of other settings in the folder are replaced.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `train`.

    Returns
    -------
    FitResult
        Verdict, model and page.

    Raises
    ------
    ValueError
        If a role could be that of several columns; the message has an argument for each.
    FileExistsError
        If the folder has results of other settings, or of another table.

    Notes
    -----
    The same settings give the same files, byte for byte, as ``regretless fit``.

    Examples
    --------
    >>> result = rl.fit("van.toml", "history.csv", unit="EUR")
    >>> print(result.verdict)
    >>> result.model.decide(tomorrow).to_frame()
    """
    check_seed(seed)
    if missing not in ("impute", "error"):
        raise ValueError(f"missing is 'impute' or 'error', not {missing!r}")
    solve = SolveOptions(**solving)
    settings = {
        "costs": _list(costs),
        "time": time,
        "keys": _list(keys),
        "decisions": _list(decisions),
        "forecasts": _list(forecasts),
        "features": _list(features),
        "ignore": _list(ignore),
        "instance_column": instance_column,
        "item_column": item_column,
        "cost_column": cost_column,
        "parameters": paths(parameters),
        "delimiter": delimiter,
        "decimal": decimal,
        "categories": _list(categories),
        "target_statistics": _list(target_statistics),
        "dates": _list(dates),
        "missing": missing,
        "budget": budget,
        "season": season,
        "lags": _lag_words(lags),
        "horizon": horizon,
        "rows_only": False,
        "seed": seed,
        "unit": unit,
        "title": title,
        "force": force,
        "command": "regretless.fit(problem, table",
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary if out is None else out)
        if example is not None:
            if problem is not None or table is not None:
                raise TypeError("an example has its own problem and table: leave yours out")
            problem, table = _with_example(example, folder, settings)
        elif problem is None or table is None:
            raise TypeError("fit() takes a problem and a table, or an example")
        settings["problem"] = None
        if isinstance(problem, (str, os.PathLike)):
            settings["problem"] = os.fspath(problem)
            problem = Problem.from_file(os.fspath(problem))
        settings["folder"] = os.fspath(folder)
        settings["holidays"] = holidays_file(holidays, folder, force=force)
        settings["names"] = names_file(names, folder) or settings.get("names")
        settings["tables"] = files_of(table, folder, force=force)
        chosen = None if method is None else as_method(method)
        found = _run_fit(problem, chosen, json.dumps(settings), solve)
        new_rows = _records(folder / NEW_ROWS_FILE)
        model = Model.load(os.fspath(folder / MODEL_FILE))
    return FitResult(
        verdict=found["verdict"],
        remarks=found["remarks"],
        method=found["method"],
        epochs=found["epochs"],
        model=model,
        roles=found["roles"],
        summary=found["summary"],
        methods=frame_or_records(method_rows(found["summary"])),
        new_rows=new_rows,
        page=found["page"],
        _call=_Call(problem, settings, holidays, solve),
    )
