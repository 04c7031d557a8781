"""Problems of this package as PyEPO models; imported only if PyEPO is installed.

The models have what PyEPO's own ones have: ``addConstr``, ``relax``, the attributes of their
problem (``grid``, ``weights``, ``num_nodes`` and so on) and, for ``optDatasetConstrs``, the
constraints that bind at a solution. A model with further constraints, and a relaxed one, is solved
as a linear model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import torch
from pyepo import EPO
from pyepo.model import bases
from pyepo.model.opt import ModelSpec, optModel

from regretless import Problem, Solver
from regretless.modeling.linear import LinearModel
from regretless.pyepo._constraints import BindingConstraints
from regretless.pyepo._linear_forms import linear_model, linear_relaxation, with_row

__all__ = [
    "RegretlessModel",
    "as_model",
    "knapsackModel",
    "shortestPathModel",
    "tspModel",
    "vrpModel",
]

FILE_KINDS = ("linear", "schedule")
"""Kinds of problems whose coefficients are not in their description."""

OBJECTIVE_TOLERANCE = 1e-4
"""Relative difference between an objective and the sum of the predicted costs that is rounding:
costs and decisions are in single precision."""


class SolvedModel(optModel):
    """What all models have in common; subclasses describe their problem.

    Costs of columns that are not predicted are known costs of the objective. PyEPO computes
    objectives from costs and decisions, so models with such columns return decisions of all
    columns: ``c_pred_index`` lists the predicted ones.
    """

    def describe(self) -> Problem:
        """Return the problem without further constraints."""
        raise NotImplementedError

    def _getModel(self) -> tuple[BindingConstraints, range]:
        self._base = self.describe()
        self._description = self._base.to_dict()
        self.modelSense = EPO.MINIMIZE if self._base.sense == "minimize" else EPO.MAXIMIZE
        self._is_relaxed = False
        self._linear: LinearModel | None = None
        known = np.asarray(self._find_linear().objective) if self._has_known_costs() else None
        self._known = None if known is None or not known.any() else known
        self._cost = np.zeros(self._base.num_costs) if self._known is None else self._known.copy()
        self._use(self._base if self._known is None else self._linear_problem())
        return self._model, range(self._base.num_costs)

    def _has_known_costs(self) -> bool:
        """Return whether some columns of a linear problem are not predicted."""
        return any("cost" in column for column in self._description.get("columns", []))

    def _find_linear(self) -> LinearModel:
        """Return the linear model, which is made when it is first needed."""
        if self._linear is None:
            form = linear_model(self._base)
            if form is None:
                raise NotImplementedError(
                    f"{self._base.name} has no linear model: {self._reason()}"
                )
            self._linear = replace(form, name=self._base.name)
        return self._linear

    def _linear_problem(self) -> Problem:
        """Return the linear model as a problem; with known costs, all its columns are predicted."""
        model = self._find_linear()
        if self._known is None:
            return model.problem(range(self._base.num_costs))
        # Names are of predicted costs; here all columns have costs.
        columns = range(len(model.names))
        return replace(model, names=[""] * len(columns)).problem(columns)

    def _use(self, problem: Problem) -> None:
        """Solve this problem from now on."""
        self._regretless = problem
        self._solve = make_solver(problem)
        self._model = BindingConstraints(self._description, self._find_linear, self._base.num_costs)
        self._cost_vars = self._model.variables

    @property
    def num_cost(self) -> int:
        """Number of predicted costs."""
        return self._base.num_costs

    @property
    def c_pred_index(self) -> np.ndarray | None:
        """Columns with predicted costs; None if these are all columns of a decision."""
        return None if self._known is None else np.arange(self.num_cost)

    def _fullCost(self, pred_cost: Any) -> Any:
        """Return the costs of all columns for predicted costs, arrays or tensors."""
        if self._known is None:
            return pred_cost
        others = self._known[self.num_cost :]
        if isinstance(pred_cost, torch.Tensor):
            known = torch.as_tensor(others).to(pred_cost)
            return torch.cat([pred_cost, known.expand(*pred_cost.shape[:-1], -1)], dim=-1)
        costs = np.asarray(pred_cost, dtype=float)
        known = np.broadcast_to(others, (*costs.shape[:-1], len(others)))
        return np.concatenate([costs, known], axis=-1)

    def setObj(self, c: Any) -> None:
        """Set the predicted costs of the next solve."""
        costs = self._vector(c, self._base.num_costs, "costs are")
        self._cost = costs if self._known is None else self._fullCost(costs)

    def _setFullObj(self, c: Any) -> None:
        """Set the costs of all columns of a decision."""
        self._cost = self._vector(c, self._cost.size, "costs are")

    def solve(self) -> tuple[np.ndarray, float]:
        """Return the optimal decision for these costs and its objective."""
        decision, objective = self._solve(self._cost)
        if self._description["kind"] in FILE_KINDS:
            check_objective(decision, self._cost, objective)
        self._model.set_decision(decision)
        return decision, objective

    def addConstr(self, coefs: Any, rhs: float) -> SolvedModel:
        """Return a model with the further constraint ``coefs @ x <= rhs``.

        Parameters
        ----------
        coefs : array_like or Tensor
            One coefficient per column of a decision: per cost, unless columns have known costs.
        rhs : float
            The right-hand side.

        Returns
        -------
        pyepo.model.opt.optModel
            A new model of the same class, with the costs of this one.

        Raises
        ------
        NotImplementedError
            For a Python function, and for a linear problem in a file.
        ValueError
            For coefficients or a right-hand side that are not finite numbers.
        """
        row = self._vector(coefs, self._cost.size, "coefficients are")
        if not np.isfinite(row).all():
            raise ValueError("the coefficients of a constraint are finite numbers")
        if isinstance(rhs, bool) or not isinstance(rhs, Real) or not math.isfinite(rhs):
            raise ValueError(f"the right-hand side (rhs) is a finite number, not {rhs!r}")
        linear = self._find_linear()
        added = self.copy()
        added._linear = with_row(linear, row, float(rhs))
        added._extra_constrs.append((row, float(rhs)))
        added._use(added._linear_problem())
        return added

    def relax(self) -> SolvedModel:
        """Return the linear relaxation, with all further constraints.

        Raises
        ------
        RuntimeError
            If the model is relaxed already.
        NotImplementedError
            For a Python function, and for a linear problem in a file.
        """
        if self._is_relaxed:
            raise RuntimeError("the model is relaxed already")
        self._find_linear()
        form = linear_relaxation(self._base)
        assert form is not None
        relaxation = self.copy()
        relaxation._is_relaxed = True
        relaxation._linear = replace(form, name=f"{self._base.name} (relaxed)")
        for row, rhs in self._extra_constrs:
            relaxation._linear = with_row(relaxation._linear, row, rhs)
        relaxation._use(relaxation._linear_problem())
        return relaxation

    def _reason(self) -> str:
        """Return why there is no linear model."""
        if self._description["kind"] == "external":
            return "a Python function is called as it is"
        if self._description["kind"] == "schedule":
            return "that of schedules is not available here"
        return (
            "its coefficients are in a file; read the file with a modeling library and make the "
            "problem from its model (Problem.from_highspy)"
        )

    def _vector(self, values: Any, size: int, what: str) -> np.ndarray:
        """Return a one-dimensional array of this size in double precision."""
        if isinstance(values, torch.Tensor):
            values = values.detach().cpu().numpy()
        try:
            vector = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{size} {what} needed: {error}") from error
        if vector.shape != (size,):
            raise ValueError(
                f"{size} {what} needed in a one-dimensional array, this one has shape "
                f"{vector.shape}"
            )
        return vector

    def copy(self) -> SolvedModel:
        """Return a model with the same problem, constraints and costs."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._cost = self._cost.copy()
        twin._extra_constrs = [(row.copy(), rhs) for row, rhs in self._extra_constrs]
        twin._use(self._regretless)
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> SolvedModel:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_solve", "_model", "_cost_vars"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._use(self._regretless)

    def to_spec(self) -> ModelSpec:
        """Return what PyEPO's processes build the model from."""
        if not self._extra_constrs and not self._is_relaxed:
            return super().to_spec()
        return ModelSpec(StoredModel, {"model": self})


