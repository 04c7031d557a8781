"""Training with keyword settings, the same as on the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from regretless._core import _FeatureSettings, _train
from regretless._renamed import check as check_renamed
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.reports import TrainingReport
from regretless.solving.labels import Labels
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Problem
from regretless.tables.columns import row_count, training_features
from regretless.tables.frames import check_same_rows
from regretless.tables.names import plain_table
from regretless.tables.numbers import as_numeric_array, check_seed
from regretless.tables.parameters import check_problem, given_parameters, plain_parameters
from regretless.tables.times import split_tables
from regretless.training import custom_predictor
from regretless.training.model import Model
from regretless.training.options import (
    FeatureOptions,
    TrainingKeywords,
    TrainingOptions,
    one_of,
    settings_of,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["train"]


def train(
    problem: Problem,
    X: Any,
    C: Any,
    method: str | OwnLoss | None = None,
    *,
    labels: Labels | None = None,
    parameters: Any = None,
    weights: ArrayLike | None = None,
    split: Any = None,
    predictor: Any = None,
    candidates: Sequence[Any] | None = None,
    init_model: Model | None = None,
    seed: int = 0,
    profile: Literal["default", "paper"] = "default",
    feature_names: Sequence[str] | None = None,
    cost_names: Sequence[str] | None = None,
    categories: str | Sequence[str] | None = None,
    target_statistics: str | Sequence[str] | None = None,
    dates: str | Sequence[str] | None = None,
    holidays: Any = None,
    missing: Literal["impute", "error"] = "impute",
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = False,
    heuristic: str | None = None,
    gap: float | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    training_options: TrainingOptions | None = None,
    feature_options: FeatureOptions | None = None,
    solve_options: SolveOptions | None = None,
    **settings: Unpack[TrainingKeywords],
) -> tuple[Any, TrainingReport]:
    """Train a model for the decisions that follow from its predictions.

    Parameters
    ----------
    problem : Problem
        The problem.
    X : array_like or DataFrame of shape (n, p) or (n, d, p)
        Features, one row per instance, or one row per instance and cost.
    C : array_like or DataFrame of shape (n, d)
        True costs. Columns with names (a DataFrame, or `cost_names`) are matched to the problem's
        costs by name, arrays by position.
    method : str or custom loss, optional
        A method's name such as "MAE(O,S)", "SPO+", "MAE(O,S) then SPO+ lr 0.001 epochs 5", or
        "auto", which searches over methods and predictors, least squares among them, for 20 CPU
        seconds ("auto 300s" for longer); or a loss made with `loss`. By default "auto"; for
        benchmarks such as "KS32", and for a predictor of your own, MAE(O,S), as in the paper.
    labels : Labels, optional
        Optimal decisions of the rows; solved here by default.
    parameters : mapping, DataFrame or list of str, optional
        Parameters of the rows, as in `Problem.solve_all`, or names of columns of `X`, which stay
        features. By default the columns of a DataFrame `X` that the problem reads, which stay
        features, too, as on the command line.
    weights : array_like of shape (n,), optional
        How much each row counts in training: the weighted mean of the losses is minimized, and the
        epoch with the best weighted mean over the validation rows is kept; "auto" chooses by
        weighted regrets. Rows of weight 0 are left out. Only ratios matter, except that whole
        numbers are numbers of observations when the deviation of costs is estimated. The results in
        the report count every row alike.
    split : optional
        Fractions for validation and test, drawn at random, or one number for both: 0.3 is 30 % of
        the rows for each; (0.2, 0.2) by default. "order:0.2,0.1" takes them from the end of the
        table. "time:date" or "time:date,0.2,0.1" takes the latest
        rows by the times in a column of `X` or `C`, ("time", times) or ("time", times, 0.2, 0.1) by
        an array of times: dates, date-times or numbers. Rows of one time stay in one part. Or
        numbers of rows (1000, 400, 600) in the order of the
        table, or lists of rows (training, validation) or (training, validation, test).
    predictor : str, torch module, scikit-learn regressor or function, optional
        "linear", "mlp" or "mlp:64,32"; by default linear, and for "auto" the best of several. A
        torch module from features to costs is trained by the same method, batches and selection of
        the epoch. Training starts from its present parameters and changes the module itself, which
        has those of the best epoch afterwards. `lambda: Net()` is called for each training, after
        torch is seeded with `seed`: trainings of several seeds then start anew. A scikit-learn
        regressor is fitted by its own `fit`, without a method, and evaluated as the others. All
        result in a model of `regretless.OwnModel`.
    candidates : list, optional
        What "auto" compares next to its own candidates: methods by name, losses made with `loss`,
        scikit-learn regressors, torch modules, and pairs of a method and a torch module (MAE(O,S)
        by default) or a function that makes one. Methods and losses become part of the search and
        of its average. A custom predictor is trained on the training rows, and is the model if its
        regret on the validation rows is lower than that of the search; the model is then an
        `regretless.OwnModel`.
    init_model : Model, optional
        A trained model to start from.
    seed : int, default 0
        Seed of the split, the initial parameters, the batches and the noise.
    profile : {"default", "paper"}
        The defaults of all settings.
    categories, target_statistics, dates, holidays, missing : optional
        How columns of a DataFrame become features: the fields of `FeatureOptions`.
    feature_names, cost_names : sequence of str, optional
        Names of the columns, unless `X` and `C` have their own.
    checkpoint : path, optional
        Path of the model file. Checkpoints are stored next to it; an interrupted training resumes
        with the same call and returns the same model.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `Problem.solve_all`: the fields of `SolveOptions`.
    training_options, feature_options, solve_options : optional
        Objects of `TrainingOptions`, `FeatureOptions` and `SolveOptions` instead of the keywords
        that are their fields.
    **settings
        The fields of `TrainingOptions` by name, such as ``epochs=20`` or ``learning_rate=0.01``.

    Returns
    -------
    model : Model
        The model of the best epoch.
    report : TrainingReport
        What happened during training, as the command line reports it in JSON, with every epoch in
        `rounds`.

    Raises
    ------
    TypeError
        For an unknown setting; for a renamed one the message gives the new name.
    ValueError
        For an invalid setting or table.

    Notes
    -----
    The same settings give the same model, byte for byte, as `regretless train`, for any number of
    threads.

    A warning says if the untrained model was best, or the last epoch: another learning rate, or
    more epochs, may help.

    Examples
    --------
    >>> model, report = rl.train(problem, X, C, method="MAE(O,S)", epochs=20)
    >>> report.test.normalized_regret
    """
    check_problem(problem)
    check_seed(seed)
    check_renamed("train", settings)
    by_keyword = SolveOptions(threads, progress, heuristic, gap, nodes, seconds)
    features = FeatureOptions(categories, target_statistics, dates, holidays, missing)
    call = TrainingCall(
        problem=problem,
        X=X,
        C=C,
        method=method,
        labels=labels,
        parameters=given_parameters(X, parameters, problem.parameters),
        split=split,
        seed=seed,
        profile=profile,
        feature_names=feature_names,
        cost_names=cost_names,
        solve=one_of("solve_options", solve_options, by_keyword),
        settings=settings_of(training_options, dict(settings), profile),
    )
    extras = CompiledOptions(
        weights=weights,
        init_model=init_model,
        checkpoint=checkpoint,
        features=one_of("feature_options", feature_options, features),
    )
    if predictor is None or isinstance(predictor, str):
        return trained_with_candidates(call, extras, predictor, candidates)
    extras.refuse_beside_custom_predictors(call.solve)
    if candidates is not None:
        raise TypeError(
            'candidates are compared by "auto", which has predictors of its own: leave out '
            "predictor, or put it among the candidates"
        )
    return custom_predictor.train(call, method, predictor)


@dataclass
class TrainingCall:
    """What trainings of all predictors take."""

    problem: Problem
    X: Any
    C: Any
    method: Any
    labels: Labels | None
    parameters: Any
    split: Any
    seed: int
    profile: str
    feature_names: Sequence[str] | None
    cost_names: Sequence[str] | None
    solve: SolveOptions
    settings: dict[str, Any]


@dataclass
class CompiledOptions:
    """What only trainings of the compiled module take."""

    weights: Any
    init_model: Model | None
    checkpoint: Any
    features: FeatureOptions

    def refuse_beside_custom_predictors(self, solve: SolveOptions) -> None:
        """Refuse what is given and what trainings of custom predictors do not have."""
        features = self.features
        given = {
            "weights": self.weights,
            "init_model": self.init_model,
            "checkpoint": self.checkpoint,
            "categories": features.categories,
            "target_statistics": features.target_statistics,
            "dates": features.dates,
            "holidays": features.holidays,
        }
        names = [name for name, value in given.items() if value is not None]
        for name in [*names, *solve._names_given()]:
            raise TypeError(f"train() does not take '{name}' together with a custom predictor")


@dataclass
class TrainerKeywords:
    """Method, predictor and settings; the compiled module reads the attributes."""

    method: str | OwnLoss | None
    candidates: list[str | OwnLoss] | None
    predictor: str | None
    init_model: Model | None
    seed: int
    profile: str
    checkpoint: Any
    settings: dict[str, Any]


@dataclass
class TrainingTable:
    """The data of a training; the compiled module reads the attributes."""

    X: Any
    C: Any
    labels: Labels | None
    parameters: Any
    weights: Any
    split: Any
    times: list[str] | None
    feature_names: Sequence[str] | None
    cost_names: Sequence[str] | None
    features: _FeatureSettings


def trained_with_candidates(
    call: TrainingCall,
    extras: CompiledOptions,
    predictor: str | None,
    candidates: Sequence[Any] | None,
) -> tuple[Any, TrainingReport]:
    """Train a predictor of the compiled module; ``auto`` may choose a custom one instead."""
    methods, predictors = divided_candidates(candidates)
    if predictors:
        extras.refuse_beside_custom_predictors(call.solve)
    trainer = TrainerKeywords(
        method=None if call.method is None else as_method(call.method),
        candidates=methods,
        predictor=predictor,
        init_model=extras.init_model,
        seed=call.seed,
        profile=call.profile,
        checkpoint=extras.checkpoint,
        settings=call.settings,
    )
    model, report = _train(call.problem, training_table(call, extras), trainer, call.solve)
    found = Model._of(model), TrainingReport.from_dict(report)
    return custom_predictor.choose(call, found, predictors) if predictors else found


def training_table(call: TrainingCall, extras: CompiledOptions) -> TrainingTable:
    """Return the data of a call as the compiled module takes it."""
    check_same_rows(call.X, call.C, ("X", "C"))
    tables = split_tables(call.split, call.X, call.C)
    settings = extras.features._settings()
    weights = extras.weights
    costs = plain_table(tables.C, "C", single=True)
    features = training_features(tables.X, settings)
    rows = row_count(features)
    return TrainingTable(
        X=features,
        C=costs,
        labels=call.labels,
        parameters=plain_parameters(call.problem, call.parameters, rows, tables.X, "X", tables.X),
        weights=None if weights is None else as_numeric_array(weights, "weights"),
        split=tables.split,
        times=tables.times,
        feature_names=call.feature_names,
        cost_names=call.cost_names,
        features=settings,
    )


def divided_candidates(
    candidates: Sequence[Any] | None,
) -> tuple[list[str | OwnLoss] | None, list[Any]]:
    """Divide the candidates of ``auto`` into methods and custom predictors.

    Predictors may be pairs of a method and a torch module.
    """
    if candidates is None:
        return None, []
    if isinstance(candidates, str):
        raise TypeError("candidates is a list of methods, losses and predictors")
    methods: list[str | OwnLoss] = []
    predictors: list[Any] = []
    for candidate in candidates:
        if (
            hasattr(candidate, "predict")
            or hasattr(candidate, "state_dict")
            or isinstance(candidate, tuple)
        ):
            predictors.append(candidate)
            continue
        if callable(candidate) and not hasattr(candidate, "_evaluate"):
            raise TypeError(
                "a function alone is no candidate: put a function that makes a module into a pair "
                'with its method, ("MAE(O,S)", lambda: Net()), give the module itself, or write '
                "@regretless.loss in front of a loss"
            )
        methods.append(as_method(candidate))
    return methods, predictors
