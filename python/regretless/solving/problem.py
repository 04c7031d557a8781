"""The class Problem."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from regretless._core import Solution, _Problem
from regretless._renamed import refuse_renamed
from regretless.modeling import from_model, from_model_of
from regretless.results.pages import first_names, html_table
from regretless.solving.kinds import KindConstructors, add_constructors
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.solutions import Solutions
from regretless.tables.columns import row_count, text_list
from regretless.tables.names import names_of, plain_row, plain_table
from regretless.tables.numbers import as_numeric_array, row_array
from regretless.tables.parameters import plain_parameters, plain_row_parameters
from regretless.tables.references import as_plain, split_references, with_fields
from regretless.tables.references import known_costs as plain_known_costs

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["Problem"]

Sense = Literal["minimize", "maximize"]


class Problem(KindConstructors, _Problem):
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

    @classmethod
    def _of(cls, problem: _Problem) -> Self:
        """Return a problem of the compiled module as one of this class."""
        return problem if isinstance(problem, cls) else _Problem.__new__(cls, problem)

    @classmethod
    @refuse_renamed("Problem.from_file")
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        costs: str | Sequence[str] | None = None,
        sense: Sense | None = None,
        file_format: Literal["tsplib", "knapsack", "linear"] | None = None,
        problem_number: int = 1,
        vehicles: int | None = None,
        single_customer_routes: bool | None = None,
        rhs: Mapping[str, Any] | None = None,
        row_lower: Mapping[str, Any] | None = None,
        row_upper: Mapping[str, Any] | None = None,
        lower: Mapping[str, Any] | None = None,
        upper: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        coefficients: Mapping[str, Mapping[str, Any]] | None = None,
        present: Mapping[str, Any] | None = None,
    ) -> Self:
        """Read a problem from a file.

        Parameters
        ----------
        path : path
            A linear model (.mps, .lp), a TSP (TSPLIB .tsp), a CVRP (CVRPLIB .vrp), a knapsack of
            the OR-Library, or a problem file (.toml). The costs of the file are in `costs`.
        costs : str or sequence of str, optional
            Names or patterns such as "x*" of the columns whose costs are predicted, in the order of
            the costs; all columns by default. Other columns keep their cost.
        sense : {"minimize", "maximize"}, optional
            Replaces the objective sense of the file.
        file_format : {"tsplib", "knapsack", "linear"}, optional
            The format, if the file name does not show it.
        problem_number : int, default 1
            Number of the problem in an OR-Library file, from 1.
        vehicles : int, optional
            Number of vehicles of a CVRP file whose name does not end in -k and the number.
        single_customer_routes : bool, optional
            Whether a route may serve a single customer; true by default.
        rhs, row_lower, row_upper : dict, optional
            Other right-hand sides, or lower and upper bounds, of rows of a linear model, by the
            names of the rows. Numbers, or `column` if they differ per row. A pattern such as
            {"demand_*": rl.column("d_*")} stands for many rows.
        lower, upper, fixed : dict, optional
            Other bounds of columns, and values that columns are fixed to, by name, likewise.
        coefficients : dict of dict, optional
            Other coefficients, by the names of row and column.
        present : dict, optional
            Which columns exist (1 or 0), by name; the others are 1. An absent column is 0 and has
            no cost.

        Returns
        -------
        Problem

        Raises
        ------
        FileNotFoundError
            If the file does not exist.
        ValueError
            If it cannot be read.

        Examples
        --------
        >>> problem = rl.Problem.from_file("model.lp", rhs={"demand": rl.column("demand_today")})
        """
        changes = {
            "rhs": rhs,
            "row_lower": row_lower,
            "row_upper": row_upper,
            "lower": lower,
            "upper": upper,
            "fixed": fixed,
            "coefficients": coefficients,
            "present": present,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        reading = ModelFileReading(
            costs=None if costs is None else text_list(costs),
            sense=sense,
            file_format=file_format,
            problem_number=problem_number,
            vehicles=vehicles,
            single_customer_routes=single_customer_routes,
        )
        if is_problem_file(path):
            refuse_model_keywords(changes, reading)
            return cls._of(_Problem._of_problem_file(path))
        if not changes:
            return cls._of(_Problem._of_model_file(path, reading))
        found = _Problem._linear_model_file(path, reading)
        if found is None:
            raise ValueError(
                f"{next(iter(changes))} changes a linear model (.mps, .lp), and {os.fspath(path)} "
                "is none"
            )
        description, file_costs = found
        return cls._of(_Problem._of_description(with_fields(description, changes), file_costs))

    @classmethod
    def from_arrays(
        cls,
        A: Any,
        b: ArrayLike,
        *,
        sense: Sense,
        relations: str | Sequence[str] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        integer: bool | ArrayLike | None = None,
        costs: Sequence[int] | None = None,
        known_costs: ArrayLike | None = None,
        names: Sequence[str | None] | None = None,
        name: str = "arrays",
    ) -> Self:
        """Build a linear or mixed-integer problem from arrays.

        Parameters
        ----------
        A : array_like, DataFrame or scipy.sparse matrix of shape (m, n)
            Constraint matrix.
        b : array_like of shape (m,)
            Right-hand sides; entries of a list may be a `column`.
        sense : {"minimize", "maximize"}
            Objective sense.
        relations : str or sequence of str, optional
            "<=", ">=" or "==", one for all rows or one each; "<=" by default.
        lower, upper : float or array_like, optional
            Bounds of the variables, one for all or one each; 0 and infinity by default. Entries of
            a list may be a `column`.
        integer : bool or array_like, optional
            Which variables are integer, one for all or one each; none by default.
        costs : sequence of int, optional
            Increasing numbers of the variables whose costs are predicted; all by default.
        known_costs : float or array_like, optional
            Costs of the other variables, one per variable; 0 by default.
        names : sequence of str or None, optional
            Names of the variables (None if the cost is not predicted); by default the column names
            of `A`. Tables with names are matched to them.
        name : str, default "arrays"
            Name of the problem.

        Returns
        -------
        Problem

        Raises
        ------
        ValueError
            If the arrays do not belong together.

        Examples
        --------
        >>> problem = rl.Problem.from_arrays(
        ...     [[3, 4, 5]], [7], sense="maximize", upper=1, integer=True
        ... )
        >>> problem = rl.Problem.from_arrays(
        ...     [[1, 1]], [rl.column("demand")], sense="minimize", relations=">="
        ... )
        >>> problem.solve([2, 3], parameters={"demand": 4}).objective
        8.0
        """
        b, b_columns = split_references(b)
        lower, lower_columns = split_references(lower)
        upper, upper_columns = split_references(upper)
        return cls._of(
            _Problem._of_arrays(
                matrix_arrays(A),
                as_numeric_array(b, "b"),
                sense,
                relations,
                number_or_array(lower, "lower"),
                number_or_array(upper, "upper"),
                number_or_array(integer, "integer"),
                None if costs is None else row_array(costs, "costs"),
                number_or_array(known_costs, "known_costs"),
                names_of(A) if names is None else list(names),
                name,
                b_columns,
                lower_columns,
                upper_columns,
            )
        )

    @classmethod
    def from_solver(
        cls,
        solve: Callable[..., ArrayLike | tuple[ArrayLike, float] | None],
        num_costs: int,
        *,
        sense: Sense,
        binary: bool = True,
        name: str | None = None,
        thread_safe: bool = False,
        cost_names: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
        check: Callable[..., Any] | None = None,
        exact: bool = True,
    ) -> Self:
        """Build a problem that is solved by a Python function.

        Parameters
        ----------
        solve : callable
            `solve(costs)` gets one row of costs (float64) and returns the optimal decision, an
            array of the same length, or a pair (decision, objective), or None if no decision is
            feasible. The objective is needed only if it is more than costs times decision; the
            difference may depend on the decision and the row's parameters, not on the costs.
        num_costs : int
            Number of costs.
        sense : {"minimize", "maximize"}
            Objective sense.
        binary : bool, default True
            Whether decisions are zeros and ones.
        name : str, optional
            Needed to store labels; it should change when the function does.
        thread_safe : bool, default False
            Whether several threads may call the function at the same time.
        cost_names : sequence of str, optional
            Names of the costs; tables with names are matched to them.
        parameters : sequence of str, optional
            Names of the row parameters that the function needs. It is then called `solve(costs,
            parameters)`, with a dict of floats, or of arrays if a parameter has several numbers per
            row.
        check : callable, optional
            `check(decision)`, or `check(decision, parameters)`, returns whether a decision is
            feasible. All decisions are then checked. Methods that offer a row the decisions of
            other rows (MAP, NCE, LTR, caches) need it if there are parameters.
        exact : bool, default True
            Whether the decisions of the function are optimal. With False, statuses are "heuristic",
            regret is relative to the function's own decisions, so it can be negative, and
            explanations have no ranges, alternatives and prices.

        Returns
        -------
        Problem

        Notes
        -----
        The function may keep state, such as a solver's model, but its answer must depend on the
        costs (and parameters) alone. When rows are labeled, the first one is solved three more
        times at the end, one directly after the other; from 40 rows on, the first one and one in
        the middle two more times each. Another objective is an error, with `exact=False`, where
        only the first row is repeated, a warning. A function whose answers to these rows alternate
        with a period of two or three calls is always found.

        The function runs on the thread that calls `solve_all`, `label`, `train` and so on. Calls
        are serialized, even if several threads use the problem, or several problems are made from
        one function or from methods of one object. It may use this package, and its own problem
        too; it must not wait for another thread that uses its own problem. A stateless function
        that releases the interpreter lock is faster with `thread_safe=True`: all threads then call
        it at the same time.

        An exception of the function stops the call and is raised unchanged.

        Examples
        --------
        >>> def cheapest(costs):
        ...     return np.arange(len(costs)) == np.argmin(costs)
        >>> problem = rl.Problem.from_solver(cheapest, 3, sense="minimize")
        >>> def cheapest_offers(costs, parameters):
        ...     return np.argsort(np.argsort(costs)) < parameters["needed"]
        >>> problem = rl.Problem.from_solver(
        ...     cheapest_offers, 3, sense="minimize", parameters=["needed"]
        ... )
        >>> problem.solve([5, 1, 4], parameters={"needed": 2}).decision
        array([0., 1., 1.], dtype=float32)
        """
        return cls._of(
            _Problem._of_function(
                solve,
                functools.partial(plain_answer, solve),
                num_costs,
                sense,
                binary,
                name,
                thread_safe,
                cost_names,
                parameters,
                check,
                exact,
            )
        )

    @classmethod
    def from_model(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a model of a modeling library.

        Parameters
        ----------
        model : object
            A linear or mixed-integer model of CPMpy (``Model``), cvxpy (``Problem``), gurobipy
            (``Model``), highspy (``Highs``, ``HighsModel``, ``HighsLp``), linopy (``Model``),
            OR-Tools (``pywraplp.Solver``, ``model_builder.Model``, ``cp_model.CpModel``), PuLP
            (``LpProblem``) or Pyomo (``ConcreteModel``).
        costs : optional
            The variables whose costs are predicted, in the order of the costs: names, patterns with
            ``*``, column numbers, or variables of the model (alone, in lists, or in containers of
            the modeling library). All variables by default.

        Returns
        -------
        Problem

        Raises
        ------
        TypeError
            For an object of another library.
        ValueError
            If the model is not linear, or ``costs`` has a column twice, a number that is not a
            column, or a variable of another model.

        Notes
        -----
        `regretless.problems` describes what is read of each library.

        Examples
        --------
        >>> problem = rl.Problem.from_model(model, costs="x*")
        """
        return cls._of(from_model(model, costs))

    @classmethod
    def from_cpmpy(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a CPMpy model: `from_model` for this library.

        Parameters
        ----------
        model : cpmpy.Model
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("cpmpy", model, costs))

    @classmethod
    def from_cvxpy(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a cvxpy model: `from_model` for this library.

        Parameters
        ----------
        model : cvxpy.Problem
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("cvxpy", model, costs))

    @classmethod
    def from_gurobipy(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a Gurobi model: `from_model` for this library.

        Parameters
        ----------
        model : gurobipy.Model
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("gurobipy", model, costs))

    @classmethod
    def from_highspy(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a HiGHS model: `from_model` for this library.

        Parameters
        ----------
        model : highspy.Highs, highspy.HighsModel or highspy.HighsLp
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("highspy", model, costs))

    @classmethod
    def from_linopy(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a linopy model: `from_model` for this library.

        Parameters
        ----------
        model : linopy.Model
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("linopy", model, costs))

    @classmethod
    def from_ortools(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of an OR-Tools model: `from_model` for this library.

        Parameters
        ----------
        model : pywraplp.Solver, model_builder.Model or cp_model.CpModel
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("ortools", model, costs))

    @classmethod
    def from_pulp(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a PuLP model: `from_model` for this library.

        Parameters
        ----------
        model : pulp.LpProblem
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("pulp", model, costs))

    @classmethod
    def from_pyomo(cls, model: Any, costs: Any = None) -> Self:
        """Build the problem of a Pyomo model: `from_model` for this library.

        Parameters
        ----------
        model : pyomo.environ.ConcreteModel
            The model.
        costs : optional
            As in `from_model`.
        """
        return cls._of(from_model_of("pyomo", model, costs))

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


