"""Conversion between PyEPO's optimization models and problems of this package.

``from_pyepo(model)`` recognizes PyEPO's own shortest path, knapsack, TSP and CVRP models, and reads
linear models of Gurobi, Pyomo and OR-Tools, also those of PyEPO's modeling language
(``pyepo.dsl``), as a matrix with all their constraints; both are solved by the built-in solvers,
without a license.
Any other model is called through its own ``setObj`` and ``solve``, one call at a time, with a
warning that says why. ``as_pyepo(problem)`` is an ``optModel`` for ``optDataset``,
``SPOPlus`` and the rest of PyEPO, with ``addConstr``, ``relax`` and the attributes of PyEPO's own
models. ``shortestPathModel``, ``knapsackModel``, ``tspModel`` and ``vrpModel`` of this module take
the arguments of PyEPO's classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regretless import Problem
from regretless._user_warnings import warn

if TYPE_CHECKING:
    from pyepo.model.opt import optModel

__all__ = ["as_pyepo", "from_pyepo"]

MODEL_CLASSES = ("shortestPathModel", "knapsackModel", "tspModel", "vrpModel")
"""Classes that need PyEPO and are imported when they are first used."""

GUROBI_INTERRUPTED = 11
"""Gurobi's status after Ctrl-C, which Gurobi handles instead of Python."""


def from_pyepo(model: optModel, *, thread_safe: bool = False) -> Problem:
    """Return the problem of a PyEPO model.

    Parameters
    ----------
    model : pyepo.model.opt.optModel
        The model; it is copied if it has to be called.
    thread_safe : bool, default False
        Whether several threads may call the model's ``setObj`` and ``solve`` at the same time.
        Only for models that are called; few solvers allow it.

    Returns
    -------
    regretless.Problem
        A built-in problem, a linear problem, or one that calls the model.

    Warns
    -----
    UserWarning
        If the model has no matrix that can be read and is called row by row; with the reason.
    """
    from regretless.pyepo._matrix import NoMatrix, linear_problem
    from regretless.pyepo._model import SolvedModel, problem_of

    if isinstance(model, SolvedModel):
        return problem_of(model)
    known = recognize(model)
    if known is not None:
        return known
    try:
        return linear_problem(model)
    except NoMatrix as reason:
        warn(
            f"the PyEPO model becomes a Python function, which is called for every row and is "
            f"slower than PyEPO itself, since no matrix can be read from it: {reason}. If the "
            "solver's model inside is linear, give that to Problem.from_gurobipy, from_pyomo or "
            "from_ortools with the variables whose costs are predicted"
        )
        return wrap_solver(model, thread_safe)


def recognize(model: optModel) -> Problem | None:
    """Return the built-in problem that equals a PyEPO model, if there is one."""
    from pyepo.model import bases

    if not is_unmodified(model):
        return None
    if isinstance(model, bases.shortestPathBase):
        return Problem({"kind": "grid_path", "grid": list(model.grid)})
    if isinstance(model, bases.knapsackBase):
        from regretless.pyepo._model import knapsack_problem

        return knapsack_problem(model.weights, model.capacity)
    if isinstance(model, bases.tspABBase):
        return Problem({"kind": "tsp", "nodes": int(model.num_nodes)})
    if isinstance(model, bases.vrpABBase):
        return Problem(
            {
                "kind": "cvrp",
                "demands": [float(demand) for demand in model.demands],
                "capacity": float(model.capacity),
                "vehicles": int(model.num_vehicle),
            }
        )
    return None


def is_unmodified(model: optModel) -> bool:
    """Return whether a model is PyEPO's own, without the user's constraints or methods."""
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
    # The user may have changed the inner Gurobi model: compare it with a new one, both without
    # an objective.
    copies = [model.copy(), kind(**model.get_config())]
    for copy in copies:
        copy.setObj(np.zeros(model.num_cost))
        copy._model.update()
    return copies[0]._model.Fingerprint == copies[1]._model.Fingerprint


def is_gurobi(model: optModel) -> bool:
    """Return whether a PyEPO model is solved by Gurobi."""
    try:
        from pyepo.model.grb.grbmodel import optGrbModel
    except ImportError:
        return False
    return isinstance(model, optGrbModel)


def wrap_solver(model: optModel, thread_safe: bool) -> Problem:
    """Return a problem whose solver calls go to a copy of the model."""
    from regretless.pyepo._matrix import solution_of

    own = model.copy()
    gurobi = is_gurobi(model)

    def solve(costs: np.ndarray) -> tuple[np.ndarray, float]:
        own.setObj(costs)
        solution = solution_of(own)
        if gurobi and own._model.Status == GUROBI_INTERRUPTED:
            raise KeyboardInterrupt
        return solution

    return Problem.from_solver(
        solve,
        model.num_cost,
        sense="maximize" if int(model.modelSense) == -1 else "minimize",
        thread_safe=thread_safe,
    )


def as_pyepo(problem: Problem) -> Any:
    """Return a PyEPO model that is solved by this package. Needs PyEPO.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.

    Returns
    -------
    pyepo.model.opt.optModel
        It copies; if the problem is not a Python function it pickles too, and so works in PyEPO's
        process pool. Paths, knapsacks, tours and routes have the attributes of PyEPO's models of
        them (``grid``, ``arcs``, ``weights``, ``capacity``, ``num_nodes``, ``edges``, ``getTour``
        and so on).

    Raises
    ------
    ValueError
        If the problem has parameters per row or known costs: PyEPO's models have one feasible set
        for all instances.

    Notes
    -----
    ``addConstr`` and ``relax`` return new models, which are solved as linear ones; with a further
    constraint decisions stay integral, also those of paths. Python functions, and linear problems
    in a file, have neither. ``optDatasetConstrs`` reads the binding constraints of all problems
    whose columns all have predicted costs; it imports ``gurobipy``, without a license.

    If a linear problem has known costs of columns that are not predicted, decisions hold all its
    columns, and ``c_pred_index`` those with predicted costs, as in PyEPO's own models with partly
    predicted costs.
    """
    if problem._predicts_quantities:
        raise ValueError("losses of PyEPO are about costs, and the problem predicts quantities")
    from regretless.pyepo._model import as_model

    return as_model(problem)


def __getattr__(name: str) -> Any:
    if name in MODEL_CLASSES:
        from regretless.pyepo import _model

        return getattr(_model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
