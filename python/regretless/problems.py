"""Problems from models of gurobipy, highspy, Pyomo, OR-Tools, PuLP, linopy, cvxpy and CPMpy.

Each function reads a linear or mixed-integer model and returns a :class:`regretless.Problem`. It is
solved by the built-in solvers, so that no license of another solver is needed afterwards. The
functions are class methods of :class:`regretless.Problem` as well (``Problem.from_gurobipy``).

Columns without a predicted cost keep their coefficients, and the objective keeps its constant: the
constant is part of every reported objective, cancels in regret, and counts in normalized regret.
Names of variables become cost names (``Problem.cost_names``), so that tables are matched by name,
and names of the other columns (``Solution.column_names``); names that the modeling library made up
are not used. Nonlinear models are refused. All functions need scipy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless import Problem, _cpmpy, _cvxpy, _linopy, _ortools, _pulp
from regretless._linear import (
    LinearModel,
    choose_array_columns,
    choose_columns,
    foreign_variable_error,
    needs_scipy,
    with_infinities,
)

__all__ = [
    "from_cpmpy",
    "from_cvxpy",
    "from_gurobipy",
    "from_highspy",
    "from_linopy",
    "from_ortools",
    "from_pulp",
    "from_pyomo",
]


@needs_scipy
def from_cpmpy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a CPMpy model.

    Parameters
    ----------
    model : cpmpy.Model
        With linear comparisons, and clauses and implications of Boolean variables.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.

    Notes
    -----
    Columns are the variables in the order in which they occur, first in the constraints, then in
    the objective.
    """
    linear, column_of = _cpmpy.read(model)

    def column(variable: Any) -> int:
        if getattr(variable, "name", None) not in column_of:
            raise foreign_variable_error(variable)
        return column_of[variable.name]

    return linear.problem(choose_columns(costs, linear.names, column))


@needs_scipy
def from_cvxpy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a cvxpy problem.

    Parameters
    ----------
    model : cvxpy.Problem
        With affine constraints and objective.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.

    Notes
    -----
    Columns are the entries of the variables, row by row: ``x[0,0]``, ``x[0,1]`` and so on. A
    parameter of the objective may have no value where it is the cost of columns with predicted
    costs, as in ``cvxpy.Minimize(c @ x)``.
    """
    columns = _cvxpy.Columns(model)
    chosen = choose_array_columns(
        costs, columns.names, lambda item: _cvxpy.cost_columns(item, columns)
    )
    return _cvxpy.read_with_costs(model, columns, chosen).problem(chosen)


@needs_scipy
def from_gurobipy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a Gurobi model.

    Parameters
    ----------
    model : gurobipy.Model
        With linear constraints and one linear objective.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.
    """
    model.update()
    if model.NumQConstrs or model.NumSOS or model.NumGenConstrs or model.NumQNZs:
        raise ValueError(
            "the Gurobi model has quadratic, SOS or general constraints: only linear ones can be "
            "read"
        )
    if model.NumPWLObjVars or model.NumObj > 1:
        raise ValueError(
            "the Gurobi model has several or piecewise-linear objectives: only one linear "
            "objective can be read"
        )
    if model.NumScenarios:
        raise ValueError("the Gurobi model has several scenarios: only one model can be read")
    if gurobi_weight(model) != 1.0:
        raise ValueError(
            "the Gurobi model's only objective has a weight other than 1, which cannot be read"
        )
    variables = model.getVars()
    sense, rhs = np.array(model.getAttr("Sense")), np.array(model.getAttr("RHS"))
    kinds = model.getAttr("VType", variables)
    if set(kinds) - set("CBI"):
        raise ValueError(
            "the Gurobi model has semi-continuous or semi-integer variables, which cannot be read"
        )
    # A variable made binary later keeps its old bounds, though Gurobi solves within 0 and 1.
    binary = np.array(kinds) == "B"
    lower, upper = (
        with_infinities(model.getAttr("LB", variables)),
        with_infinities(model.getAttr("UB", variables)),
    )
    linear = LinearModel(
        matrix=model.getA(),
        row_lower=np.where(sense == "<", -np.inf, rhs),
        row_upper=np.where(sense == ">", np.inf, rhs),
        lower=np.where(binary, np.maximum(lower, 0.0), lower),
        upper=np.where(binary, np.minimum(upper, 1.0), upper),
        integer=[kind != "C" for kind in kinds],
        objective=model.getAttr("Obj", variables),
        maximize=model.ModelSense < 0,
        names=model.getAttr("VarName", variables),
        constant=model.ObjCon,
        default_name=lambda number: f"C{number}",
    )

    def column(variable: Any) -> int:
        number = variable.index
        if not (0 <= number < len(variables) and variable.sameAs(variables[number])):
            raise foreign_variable_error(variable)
        return number

    return linear.problem(choose_columns(costs, linear.names, column))


