"""Boosted trees for decisions: the cost-sensitive family as an objective of XGBoost and LightGBM.

Trees first learn the costs by squared error; then some rounds with a cost-sensitive objective, at a
small learning rate, adapt them to the decisions. Some rows are for validation: after each round the
regret of the decisions is measured on them, and the round with the smallest regret is selected. The
base model is round 0, so the result is never worse than the base on these rows. On other rows it
can be.

Gradients are scaled to the size of the costs, so learning rates have the same meaning as for
squared error. The second derivative is that of the error alone: 2 for squared errors, and 1 for
absolute errors, whose own is 0. Trees that are trained with such an objective from scratch perform
badly; start from a model.

Examples
--------
>>> objective = CostSensitiveObjective(problem, C, loss="MAE(O,S)")
>>> model = objective.fine_tune_xgboost(X, rounds=(75, 120), progress=True)
>>> model.report.best_round, model.history  # the selected round, and the regret of each round
>>> model.decide(X).decisions
>>> model.save("trees.zip")
>>> model = BoostedCostModel.load("trees.zip")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import regretless as rl
from regretless._renamed import refuse_renamed
from regretless.results.fine_tuning import FineTuningReport, FineTuningRound
from regretless.tables.frames import as_float_rows, column_names, row_labels
from regretless.tables.names import names_of, with_names
from regretless.tables.parameters import as_arrays, plain_parameters, refuse_patterns
from regretless.tables.rows import as_cost_rows
from regretless.training.observed_costs import observed_costs
from regretless.trees._boosted import BoostedCostModel
from regretless.trees._boosters import LIGHTGBM_MSE, XGBOOST_MSE
from regretless.trees._fine_tune import FineTuning, gradient_scale

__all__ = [
    "LIGHTGBM_MSE",
    "XGBOOST_MSE",
    "BoostedCostModel",
    "CostSensitiveObjective",
    "FineTuningReport",
    "FineTuningRound",
    "RegretMetric",
]


class CostSensitiveObjective:
    """Gradient and second derivative of a cost-sensitive loss for the rows of one table.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    C : array_like or DataFrame of shape (n, d)
        True costs; columns with names are matched to the problem's costs by name. Predictions are
        then in the order of ``problem.cost_names``.
    loss : str, default "MAE(O,S)"
        MSE or MAE with components.
    labels : regretless.Labels, optional
        Optimal decisions of the rows (:func:`regretless.label`); solved here by default.
    threads : int, optional
        Number of threads; all by default.
    progress : bool, default False
        Whether to show a progress bar while rows are solved.
    parameters : mapping or DataFrame, optional
        Parameters of the rows that the problem reads (:attr:`regretless.Problem.parameters`).

    Attributes
    ----------
    incumbent : BoostedCostModel or None
        The best model so far of a fine-tuning that was interrupted.

    Raises
    ------
    ValueError
        For another loss, or costs that are not finite numbers.
    """

    @refuse_renamed("CostSensitiveObjective")
    def __init__(
        self,
        problem: rl.Problem,
        C: Any,
        loss: str = "MAE(O,S)",
        *,
        labels: rl.Labels | None = None,
        threads: int | None = None,
        progress: bool = False,
        parameters: Any = None,
    ) -> None:
        spec = rl.CostSensitiveSpec(loss)
        if spec.equality_invariant:
            raise ValueError(
                f"'{loss}': the step size of trees is not known for E; use S instead of E"
            )
        names, self.row_labels = column_names(C), row_labels(C)
        refuse_patterns(problem)
        self.problem, self.name = problem, loss
        # The costs of items that do not exist may be missing.
        table = as_float_rows(C, "C", allow_missing=bool(problem.parameters))
        given = plain_parameters(problem, parameters, len(table), C, "C")
        table = with_names(table, names)
        self.costs = observed_costs(problem, table, given)
        self.cost_names = problem.cost_names or names
        # A user's base model predicts in the order of the user's columns.
        self.is_reordered = names is not None and names != self.cost_names
        table = with_names(self.costs, problem.cost_names)
        if labels is None:
            labels = rl.label(
                problem, table, parameters=parameters, threads=threads, progress=progress
            )
        self.labels = labels
        self.parameters = as_arrays(parameters)
        self.loss = rl.Loss(
            problem, table, loss, labels=labels, parameters=parameters, threads=threads
        )
        self.spec = spec
        self.scale, self.curvature = gradient_scale(spec, self.costs)
        self.incumbent: BoostedCostModel | None = None
        self._checked_table: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> CostSensitiveObjective:
        """Return the object itself: LightGBM copies its settings, and an objective is constant."""
        return self

    def derivatives(self, predictions: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return gradient and second derivative with respect to every predicted cost.

        Parameters
        ----------
        predictions : array_like of shape (n, d) or (n · d,)
            Predicted costs of all rows, in their order.

        Returns
        -------
        tuple of two ndarrays of shape (n, d)
        """
        if np.ndim(predictions) == 2 and np.shape(predictions) != self.costs.shape:
            raise ValueError(
                f"predictions have shape {np.shape(predictions)}, C has {self.costs.shape}"
            )
        rows = np.ascontiguousarray(np.reshape(predictions, self.costs.shape), dtype=np.float32)
        _, gradients = self.loss.evaluate(rows)
        return gradients * self.scale, np.full_like(gradients, self.curvature)

    def xgboost(self, predictions: np.ndarray, table: Any) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate as ``obj=`` of ``xgboost.train``.

        Parameters
        ----------
        predictions : ndarray
            Predicted costs.
        table : xgboost.DMatrix
            The training data; its labels must be the costs, row by row.

        Returns
        -------
        tuple of two ndarrays of shape (n, d)
            Gradient and second derivative.
        """
        if table is not self._checked_table:
            labels = np.asarray(table.get_label()) if hasattr(table, "get_label") else np.empty(0)
            # XGBoost stores labels in single precision.
            costs = self.costs.astype(np.float32).ravel()
            exists = ~np.isnan(costs)
            labels = labels.ravel()
            is_same = labels.shape == costs.shape and np.array_equal(labels[exists], costs[exists])
            if labels.size and not is_same:
                raise ValueError(
                    "the labels of the DMatrix are not the costs of this objective, row by row"
                )
            self._checked_table = table
        return self.derivatives(predictions)

    def lightgbm(self, predictions: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate as ``params["objective"]`` of ``lightgbm.train``, with one class per cost.

        Parameters
        ----------
        predictions : ndarray
            Predicted costs.

        Returns
        -------
        tuple of two ndarrays of shape (n, d)
            Gradient and second derivative.
        """
        return self.derivatives(predictions)

    @refuse_renamed("CostSensitiveObjective.fine_tune_xgboost")
    def fine_tune_xgboost(
        self,
        X: Any,
        *,
        rounds: tuple[int, int] = (75, 120),
        base: Any = None,
        validation: Any = 0.2,
        seed: int = 0,
        patience: int | None = None,
        threads: int | None = None,
        progress: bool = False,
        **settings: Any,
    ) -> BoostedCostModel:
        """Train a base model by squared error, then fine-tune it with this objective.

        Parameters
        ----------
        X : array_like, sparse matrix or DataFrame of shape (n, p)
            Features, one row per row of costs.
        rounds : tuple of two int, default (75, 120)
            Boosting rounds of the base model, and the maximum of fine-tuning.
        base : object, optional
            A trained base model: an XGBoost booster or any object whose ``predict(X)`` returns
            costs (n, d). A base that was trained on the validation rows looks better there than it
            is: give validation rows that it has not seen.
        validation : float or tuple, default 0.2
            Fraction of the rows for validation (drawn with ``seed``; neither base nor trees are
            trained on them), or ``(X, C)`` or ``(X, C, labels)`` of other rows.
        seed : int, default 0
            Seed of the split and of the trees.
        patience : int, optional
            Rounds without improvement before fine-tuning stops.
        threads : int, optional
            Threads of XGBoost and of the solver. By default the solver uses all, and trees of
            tables up to 20,000 rows are grown on one thread, which is faster there.
        progress : bool, default False
            Whether to show a progress bar.
        **settings
            XGBoost settings of fine-tuning; ``learning_rate`` is 0.02 by default.

        Returns
        -------
        BoostedCostModel
            The model of the round with the smallest validation regret; round 0 is the base.

        Raises
        ------
        ValueError
            For invalid settings or tables that do not belong together.

        Notes
        -----
        Each round solves every validation row once. After Ctrl-C the best model so far is in
        :attr:`incumbent`.
        """
        tuning = FineTuning(
            self, "xgboost", rounds, base, validation, seed, patience, threads, progress, settings
        )
        return tuning.run(X)

    @refuse_renamed("CostSensitiveObjective.fine_tune_lightgbm")
    def fine_tune_lightgbm(
        self,
        X: Any,
        *,
        rounds: tuple[int, int] = (75, 120),
        base: Any = None,
        validation: Any = 0.2,
        seed: int = 0,
        patience: int | None = None,
        threads: int | None = None,
        progress: bool = False,
        **settings: Any,
    ) -> BoostedCostModel:
        """Train a base model by squared error, then fine-tune it with LightGBM.

        Parameters
        ----------
        X : array_like, sparse matrix or DataFrame of shape (n, p)
            Features, one row per row of costs.
        rounds, base, validation, seed, patience, threads, progress : optional
            As in :meth:`fine_tune_xgboost`.
        **settings
            LightGBM settings of fine-tuning; ``learning_rate`` is 0.02 by default.

        Returns
        -------
        BoostedCostModel
            The model of the round with the smallest validation regret; round 0 is the base.
        """
        tuning = FineTuning(
            self, "lightgbm", rounds, base, validation, seed, patience, threads, progress, settings
        )
        return tuning.run(X)


