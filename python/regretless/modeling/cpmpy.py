"""Linear models from CPMpy.

Rows are comparisons of linear expressions. Clauses and implications of Boolean variables, which
CPMpy writes with ``|`` and ``implies``, are linear as well. All other constraints are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from regretless.modeling.linear import (
    LinearModel,
    foreign_variable_error,
    model_reader,
)

if TYPE_CHECKING:
    from regretless import Problem

DEFAULT_NAME = re.compile(r"[IB]V\d+")
"""Names that CPMpy gives to variables that the user did not name."""

Terms = tuple[dict[int, float], float]
"""Coefficients by column, and a constant."""


@model_reader
def from_cpmpy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a CPMpy model.

    Parameters
    ----------
    model : cpmpy.Model
        With linear comparisons, and clauses and implications of Boolean variables.

    Notes
    -----
    Columns are the variables in the order in which they occur, first in the constraints, then in
    the objective.
    """
    linear, column_of = read(model)

    def column(variable: Any) -> int:
        if getattr(variable, "name", None) not in column_of:
            raise foreign_variable_error(variable)
        return column_of[variable.name]

    return linear.problem_with_costs(costs, column)


class Reader:
    """The columns and rows of a model, in the order in which they occur."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self.column_of: dict[str, int] = {}
        self.rows: list[tuple[dict[int, float], float, float]] = []

    def column(self, variable: Any) -> int:
        """Return the column of a variable, a new one at its first occurrence."""
        if variable.name not in self.column_of:
            self.column_of[variable.name] = len(self.variables)
            self.variables.append(variable)
        return self.column_of[variable.name]

    def add(self, constraint: Any) -> None:
        """Add the rows of a constraint."""
        if isinstance(constraint, (list, tuple, np.ndarray)):
            for part in constraint:
                self.add(part)
        elif is_constant(constraint):
            # A constraint that always holds, or never.
            self.rows.append(({}, -np.inf if value_of(constraint) else 1.0, np.inf))
        elif kind_of(constraint) == "and":
            for part in constraint.args:
                self.add(part)
        else:
            self.rows.append(self.row(constraint))

    def row(self, constraint: Any) -> tuple[dict[int, float], float, float]:
        """Return coefficients and bounds of a single constraint."""
        kind = kind_of(constraint)
        if kind in COMPARISONS:
            left, right = (self.linear(part, constraint) for part in constraint.args)
            return self.comparison(kind, subtract(left, right), constraint)
        if kind == "or":
            literals = [self.literal(part, constraint) for part in constraint.args]
            return bounded(add_all(literals), 1.0, np.inf)
        if kind == "->":
            premise, conclusion = (self.literal(part, constraint) for part in constraint.args)
            return bounded(subtract(premise, conclusion), -np.inf, 0.0)
        # A Boolean variable alone, or negated, must hold.
        return bounded(self.literal(constraint, constraint), 1.0, 1.0)

    def comparison(
        self, kind: str, terms: Terms, constraint: Any
    ) -> tuple[dict[int, float], float, float]:
        """Return the row of ``terms`` compared with 0."""
        if kind == "==":
            return bounded(terms, 0.0, 0.0)
        if kind in ("<=", ">="):
            return bounded(terms, *((-np.inf, 0.0) if kind == "<=" else (0.0, np.inf)))
        if kind == "!=" or not all(value.is_integer() for value in [*terms[0].values(), terms[1]]):
            raise not_linear(constraint)
        # Integers: less than 0 is at most -1.
        return bounded(terms, *((-np.inf, -1.0) if kind == "<" else (1.0, np.inf)))

    def literal(self, expression: Any, constraint: Any) -> Terms:
        """Return a Boolean variable, its negation or a constant."""
        if is_constant(expression) or is_boolean_variable(expression):
            return self.linear(expression, constraint)
        raise not_linear(constraint)

    def linear(self, expression: Any, constraint: Any) -> Terms:
        """Return a linear expression; ``constraint`` is where it occurs, for messages."""
        if is_constant(expression):
            return {}, value_of(expression)
        if is_variable(expression):
            if hasattr(expression, "_bv"):
                return {self.column(expression._bv): -1.0}, 1.0
            return {self.column(expression): 1.0}, 0.0
        kind, parts = kind_of(expression), getattr(expression, "args", [])
        if kind == "sum":
            return add_all(self.linear(part, constraint) for part in parts)
        if kind == "wsum":
            weights, terms = parts
            return add_all(
                scale(value_of(weight), self.linear(term, constraint))
                for weight, term in zip(weights, terms)
            )
        if kind == "sub":
            return subtract(*(self.linear(part, constraint) for part in parts))
        if kind == "-":
            return scale(-1.0, self.linear(parts[0], constraint))
        if kind == "mul":
            left, right = (self.linear(part, constraint) for part in parts)
            if not left[0]:
                return scale(left[1], right)
            if not right[0]:
                return scale(right[1], left)
        raise not_linear(constraint)


COMPARISONS = ("==", "!=", "<=", "<", ">=", ">")


def read(model: Any) -> tuple[LinearModel, dict[str, int]]:
    """Read a ``cpmpy.Model``; returns its columns by name too."""
    from scipy.sparse import coo_matrix

    reader = Reader()
    for constraint in model.constraints:
        reader.add(constraint)
    coefficients: dict[int, float] = {}
    constant = 0.0
    if model.objective_ is not None:
        coefficients, constant = reader.linear(model.objective_, model.objective_)
    columns = len(reader.variables)
    objective = np.zeros(columns)
    for column, value in coefficients.items():
        objective[column] = value
    entries = [
        (row, column, value)
        for row, (terms, _, _) in enumerate(reader.rows)
        for column, value in terms.items()
    ]
    rows, places, values = zip(*entries) if entries else ((), (), ())
    names = [str(variable.name) for variable in reader.variables]
    linear = LinearModel(
        matrix=coo_matrix((values, (rows, places)), shape=(len(reader.rows), columns)),
        row_lower=[lower for _, lower, _ in reader.rows],
        row_upper=[upper for _, _, upper in reader.rows],
        lower=[float(variable.lb) for variable in reader.variables],
        upper=[float(variable.ub) for variable in reader.variables],
        integer=[True] * columns,
        objective=objective,
        maximize=model.objective_ is not None and not model.objective_is_min,
        names=names,
        constant=constant,
        default_name=lambda column: names[column] if DEFAULT_NAME.fullmatch(names[column]) else "",
    )
    return linear, reader.column_of


def bounded(terms: Terms, lower: float, upper: float) -> tuple[dict[int, float], float, float]:
    """Return the row of ``lower <= terms <= upper``, without the constant of the terms."""
    coefficients, constant = terms
    return coefficients, lower - constant, upper - constant


def add_all(parts: Iterable[Terms]) -> Terms:
    """Return the sum of linear expressions."""
    total: dict[int, float] = {}
    constant = 0.0
    for coefficients, value in parts:
        for column, coefficient in coefficients.items():
            total[column] = total.get(column, 0.0) + coefficient
        constant += value
    return total, constant


def scale(factor: float, terms: Terms) -> Terms:
    """Return a multiple of a linear expression."""
    return {column: factor * value for column, value in terms[0].items()}, factor * terms[1]


def subtract(left: Terms, right: Terms) -> Terms:
    """Return the difference of two linear expressions."""
    return add_all([left, scale(-1.0, right)])


def kind_of(expression: Any) -> str:
    """Return the name of an operator; variables and constants have none."""
    return "" if is_variable(expression) else str(getattr(expression, "name", ""))


def is_variable(expression: Any) -> bool:
    """Return whether an expression is a variable or a negated Boolean one."""
    return hasattr(expression, "lb") and hasattr(expression, "ub") and hasattr(expression, "name")


def is_boolean_variable(expression: Any) -> bool:
    """Return whether an expression is a Boolean variable or its negation."""
    return is_variable(expression) and bool(expression.is_bool())


def is_constant(expression: Any) -> bool:
    """Return whether an expression is a number or a Boolean value."""
    return isinstance(expression, (Real, np.bool_)) or type(expression).__name__ == "BoolVal"


def value_of(expression: Any) -> float:
    """Return the number of a constant."""
    return float(expression.args[0] if hasattr(expression, "args") else expression)


def not_linear(constraint: Any) -> ValueError:
    """Return the error for a constraint or objective that is not linear."""
    return ValueError(
        f"the CPMpy model is not linear: {constraint} is not a comparison of sums of variables "
        "with constant factors, or a clause or implication of Boolean variables"
    )
