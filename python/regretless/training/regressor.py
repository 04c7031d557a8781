"""Training of scikit-learn regressors, which fit themselves."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.results.reports import SolveCounts
from regretless.training.custom_training import Training, epoch_report

__all__ = ["RegressorPrediction", "RegressorTraining"]


@dataclass
class RegressorPrediction:
    """Costs predicted by a fitted regressor."""

    regressor: Any
    num_costs: int

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return predicted costs."""
        if not len(features):
            return np.empty((0, self.num_costs))
        if features.ndim == 3:
            flat = self.regressor.predict(features.reshape(-1, features.shape[-1]))
            return np.asarray(flat, dtype=np.float64).reshape(len(features), self.num_costs)
        return np.asarray(self.regressor.predict(features), dtype=np.float64)


class RegressorTraining:
    """A regressor that is fitted by its own ``fit``."""

    def __init__(self, training: Training, regressor: Any) -> None:
        self.training, self.regressor = training, regressor
        self.prediction = RegressorPrediction(regressor, training.costs.shape[1])
        self.name = f"{type(regressor).__name__}.fit"

    def run(self) -> tuple[list[dict[str, Any]], SolveCounts]:
        """Fit the regressor; return the rounds of the report and the solver calls."""
        rows, started = self.training.rows[0], time.perf_counter()
        features, costs = self.training.features[rows], self.training.costs[rows]
        if features.ndim == 3:
            features, costs = features.reshape(-1, features.shape[-1]), costs.reshape(-1)
        self.regressor.fit(features, costs)
        validation, regret = self.training.rows[1], None
        if validation:
            predictions = self.prediction.predict(self.training.features[validation])
            quality = self.training.loss._evaluate_decisions(predictions, validation)
            regret = quality["regret"]
        epoch = epoch_report(0, None, None, regret, time.perf_counter() - started)
        counts = SolveCounts.from_dict(self.training.loss._counts())
        fitted = {"method": self.name, "epochs": [epoch], "best_epoch": 0, "stopped": "epochs"}
        return [fitted], counts
