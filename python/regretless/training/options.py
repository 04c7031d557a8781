"""Options of trainings, grouped by what they are about."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar

from regretless._core import _FeatureSettings
from regretless.tables.columns import holiday_texts, text_list

__all__ = ["FeatureOptions", "TrainingOptions"]

Selection = Literal["validation-regret", "validation-loss", "training-loss", "last"]


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is trained: epochs, gradient steps, the choice of the epoch, scaling.

    `train` takes the fields one by one, too: ``train(problem, X, C, epochs=20)``.

    Attributes
    ----------
    epochs : int, default 50
        Number of epochs.
    rows_per_epoch : int, optional
        Training rows of one epoch, drawn again for each; all by default.
    batch_size : int, default 32
        Rows of one gradient step.
    learning_rate : float, default 0.005
        Learning rate.
    lr_decay : bool, default False
        Whether the learning rate decays linearly to 0 over the epochs.
    optimizer : str, default "adam"
        "adam", "adamw:weight_decay=0.01" or "sgd:momentum=0.9".
    select : str, default "validation-regret"
        Criterion for the best epoch: "validation-regret", "validation-loss", "training-loss" or
        "last". If the solves for validation regret would take more than a minute and longer than
        all labels, the default is "validation-loss", and a warning says so; with a custom solver
        function the default stays, with a warning.
    train_on_validation : bool, default False
        Whether validation rows are training rows too.
    patience : int, optional
        Epochs without improvement before training stops.
    patience_seconds, time_limit : float, optional
        Seconds without improvement, and in total, before training stops.
    standardize : bool, default True
        Whether features are standardized.
    scale_costs : bool, default True
        Whether predicted costs are mean + deviation · output.
    rescale_loss : bool, default True
        Whether the loss is rescaled to keep gradients of the order of 1.
    retrain_from_baseline : bool, optional
        Whether later rounds of weighted losses start from the baseline's parameters.
    clip_instance_costs : bool, default True
        With O_S: whether instance costs are limited to ten times their median.
    then_learning_rate, then_epochs : optional
        Learning rate and epochs of the stages after "then".
    fused : bool, default True
        Whether the fused kernels are used where they apply.

    Examples
    --------
    >>> options = rl.TrainingOptions(epochs=20, batch_size=64, patience=5)
    >>> model, report = rl.train(problem, X, C, training_options=options)
    """

    epochs: int = 50
    rows_per_epoch: int | None = None
    batch_size: int = 32
    learning_rate: float = 0.005
    lr_decay: bool = False
    optimizer: Any = "adam"
    select: Selection = "validation-regret"
    train_on_validation: bool = False
    patience: int | None = None
    patience_seconds: float | None = None
    time_limit: float | None = None
    standardize: bool = True
    scale_costs: bool = True
    rescale_loss: bool = True
    retrain_from_baseline: bool | None = None
    clip_instance_costs: bool = True
    then_learning_rate: float | None = None
    then_epochs: int | None = None
    fused: bool = True


class TrainingKeywords(TypedDict, total=False):
    """The fields of :class:`TrainingOptions` as keywords, for type checkers."""

    epochs: int
    rows_per_epoch: int | None
    batch_size: int
    learning_rate: float
    lr_decay: bool
    optimizer: Any
    select: Selection
    train_on_validation: bool
    patience: int | None
    patience_seconds: float | None
    time_limit: float | None
    standardize: bool
    scale_costs: bool
    rescale_loss: bool
    retrain_from_baseline: bool | None
    clip_instance_costs: bool
    then_learning_rate: float | None
    then_epochs: int | None
    fused: bool


@dataclass(frozen=True)
class FeatureOptions:
    """How columns of a DataFrame become features.

    Attributes
    ----------
    categories, target_statistics, dates : str or list of str, optional
        Columns of a DataFrame `X`, by name or pattern. Each value of `categories` is a feature,
        also numbers. Values of `target_statistics`, such as customers, become the mean cost of the
        training rows that have them. `dates` become weekday, season and hour, as far as the
        training rows support them, or the parts that are given: "date=weekday+season+trend". By
        default, texts with few values and columns of type category are categories, and columns of
        dates are dates; everything is fitted on the training rows alone.
    holidays : sequence of dates, optional
        Whether a date is one of them becomes a feature.
    missing : {"impute", "error"}
        Gaps in a DataFrame `X` are filled with the median of the training rows and indicated, or
        refused. Gaps in arrays and in costs are always refused.

    Examples
    --------
    >>> options = rl.FeatureOptions(categories="shop", dates="day")
    >>> model, report = rl.train(problem, table, C, feature_options=options)
    """

    categories: str | Sequence[str] | None = None
    target_statistics: str | Sequence[str] | None = None
    dates: str | Sequence[str] | None = None
    holidays: Any = None
    missing: Literal["impute", "error"] = "impute"

    def _settings(self) -> _FeatureSettings:
        """Return them as the compiled module takes them."""
        return _FeatureSettings(
            text_list(self.categories),
            text_list(self.target_statistics),
            text_list(self.dates),
            [] if self.holidays is None else holiday_texts(self.holidays),
            self.missing,
        )


_Options = TypeVar("_Options")


def one_of(name: str, options: _Options | None, keywords: _Options) -> _Options:
    """Return options given as an object or as keywords; both at once are refused."""
    if options is None:
        return keywords
    for keyword in changed_fields(keywords):
        raise TypeError(f"train() got '{keyword}' beside {name}, which has it: give it there")
    return options


def settings_of(
    options: TrainingOptions | None, keywords: dict[str, Any], profile: str
) -> dict[str, Any]:
    """Return the settings of a training that differ from the defaults, by name."""
    if options is None:
        return keywords
    for keyword in keywords:
        raise TypeError(
            f"train() got '{keyword}' beside training_options, which has it: give it there"
        )
    if profile != "default":
        raise TypeError(
            "profile is the default of keywords, and training_options has all values: leave one out"
        )
    return changed_fields(options)


def changed_fields(options: Any) -> dict[str, Any]:
    """Return the fields of options that are not the default, by name."""
    changed = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        is_plain = value is None or isinstance(value, (bool, int, float, str))
        if not is_plain or value != field.default:
            changed[field.name] = value
    return changed
