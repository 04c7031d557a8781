"""The score as a scorer of scikit-learn, for searches and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

import regretless as rl
from regretless.sklearn._checks import check_not_transformed
from regretless.sklearn._regressor import DecisionFocusedRegressor, ProblemLike
from regretless.sklearn._regret_score import regret_score
from regretless.tables.frames import check_same_rows
from regretless.tables.names import names_of, with_names
from regretless.tables.parameters import table_parameters


def _fitted_cost_names(estimator: Any) -> list[str] | None:
    """Return the cost names of a fitted estimator, pipeline or search; None without names."""
    while not hasattr(estimator, "cost_names_in_"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        else:
            return None
    return estimator.cost_names_in_


class _RegretScorer:
    """A scorer for any estimator that predicts costs; it can be copied and pickled."""

    __module__ = "regretless.sklearn"

    def __init__(self, problem: rl.Problem, threads: int | None = None) -> None:
        self.problem = problem
        self.threads = threads
        self._sample_weight_request: bool | str | None = None
        self._parameters_request: bool | str | None = None

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, parameters: Any = None
    ) -> float:
        check_not_transformed(estimator, DecisionFocusedRegressor)
        check_same_rows(X, y, ("X", "y"))
        predicted, names = estimator.predict(X), _fitted_cost_names(estimator)
        if names is not None:
            # As in `score`: tables without names have the order of the costs in `fit`.
            y = y if names_of(y) is not None else with_names(y, names)
            if names_of(predicted) is None:
                predicted = with_names(predicted, names)
        return regret_score(
            self.problem,
            y,
            predicted,
            sample_weight=sample_weight,
            parameters=table_parameters(parameters, X),
            threads=self.threads,
        )

    def set_score_request(
        self,
        *,
        sample_weight: bool | str | None = None,
        parameters: bool | str | None = None,
    ) -> _RegretScorer:
        """Say which metadata a meta-estimator passes, as for scorers of scikit-learn."""
        self._sample_weight_request = sample_weight
        self._parameters_request = parameters
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return which metadata the scorer asks for."""
        requests = MetadataRequest(owner=type(self).__name__)
        requests.score.add_request(param="sample_weight", alias=self._sample_weight_request)
        requests.score.add_request(param="parameters", alias=self._parameters_request)
        return requests

    def __repr__(self) -> str:
        return f"make_regret_scorer({self.problem!r})"


def make_regret_scorer(problem: ProblemLike, *, threads: int | None = None) -> Callable[..., float]:
    """Make a scorer for ``GridSearchCV``, ``cross_val_score`` and others.

    The score is minus the normalized regret of the decisions. Any regressor of costs can be scored,
    also one in ``TransformedTargetRegressor``, whose predictions are transformed back first.

    Parameters
    ----------
    problem : regretless.Problem, str or dict
        The problem.
    threads : int, optional
        Number of threads; all by default.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None, parameters=None)``. It refuses a
        :class:`DecisionFocusedRegressor` inside ``TransformedTargetRegressor``, which learned the
        decisions of other costs.

    Examples
    --------
    >>> cross_val_score(RandomForestRegressor(), X, C, scoring=make_regret_scorer(problem))
    """
    problem = problem if isinstance(problem, rl.Problem) else rl.Problem(problem)
    return _RegretScorer(problem, threads)
