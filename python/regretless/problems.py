"""Problems from other modellers: gurobipy, Pyomo, highspy and OR-Tools.

Each function reads a linear or mixed-integer model and returns a :class:`regretless.Problem` that is solved by the
engines built in here; no licence of the modeller's solver is needed afterwards. ``costs`` says which objective
coefficients are predicted: ``None`` for all columns, names, patterns with ``*``, numbers of columns, or variables of the modeller (alone, in
lists, or in its own containers); the order given is the order of the costs. Other columns keep their coefficients, and the
objective keeps its constant: it is part of every objective that is reported, cancels in regret, and counts in normalised regret.
Numbers that are no columns, columns given twice and variables of another model are refused, and so is all that is not linear.
Names of variables become the names of the costs (``Problem.cost_names``), so that tables are matched by name; variables that the
modeller named itself have none.

The functions are attached to :class:`regretless.Problem` as well (``Problem.from_gurobipy(model)``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless import Problem
from regretless import _ortools
from regretless._linear import LinearModel, bounded, choose, not_of_this_model

__all__ = ["from_gurobipy", "from_highspy", "from_ortools", "from_pyomo"]


def from_gurobipy(model: Any, costs: Any = None) -> Problem:
    """The problem of a ``gurobipy.Model`` with linear constraints and objective."""
    model.update()
    if model.NumQConstrs or model.NumSOS or model.NumGenConstrs or model.NumQNZs:
        raise ValueError(
            "the Gurobi model has quadratic, SOS or general constraints: only linear ones can be taken over"
        )
    if model.NumPWLObjVars or model.NumObj > 1:
        raise ValueError(
            "the Gurobi model has several or piecewise-linear objectives: only one linear objective can be taken over"
        )
    if model.NumScenarios:
        raise ValueError("the Gurobi model has several scenarios: only one model can be taken over")
    if gurobi_weight(model) != 1.0:
        raise ValueError(
            "the Gurobi model's only objective has a weight other than 1, which cannot be taken over"
        )
    variables = model.getVars()
    sense, rhs = np.array(model.getAttr("Sense")), np.array(model.getAttr("RHS"))
    kinds = model.getAttr("VType", variables)
    if set(kinds) - set("CBI"):
        raise ValueError(
            "the Gurobi model has semi-continuous or semi-integer variables, which cannot be taken over"
        )
    # A variable that was made binary later keeps its old bounds, though Gurobi solves it within 0 and 1.
    binary = np.array(kinds) == "B"
    lower, upper = bounded(model.getAttr("LB", variables)), bounded(model.getAttr("UB", variables))
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
            raise not_of_this_model(variable)
        return number

    return linear.problem(choose(costs, linear.names, column))


def gurobi_weight(model: Any) -> float:
    """The weight of the only objective; 1 unless it was given as one of possibly several."""
    from gurobipy import GurobiError

    try:
        return model.ObjNWeight
    except (AttributeError, GurobiError):
        # Gurobi refuses to tell the weight where the objective was given in the plain way.
        return 1.0


def from_highspy(model: Any, costs: Any = None) -> Problem:
    """The problem of a ``highspy.Highs`` object (or of the ``HighsModel`` or ``HighsLp`` inside) with a linear objective."""
    from highspy import HighsVarType, ObjSense

    if hasattr(model, "getNumLinearObjectives") and model.getNumLinearObjectives():
        raise ValueError(
            "the HiGHS model has several objectives: only one linear objective can be taken over"
        )
    whole = model.getModel() if hasattr(model, "getModel") else model
    if hasattr(whole, "hessian_") and np.any(np.asarray(whole.hessian_.value_)):
        raise ValueError(
            "the HiGHS model has a quadratic objective (Hessian): only a linear objective can be taken over"
        )
    lp = whole.lp_ if hasattr(whole, "lp_") else whole
    kinds = list(lp.integrality_) or [HighsVarType.kContinuous] * lp.num_col_
    if set(kinds) - {HighsVarType.kContinuous, HighsVarType.kInteger}:
        raise ValueError(
            "the HiGHS model has semi-continuous or semi-integer variables, which cannot be taken over"
        )
    linear = LinearModel(
        matrix=highs_matrix(lp),
        row_lower=bounded(lp.row_lower_),
        row_upper=bounded(lp.row_upper_),
        lower=bounded(lp.col_lower_),
        upper=bounded(lp.col_upper_),
        integer=[kind == HighsVarType.kInteger for kind in kinds],
        objective=lp.col_cost_,
        maximize=lp.sense_ == ObjSense.kMaximize,
        names=list(lp.col_names_) or [f"c{column}" for column in range(lp.num_col_)],
        constant=lp.offset_,
        default_name=lambda number: f"c{number}",
    )

    def column(variable: Any) -> int:
        # A HighsLp alone does not tell which variables are its own.
        if hasattr(model, "getLp") and not is_of_highs(variable, model):
            raise not_of_this_model(f"variable {variable.index} of another Highs object")
        return variable.index

    return linear.problem(choose(costs, linear.names, column))


def from_pyomo(model: Any, costs: Any = None) -> Problem:
    """The problem of a Pyomo model with one active, linear objective.

    Columns are all variables of active blocks, those that occur nowhere last. A fixed variable is a number to Pyomo, and its cost is
    part of the constant; to predict it is refused.
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
    # The compiler turns a maximisation into a minimisation.
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
            raise not_of_this_model(variable)
        return column_of[id(variable)]

    # Fixed variables come last, so that names and patterns find them too.
    chosen = choose(costs, [*linear.names, *(variable.name for variable in fixed)], column)
    for number in chosen:
        if number >= len(columns):
            name = fixed[number - len(columns)].name
            remedy = "unfix it, or give other variables as costs"
            raise ValueError(
                f"the variable {name} is fixed, so that its cost cannot be predicted: {remedy}"
            )
    return linear.problem(chosen)


