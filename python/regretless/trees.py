"""The cost-sensitive family as an objective for boosted trees: XGBoost and LightGBM with one output per cost.

Trees learn costs by squared error first, as usual; then some rounds with a cost-sensitive objective, at a small learning
rate, turn them towards the decisions::

    tuning = CosObjective(problem, costs)
    model = tuning.fine_tune_xgboost(features, rounds=(75, 120), progress=True)
    model.report["kept_round"], model.history      # what was kept, and the regret of each round
    model.decide(features).decisions
    model.save("trees.zip")                        # BoostedCosts.load("trees.zip")

Some rows are held back. After each round the regret of the decisions is measured on them, and the round with the least is kept. The base is
round 0: on these rows the result is never worse than the base. On other rows it can be.

Gradients are brought to the size of costs, so that learning rates mean what they mean for squared error: a step of the
absolute errors is a share of the mean cost. The second derivative is that of the error alone: 2 for squared errors, and 1
for absolute ones, whose own is 0.

Trained from scratch with such an objective, trees do badly; start from a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import regretless as rl
from regretless._boosted import BoostedCosts
from regretless._boosters import LIGHTGBM_MSE, XGBOOST_MSE
from regretless._fine_tune import FineTuning, sizes
from regretless._frames import as_numbers, column_names, row_labels
from regretless._names import in_order, named, names_of
from regretless._rows import as_table

__all__ = ["LIGHTGBM_MSE", "XGBOOST_MSE", "BoostedCosts", "CosObjective", "RegretMetric"]


class CosObjective:
    """Gradient and second derivative of a loss for the rows of one table, in their order.

    ``costs`` with column names are matched to the problem's costs by name; what is predicted is then in the order of ``problem.cost_names``.
    ``labels`` are the best decisions of the rows (:func:`regretless.label`); they are found here unless given. ``incumbent`` is the best
    model so far of a fine-tuning that was interrupted, else None.
    """

    def __init__(
        self,
        problem: rl.Problem,
        costs: Any,
        loss: str = "MAE(O,S)",
        *,
        labels: Any = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> None:
        if not loss.upper().startswith(("MSE", "MAE")):
            raise ValueError(
                f"an objective of trees is MSE or MAE with components, such as MAE(O,S), not '{loss}'"
            )
        given, self.row_labels = column_names(costs), row_labels(costs)
        self.problem, self.name = problem, loss
        self.costs = in_order(problem, named(as_numbers(costs, "C", missing=False), given))
        self.cost_names = problem.cost_names or given
        # A base of the user's predicts in the order of the user's columns.
        self.reordered = given is not None and given != self.cost_names
        table = named(self.costs, problem.cost_names)
        self.labels = (
            rl.label(problem, table, threads=threads, progress=progress)
            if labels is None
            else labels
        )
        self.loss = rl.Loss(loss, problem, table, labels=self.labels, threads=threads)
        self.scale, self.curvature = sizes(loss, self.costs)
        self.incumbent: BoostedCosts | None = None
        self._checked: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> CosObjective:
        """Itself: LightGBM copies its settings, and an objective never changes."""
        return self

    def derivatives(self, predictions: Any) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and second derivative with respect to every predicted cost, both (n, d)."""
        if np.ndim(predictions) == 2 and np.shape(predictions) != self.costs.shape:
            raise ValueError(
                f"predictions have shape {np.shape(predictions)}, the costs {self.costs.shape}"
            )
        rows = np.ascontiguousarray(np.reshape(predictions, self.costs.shape), dtype=np.float32)
        _, gradients = self.loss.evaluate(rows)
        return gradients * self.scale, np.full_like(gradients, self.curvature)

    def xgboost(self, predictions: np.ndarray, table: Any) -> tuple[np.ndarray, np.ndarray]:
        """``obj=`` of ``xgboost.train``; a table whose labels are not the costs, row by row, is refused."""
        if table is not self._checked:
            told = np.asarray(table.get_label()) if hasattr(table, "get_label") else np.empty(0)
            # XGBoost keeps labels in single precision.
            if told.size and not np.array_equal(
                told.ravel(), self.costs.astype(np.float32).ravel()
            ):
                raise ValueError(
                    "the labels of the DMatrix are not the costs of this objective, row by row"
                )
            self._checked = table
        return self.derivatives(predictions)

    def lightgbm(self, predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        """``params["objective"]`` of ``lightgbm.train``, which knows several outputs as classes only."""
        return self.derivatives(predictions)

    def fine_tune_xgboost(
        self,
        features: Any,
        *,
        rounds: tuple[int, int] = (75, 120),
        base: Any = None,
        validation: Any = 0.2,
        seed: int = 0,
        patience: int | None = None,
        threads: int | None = None,
        progress: bool = False,
        **settings: Any,
    ) -> BoostedCosts:
        """Squared error for the first number of rounds (or a trained ``base``), then this objective for up to the second.

        Kept is the round whose decisions have the least regret on the validation rows; round 0 is the base.

        * ``features``: one row per row of costs.
        * ``base``: a booster of XGBoost or any model whose ``predict(features)`` are costs (n, d). One that was trained on the validation rows
          looks better there than it is: then give validation rows it has not seen.
        * ``validation``: share of the rows to hold back (drawn by ``seed``; neither base nor trees learn from them), or ``(features, costs)``
          of other rows, or ``(features, costs, labels)``.
        * ``patience``: stop after so many rounds without a new best one.
        * ``threads``: of XGBoost and of the solves. Unless given, solves use all there are, and tables up to 20,000 rows grow their trees on
          one thread, which is faster there.
        * ``progress``: show a bar.
        * ``settings``: XGBoost's for the second part; ``learning_rate`` is 0.02 unless given.

        Each round solves every validation row once. Ctrl-C leaves the best model so far in ``incumbent``.
        """
        plan = FineTuning(
            self, "xgboost", rounds, base, validation, seed, patience, threads, progress, settings
        )
        return plan.run(features)

    def fine_tune_lightgbm(
        self,
        features: Any,
        *,
        rounds: tuple[int, int] = (75, 120),
        base: Any = None,
        validation: Any = 0.2,
        seed: int = 0,
        patience: int | None = None,
        threads: int | None = None,
        progress: bool = False,
        **settings: Any,
    ) -> BoostedCosts:
        """The same with LightGBM; ``settings`` are LightGBM's. All else as in ``fine_tune_xgboost``."""
        plan = FineTuning(
            self, "lightgbm", rounds, base, validation, seed, patience, threads, progress, settings
        )
        return plan.run(features)


class RegretMetric:
    """Normalised regret as an evaluation metric: how much dearer decisions from predictions are than the best ones.

    The true costs of an evaluation table are its labels (XGBoost), or given by name (LightGBM, which has none). Best decisions
    are found once per table.
    """

    def __init__(self, problem: rl.Problem, tables: dict[int, Any] | None = None) -> None:
        self.problem = problem
        self._known: dict[int, tuple[Any, rl.Labels]] = {}
        # Tables are kept alive: the number by which Python tells objects apart is given to another one after a table is gone.
        self._tables: dict[int, Any] = {}
        for table, costs in (tables or {}).items():
            self._add(table, named(as_table(costs), names_of(costs)))

    def xgboost(self, predictions: np.ndarray, table: Any) -> tuple[str, float]:
        """``custom_metric=`` of ``xgboost.train``."""
        costs = as_table(np.reshape(table.get_label(), predictions.shape))
        known = self._known.get(id(table))
        if known is None or not np.array_equal(known[0], costs):
            self._add(id(table), costs)
            self._tables[id(table)] = table
        return "regret", self.of(predictions, id(table))

    def lightgbm(self, predictions: np.ndarray, table: Any) -> tuple[str, float, bool]:
        """``feval=`` of ``lightgbm.train``; its data sets are announced as ``tables={id(dataset): costs}``."""
        if id(table) not in self._known or self._tables.setdefault(id(table), table) is not table:
            raise ValueError(
                "the costs of this data set are not known: RegretMetric(problem, {id(dataset): costs})"
            )
        return "regret", self.of(predictions, id(table)), False

    def of(self, predictions: Any, table: int) -> float:
        """Sum of regrets over the sum of best objectives."""
        costs, labels = self._known[table]
        rows = np.ascontiguousarray(np.reshape(predictions, np.shape(costs)), dtype=np.float32)
        # A model predicts in the order of the table it was trained on.
        rows = named(rows, names_of(costs))
        return rl.evaluate(self.problem, rows, C=costs, labels=labels)["normalized_regret"]

    def _add(self, table: int, costs: Any) -> None:
        self._known[table] = (costs, rl.label(self.problem, costs))
