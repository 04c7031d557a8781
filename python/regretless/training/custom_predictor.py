"""Predictors of one's own in the trainer: torch modules and scikit-learn regressors.

The loop is that of ``regretless train``: the same split, batches, losses, solver calls, selection
of the epoch, early stopping and report. Only predictions and their backward pass are the user's.
"""

from __future__ import annotations

import copy
import inspect
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from regretless._core import _epoch_remark, _epoch_rows, _few_rows_warning, _training_plan
from regretless._user_warnings import warn
from regretless.losses.custom import OwnLoss, as_method
from regretless.losses.loss import Loss
from regretless.results.reports import CandidateReport, Evaluation, SolveCounts, TrainingReport
from regretless.solving.problem import Problem
from regretless.tables.columns import model_columns
from regretless.tables.frames import as_frame_like, check_same_rows
from regretless.tables.names import columns_in_order, costs_in_order, names_of, with_names
from regretless.tables.numbers import as_numeric_array
from regretless.tables.parameters import given_parameters, table_parameters
from regretless.tables.seen_rows import SeenRows
from regretless.tables.times import split_tables
from regretless.training.evaluation import evaluate

if TYPE_CHECKING:
    from regretless.training.train import TrainingCall

__all__ = ["OwnModel"]

ROWS_PER_CHUNK = 1024
"""Rows predicted at a time outside gradient steps."""


class OwnModel:
    """A trained predictor of one's own, with the decisions that follow from its predictions.

    Attributes
    ----------
    predictor : object
        The torch module, with the parameters of the best epoch, or the fitted regressor.
    problem : Problem
        The problem.

    Notes
    -----
    It can be pickled where its predictor and its problem can. The module itself, without this
    object, computes scaled costs from standardized features, unless it was trained with
    ``standardize=False, scale_costs=False``: ``predict`` has both steps.
    """

    def __init__(
        self,
        problem: Problem,
        predictor: Any,
        prediction: ModulePrediction | RegressorPrediction,
        feature_names: Sequence[str] | None = None,
        cost_names: Sequence[str] | None = None,
        seen: SeenRows | None = None,
    ) -> None:
        self.problem, self.predictor, self._prediction = problem, predictor, prediction
        self._feature_names, self._cost_names, self._seen = feature_names, cost_names, seen

    def __repr__(self) -> str:
        return f"<regretless.OwnModel of {type(self.predictor).__name__}>"

    def predict(self, X: Any) -> Any:
        """Predict costs.

        Parameters
        ----------
        X : array_like or DataFrame
            Features, as in training. Columns of a DataFrame are found by name, and others are
            ignored.

        Returns
        -------
        ndarray or DataFrame of shape (n, d)
            Predicted costs, in the order of ``problem.cost_names``; a DataFrame where `X` is one,
            with its index and the cost names.
        """
        costs = self._prediction.predict(self._features(X))
        names = self._cost_names or [f"c{number}" for number in range(costs.shape[1])]
        return as_frame_like(X, costs, names)

    def decide(self, X: Any, *, parameters: Any = None, threads: int | None = None) -> Any:
        """Return the optimal decisions under the predicted costs.

        Parameters
        ----------
        X : array_like or DataFrame
            Features, as in training.
        parameters, threads : optional
            As in :meth:`Model.decide`.

        Returns
        -------
        Solutions
            One decision per row; `decisions` and `values` are DataFrames where `X` is one, and
            `to_frame` has its index.
        """
        parameters = self._parameters(X, parameters)
        costs = self._prediction.predict(self._features(X))
        costs = with_names(costs, self._cost_names, like=X)
        return self.problem.solve_all(costs, parameters=parameters, threads=threads)

    def evaluate(
        self,
        X: Any,
        C: Any,
        *,
        labels: Any = None,
        parameters: Any = None,
        threads: int | None = None,
    ) -> Evaluation:
        """Return the regret of the decisions and the error of the predictions.

        A warning says how many of the rows the model was trained or validated on.

        Parameters
        ----------
        X, C : array_like or DataFrame
            Features and true costs.
        labels, parameters, threads : optional
            As in :func:`regretless.evaluate`.
        """
        check_same_rows(X, C)
        features, costs = self._features(X), self._costs(C)
        evaluation = evaluate(
            self.problem,
            self._prediction.predict(features),
            C=with_names(costs, self.problem.cost_names, like=C),
            labels=labels,
            parameters=self._parameters(X, parameters),
            threads=threads,
        )
        if self._seen is not None:
            # Rows without a label are not evaluated.
            rows = np.isfinite(np.asarray(evaluation.rows["regret"]))
            warning = self._seen.warning(features[rows], costs[rows])
            if warning is not None:
                warn(warning)
        return evaluation

    def _features(self, X: Any) -> np.ndarray:
        """Return features in the order of training."""
        if self._feature_names is not None:
            X = model_columns(X, self._feature_names)
        return as_features(X)

    def _costs(self, C: Any) -> np.ndarray:
        """Return true costs in the order of the problem or, where it has no names, of training."""
        names = self._cost_names
        if self.problem.cost_names is None and names is not None and names_of(C) is not None:
            C = with_names(columns_in_order(C, names, "C"), names)
        return costs_in_order(self.problem, C)

    def _parameters(self, X: Any, given: Any) -> Any:
        """Return the parameters that are given, or the columns of ``X`` that the problem reads."""
        return table_parameters(given_parameters(X, given, self.problem.parameters), X)


