"""Comparisons of methods on one table, as the command ``regretless compare`` makes them."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless._core import _comparison_splits, _run_comparison
from regretless._renamed import check as check_renamed
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.pages import PageResult, call_text, notebook_html
from regretless.results.plots import draws_on_axes, plot_intervals, records
from regretless.results.savings import frame_or_records
from regretless.solving.labels import Labels
from regretless.solving.options import SolveOptions
from regretless.tables.columns import row_count, training_features
from regretless.tables.frames import check_same_rows
from regretless.tables.names import plain_table
from regretless.tables.numbers import check_seed, row_array
from regretless.tables.parameters import given_parameters, plain_parameters
from regretless.tables.times import split_tables
from regretless.training.backtest import method_list
from regretless.training.estimators import estimator_costs, fitted_predictions, is_estimator
from regretless.training.options import FeatureOptions

__all__ = ["ComparisonResult", "compare"]

VALIDATION_FRACTION = 0.2
"""Fraction of the training rows of a splitter that choose the best epoch."""


@dataclass(frozen=True)
class ComparisonResult(PageResult):
    """Outcome of a comparison.

    Attributes
    ----------
    verdict : list of str
        Conclusions in sentences, the most important one first, and warnings.
    methods : pandas.DataFrame or list of dict
        One row per method and baseline: means over seeds of the ratio to MSE, regrets, errors,
        solves and seconds, and ``test_normalized_regret_sd``, the standard deviation of the test
        regret over seeds; ``difference`` is the ratio minus 1 with its 95 % interval from ``lower``
        to ``upper``, if seeds are tested on different rows.
    runs : pandas.DataFrame or list of dict
        One row per method and seed.
    figures : dict of str
        The figures of the page by name, as SVG.
    page : str
        The page that `report` writes.
    failed : list of dict
        Runs that failed, with their errors; a warning was raised for each.
    text : str
        The table as the command line prints it.
    """

    verdict: list[str]
    methods: Any
    runs: Any
    figures: dict[str, str]
    page: str
    failed: list[dict[str, str]]
    text: str

    def __str__(self) -> str:
        """Return the table and the verdict."""
        return "\n".join([self.text.rstrip("\n"), "", *self.verdict])

    def _repr_html_(self) -> str:
        """Return the verdict, the table and the first figure, for notebooks."""
        table = f"<pre>{html.escape(self.text)}</pre>"
        figure = next(iter(self.figures.values()), "")
        return notebook_html(self.verdict, table, figure)

    @draws_on_axes
    def plot(self, ax: Any = None) -> Any:
        """Draw the difference of each method from MSE, with its interval.

        Raises
        ------
        ValueError
            If all seeds test the same rows, so there are no differences.
        """
        rows = records(self.methods)
        if all(row["difference"] is None for row in rows):
            raise ValueError("no difference has an interval: all seeds test the same rows")
        return plot_intervals(ax, rows, "difference", "test regret relative to MSE, minus 1")


def _number(text: str) -> Any:
    """Return a cell of a table as a number, None if it is empty, or the text."""
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _records(table: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV text; the column of methods stays text."""
    rows = csv.DictReader(io.StringIO(table))
    return [
        {name: cell if name == "method" else _number(cell) for name, cell in row.items()}
        for row in rows
    ]


FIRST_COLUMNS = (
    "method",
    "runs",
    "ratio",
    "ratio_sd",
    "difference",
    "lower",
    "upper",
    "test_regret",
    "test_normalized_regret",
    "test_normalized_regret_sd",
)
"""Columns of methods in the order of a paper's table; the others follow."""


