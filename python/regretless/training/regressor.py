"""Training of scikit-learn regressors, which fit themselves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.results.reports import SolveCounts
from regretless.training.custom_training import Training, epoch_report
from regretless.training.observed_costs import fresh_copy, groups_of_costs, without_unobserved

__all__ = ["RegressorPrediction", "RegressorTraining"]


@dataclass
class FittedGroup:
    """A regressor and the costs that it predicts."""

    regressor: Any
    costs: list[int]


@dataclass
class RegressorPrediction:
    """Costs predicted by fitted regressors: one, or one per group of costs with the same rows."""

    groups: list[FittedGroup]
    num_costs: int
    unobserved: Sequence[int]
    """Costs that no training row has."""

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return predicted costs; NaN for those that no training row has."""
        costs = np.zeros((len(features), self.num_costs))
        if not len(features):
            return costs
        if features.ndim == 3:
            flat = self.groups[0].regressor.predict(features.reshape(-1, features.shape[-1]))
            return np.asarray(flat, dtype=np.float64).reshape(len(features), self.num_costs)
        for group in self.groups:
            predicted = np.asarray(group.regressor.predict(features), dtype=np.float64)
            if len(group.costs) == self.num_costs:
                return predicted
            costs[:, group.costs] = predicted.reshape(len(features), -1)
        return without_unobserved(costs, self.unobserved)


class RegressorTraining:
    """A regressor that is fitted by its own ``fit``.

    Where some training rows lack some costs, copies are fitted to groups of costs that the same
    rows have: a regressor cannot be fitted to cells without a number.
    """

    def __init__(self, training: Training, regressor: Any) -> None:
        self.training, self.regressor = training, regressor
        self.prediction = RegressorPrediction([], training.costs.shape[1], training.unobserved)
        self.name = f"{type(regressor).__name__}.fit"

    def run(self) -> tuple[list[dict[str, Any]], SolveCounts]:
        """Fit the regressor; return the rounds of the report and the solver calls."""
        started = time.perf_counter()
        self.fit()
        validation, regret = self.training.rows[1], None
        if validation:
            predictions = self.prediction.predict(self.training.features[validation])
            regret = self.training.evaluate(predictions, validation)["regret"]
        epoch = epoch_report(0, None, None, regret, time.perf_counter() - started)
        counts = SolveCounts.from_dict(self.training.loss._counts())
        fitted = {"method": self.name, "epochs": [epoch], "best_epoch": 0, "stopped": "epochs"}
        return [fitted], counts

    def fit(self) -> None:
        """Fit the regressor, or its copies, to the costs that the training rows have."""
        rows, num_costs = self.training.rows[0], self.training.costs.shape[1]
        features, costs = self.training.features[rows], self.training.observed[rows]
        if features.ndim == 3:
            features, costs = features.reshape(-1, features.shape[-1]), costs.reshape(-1)
            exists = ~np.isnan(costs)
            self.regressor.fit(features[exists], costs[exists])
            self.prediction.groups = [FittedGroup(self.regressor, list(range(num_costs)))]
            return
        groups = groups_of_costs(costs)
        for group, rows_of_group in groups:
            regressor = self.regressor if len(groups) == 1 else fresh_copy(self.regressor)
            targets = costs[rows_of_group][:, group]
            # Many regressors take one cost only as a vector.
            is_part = len(group) < num_costs
            targets = targets.ravel() if is_part and len(group) == 1 else targets
            try:
                regressor.fit(features[rows_of_group], targets)
            except ValueError as error:
                if not is_part:
                    raise
                names = self.training.names_of_costs(group)
                raise ValueError(
                    f"{type(regressor).__name__} cannot be fitted to the {len(rows_of_group)} "
                    f"training rows that have {names}: {error}"
                ) from error
            self.prediction.groups.append(FittedGroup(regressor, group))
        if len(groups) > 1:
            self.regressor = [group.regressor for group in self.prediction.groups]