def pyomo_form(model: Any) -> Any:
    """The matrices of a Pyomo model."""
    from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    try:
        return LinearStandardFormCompiler().write(model, mixed_form=True)
    except (InvalidConstraintError, InvalidExpressionError) as error:
        raise ValueError(f"the Pyomo model is not linear: {error}") from error


def check_domain(variable: Any) -> None:
    """Refuses domains that are not all numbers, or all whole numbers, between two ends."""
    start, end, step = variable.domain.get_interval()
    whole_numbers = step == 1 and all(
        number is None or float(number).is_integer() for number in (start, end)
    )
    if step != 0 and not whole_numbers:
        raise ValueError(
            f"the domain of {variable.name} has holes ({variable.domain}), which a linear model cannot say"
        )


def with_zero_columns(matrix: Any, count: int) -> Any:
    """The matrix with columns of zeros after the others."""
    from scipy.sparse import csr_matrix, hstack

    return hstack([matrix, csr_matrix((matrix.shape[0], count))], format="csr") if count else matrix


def from_ortools(model: Any, costs: Any = None) -> Problem:
    """The problem of a ``pywraplp.Solver``, a ``model_builder.Model`` or a ``cp_model.CpModel`` with linear constraints."""
    linear = _ortools.read(model)
    return linear.problem(
        choose(costs, linear.names, lambda variable: _ortools.column(model, variable))
    )


def is_of_highs(variable: Any, model: Any) -> bool:
    """Whether a variable was made by this ``highspy.Highs`` object."""
    try:
        # Equal, not identical: variables keep a weak reference.
        return bool(variable.highs == model)
    except ReferenceError:
        # The object that made it is gone.
        return False


def highs_matrix(lp: Any) -> Any:
    """The constraint matrix of a ``HighsLp``."""
    from highspy import MatrixFormat
    from scipy.sparse import csc_matrix, csr_matrix

    inside = lp.a_matrix_
    arrays = (
        np.array(inside.value_),
        np.array(inside.index_, dtype=int),
        np.array(inside.start_, dtype=int),
    )
    kind = csc_matrix if inside.format_ == MatrixFormat.kColwise else csr_matrix
    return kind(arrays, shape=(lp.num_row_, lp.num_col_))


for _adapter in (from_gurobipy, from_highspy, from_ortools, from_pyomo):
    setattr(Problem, _adapter.__name__, staticmethod(_adapter))
