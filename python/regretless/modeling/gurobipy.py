"""Linear models from Gurobi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regretless.modeling.linear import (
    LinearModel,
    foreign_variable_error,
    model_reader,
    with_infinities,
)

if TYPE_CHECKING:
    from regretless import Problem


@model_reader
def from_gurobipy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a Gurobi model.

    Parameters
    ----------
    model : gurobipy.Model
        With linear constraints and one linear objective.
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

    return linear.problem_with_costs(costs, column)


def gurobi_weight(model: Any) -> float:
    """Return the weight of the only objective; 1 unless it was set as one of several."""
    from gurobipy import GurobiError

    try:
        return model.ObjNWeight
    except (AttributeError, GurobiError):
        # Gurobi has no weight if the objective was set by setObjective.
        return 1.0