@dataclass(frozen=True)
class ModelFileReading:
    """How a model file is read: keywords of :meth:`Problem.from_file`."""

    costs: list[str] | None
    sense: str | None
    file_format: str | None
    problem_number: int
    vehicles: int | None
    single_customer_routes: bool | None

    def names_given(self) -> list[str]:
        """Return the keywords that are not the default, by name."""
        defaults = ModelFileReading(None, None, None, 1, None, None)
        return [name for name, value in vars(self).items() if value != getattr(defaults, name)]


def is_problem_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a problem file (.toml)."""
    return isinstance(path, (str, os.PathLike)) and os.path.splitext(path)[1] == ".toml"


def refuse_model_keywords(changes: Mapping[str, Any], reading: ModelFileReading) -> None:
    """Refuse keywords that describe a model file beside a problem file, which says all itself."""
    for name in changes:
        raise ValueError(
            f"{name} changes a linear model (.mps, .lp); write it into the problem file"
        )
    for name in reading.names_given():
        raise ValueError(
            f"{name} describes a model file (.mps, .lp, .tsp, .vrp, OR-Library), not a problem "
            "file; write it into the problem file"
        )


def matrix_arrays(A: Any) -> Any:
    """Return a matrix as an array, or the arrays of a sparse one in CSR format and its shape."""
    if not hasattr(A, "tocsr"):
        return as_numeric_array(A, "A")
    sparse = A.tocsr()
    sparse.sum_duplicates()
    return sparse.indptr, sparse.indices, sparse.data, sparse.shape


def number_or_array(value: Any, what: str) -> Any:
    """Return one number, truth value or None as it is, and anything else as an array."""
    if value is None or isinstance(value, (bool, int, float, np.generic)):
        return value
    return as_numeric_array(value, what)


def plain_answer(solve: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's solver function; its decision becomes an array."""
    returned = solve(*arguments)
    if returned is None:
        return None
    if isinstance(returned, tuple) and len(returned) == 2:
        decision, objective = returned
        return as_numeric_array(decision, "the decision"), objective
    return as_numeric_array(returned, "the decision")