def problem_of(model: SolvedModel) -> Problem:
    """Return the problem of a model, with its further constraints."""
    if not model._extra_constrs and not model._is_relaxed:
        return model._base
    return model._find_linear().problem(range(model.num_cost))


def check_objective(decision: np.ndarray, costs: np.ndarray, objective: float) -> None:
    """Refuse an objective with parts that PyEPO does not know of."""
    sum_of_costs = float(np.asarray(decision, dtype=float) @ costs)
    size = float(np.abs(np.asarray(decision, dtype=float)) @ np.abs(costs))
    if abs(objective - sum_of_costs) > OBJECTIVE_TOLERANCE * max(size, 1.0):
        raise ValueError(
            "the objective has a constant or known costs of columns that are not predicted, which "
            "PyEPO would leave out of its objectives and regrets; read the file with a modeling "
            "library and make the problem from its model (Problem.from_highspy)"
        )


class StoredModel:
    """The type of a specification that holds a complete model."""

    @classmethod
    def from_config(cls, config: dict[str, Any], args: tuple[Any, ...] = ()) -> SolvedModel:
        """Return a copy of the model."""
        return config["model"].copy()


class RegretlessModel(SolvedModel):
    """An ``optModel`` of any :class:`regretless.Problem`.

    Copies share the problem, which is immutable. A pickled model contains the problem's
    description, from which each process of PyEPO's pool builds its own.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        # Not `problem`: PyEPO uses an attribute of that name for its own compiled models.
        self._given = problem
        super().__init__()

    def describe(self) -> Problem:
        """Return the problem without further constraints."""
        return self._given

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"problem": self._given}


class shortestPathModel(SolvedModel, bases.shortestPathBase):
    """The shortest path through a grid, with the attributes of PyEPO's model of that name."""

    def describe(self) -> Problem:
        """Return the problem without further constraints."""
        return Problem({"kind": "grid_path", "grid": list(self.grid)})


