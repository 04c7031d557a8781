"""Custom predictors in the trainer: torch modules and scikit-learn regressors.

The loop is that of ``regretless train``: the same split, batches, losses, solver calls, selection
of the epoch, early stopping and report. Only predictions and their backward pass are the user's.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from regretless._core import _epoch_remark, _training_plan
from regretless._user_warnings import warn
from regretless.losses.custom import OwnLoss, as_method
from regretless.results.reports import CandidateReport, SolveCounts, TrainingReport
from regretless.tables.frames import check_same_rows
from regretless.tables.names import costs_in_order, names_of, with_names
from regretless.tables.parameters import plain_parameters
from regretless.tables.seen_rows import SeenRows
from regretless.tables.times import split_tables
from regretless.training.custom_model import OwnModel, as_features
from regretless.training.custom_training import Training, table_loss
from regretless.training.observed_costs import observed_costs
from regretless.training.regressor import RegressorTraining
from regretless.training.torch_module import TorchTraining

if TYPE_CHECKING:
    from regretless.training.train import TrainingCall

__all__ = ["choose", "train"]


def train(
    call: TrainingCall, method: Any, predictor: Any, *, is_candidate: bool = False
) -> tuple[OwnModel, TrainingReport]:
    """Train or fit a custom predictor; called by :func:`regretless.train`."""
    predictor = made_predictor(predictor, call.seed)
    is_module = is_torch_module(predictor)
    check_predictor(predictor, is_module, method)
    settings, own_optimizer = divided_settings(call.settings)
    training = prepared(call, method if is_module else "MSE", method, settings)
    loss, rows = training.loss, training.rows
    if not is_candidate:
        names = call.feature_names or names_of(call.X)
        names = None if names is None else list(names)
        loss._raise_notes(training.features, names, rows, training.times)
    started, cpu_started = time.perf_counter(), time.process_time()
    if is_module:
        run: Any = TorchTraining(training, predictor, own_optimizer)
    else:
        run = RegressorTraining(training, predictor)
    is_trained_now = any(stage["settings"]["epochs"] > 0 for stage in training.plan["stages"])
    if is_module and is_trained_now:
        warn_if_trained(predictor)
    rounds, solves = run.run()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    used = rows[0] + rows[1]
    model = OwnModel(
        call.problem,
        predictor if is_module else run.regressor,
        run.prediction,
        feature_names=names_of(call.X),
        cost_names=call.problem.cost_names or training.cost_names,
        seen=SeenRows.of(training.features[used], training.costs[used]),
    )
    if is_module and not is_candidate:
        give_epoch_remark(training, rounds[-1])
    report = report_of(training, call.X, run, rounds, solves, is_candidate=is_candidate)
    report.update(seconds=seconds, cpu_seconds=cpu_seconds)
    return model, TrainingReport.from_dict(report)


def check_predictor(predictor: Any, is_module: bool, method: Any) -> None:
    """Refuse objects that are no predictors, and methods of predictors that fit themselves."""
    if is_module:
        return
    if not (hasattr(predictor, "fit") and hasattr(predictor, "predict")):
        raise TypeError(
            "predictor is a name, a torch module, a regressor with fit and predict, or a function "
            f"that makes one of them, not {type(predictor).__name__}"
        )
    if method is not None and str(method).strip() != "MSE":
        raise ValueError(
            f"{type(predictor).__name__} is fitted by its own fit, without a gradient of ours: "
            f"leave out method='{method}', or use a torch module or regretless.trees"
        )


def divided_settings(given: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return settings for the compiled module, and an optimizer of torch if one is given."""
    settings = dict(given)
    optimizer = settings.get("optimizer")
    if optimizer is None or isinstance(optimizer, str):
        return settings, None
    del settings["optimizer"]
    ignored = [name for name in ("learning_rate", "lr_decay") if name in settings]
    if ignored:
        raise TypeError(
            f"train() got '{ignored[0]}' beside a custom optimizer, which has its own "
            f"learning rate: leave out {ignored[0]}, or name an optimizer such as 'adam'"
        )
    return settings, optimizer


def prepared(
    call: TrainingCall, planned_method: Any, method: Any, settings: dict[str, Any]
) -> Training:
    """Return the data and the plan of a training, with the labels of its rows."""
    planned_method = None if planned_method is None else as_method(planned_method)
    method = None if method is None else as_method(method)
    check_same_rows(call.X, call.C)
    tables = split_tables(call.split, call.X, call.C)
    plan = _training_plan(
        len(tables.C),
        planned_method,
        tables.split,
        tables.times,
        call.seed,
        call.profile,
        settings,
    )
    parameters = call.parameters
    if isinstance(parameters, (list, tuple)):
        parameters = {name: np.asarray(call.X[name]) for name in parameters}
    options = {
        "labels": call.labels,
        "parameters": parameters,
        "seed": call.seed,
        "threads": call.solve.threads,
        "feature_names": call.feature_names,
    }
    C = tables.C if call.cost_names is None else with_names(tables.C, call.cost_names)
    features, costs = as_features(call.X), costs_in_order(call.problem, C)
    given = plain_parameters(call.problem, parameters, len(costs), C, "C")
    observed = observed_costs(call.problem, with_names(costs, call.problem.cost_names), given)
    first = method if isinstance(method, OwnLoss) else plan["stages"][0]["name"]
    loss = table_loss(call.problem, costs, first, options, names_of(C))
    labeled = set(loss._labeled_rows())
    rows = [[row for row in part if row in labeled] for part in plan["split"]]
    if plan["stages"][0]["settings"]["train_on_validation"]:
        rows = [rows[0] + rows[1], [], rows[2]]
    loss._start_pool(rows[0])
    return Training(
        call.problem,
        features,
        costs,
        plan,
        options,
        rows,
        loss,
        names_of(C),
        observed,
        tables.times,
    )


