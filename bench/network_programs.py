"""Tasks of network_tasks.py as linear and mixed-integer programs, for HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from network_tasks import Task


class Rows:
    """Rows of a linear program."""

    def __init__(self) -> None:
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.columns: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.sizes: list[int] = []

    def add(self, lower: float, upper: float, columns: Any, values: Any) -> None:
        """Add a row."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.columns.append(np.asarray(columns))
        self.values.append(np.asarray(values, dtype=float))
        self.sizes.append(len(self.columns[-1]))


def highs_costs(task: Task, row: int) -> np.ndarray:
    """Return the costs of the columns, to be minimized."""
    costs = task.costs[row]
    if task.kind == "multiple_choice_knapsack":
        return -costs
    if task.kind == "storage":
        # Buy, sell, level, and whether the step charges.
        return np.concatenate([costs, -costs, np.zeros(2 * len(costs))])
    return costs


def highs_model(task: Task) -> tuple[np.ndarray, np.ndarray, Rows]:
    """Return bounds of the columns, which of them are integer, and the rows."""
    numbers, rows = task.numbers, Rows()
    infinity = float("inf")
    if task.kind == "graph_path":
        arcs, nodes = numbers["arcs"], numbers["nodes"]
        leaving, entering = (np.argsort(arcs[:, side], kind="stable") for side in (0, 1))
        starts = [
            np.searchsorted(arcs[order, side], np.arange(nodes + 1))
            for side, order in ((0, leaving), (1, entering))
        ]
        for node in range(nodes):
            out = leaving[starts[0][node] : starts[0][node + 1]]
            into = entering[starts[1][node] : starts[1][node + 1]]
            signs = np.concatenate([np.ones(len(out)), -np.ones(len(into))])
            rows.add(0.0, 0.0, np.concatenate([out, into]), signs)
        return np.tile([0.0, 1.0], (len(arcs), 1)), np.zeros(len(arcs), dtype=bool), rows
    if task.kind == "multiple_choice_knapsack":
        weights = numbers["weights"]
        groups, per_group = weights.shape
        for group in range(groups):
            columns = np.arange(group * per_group, (group + 1) * per_group)
            rows.add(1.0, 1.0, columns, np.ones(per_group))
        rows.add(-infinity, numbers["capacity"], np.arange(weights.size), weights.ravel())
        return np.tile([0.0, 1.0], (weights.size, 1)), np.ones(weights.size, dtype=bool), rows
    steps = numbers["steps"]
    buy, sell, level, charges = (np.arange(steps) + block * steps for block in range(4))
    for step in range(steps):
        columns = [level[step], buy[step], sell[step]]
        values = [1.0, -numbers["charge_efficiency"], 1.0 / numbers["discharge_efficiency"]]
        before = numbers["initial"] if step == 0 else 0.0
        if step > 0:
            columns.append(level[step - 1])
            values.append(-1.0)
        rows.add(before, before, columns, values)
        rows.add(-infinity, 0.0, [buy[step], charges[step]], [1.0, -numbers["charge_limit"]])
        limit = numbers["discharge_limit"]
        rows.add(-infinity, limit, [sell[step], charges[step]], [1.0, limit])
    bounds = np.zeros((4 * steps, 2))
    for block, limit in ((buy, "charge_limit"), (sell, "discharge_limit"), (level, "capacity")):
        bounds[block, 1] = numbers[limit]
    bounds[charges, 1] = 1.0
    bounds[level[-1], 0] = numbers["initial"]
    integer = np.zeros(4 * steps, dtype=bool)
    integer[charges] = True
    return bounds, integer, rows
