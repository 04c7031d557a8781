"""Training with keyword settings, the same as on the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from regretless._core import _FeatureSettings, _train
from regretless._renamed import check as check_renamed
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.reports import TrainingReport
from regretless.solving.labels import Labels
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Problem
from regretless.tables.columns import holiday_texts, row_count, text_list, training_features
from regretless.tables.frames import check_same_rows
from regretless.tables.names import plain_table
from regretless.tables.numbers import as_numeric_array, check_seed
from regretless.tables.parameters import given_parameters, plain_parameters
from regretless.tables.times import split_tables
from regretless.training import custom_predictor
from regretless.training.model import Model

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
    **settings: Any,
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
    method : str or loss of one's own, optional
        A method's name such as "MAE(O,S)", "SPO+", "MAE(O,S) then SPO+ lr 0.001 epochs 5", or
        "auto", which races several methods; or a loss made with `loss`. By default MAE(O,S), or
        MAE(O) where other columns of a linear problem have known costs.
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
        numbers are numbers of observations where the deviation of costs is estimated. The results
        in the report count every row alike.
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
        of its average. A predictor of your own is trained on the training rows, and is the model if
        its regret on the validation rows is lower than that of the search; the model is then an
        `regretless.OwnModel`.
    init_model : Model, optional
        A trained model to start from.
    seed : int, default 0
        Seed of the split, the initial parameters, the batches and the noise.
    profile : {"default", "paper"}
        The defaults of all settings.
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
    feature_names, cost_names : sequence of str, optional
        Names of the columns, unless `X` and `C` have their own.
    checkpoint : path, optional
        Path of the model file. Checkpoints are stored next to it; an interrupted training resumes
        with the same call and returns the same model.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `Problem.solve_all`.
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
        "last". Where the solves for validation regret would take more than a minute and longer
        than all labels, the default is "validation-loss", and a warning says so; with a solver
        function of one's own the default stays, with a warning.
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
        Whether the loss is rescaled so that gradients have a size of about 1.
    retrain_from_baseline : bool, optional
        Whether later rounds of weighted losses start from the baseline's parameters.
    clip_instance_costs : bool, default True
        With O_S: whether instance costs are limited to ten times their median.
    then_learning_rate, then_epochs : optional
        Learning rate and epochs of the stages after "then".
    fused : bool, default True
        Whether the fused kernels are used where they apply.

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

    A warning says where the untrained model was best, or the last epoch: another learning rate, or
    more epochs, may help.

    Examples
    --------
    >>> model, report = rl.train(problem, X, C, method="MAE(O,S)", epochs=20)
    >>> report.test.normalized_regret
    """
    check_seed(seed)
    check_renamed("train", settings)
    call = TrainingCall(
        problem=problem,
        X=X,
        C=C,
        labels=labels,
        parameters=given_parameters(X, parameters, problem.parameters),
        split=split,
        seed=seed,
        profile=profile,
        feature_names=feature_names,
        cost_names=cost_names,
        solve=SolveOptions(threads, progress, heuristic, gap, nodes, seconds),
        settings=settings,
    )
    given = {
        "weights": weights,
        "init_model": init_model,
        "checkpoint": checkpoint,
        "categories": categories,
        "target_statistics": target_statistics,
        "dates": dates,
        "holidays": holidays,
    }
    if predictor is not None and not isinstance(predictor, str):
        refuse_beside_custom_predictors(given, call.solve)
        if candidates is not None:
            raise TypeError(
                'candidates are compared by "auto", which has predictors of its own: leave out '
                "predictor, or put it among the candidates"
            )
        return custom_predictor.train(call, method, predictor)
    methods, predictors = divided_candidates(candidates)
    if predictors:
        refuse_beside_custom_predictors(given, call.solve)
    features = FeatureKeywords(categories, target_statistics, dates, holidays, missing)
    trainer = TrainerKeywords(
        method=None if method is None else as_method(method),
        candidates=methods,
        predictor=predictor,
        init_model=init_model,
        seed=seed,
        profile=profile,
        checkpoint=checkpoint,
        settings=settings,
    )
    found = trained(call, trainer, features, weights)
    if not predictors:
        return found
    return custom_predictor.choose(call, found, predictors)


@dataclass
class TrainingCall:
    """What trainings of all predictors take."""

    problem: Problem
    X: Any
    C: Any
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
class FeatureKeywords:
    """How columns of a DataFrame become features, as a user says it."""

    categories: str | Sequence[str] | None
    target_statistics: str | Sequence[str] | None
    dates: str | Sequence[str] | None
    holidays: Any
    missing: str

    def settings(self) -> _FeatureSettings:
        """Return them as the compiled module takes them."""
        return _FeatureSettings(
            text_list(self.categories),
            text_list(self.target_statistics),
            text_list(self.dates),
            [] if self.holidays is None else holiday_texts(self.holidays),
            self.missing,
        )


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


def trained(
    call: TrainingCall, trainer: TrainerKeywords, features: FeatureKeywords, weights: Any
) -> tuple[Model, TrainingReport]:
    """Train a predictor of the compiled module."""
    check_same_rows(call.X, call.C, ("X", "C"))
    tables = split_tables(call.split, call.X, call.C)
    settings = features.settings()
    costs = plain_table(tables.C, "C", single=True)
    X = training_features(tables.X, settings)
    rows = row_count(X)
    table = TrainingTable(
        X=X,
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
    model, report = _train(call.problem, table, trainer, call.solve)
    return Model._of(model), TrainingReport.from_dict(report)


def refuse_beside_custom_predictors(given: dict[str, Any], solve: SolveOptions) -> None:
    """Refuse arguments that trainings of custom predictors do not have."""
    names = [name for name, value in given.items() if value is not None]
    for name in [*names, *solve._names_given()]:
        raise TypeError(f"train() does not take '{name}' together with a predictor of your own")


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
