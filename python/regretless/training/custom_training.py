"""The data and the plan of a training of a custom predictor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regretless.losses.loss import Loss
from regretless.solving.problem import Problem
from regretless.tables.names import with_names
from regretless.training.observed_costs import mean_costs, unobserved_costs

__all__ = ["Training", "epoch_report", "table_loss"]


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
    cost_names: list[str] | None
    """Names of the columns of the costs."""
    observed: np.ndarray
    """The costs; NaN where they do not exist."""
    times: list[str] | None
    """The time of every row, if the split is by time."""

    @cached_property
    def unobserved(self) -> list[int]:
        """The costs that no training row has: they have no prediction."""
        names = self.problem.cost_names or self.cost_names
        # Without names, a position of a long table is another item in every row.
        if self.features.ndim == 3 and names is None:
            return []
        return unobserved_costs(self.observed[self.rows[0]])

    def mean_costs(self) -> np.ndarray:
        """Return the mean costs of the training rows."""
        names = self.problem.cost_names or self.cost_names
        is_long = self.features.ndim == 3
        return mean_costs(self.observed[self.rows[0]], is_long=is_long, has_names=names is not None)

    def names_of_costs(self, costs: Sequence[int]) -> str:
        """Return the names of some costs for messages."""
        names = self.problem.cost_names or self.cost_names
        shown = [f"c{cost}" if names is None else names[cost] for cost in costs[:5]]
        return ", ".join([*shown, "…"] if len(costs) > 5 else shown)

    def evaluate(
        self, predictions: np.ndarray, rows: Sequence[int], *, are_test_rows: bool = False
    ) -> dict[str, Any]:
        """Return the fields of the evaluation of decisions under predictions of some rows.

        Where `are_test_rows` is true, notes about the regret are raised.
        """
        return self.loss._evaluate_decisions(
            predictions, rows, leaves_out=bool(self.unobserved), are_test_rows=are_test_rows
        )

    def stage_loss(self, number: int, name: str) -> Loss:
        """Return the loss of a stage; its pool starts with the labels of the training rows."""
        if number == 0:
            return self.loss
        loss = table_loss(self.problem, self.costs, name, self.options, self.cost_names)
        loss._start_pool(self.rows[0])
        return loss


def table_loss(
    problem: Problem,
    costs: np.ndarray,
    loss: Any,
    options: Mapping[str, Any],
    cost_names: list[str] | None,
) -> Loss:
    """Return a loss for all rows of the table, whose costs have names for notes."""
    names = ("labels", "parameters", "seed", "threads")
    # The costs are in the order of the problem, which their names say.
    table = with_names(costs, problem.cost_names or cost_names)
    return Loss(problem, table, loss, **{name: options[name] for name in names})


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
