"""A problem of this package as a PyEPO model; imported only where PyEPO is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pyepo import EPO
from pyepo.model.opt import optModel
from pyepo.utils import costToNumpy

from regretless import Problem, Solver


class RegretlessModel(optModel):
    """An ``optModel`` that is solved by a :class:`regretless.Problem`.

    Copies share the problem, which is immutable. A pickled model contains the problem's
    description, from which each process of PyEPO's pool builds its own.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        # Not `problem`: PyEPO uses an attribute of that name for its own compiled models.
        self._regretless = problem
        self._cost = np.zeros(problem.num_costs, dtype=np.float32)
        self._solve = make_solver(problem)
        super().__init__()
        self.modelSense = EPO.MINIMIZE if problem.sense == "minimize" else EPO.MAXIMIZE

    def _getModel(self) -> tuple[Problem, range]:
        return self._regretless, range(self._regretless.num_costs)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"problem": self._regretless}

    def setObj(self, c: Any) -> None:
        """Set the costs of the next solve."""
        cost = np.ascontiguousarray(costToNumpy(c))
        if cost.shape != self._cost.shape:
            raise ValueError(
                f"{self._cost.size} costs are needed, the array has shape {cost.shape}"
            )
        self._cost = cost

    def solve(self) -> tuple[np.ndarray, float]:
        """Return the optimal decision for these costs and its objective."""
        return self._solve(self._cost)

    def copy(self) -> RegretlessModel:
        """Return a model with the same problem and costs."""
        copied = type(self)(self._regretless)
        copied._cost = self._cost.copy()
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> RegretlessModel:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._regretless,)


def make_solver(problem: Problem) -> Callable[[np.ndarray], tuple[np.ndarray, float]]:
    """Return a function from costs to decision and objective.

    It keeps one solver between calls. For a problem made by `Problem.from_solver`, which `Solver`
    refuses, it calls the user's function.
    """
    try:
        return Solver(problem).solve
    except ValueError:

        def solve(costs: np.ndarray) -> tuple[np.ndarray, float]:
            solution = problem.solve(costs)
            return solution.decision, solution.objective

        return solve
