"""A solver that is kept between calls, for Python loops that solve row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless._core import _Solver
from regretless.solving.problem import Problem
from regretless.tables.names import plain_row
from regretless.tables.parameters import plain_row_parameters

__all__ = ["Solver"]


class Solver(_Solver):
    """A solver of one problem that is kept between calls.

    It solves on the calling thread, so Ctrl-C is handled between two calls only; `Problem.solve`
    handles it at once and has a larger overhead.

    Parameters
    ----------
    problem : Problem
        The problem; not one made by `Problem.from_solver`, nor one with known costs.

    Raises
    ------
    ValueError
        If the problem is a Python function or has known costs.

    Examples
    --------
    >>> solver = rl.Solver(problem)
    >>> decision, objective = solver.solve(c)
    >>> decision, objective = solver.solve(c, parameters={"from": "a", "to": "b"})
    """

    __module__ = "regretless"
    __slots__ = ("_problem",)

    _problem: Problem

    def __new__(cls, problem: Problem) -> Solver:
        """Make the solver of a problem."""
        solver = super().__new__(cls, problem)
        solver._problem = problem
        return solver

    def solve(self, c: ArrayLike, *, parameters: Any = None) -> tuple[NDArray[np.float32], float]:
        """Solve for one row of costs.

        Parameters
        ----------
        c : array_like of shape (d,)
            Costs, in the problem's order, or a Series whose names are matched.
        parameters : dict or Series, optional
            The parameters of the row by name, if the problem has some.

        Returns
        -------
        decision : ndarray of shape (d,)
            The optimal decision, float32.
        objective : float
            Costs times decision.

        Raises
        ------
        RuntimeError
            If no decision is feasible, or the parameters do not define a problem.
        ValueError
            If costs or parameters are missing.
        """
        given = plain_row_parameters(self._problem, parameters)
        return self._solve(plain_row(c, "c"), given)