def give_epoch_remark(training: Training, last_round: Mapping[str, Any]) -> None:
    """Warn if the first or the last epoch was best."""
    select = training.plan["stages"][-1]["settings"]["select"]
    last_epoch = last_round["epochs"][-1]["epoch"]
    remark = _epoch_remark(select, last_round["best_epoch"], last_epoch)
    if remark is not None:
        warn(remark)


def is_torch_module(predictor: Any) -> bool:
    """Whether a predictor is a torch module; the class of one is not."""
    is_class = inspect.isclass(predictor)
    return not is_class and hasattr(predictor, "parameters") and hasattr(predictor, "state_dict")


def made_predictor(predictor: Any, seed: int) -> Any:
    """Return a predictor, or what a function or class without arguments makes."""
    is_regressor = hasattr(predictor, "fit") and hasattr(predictor, "predict")
    is_object = is_torch_module(predictor) or (is_regressor and not inspect.isclass(predictor))
    if is_object or not callable(predictor):
        return predictor
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    return predictor()


TRAINED_MARK = "_was_trained_by_regretless"
"""Attribute of modules that were trained."""


def warn_if_trained(module: Any) -> None:
    """Warn if a module was trained before; mark it as trained."""
    if getattr(module, TRAINED_MARK, False):
        warn(
            "the module was trained before, and training starts from its present parameters; for a "
            "new start pass a function that makes it: predictor=lambda: "
            f"{type(module).__name__}(...)"
        )
    setattr(module, TRAINED_MARK, True)


def choose(
    call: TrainingCall, found: tuple[Any, TrainingReport], candidates: Sequence[Any]
) -> tuple[Any, TrainingReport]:
    """Return what ``auto`` found, or a custom predictor with a lower validation regret.

    Called by :func:`regretless.train`. The regret of ``auto`` is that of models which were not
    trained on the row, so both are regrets of rows not seen in training.
    """
    model, report = found
    lowest = report.validation
    entries: list[CandidateReport] = []
    best = None
    for candidate in candidates:
        method, predictor = candidate if isinstance(candidate, tuple) else (None, candidate)
        own_model, own_report = train(call, method, predictor, is_candidate=True)
        if own_report.validation is None:
            raise ValueError("candidates are compared on validation rows, and there are none")
        if lowest is None or own_report.validation.regret < lowest.regret:
            lowest, best = own_report.validation, len(entries)
            model, report = own_model, own_report
        entries.append(
            CandidateReport(
                method=own_report.method,
                predictor=own_model._name,
                folds=1,
                regret=own_report.validation.regret,
                difference=None,
                standard_error=None,
                is_chosen=False,
                scoring="exact",
                seconds=own_report.seconds,
            )
        )
    of_search = found[1].candidates
    if best is not None:
        entries[best] = replace(entries[best], is_chosen=True)
        of_search = tuple(replace(entry, is_chosen=False) for entry in of_search)
    return model, replace(report, method=found[1].method, candidates=(*of_search, *entries))


def report_of(
    training: Training,
    X: Any,
    run: Any,
    rounds: list[dict[str, Any]],
    solves: SolveCounts,
    *,
    is_candidate: bool,
) -> dict[str, Any]:
    """Return the fields of the report, without times; notes about test rows are raised."""
    loss, settings = training.loss, training.plan["stages"][-1]["settings"]
    _, validation, test = training.rows

    def quality(rows: list[int], predictions: np.ndarray, *, is_noted: bool = False) -> Any:
        if not rows:
            return None
        return training.evaluate(predictions, rows, are_test_rows=is_noted)

    mean = np.tile(training.mean_costs(), (len(test), 1))
    return {
        "method": run.name,
        "seed": training.options["seed"],
        "split": training.plan["split_text"],
        "features": training.options["feature_names"]
        or names_of(X)
        or [f"x{number}" for number in range(training.features.shape[-1])],
        "chosen_method": run.name,
        "candidates": [],
        "best_epoch": rounds[-1]["best_epoch"],
        "stopped": rounds[-1]["stopped"],
        "validation": quality(validation, run.prediction.predict(training.features[validation])),
        "test": quality(
            test, run.prediction.predict(training.features[test]), is_noted=not is_candidate
        ),
        "training_mean": quality(test, mean),
        "solves": solves.exact + solves.relaxed + solves.heuristic + solves.projected,
        "solves_by_kind": solves.to_dict(),
        "heuristic": None,
        "labels": loss._label_counts(),
        "select": settings["select"],
        "reproducible": settings["time_limit"] is None and settings["patience_seconds"] is None,
        "rounds": rounds,
    }
