"""Trained custom predictors, with the decisions that follow from their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from regretless._core import _unobserved_note
from regretless._user_warnings import warn
from regretless.results.reports import Evaluation
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Problem
from regretless.tables.columns import model_columns
from regretless.tables.frames import as_frame_like, check_same_rows
from regretless.tables.names import columns_in_order, costs_in_order, names_of, with_names
from regretless.tables.numbers import as_numeric_array
from regretless.tables.parameters import given_parameters, table_parameters
from regretless.tables.seen_rows import SeenRows
from regretless.training.evaluation import evaluate_predictions

__all__ = ["OwnModel"]


class Prediction(Protocol):
    """Costs predicted by a custom predictor."""

    num_costs: int
    unobserved: Sequence[int]

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return predicted costs, one row per row of the features."""


class OwnModel:
    """A trained custom predictor, with the decisions that follow from its predictions.

    Attributes
    ----------
    predictor : object
        The torch module, with the parameters of the best epoch, or the fitted regressor; a list of
        fitted copies where some items exist in some training rows only, one per group of items
        with the same rows.
    problem : Problem
        The problem.

    Notes
    -----
    It can be pickled if its predictor and its problem can. The module itself, without this object,
    computes scaled costs from standardized features, unless it was trained with
    ``standardize=False, scale_costs=False``: ``predict`` has both steps.
    """

    def __init__(
        self,
        problem: Problem,
        predictor: Any,
        prediction: Prediction,
        feature_names: Sequence[str] | None = None,
        cost_names: Sequence[str] | None = None,
        seen: SeenRows | None = None,
    ) -> None:
        self.problem, self.predictor, self._prediction = problem, predictor, prediction
        self._feature_names, self._cost_names, self._seen = feature_names, cost_names, seen

    def __repr__(self) -> str:
        return f"<regretless.OwnModel of {self._name}>"

    @property
    def _name(self) -> str:
        is_list = isinstance(self.predictor, list)
        return type(self.predictor[0] if is_list else self.predictor).__name__

    @property
    def _names(self) -> list[str]:
        """Names of the costs; numbers where they have none."""
        return list(
            self._cost_names or [f"c{number}" for number in range(self._prediction.num_costs)]
        )

    def predict(self, X: Any) -> Any:
        """Predict costs.

        Parameters
        ----------
        X : array_like or DataFrame
            Features, as in training. Columns of a DataFrame are found by name, and others are
            ignored.

        Returns
        -------
        ndarray or DataFrame of shape (n, d)
            Predicted costs, in the order of ``problem.cost_names``; a DataFrame where `X` is one,
            with its index and the cost names. NaN for items that no training row has, with a
            warning.
        """
        costs = self._prediction.predict(self._features(X))
        note = _unobserved_note(self._names, self._prediction.unobserved)
        if note is not None:
            warn(note)
        return as_frame_like(X, costs, self._names)

    def decide(self, X: Any, *, parameters: Any = None, threads: int | None = None) -> Any:
        """Return the optimal decisions under the predicted costs.

        They leave out items that no training row has, which have no prediction, with a warning.

        Parameters
        ----------
        X : array_like or DataFrame
            Features, as in training.
        parameters, threads : optional
            As in :meth:`Model.decide`.

        Returns
        -------
        Solutions
            One decision per row; `decisions` and `values` are DataFrames if `X` is one, and
            `to_frame` has its index.
        """
        parameters = self._parameters(X, parameters)
        costs = self._prediction.predict(self._features(X))
        costs = with_names(costs, self._cost_names, like=X)
        return self.problem._decide(
            costs,
            parameters=parameters,
            threads=threads,
            leaves_out=bool(self._prediction.unobserved),
        )

    def evaluate(
        self,
        X: Any,
        C: Any,
        *,
        labels: Any = None,
        parameters: Any = None,
        threads: int | None = None,
    ) -> Evaluation:
        """Return the regret of the decisions and the error of the predictions.

        A warning says how many of the rows the model was trained or validated on.

        Parameters
        ----------
        X, C : array_like or DataFrame
            Features and true costs.
        labels, parameters, threads : optional
            As in :func:`regretless.evaluate`.
        """
        check_same_rows(X, C)
        features, costs = self._features(X), self._costs(C)
        evaluation = evaluate_predictions(
            self.problem,
            self._prediction.predict(features),
            with_names(costs, self.problem.cost_names, like=C),
            labels,
            self._parameters(X, parameters),
            SolveOptions(threads),
            leaves_out=bool(self._prediction.unobserved),
        )
        if self._seen is not None:
            # Rows without a label are not evaluated.
            rows = np.isfinite(np.asarray(evaluation.rows["regret"]))
            warning = self._seen.warning(features[rows], costs[rows])
            if warning is not None:
                warn(warning)
        return evaluation

    def _features(self, X: Any) -> np.ndarray:
        """Return features in the order of training."""
        if self._feature_names is not None:
            X = model_columns(X, self._feature_names)
        return as_features(X)

    def _costs(self, C: Any) -> np.ndarray:
        """Return true costs in the order of the problem or, if it has no names, of training."""
        names = self._cost_names
        if self.problem.cost_names is None and names is not None and names_of(C) is not None:
            C = with_names(columns_in_order(C, names, "C"), names)
        return costs_in_order(self.problem, C)

    def _parameters(self, X: Any, given: Any) -> Any:
        """Return the parameters that are given, or the columns of ``X`` that the problem reads."""
        return table_parameters(given_parameters(X, given, self.problem.parameters), X)


def as_features(X: Any) -> np.ndarray:
    """Return features as float64 numbers of shape (n, p) or (n, d, p)."""
    features = as_numeric_array(X, "X").astype(np.float64)
    if features.ndim > 3:
        shape = ", ".join(map(str, features.shape[1:]))
        raise ValueError(
            f"X has {features.ndim} dimensions, such as images; rows and columns are 2: give "
            "X.reshape(len(X), -1), and begin the module with "
            f"torch.nn.Unflatten(1, ({shape}))"
        )
    if features.ndim not in (2, 3):
        dimensions = "1 dimension" if features.ndim == 1 else f"{features.ndim} dimensions"
        raise ValueError(f"X has {dimensions}; rows and columns are 2")
    if not np.isfinite(features).all():
        raise ValueError("X has gaps or infinite numbers, which a custom predictor cannot use")
    return features
