"""The class Problem."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from regretless._core import Solution, _Problem
from regretless._renamed import refuse_renamed
from regretless.results.pages import first_names, html_table
from regretless.solving.constructors import ProblemConstructors
from regretless.solving.kinds import KindConstructors, add_constructors
from regretless.solving.model_files import is_problem_file
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.solutions import Solutions
from regretless.tables.columns import row_count
from regretless.tables.names import names_of, plain_row, plain_table
from regretless.tables.parameters import plain_parameters, plain_row_parameters
from regretless.tables.references import as_plain, with_fields
from regretless.tables.references import known_costs as plain_known_costs

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["Problem"]


class Problem(KindConstructors, ProblemConstructors):
    """A problem: the feasible decisions and the objective sense.

    Parameters
    ----------
    description : str, path or dict
        The name of a benchmark of any size: "KS32" (knapsack), "SP5x5" (shortest path on a grid),
        "TSP20", "CVRP20"; the path of a problem file (.toml) as the command line writes it; or a
        dict with the content of a problem file, in which `column` and `columns` may stand for
        numbers and arrays that differ per row.
    seed : int, default 0
        Seed of the random parts of a benchmark, such as the weights of a knapsack; the same as in
        `generate`.

    Raises
    ------
    ValueError
        For an unknown name or an invalid description.

    Notes
    -----
    Problems are immutable, can be pickled, and can be used by several threads.

    Examples
    --------
    >>> problem = rl.Problem("KS32")
    >>> problem = rl.Problem({"kind": "top_k", "items": 24, "k": 6, "sense": "minimize"})
    >>> problem = rl.Problem.from_file("model.mps", costs="x*")
    """

    __module__ = "regretless"
    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        costs = str(self.num_costs)
        if self.cost_names is not None:
            costs += f": {first_names(self.cost_names)}"
        rows = [("sense", self.sense), ("costs", costs)]
        if self.parameters:
            rows.append(("numbers from columns", first_names(self.parameters)))
        return html_table(self.name, ("", ""), rows)

    def __new__(
        cls, description: str | os.PathLike[str] | dict[str, Any], *, seed: int = 0
    ) -> Self:
        """Build the problem of a description."""
        if isinstance(description, dict):
            return cls._of(_Problem._of_description(as_plain(description)))
        if isinstance(description, os.PathLike) or is_problem_file(description):
            return cls._of(_Problem._of_problem_file(description))
        return cls._of(_Problem._of_benchmark(description, seed))

    def with_known(self, known: Any) -> Self:
        """Return the same problem with a known part of the costs.

        Parameters
        ----------
        known : array_like of shape (d,), dict, columns or column
            The known part of every cost, by position or by the names of costs. Entries may be a
            `column`; `columns` has the known parts of all costs of a row.

        Returns
        -------
        Problem
            Its objective is (known + predicted) times decision. Tables of costs, and predictions,
            hold the predicted part. Losses, labels, objectives and regret are those of the total.

        Raises
        ------
        ValueError
            For another number of costs or an unknown name.

        Notes
        -----
        A function of `Problem.from_solver` gets total costs.

        Examples
        --------
        >>> problem = rl.Problem.top_k(3, k=1).with_known([4.0, 0.0, 2.0])
        >>> problem.solve([1, 6, 2]).objective
        4.0
        """
        known = plain_known_costs(known)
        if self._function is not None:
            return self._of(self._with_known_part(known))
        description = with_fields(self.to_dict(), {"known": known})
        return self._of(_Problem._of_description(description, self.costs))

    @refuse_renamed("Problem.solve")
    def solve(
        self,
        c: ArrayLike,
        *,
        parameters: Mapping[str, ArrayLike] | Any = None,
        heuristic: str | None = None,
        gap: float | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Solution:
        """Solve for one row of costs.

        Parameters
        ----------
        c : array_like of shape (d,)
            Costs, in the problem's order, or a Series whose names are matched.
        parameters : mapping or Series, optional
            The row parameters that the problem reads (`Problem.parameters`): numbers, or
            one-dimensional arrays, by name.
        heuristic, gap, nodes, seconds : optional
            As in `solve_all`.

        Returns
        -------
        Solution
            The optimal decision, its objective and status.

        Raises
        ------
        RuntimeError
            If no decision is feasible.
        """
        options = SolveOptions(heuristic=heuristic, gap=gap, nodes=nodes, seconds=seconds)
        return self._solve(plain_row(c, "c"), plain_row_parameters(self, parameters), options)

    @refuse_renamed("Problem.solve_all")
    @takes_solve_options
    def solve_all(
        self,
        C: Any,
        *,
        parameters: Any = None,
        **solving: Unpack[SolveKeywords],
    ) -> Solutions:
        """Solve for every row of costs, on several threads.

        Parameters
        ----------
        C : array_like or DataFrame of shape (n, d)
            Costs. Columns with names are matched to the problem's costs by name, arrays by
            position.
        parameters : mapping or DataFrame, optional
            The row parameters that the problem reads (`Problem.parameters`): arrays of shape (n,)
            or (n, k) by name, or a DataFrame with one number per row in each column. Rows are
            matched by position, and numbers per cost are in the order of the problem's costs.
            Arrays of float64 in C order are not copied.
        threads : int, optional
            Number of threads; all by default. Results do not depend on it.
        progress : bool, default False
            Whether to show a progress bar.
        heuristic : str, optional
            "local-search" (TSP and CVRP) or "node-limit 100" instead of an exact solver.
        gap : float, default 0
            Relative gap between objective and dual bound at which a search may stop.
        nodes : int, optional
            Maximum number of branch-and-bound nodes of a search, which ends with its incumbent.
        seconds : float, optional
            Maximum seconds of a search, which ends with its incumbent. Results then depend on the
            machine: they are not reproducible. Your own function has no such limits: gap, nodes and
            seconds are refused.

        Returns
        -------
        Solutions
            One decision per row; `decisions` is a DataFrame if `C` is one. If a row has no feasible
            decision, its status gives the reason, and decision and objective are NaN.

        Raises
        ------
        ValueError
            For another number of costs, costs that are not finite, parameters that are missing, not
            read by the problem or not numbers, or a heuristic that the problem does not have.
        """
        costs = plain_table(C, "C")
        given = plain_parameters(self, parameters, row_count(costs), C, "C")
        options = SolveOptions(**solving)
        return Solutions._of(self._solve_all(costs, given, options), C, names_of(C))

    def _decide(
        self,
        predictions: Any,
        *,
        parameters: Any,
        threads: int | None,
        progress: bool = False,
        heuristic: str | None = None,
        leaves_out: bool,
    ) -> Solutions:
        """Solve for predicted costs; where `leaves_out` is true, those that are NaN have none."""
        costs = plain_table(predictions, "C")
        given = plain_parameters(self, parameters, row_count(costs), predictions, "C")
        options = SolveOptions(threads, progress, heuristic)
        solve = self._decide_all if leaves_out else self._solve_all
        return Solutions._of(solve(costs, given, options), predictions, names_of(predictions))

    def __reduce__(self) -> tuple[Any, ...]:
        from regretless import _pickle

        arguments = self._function
        if arguments is None:
            return _pickle.from_dict, (self.to_dict(),)
        return _pickle.from_solver, tuple(arguments.values())


add_constructors(Problem)
