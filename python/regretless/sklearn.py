"""scikit-learn: an estimator that trains for decisions, and a score that measures them.

from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer

estimator = DecisionFocusedRegressor(problem, loss="MAE(O,S)").fit(X, C)
estimator.predict(X)            # costs
estimator.decide(X).decisions   # decisions
estimator.score(X, C)           # minus the normalised regret: 0 is perfect

GridSearchCV(any_regressor, grid, scoring=make_regret_scorer(problem))
"""

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

import regretless as rl
from regretless._frames import check_same_rows
from regretless._names import named, names_of
from regretless._sklearn_checks import (
    check_validation,
    check_width,
    refuse_transformed,
    warn_of_transformed,
)

__all__ = ["DecisionFocusedRegressor", "make_regret_scorer", "regret_score"]

_SEEDS = 2**32


class DecisionFocusedRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A predictor of costs, trained for the decisions they lead to.

    Parameters
    ----------
    problem : regretless.Problem, str, dict or None
        What is decided; text and dicts as `regretless.Problem` takes them. None means that nothing is decided: the
        estimator then predicts any target, trains on the plain error of the loss (MAE for "MAE(O,S)", else MSE), and
        scores by R².
    loss : str
        Every label that `regretless.train` takes.
    predictor : str
        "linear", "mlp" or "mlp:64,32".
    validation : float
        Share of the rows that choose the best epoch; 0 trains on all rows and keeps the last epoch.
    epochs, batch, learning_rate, optimizer, select, patience
        Settings of the training, as in `regretless.train`; None is its default.
    profile : str
        "default" or "paper": where the other settings start from.
    threads : int or None
        Threads; all there are unless given. Results do not depend on it.
    random_state : int, RandomState or None
        Seed of the split, the first parameters and the batches. None is seed 0: fits are reproducible unless told
        otherwise.

    Attributes
    ----------
    model_ : regretless.Model
        The trained model.
    report_ : dict
        What happened during training.
    problem_ : regretless.Problem or None
        What is decided.
    n_features_in_, feature_names_in_
        Features seen in `fit`; names where the table had some.
    cost_names_in_ : list of str or None
        Names of y's columns in `fit`, where it had some. They are matched to the problem's costs by name; `predict` answers in
        the order of y's columns.

    Notes
    -----
    y are the costs in their true units, all costs of a row at once. Do not put this estimator into `TransformedTargetRegressor`: it would
    learn the decisions of the transformed costs, and cannot see that. `fit` warns where every column is exactly standardised or scaled to
    0 to 1, `make_regret_scorer` refuses such an estimator; a logarithm, say, goes unnoticed. Costs are standardised inside anyway. For costs
    that need a transformation which is not linear, put another regressor into `TransformedTargetRegressor` and judge it by
    `make_regret_scorer`, or give it to `regretless.trees` as the base to fine-tune.

    `MultiOutputRegressor` and `RegressorChain` fit each cost alone and are refused. Rows of X and y are matched by position; tables whose
    row labels are the same in another order are refused.
    """

    def __init__(
        self,
        problem=None,
        loss="MAE(O,S)",
        *,
        predictor="linear",
        validation=0.2,
        epochs=None,
        batch=None,
        learning_rate=None,
        optimizer=None,
        select=None,
        patience=None,
        profile="default",
        threads=None,
        random_state=None,
    ):
        self.problem = problem
        self.loss = loss
        self.predictor = predictor
        self.validation = validation
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.select = select
        self.patience = patience
        self.profile = profile
        self.threads = threads
        self.random_state = random_state

    def fit(self, X, y, labels=None):
        """Trains on features X and true costs y (one row per instance), in their true units.

        labels: best decisions of the rows (`regretless.label`), to save their solves.
        """
        check_same_rows(X, y, ("X", "y"))
        names = names_of(y)
        X, y = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=[np.float32, np.float64]
        )
        self._flat = y.ndim == 1
        costs = y.reshape(-1, 1) if self._flat else y
        self.cost_names_in_ = None if self._flat else names
        self.problem_ = self._problem(costs.shape[1])
        decided = self.problem_ is not None
        if decided:
            warn_of_transformed(costs)
        names = getattr(self, "feature_names_in_", None)
        problem = self.problem_ if decided else _nothing(costs.shape[1])
        self.model_, self.report_ = rl.train(
            problem,
            X,
            named(costs, self.cost_names_in_ if decided else None),
            self.loss if decided else _plain(self.loss),
            labels=labels if decided else None,
            predictor=self.predictor,
            profile=self.profile,
            seed=self._seed(),
            threads=self.threads,
            feature_names=None if names is None else [str(name) for name in names],
            **self._settings(len(costs), decided),
        )
        return self

    def predict(self, X):
        """Predicted costs, in the user's sense (float64, as scikit-learn expects)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float32, np.float64])
        costs = self.model_.predict(X).astype(np.float64)
        if (
            self.problem_ is not None
            and self.cost_names_in_ is not None
            and self.problem_.cost_names is not None
        ):
            place = {name: number for number, name in enumerate(self.model_.cost_names)}
            costs = costs[:, [place[name] for name in self.cost_names_in_]]
        return costs[:, 0] if self._flat else costs

    def decide(self, X, problem=None):
        """Predicts and decides: `regretless.Solutions` with one decision per row of X, in the order of the problem's costs."""
        problem = self._decided(problem)
        predicted = self.predict(X)
        predicted = predicted.reshape(len(predicted), -1)
        return problem.solve_all(named(predicted, self.cost_names_in_), threads=self.threads)

    def score(self, X, y, sample_weight=None):
        """Minus the normalised regret of the decisions: 0 is perfect, higher is better.

        Normalised: the sum of regrets over the sum of the best objectives.

        Without a problem, the coefficient of determination R². sample_weight is used by R² only.
        """
        check_is_fitted(self)
        check_same_rows(X, y, ("X", "y"))
        if self.problem_ is None:
            return r2_score(y, self.predict(X), sample_weight=sample_weight)
        if sample_weight is not None:
            raise ValueError("regret of decisions has no sample weights; leave them out")
        # Costs without names are in the order of those the estimator was fitted to, as everywhere in scikit-learn.
        names = self.cost_names_in_
        y = y if names is None or names_of(y) is not None else named(y, names)
        predicted = self.predict(X)
        predicted = predicted if self._flat else named(predicted, names)
        return regret_score(self.problem_, y, predicted, threads=self.threads)

    def _problem(self, width):
        problem = self.problem
        if problem is not None and not isinstance(problem, rl.Problem):
            problem = rl.Problem(problem)
        check_width(problem, width, self._flat)
        return problem

    def _decided(self, problem):
        check_is_fitted(self)
        problem = self.problem_ if problem is None else problem
        if problem is None:
            raise ValueError(
                "nothing is decided; give a problem: DecisionFocusedRegressor(problem)"
            )
        return problem if isinstance(problem, rl.Problem) else rl.Problem(problem)

    def _seed(self):
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state) % _SEEDS
        return int(check_random_state(self.random_state).randint(_SEEDS, dtype=np.uint32))

    def _settings(self, rows, decided):
        names = ("epochs", "batch", "learning_rate", "optimizer", "select", "patience")
        settings = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        held = check_validation(self.validation, rows)
        if held == 0:
            settings.setdefault("select", "last")
            settings["split"] = (np.arange(rows), [])
        else:
            settings["split"] = (self.validation, 0.0)
            settings.setdefault("select", "validation-regret" if decided else "validation-loss")
        return settings

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = state["model_"].to_bytes()
        return state

    def __setstate__(self, state):
        state = dict(state)
        if isinstance(state.get("model_"), bytes):
            state["model_"] = rl.Model.from_bytes(state["model_"])
        super().__setstate__(state)