def gurobi_weight(model: Any) -> float:
    """Return the weight of the only objective; 1 unless it was set as one of several."""
    from gurobipy import GurobiError

    try:
        return model.ObjNWeight
    except (AttributeError, GurobiError):
        # Gurobi has no weight where the objective was set by setObjective.
        return 1.0


@needs_scipy
def from_highspy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a HiGHS model.

    Parameters
    ----------
    model : highspy.Highs, highspy.HighsModel or highspy.HighsLp
        With one linear objective.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.
    """
    from highspy import HighsVarType, ObjSense

    if hasattr(model, "getNumLinearObjectives") and model.getNumLinearObjectives():
        raise ValueError(
            "the HiGHS model has several objectives: only one linear objective can be read"
        )
    inner = model.getModel() if hasattr(model, "getModel") else model
    if hasattr(inner, "hessian_") and np.any(np.asarray(inner.hessian_.value_)):
        raise ValueError(
            "the HiGHS model has a quadratic objective (Hessian): only a linear objective can be "
            "read"
        )
    lp = inner.lp_ if hasattr(inner, "lp_") else inner
    kinds = list(lp.integrality_) or [HighsVarType.kContinuous] * lp.num_col_
    if set(kinds) - {HighsVarType.kContinuous, HighsVarType.kInteger}:
        raise ValueError(
            "the HiGHS model has semi-continuous or semi-integer variables, which cannot be read"
        )
    linear = LinearModel(
        matrix=highs_matrix(lp),
        row_lower=with_infinities(lp.row_lower_),
        row_upper=with_infinities(lp.row_upper_),
        lower=with_infinities(lp.col_lower_),
        upper=with_infinities(lp.col_upper_),
        integer=[kind == HighsVarType.kInteger for kind in kinds],
        objective=lp.col_cost_,
        maximize=lp.sense_ == ObjSense.kMaximize,
        names=list(lp.col_names_) or [f"c{column}" for column in range(lp.num_col_)],
        constant=lp.offset_,
        default_name=lambda number: f"c{number}",
    )

    def column(variable: Any) -> int:
        # A HighsLp alone has no record of its variables.
        if hasattr(model, "getLp") and not belongs_to_highs(variable, model):
            raise foreign_variable_error(f"variable {variable.index} of another Highs object")
        return variable.index

    return linear.problem(choose_columns(costs, linear.names, column))


@needs_scipy
def from_linopy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a linopy model.

    Parameters
    ----------
    model : linopy.Model
        With a linear objective.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.

    Notes
    -----
    Columns are the entries of the variables that no mask leaves out, named by their coordinates:
    ``x[north,3]``.
    """
    linear, column_of = _linopy.read(model)
    chosen = choose_array_columns(
        costs, linear.names, lambda item: _linopy.columns(model, item, column_of)
    )
    return linear.problem(chosen)


