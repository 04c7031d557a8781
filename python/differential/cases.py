"""A case: a problem, a table of rows, and what the references say of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import networks, programs, selections
from .column_cases import ColumnCase
from .drawing import COST_STYLES, Draw, draw_costs, draw_predictions
from .kinds import Drawn
from .references import FEASIBLE, Best

INTERFACES = ("python", "command line")

# How often each kind is drawn, and how many rows and scenarios its reference can take quickly.
KINDS = {
    "top_k": (selections.draw_top_k, 3, 300, 6),
    "knapsack": (selections.draw_knapsack, 3, 300, 6),
    "multiple_choice_knapsack": (selections.draw_multiple_choice, 3, 300, 6),
    "assignment": (selections.draw_assignment, 3, 300, 6),
    "function": (selections.draw_function, 1, 300, 6),
    "grid_path": (networks.draw_grid_path, 3, 300, 6),
    "graph_path": (networks.draw_graph_path, 3, 300, 5),
    "spanning_tree": (networks.draw_spanning_tree, 3, 300, 6),
    "tsp": (networks.draw_tsp, 3, 300, 4),
    "cvrp": (networks.draw_cvrp, 1, 80, 4),
    "min_cost_flow": (programs.draw_min_cost_flow, 4, 300, 60),
    "transport": (programs.draw_transport, 3, 300, 40),
    "storage": (programs.draw_storage, 2, 200, 12),
    "linear": (programs.draw_linear, 3, 200, 20),
    "schedule": (programs.draw_schedule, 1, 60, 3),
    "columns": (None, 1, 200, 1),
}

# Relative to the largest term of an objective. The program computes in double precision, but stored
# labels have decisions in single precision; the linear programs of the reference are exact to about
# 1e-9.
TOLERANCE = 4e-7


@dataclass
class Case:
    """A problem, its rows, and the answers of the references."""

    seed: int
    number: int
    kind: str
    interface: str
    drawn: Drawn
    draw: Draw
    costs: np.ndarray
    predictions: np.ndarray
    known: np.ndarray
    """The known part of costs, 0 where there is none."""
    style: str
    best: Best
    rng: Any = field(repr=False)

    @property
    def rows(self):
        return len(self.costs)

    @property
    def sign(self):
        return self.drawn.sign

    def totals(self, costs):
        """Costs to be minimized, with their known part."""
        return self.sign * (costs + self.known)

    def scale(self, costs, decisions=None):
        """The largest term of each row's objective."""
        size = np.abs(np.nan_to_num(costs + self.known)).max(axis=1, initial=0.0)
        most = 1.0
        if decisions is not None:
            most = np.maximum(1.0, np.abs(np.nan_to_num(decisions)).sum(axis=1))
        return np.maximum(size * most, np.finfo(float).tiny)


def draw_case(seed, number, kind=None, interface=None):
    """Draw a case from its seed and number; ``kind`` and ``interface`` restrict it."""
    rng = np.random.default_rng([seed, number])
    names = list(KINDS)
    weights = np.array([KINDS[name][1] for name in names], dtype=float)
    drawn_kind = names[rng.choice(len(names), p=weights / weights.sum())]
    drawn_interface = INTERFACES[int(rng.random() < 0.25)]
    kind, interface = kind or drawn_kind, interface or drawn_interface
    if kind == "function":
        # A function is known to its process only.
        interface = "python"
    if kind == "columns":
        return ColumnCase(seed, number, interface, rng)
    function, _, most_rows, most_scenarios = KINDS[kind]
    rows = int(rng.integers(30, most_rows + 1))
    scenarios = 1 if rng.random() < 0.35 else int(rng.integers(2, most_scenarios + 1))
    while True:
        draw = Draw(rng, rows, min(scenarios, rows))
        drawn = function(draw)
        style = str(rng.choice(COST_STYLES))
        costs = draw_costs(draw, rows, drawn.width, style)
        predictions = draw_predictions(draw, costs)
        known = draw_known(draw, drawn, costs)
        case = Case(
            seed, number, kind, interface, drawn, draw, costs, predictions, known, style, None, rng
        )
        absent = None if drawn.present is None else drawn.present == 0
        if absent is not None and absent.any():
            costs[absent] = predictions[absent] = 0.0
        case.best = drawn.reference.best(case.totals(costs))
        # A table without any decision is refused as a whole.
        if (case.best.statuses == FEASIBLE).sum() >= 2:
            break
    return case


def draw_known(draw, drawn, costs):
    """The known part of costs: numbers of the problem, or columns of the table."""
    kind = drawn.spec["kind"]
    if not draw.chance(0.2) or kind in ("function", "linear_arrays"):
        return np.zeros_like(costs)
    size = np.abs(costs).max(initial=0.0) or 1.0
    if draw.chance(0.5):
        known = (draw.rng.uniform(-0.5, 0.5, size=drawn.width) * size).round(3)
        drawn.spec["known"] = known.tolist()
        return np.tile(known, (draw.rows, 1))
    known = (draw.rng.uniform(-0.5, 0.5, size=costs.shape) * size).round(3)
    factor = draw.one_of(1.0, -1.0, 0.5)
    names = drawn.names or [f"{item:02}" for item in range(drawn.width)]
    for item, name in enumerate(names):
        draw.parameters[f"fee_{name}"] = known[:, item]
    drawn.spec["known"] = {"columns": "fee_*"}
    if factor != 1.0:
        drawn.spec["known"]["factor"] = factor
    return factor * known