class RegretMetric:
    """Normalized regret as an evaluation metric of XGBoost and LightGBM.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    datasets : mapping of lightgbm.Dataset to array_like, optional
        True costs of each data set of LightGBM, whose labels cannot hold several costs. XGBoost
        needs none: the true costs are the labels of its ``DMatrix``.

    Raises
    ------
    ValueError
        If the problem reads parameters of rows.

    Notes
    -----
    Optimal decisions are found once per data set. Data sets are held by weak references.

    Examples
    --------
    >>> metric = RegretMetric(problem)
    >>> xgboost.train(params, table, evals=[(test, "test")], custom_metric=metric.xgboost)
    >>> metric = RegretMetric(problem, {test_set: C_test})
    >>> lightgbm.train(params, train_set, valid_sets=[test_set], feval=metric.lightgbm)
    """

    def __init__(self, problem: rl.Problem, datasets: Mapping[Any, Any] | None = None) -> None:
        if problem.parameters:
            raise ValueError(
                "the metric gets no parameters of rows, and the problem reads "
                f"'{problem.parameters[0]}'; measure regret with regretless.evaluate"
            )
        self.problem = problem
        self._labeled: WeakKeyDictionary[Any, tuple[Any, rl.Labels]] = WeakKeyDictionary()
        for dataset, C in (datasets or {}).items():
            if isinstance(dataset, int):
                raise TypeError("datasets maps data sets to costs: {dataset: C}, not {id: C}")
            self._add(dataset, with_names(as_cost_rows(C), names_of(C)))

    def xgboost(self, predictions: np.ndarray, table: Any) -> tuple[str, float]:
        """Evaluate as ``custom_metric=`` of ``xgboost.train``.

        Parameters
        ----------
        predictions : ndarray
            Predicted costs.
        table : xgboost.DMatrix
            The evaluation data, labeled with the true costs.

        Returns
        -------
        tuple
            The name of the metric and its value.
        """
        costs = as_cost_rows(np.reshape(table.get_label(), predictions.shape))
        known = self._labeled.get(table)
        # The labels of a DMatrix may be replaced between two evaluations.
        if known is None or not np.array_equal(known[0], costs):
            self._add(table, costs)
        return "regret", self._measure(predictions, table)

    def lightgbm(self, predictions: np.ndarray, dataset: Any) -> tuple[str, float, bool]:
        """Evaluate as ``feval=`` of ``lightgbm.train``.

        Parameters
        ----------
        predictions : ndarray
            Predicted costs.
        dataset : lightgbm.Dataset
            A data set whose costs were given to the constructor.

        Returns
        -------
        tuple
            The name of the metric, its value, and False: smaller is better.

        Raises
        ------
        ValueError
            For a data set without costs.
        """
        if dataset not in self._labeled:
            raise ValueError(
                "the costs of this data set are missing: RegretMetric(problem, {dataset: C})"
            )
        return "regret", self._measure(predictions, dataset), False

    def _measure(self, predictions: Any, dataset: Any) -> float:
        """Return the sum of regrets divided by the sum of the absolute optimal objectives."""
        costs, labels = self._labeled[dataset]
        rows = np.ascontiguousarray(np.reshape(predictions, np.shape(costs)), dtype=np.float32)
        # A model predicts in the order of the table it was trained on.
        rows = with_names(rows, names_of(costs))
        return rl.evaluate(self.problem, rows, C=costs, labels=labels).normalized_regret

    def _add(self, dataset: Any, costs: Any) -> None:
        self._labeled[dataset] = (costs, rl.label(self.problem, costs))
