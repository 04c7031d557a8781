"""Linear models from the two protocol buffers of OR-Tools: MPModelProto and CpModelProto."""

from __future__ import annotations

from dataclasses import dataclass
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

MAX_FINITE_BOUND = 2.0**62
"""CP-SAT writes infinity as the largest 64-bit integers, which are larger."""

Row = tuple[dict[int, float], tuple[float, float]]
"""Coefficients by column, and lower and upper bound."""


@model_reader
def from_ortools(model: Any, costs: Any = None) -> Problem:
    """Build the problem of an OR-Tools model.

    Parameters
    ----------
    model : pywraplp.Solver, model_builder.Model or cp_model.CpModel
        With linear constraints.
    """
    linear = read(model)
    return linear.problem_with_costs(costs, lambda variable: column(model, variable))


def read(model: Any) -> LinearModel:
    """Read a ``pywraplp.Solver``, a ``model_builder.Model`` or a ``cp_model.CpModel``."""
    if hasattr(model, "ExportModelToProto"):
        from ortools.linear_solver.linear_solver_pb2 import MPModelProto

        proto = MPModelProto()
        model.ExportModelToProto(proto)
        return from_mp_proto(proto)
    if hasattr(model, "export_to_proto"):
        return from_mp_proto(model.export_to_proto())
    if hasattr(model, "Proto"):
        return from_cp_proto(model.Proto())
    raise ValueError(
        f"{type(model).__name__} is not a pywraplp.Solver, a model_builder.Model or a "
        "cp_model.CpModel"
    )


def column(model: Any, variable: Any) -> int:
    """Return the column of a variable of the model, for all three kinds of models."""
    if callable(variable.index):
        number = variable.index()
        # Two proxies of one pywraplp variable are different objects with the same address.
        own = number < model.NumVariables() and model.variable(number).this == variable.this
    elif hasattr(variable, "helper"):
        number, own = variable.index, variable.helper is model.helper
    else:
        # A negated literal of CP-SAT has a negative number.
        number, own = variable.index, variable.index < 0 or variable.model_proto is model.Proto()
    if not own:
        raise foreign_variable_error(variable)
    return number


def from_mp_proto(proto: Any) -> LinearModel:
    """Read an ``MPModelProto``."""
    from scipy.sparse import csr_matrix

    if proto.general_constraint or proto.HasField("quadratic_objective"):
        raise ValueError(
            "the OR-Tools model has general constraints or a quadratic objective: only linear ones "
            "can be read"
        )
    rows, variables = proto.constraint, proto.variable
    lengths = [len(row.var_index) for row in rows]
    index = np.fromiter((j for row in rows for j in row.var_index), dtype=int)
    value = np.fromiter((v for row in rows for v in row.coefficient), dtype=float)
    matrix = csr_matrix(
        (value, index, np.concatenate([[0], np.cumsum(lengths)]).astype(int)),
        shape=(len(rows), len(variables)),
    )
    return LinearModel(
        matrix=matrix,
        row_lower=with_infinities([row.lower_bound for row in rows]),
        row_upper=with_infinities([row.upper_bound for row in rows]),
        lower=with_infinities([variable.lower_bound for variable in variables]),
        upper=with_infinities([variable.upper_bound for variable in variables]),
        integer=[variable.is_integer for variable in variables],
        objective=[variable.objective_coefficient for variable in variables],
        maximize=proto.maximize,
        names=[variable.name for variable in variables],
        constant=proto.objective_offset,
        default_name=lambda number: f"auto_v_{number:09d}",
    )


def from_cp_proto(proto: Any) -> LinearModel:
    """Read a ``CpModelProto`` whose constraints are all linear."""
    if list(proto.assumptions):
        raise ValueError("the CP-SAT model has assumptions: add them as constraints")
    rows = [cp_row(constraint) for constraint in proto.constraints]
    objective = cp_objective(proto)
    domains = [interval(variable.domain, variable.name) for variable in proto.variables]
    return LinearModel(
        matrix=stack_rows(rows, len(domains)),
        row_lower=with_infinities([low for _, (low, _) in rows]),
        row_upper=with_infinities([high for _, (_, high) in rows]),
        lower=[low for low, _ in domains],
        upper=[high for _, high in domains],
        integer=[True] * len(domains),
        objective=objective.coefficients,
        maximize=objective.maximize,
        names=[variable.name for variable in proto.variables],
        constant=objective.constant,
    )


