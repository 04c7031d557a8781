"""Problems from other modellers: gurobipy, Pyomo, highspy and OR-Tools.

Each function reads a linear or mixed-integer model and returns a :class:`regretless.Problem` that is solved by the
engines built in here; no licence of the modeller's solver is needed afterwards. ``costs`` says which objective
coefficients are predicted: ``None`` for all columns, names, patterns with ``*``, numbers of columns, or variables of the modeller (alone, in
lists, or in its own containers); the order given is the order of the costs. Other columns keep their coefficients.
Names of variables become the names of the costs (``Problem.cost_names``), so that tables are matched by name; variables that the
modeller named itself have none.

The functions are attached to :class:`regretless.Problem` as well (``Problem.from_gurobipy(model)``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless import Problem
from regretless import _ortools
from regretless._linear import LinearModel, bounded, choose

__all__ = ["from_gurobipy", "from_highspy", "from_ortools", "from_pyomo"]

def from_gurobipy(model: Any, costs: Any = None) -> Problem:
    """The problem of a ``gurobipy.Model`` with linear constraints and objective."""
    model.update()
    if model.NumQConstrs or model.NumSOS or model.NumGenConstrs or model.NumQNZs:
        raise ValueError("the Gurobi model has quadratic, SOS or general constraints: only linear ones can be taken over")
    if model.NumPWLObjVars or model.NumObj > 1:
        raise ValueError("the Gurobi model has several or piecewise-linear objectives: only one linear objective can be taken over")
    variables = model.getVars()
    sense, rhs = np.array(model.getAttr("Sense")), np.array(model.getAttr("RHS"))
    kinds = model.getAttr("VType", variables)
    if set(kinds) - set("CBI"):
        raise ValueError("the Gurobi model has semi-continuous or semi-integer variables, which cannot be taken over")
    linear = LinearModel(
        matrix=model.getA(),
        row_lower=np.where(sense == "<", -np.inf, rhs),
        row_upper=np.where(sense == ">", np.inf, rhs),
        lower=bounded(model.getAttr("LB", variables)),
        upper=bounded(model.getAttr("UB", variables)),
        integer=[kind != "C" for kind in kinds],
        objective=model.getAttr("Obj", variables),
        maximize=model.ModelSense < 0,
        names=model.getAttr("VarName", variables),
        default_name=lambda number: f"C{number}",
    )
    return linear.problem(choose(costs, linear.names, lambda variable: variable.index))


def from_highspy(model: Any, costs: Any = None) -> Problem:
    """The problem of a ``highspy.Highs`` object (or of the ``HighsLp`` inside)."""
    from highspy import HighsVarType, ObjSense

    lp = model.getLp() if hasattr(model, "getLp") else model
    kinds = list(lp.integrality_) or [HighsVarType.kContinuous] * lp.num_col_
    if set(kinds) - {HighsVarType.kContinuous, HighsVarType.kInteger}:
        raise ValueError("the HiGHS model has semi-continuous or semi-integer variables, which cannot be taken over")
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
        default_name=lambda number: f"c{number}",
    )
    return linear.problem(choose(costs, linear.names, lambda variable: variable.index))


def from_pyomo(model: Any, costs: Any = None) -> Problem:
    """The problem of a Pyomo model with one active, linear objective."""
    from pyomo.core import maximize
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    if len(form.objectives) != 1:
        raise ValueError(f"the Pyomo model has {len(form.objectives)} active objectives; one is needed")
    rhs, kinds = np.asarray(form.rhs, dtype=float), np.array([row.bound_type for row in form.rows], dtype=int)
    maximizing = form.objectives[0].sense == maximize
    # The compiler turns a maximisation into a minimisation.
    objective = np.asarray(form.c.todense()).ravel() * (-1.0 if maximizing else 1.0)
    linear = LinearModel(
        matrix=form.A,
        row_lower=np.where(kinds > 0, -np.inf, rhs),
        row_upper=np.where(kinds < 0, np.inf, rhs),
        lower=[-np.inf if variable.lb is None else variable.lb for variable in form.columns],
        upper=[np.inf if variable.ub is None else variable.ub for variable in form.columns],
        integer=[not variable.is_continuous() for variable in form.columns],
        objective=objective,
        maximize=maximizing,
        names=[variable.name for variable in form.columns],
    )
    column_of = {id(variable): column for column, variable in enumerate(form.columns)}
    return linear.problem(choose(costs, linear.names, lambda variable: column_of[id(variable)]))


def from_ortools(model: Any, costs: Any = None) -> Problem:
    """The problem of a ``pywraplp.Solver``, a ``model_builder.Model`` or a ``cp_model.CpModel`` with linear constraints."""
    linear = _ortools.read(model)
    return linear.problem(choose(costs, linear.names, _ortools.column))


def highs_matrix(lp: Any) -> Any:
    """The constraint matrix of a ``HighsLp``."""
    from highspy import MatrixFormat
    from scipy.sparse import csc_matrix, csr_matrix

    inside = lp.a_matrix_
    arrays = (np.array(inside.value_), np.array(inside.index_, dtype=int), np.array(inside.start_, dtype=int))
    kind = csc_matrix if inside.format_ == MatrixFormat.kColwise else csr_matrix
    return kind(arrays, shape=(lp.num_row_, lp.num_col_))


for _adapter in (from_gurobipy, from_highspy, from_ortools, from_pyomo):
    setattr(Problem, _adapter.__name__, staticmethod(_adapter))
