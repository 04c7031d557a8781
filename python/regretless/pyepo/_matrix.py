"""Linear problems from the solver models inside PyEPO's models.

PyEPO keeps a model of Gurobi, Pyomo or OR-Tools, whose coefficients can be read. Matrices of models
that were written in PyEPO's modeling language (``pyepo.dsl``), and those of Pyomo and OR-Tools, are
used only after a few cost vectors have the same optimum in PyEPO and here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from regretless import Problem

METHODS_OF_PYEPO = ("setObj", "solve", "_write_obj", "_read_sol", "_setFullObj")
"""Methods that a class may not replace: the problem is then more than its matrix."""

COMPARED_COST_VECTORS = 4
"""Cost vectors that are solved in PyEPO and here. Untuned: a coefficient or column in the wrong
place changes the optimum of nearly every one."""

OBJECTIVE_TOLERANCE = 2e-4
"""Relative difference of two optima: both solvers may stop at a gap of 1e-4."""


class NoMatrix(Exception):
    """Why a model has no matrix that can be read."""


def linear_problem(model: Any) -> Problem:
    """Return the linear problem inside a PyEPO model.

    Raises
    ------
    NoMatrix
        With the reason, if there is none.
    """
    kind = type(model)
    for name in METHODS_OF_PYEPO:
        method = getattr(kind, name, None)
        if method is not None and not method.__module__.startswith("pyepo."):
            raise NoMatrix(f"{kind.__name__} has a method {name} of its own")
    base, read = solver_of(kind)
    own = model.copy()
    if is_written_in_dsl(own):
        return checked(read(own, dsl_variables(own)), model)
    if kind.setObj is not base.setObj or kind.solve is not base.solve:
        raise NoMatrix(f"{kind.__name__} does more than set costs and solve")
    problem = read(own, variables_of(own))
    # Gurobi's coefficients and costs are those of the variables alone; solves take licenses.
    return problem if read is read_gurobi else checked(problem, model)


def solver_of(kind: type[Any]) -> tuple[type[Any], Callable[[Any, list[Any]], Problem]]:
    """Return PyEPO's base class of models of one solver, and the function that reads its models."""
    readers = {
        "optGrbModel": read_gurobi,
        "optOmoModel": read_pyomo,
        "optOrtModel": read_ortools,
    }
    for base in kind.__mro__:
        if base.__module__.startswith("pyepo.") and base.__name__ in readers:
            return base, readers[base.__name__]
    raise NoMatrix(f"{kind.__name__} has no model of Gurobi, Pyomo or OR-Tools (MPSolver) inside")


def is_written_in_dsl(model: Any) -> bool:
    """Return whether a model was compiled from PyEPO's modeling language."""
    return any(kind.__name__ == "compiledBase" for kind in type(model).__mro__)


def variables_of(model: Any) -> list[Any]:
    """Return the variables in the order of the predicted costs.

    Raises
    ------
    NoMatrix
        If a cost belongs to several variables, or to none.
    """
    inside = model.x
    found = inside.tolist() if hasattr(inside, "tolist") else list(inside.values())
    if any(isinstance(variable, list) for variable in found) or len(found) != model.num_cost:
        raise NoMatrix(f"{model.num_cost} costs belong to {len(found)} variables or arrays of them")
    return found


def dsl_variables(model: Any) -> list[Any]:
    """Return the variables with predicted costs, after other parts of the objective are set.

    Raises
    ------
    NoMatrix
        If the objective is not linear, or a variable has a known and a predicted cost.
    """
    source = model.problem
    predicted = np.asarray(source.c_pred_index)
    if source.obj_Q is not None:
        raise NoMatrix("its objective has quadratic terms")
    if len(set(predicted.tolist())) != len(predicted):
        raise NoMatrix("two of its costs belong to one variable")
    if np.asarray(source.fixed_cost)[predicted].any():
        raise NoMatrix("a variable with a predicted cost has a known cost too")
    # Known costs of the other variables become coefficients of the solver's model.
    model.setObj(np.zeros(model.num_cost))
    inside = model.x
    found = inside.tolist() if hasattr(inside, "tolist") else list(inside.values())
    return [found[position] for position in predicted]