def _in_order(method: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a method with its columns in order."""
    first = {name: method[name] for name in FIRST_COLUMNS}
    return {**first, **method}


def _splitter_rows(splitter: Any, rows: int, validation: float) -> list[list[list[int]]]:
    """Return rows for training, validation and test of every split of a splitter.

    The last training rows, in the order of the splitter, choose the best epoch.
    """
    if not 0 <= validation < 1:
        raise ValueError(f"validation must be at least 0 and below 1, not {validation}")
    splits = []
    for train, test in splitter.split(np.arange(rows).reshape(-1, 1)):
        count = len(train) - round(validation * len(train))
        train, test = np.asarray(train).tolist(), np.asarray(test).tolist()
        splits.append([train[:count], train[count:], test])
    if not splits:
        raise ValueError("splitter: it returned no split")
    return splits


def _fold_arrays(folds: list[list[list[int]]]) -> list[list[Any]]:
    """Return the rows of every split as arrays."""
    return [[row_array(part, "split") for part in fold] for fold in folds]


def _given(
    predictions: Mapping[str, Any],
    problem: Any,
    X: Any,
    C: Any,
    parameters: Any,
    splits: list[Any],
) -> list[tuple[str, list[Any]]]:
    """Return predicted costs of all rows for each split; estimators are fitted to training rows."""
    given: list[tuple[str, list[Any]]] = []
    costs = None
    for name, forecaster in predictions.items():
        if is_estimator(forecaster):
            if costs is None:
                rows = plain_parameters(problem, parameters, len(X), X, "X", X)
                costs = estimator_costs(problem, C, rows)
            by_split = [
                fitted_predictions(problem, forecaster, X, costs, [(train, test)])
                for train, _, test in splits
            ]
        else:
            by_split = [forecaster] * len(splits)
        given.append((name, by_split))
    return given


def _result(found: dict[str, Any]) -> ComparisonResult:
    """Return what the compiled module found as a result."""
    return ComparisonResult(
        verdict=found["verdict"],
        methods=frame_or_records([_in_order(method) for method in found["methods"]]),
        runs=frame_or_records(_records(found["runs_csv"])),
        figures=found["figures"],
        page=found["page"],
        failed=found["failed"],
        text=found["text"],
    )


def compare(
    problem: Any,
    X: Any,
    C: Any,
    *,
    methods: Sequence[str | OwnLoss] | str | OwnLoss | None = None,
    split: Any = None,
    splitter: Any = None,
    validation: float = VALIDATION_FRACTION,
    seeds: int = 5,
    seed: int = 0,
    predictions: Mapping[str, Any] | None = None,
    predictor: str | None = None,
    profile: str = "default",
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
) -> ComparisonResult:
    """Compare methods on one table, on several seeds.

    Every method is trained and tested on the same rows. Least squares, the mean of the training
    rows and, if rows are in order of time, the previous row are compared, too; MSE always runs, as
    the reference of the ratios.

    Parameters
    ----------
    problem : Problem
        The problem.
    X : array_like or DataFrame of shape (n, p) or (n, d, p)
        Features.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    methods : sequence of str or custom losses, or str, optional
        Methods that are trained, or their names in one text, separated by semicolons; by default
        "auto", MSE, MAE(O,S), and SPO+ where its solves take seconds; for benchmarks such as
        "KS32" MSE and MAE with all subsets of C, O and S, as in the paper. Least squares is always
        compared.
    split : optional
        As in `train`. A random split depends on the seed; with others, all seeds are tested on the
        same rows, and there are no intervals.
    splitter : object with split, optional
        The rows of each run instead of `split` and `seeds`, such as ``TimeSeriesSplit`` or
        ``KFold`` of scikit-learn; its splits take the place of seeds.
    validation : float, default 0.2
        Fraction of the training rows of a splitter, the last ones, that choose the best epoch.
    seeds : int, default 5
        Number of seeds.
    seed : int, default 0
        The first seed.
    predictions : mapping of str, optional
        Other forecasters by name: arrays or DataFrames of predicted costs of shape (n, d), or
        estimators with `fit` and `predict`, as in scikit-learn and LightGBM, which are fitted to
        the training rows of each seed. `fit(X, C)` gets these rows of `X` as they are, and their
        true costs in the order of ``problem.cost_names``, or of the columns of `C` if the problem
        has no names: a DataFrame with the names of the costs if `C` is one, else an array.
        `predict` returns costs in this order, or a DataFrame, whose columns are matched by name.
        Every fit is that of a copy (``sklearn.base.clone``, or ``copy.deepcopy`` for objects that
        are no estimators of scikit-learn): the object itself is not fitted.
    predictor : str, optional
        "linear", "mlp" or "mlp:64,32".
    profile : {"default", "paper"}
        The defaults of all settings.
    out : path, optional
        Folder of finished runs, tables and the page. The same call resumes there, and reads a
        finished comparison. The files are those of ``regretless compare``, except that
        ``settings.toml`` has the call.
    labels : Labels, optional
        Optimal decisions of the rows; solved here by default.
    parameters : mapping, DataFrame or list of str, optional
        As in `train`.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `train`.
    **settings
        Training settings, as in `train`.

    Returns
    -------
    ComparisonResult
        Verdict, tables, figures and the page.

    Raises
    ------
    TypeError
        For an unknown setting, and for both `split` and `splitter`.
    ValueError
        For an invalid setting or table.
    FileExistsError
        If `out` has results of other data or settings.

    Notes
    -----
    The numbers are those of ``regretless compare`` with the same settings.

    Examples
    --------
    >>> result = rl.compare(problem, X, C, methods=["MSE", "MAE(O,S)", "SPO+"], epochs=20)
    >>> print(result)
    >>> result.report("report.html")
    """
    if predictor is not None and not isinstance(predictor, str):
        raise TypeError(
            "compare takes the names of predictors; a custom module: train(predictor=module) "
            "per seed, or an object with fit and predict in predictions="
        )
    check_seed(seed)
    check_renamed("train", settings)
    parameters = given_parameters(X, parameters, problem.parameters)
    if splitter is not None and split is not None:
        raise TypeError("compare() takes either 'split' or 'splitter', not both")
    folds = None
    if splitter is not None:
        folds = _splitter_rows(splitter, len(C), validation)
    check_same_rows(X, C)
    tables = split_tables(split, X, C)
    X, C = tables.X, tables.C
    given: list[tuple[str, list[Any]]] = []
    if predictions:
        splits: list[Any] = folds or _comparison_splits(
            len(C), tables.split, tables.times, seeds, seed
        )
        given = _given(predictions, problem, X, C, parameters, splits)
    methods = None if methods is None else method_list(methods)
    names = None if methods is None else [str(method) for method in methods]
    call = call_text("compare", {"methods": names, "seeds": seeds, "seed": seed, **settings})
    plan = {
        "predictor": predictor,
        "profile": profile,
        "out": None if out is None else os.fspath(out),
        "seed": seed,
        "command": call,
    }
    try:
        features = training_features(X, FeatureOptions()._settings())
        found = _run_comparison(
            problem,
            features,
            plain_table(C, "C", single=True),
            None if methods is None else [as_method(method) for method in methods],
            json.dumps(plan),
            tables.split,
            tables.times,
            seeds,
            None if folds is None else _fold_arrays(folds),
            [(name, [plain_table(table, name) for table in by_split]) for name, by_split in given],
            labels,
            plain_parameters(problem, parameters, row_count(features), X, "X", X),
            settings or None,
            SolveOptions(threads, progress, heuristic, gap, nodes, seconds),
        )
    except FileExistsError as error:
        file = str(error).partition(": exists already")[0]
        raise FileExistsError(
            f"{file} has results of other data or settings: choose another folder, or delete this "
            "one"
        ) from error
    for failure in found["failed"]:
        warnings.warn(f"{failure['run']} failed: {failure['error']}", stacklevel=2)
    return _result(found)
