"""Fine-tuning of boosted trees: the round with the smallest validation regret is selected.

The base model is round 0, so the result is never worse than the base on the validation rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import regretless as rl
from regretless.progress import Progress
from regretless.results.fine_tuning import FineTuningReport, FineTuningRound
from regretless.solving.options import SolveOptions
from regretless.tables.frames import (
    as_float_rows,
    check_same_features,
    check_same_labels,
    check_same_rows,
    column_names,
    row_labels,
)
from regretless.tables.names import with_names
from regretless.tables.parameters import as_arrays, plain_parameters, select_rows
from regretless.training.evaluation import evaluate_predictions
from regretless.training.observed_costs import (
    mean_costs,
    observed_costs,
    unobserved_costs,
    without_unobserved,
)
from regretless.training.python_loop import (
    ALL_STEPS,
    PATIENCE,
    StepScore,
    StoppingRule,
    TrainingLoop,
)
from regretless.trees._boosted import (
    BoostedCostModel,
    ConstantModel,
    as_features,
    base_costs,
    check_same_zeros,
    feature_names_of,
    is_sparse,
)
from regretless.trees._boosters import LIBRARIES, BoosterSpec, Derivatives, threads_for

LEARNING_RATE = 0.02
"""Default of fine-tuning, a fifth of that of the base: the base is corrected, not replaced."""

MIN_VALIDATION_ROWS = 10
"""With fewer validation rows the selection of a round is mostly chance. Untuned."""


@dataclass
class DataPart:
    """Rows for training or validation.

    Attributes
    ----------
    features : array or sparse matrix of shape (n, p)
        Features.
    costs : ndarray of shape (n, d)
        True costs; NaN where they do not exist.
    labels : regretless.Labels or None
        Optimal decisions, if they are known.
    parameters : dict of ndarray or None
        Parameters of the rows, if the problem reads some.
    base_costs : ndarray of shape (n, d)
        Costs that the base model predicts; set when there is a base model.
    """

    features: Any
    costs: np.ndarray
    labels: rl.Labels | None = None
    parameters: dict[str, np.ndarray] | None = None
    base_costs: np.ndarray = field(init=False, repr=False, compare=False)


class ValidationRegret:
    """The regret of predictions on the validation rows."""

    def __init__(
        self, problem: rl.Problem, part: DataPart, unobserved: list[int], threads: int | None
    ) -> None:
        self.problem, self.threads = problem, threads
        self.costs = with_names(part.costs, problem.cost_names)
        self.labels, self.parameters = part.labels, part.parameters
        if self.labels is None:
            self.labels = rl.label(problem, self.costs, parameters=part.parameters, threads=threads)
        self.unobserved = unobserved
        self.rows = len(part.costs) - len(self.labels.failed)
        if self.rows == 0:
            raise ValueError("no validation row has a decision: no round can be selected")

    def measure(self, number: int, predictions: np.ndarray) -> FineTuningRound:
        """Return the regret of the predictions of a round."""
        with warnings.catch_warnings():
            if number:
                # Said for the base already.
                warnings.filterwarnings("ignore", message="left out of the choice")
            evaluation = evaluate_predictions(
                self.problem,
                without_unobserved(predictions, self.unobserved),
                self.costs,
                self.labels,
                self.parameters,
                SolveOptions(self.threads),
                leaves_out=bool(self.unobserved),
            )
        return FineTuningRound(number, evaluation.regret, evaluation.normalized_regret)


@dataclass
class FineTuning:
    """One fine-tuning; its fields are the arguments of ``fine_tune_xgboost``."""

    objective: Any
    library: str
    rounds: tuple[int, int]
    base: Any
    validation: Any
    seed: int
    patience: int | None
    threads: int | None
    progress: bool
    settings: dict[str, Any]
    training_rows: np.ndarray = field(init=False)
    unobserved: list[int] = field(init=False)
    _progress_bar: Progress | None = field(default=None, init=False)

    def run(self, X: Any) -> BoostedCostModel:
        """Train the base model unless there is one, then fine-tune it."""
        self.check()
        training, validation = self.split(X)
        self._progress_bar = Progress() if self.progress else None
        try:
            # No training row has them, so they have no prediction.
            self.unobserved = unobserved_costs(training.costs)
            base = unwrap_booster(self.base)
            if base is None:
                base = self.train_base(training)
            for part in (training, validation):
                part.base_costs = self.checked_base_costs(base, part)
            model = BoostedCostModel(
                base=base,
                trees=None,
                library=self.library,
                num_features=training.features.shape[1],
                sparse=is_sparse(training.features),
                feature_names=column_names(X),
                cost_names=self.objective.cost_names,
                problem=self.objective.problem,
                unobserved=self.unobserved,
            )
            return self.tune(model, training, validation)
        finally:
            if self._progress_bar is not None:
                self._progress_bar.close()

    def check(self) -> None:
        """Refuse invalid arguments before any work."""
        base_rounds, tuning_rounds = self.rounds
        if base_rounds < 1 or tuning_rounds < 1:
            raise ValueError(f"rounds must both be at least 1, not {self.rounds}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1 round, not {self.patience}")
        if self.base is not None and self.objective.is_reordered:
            raise ValueError(
                "the columns of C are in a different order than the problem's costs, and a base "
                "predicts in the order of C: train the base on C[problem.cost_names], and give C "
                "in this order"
            )
        self.objective.incumbent = None

    def split(self, X: Any) -> tuple[DataPart, DataPart]:
        """Return the rows for training and for validation."""
        objective = self.objective
        table = as_features(X)
        if table.shape[0] != len(objective.costs):
            raise ValueError(f"X has {table.shape[0]} rows, C has {len(objective.costs)}")
        check_same_labels(row_labels(X), objective.row_labels, ("X", "C"))
        if self.base is not None:
            check_same_features(feature_names_of(self.base), column_names(X))
        # Rows without an optimal decision have no gradient.
        usable = np.setdiff1d(np.arange(table.shape[0]), list(objective.labels.failed))
        if isinstance(self.validation, (tuple, list)):
            validation, self.training_rows = self.user_validation(column_names(X)), usable
            if self.library == "xgboost":
                check_same_zeros(is_sparse(table), validation.features)
        else:
            self.training_rows, held_out = split_rows(usable, self.validation, self.seed)
            validation = DataPart(
                table[held_out],
                objective.costs[held_out],
                parameters=select_rows(objective.parameters, held_out),
            )
        if len(validation.costs) < MIN_VALIDATION_ROWS:
            warnings.warn(
                f"the round is selected on {len(validation.costs)} validation rows; on fewer than "
                f"{MIN_VALIDATION_ROWS} the selection is mostly chance",
                stacklevel=5,
            )
        rows = self.training_rows
        return DataPart(table[rows], objective.costs[rows]), validation

    def user_validation(self, feature_names: list[str] | None) -> DataPart:
        """Return the user's validation rows."""
        if len(self.validation) not in (2, 3, 4):
            raise ValueError(
                "validation is a fraction such as 0.2, or (X, C), or (X, C, labels), or "
                "(X, C, labels, parameters)"
            )
        X, C = self.validation[:2]
        check_same_features(feature_names, column_names(X))
        check_same_rows(X, C, ("validation X", "validation C"))
        problem, cost_names = self.objective.problem, self.objective.cost_names
        names = column_names(C)
        if (
            problem.cost_names is None
            and cost_names is not None
            and names is not None
            and cost_names != names
        ):
            raise ValueError(
                "C of the validation rows has other names, or another order, than C of the "
                "objective"
            )
        may_lack_costs = bool(problem.parameters)
        values = as_float_rows(C, "validation C", allow_missing=may_lack_costs)
        labels, parameters = (*self.validation[2:], None, None)[:2]
        parameters = as_arrays(parameters, X)
        given = plain_parameters(problem, parameters, len(values), C, "validation C")
        costs = observed_costs(problem, with_names(values, names), given)
        part = DataPart(as_features(X), costs, labels, parameters)
        width = self.objective.costs.shape[1]
        same_rows = part.features.shape[0] == len(costs)
        if not same_rows or costs.shape[1] != width or not len(costs):
            raise ValueError(
                f"validation rows have shapes {tuple(part.features.shape)} and {costs.shape}; as "
                f"many rows in both, at least one, and {width} costs are needed"
            )
        return part

    def booster(
        self,
        part: DataPart,
        derivatives: Derivatives,
        defaults: dict[str, Any],
        settings: dict[str, Any],
    ) -> Any:
        """Return a booster of the library for the rows of a part."""
        threads = threads_for(len(part.costs), self.threads)
        spec = BoosterSpec(
            features=part.features,
            base_costs=part.base_costs,
            derivatives=derivatives,
            defaults=defaults,
            settings=settings,
            threads=threads,
            seed=self.seed,
        )
        return LIBRARIES[self.library](spec)

    def train_base(self, training: DataPart) -> BoostedCostModel:
        """Train the base model: mean costs, corrected by trees with squared error."""
        means = mean_costs(training.costs.astype(float), is_long=False, has_names=True)
        # What no training row has gets no prediction; trees need a number.
        start = ConstantModel(np.nan_to_num(means))
        training.base_costs = start.predict(training.features).astype(np.float32)
        exists = ~np.isnan(training.costs)
        # Trees need a second derivative for every cost.
        is_counted = exists | ~exists.any(axis=0)

        def derivatives(predictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            # Half the square as in XGBoost, so its penalty on leaves has its usual weight.
            error = np.where(exists, predictions - training.costs, 0)
            return error, is_counted.astype(error.dtype)

        trees = self.booster(training, derivatives, {}, {})
        for number in range(self.rounds[0]):
            self.show("base by squared error", self.rounds[0], number, "")
            if not trees.boost_round():
                break
        # A table too small for a single split leaves the mean costs: a valid base model.
        return BoostedCostModel(
            start,
            trees.truncate(trees.rounds),
            self.library,
            num_features=training.features.shape[1],
        )

    def checked_base_costs(self, base: Any, part: DataPart) -> np.ndarray:
        """Return what the base model predicts for a part."""
        costs = base_costs(base, part.features)
        if self.unobserved and costs.shape == part.costs.shape:
            # The base need not have a prediction of them.
            costs = costs.copy()
            costs[:, self.unobserved] = 0
        if costs.shape != part.costs.shape:
            raise ValueError(
                f"the base predicts costs of shape {costs.shape}; {part.costs.shape} are needed"
            )
        if not np.isfinite(costs).all():
            raise ValueError("the base predicts costs that are not finite")
        return costs

    def tune(
        self, model: BoostedCostModel, training: DataPart, validation: DataPart
    ) -> BoostedCostModel:
        """Boost rounds of the cost-sensitive objective; return the best model."""
        regret = ValidationRegret(self.objective.problem, validation, self.unobserved, self.threads)
        base_round = regret.measure(0, validation.base_costs)
        trees = self.booster(
            training, self.derivatives(training), {"learning_rate": LEARNING_RATE}, self.settings
        )
        trees.set_validation(validation.features, validation.base_costs)
        rounds = BoostingRounds(self, trees, regret, base_round)
        rule = StoppingRule(steps=self.rounds[1], patience=self.patience)
        loop = TrainingLoop(rounds, rule)
        try:
            stopped = loop.run()
        except BaseException as error:
            # After Ctrl-C or a solver failure the best model so far is kept.
            reason = f"interrupted: {type(error).__name__}"
            self.select_round(model, rounds, reason)
            self.objective.incumbent = model
            raise
        words = {
            PATIENCE: f"no better round within {self.patience}",
            ALL_STEPS: "all rounds were run",
        }
        report = self.select_round(model, rounds, words.get(stopped, stopped))
        # The round was selected by predictions during training; those of the truncated model count.
        try:
            measured = regret.measure(report.best_round, model._number_costs(validation.features))
        except BaseException:
            self.objective.incumbent = model
            raise
        base_regret = base_round.regret
        if measured.regret > base_regret:
            warnings.warn(
                f"the trees of round {report.best_round} predict other costs than during "
                f"training: their validation regret is {measured.regret:.6g}, that of the base "
                f"{base_regret:.6g}. The base is kept; please report this",
                stacklevel=5,
            )
            model.trees = None
            model.report = replace(report, best_round=0, best_regret=base_regret)
            return model
        model.report = replace(report, best_regret=measured.regret)
        return model

    def derivatives(self, training: DataPart) -> Derivatives:
        """Return the gradient and second derivative of the objective for the training rows."""
        loss, rows = self.objective.loss, self.training_rows
        scale, curvature = gradient_scale(self.objective.spec, training.costs)

        def derivatives(predictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            _, gradients = loss.evaluate(
                np.ascontiguousarray(predictions, dtype=np.float32), rows=rows
            )
            return gradients * scale, np.full_like(gradients, curvature)

        return derivatives

    def select_round(
        self, model: BoostedCostModel, rounds: BoostingRounds, stopped: str
    ) -> FineTuningReport:
        """Give the model the trees of the best round, the earliest of equal ones."""
        history = rounds.history
        best = min(history, key=lambda entry: entry.regret)
        model.trees = rounds.trees.truncate(best.round)
        model.history = tuple(history)
        report = FineTuningReport(
            library=self.library,
            loss=self.objective.name,
            seed=self.seed,
            best_round=best.round,
            rounds=history[-1].round,
            stopped=stopped,
            base_regret=history[0].regret,
            best_regret=best.regret,
            training_rows=len(self.training_rows),
            validation_rows=rounds.regret.rows,
        )
        model.report = report
        return report

    def show(self, task: str, steps: int, done: int, message: str) -> None:
        """Show progress if the user asked for it."""
        if self._progress_bar is not None:
            self._progress_bar.show(task, steps, done, message)


class BoostingRounds:
    """Rounds of boosting, the adapter of :class:`TrainingLoop`; round 0 is the base model."""

    def __init__(
        self, owner: FineTuning, trees: Any, regret: ValidationRegret, base_round: FineTuningRound
    ) -> None:
        self.owner, self.trees, self.regret = owner, trees, regret
        self.best, self.history = base_round, [base_round]
        self.predictions: Any = None

    def step(self, number: int) -> str | None:
        """Boost one round."""
        self.owner.show(
            "fine-tuning",
            self.owner.rounds[1],
            number - 1,
            f"validation regret {self.best.regret:.6g}, base {self.history[0].regret:.6g}",
        )
        if not self.trees.boost_round():
            return "no tree can be split any more"
        self.predictions = self.trees.validation_predictions()
        if not np.isfinite(self.predictions).all():
            return "predicted costs are not finite any more"
        return None

    def score(self, number: int) -> StepScore:
        """Return the regret on the validation rows."""
        if number:
            self.history.append(self.regret.measure(number, self.predictions))
        return StepScore(self.history[-1].regret, self.history[-1])

    def keep(self, number: int) -> None:
        """Remember the round; its trees are those before it and its own."""
        self.best = self.history[-1]


def split_rows(usable: np.ndarray, fraction: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows for training and for validation, each in the order of the table."""
    is_number = isinstance(fraction, (int, float, np.floating)) and not isinstance(fraction, bool)
    if not is_number or not 0.0 < fraction < 1.0:
        raise ValueError(
            f"validation is a fraction between 0 and 1, or (X, C) of other rows, not {fraction!r}"
        )
    count = round(fraction * len(usable))
    if count == 0 or count == len(usable):
        raise ValueError(
            f"a fraction of {fraction} of {len(usable)} rows leaves none for validation or none "
            "for training; give validation=(X, C)"
        )
    # RandomState draws the same numbers in every version of numpy.
    order = np.random.RandomState(seed).permutation(len(usable))
    return usable[np.sort(order[count:])], usable[np.sort(order[:count])]


def unwrap_booster(base: Any) -> Any:
    """Return the booster of an XGBoost estimator, cut to the rounds it predicts with.

    Any other base model is returned unchanged.
    """
    if not hasattr(base, "get_booster"):
        return base
    booster = base.get_booster()
    if booster.attr("best_iteration") is None:
        return booster
    best = getattr(base, "best_iteration", None)
    return booster if best is None else booster[: best + 1]


def gradient_scale(spec: rl.CostSensitiveSpec, costs: np.ndarray) -> tuple[float, float]:
    """Return the factor that brings gradients to the size of costs, and the second derivative."""
    columns, exists = costs.shape[1], ~np.isnan(costs)
    norm = float(np.linalg.norm(np.where(exists, costs, 0), axis=1).mean())
    if spec.squared:
        return columns * (norm**2 if spec.scale_invariant else 1.0), 2.0
    mean = float(np.abs(costs[exists]).mean()) if not exists.all() else float(np.abs(costs).mean())
    return columns * mean * (norm if spec.scale_invariant else 1.0), 1.0
