"""A problem of this package as one of PyEPO's models; imported only where PyEPO is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pyepo import EPO
from pyepo.model.opt import optModel
from pyepo.utils import costToNumpy

from regretless import Problem, Solver


class RegretlessModel(optModel):
    """An ``optModel`` whose questions are answered by a :class:`regretless.Problem`.

    Copies share the problem, which never changes; a pickled model carries its description, so that PyEPO's pool of
    processes can build its own.
    """

    def __init__(self, problem: Problem) -> None:
        # Not called `problem`: PyEPO takes an attribute of that name for a compiled model of its own.
        self._regretless = problem
        self._cost = np.zeros(problem.num_costs, dtype=np.float32)
        self._solve = solver_of(problem)
        super().__init__()
        self.modelSense = EPO.MINIMIZE if problem.sense == "minimize" else EPO.MAXIMIZE

    def _getModel(self) -> tuple[Problem, range]:
        return self._regretless, range(self._regretless.num_costs)

    def get_config(self) -> dict[str, Any]:
        """What the constructor needs to make the model again."""
        return {"problem": self._regretless}

    def setObj(self, c: Any) -> None:
        """Sets the costs of the next solve."""
        cost = np.ascontiguousarray(costToNumpy(c))
        if cost.shape != self._cost.shape:
            raise ValueError(
                f"{self._cost.size} costs are needed, the array has shape {cost.shape}"
            )
        self._cost = cost

    def solve(self) -> tuple[np.ndarray, float]:
        """The best decision under these costs, and its value."""
        return self._solve(self._cost)

    def copy(self) -> RegretlessModel:
        """A model of its own with the same problem and costs."""
        twin = type(self)(self._regretless)
        twin._cost = self._cost.copy()
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> RegretlessModel:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._regretless,)


def solver_of(problem: Problem) -> Callable[[np.ndarray], tuple[np.ndarray, float]]:
    """Who answers row by row: an engine that stays, or the function that the problem is."""
    try:
        return Solver(problem).solve
    except ValueError:

        def solve(cost: np.ndarray) -> tuple[np.ndarray, float]:
            found = problem.solve(cost)
            return found.decision, found.objective

        return solve
