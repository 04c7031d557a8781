"""Training of torch modules by the losses of the compiled module."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless._core import _epoch_rows
from regretless.losses.loss import Loss
from regretless.results.reports import SolveCounts
from regretless.training.custom_training import Training, epoch_report
from regretless.training.observed_costs import (
    deviations_of_costs,
    mean_costs,
    without_unobserved,
)
from regretless.training.python_loop import StepScore, StoppingRule, TrainingLoop

__all__ = ["ModulePrediction", "TorchTraining"]

ROWS_PER_CHUNK = 1024
"""Rows predicted at a time outside gradient steps."""


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
        scale = deviations_of_costs(flat)
        # A cost that no row has is not scaled.
        offset = np.nan_to_num(mean_costs(flat, is_long=False, has_names=False))
        return cls(offset, np.where(scale > 0, scale, 1.0))

    def apply(self, numbers: np.ndarray) -> np.ndarray:
        """Return the scaled numbers."""
        return (numbers - self.offset) / self.scale


@dataclass
class ModulePrediction:
    """Costs predicted by a torch module, with the scaling of features and costs around it."""

    module: Any
    num_costs: int
    input: Scaler
    output: Scaler
    unobserved: Sequence[int]
    """Costs that no training row has."""

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
        """Return predicted costs; NaN for those that no training row has."""
        return without_unobserved(self.outputs(features), self.unobserved)

    def outputs(self, features: np.ndarray) -> np.ndarray:
        """Return predictions of all costs with the module in evaluation mode."""
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


class TorchTraining:
    """Epochs of gradient steps of a torch module."""

    def __init__(self, training: Training, module: Any, own_optimizer: Any) -> None:
        import torch

        self.torch, self.training, self.module = torch, training, module
        self.own_optimizer, self.name = own_optimizer, training.plan["method"]
        if next(module.parameters(), None) is None:
            raise ValueError("the module has no parameters to train")
        settings, rows = training.plan["stages"][0]["settings"], training.rows[0]
        costs = training.observed[rows]
        if training.features.ndim == 3 and settings["scale_costs"]:
            # All costs of an instance share one predictor, hence one scale.
            costs = costs.reshape(-1, 1)
        self.prediction = ModulePrediction(
            module,
            training.costs.shape[1],
            Scaler.fit(training.features[rows], settings["standardize"]),
            Scaler.fit(costs, settings["scale_costs"]),
            training.unobserved,
        )

    def run(self) -> tuple[list[dict[str, Any]], SolveCounts]:
        """Train all stages; return the rounds of the report and the solver calls."""
        rounds, counts = [], []
        for number, stage in enumerate(self.training.plan["stages"]):
            loss = self.training.stage_loss(number, stage["name"])
            rounds.append(self.run_stage(stage["name"], loss, stage["settings"]))
            counts.append(loss._counts())
        total = {kind: sum(count[kind] for count in counts) for kind in counts[0]}
        return rounds, SolveCounts.from_dict(total)

    def run_stage(self, name: str, loss: Loss, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Train one stage; the module has the parameters of the best epoch afterwards."""
        rule = StoppingRule(
            steps=settings["epochs"],
            patience=settings["patience"],
            patience_seconds=settings["patience_seconds"],
            time_limit=settings["time_limit"],
        )
        stage = TorchStage(self, loss, settings, self.optimizer(settings))
        loop = TrainingLoop(stage, rule)
        stopped = loop.run()
        if stage.best_state is not None:
            self.module.load_state_dict(stage.best_state)
        epochs = [{**step.details, "seconds": step.seconds} for step in loop.steps]
        return {"method": name, "epochs": epochs, "best_epoch": loop.best, "stopped": stopped}

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


class TorchStage:
    """One stage of a training, the adapter of :class:`TrainingLoop`: its steps are epochs."""

    def __init__(
        self, torch_training: TorchTraining, loss: Loss, settings: Mapping[str, Any], optimizer: Any
    ) -> None:
        self.owner, self.training = torch_training, torch_training.training
        self.prediction, self.module = torch_training.prediction, torch_training.module
        self.loss, self.settings, self.optimizer = loss, settings, optimizer
        self.gradient_steps = 0
        self.training_loss: float | None = None
        self.best_state: Any = None

    def step(self, number: int) -> None:
        """Run one pass over the training rows."""
        settings = self.settings
        order = _epoch_rows(
            self.training.rows[0], settings["seed"], number, settings["rows_per_epoch"]
        )
        size, total = settings["batch_size"], 0.0
        num_steps = settings["epochs"] * -(-len(order) // size)
        self.module.train()
        for batch, start in enumerate(range(0, len(order), size)):
            chosen = order[start : start + size]
            self.decay_learning_rate(num_steps)
            total += self.gradient_step(number, batch, chosen)
            self.gradient_steps += 1
        self.training_loss = total / len(order)

    def gradient_step(self, epoch: int, batch: int, chosen: list[int]) -> float:
        """Train on the rows of a batch and return the sum of their losses."""
        predictions = self.prediction.forward(self.training.features[chosen])
        given = predictions.detach().cpu().double().numpy()
        if not np.isfinite(given).all():
            raise RuntimeError(
                f"training stopped at epoch {epoch}: the module's predictions are not finite; "
                "lower the learning rate or check the features"
            )
        values, gradients = self.loss.evaluate(
            given, chosen, epoch=epoch, batch=batch, training=True
        )
        is_adam = self.settings["optimizer"]["kind"] == "adam"
        factor = self.loss._rescaling() if self.settings["rescale_loss"] and is_adam else 1.0
        self.optimizer.zero_grad()
        upstream = self.owner.torch.as_tensor(gradients * (factor / len(chosen)))
        predictions.backward(upstream.to(predictions))
        self.optimizer.step()
        return float(values.sum())

    def decay_learning_rate(self, num_steps: int) -> None:
        """Lower the learning rate linearly, if the settings say so."""
        if not self.settings["lr_decay"] or self.owner.own_optimizer is not None:
            return
        remaining = max(0.0, 1.0 - self.gradient_steps / max(num_steps, 1))
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings["learning_rate"] * remaining

    def score(self, number: int) -> StepScore:
        """Return the report of an epoch and what its selection minimizes."""
        rows, select = self.training.rows[1], self.settings["select"]
        validation_loss = regret = score = None
        if select == "validation-regret":
            predictions = self.prediction.predict(self.training.features[rows])
            score = regret = self.training.evaluate(predictions, rows)["regret"]
        elif select == "validation-loss":
            predictions = self.prediction.outputs(self.training.features[rows])
            score = validation_loss = float(self.loss.evaluate(predictions, rows)[0].mean())
        elif select == "training-loss":
            score = np.inf if self.training_loss is None else self.training_loss
        details = epoch_report(number, self.training_loss, validation_loss, regret, 0.0)
        return StepScore(score, details)

    def keep(self, number: int) -> None:
        """Copy the parameters of the module."""
        self.best_state = copy.deepcopy(self.module.state_dict())
