"""The way from PyEPO and back: its optimisation models as our problems, our problems as its models.

``from_pyepo(model)`` recognises PyEPO's own shortest path, knapsack and tour, and takes over linear Gurobi models
(``optGrbModel``) as a matrix with all their constraints; both are solved with the engines built in here, without a licence. Any
other model is called through its own ``setObj`` and ``solve``, one call at a time. ``as_pyepo(problem)`` is an ``optModel``, to be
given to ``optDataset``, ``SPOPlus`` and the rest of PyEPO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regretless import Problem

if TYPE_CHECKING:
    from pyepo.model.opt import optModel

__all__ = ["as_pyepo", "from_pyepo"]


def from_pyepo(model: optModel, *, thread_safe: bool = False) -> Problem:
    """Our problem for one of PyEPO's models.

    ``thread_safe`` says that several threads may call the model's ``setObj`` and ``solve`` at the same time. It counts only for
    models that are called; hardly any solver's model allows it.
    """
    return recognised(model) or linear(model) or called(model, thread_safe)


def recognised(model: optModel) -> Problem | None:
    """The problem built in here that a model of PyEPO is, if there is one."""
    from pyepo.model import bases

    if not is_as_pyepo_made_it(model):
        return None
    if isinstance(model, bases.shortestPathBase):
        return Problem({"kind": "grid_path", "grid": list(model.grid)})
    if isinstance(model, bases.knapsackBase):
        weights, capacity = (
            np.asarray(model.weights, dtype=float),
            np.asarray(model.capacity, dtype=float),
        )
        return Problem(
            {"kind": "knapsack", "weights": weights.tolist(), "capacity": capacity.tolist()}
        )
    if isinstance(model, bases.tspABBase):
        return Problem({"kind": "tsp", "nodes": int(model.num_nodes)})
    return None


def is_as_pyepo_made_it(model: optModel) -> bool:
    """Whether a model is a whole one of PyEPO's, without constraints, bounds or methods of the user's own."""
    kind = type(model)
    own_methods = [
        name
        for name in ("_getModel", "setObj", "solve")
        if not getattr(kind, name).__module__.startswith("pyepo.")
    ]
    if own_methods or getattr(model, "_extra_constrs", None) or kind.__name__.endswith("Rel"):
        return False
    if not is_gurobi(model):
        return True
    # The user may have changed the Gurobi model inside: compare it with one made afresh, both without an objective.
    twins = [model.copy(), kind(**model.get_config())]
    for twin in twins:
        twin.setObj(np.zeros(model.num_cost))
        twin._model.update()
    return twins[0]._model.Fingerprint == twins[1]._model.Fingerprint


def is_gurobi(model: optModel) -> bool:
    """Whether a model of PyEPO is solved by Gurobi."""
    try:
        from pyepo.model.grb.grbmodel import optGrbModel
    except ImportError:
        return False
    return isinstance(model, optGrbModel)


def linear(model: optModel) -> Problem | None:
    """A linear Gurobi model as a matrix; nothing where the model is another one, or does more than set costs and solve."""
    if not is_gurobi(model):
        return None
    from pyepo.model.grb.grbmodel import optGrbModel

    from regretless.problems import from_gurobipy

    kind = type(model)
    plain = kind.setObj is optGrbModel.setObj and kind.solve is optGrbModel.solve
    variables = model.x.tolist() if hasattr(model.x, "tolist") else list(model.x.values())
    model._model.update()
    # A constant belongs to the objective that a matrix of costs does not have.
    if (
        not plain
        or model._model.ObjCon != 0
        or any(isinstance(variable, list) for variable in variables)
    ):
        return None
    if len({variable.index for variable in variables}) != model.num_cost:
        return None
    try:
        return from_gurobipy(model._model, costs=variables)
    except ValueError:
        return None


INTERRUPTED = 11
"""Gurobi's status of a solve that Ctrl-C ended; it hears the signal instead of Python."""


def called(model: optModel, thread_safe: bool) -> Problem:
    """A problem whose solver calls go to a copy of the model."""
    own = model.copy()
    gurobi = is_gurobi(model)

    def solve(cost: np.ndarray) -> tuple[np.ndarray, float]:
        own.setObj(cost)
        decision, objective = own.solve()
        if gurobi and own._model.Status == INTERRUPTED:
            raise KeyboardInterrupt
        return np.asarray(decision, dtype=np.float64), float(objective)

    sense = "maximize" if int(model.modelSense) == -1 else "minimize"
    return Problem.from_callable(solve, model.num_cost, sense=sense, thread_safe=thread_safe)


def as_pyepo(problem: Problem) -> optModel:
    """One of PyEPO's models that is solved here. Needs PyEPO."""
    from regretless._pyepo_model import RegretlessModel

    return RegretlessModel(problem)
