"""Checks against silent errors between scikit-learn's meta-estimators and decisions.

Decisions depend on all costs of a row, in their true units. A meta-estimator that passes one cost
at a time, or transformed costs, makes the estimator learn the decisions of another problem. Only
some of these cases can be detected.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from regretless.tables.numbers import as_numeric_array

NORMALIZATION_OFFSET = 1e-8
"""Added to the sum of optimal objectives, as :func:`regretless.evaluate` does."""

STANDARDIZED_TOLERANCE = 1e-4
"""Tolerance of mean 0 and standard deviation 1. Rounding to single precision stays below it, and
costs that were not standardized come as close in all columns hardly ever."""

UNIT_TOLERANCE = 1e-6
"""Tolerance of a maximum of 1: rounding to single precision stays below it."""

WEIGHT_CHECK = "check_sample_weight_equivalence_on_dense_data"
"""The check that a row of weight 2 gives the model of two equal rows, to seven digits."""

MIN_ROWS = 4
"""Two or three rows are standardized or scaled by chance."""

REMEDY = (
    "Decisions need costs in their true units: fit the estimator to the costs themselves. It "
    "standardizes them internally (predicted costs are mean + deviation · output), so no "
    "transformation is needed"
)


def check_sample_weight(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Return one finite, nonnegative weight per row, not all 0; None without weights."""
    if sample_weight is None:
        return None
    weights = as_numeric_array(sample_weight, "sample_weight").astype(np.float64)
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weight is one number per row, an array of shape ({rows},), not of shape "
            f"{weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError("sample_weight holds finite numbers of at least 0")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero")
    return weights


def is_closed_form(method: str) -> bool:
    """Return whether a method fits a linear regression in closed form."""
    return method.strip().lower().startswith(("least squares", "ridge("))


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return which of scikit-learn's checks an estimator cannot pass, with the reasons.

    For ``sklearn.utils.estimator_checks.check_estimator(…, expected_failed_checks=…)``. With a
    problem, the checks need one of a single cost: they fit one target.
    """
    reasons = {}
    if estimator.method is None or not is_closed_form(estimator.method):
        reasons[WEIGHT_CHECK] = (
            "gradient descent in single precision: batches are drawn by position, and sums over "
            "all rows in one batch depend on their order in the last digits, which the check "
            "compares"
        )
    elif estimator.validation != 0:
        reasons[WEIGHT_CHECK] = (
            "validation rows are drawn by position: with repeated rows they are others; with "
            "validation=0 the check passes"
        )
    elif not estimator.method.strip().lower().startswith("ridge"):
        reasons[WEIGHT_CHECK] = (
            "the check has twice as many features as rows, where rounding decides on the seventh "
            "digit of least squares; ridge(0.1) passes"
        )
    if estimator.problem is not None:
        reasons["check_regressor_multioutput"] = (
            "the check fits five targets, and a problem has a fixed number of costs"
        )
    return reasons


def check_width(problem: Any, width: int, flat: bool) -> None:
    """Refuse another number of costs per row than the problem has."""
    if problem is None or problem.num_costs == width:
        return
    if flat:
        raise ValueError(
            f"y is a single column, {problem.name} needs {problem.num_costs} costs per row. A "
            "decision depends on all costs of a row: do not wrap this estimator in "
            "MultiOutputRegressor, RegressorChain or another meta-estimator that fits each cost "
            "alone; it predicts all costs itself"
        )
    raise ValueError(f"y has {width} costs per row, {problem.name} needs {problem.num_costs}")


def validation_rows(fraction: Any, rows: int) -> int:
    """Return how many rows of a table are for validation; 0 for none."""
    is_number = isinstance(fraction, (int, float, np.integer, np.floating))
    if not is_number or isinstance(fraction, bool) or not 0.0 <= fraction < 1.0:
        raise ValueError(
            "validation is the fraction of rows that selects the best epoch, from 0 (none) to "
            f"below 1, not {fraction!r}"
        )
    count = round(fraction * rows)
    if count >= rows:
        raise ValueError(f"validation={fraction!r} of {rows} rows leaves none to train on")
    return count


def warn_if_transformed(costs: np.ndarray) -> None:
    """Warn if costs look like the output of a scaler."""
    evidence = scaler_evidence(costs)
    if evidence is not None:
        warnings.warn(
            f"every column of y {evidence}: these look like transformed costs, as "
            "TransformedTargetRegressor or a scaler makes them. Labels, decisions and regret are "
            f"then those of other costs. {REMEDY}",
            stacklevel=3,
        )


def scaler_evidence(costs: np.ndarray) -> str | None:
    """Return what all columns have in common if a scaler made the costs, else None."""
    rows = len(costs)
    if rows < MIN_ROWS:
        return None
    values = np.asarray(costs, dtype=np.float64)
    means, deviations = values.mean(axis=0), values.std(axis=0)
    varying = deviations > STANDARDIZED_TOLERANCE
    if not varying.any():
        return None
    # Divided by n as in scikit-learn, or by n − 1 as in pandas.
    population = np.abs(deviations - 1.0)
    sample = np.abs(deviations * np.sqrt(rows / (rows - 1)) - 1.0)
    unit = np.minimum(population, sample) < STANDARDIZED_TOLERANCE
    if np.all(np.abs(means) < STANDARDIZED_TOLERANCE) and np.all(unit | ~varying):
        return "has mean 0 and deviation 1"
    low, high = values.min(axis=0), values.max(axis=0)
    # Columns of zeros and ones alone are ordinary costs.
    between = np.any((values > 0.0) & (values < 1.0), axis=0)
    if np.all((low == 0.0) & (np.abs(high - 1.0) < UNIT_TOLERANCE) & between):
        return "has minimum 0 and maximum 1"
    return None


def check_not_transformed(estimator: Any, deciding: type[Any]) -> None:
    """Refuse an estimator in which a decision-focused one learns from transformed costs."""
    from sklearn.compose import TransformedTargetRegressor

    for part in nested_estimators(estimator):
        transforms = isinstance(part, TransformedTargetRegressor) and (
            part.func is not None or part.transformer is not None
        )
        if transforms and any(
            isinstance(inner, deciding) and inner.problem is not None
            for inner in nested_estimators(part)
        ):
            raise ValueError(
                f"{deciding.__name__} inside TransformedTargetRegressor learns decisions of the "
                f"transformed costs. {REMEDY}. For a nonlinear transformation, such as a "
                "logarithm, put another regressor inside: its costs are transformed back before "
                "the problem is solved"
            )


def nested_estimators(estimator: Any) -> list[Any]:
    """Return an estimator and all estimators inside, at any depth."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return [estimator]
    return [estimator, *estimator.get_params(deep=True).values()]
