"""The way from PyEPO and back: its optimisation models as our problems, our problems as its models.

``from_pyepo(model)`` recognises its shortest path, knapsack and tour and solves them with the engines built in here,
without a licence; any other model is asked through its own ``setObj`` and ``solve``. ``as_pyepo(problem)`` is an
``optModel``, to be given to ``optDataset``, ``SPOPlus`` and the rest of PyEPO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regretless import Problem

if TYPE_CHECKING:
    from pyepo.model.opt import optModel

__all__ = ["as_pyepo", "from_pyepo"]


def from_pyepo(model: optModel) -> Problem:
    """Our problem for one of PyEPO's models."""
    plain = not getattr(model, "_extra_constrs", None) and not type(model).__name__.endswith("Rel")
    return (recognised(model) if plain else None) or asked(model)


def recognised(model: optModel) -> Problem | None:
    """The problem built in here that a model of PyEPO is, if there is one."""
    from pyepo.model import bases

    if isinstance(model, bases.shortestPathBase):
        return Problem({"kind": "shortest_path", "grid": list(model.grid)})
    if isinstance(model, bases.knapsackBase):
        weights, capacity = np.asarray(model.weights, dtype=float), np.asarray(model.capacity, dtype=float)
        return Problem({"kind": "knapsack", "weights": weights.tolist(), "capacity": capacity.tolist()})
    if isinstance(model, bases.tspABBase):
        return Problem({"kind": "tsp", "nodes": int(model.num_nodes)})
    return None


def asked(model: optModel) -> Problem:
    """A problem that has every question answered by a copy of the model."""
    own = model.copy()

    def solve(cost: np.ndarray) -> tuple[np.ndarray, float]:
        own.setObj(np.asarray(cost, dtype=np.float32))
        decision, objective = own.solve()
        return np.asarray(decision, dtype=np.float64), float(objective)

    sense = "maximize" if int(model.modelSense) == -1 else "minimize"
    return Problem.from_callable(solve, model.num_cost, sense=sense)


def as_pyepo(problem: Problem) -> optModel:
    """One of PyEPO's models that is solved here. Needs PyEPO."""
    from regretless._pyepo_model import RegretlessModel

    return RegretlessModel(problem)
