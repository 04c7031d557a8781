"""The constructors of `Problem` that read a file, arrays, a solver or a model."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from numpy.typing import ArrayLike

from regretless._core import _Problem
from regretless._renamed import refuse_renamed
from regretless.modeling import from_model, from_model_of
from regretless.solving.model_files import ModelFileReading, problem_of_file
from regretless.tables.columns import text_list
from regretless.tables.names import names_of
from regretless.tables.numbers import as_numeric_array, matrix_arrays, number_or_array, row_array
from regretless.tables.references import split_references

if TYPE_CHECKING:
    from typing_extensions import Self

Sense = Literal["minimize", "maximize"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def of_problem(function: _Function) -> _Function:
    """Let errors of a function's arguments name it as a method of `Problem`."""
    function.__qualname__ = f"Problem.{function.__name__}"
    return function


class ProblemConstructors(_Problem):
    """Constructors that `Problem` inherits."""

    __slots__ = ()

    @classmethod
    def _of(cls, problem: _Problem) -> Self:
        """Return a problem of the compiled module as one of this class."""
        return problem if isinstance(problem, cls) else _Problem.__new__(cls, problem)

    @classmethod
    @refuse_renamed("Problem.from_file")
    @of_problem
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
        reading = ModelFileReading(
            costs=None if costs is None else text_list(costs),
            sense=sense,
            file_format=file_format,
            problem_number=problem_number,
            vehicles=vehicles,
            single_customer_routes=single_customer_routes,
        )
        return cls._of(problem_of_file(path, reading, changes))

    @classmethod
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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
    @of_problem
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


def plain_answer(solve: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's solver function; its decision becomes an array."""
    returned = solve(*arguments)
    if returned is None:
        return None
    if isinstance(returned, tuple) and len(returned) == 2:
        decision, objective = returned
        return as_numeric_array(decision, "the decision"), objective
    return as_numeric_array(returned, "the decision")