@dataclass
class Training:
    """The data and the plan of a training."""

    problem: Problem
    features: np.ndarray
    costs: np.ndarray
    plan: Mapping[str, Any]
    options: Mapping[str, Any]
    rows: Sequence[list[int]]
    """Rows for training, validation and test that have a label."""
    loss: Loss
    """The loss of the first stage, which has the labels."""

    def stage_loss(self, number: int, name: str) -> Loss:
        """Return the loss of a stage; its pool starts with the labels of the training rows."""
        if number == 0:
            return self.loss
        loss = table_loss(self.problem, self.costs, name, self.options)
        loss._start_pool(self.rows[0])
        return loss


def table_loss(problem: Problem, costs: np.ndarray, loss: Any, options: Mapping[str, Any]) -> Loss:
    """Return a loss for all rows of the table."""
    names = ("labels", "parameters", "seed", "threads")
    # The costs are in the order of the problem, which their names say.
    table = with_names(costs, problem.cost_names)
    return Loss(problem, table, loss, **{name: options[name] for name in names})


def train(
    call: TrainingCall, method: Any, predictor: Any, *, is_candidate: bool = False
) -> tuple[OwnModel, TrainingReport]:
    """Train or fit a custom predictor; called by :func:`regretless.train`."""
    problem, X, settings = call.problem, call.X, dict(call.settings)
    predictor = made_predictor(predictor, call.seed)
    is_module = is_torch_module(predictor)
    if not is_module and not (hasattr(predictor, "fit") and hasattr(predictor, "predict")):
        raise TypeError(
            "predictor is a name, a torch module, a regressor with fit and predict, or a function "
            f"that makes one of them, not {type(predictor).__name__}"
        )
    if not is_module and method is not None and str(method).strip() != "MSE":
        raise ValueError(
            f"{type(predictor).__name__} is fitted by its own fit, without a gradient of ours: "
            f"leave out method='{method}', or use a torch module or regretless.trees"
        )
    optimizer = settings.get("optimizer")
    own_optimizer = optimizer if optimizer is not None and not isinstance(optimizer, str) else None
    if own_optimizer is not None:
        del settings["optimizer"]
        ignored = [name for name in ("learning_rate", "lr_decay") if name in settings]
        if ignored:
            raise TypeError(
                f"train() got '{ignored[0]}' beside an optimizer of your own, which has its own "
                f"learning rate: leave out {ignored[0]}, or name an optimizer such as 'adam'"
            )
    plan_method = "MSE" if not is_module else method
    method = None if method is None else as_method(method)
    plan_method = None if plan_method is None else as_method(plan_method)
    check_same_rows(X, call.C)
    tables = split_tables(call.split, X, call.C)
    plan = _training_plan(
        len(tables.C),
        plan_method,
        tables.split,
        tables.times,
        call.seed,
        call.profile,
        settings,
    )
    parameters = call.parameters
    if isinstance(parameters, (list, tuple)):
        parameters = {name: np.asarray(X[name]) for name in parameters}
    options = {
        "labels": call.labels,
        "parameters": parameters,
        "seed": call.seed,
        "threads": call.solve.threads,
        "feature_names": call.feature_names,
    }
    C = tables.C
    if call.cost_names is not None:
        C = with_names(C, call.cost_names)
    features, costs = as_features(X), costs_in_order(problem, C)
    first = method if isinstance(method, OwnLoss) else plan["stages"][0]["name"]
    loss = table_loss(problem, costs, first, options)
    labeled = set(loss._labeled_rows())
    rows = [[row for row in part if row in labeled] for part in plan["split"]]
    if plan["stages"][0]["settings"]["train_on_validation"]:
        rows = [rows[0] + rows[1], [], rows[2]]
    loss._start_pool(rows[0])
    if not is_candidate:
        names = call.feature_names or names_of(X)
        loss._raise_notes(features, None if names is None else list(names), rows)
    training = Training(problem, features, costs, plan, options, rows, loss)
    started, cpu_started = time.perf_counter(), time.process_time()
    if is_module:
        run: Any = TorchTraining(training, predictor, own_optimizer)
    else:
        run = RegressorTraining(training, predictor)
    is_trained_now = any(stage["settings"]["epochs"] > 0 for stage in plan["stages"])
    if is_module and is_trained_now:
        warn_if_trained(predictor)
    rounds, solves = run.run()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    used = rows[0] + rows[1]
    model = OwnModel(
        problem,
        predictor,
        run.prediction,
        feature_names=names_of(X),
        cost_names=problem.cost_names or names_of(C),
        seen=SeenRows.of(features[used], costs[used]),
    )
    report = report_of(training, X, run, rounds, solves)
    report.update(seconds=seconds, cpu_seconds=cpu_seconds)
    if is_module and not is_candidate:
        kept = rounds[-1]
        remark = _epoch_remark(report["select"], kept["best_epoch"], kept["epochs"][-1]["epoch"])
        if remark is not None:
            warn(remark)
    few_rows = None if is_candidate else _few_rows_warning(len(rows[2]))
    if few_rows is not None:
        warn(few_rows)
    return model, TrainingReport.from_dict(report)


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
    """Warn where a module was trained before; mark it as trained."""
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
    """Return what ``auto`` found, or a predictor of the user's own with a lower validation regret.

    Called by :func:`regretless.train`. The regret of ``auto`` is that of models which were not
    trained on the row, so that both are regrets of rows not seen in training.
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
                predictor=type(own_model.predictor).__name__,
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
    training: Training, X: Any, run: Any, rounds: list[dict[str, Any]], solves: SolveCounts
) -> dict[str, Any]:
    """Return the fields of the report, without times."""
    loss, settings = training.loss, training.plan["stages"][-1]["settings"]

    def quality(rows: list[int], predictions: np.ndarray) -> Any:
        return loss._evaluate_decisions(predictions, rows) if rows else None

    train_rows, validation, test = training.rows
    mean = np.tile(training.costs[train_rows].mean(axis=0), (len(test), 1))
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
        "test": quality(test, run.prediction.predict(training.features[test])),
        "training_mean": quality(test, mean),
        "solves": solves.exact + solves.relaxed + solves.heuristic + solves.projected,
        "solves_by_kind": solves.to_dict(),
        "heuristic": None,
        "labels": loss._label_counts(),
        "select": settings["select"],
        "reproducible": settings["time_limit"] is None and settings["patience_seconds"] is None,
        "rounds": rounds,
    }


class RegressorTraining:
    """A regressor that is fitted by its own ``fit``."""

    def __init__(self, training: Training, regressor: Any) -> None:
        self.training, self.regressor = training, regressor
        self.prediction = RegressorPrediction(regressor, training.costs.shape[1])
        self.name = f"{type(regressor).__name__}.fit"

    def run(self) -> tuple[list[dict[str, Any]], SolveCounts]:
        rows, started = self.training.rows[0], time.perf_counter()
        features, costs = self.training.features[rows], self.training.costs[rows]
        if features.ndim == 3:
            features, costs = features.reshape(-1, features.shape[-1]), costs.reshape(-1)
        self.regressor.fit(features, costs)
        validation, regret = self.training.rows[1], None
        if validation:
            predictions = self.prediction.predict(self.training.features[validation])
            quality = self.training.loss._evaluate_decisions(predictions, validation)
            regret = quality["regret"]
        epoch = epoch_report(0, None, None, regret, time.perf_counter() - started)
        counts = SolveCounts.from_dict(self.training.loss._counts())
        fitted = {"method": self.name, "epochs": [epoch], "best_epoch": 0, "stopped": "epochs"}
        return [fitted], counts


class TorchTraining:
    """Epochs of gradient steps of a torch module."""

    def __init__(self, training: Training, module: Any, own_optimizer: Any) -> None:
        import torch

        self.torch, self.training, self.module = torch, training, module
        self.own_optimizer, self.name = own_optimizer, training.plan["method"]
        if next(module.parameters(), None) is None:
            raise ValueError("the module has no parameters to train")
        settings, rows = training.plan["stages"][0]["settings"], training.rows[0]
        costs = training.costs[rows]
        if training.features.ndim == 3 and settings["scale_costs"]:
            # All costs of an instance share one predictor, hence one scale.
            costs = costs.reshape(-1, 1)
        self.prediction = ModulePrediction(
            module,
            training.costs.shape[1],
            Scaler.fit(training.features[rows], settings["standardize"]),
            Scaler.fit(costs, settings["scale_costs"]),
        )

    def run(self) -> tuple[list[dict[str, Any]], SolveCounts]:
        rounds, counts = [], []
        for number, stage in enumerate(self.training.plan["stages"]):
            loss = self.training.stage_loss(number, stage["name"])
            rounds.append(self.run_stage(stage["name"], loss, stage["settings"]))
            counts.append(loss._counts())
        total = {kind: sum(count[kind] for count in counts) for kind in counts[0]}
        return rounds, SolveCounts.from_dict(total)

    def run_stage(self, name: str, loss: Loss, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Train one stage; the module has the parameters of the best epoch afterwards."""
        optimizer = self.optimizer(settings)
        self.steps, epochs = 0, []
        best_epoch, best_score, best_state = 0, None, None
        started = improved = time.perf_counter()
        stopped = "epochs"
        for epoch in range(settings["epochs"] + 1):
            training_loss = self.epoch(epoch, loss, settings, optimizer) if epoch else None
            report, score = self.score(epoch, loss, settings, training_loss)
            if score is None or best_score is None or score < best_score:
                best_epoch, best_score = epoch, score
                improved = time.perf_counter()
                if score is not None:
                    best_state = copy.deepcopy(self.module.state_dict())
            now = time.perf_counter()
            epochs.append({**report, "seconds": now - started})
            if epoch and self.is_out_of_patience(epoch - best_epoch, now - improved, settings):
                stopped = "patience"
                break
            if epoch and settings["time_limit"] and now - started >= settings["time_limit"]:
                stopped = "time-limit"
                break
        if best_state is not None:
            self.module.load_state_dict(best_state)
        return {"method": name, "epochs": epochs, "best_epoch": best_epoch, "stopped": stopped}

    def epoch(self, epoch: int, loss: Loss, settings: Mapping[str, Any], optimizer: Any) -> float:
        """Run one pass over the training rows and return the mean loss."""
        rows = self.training.rows[0]
        order = _epoch_rows(rows, settings["seed"], epoch, settings["rows_per_epoch"])
        size, total = settings["batch_size"], 0.0
        is_adam = settings["optimizer"]["kind"] == "adam"
        factor = loss._rescaling() if settings["rescale_loss"] and is_adam else 1.0
        num_steps = settings["epochs"] * -(-len(order) // size)
        self.module.train()
        for batch, start in enumerate(range(0, len(order), size)):
            chosen = order[start : start + size]
            predictions = self.prediction.forward(self.training.features[chosen])
            given = predictions.detach().cpu().double().numpy()
            if not np.isfinite(given).all():
                raise RuntimeError(
                    f"training stopped at epoch {epoch}: the module's predictions are not finite; "
                    "lower the learning rate or check the features"
                )
            values, gradients = loss.evaluate(
                given, chosen, epoch=epoch, batch=batch, training=True
            )
            total += float(values.sum())
            if settings["lr_decay"] and self.own_optimizer is None:
                remaining = max(0.0, 1.0 - self.steps / max(num_steps, 1))
                for group in optimizer.param_groups:
                    group["lr"] = settings["learning_rate"] * remaining
            optimizer.zero_grad()
            upstream = self.torch.as_tensor(gradients * (factor / len(chosen)))
            predictions.backward(upstream.to(predictions))
            optimizer.step()
            self.steps += 1
        return total / len(order)

    def score(
        self, epoch: int, loss: Loss, settings: Mapping[str, Any], training_loss: float | None
    ) -> tuple[dict[str, Any], float | None]:
        """Return the report of an epoch and what its selection minimizes."""
        rows, select = self.training.rows[1], settings["select"]
        validation_loss = regret = score = None
        if select == "validation-regret":
            predictions = self.prediction.predict(self.training.features[rows])
            score = regret = loss._evaluate_decisions(predictions, rows)["regret"]
        elif select == "validation-loss":
            predictions = self.prediction.predict(self.training.features[rows])
            score = validation_loss = float(loss.evaluate(predictions, rows)[0].mean())
        elif select == "training-loss":
            score = np.inf if training_loss is None else training_loss
        return epoch_report(epoch, training_loss, validation_loss, regret, 0.0), score

    def is_out_of_patience(self, epochs: int, seconds: float, settings: Mapping[str, Any]) -> bool:
        """Whether there was no improvement for too long."""
        patience, limit = settings["patience"], settings["patience_seconds"]
        return (patience is not None and epochs >= patience) or (
            limit is not None and seconds >= limit
        )

    def optimizer(self, settings: Mapping[str, Any]) -> Any:
        """Return the optimizer of a stage."""
        if self.own_optimizer is not None:
            is_factory = not hasattr(self.own_optimizer, "param_groups")
            return (
                self.own_optimizer(self.module.parameters()) if is_factory else self.own_optimizer
            )
        parameters, rate = self.module.parameters(), settings["learning_rate"]
        kind = dict(settings["optimizer"])
        if kind.pop("kind") == "sgd":
            return self.torch.optim.SGD(parameters, lr=rate, momentum=kind["momentum"])
        return self.torch.optim.AdamW(
            parameters,
            lr=rate,
            betas=(kind["beta1"], kind["beta2"]),
            eps=kind["epsilon"],
            weight_decay=kind["weight_decay"],
        )


@dataclass
class Scaler:
    """Numbers minus an offset, divided by a scale; fitted per column."""

    offset: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, numbers: np.ndarray, is_used: bool) -> Scaler:
        """Return the scaler to mean 0 and deviation 1, or none."""
        flat = numbers.reshape(-1, numbers.shape[-1])
        if not is_used:
            return cls(np.zeros(flat.shape[1]), np.ones(flat.shape[1]))
        scale = flat.std(axis=0)
        return cls(flat.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def apply(self, numbers: np.ndarray) -> np.ndarray:
        """Return the scaled numbers."""
        return (numbers - self.offset) / self.scale


@dataclass
class RegressorPrediction:
    """Costs predicted by a fitted regressor."""

    regressor: Any
    num_costs: int

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return predicted costs."""
        if not len(features):
            return np.empty((0, self.num_costs))
        if features.ndim == 3:
            flat = self.regressor.predict(features.reshape(-1, features.shape[-1]))
            return np.asarray(flat, dtype=np.float64).reshape(len(features), self.num_costs)
        return np.asarray(self.regressor.predict(features), dtype=np.float64)


@dataclass
class ModulePrediction:
    """Costs predicted by a torch module, with the scaling of features and costs around it."""

    module: Any
    num_costs: int
    input: Scaler
    output: Scaler

    def forward(self, features: np.ndarray) -> Any:
        """Return predicted costs as a tensor that can be differentiated."""
        import torch

        parameter = next(self.module.parameters())

        def tensor(numbers: np.ndarray) -> Any:
            return torch.as_tensor(numbers, dtype=parameter.dtype, device=parameter.device)

        output = self.module(tensor(self.input.apply(features)))
        if output.ndim == 3 and output.shape[-1] == 1:
            output = output.squeeze(-1)
        if tuple(output.shape) != (len(features), self.num_costs):
            raise ValueError(
                f"the module returns a tensor of shape {tuple(output.shape)} for {len(features)} "
                f"rows; the problem has {self.num_costs} costs: it must be "
                f"({len(features)}, {self.num_costs})"
            )
        return tensor(self.output.offset) + tensor(self.output.scale) * output

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return predicted costs with the module in evaluation mode."""
        import torch

        was_training = self.module.training
        self.module.eval()
        try:
            with torch.no_grad():
                chunks = [
                    self.forward(features[start : start + ROWS_PER_CHUNK]).double().cpu().numpy()
                    for start in range(0, len(features), ROWS_PER_CHUNK)
                ]
        finally:
            self.module.train(was_training)
        return np.concatenate(chunks) if chunks else np.empty((0, self.num_costs))


def as_features(X: Any) -> np.ndarray:
    """Return features as float64 numbers of shape (n, p) or (n, d, p)."""
    features = as_numeric_array(X, "X").astype(np.float64)
    if features.ndim > 3:
        shape = ", ".join(map(str, features.shape[1:]))
        raise ValueError(
            f"X has {features.ndim} dimensions, such as images; rows and columns are 2: give "
            "X.reshape(len(X), -1), and begin the module with "
            f"torch.nn.Unflatten(1, ({shape}))"
        )
    if features.ndim not in (2, 3):
        dimensions = "1 dimension" if features.ndim == 1 else f"{features.ndim} dimensions"
        raise ValueError(f"X has {dimensions}; rows and columns are 2")
    if not np.isfinite(features).all():
        raise ValueError("X has gaps or infinite numbers, which a predictor of your own cannot use")
    return features


def epoch_report(
    epoch: int,
    training_loss: float | None,
    validation_loss: float | None,
    validation_regret: float | None,
    seconds: float,
) -> dict[str, Any]:
    """Return the fields of an ``EpochReport``."""
    return {
        "epoch": epoch,
        "training_loss": training_loss,
        "validation_loss": validation_loss,
        "validation_regret": validation_regret,
        "seconds": seconds,
    }
