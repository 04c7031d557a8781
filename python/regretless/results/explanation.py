"""The explanation of one decision as immutable objects, and the row that is explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from regretless.results.explanation_html import MAX_ROWS, explanation_html
from regretless.results.plots import draws_on_axes, plot_costs
from regretless.results.reports import Result

__all__ = [
    "Alternatives",
    "ChangedValue",
    "ExplainedCost",
    "Explanation",
    "FeatureEffect",
    "FeatureEffects",
    "FixedChoiceEffect",
    "NamedValue",
    "RangeEnds",
    "RangeReport",
    "RankedDecision",
    "RegretShare",
    "RegretSplit",
]


def one_row(value: Any) -> Any:
    """Return a vector or a pandas Series as a table with one row; other values unchanged."""
    if hasattr(value, "to_frame") and hasattr(value, "iloc") and getattr(value, "ndim", 0) == 1:
        return value.to_frame().T.infer_objects()
    if hasattr(value, "columns") or hasattr(value, "column_names"):
        return value
    array = np.asarray(value)
    return array[np.newaxis] if array.ndim == 1 else value


@dataclass(frozen=True)
class RangeEnds(Result):
    """Where one predicted cost may move alone while the decision stays optimal.

    Attributes
    ----------
    lower, upper : float or None
        The ends; None if there is no limit on that side.
    lower_is_exact, upper_is_exact : bool
        Whether the decision changes beyond the end. Otherwise it stays at least up to it.
    """

    lower: float | None
    upper: float | None
    lower_is_exact: bool = True
    upper_is_exact: bool = True


@dataclass(frozen=True)
class RangeReport(Result):
    """How the ranges of the costs were found.

    Attributes
    ----------
    method : str or None
        "exact" (by an algorithm) or "solves" (by solves for each cost): beyond an end the decision
        changes, unless it is marked as not exact. "basis" (of the relaxation): within the ends it
        stays, beyond it may change. None if there are no ranges.
    reason : str or None
        Why there are no ranges, or why some or all are not exact.
    solves : int
        Solves that were needed.
    """

    method: str | None
    reason: str | None
    solves: int


@dataclass(frozen=True)
class ExplainedCost(Result):
    """One cost of the row.

    Attributes
    ----------
    name : str
        Its name.
    index : int
        Its number in the problem.
    value : float
        The value of its variable in the decision.
    predicted : float
        The predicted cost, without its known part.
    known : float
        The known part of the cost.
    range : RangeEnds or None
        Where the predicted cost may move alone.
    """

    name: str
    index: int
    value: float
    predicted: float
    known: float
    range: RangeEnds | None

    _parts: ClassVar[Mapping[str, type[Result]]] = {"range": RangeEnds}

    def _distances(self) -> list[float]:
        """Return how far it is to the ends of the range."""
        if self.range is None:
            return []
        ends = (self.range.lower, self.range.upper)
        return [abs(end - self.predicted) for end in ends if end is not None]


@dataclass(frozen=True)
class NamedValue(Result):
    """The value of a variable that is not 0.

    Attributes
    ----------
    name : str
        The name of its cost.
    value : float
        The value.
    """

    name: str
    value: float


@dataclass(frozen=True)
class ChangedValue(Result):
    """A value that differs in another decision.

    Attributes
    ----------
    name : str
        The name of the column.
    value, other_value : float
        Its value in the explained decision, and in the other one.
    """

    name: str
    value: float
    other_value: float


@dataclass(frozen=True)
class RankedDecision(Result):
    """A decision other than the explained one.

    Attributes
    ----------
    objective : float
        Its objective under the predicted costs.
    price : float
        How much worse it is than the explained decision, under the predicted costs.
    added, removed : tuple of str
        What it chooses and the explained decision does not, and the reverse.
    changed : tuple of ChangedValue
        Values that both have and that differ, if decisions have quantities.
    choices : tuple of NamedValue
        All its choices.
    other_columns : tuple of NamedValue
        Columns whose whole cost is known, if decisions have quantities.
    """

    objective: float
    price: float
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedValue, ...]
    choices: tuple[NamedValue, ...]
    other_columns: tuple[NamedValue, ...]

    _parts: ClassVar[Mapping[str, type[Result]]] = {
        "changed": ChangedValue,
        "choices": NamedValue,
        "other_columns": NamedValue,
    }


@dataclass(frozen=True)
class Alternatives(Result):
    """The best other decisions.

    Attributes
    ----------
    decisions : tuple of RankedDecision
        In order of their objectives.
    are_all : bool
        Whether there are no further decisions.
    reason : str or None
        Why there are fewer than were asked for, or none.
    solves : int
        Solves that were needed.
    """

    decisions: tuple[RankedDecision, ...]
    are_all: bool
    reason: str | None
    solves: int

    _parts: ClassVar[Mapping[str, type[Result]]] = {"decisions": RankedDecision}


@dataclass(frozen=True)
class FixedChoiceEffect(Result):
    """What it costs to force or forbid one choice.

    Attributes
    ----------
    name : str
        The name of its cost.
    is_forced : bool
        Whether the choice is forced; otherwise it is forbidden.
    answer : str
        "already_decided", "possible" or "infeasible": no feasible decision has it.
    price : float or None
        How much worse the best decision with it is, under the predicted costs.
    objective : float or None
        Its objective.
    added, removed : tuple of str
        What that decision chooses and the explained one does not, and the reverse.
    changed : tuple of ChangedValue
        Values that both have and that differ, if decisions have quantities.
    """

    name: str
    is_forced: bool
    answer: str
    price: float | None
    objective: float | None
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedValue, ...]

    _parts: ClassVar[Mapping[str, type[Result]]] = {"changed": ChangedValue}


@dataclass(frozen=True)
class RegretShare(Result):
    """The share of one cost in the regret.

    Attributes
    ----------
    name : str
        The name of the cost.
    index : int
        Its number in the problem.
    true_cost, predicted : float
        The true and the predicted cost, without the known part.
    value, best_value : float
        The value of its variable in the decision, and in the best one in hindsight.
    share : float
        What it adds to the regret.
    """

    name: str
    index: int
    true_cost: float
    predicted: float
    value: float
    best_value: float
    share: float


@dataclass(frozen=True)
class RegretSplit(Result):
    """Where the regret comes from: the sum of the shares minus the gap is the regret.

    Attributes
    ----------
    regret : float
        How much worse the decision is than the best one in hindsight.
    objective, optimal_objective : float
        Objectives of both under the true costs.
    gap : float
        How much worse the best decision in hindsight looked under the predicted costs.
    shares : tuple of RegretShare
        The costs on which both decisions differ, the largest share first.
    reason : str or None
        Why the regret is not exact, if a decision is not proven optimal.
    """

    regret: float
    objective: float
    optimal_objective: float
    gap: float
    shares: tuple[RegretShare, ...]
    reason: str | None

    _parts: ClassVar[Mapping[str, type[Result]]] = {"shares": RegretShare}


@dataclass(frozen=True)
class FeatureEffect(Result):
    """The effect of one feature on the predicted costs.

    Attributes
    ----------
    feature : str
        Its name.
    value : float or None
        Its value in the row; None if every cost has its own.
    reference : float
        The value that it is compared with.
    objective_effect : float
        Its effect on the predicted objective of the decision.
    changes_decision : bool or None
        Whether another decision would be better with the reference value; None if that is not
        known.
    effects : tuple of float
        Its effect on each predicted cost, in the order of the problem.
    """

    feature: str
    value: float | None
    reference: float
    objective_effect: float
    changes_decision: bool | None
    effects: tuple[float, ...]


@dataclass(frozen=True)
class FeatureEffects(Result):
    """Which features moved the predicted costs.

    Attributes
    ----------
    method : str or None
        "linear_from_mean" and "linear_from_zero": terms of a linear predictor relative to the
        means of the training rows or to 0, which add up to the prediction together with ``base``.
        "replaced_by_mean": the change when one feature is replaced by its mean. None if the model
        does not have what is needed.
    reason : str or None
        Why there are no effects, or why it is not known whether they change the decision.
    base : tuple of float
        The prediction without the effects, for linear predictors.
    features : tuple of FeatureEffect
        The features, the largest effect on the objective first.
    """

    method: str | None
    reason: str | None
    base: tuple[float, ...]
    features: tuple[FeatureEffect, ...]

    _parts: ClassVar[Mapping[str, type[Result]]] = {"features": FeatureEffect}


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """Why a decision was made, how firm it is, and what else was possible.

    Attributes
    ----------
    problem : str
        The problem of the row.
    sense : str
        "minimize" or "maximize".
    objective : float
        Objective of the decision under the predicted costs.
    is_proven : bool
        Whether the decision is proven optimal for the predicted costs.
    status : str
        The proven quality in words.
    costs : tuple of ExplainedCost
        Every cost with ``name``, ``value`` in the decision, ``predicted``, ``known`` part, and the
        ``range`` (``lower``, ``upper``) in which it may move alone; ``lower_is_exact`` and
        ``upper_is_exact`` say whether the decision changes beyond.
    ranges : RangeReport
        The ``method`` of the ranges: "exact", "solves", "basis" or None, with the ``reason``.
    alternatives : Alternatives
        The best other ``decisions`` with ``price``, ``added`` and ``removed`` choices, and
        ``changed`` quantities.
    choices : tuple of FixedChoiceEffect
        What each forced or forbidden choice costs: ``answer`` and ``price``.
    regret : RegretSplit or None
        With true costs: ``regret``, the ``shares`` of the costs by name, and the ``gap``. The sum
        of the shares minus the gap is the regret.
    features : FeatureEffects
        The effect of each feature on the predicted costs, and on the objective of the decision.
    other_columns : tuple of NamedValue
        Columns whose whole cost is known, if their value is not 0.
    scale_note : str or None
        If the method leaves the level of the costs open, as MAE(O,S) does, a sentence that says so:
        objectives and prices are then no amounts in the unit of the costs.
    bias_note : str or None
        If the method counts errors on one side only, as MAE(O) does, a sentence that says so:
        objectives and prices may have a bias.
    """

    problem: str
    sense: str
    objective: float
    is_proven: bool
    status: str
    costs: tuple[ExplainedCost, ...]
    ranges: RangeReport
    alternatives: Alternatives
    choices: tuple[FixedChoiceEffect, ...]
    regret: RegretSplit | None
    features: FeatureEffects
    other_columns: tuple[NamedValue, ...] = ()
    scale_note: str | None = None
    bias_note: str | None = None

    _omitted_if_none: ClassVar[frozenset[str]] = frozenset({"scale_note", "bias_note"})
    _parts: ClassVar[Mapping[str, type[Result]]] = {
        "costs": ExplainedCost,
        "other_columns": NamedValue,
        "ranges": RangeReport,
        "alternatives": Alternatives,
        "choices": FixedChoiceEffect,
        "regret": RegretSplit,
        "features": FeatureEffects,
    }
    _text: ClassVar[str] = ""

    def __str__(self) -> str:
        """Return the text that ``regretless explain`` prints."""
        return self._text.rstrip("\n") or repr(self)

    def __repr__(self) -> str:
        used = sum(cost.value != 0 for cost in self.costs)
        text = f"{used} of {len(self.costs)} used, objective {self.objective:.6g}"
        if not self.is_proven:
            text += f" ({self.status})"
        if self.alternatives.decisions:
            text += f", best other worse by {self.alternatives.decisions[0].price:.6g}"
        if self.regret is not None:
            text += f", regret {self.regret.regret:.6g}"
        return f"<regretless.Explanation: {text}>"

    def _repr_html_(self) -> str:
        """Return HTML tables for notebooks."""
        return explanation_html(self)

    @draws_on_axes
    def plot(self, ax: Any = None) -> Any:
        """Draw predicted costs with the ranges in which the decision stays; chosen ones are filled.

        Of many costs, those are drawn whose range ends nearest.
        """
        nearest = sorted(self.costs, key=_distance_to_end)[:MAX_ROWS]
        costs = [cost for cost in self.costs if cost in nearest]
        return plot_costs(ax, costs, "predicted cost")


def _distance_to_end(cost: ExplainedCost) -> float:
    """Return how far it is to the nearest end of a range; costs without a range are last."""
    return min(cost._distances(), default=np.inf)


def with_text(fields: Mapping[str, Any], text: str) -> Explanation:
    """Return an explanation that is printed as this text."""
    explanation = Explanation.from_dict(fields)
    object.__setattr__(explanation, "_text", text)
    return explanation
