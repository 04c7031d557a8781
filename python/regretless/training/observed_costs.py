"""Costs that exist in some rows only, where a predictor is fitted outside of the compiled module.

The numbers in the cells of items that do not exist mean nothing, and often are 0: here they are
NaN. Means, scales and fits use the other cells. A cost that no training row has gets no prediction,
which is NaN, too: decisions leave out what it belongs to.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from regretless._core import _present_costs
from regretless.tables.names import costs_in_order, plain_table

__all__ = [
    "deviations_of_costs",
    "fresh_copy",
    "groups_of_costs",
    "mean_costs",
    "observed_costs",
    "unobserved_costs",
    "without_unobserved",
]


def observed_costs(problem: Any, C: Any, given: Any) -> np.ndarray:
    """Return costs in the order of the problem; NaN where they do not exist.

    ``given`` has the parameters of the rows, as ``plain_parameters`` returns them.
    """
    costs = costs_in_order(problem, C)
    present = _present_costs(problem, plain_table(C, "C"), given)
    if present is None:
        return costs
    return np.where(present, costs, costs.dtype.type(np.nan))


def unobserved_costs(costs: np.ndarray) -> list[int]:
    """Return the costs that none of these rows has; none where there are no rows."""
    if not len(costs):
        return []
    return [int(cost) for cost in np.flatnonzero(np.isnan(costs).all(axis=0))]


def mean_costs(costs: np.ndarray, *, is_long: bool, has_names: bool) -> np.ndarray:
    """Return the mean of each cost over the rows that have it; NaN where none has it.

    In a long table whose items have no names, where a position is no item, the mean of all costs
    takes the place of every one.
    """
    exists = ~np.isnan(costs)
    if exists.all():
        return np.asarray(costs.mean(axis=0))
    counts, sums = exists.sum(axis=0), np.nansum(costs, axis=0, dtype=np.float64)
    if is_long and not has_names:
        counts = np.full_like(counts, counts.sum())
        sums = np.full_like(sums, sums.sum())
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)


def deviations_of_costs(costs: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each cost over the rows that have it; 0 for none."""
    exists = ~np.isnan(costs)
    if exists.all():
        return np.asarray(costs.std(axis=0))
    counts = np.maximum(exists.sum(axis=0), 1)
    means = np.nansum(costs, axis=0, dtype=np.float64) / counts
    return np.asarray(np.sqrt(np.nansum((costs - means) ** 2, axis=0) / counts))


def without_unobserved(predictions: np.ndarray, unobserved: Sequence[int]) -> np.ndarray:
    """Return predictions that are NaN for costs that no training row has.

    NaN is the mark of a cost without a prediction: others that are NaN, where numbers overflowed,
    become infinite, which is an error wherever costs are used.
    """
    if not unobserved:
        return predictions
    marked = np.array(predictions)
    marked[np.isnan(marked)] = np.inf
    marked[:, list(unobserved)] = np.nan
    return marked


def groups_of_costs(costs: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Return groups of costs that the same rows have, and these rows.

    An estimator is fitted to each group: it cannot be fitted to cells without a number. Costs that
    no row has are in no group.
    """
    groups: dict[bytes, tuple[list[int], list[int]]] = {}
    for cost, exists in enumerate((~np.isnan(costs)).T):
        if exists.any():
            rows = np.flatnonzero(exists).tolist()
            groups.setdefault(exists.tobytes(), ([], rows))[0].append(cost)
    return list(groups.values())


def fresh_copy(estimator: Any) -> Any:
    """Return an estimator that is not fitted."""
    try:
        from sklearn.base import clone
    except ImportError:
        return copy.deepcopy(estimator)
    # Not every forecaster has the parameters of an estimator.
    return clone(estimator, safe=False)
