"""The score of predicted costs by the regret of their decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

import regretless as rl
from regretless.sklearn._checks import NORMALIZATION_OFFSET, check_sample_weight
from regretless.tables.frames import check_same_rows
from regretless.tables.names import names_of, with_names


def regret_score(
    problem: rl.Problem,
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    labels: rl.Labels | None = None,
    parameters: Any = None,
    threads: int | None = None,
) -> float:
    """Return minus the normalized regret of predicted costs: 0 is perfect, higher is better.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    y_true : array_like or DataFrame of shape (n, d)
        True costs.
    y_pred : array_like or DataFrame of shape (n, d)
        Predicted costs. Columns with names are matched to the problem's costs by name; predictions
        without names have the order of ``y_true``.
    sample_weight : array_like of shape (n,), optional
        How much each row counts.
    labels : regretless.Labels, optional
        Optimal decisions under the true costs; solved here by default.
    parameters : DataFrame or mapping, optional
        Parameters of the rows that the problem reads.
    threads : int, optional
        Number of threads; all by default.

    Returns
    -------
    float
        Minus the sum of regrets divided by the sum of the absolute optimal objectives, as in
        :func:`regretless.evaluate`; both sums are weighted.

    Raises
    ------
    ValueError
        If row labels contradict, or both tables have the same columns in a different order and the
        problem has no cost names.
    """
    check_same_rows(y_true, y_pred, ("y_true", "y_pred"))
    true_names = names_of(y_true)
    predicted_names = names_of(y_pred) or true_names
    if (
        problem.cost_names is None
        and true_names is not None
        and predicted_names is not None
        and true_names != predicted_names
        and sorted(true_names) == sorted(predicted_names)
    ):
        # Without cost names columns are matched by position, and these positions contradict.
        raise ValueError(
            "y_true and y_pred have the same columns in a different order, and the problem has no "
            f"cost names to match them by: y_true begins with '{true_names[0]}', y_pred with "
            f"'{predicted_names[0]}'. Give y_true in the order of y_pred"
        )
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    y_true, y_pred = y_true.reshape(len(y_true), -1), y_pred.reshape(len(y_pred), -1)
    weights = check_sample_weight(sample_weight, len(y_true))
    y_true, y_pred = with_names(y_true, true_names), with_names(y_pred, predicted_names)
    if weights is None:
        evaluation = rl.evaluate(
            problem, y_pred, C=y_true, labels=labels, parameters=parameters, threads=threads
        )
        return -evaluation.normalized_regret
    if labels is None:
        labels = rl.label(problem, y_true, parameters=parameters, threads=threads)
    regrets = rl.regret(
        problem, y_pred, y_true, labels=labels, parameters=parameters, threads=threads
    )
    optima = np.abs(labels.objectives)
    return -float(weights @ regrets) / (float(weights @ optima) + NORMALIZATION_OFFSET)