@needs_scipy
def from_pulp(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a PuLP model.

    Parameters
    ----------
    model : pulp.LpProblem
        With linear constraints.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.

    Notes
    -----
    PuLP knows the variables that occur in the model, or were added with ``addVariable``, in the
    order of ``model.variables()``.
    """
    variables = model.variables()
    linear = _pulp.read(model, variables)
    column_of = {id(variable): column for column, variable in enumerate(variables)}

    def column(variable: Any) -> int:
        if id(variable) not in column_of:
            raise foreign_variable_error(variable)
        return column_of[id(variable)]

    return linear.problem(choose_columns(costs, linear.names, column))


@needs_scipy
def from_pyomo(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a Pyomo model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        With one active, linear objective.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.

    Notes
    -----
    Columns are all variables of active blocks; variables without a coefficient come last. A fixed
    variable is a number to Pyomo, and its cost is part of the constant: it cannot be predicted.
    """
    from pyomo.core import Var, maximize

    form = pyomo_form(model)
    if len(form.objectives) != 1:
        raise ValueError(
            f"the Pyomo model has {len(form.objectives)} active objectives; one is needed"
        )
    rhs, kinds = (
        np.asarray(form.rhs, dtype=float),
        np.array([row.bound_type for row in form.rows], dtype=int),
    )
    maximizing = form.objectives[0].sense == maximize
    # The compiler negates the objective of a maximization.
    sign = -1.0 if maximizing else 1.0
    occurring = {id(variable) for variable in form.columns}
    others = [
        variable
        for variable in model.component_data_objects(Var, active=True)
        if id(variable) not in occurring
    ]
    fixed = [variable for variable in others if variable.fixed]
    columns = [*form.columns, *(variable for variable in others if not variable.fixed)]
    for variable in columns:
        check_domain(variable)
    idle = len(columns) - len(form.columns)
    linear = LinearModel(
        matrix=with_zero_columns(form.A, idle),
        row_lower=np.where(kinds > 0, -np.inf, rhs),
        row_upper=np.where(kinds < 0, np.inf, rhs),
        lower=[-np.inf if variable.lb is None else variable.lb for variable in columns],
        upper=[np.inf if variable.ub is None else variable.ub for variable in columns],
        integer=[not variable.is_continuous() for variable in columns],
        objective=np.append(np.asarray(form.c.todense()).ravel() * sign, np.zeros(idle)),
        maximize=maximizing,
        names=[variable.name for variable in columns],
        constant=float(np.asarray(form.c_offset).ravel()[0]) * sign,
    )
    column_of = {id(variable): column for column, variable in enumerate([*columns, *fixed])}

    def column(variable: Any) -> int:
        if id(variable) not in column_of:
            raise foreign_variable_error(variable)
        return column_of[id(variable)]

    # Fixed variables are added at the end, so that names and patterns find them too.
    chosen = choose_columns(costs, [*linear.names, *(variable.name for variable in fixed)], column)
    for number in chosen:
        if number >= len(columns):
            name = fixed[number - len(columns)].name
            raise ValueError(
                f"the variable {name} is fixed, so that its cost cannot be predicted: unfix it, or "
                "give other variables as costs"
            )
    return linear.problem(chosen)


def pyomo_form(model: Any) -> Any:
    """Return the matrices of a Pyomo model."""
    from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    try:
        return LinearStandardFormCompiler().write(model, mixed_form=True)
    except (InvalidConstraintError, InvalidExpressionError) as error:
        raise ValueError(f"the Pyomo model is not linear: {error}") from error


def check_domain(variable: Any) -> None:
    """Refuse domains other than all numbers or all integers of an interval."""
    start, end, step = variable.domain.get_interval()
    integers = step == 1 and all(
        number is None or float(number).is_integer() for number in (start, end)
    )
    if step != 0 and not integers:
        raise ValueError(
            f"the domain of {variable.name} has holes ({variable.domain}), which a linear model "
            "cannot express"
        )


def with_zero_columns(matrix: Any, count: int) -> Any:
    """Return the matrix with columns of zeros appended."""
    from scipy.sparse import csr_matrix, hstack

    return hstack([matrix, csr_matrix((matrix.shape[0], count))], format="csr") if count else matrix


@needs_scipy
def from_ortools(model: Any, costs: Any = None) -> Problem:
    """Build the problem of an OR-Tools model.

    Parameters
    ----------
    model : pywraplp.Solver, model_builder.Model or cp_model.CpModel
        With linear constraints.
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        Where the model is not linear, or ``costs`` has a column twice, a number that is not a
        column, or a variable of another model.
    """
    linear = _ortools.read(model)
    return linear.problem(
        choose_columns(costs, linear.names, lambda variable: _ortools.column(model, variable))
    )


def belongs_to_highs(variable: Any, model: Any) -> bool:
    """Return whether a variable belongs to this ``highspy.Highs`` object."""
    try:
        # Equal, not identical: variables keep a weak reference.
        return bool(variable.highs == model)
    except ReferenceError:
        # Its Highs object was deleted.
        return False


def highs_matrix(lp: Any) -> Any:
    """Return the constraint matrix of a ``HighsLp``."""
    from highspy import MatrixFormat
    from scipy.sparse import csc_matrix, csr_matrix

    stored = lp.a_matrix_
    arrays = (
        np.array(stored.value_),
        np.array(stored.index_, dtype=int),
        np.array(stored.start_, dtype=int),
    )
    kind = csc_matrix if stored.format_ == MatrixFormat.kColwise else csr_matrix
    return kind(arrays, shape=(lp.num_row_, lp.num_col_))
