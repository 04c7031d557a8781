"""Evaluation of predictions by the decisions that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless._core import _evaluate, _Model, _regret
from regretless._renamed import refuse_renamed
from regretless.results.reports import Evaluation
from regretless.solving.labels import Labels
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.problem import Problem
from regretless.tables.columns import row_count
from regretless.tables.frames import check_same_rows, frame_template, series
from regretless.tables.names import plain_table
from regretless.tables.parameters import plain_parameters
from regretless.training.model import Model, evaluation_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["evaluate", "regret"]


@refuse_renamed("evaluate")
@takes_solve_options
def evaluate(
    problem: Problem,
    predictions: Any | Model,
    X: Any = None,
    C: Any = None,
    *,
    labels: Labels | None = None,
    parameters: Any = None,
    **solving: Unpack[SolveKeywords],
) -> Evaluation:
    """Evaluate predictions, or a model, by the decisions that follow from them.

    Parameters
    ----------
    problem : Problem
        The problem.
    predictions : array_like or DataFrame of shape (n, d), or Model
        Predicted costs, or a model that predicts them from `X`.
    X : array_like or DataFrame of shape (n, p), optional
        Features; only for a model.
    C : array_like or DataFrame of shape (n, d)
        True costs. Columns with names are matched to the problem's costs by name, arrays by
        position.
    labels : Labels, optional
        Optimal decisions under the true costs; solved here by default.
    parameters : mapping, DataFrame or list of str, optional
        Parameters of the rows, as in `Problem.solve_all`, or names of columns of `X`; by default
        the columns of `X` that the problem reads.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `Problem.solve_all`.

    Returns
    -------
    Evaluation
        Regret, normalized regret, errors of the predicted costs, fraction of optimal decisions, and
        regret and objectives of each row in `rows`.

    Raises
    ------
    ValueError
        If `C`, or `X` for a model, is missing, or tables do not belong together.

    Notes
    -----
    Rows whose true costs have no feasible decision are left out, with a warning.

    Examples
    --------
    >>> rl.evaluate(problem, predictions, C=C_test).normalized_regret
    >>> rl.evaluate(problem, model, X_test, C_test)
    """
    is_model = isinstance(predictions, _Model)
    if C is None:
        raise ValueError(
            "an array of predictions needs C=; the third argument is X, for models"
            if X is not None and not is_model
            else "C is missing: the true costs"
        )
    options = SolveOptions(**solving)
    if is_model:
        if X is None:
            raise ValueError("X is missing: the features that the model predicts from")
        return predictions._evaluate(problem, X, C, labels, parameters, options)
    return evaluate_predictions(problem, predictions, C, labels, parameters, options)


def evaluate_predictions(
    problem: Problem,
    predictions: Any,
    C: Any,
    labels: Labels | None,
    parameters: Any,
    options: SolveOptions,
    *,
    leaves_out: bool = False,
) -> Evaluation:
    """Evaluate predictions; where `leaves_out` is true, costs whose prediction is NaN have none."""
    check_same_rows(predictions, C, ("predictions", "C"))
    costs = plain_table(C, "C")
    given = plain_parameters(problem, parameters, row_count(costs), C, "C")
    predicted = plain_table(predictions, "predictions")
    fields = _evaluate(problem, predicted, costs, labels, given, options, leaves_out)
    return evaluation_of(fields, C)


@refuse_renamed("regret")
@takes_solve_options
def regret(
    problem: Problem,
    predictions: Any,
    C: Any,
    *,
    labels: Labels | None = None,
    parameters: Any = None,
    **solving: Unpack[SolveKeywords],
) -> NDArray[np.float64] | Any:
    """Return the regret of each row of predictions.

    Parameters
    ----------
    problem : Problem
        The problem.
    predictions : array_like or DataFrame of shape (n, d)
        Predicted costs.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    labels : Labels, optional
        Optimal decisions under the true costs; solved here by default.
    parameters : mapping or DataFrame, optional
        Parameters of the rows, as in `Problem.solve_all`.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `Problem.solve_all`.

    Returns
    -------
    ndarray or Series of shape (n,)
        How much worse each decision is than the optimal one under the true costs; a Series with the
        index of `C` if that is a DataFrame. Rows whose true costs have no feasible decision are
        left out.

    Notes
    -----
    With exact labels regret is never negative but for rounding; with labels within a gap, or found
    by a heuristic, it can be.
    """
    check_same_rows(predictions, C, ("predictions", "C"))
    costs = plain_table(C, "C")
    given = plain_parameters(problem, parameters, row_count(costs), C, "C")
    options = SolveOptions(**solving)
    predicted = plain_table(predictions, "predictions")
    regrets, rows = _regret(problem, predicted, costs, labels, given, options)
    return series(frame_template(C), regrets, "regret", rows)