class knapsackModel(SolvedModel, bases.knapsackBase):
    """The knapsack, with the attributes of PyEPO's model of that name."""

    def describe(self) -> Problem:
        """Return the problem without further constraints."""
        return knapsack_problem(self.weights, self.capacity)


class tspModel(SolvedModel, bases.tspABBase):
    """The shortest tour, with the attributes of PyEPO's models of it."""

    def describe(self) -> Problem:
        """Return the problem without further constraints."""
        return Problem({"kind": "tsp", "nodes": self.num_nodes})

    def getTour(self, sol: Any) -> list[int]:
        """Return the nodes of a tour in visiting order, from node 0 to node 0."""
        return refuse_tour() if self._is_relaxed else super().getTour(sol)


class vrpModel(SolvedModel, bases.vrpABBase):
    """Capacitated vehicle routing, with the attributes of PyEPO's models of it."""

    def describe(self) -> Problem:
        """Return the problem without further constraints."""
        return Problem(
            {
                "kind": "cvrp",
                "demands": [float(demand) for demand in self.demands],
                "capacity": float(self.capacity),
                "vehicles": int(self.num_vehicle),
            }
        )

    def getTour(self, sol: Any) -> list[list[int]]:
        """Return the nodes of each route in visiting order, from the depot to the depot."""
        return refuse_tour() if self._is_relaxed else super().getTour(sol)


def refuse_tour() -> NoReturn:
    """Raise the error for a tour of a relaxation."""
    raise RuntimeError("decisions of a relaxed model are fractional and have no tours")


def knapsack_problem(weights: Any, capacity: Any) -> Problem:
    """Return the knapsack with these weights, or the linear problem if one is negative."""
    rows, limits = np.asarray(weights, dtype=float), np.asarray(capacity, dtype=float)
    if (rows >= 0).all() and (limits >= 0).all():
        return Problem({"kind": "knapsack", "weights": rows.tolist(), "capacity": limits.tolist()})
    return Problem.from_arrays(rows, limits, sense="maximize", upper=1.0, integer=True)


def check_one_set(problem: Problem) -> None:
    """Refuse what PyEPO's models do not have: sets of single rows, and known costs."""
    if problem.parameters or problem._has_known_costs:
        raise ValueError(
            "PyEPO's models have one feasible set and no known costs, and "
            f"{problem.name} has parameters per row or known costs; use regretless.train or "
            "regretless.torch.DecisionLoss instead"
        )


def as_model(problem: Problem) -> SolvedModel:
    """Return the model of a problem: PyEPO's class of its kind, or a general one."""
    check_one_set(problem)
    description = problem.to_dict()
    kind = description["kind"]
    if not {"present", "source", "target"}.isdisjoint(description):
        # PyEPO's classes have all their items and nodes, and paths through the whole grid.
        return RegretlessModel(problem)
    if kind == "grid_path":
        return shortestPathModel(tuple(description["grid"]))
    if kind == "knapsack":
        return knapsackModel(description["weights"], description["capacity"])
    if kind == "tsp":
        return tspModel(description["nodes"])
    if kind == "cvrp" and not description.get("single_customer_routes"):
        demands = description["demands"]
        return vrpModel(len(demands) + 1, demands, description["capacity"], description["vehicles"])
    return RegretlessModel(problem)


def make_solver(problem: Problem) -> Callable[[np.ndarray], tuple[np.ndarray, float]]:
    """Return a function from costs to decision and objective.

    It keeps one solver between calls. For a problem made by `Problem.from_solver`, which `Solver`
    refuses, it calls the user's function.
    """
    solver = None if problem.to_dict()["kind"] == "external" else Solver(problem)

    def solve(costs: np.ndarray) -> tuple[np.ndarray, float]:
        if solver is not None:
            return solver.solve(costs)
        solution = problem.solve(costs)
        return solution.decision, solution.objective

    def solve_or_raise(costs: np.ndarray) -> tuple[np.ndarray, float]:
        try:
            return solve(costs)
        except RuntimeError as error:
            raise RuntimeError(f"{problem.name} found no solution: {error}") from error

    return solve_or_raise