@dataclass
class Objective:
    """A linear objective."""

    coefficients: np.ndarray
    constant: float
    maximize: bool


def cp_objective(proto: Any) -> Objective:
    """Return the objective of CP-SAT, which has integer or floating-point coefficients."""
    coefficients = np.zeros(len(proto.variables))
    if proto.has_floating_point_objective():
        if proto.has_objective():
            raise ValueError("the CP-SAT model has two objectives; one is needed")
        floating = proto.floating_point_objective
        add_terms(coefficients, floating, 1.0)
        return Objective(coefficients, floating.offset, floating.maximize)
    integral = proto.objective
    if list(integral.domain):
        raise ValueError(
            "the CP-SAT model bounds the value of its objective: add it as a constraint"
        )
    # CP-SAT minimizes: a maximization has negated coefficients and a negative factor.
    scale = integral.scaling_factor or 1.0
    add_terms(coefficients, integral, scale)
    return Objective(coefficients, integral.offset * scale, scale < 0)


def add_terms(coefficients: np.ndarray, objective: Any, scale: float) -> None:
    """Add the terms of an objective to the coefficients of the columns."""
    for column, value in zip(objective.vars, objective.coeffs):
        if column < 0:
            raise ValueError(
                "the CP-SAT objective holds a negated variable: write it with the variable itself"
            )
        coefficients[column] += value * scale


def stack_rows(rows: list[Row], columns: int) -> Any:
    """Return the sparse matrix of these rows."""
    from scipy.sparse import coo_matrix

    entries = [(i, j, value) for i, (row, _) in enumerate(rows) for j, value in row.items()]
    row_index, column_index, values = zip(*entries) if entries else ((), (), ())
    return coo_matrix((values, (row_index, column_index)), shape=(len(rows), columns))


def cp_row(constraint: Any) -> Row:
    """Return the row of one CP-SAT constraint."""
    if constraint.enforcement_literal:
        raise ValueError(
            "a CP-SAT constraint holds only if a literal is true: only linear constraints can be "
            "read"
        )
    for kind, bounds in (
        ("exactly_one", (1, 1)),
        ("at_most_one", (-np.inf, 1)),
        ("bool_or", (1, np.inf)),
    ):
        if getattr(constraint, f"has_{kind}")():
            return literal_row(getattr(constraint, kind).literals, bounds)
    if not constraint.has_linear():
        raise ValueError("a CP-SAT constraint is not linear: only linear constraints can be read")
    linear = constraint.linear
    row: dict[int, float] = {}
    for column, value in zip(linear.vars, linear.coeffs):
        if column < 0:
            raise ValueError(
                "a CP-SAT constraint holds a negated variable in a sum: write it with the variable "
                "itself"
            )
        row[column] = row.get(column, 0.0) + float(value)
    return row, interval(linear.domain, "a constraint")


def literal_row(literals: Any, bounds: tuple[float, float]) -> Row:
    """Return a sum of literals between two bounds; a negated literal is 1 − x."""
    row: dict[int, float] = {}
    shift = 0.0
    for literal in literals:
        column, sign = (literal, 1.0) if literal >= 0 else (-literal - 1, -1.0)
        row[column] = row.get(column, 0.0) + sign
        shift += sign < 0
    return row, (bounds[0] - shift, bounds[1] - shift)


def interval(domain: Any, name: str) -> tuple[float, float]:
    """Return both bounds of a domain without holes."""
    bounds = [float(bound) for bound in domain]
    if len(bounds) != 2:
        raise ValueError(f"the domain of {name} has holes, which a linear model cannot express")
    # CP-SAT writes infinity as the largest integer.
    low, high = with_infinities(
        [bound if abs(bound) < MAX_FINITE_BOUND else np.copysign(np.inf, bound) for bound in bounds]
    )
    return float(low), float(high)