def _plain(loss):
    """The plain error behind a loss: what is left where nothing is decided."""
    return "MAE" if loss.upper().startswith("MAE") else "MSE"


def _nothing(width):
    """The smallest problem there is, for targets that decide nothing: the cheapest one is chosen."""
    return rl.Problem({"kind": "top_k", "items": width, "k": 1, "sense": "minimize"})


def regret_score(problem, y_true, y_pred, *, labels=None, threads=None):
    """Minus the normalised regret of the decisions that predicted costs lead to: 0 is perfect, higher is better.

    Normalised: the sum of regrets over the sum of the best objectives, as `regretless.evaluate` has it. Columns with names
    are matched to the problem's costs by name; predictions without names are in the order of `y_true`.
    """
    check_same_rows(y_true, y_pred, ("y_true", "y_pred"))
    true_names = names_of(y_true)
    predicted_names = names_of(y_pred) or true_names
    turned = (
        true_names is not None
        and true_names != predicted_names
        and sorted(true_names) == sorted(predicted_names)
    )
    if turned and problem.cost_names is None:
        # Without names in the problem columns are matched by position, and these positions contradict each other.
        raise ValueError(
            "y_true and y_pred have the same columns in another order, and the problem has no names to tell which is which: "
            f"y_true begins with '{true_names[0]}', y_pred with '{predicted_names[0]}'. Give y_true in the order of y_pred"
        )
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    y_true, y_pred = y_true.reshape(len(y_true), -1), y_pred.reshape(len(y_pred), -1)
    y_true, y_pred = named(y_true, true_names), named(y_pred, predicted_names)
    return -rl.evaluate(problem, y_pred, C=y_true, labels=labels, threads=threads)[
        "normalized_regret"
    ]


def _fitted_cost_names(estimator):
    """Names of the costs that an estimator was fitted to, also one at the end of a pipeline or found by a search; None without names."""
    while not hasattr(estimator, "cost_names_in_"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        else:
            return None
    return estimator.cost_names_in_


class _RegretScorer:
    """Scores any estimator that predicts costs; can be copied and pickled."""

    def __init__(self, problem, threads=None):
        self.problem = problem
        self.threads = threads

    def __call__(self, estimator, X, y):
        refuse_transformed(estimator, DecisionFocusedRegressor)
        check_same_rows(X, y, ("X", "y"))
        predicted, names = estimator.predict(X), _fitted_cost_names(estimator)
        if names is not None:
            # As in `score`: predictions, and true costs without names, are in the order of those the estimator was fitted to.
            y = y if names_of(y) is not None else named(y, names)
            predicted = predicted if names_of(predicted) is not None else named(predicted, names)
        return regret_score(self.problem, y, predicted, threads=self.threads)

    def __repr__(self):
        return f"make_regret_scorer({self.problem!r})"


def make_regret_scorer(problem, *, threads=None):
    """A scorer for `GridSearchCV`, `cross_val_score` and others: minus the normalised regret of the decisions.

    problem: a `regretless.Problem`, or what it takes.

    Any regressor of costs can be judged, also one in `TransformedTargetRegressor`, whose predictions are transformed back first. Refused
    is a `DecisionFocusedRegressor` in there: it would have learned the decisions of other costs.
    """
    return _RegretScorer(
        problem if isinstance(problem, rl.Problem) else rl.Problem(problem), threads
    )
