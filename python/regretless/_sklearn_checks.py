"""What can go wrong without a word between scikit-learn's meta-estimators and an estimator that decides.

Decisions depend on all costs of a row, in their true units. A meta-estimator that hands over one cost at a time, or transformed costs,
makes the estimator learn decisions of another problem. Only some of this can be seen from inside.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

EXACT = 1e-4
"""Standardised columns have mean 0 and deviation 1 up to rounding in single precision. Costs that nobody standardised come as near as this
in all columns hardly ever."""

REMEDY = (
    "Decisions need costs in their true units: fit the estimator to the costs themselves. It standardises them inside "
    "(predicted costs are mean + deviation · output), so that no transformation is needed"
)


def check_width(problem: Any, width: int, flat: bool) -> None:
    """Refuses costs that are not as many per row as the problem has."""
    if problem is None or problem.num_costs == width:
        return
    if flat:
        raise ValueError(
            f"y is a single column, {problem.name} needs {problem.num_costs} costs per row. A decision depends on all costs of a row: do not wrap "
            "this estimator in MultiOutputRegressor, RegressorChain or another meta-estimator that fits each cost alone; it predicts all costs itself"
        )
    raise ValueError(f"y has {width} costs per row, {problem.name} needs {problem.num_costs}")


def check_validation(share: Any, rows: int) -> int:
    """How many rows of a table validate; 0 is none."""
    number = isinstance(share, (int, float, np.integer, np.floating)) and not isinstance(
        share, bool
    )
    if not number or not 0.0 <= share < 1.0:
        raise ValueError(
            f"validation is the share of rows that choose the best epoch, from 0 (none) to below 1, not {share!r}"
        )
    held = round(share * rows)
    if held >= rows:
        raise ValueError(f"validation={share!r} of {rows} rows leaves none to train on")
    return held


def warn_of_transformed(costs: np.ndarray) -> None:
    """Warns where costs look as if a scaler had made them."""
    how = transformed_by(costs)
    if how is not None:
        warnings.warn(
            f"every column of y {how}: these look like transformed costs, as TransformedTargetRegressor or a scaler makes them. Labels, decisions "
            f"and regret are then those of other costs. {REMEDY}",
            stacklevel=3,
        )


def transformed_by(costs: np.ndarray) -> str | None:
    """What every column has in common if a scaler made the costs; None if nothing tells of one."""
    rows = len(costs)
    # Of two or three rows nothing can be told.
    if rows < 4:
        return None
    wide = np.asarray(costs, dtype=np.float64)
    means, deviations = wide.mean(axis=0), wide.std(axis=0)
    varying = deviations > EXACT
    if not varying.any():
        return None
    # With n or with n − 1 in the denominator: scikit-learn's way and pandas'.
    unit = (
        np.minimum(np.abs(deviations - 1.0), np.abs(deviations * np.sqrt(rows / (rows - 1)) - 1.0))
        < EXACT
    )
    if np.all(np.abs(means) < EXACT) and np.all(unit | ~varying):
        return "has mean 0 and deviation 1"
    low, high = wide.min(axis=0), wide.max(axis=0)
    # Columns of zeros and ones are costs like any others.
    between = np.any((wide > 0.0) & (wide < 1.0), axis=0)
    if np.all((low == 0.0) & (np.abs(high - 1.0) < 1e-6) & between):
        return "has minimum 0 and maximum 1"
    return None


def refuse_transformed(estimator: Any, deciding: type) -> None:
    """Refuses an estimator in which one that decides learns from transformed costs."""
    from sklearn.compose import TransformedTargetRegressor

    for part in parts(estimator):
        transforms = isinstance(part, TransformedTargetRegressor) and (
            part.func is not None or part.transformer is not None
        )
        if transforms and any(
            isinstance(inner, deciding) and inner.problem is not None for inner in parts(part)
        ):
            raise ValueError(
                f"{deciding.__name__} inside TransformedTargetRegressor learns decisions of the transformed costs. {REMEDY}. "
                "For a transformation that is not linear, such as a logarithm, put another regressor inside: its costs are transformed back "
                "before anything is decided"
            )


def parts(estimator: Any) -> list[Any]:
    """An estimator and all estimators inside, at any depth."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return [estimator]
    return [estimator, *estimator.get_params(deep=True).values()]