def constant_of(model: Any) -> float:
    """Return the constant that PyEPO adds to the objective of the solver's model."""
    return float(model.problem.obj_offset) if is_written_in_dsl(model) else 0.0


def read_gurobi(model: Any, variables: list[Any]) -> Problem:
    """Read a Gurobi model."""
    inner = model._model
    inner.update()
    if inner.ObjCon != 0:
        # PyEPO drops it, from_gurobipy keeps it.
        raise NoMatrix("its objective has a constant")
    if len({variable.index for variable in variables}) != model.num_cost:
        raise NoMatrix("two of its costs belong to one variable")
    inner.ObjCon = constant_of(model)
    inner.update()
    return read_with("from_gurobipy", inner, variables)


def read_pyomo(model: Any, variables: list[Any]) -> Problem:
    """Read a Pyomo model."""
    inner = model._model
    inner.obj.expr = inner.obj.expr + constant_of(model)
    return read_with("from_pyomo", inner, variables)


def read_ortools(model: Any, variables: list[Any]) -> Problem:
    """Read a model of OR-Tools' MPSolver."""
    inner = model._model
    objective = inner.Objective()
    objective.SetOffset(objective.offset() + constant_of(model))
    return read_with("from_ortools", inner, variables)


def read_with(adapter: str, inner: Any, variables: list[Any]) -> Problem:
    """Read a model by an adapter of this package."""
    from regretless import problems

    try:
        return getattr(problems, adapter)(inner, costs=variables)
    except (ValueError, ImportError) as error:
        raise NoMatrix(str(error)) from error


def checked(problem: Problem, model: Any) -> Problem:
    """Return the problem if it has the optima that PyEPO finds.

    Raises
    ------
    NoMatrix
        If an optimum differs, or PyEPO cannot solve its model.
    """
    own = model.copy()
    random = np.random.default_rng(0)
    for number in range(COMPARED_COST_VECTORS):
        # Costs of both signs, and positive ones, under which more problems are bounded.
        sign = -1.0 if number % 2 else 1.0
        costs = random.uniform(min(sign, 0.1), 1.0, size=model.num_cost)
        expected, message = optimum_of_pyepo(own, costs)
        found = optimum_here(problem, costs)
        if expected is None and number == 0:
            raise NoMatrix(f"PyEPO does not solve it: {message}")
        if (expected is None) != (found is None) or (
            expected is not None and found is not None and not agree(expected, found, costs)
        ):
            raise NoMatrix("its matrix has another optimum than PyEPO finds")
    return problem


Optimum = tuple[np.ndarray, float]
"""The values of the variables with predicted costs, and the objective."""


def optimum_of_pyepo(model: Any, costs: np.ndarray) -> tuple[Optimum | None, str]:
    """Return what PyEPO finds, or no optimum and the reason."""
    try:
        model.setObj(costs)
        return solution_of(model), ""
    except Exception as error:
        # Each solver has exceptions of its own.
        return None, str(error)


def solution_of(model: Any) -> Optimum:
    """Solve a PyEPO model; its decision may have variables without predicted costs."""
    decision, objective = model.solve()
    values = np.asarray(decision, dtype=np.float64)
    predicted = getattr(model, "c_pred_index", None)
    return (values if predicted is None else values[predicted]), float(objective)


def optimum_here(problem: Problem, costs: np.ndarray) -> Optimum | None:
    """Return what this package finds."""
    try:
        solution = problem.solve(costs)
    except RuntimeError:
        return None
    return np.asarray(solution.decision, dtype=np.float64), float(solution.objective)


def agree(first: Optimum, second: Optimum, costs: np.ndarray) -> bool:
    """Return whether two optima have the same objective, and their predicted parts as well."""
    (one, objective), (other, other_objective) = first, second
    size = max(float(np.abs(costs) @ np.abs(one)), abs(objective), 1.0)
    tolerance = OBJECTIVE_TOLERANCE * size
    same_part = abs(float(costs @ (one - other))) <= tolerance or np.allclose(one, other, atol=1e-4)
    return abs(objective - other_objective) <= tolerance and bool(same_part)
