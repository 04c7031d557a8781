"""Fine-tuning of trees, round by round: the best round on rows that were held back is kept, the base included."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import regretless as rl
from regretless._boosted import (
    BoostedCosts,
    Constant,
    as_features,
    base_costs,
    check_same_zeros,
    is_sparse,
    names_known_to,
)
from regretless._boosters import LIBRARIES, Growing, threads_for
from regretless._frames import (
    as_numbers,
    check_same_labels,
    check_same_rows,
    column_names,
    row_labels,
    same_features,
)
from regretless._names import in_order, named
from regretless.progress import Progress

LEARNING_RATE = 0.02
"""A tenth or so of what squared error takes: the base is to be turned, not replaced."""

FEW = 10
"""On fewer validation rows than this the choice of a round is mostly luck."""


@dataclass
class Part:
    """Rows of a table: features, costs, and the costs that the base predicts."""

    features: Any
    costs: np.ndarray
    labels: Any = None
    base: Any = None


class ValidationRegret:
    """Measures predictions by the regret of their decisions on the validation rows."""

    def __init__(self, problem: rl.Problem, part: Part, threads: int | None) -> None:
        self.problem, self.threads = problem, threads
        self.costs = named(part.costs, problem.cost_names)
        self.labels = (
            rl.label(problem, self.costs, threads=threads) if part.labels is None else part.labels
        )
        self.rows = len(part.costs) - len(self.labels.failed)
        if self.rows == 0:
            raise ValueError("no validation row has a decision: no round can be chosen")

    def of(self, predictions: np.ndarray) -> dict[str, float]:
        """Mean regret, and the sum of regrets over the sum of best objectives."""
        found = rl.evaluate(
            self.problem, predictions, C=self.costs, labels=self.labels, threads=self.threads
        )
        return {"regret": found["regret"], "normalized_regret": found["normalized_regret"]}


@dataclass
class FineTuning:
    """One fine-tuning: what the user asked for."""

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
    shown: Any = field(default=None, init=False)

    def run(self, features: Any) -> BoostedCosts:
        """Trains the base unless there is one, then tunes it."""
        self.check()
        training, held = self.parts(features)
        self.shown = Progress() if self.progress else None
        try:
            base = self.squared_error(training) if self.base is None else plain_booster(self.base)
            for part in (training, held):
                part.base = self.costs_of(base, part)
            result = BoostedCosts(
                base=base,
                trees=None,
                kind=self.library,
                num_features=training.features.shape[1],
                sparse=is_sparse(training.features),
                feature_names=column_names(features),
                cost_names=self.objective.cost_names,
                problem=self.objective.problem,
            )
            return self.tune(result, training, held)
        finally:
            if self.shown is not None:
                self.shown.close()

    def check(self) -> None:
        """Refuses numbers that mean nothing, before any work."""
        first, second = self.rounds
        if first < 1 or second < 1:
            raise ValueError(f"rounds are at least 1 of each part, not {self.rounds}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience is at least 1 round, not {self.patience}")
        if self.base is not None and self.objective.reordered:
            raise ValueError(
                "the columns of the costs are in another order than the problem's costs, and a base predicts in theirs: "
                "train the base on costs[problem.cost_names], and give the costs in this order"
            )
        self.objective.incumbent = None

    def parts(self, features: Any) -> tuple[Part, Part]:
        """Rows to learn from, and rows that choose the round."""
        objective = self.objective
        table = as_features(features)
        if table.shape[0] != len(objective.costs):
            raise ValueError(
                f"X has {table.shape[0]} rows, the costs of the objective have {len(objective.costs)}"
            )
        check_same_labels(row_labels(features), objective.row_labels, ("X", "C"))
        if self.base is not None:
            same_features(names_known_to(self.base), column_names(features))
        # Rows without a best decision have no gradient.
        usable = np.setdiff1d(np.arange(table.shape[0]), list(objective.labels.failed))
        if isinstance(self.validation, (tuple, list)):
            held, training = self.given(column_names(features)), usable
            if self.library == "xgboost":
                check_same_zeros(is_sparse(table), held.features)
        else:
            training, chosen = divided(usable, self.validation, self.seed)
            held = Part(table[chosen], objective.costs[chosen])
        if len(held.costs) < FEW:
            warnings.warn(
                f"the round is chosen on {len(held.costs)} validation rows; on fewer than {FEW} the choice is mostly luck",
                stacklevel=4,
            )
        self.training_rows = training
        return Part(table[training], objective.costs[training]), held

    def given(self, names: list[str] | None) -> Part:
        """Validation rows of the user's own."""
        if len(self.validation) not in (2, 3):
            raise ValueError(
                "validation is a share such as 0.2, or (features, costs), or (features, costs, labels)"
            )
        features, costs = self.validation[:2]
        same_features(names, column_names(features))
        check_same_rows(features, costs, ("validation X", "validation C"))
        problem, known, found = (
            self.objective.problem,
            self.objective.cost_names,
            column_names(costs),
        )
        if (
            problem.cost_names is None
            and known is not None
            and found is not None
            and known != found
        ):
            raise ValueError(
                "the costs of the validation rows have other names, or another order, than those of the objective"
            )
        table = in_order(problem, named(as_numbers(costs, "validation C", missing=False), found))
        part = Part(as_features(features), table, *self.validation[2:])
        width = self.objective.costs.shape[1]
        if (
            part.features.shape[0] != len(part.costs)
            or part.costs.shape[1] != width
            or not len(part.costs)
        ):
            shapes = f"{tuple(part.features.shape)} and {part.costs.shape}"
            raise ValueError(
                f"validation rows have shapes {shapes}; as many rows in both, at least one, and {width} costs are needed"
            )
        return part

    def growing(
        self, part: Part, derivatives: Any, defaults: dict[str, Any], settings: dict[str, Any]
    ) -> Any:
        """Trees of the library that grow from the rows of a part."""
        threads = threads_for(len(part.costs), self.threads)
        return LIBRARIES[self.library](
            Growing(part.features, part.base, derivatives, defaults, settings, threads, self.seed)
        )

    def squared_error(self, training: Part) -> BoostedCosts:
        """The base: mean costs, corrected by trees that learn the squared error."""
        start = Constant(training.costs.astype(float).mean(axis=0))
        training.base = start.predict(training.features).astype(np.float32)

        def derivatives(predictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            # Half the square, as XGBoost itself counts: its penalty on leaves then weighs what it usually weighs.
            error = predictions - training.costs
            return error, np.ones_like(error)

        trees = self.growing(training, derivatives, {}, {})
        for number in range(self.rounds[0]):
            self.show("base by squared error", self.rounds[0], number, "")
            if not trees.grow():
                break
        # A table too small for a single split is left with its mean costs: a base like any other.
        return BoostedCosts(
            start, trees.first(trees.rounds), self.library, num_features=training.features.shape[1]
        )

    def costs_of(self, base: Any, part: Part) -> np.ndarray:
        """What the base predicts for a part, checked."""
        found = base_costs(base, part.features)
        if found.shape != part.costs.shape:
            raise ValueError(
                f"the base predicts costs of shape {found.shape}; {part.costs.shape} are needed"
            )
        if not np.isfinite(found).all():
            raise ValueError("the base predicts costs that are not finite")
        return found

    def tune(self, result: BoostedCosts, training: Part, held: Part) -> BoostedCosts:
        """Rounds of the cost-sensitive objective; the best one becomes the result."""
        judge = ValidationRegret(self.objective.problem, held, self.threads)
        history = [{"round": 0, **judge.of(held.base)}]
        trees = self.growing(
            training, self.derivatives(training), {"learning_rate": LEARNING_RATE}, self.settings
        )
        trees.watch(held.features, held.base)
        try:
            stopped = self.advance(trees, judge, history)
        except BaseException as error:
            # Ctrl-C, or a solver that fails: what was reached is not lost.
            self.objective.incumbent = self.kept(
                result, trees, judge, history, f"interrupted: {type(error).__name__}"
            )
            raise
        kept = self.kept(result, trees, judge, history, stopped)
        # The round was chosen by predictions made along the way; those of the shorter model are the ones that count.
        try:
            worth = judge.of(kept.predict(held.features))["regret"]
        except BaseException:
            self.objective.incumbent = kept
            raise
        base = history[0]["regret"]
        if worth > base:
            warnings.warn(
                f"the trees of round {kept.report['kept_round']} predict other costs than they did during training: their regret on the "
                f"validation rows is {worth:.6g}, that of the base {base:.6g}. The base is kept; please report this",
                stacklevel=4,
            )
            kept.trees, worth = None, base
            kept.report["kept_round"] = 0
        kept.report["kept_regret"] = worth
        return kept

    def derivatives(self, training: Part) -> Any:
        """Gradient and second derivative of the objective for the training rows."""
        loss, rows = self.objective.loss, self.training_rows
        scale, curvature = sizes(self.objective.name, training.costs)

        def of(predictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            _, gradients = loss.evaluate(
                np.ascontiguousarray(predictions, dtype=np.float32), rows=rows
            )
            return gradients * scale, np.full_like(gradients, curvature)

        return of

    def advance(self, trees: Any, judge: ValidationRegret, history: list[dict[str, Any]]) -> str:
        """Grows round after round and writes their regrets down; returns why it stopped."""
        best = history[0]
        for number in range(1, self.rounds[1] + 1):
            self.show(
                "fine-tuning",
                self.rounds[1],
                number - 1,
                f"validation regret {best['regret']:.6g}, base {history[0]['regret']:.6g}",
            )
            if not trees.grow():
                return "no tree could be split any more"
            predictions = trees.watched()
            if not np.isfinite(predictions).all():
                return "predicted costs are not finite any more"
            history.append({"round": number, **judge.of(predictions)})
            if history[-1]["regret"] < best["regret"]:
                best = history[-1]
            if self.patience is not None and number - best["round"] >= self.patience:
                return f"no better round within {self.patience}"
        return "all rounds were run"

    def kept(
        self,
        result: BoostedCosts,
        trees: Any,
        judge: ValidationRegret,
        history: list[dict[str, Any]],
        stopped: str,
    ) -> BoostedCosts:
        """The result with the trees of the best round, the earliest of equals."""
        best = min(history, key=lambda entry: entry["regret"])
        result.trees = trees.first(best["round"])
        result.history = history
        result.report = {
            "library": self.library,
            "loss": self.objective.name,
            "seed": self.seed,
            "kept_round": best["round"],
            "rounds": history[-1]["round"],
            "stopped": stopped,
            "base_regret": history[0]["regret"],
            "kept_regret": best["regret"],
            "training_rows": len(self.training_rows),
            "validation_rows": judge.rows,
        }
        return result

    def show(self, task: str, steps: int, done: int, note: str) -> None:
        """Shows progress where it is wanted."""
        if self.shown is not None:
            self.shown.show(task, steps, done, note)


def divided(usable: np.ndarray, share: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows held back, each in the order of the table."""
    if (
        isinstance(share, bool)
        or not isinstance(share, (int, float, np.floating))
        or not 0.0 < share < 1.0
    ):
        raise ValueError(
            f"validation is a share between 0 and 1, or (features, costs) of other rows, not {share!r}"
        )
    count = round(share * len(usable))
    if count == 0 or count == len(usable):
        raise ValueError(
            f"a share of {share} of {len(usable)} rows leaves none to validate or none to learn from; give validation=(features, costs)"
        )
    # RandomState draws the same in every version of numpy.
    order = np.random.RandomState(seed).permutation(len(usable))
    return usable[np.sort(order[count:])], usable[np.sort(order[:count])]


def plain_booster(base: Any) -> Any:
    """The booster inside XGBoost's estimator for scikit-learn, cut to the rounds that it predicts with; any other base as it is."""
    if not hasattr(base, "get_booster"):
        return base
    booster = base.get_booster()
    best = (
        getattr(base, "best_iteration", None)
        if booster.attr("best_iteration") is not None
        else None
    )
    return booster if best is None else booster[: best + 1]


def sizes(loss: str, costs: np.ndarray) -> tuple[float, float]:
    """What brings gradients to the size of costs, and the second derivative at that size."""
    columns = costs.shape[1]
    length = float(np.linalg.norm(costs, axis=1).mean())
    components = loss.upper().replace(" ", "").partition("(")[2].removesuffix(")").split(",")
    normalised = "S" in components
    if loss.upper().startswith("MSE"):
        return columns * (length**2 if normalised else 1.0), 2.0
    return columns * float(np.abs(costs).mean()) * (length if normalised else 1.0), 1.0
