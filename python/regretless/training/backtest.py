"""Backtests: what methods would have cost on one's own history."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from regretless._core import _rolling_folds, _run_backtest
from regretless._renamed import check as check_renamed
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.pages import call_text, html_table, notebook_html, short_text
from regretless.results.savings import SavingsResult, frame_or_records, method_rows
from regretless.solving.labels import Labels
from regretless.solving.options import SolveOptions
from regretless.tables.columns import row_count, training_features
from regretless.tables.frames import check_same_rows
from regretless.tables.names import (
    plain_table,
)
from regretless.tables.numbers import check_seed
from regretless.tables.parameters import given_parameters, plain_parameters
from regretless.tables.times import time_column, time_texts
from regretless.training.estimators import estimator_costs, fitted_predictions, is_estimator
from regretless.training.options import FeatureOptions

__all__ = ["BacktestResult", "backtest"]


@dataclass(frozen=True)
class BacktestResult(SavingsResult):
    """Outcome of a backtest.

    Attributes
    ----------
    verdict : str
        The conclusion in one sentence.
    remarks : list of str
        Further sentences: what the best method saves against the decisions that were made, methods
        that have not converged, and limits of the results.
    summary : dict
        Totals, savings with intervals and failures, as the command line writes them to
        ``summary.json``.
    periods : pandas.DataFrame or list of dict
        Cost, regret and best objective of every period and method.
    decisions : pandas.DataFrame or list of dict
        Every value of a decision that is not 0, with period, row, method and column.
    methods : pandas.DataFrame or list of dict
        One row per method: totals, saving per period with its interval, per day and per year,
        and the fractions of periods won and lost.
    notes : list of str
        What is remarkable about the times: rows that are not in their order, periods of several
        rows, and periods without rows.
    """

    verdict: str
    summary: dict[str, Any]
    periods: Any
    decisions: Any
    methods: Any
    notes: list[str]
    _source: Any = field(default=None, repr=False, compare=False)

    @cached_property
    def _drawn(self) -> tuple[str, dict[str, str]]:
        page, figures = self._source.draw()
        return page, figures

    @property
    def page(self) -> str:  # type: ignore[override]
        """The page that `report` writes, as HTML.

        It is drawn when it is first read: the models that decided the latest periods are fitted
        again for it.
        """
        return self._drawn[0]

    @property
    def remarks(self) -> list[str]:  # type: ignore[override]
        """Sentences besides the verdict."""
        return list(self.summary["remarks"])

    @property
    def figures(self) -> dict[str, str]:
        """The figures of the page by name, as SVG; drawn with the page."""
        return self._drawn[1]

    def __getstate__(self) -> dict[str, Any]:
        """Return the result with its page, which is drawn now: the tables are not stored."""
        return {**self.__dict__, "_drawn": self._drawn, "_source": None}

    def _repr_html_(self) -> str:
        """Return the verdict and the methods, for notebooks."""
        unit = self.summary["unit"]
        rows = method_rows(self.summary)
        header = [name.replace("_", " ") for name in rows[0]]
        cells = [
            ["" if cell is None else short_text(cell) for cell in row.values()] for row in rows
        ]
        title = "all periods" if unit is None else f"all periods, in {unit}"
        sentences = [self.verdict, *self.remarks]
        return notebook_html(sentences, html_table(title, header, cells))


def _times(time: Any, X: Any) -> list[str]:
    if isinstance(time, str):
        column = time_column(X, time)
        if column is None:
            raise ValueError(f"time: X has no column {time!r}")
        time = column
    return time_texts(time)


def _splitter_folds(splitter: Any, times: list[str]) -> list[tuple[list[int], list[int]]]:
    """Return the folds of a splitter that sees the rows in order of time."""
    keys = np.asarray([float(text) for text in times]) if _are_numbers(times) else None
    keys = np.asarray(times, dtype="datetime64[ns]") if keys is None else keys
    order = np.argsort(keys, kind="stable")
    positions = np.arange(len(times)).reshape(-1, 1)
    return [
        (order[train].tolist(), order[test].tolist()) for train, test in splitter.split(positions)
    ]


def _are_numbers(times: list[str]) -> bool:
    try:
        [float(text) for text in times]
    except ValueError:
        return False
    return True


def method_list(methods: Sequence[str | OwnLoss] | str | OwnLoss) -> list[str | OwnLoss]:
    """Return methods as a list; a text names several, separated by semicolons, or one."""
    if isinstance(methods, OwnLoss):
        return [methods]
    if isinstance(methods, str):
        return [name.strip() for name in methods.split(";") if name.strip()]
    return list(methods)


def _call_text(arguments: Mapping[str, Any]) -> str:
    """Return the call for people, without tables and defaults."""
    defaults = inspect.signature(backtest).parameters
    shown: dict[str, Any] = {}
    if isinstance(arguments["time"], str):
        shown["time"] = arguments["time"]
    if arguments["methods"] is not None:
        shown["methods"] = [str(method) for method in method_list(arguments["methods"])]
    for name in ("window", *PLAN_KEYWORDS, *SOLVE_KEYWORDS):
        if arguments[name] != defaults[name].default:
            shown[name] = arguments[name]
    if arguments["out"] is not None:
        shown["out"] = os.fspath(arguments["out"])
    return call_text("backtest", {**shown, **arguments["settings"]})


PLAN_KEYWORDS = (
    "predictor",
    "initial",
    "step",
    "horizon",
    "gap_periods",
    "validation",
    "refit",
    "warm_start",
    "season",
    "unit",
    "seed",
)
"""Arguments of `backtest` that are settings of the plan as they are."""

SOLVE_KEYWORDS = tuple(field.name for field in fields(SolveOptions))
"""Arguments of `backtest` that say how rows are solved."""


def plain_decisions(name: str, decisions: Any) -> tuple[str, Any]:
    """Return decisions that were made, by their name, as the compiled module takes them."""
    return name, plain_table(decisions, name)


@dataclass(frozen=True)
class BacktestCall:
    """The arguments of a backtest, ready for the compiled module; can be pickled."""

    problem: Any
    X: Any
    C: Any
    times: list[str]
    methods: list[str | OwnLoss] | None
    plan: dict[str, Any]
    folds: list[tuple[list[int], list[int]]] | None
    predictions: list[tuple[str, Any]]
    decisions: tuple[str, Any] | None
    labels: Any
    parameters: Any
    settings: dict[str, Any] | None
    solve: SolveOptions

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> BacktestCall:
        """Return the call with the arguments of `backtest`; estimators are fitted here."""
        X, C, out = arguments["X"], arguments["C"], arguments["out"]
        check_seed(arguments["seed"])
        problem = arguments["problem"]
        parameters = given_parameters(X, arguments["parameters"], problem.parameters)
        plan = {name: arguments[name] for name in PLAN_KEYWORDS}
        plan["window"] = str(arguments["window"])
        plan["out"] = None if out is None else os.fspath(out)
        time = arguments["time"]
        plan["time_column"] = time if isinstance(time, str) else None
        plan["command"] = _call_text(arguments)
        times = _times(arguments["time"], X)
        splitter = arguments["splitter"]
        folds = None if splitter is None else _splitter_folds(splitter, times)
        given, costs = [], None
        for name, forecaster in (arguments["predictions"] or {}).items():
            if is_estimator(forecaster):
                if costs is None:
                    given_rows = plain_parameters(problem, parameters, len(X), X, "X", X)
                    costs = estimator_costs(problem, C, given_rows)
                if folds is None:
                    folds = _rolling_folds(times, json.dumps(plan))
                # Without refits, all later rows are decided by the first model.
                fitted = folds
                if not arguments["refit"]:
                    fitted = [(folds[0][0], [row for _, test in folds for row in test])]
                forecaster = fitted_predictions(problem, forecaster, X, costs, fitted)
            given.append((name, forecaster))
        made = arguments["decisions"]
        return cls(
            problem=problem,
            X=X,
            C=C,
            times=times,
            methods=None if arguments["methods"] is None else method_list(arguments["methods"]),
            plan=plan,
            folds=folds,
            predictions=given,
            decisions=None if made is None else ("present decisions", made),
            labels=arguments["labels"],
            parameters=parameters,
            settings=arguments["settings"] or None,
            solve=SolveOptions(**{name: arguments[name] for name in SOLVE_KEYWORDS}),
        )

    def run(self) -> BacktestResult:
        """Run what is missing and return the results."""
        found = self.run_shard(None)
        assert found is not None, "only shards have no results"
        summary = found["summary"]
        return BacktestResult(
            verdict=summary["verdict"],
            summary=summary,
            periods=frame_or_records(found["periods"]),
            decisions=frame_or_records(found["decisions"]),
            methods=frame_or_records(method_rows(summary)),
            notes=found["notes"],
            _source=found["page"],
        )

    def run_shard(self, shard: str | None) -> dict[str, Any] | None:
        """Run the trainings of a shard; without one, all of them, and return the results."""
        check_renamed("train", self.settings or {})
        check_same_rows(self.X, self.C)
        features = training_features(self.X, FeatureOptions()._settings())
        rows = row_count(features)
        return _run_backtest(
            self.problem,
            features,
            plain_table(self.C, "C", single=True),
            self.times,
            None if self.methods is None else [as_method(method) for method in self.methods],
            json.dumps(self.plan),
            self.folds,
            [(name, plain_table(values, name)) for name, values in self.predictions],
            None if self.decisions is None else plain_decisions(*self.decisions),
            self.labels,
            plain_parameters(self.problem, self.parameters, rows, self.X, "X", self.X),
            self.settings,
            self.solve,
            shard,
        )


def backtest(
    problem: Any,
    X: Any,
    C: Any,
    *,
    time: Any,
    methods: Sequence[str | OwnLoss] | str | OwnLoss | None = None,
    window: int | str = "expanding",
    initial: int | None = None,
    step: int | None = None,
    horizon: int | None = None,
    gap_periods: int = 0,
    splitter: Any = None,
    validation: float | None = None,
    refit: bool = True,
    warm_start: bool = False,
    season: int | None = None,
    decisions: Any = None,
    predictions: Mapping[str, Any] | None = None,
    unit: str | None = None,
    predictor: str | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    labels: Labels | None = None,
    parameters: Any = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    **settings: Any,
) -> BacktestResult:
    """Decide a history as if it were the present, period by period.

    Every period is decided by models that have seen earlier periods only. Least squares, the mean
    of the history and the last period always run, too.

    Parameters
    ----------
    problem : Problem
        The problem.
    X : array_like or DataFrame of shape (n, p)
        Features.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    time : str or array_like of shape (n,)
        A column of X, or the times of the rows: dates, date-times or numbers. Rows of one time are
        one period.
    methods : sequence of str or custom losses, or str, optional
        Methods that are trained, or their names in one text, separated by semicolons; by default
        "auto", whose searches take 20 CPU seconds together, but at least one each. Least squares is
        always compared.
    window : int or "expanding", default "expanding"
        Periods that a model is trained on: always the latest ones, or all earlier ones.
    initial : int, optional
        Periods of the first training of an expanding window; half of them by default.
    step : int, optional
        Periods from one training to the next; by default there are at most 20 trainings.
    horizon : int, optional
        Periods that one model decides, at most a step; a step by default.
    gap_periods : int, default 0
        Periods between the history and the first decided one.
    splitter : object with split, optional
        The folds instead of the settings above, such as ``TimeSeriesSplit`` of scikit-learn. It
        sees the rows in order of time; histories must end before the periods they decide.
    validation : float, default 0.2
        Fraction of the periods of a history, the latest ones, that choose the best epoch.
    refit : bool, default True
        Whether models are trained for every fold; otherwise those of the first fold decide all.
    warm_start : bool, default False
        Whether each training starts from the parameters of the one before.
    season : int, optional
        Periods of a season; the costs of a season before are then compared, too.
    decisions : array_like or DataFrame of shape (n, d), optional
        Decisions that were made, "present decisions" in the result. The columns of a DataFrame are
        named like the costs and matched by name, in any order; other names are refused. Those of an
        array are in the order of the problem's costs. Rows that are not decided may be NaN. If the
        problem has columns with known costs, their values follow in further columns, in the order
        of ``problem.solve_all(C).column_names``; the constant of a model from a modeling language
        is such a column, ``constant``, always 1. Refused for functions that return objectives with
        known costs: only the function can compute them.
    predictions : mapping of str, optional
        Other forecasters by name: arrays or DataFrames of predicted costs of shape (n, d), of which
        rows that are not decided may be NaN, or estimators with `fit` and `predict`, as in
        scikit-learn and LightGBM, which are fitted to the history of each fold. `fit(X, C)` gets
        the rows of `X` as they are, and their true costs in the order of ``problem.cost_names``, or
        of the columns of `C` if the problem has no names: a DataFrame with the names of the costs
        if `C` is one, else an array. `predict` returns costs in this order, or a DataFrame, whose
        columns are matched by name. An estimator that predicts a single number, such as
        ``LGBMRegressor``, is fitted to each cost separately, an array of shape (n,). Every fit is
        that of a copy (``sklearn.base.clone``, or ``copy.deepcopy`` for objects that are no
        estimators of scikit-learn): the object itself is not fitted.
    unit : str, optional
        The unit of costs, such as EUR, for the verdict.
    predictor : str, optional
        "linear", "mlp" or "mlp:64,32".
    seed : int, default 0
        Seed of initial parameters and batches.
    out : path, optional
        Folder of finished trainings and results. The same call resumes; the files are those of
        ``regretless backtest``.
    labels : Labels, optional
        Optimal decisions of the rows; solved here by default.
    parameters : mapping or DataFrame, optional
        Parameters of the rows, as in `Problem.solve_all`.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `train`.
    **settings
        Training settings, as in `train`.

    Returns
    -------
    BacktestResult
        Verdict, costs and decisions.

    Examples
    --------
    >>> result = rl.backtest(problem, X, C, time=dates, methods=["MAE(O,S)", "SPO+"], unit="EUR")
    >>> print(result.verdict)
    """
    arguments = locals()
    return BacktestCall.of(arguments).run()
