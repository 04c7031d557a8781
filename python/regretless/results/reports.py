"""Results of training and evaluation as small immutable objects.

Fields have the names of the command line's JSON, and ``to_dict`` returns exactly that JSON as
Python values. ``from_dict`` reads it back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from regretless.results.pages import html_table, short_text

__all__ = [
    "CandidateReport",
    "EpochReport",
    "Evaluation",
    "LabelCounts",
    "RoundReport",
    "SearchReport",
    "SolveCounts",
    "TrainingReport",
]

_Self = TypeVar("_Self", bound="Result")


@dataclass(frozen=True)
class Result:
    """Base of all results: conversion to and from plain Python values."""

    _parts: ClassVar[Mapping[str, type[Result]]] = {}
    """Fields that hold results themselves, one or a list of them."""
    _omitted_if_none: ClassVar[frozenset[str]] = frozenset()
    """Fields that the JSON leaves out if they have no value."""
    _not_in_json: ClassVar[frozenset[str]] = frozenset()
    """Fields that hold tables; the JSON of the command line has none of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict of plain values, as the command line writes them in JSON.

        Returns
        -------
        dict
            Nested results are dicts, sequences are lists.
        """
        values = {
            field.name: _plain(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.name not in self._not_in_json
        }
        for name in self._omitted_if_none:
            if values[name] is None:
                del values[name]
        return values

    @classmethod
    def from_dict(cls: type[_Self], values: Mapping[str, Any]) -> _Self:
        """Build the result from what ``to_dict`` returns.

        Parameters
        ----------
        values : mapping
            One value per field.
        """
        fields = dict(values)
        for name, kind in cls._parts.items():
            value = fields.get(name)
            if isinstance(value, Mapping):
                fields[name] = kind.from_dict(value)
            elif value is not None:
                fields[name] = tuple(kind.from_dict(entry) for entry in value)
        for name, value in fields.items():
            if isinstance(value, list):
                fields[name] = tuple(value)
        return cls(**fields)

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        rows = [
            (field.name, getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.name not in self._not_in_json
        ]
        return html_table(
            type(self).__name__,
            ("field", "value"),
            [(name.replace("_", " "), short_text(value)) for name, value in rows],
        )


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """Quality of predictions by the decisions that follow from them.

    Attributes
    ----------
    instances : int
        Number of instances evaluated.
    regret : float
        Mean regret, in units of the objective.
    normalized_regret : float
        Sum of regrets divided by the sum of the absolute optimal objectives.
    relative_regret : float
        Mean over instances of the regret divided by the absolute optimal objective.
    mse : float
        Mean squared error of the predicted costs.
    mae : float
        Mean absolute error of the predicted costs.
    optimal_fraction : float
        Fraction of instances whose decision is optimal; if labels are those of a heuristic, not
        worse than the label.
    rows : DataFrame or dict of ndarray, optional
        One entry per row of the table: ``regret``, ``objective`` of the decision under the true
        costs, ``optimal_objective``, ``relative_regret``, ``decision_status`` and ``label_status``;
        NaN if the true costs have no feasible decision. A DataFrame with the index of the costs if
        they are one, else a dict of arrays. ``None`` in reports of trainings. Not part of
        ``to_dict``.
    """

    _not_in_json = frozenset({"rows"})

    instances: int
    regret: float
    normalized_regret: float
    relative_regret: float
    mse: float
    mae: float
    optimal_fraction: float
    rows: Any = dataclasses.field(default=None, compare=False)

    def __repr__(self) -> str:
        return (
            f"<regretless.Evaluation: normalized regret {self.normalized_regret:.2%}, "
            f"{self.optimal_fraction:.0%} optimal, {self.instances} instances>"
        )


@dataclass(frozen=True)
class SolveCounts(Result):
    """Solver calls of a training by kind, without those for labels.

    Attributes
    ----------
    exact : int
        Solves of the problem itself.
    relaxed : int
        Solves of its linear relaxation.
    heuristic : int
        Decisions by local search or by a search with a node limit.
    projected : int
        Projections onto the normal cone of a decision.
    certified : int
        Solver calls whose earlier decision is proven optimal by a certificate, without a solve.
    cache_hits : int
        Solver calls served from the solution pool, without a solve.
    unpooled_rows : int
        Solver calls, counted above as well, that were solved because fewer than two decisions of
        the solution pool were feasible for the row, with known costs that hold for it.
    """

    exact: int
    relaxed: int
    heuristic: int
    projected: int
    certified: int
    cache_hits: int
    unpooled_rows: int = 0


@dataclass(frozen=True)
class EpochReport(Result):
    """Losses and regret of one epoch; epoch 0 is the untrained model.

    Attributes
    ----------
    epoch : int
        Number of the epoch.
    training_loss : float or None
        Mean loss of the training rows, each at its own step.
    validation_loss : float or None
        Mean loss of the validation rows after the epoch.
    validation_regret : float or None
        Mean regret of the validation rows after the epoch.
    seconds : float
        Seconds since the start of the round.
    """

    epoch: int
    training_loss: float | None
    validation_loss: float | None
    validation_regret: float | None
    seconds: float


@dataclass(frozen=True, repr=False)
class RoundReport(Result):
    """One training within a stage of a method.

    Attributes
    ----------
    method : str
        Name of the method of this stage.
    epochs : tuple of EpochReport
        Every epoch, epoch 0 included.
    best_epoch : int
        The epoch whose parameters were selected.
    stopped : str
        Why the round ended.
    """

    method: str
    epochs: tuple[EpochReport, ...]
    best_epoch: int
    stopped: str

    _parts: ClassVar[Mapping[str, type[Result]]] = {"epochs": EpochReport}

    def __repr__(self) -> str:
        return (
            f"<RoundReport {self.method}: epoch {self.best_epoch} of {len(self.epochs) - 1} best>"
        )


@dataclass(frozen=True)
class CandidateReport(Result):
    """One candidate of the method ``auto``.

    Attributes
    ----------
    method : str
        Name of the candidate.
    predictor : str
        The architecture of its predictor.
    folds : int
        Folds it was trained on: 1 for most candidates, more for the better ones.
    regret : float or None
        Mean regret on rows that it was not trained on; None if it failed or scoring was too
        expensive.
    difference, standard_error : float or None
        Mean difference from the best candidate on the same rows, and its standard error.
    is_chosen : bool
        Whether it is part of the model.
    scoring : str
        How the regret was measured: "exact", "relaxed" (by the linear relaxation), "unscored" (too
        expensive) or "failed".
    seconds : float
        Seconds it took.
    """

    method: str
    predictor: str
    folds: int
    regret: float | None
    difference: float | None
    standard_error: float | None
    is_chosen: bool
    scoring: str
    seconds: float


@dataclass(frozen=True)
class SearchReport(Result):
    """What ``auto`` expects of its model, from rows that its models were not trained on.

    Attributes
    ----------
    expected_regret : float
        Sum of regrets over the sum of absolute optimal objectives, plus what the choice among
        candidates adds on other rows.
    interval : tuple of float or None
        The 95 % interval of the expected regret; None if it would not hold, as with few rows.
    least_squares_regret : float or None
        The same regret of least squares, if it was a candidate.
    improvement : tuple of float or None
        The 95 % interval of the regret of least squares minus the expected one; None if the model
        is that of least squares or the interval would not hold.
    is_least_squares : bool
        Whether the model is that of least squares: no candidate was clearly better.
    rows : int
        Number of rows.
    folds : int
        Folds of the cross-validation; with 1 the rows are validation rows.
    used_seconds : float
        Seconds of the budget that were used, as counted.
    """

    expected_regret: float
    interval: tuple[float, float] | None
    least_squares_regret: float | None
    improvement: tuple[float, float] | None
    is_least_squares: bool
    rows: int
    folds: int
    used_seconds: float


@dataclass(frozen=True)
class LabelCounts(Result):
    """Labels by their proven quality.

    Attributes
    ----------
    optimal : int
        Optimal decisions.
    within_gap : int
        Decisions within a gap that the limits allow.
    limit_reached : int
        Incumbents of searches that stopped at a limit, and decisions of heuristics.
    max_gap : float or None
        The largest relative gap between a label and its dual bound; None if one has no bound.
    """

    optimal: int
    within_gap: int
    limit_reached: int
    max_gap: float | None


@dataclass(frozen=True, repr=False)
class TrainingReport(Result):
    """What happened during a training.

    Attributes
    ----------
    method : str
        Name of the method.
    seed : int
        Seed of split, initial parameters, batches and noise.
    split : str
        Numbers of rows for training, validation and test, and how they were divided.
    features : tuple of str
        Names of the features.
    chosen_method : str
        The method of the model: that of the best candidate for ``auto``.
    candidates : tuple of CandidateReport
        The candidates of ``auto``; empty for other methods.
    search : SearchReport or None
        What ``auto`` expects of its model; None for other methods.
    best_epoch : int
        The epoch whose parameters were selected.
    stopped : str or None
        Why the last round ended.
    validation, test : Evaluation or None
        Quality on the validation and test rows; None if there are none.
    training_mean : Evaluation or None
        Quality of the decision for the mean of the training costs, on the test rows: the regret
        without a model.
    solves : int
        Solves during training, without those for labels.
    solves_by_kind : SolveCounts
        The same by kind, with the solver calls that needed no solve.
    seconds, cpu_seconds : float, float or None
        Wall-clock time, and processor time of all threads if the system reports it.
    heuristic : str or None
        The heuristic that made the decisions; None for exact solvers.
    labels : LabelCounts
        The labels of all rows by their proven quality.
    select : str
        The criterion that selected the epoch.
    timed_solve_seconds : float or None
        Measured seconds of one solve, if ``auto`` planned with them.
    reproducible : bool
        Whether the same call gives the same model again.
    rounds : tuple of RoundReport
        Every round with all its epochs.
    encoding : dict of str
        What became of the columns of ``X`` that are not used as they are, by name.
    unused_columns : dict of str
        Why columns of ``X`` are not used, by name.
    """

    method: str
    seed: int
    split: str
    features: tuple[str, ...]
    chosen_method: str
    candidates: tuple[CandidateReport, ...]
    best_epoch: int
    stopped: str | None
    validation: Evaluation | None
    test: Evaluation | None
    training_mean: Evaluation | None
    solves: int
    solves_by_kind: SolveCounts
    seconds: float
    cpu_seconds: float | None
    heuristic: str | None
    labels: LabelCounts
    select: str
    reproducible: bool
    timed_solve_seconds: float | None = None
    search: SearchReport | None = None
    rounds: tuple[RoundReport, ...] = ()
    encoding: Mapping[str, str] = field(default_factory=dict)
    unused_columns: Mapping[str, str] = field(default_factory=dict)

    _parts: ClassVar[Mapping[str, type[Result]]] = {
        "candidates": CandidateReport,
        "search": SearchReport,
        "validation": Evaluation,
        "test": Evaluation,
        "training_mean": Evaluation,
        "solves_by_kind": SolveCounts,
        "labels": LabelCounts,
        "rounds": RoundReport,
    }
    _omitted_if_none: ClassVar[frozenset[str]] = frozenset({"search", "timed_solve_seconds"})

    def __repr__(self) -> str:
        parts = [f"best epoch {self.best_epoch}", f"{self.solves} solves", f"{self.seconds:.1f} s"]
        for name in ("validation", "test"):
            evaluation = getattr(self, name)
            if evaluation is not None:
                regret = f"{evaluation.normalized_regret:.2%}"
                parts.insert(0, f"{name} normalized regret {regret}")
        return f"<regretless.TrainingReport {self.chosen_method}: {', '.join(parts)}>"


def _plain(value: Any) -> Any:
    """Return a field's value without result objects and tuples."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
