"""From a table to a verdict, a model and a page, as the command ``regretless fit`` does it."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regretless._core import _run_fit
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.pages import first_names, html_table, notebook_html, short_text
from regretless.results.savings import SavingsResult, frame_or_records, method_rows
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.problem import Problem
from regretless.tables.numbers import check_seed
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
        What a table to decide on looks like: the last row or, with lags, the row of the next
        period with the costs of earlier periods. `rows_after` makes that of a longer table.
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
            Rows like `new_rows`, whose other features are those of the last row of the table:
            replace them.
        """
        call = self._call
        # Every role as it was found: a longer table must have the same columns.
        chosen = {
            role: _list(self.roles[role]) or ["none"]
            for role in ("costs", "decisions", "forecasts")
        }
        settings = {
            **call.settings,
            **chosen,
            "time": self.roles["time"] or "none",
            "features": self.roles["features"],
            "lags": _lag_words(self.roles["lag_periods"]),
            "rows_only": True,
        }
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            settings["folder"] = temporary
            settings["file"] = os.fspath(_file_of(table, folder))
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
        cells = [["" if cell is None else short_text(cell) for cell in row.values()] for row in rows]
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


def _file_of(table: Any, folder: Path) -> Path:
    """Return the file of a table; a frame is written into the folder."""
    if isinstance(table, (str, os.PathLike)):
        return Path(table)
    file = folder / "table.csv"
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(table, "to_csv"):
        table.to_csv(file, index=bool(table.index.name))
    elif hasattr(table, "write_csv"):
        table.write_csv(file)
    elif hasattr(table, "to_pandas"):
        table.to_pandas().to_csv(file, index=False)
    else:
        raise TypeError(
            f"table is a {type(table).__name__}; give a file, or a DataFrame of pandas or polars "
            "with the names of its columns"
        )
    return file


@takes_solve_options
def fit(
    problem: Any,
    table: Any,
    *,
    costs: str | Sequence[str] | None = None,
    time: str | None = None,
    decisions: str | Sequence[str] | None = None,
    forecasts: str | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    method: str | OwnLoss | None = None,
    budget: float | None = None,
    season: int | None = None,
    lags: str | int | Sequence[int] | None = None,
    horizon: int = 1,
    seed: int = 0,
    unit: str | None = None,
    title: str | None = None,
    out: str | os.PathLike[str] | None = None,
    **solving: Unpack[SolveKeywords],
) -> FitResult:
    """Find out what the columns of a table are, compare methods on it, and fit the best one.

    With a column of dates, models decide later rows only; otherwise rows are cross-validated. The
    method is compared with least squares, the mean of the costs, the last period, columns that are
    forecasts, and decisions that were made. The model is fitted to all rows.

    Parameters
    ----------
    problem : Problem or path
        The problem, or its file. Python functions are no problems of a fit.
    table : path or DataFrame
        A row per decision: a CSV or Parquet file, or a DataFrame of pandas or polars.
    costs : str or list of str, optional
        Names or patterns such as ``"c_*"``; by default the columns named after the problem's costs,
        or the only group of as many columns with names that are alike.
    time : str, optional
        The column of times, or ``"none"``; by default the only column of dates.
    decisions : str or list of str, optional
        Decisions that were made, one column for each cost, or ``"none"``; by default columns named
        after the costs that are 0 and 1, or mostly 0.
    forecasts : str or list of str, optional
        Forecasts of the costs, one column for each, or ``"none"``; by default the only other
        columns named after the costs. They are compared as they are, and features too.
    features, ignore : str or list of str, optional
        Names or patterns of the features, and of columns to leave out.
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
    out : path, optional
        Folder of the model, the page and all results; the same call resumes there.
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

    Examples
    --------
    >>> result = rl.fit("van.toml", "history.csv", unit="EUR")
    >>> print(result.verdict)
    >>> result.model.decide(tomorrow).to_frame()
    """
    check_seed(seed)
    if isinstance(problem, (str, os.PathLike)):
        problem = Problem.from_file(os.fspath(problem))
    solve = SolveOptions(**solving)
    settings = {
        "costs": _list(costs),
        "time": time,
        "decisions": _list(decisions),
        "forecasts": _list(forecasts),
        "features": _list(features),
        "ignore": _list(ignore),
        "budget": budget,
        "season": season,
        "lags": _lag_words(lags),
        "horizon": horizon,
        "rows_only": False,
        "seed": seed,
        "unit": unit,
        "title": title,
        "command": "regretless.fit(problem, table",
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary if out is None else out)
        settings["folder"] = os.fspath(folder)
        settings["file"] = os.fspath(_file_of(table, folder))
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
        _call=_Call(problem, settings, solve),
    )
