"""The estimator: a regressor of costs, and with a problem a transformer to decisions."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

import regretless as rl
from regretless._renamed import refuse_renamed
from regretless.sklearn._checks import (
    check_sample_weight,
    check_width,
    is_closed_form,
    validation_rows,
    warn_if_transformed,
)
from regretless.sklearn._regret_score import regret_score
from regretless.tables.columns import needs_encoding
from regretless.tables.frames import check_same_rows
from regretless.tables.names import names_of, with_names
from regretless.tables.parameters import table_parameters

# A string, so it is evaluated by type checkers only.
ProblemLike: TypeAlias = "rl.Problem | str | os.PathLike[str] | dict[str, Any]"

_NUM_SEEDS = 2**32
"""Seeds of numpy's RandomState are below this."""


class DecisionFocusedRegressor(MultiOutputMixin, RegressorMixin, TransformerMixin, BaseEstimator):
    """A predictor of costs, trained for the decisions that follow from them.

    Parameters
    ----------
    problem : regretless.Problem, str, dict or None, default None
        The problem; text and dicts as :class:`regretless.Problem` takes them. Without a problem
        the estimator predicts any target: it trains on the elementwise error of the method (MAE
        by default and for ``"MAE(O,S)"``, else MSE; ``"least squares"`` and ``"ridge(…)"`` as they
        are) and scores by R².
    method : str, optional
        A method's name, as :func:`regretless.train` takes it; by default ``"auto"``, or
        ``"MAE(O,S)"`` for benchmarks such as ``"KS32"``, as in the paper.
    predictor : str, optional
        ``"linear"``, ``"mlp"`` or ``"mlp:64,32"``.
    validation : float, default 0.2
        Fraction of the rows that selects the best epoch; 0 trains on all rows and keeps the last
        epoch.
    epochs, batch_size, learning_rate, optimizer, select, patience : optional
        Training settings, as in :func:`regretless.train`; None is its default.
    profile : {"default", "paper"}, default "default"
        The defaults of all other settings.
    threads : int or None, default None
        Number of threads; all by default. Results do not depend on it.
    random_state : int, RandomState instance or None, default None
        Seed of the split, the initial parameters and the batches. As everywhere in scikit-learn,
        None draws a new seed from numpy's global random state in each ``fit``; pass an int for
        reproducible results.

    Attributes
    ----------
    model_ : regretless.Model
        The trained model.
    report_ : regretless.TrainingReport
        What happened during training.
    problem_ : regretless.Problem or None
        The problem.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had some.
    cost_names_in_ : list of str or None
        Names of the columns of ``y`` in ``fit``, if it had some. They are matched to the problem's
        costs by name; ``predict`` returns costs in the order of these columns.

    Notes
    -----
    ``y`` are the costs in their true units, all costs of a row at once. Do not put this estimator
    into ``TransformedTargetRegressor``: it would learn the decisions of the transformed costs, and
    cannot detect it. ``fit`` warns if every column is exactly standardized or scaled to 0 to 1, and
    :func:`make_regret_scorer` refuses such an estimator; a logarithm, for example, is not detected.
    Costs are standardized internally anyway. For costs that need a nonlinear transformation, put
    another regressor into ``TransformedTargetRegressor`` and evaluate it with
    :func:`make_regret_scorer`, or use it as the base of :mod:`regretless.trees`.

    With a problem the estimator is a transformer too: ``transform`` returns the decisions, as a
    DataFrame after ``set_output(transform="pandas")`` (or ``"polars"``), with the cost names as
    columns. ``predict`` returns arrays, as everywhere in scikit-learn.

    ``MultiOutputRegressor`` and ``RegressorChain`` fit each cost alone and are refused. Rows of
    ``X`` and ``y`` are matched by position; tables with the same row labels in a different order
    are refused.

    Examples
    --------
    >>> estimator = DecisionFocusedRegressor("KS32", random_state=0).fit(X, C)
    >>> estimator.decide(X).decisions
    """

    __module__ = "regretless.sklearn"

    @refuse_renamed("DecisionFocusedRegressor")
    def __init__(
        self,
        problem: ProblemLike | None = None,
        method: str | None = None,
        *,
        predictor: str | None = None,
        validation: float = 0.2,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        optimizer: str | None = None,
        select: str | None = None,
        patience: int | None = None,
        profile: Literal["default", "paper"] = "default",
        threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.problem = problem
        self.method = method
        self.predictor = predictor
        self.validation = validation
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.select = select
        self.patience = patience
        self.profile = profile
        self.threads = threads
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        labels: rl.Labels | None = None,
        parameters: Any = None,
    ) -> DecisionFocusedRegressor:
        """Train on features and true costs.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features. Categories, texts, dates and gaps of a DataFrame are encoded as in
            :func:`regretless.train`; arrays hold finite numbers.
        y : array_like or DataFrame of shape (n, d)
            True costs, in their true units.
        sample_weight : array_like of shape (n,), optional
            How much each row counts: the weighted mean of the losses is minimized, and the epoch
            with the best weighted mean over the validation rows is kept. Rows of weight 0 are
            left out, and a row of weight 2 counts as two rows. Validation rows and batches are
            drawn by position, so a repeated row gives exactly the model of a row of weight 2 only
            if there are none: ``validation=0`` with ``"least squares"``, ``"ridge(…)"`` or all rows
            in one batch.
        labels : regretless.Labels, optional
            Optimal decisions of the rows (:func:`regretless.label`); solved here by default.
        parameters : DataFrame, mapping or list of str, optional
            Parameters of the rows that the problem reads (:attr:`regretless.Problem.parameters`),
            or names of columns of ``X``, which stay features. Meta-estimators split a DataFrame
            with the rows, but no mapping; ask for it with ``set_fit_request(parameters=True)``.

        Returns
        -------
        DecisionFocusedRegressor
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` has another number of costs than the problem, row labels contradict, or weights
            are not one nonnegative number per row.
        """
        check_same_rows(X, y, ("X", "y"))
        # Before X loses its column names.
        parameters = table_parameters(parameters, X)
        cost_names = names_of(y)
        self._encodes = needs_encoding(X)
        if self._encodes:
            # Texts, dates and gaps are encoded in training; arrays and pipelines are not touched.
            validate_data(self, X, skip_check_array=True)
            y = check_array(y, ensure_2d=False, dtype=[np.float32, np.float64], input_name="y")
            check_consistent_length(X, y)
        else:
            X, y = validate_data(
                self, X, y, multi_output=True, y_numeric=True, dtype=[np.float32, np.float64]
            )
        self._flat = y.ndim == 1
        costs = y.reshape(-1, 1) if self._flat else y
        self.cost_names_in_ = None if self._flat else cost_names
        self.problem_ = self._build_problem(costs.shape[1])
        has_problem = self.problem_ is not None
        if has_problem:
            warn_if_transformed(costs)
        searches = self.method is None or str(self.method).startswith("auto")
        if has_problem and searches and len(costs) == 1:
            raise ValueError(
                "1 sample is too few to choose a method: some rows validate the others"
            )
        self.model_, self.report_ = rl.train(
            _empty_problem(costs.shape[1]) if self.problem_ is None else self.problem_,
            X,
            with_names(costs, self.cost_names_in_ if has_problem else None),
            self.method if has_problem else _elementwise_loss(self.method),
            labels=labels if has_problem else None,
            parameters=parameters,
            weights=check_sample_weight(sample_weight, len(costs)),
            predictor=self.predictor,
            profile=self.profile,
            seed=self._seed(),
            threads=self.threads,
            feature_names=self._names_for_training(X),
            **self._settings(len(costs), has_problem),
        )
        problem = self.problem_
        if problem is not None and problem.parameters and problem.to_dict()["kind"] != "external":
            # It has the names of the parameter columns, which are then found in any order.
            self.problem_ = self.model_.problem
        return self

    def _names_for_training(self, X: Any) -> list[str] | None:
        """Return the names of an array's columns; a table that is encoded has its own."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not isinstance(X, np.ndarray):
            return None
        return list(map(str, names))

    def predict(self, X: Any) -> np.ndarray:
        """Predict costs.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features.

        Returns
        -------
        ndarray of shape (n, d)
            Costs in float64, also for a DataFrame, as meta-estimators of scikit-learn expect;
            :attr:`model_` predicts DataFrames.
        """
        check_is_fitted(self)
        if self._encodes:
            # The model finds the columns by name and encodes them.
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, dtype=[np.float32, np.float64])
        costs = np.asarray(self.model_.predict(X), dtype=np.float64)
        if (
            self.problem_ is not None
            and self.cost_names_in_ is not None
            and self.problem_.cost_names is not None
        ):
            position = {name: number for number, name in enumerate(self.model_.cost_names)}
            costs = costs[:, [position[name] for name in self.cost_names_in_]]
        return costs[:, 0] if self._flat else costs

    def decide(
        self, X: Any, *, problem: ProblemLike | None = None, parameters: Any = None
    ) -> rl.Solutions:
        """Predict costs and solve the problem for each row.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features.
        problem : regretless.Problem, str or dict, optional
            Another problem than that of the estimator.
        parameters : DataFrame, mapping or list of str, optional
            Parameters of the rows, as in :meth:`fit`.

        Returns
        -------
        regretless.Solutions
            One decision per row, in the order of the problem's costs; a DataFrame if ``X`` is one.

        Raises
        ------
        ValueError
            If the estimator has no problem and none is given.
        """
        chosen = self._fitted_problem(problem)
        predicted = self.predict(X)
        predicted = predicted.reshape(len(predicted), -1)
        costs = with_names(predicted, self.cost_names_in_, like=X)
        return chosen.solve_all(
            costs, parameters=table_parameters(parameters, X), threads=self.threads
        )

    def transform(self, X: Any, parameters: Any = None) -> np.ndarray:
        """Return the decisions of the rows; only with a problem.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features.
        parameters : DataFrame, mapping or list of str, optional
            Parameters of the rows, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n, d)
            The decisions of :meth:`decide` in float64; a DataFrame after ``set_output``, with the
            columns of :meth:`get_feature_names_out`.
        """
        return np.asarray(self.decide(X, parameters=parameters).decisions, dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the decisions' columns: those of the costs.

        Parameters
        ----------
        input_features : ignored
            As in scikit-learn; decisions are not named by features.

        Returns
        -------
        ndarray of str
            Names of the problem's costs, else of the columns of ``y``, else the class's name with
            numbers.
        """
        problem = self._fitted_problem(None)
        names = problem.cost_names or self.cost_names_in_
        if names is None:
            prefix = type(self).__name__.lower()
            names = [f"{prefix}{number}" for number in range(problem.num_costs)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.problem is None:
            tags.transformer_tags = None
        else:
            # The score is minus the regret, which is not comparable with R².
            tags.regressor_tags.poor_score = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, parameters: Any = None) -> float:
        """Return minus the normalized regret of the decisions: 0 is perfect, higher is better.

        Parameters
        ----------
        X : array_like or DataFrame of shape (n, p)
            Features.
        y : array_like or DataFrame of shape (n, d)
            True costs.
        sample_weight : array_like of shape (n,), optional
            How much each row counts.
        parameters : DataFrame, mapping or list of str, optional
            Parameters of the rows, as in :meth:`fit`.

        Returns
        -------
        float
            Minus the sum of regrets divided by the sum of the absolute optimal objectives, both
            weighted; R² without a problem.
        """
        check_is_fitted(self)
        check_same_rows(X, y, ("X", "y"))
        if self.problem_ is None:
            return r2_score(y, self.predict(X), sample_weight=sample_weight)
        # Costs without names have the order of those in fit, as everywhere in scikit-learn.
        names = self.cost_names_in_
        y = y if names is None or names_of(y) is not None else with_names(y, names)
        predicted = self.predict(X)
        predicted = predicted if self._flat else with_names(predicted, names)
        return regret_score(
            self.problem_,
            y,
            predicted,
            sample_weight=sample_weight,
            parameters=table_parameters(parameters, X),
            threads=self.threads,
        )

    def _build_problem(self, width: int) -> rl.Problem | None:
        problem = self.problem
        if problem is not None and not isinstance(problem, rl.Problem):
            problem = rl.Problem(problem)
        check_width(problem, width, self._flat)
        return problem

    def _fitted_problem(self, problem: ProblemLike | None) -> rl.Problem:
        check_is_fitted(self)
        problem = self.problem_ if problem is None else problem
        if problem is None:
            raise ValueError(
                "the estimator has no problem to solve; give one: DecisionFocusedRegressor(problem)"
            )
        return problem if isinstance(problem, rl.Problem) else rl.Problem(problem)

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state) % _NUM_SEEDS
        return int(check_random_state(self.random_state).randint(_NUM_SEEDS, dtype=np.uint32))

    def _settings(self, rows: int, has_problem: bool) -> dict[str, Any]:
        names = ("epochs", "batch_size", "learning_rate", "optimizer", "select", "patience")
        settings = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if validation_rows(self.validation, rows) == 0:
            settings.setdefault("select", "last")
            settings["split"] = (np.arange(rows), [])
        else:
            settings["split"] = (self.validation, 0.0)
            criterion = "validation-regret" if has_problem else "validation-loss"
            settings.setdefault("select", criterion)
        return settings

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = state["model_"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("model_"), bytes):
            state["model_"] = rl.Model.from_bytes(state["model_"])
        super().__setstate__(state)


def _has_problem(estimator: DecisionFocusedRegressor) -> bool:
    return estimator.problem is not None


# After the class is made, so `set_output` has wrapped the methods: without a problem the estimator
# has no decisions and is not a transformer.
for _method in ("transform", "fit_transform"):
    setattr(
        DecisionFocusedRegressor,
        _method,
        available_if(_has_problem)(getattr(DecisionFocusedRegressor, _method)),
    )


def _elementwise_loss(method: str | None) -> str:
    """Return the loss without decisions that belongs to a method."""
    if method is None:
        return "MAE"
    if is_closed_form(method):
        return method
    return "MAE" if method.upper().startswith("MAE") else "MSE"


def _empty_problem(width: int) -> rl.Problem:
    """Return the smallest problem, for targets without decisions: choose the cheapest item."""
    return rl.Problem({"kind": "top_k", "items": width, "k": 1, "sense": "minimize"})
