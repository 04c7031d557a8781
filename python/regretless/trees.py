"""The cost-sensitive family as an objective for boosted trees: XGBoost and LightGBM with one output per cost.

Trees learn costs by squared error first, as usual; then some rounds with a cost-sensitive objective, at a small learning
rate, turn them towards the decisions::

    tuning = CosObjective(problem, costs)
    model = tuning.fine_tune_xgboost(features, rounds=(75, 120))
    model.predict(features)

Gradients are brought to the size of costs, so that learning rates mean what they mean for squared error: a step of the
absolute errors is a share of the mean cost. The second derivative is that of the error alone: 2 for squared errors, and 1
for absolute ones, whose own is 0.

Trained from scratch with such an objective, trees do badly; start from a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regretless as rl
from regretless._rows import as_table

__all__ = ["BoostedCosts", "CosObjective", "RegretMetric"]

XGBOOST_MSE = {"max_depth": 4, "learning_rate": 0.1}
LIGHTGBM_MSE = {"num_leaves": 15, "learning_rate": 0.1}


class CosObjective:
    """Gradient and second derivative of a loss for the rows of one table, in their order."""

    def __init__(self, problem: rl.Problem, costs: Any, loss: str = "MAE(O,S)", *, labels: Any = None) -> None:
        if not loss.upper().startswith(("MSE", "MAE")):
            raise ValueError(f"an objective of trees is MSE or MAE with components, such as MAE(O,S), not '{loss}'")
        self.problem, self.name, self.costs = problem, loss, as_table(costs)
        self.labels = rl.label(problem, self.costs) if labels is None else labels
        self.loss = rl.Loss(loss, problem, self.costs, labels=self.labels)
        self.scale, self.curvature = sizes(loss, self.costs)

    def __deepcopy__(self, memo: dict[int, Any]) -> CosObjective:
        """Itself: LightGBM copies its settings, and an objective never changes."""
        return self

    def derivatives(self, predictions: Any) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and second derivative with respect to every predicted cost, both (n, d)."""
        rows = np.ascontiguousarray(np.reshape(predictions, self.costs.shape), dtype=np.float32)
        _, gradients = self.loss.evaluate(rows)
        return gradients * self.scale, np.full_like(gradients, self.curvature)

    def xgboost(self, predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        """``obj=`` of ``xgboost.train``."""
        return self.derivatives(predictions)

    def lightgbm(self, predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        """``params["objective"]`` of ``lightgbm.train``, which knows several outputs as classes only."""
        return self.derivatives(predictions)

    def fine_tune_xgboost(self, features: Any, *, rounds: tuple[int, int] = (75, 120), base: Any = None, **settings: Any) -> BoostedCosts:
        """Squared error for the first number of rounds (or a trained ``base``), then this objective for the second.

        ``settings`` are XGBoost's for the second part; ``learning_rate`` is 0.02 unless given.
        """
        import xgboost

        table = xgboost.DMatrix(features, label=self.costs)
        shared = {"tree_method": "hist", "num_target": self.costs.shape[1], **XGBOOST_MSE}
        base = base or xgboost.train({**shared, "objective": "reg:squarederror"}, table, rounds[0])
        table.set_base_margin(base.predict(table, output_margin=True))
        tuned = {**shared, "base_score": 0.0, "disable_default_eval_metric": 1, "learning_rate": 0.02, **settings}
        return BoostedCosts(base, xgboost.train(tuned, table, rounds[1], obj=self.xgboost), "xgboost")

    def fine_tune_lightgbm(self, features: Any, *, rounds: tuple[int, int] = (75, 120), base: Any = None, **settings: Any) -> BoostedCosts:
        """The same with LightGBM; ``base`` is a model whose ``predict(features)`` are costs (n, d)."""
        import lightgbm

        columns = self.costs.shape[1]
        # Several outputs are classes to LightGBM; labels of a custom objective are never read.
        shared = {"num_class": columns, "verbosity": -1, **LIGHTGBM_MSE}
        empty = np.zeros(len(self.costs))
        if base is None:
            squared = CosObjective(self.problem, self.costs, "MSE", labels=self.labels)
            start = np.repeat(self.costs.mean(axis=0)[None], len(self.costs), axis=0)
            table = lightgbm.Dataset(np.asarray(features), label=empty, init_score=start)
            trees = lightgbm.train({**shared, "objective": squared.lightgbm}, table, rounds[0])
            base = BoostedCosts(Constant(start[0]), trees, "lightgbm")
        table = lightgbm.Dataset(np.asarray(features), label=empty, init_score=np.asarray(base.predict(features), dtype=float))
        tuned = {**shared, "learning_rate": 0.02, **settings, "objective": self.lightgbm}
        return BoostedCosts(base, lightgbm.train(tuned, table, rounds[1]), "lightgbm")


@dataclass
class BoostedCosts:
    """A model and trees that correct it."""

    base: Any
    trees: Any
    kind: str

    def predict(self, features: Any) -> np.ndarray:
        """Predicted costs, one row per instance."""
        if self.kind == "xgboost":
            import xgboost

            table = xgboost.DMatrix(features)
            table.set_base_margin(self.base.predict(table, output_margin=True))
            return self.trees.predict(table, output_margin=True).astype(np.float32)
        corrections = self.trees.predict(np.asarray(features), raw_score=True)
        return (np.asarray(self.base.predict(features)) + corrections).astype(np.float32)


@dataclass
class Constant:
    """The same costs for everybody: where boosting by squared error begins."""

    costs: np.ndarray

    def predict(self, features: Any) -> np.ndarray:
        """One row per row of features."""
        return np.repeat(self.costs[None], len(features), axis=0)


class RegretMetric:
    """Normalised regret as an evaluation metric: how much dearer decisions from predictions are than the best ones.

    The true costs of an evaluation table are its labels (XGBoost), or given by name (LightGBM, which has none). Best decisions
    are found once per table.
    """

    def __init__(self, problem: rl.Problem, tables: dict[int, Any] | None = None) -> None:
        self.problem = problem
        self._known: dict[int, tuple[np.ndarray, rl.Labels]] = {}
        for table, costs in (tables or {}).items():
            self._add(table, as_table(costs))

    def xgboost(self, predictions: np.ndarray, table: Any) -> tuple[str, float]:
        """``custom_metric=`` of ``xgboost.train``."""
        if id(table) not in self._known:
            self._add(id(table), as_table(np.reshape(table.get_label(), predictions.shape)))
        return "regret", self.of(predictions, id(table))

    def lightgbm(self, predictions: np.ndarray, table: Any) -> tuple[str, float, bool]:
        """``feval=`` of ``lightgbm.train``; its data sets are announced as ``tables={id(dataset): costs}``."""
        if id(table) not in self._known:
            raise ValueError("the costs of this data set are not known: RegretMetric(problem, {id(dataset): costs})")
        return "regret", self.of(predictions, id(table)), False

    def of(self, predictions: Any, table: int) -> float:
        """Sum of regrets over the sum of best objectives."""
        costs, labels = self._known[table]
        rows = np.ascontiguousarray(np.reshape(predictions, costs.shape), dtype=np.float32)
        return float(rl.regret(self.problem, rows, costs, labels=labels).sum() / np.abs(labels.objectives).sum())

    def _add(self, table: int, costs: np.ndarray) -> None:
        self._known[table] = (costs, rl.label(self.problem, costs))


def sizes(loss: str, costs: np.ndarray) -> tuple[float, float]:
    """What brings gradients to the size of costs, and the second derivative at that size."""
    columns = costs.shape[1]
    length = float(np.linalg.norm(costs, axis=1).mean())
    components = loss.upper().partition("(")[2].removesuffix(")").split(",")
    normalised = "S" in components
    if loss.upper().startswith("MSE"):
        return columns * (length**2 if normalised else 1.0), 2.0
    return columns * float(np.abs(costs).mean()) * (length if normalised else 1.0), 1.0
