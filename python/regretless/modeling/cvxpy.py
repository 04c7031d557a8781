"""Linear models from cvxpy.

Coefficients of an affine expression are its gradient, which cvxpy computes at any point. A
parameter of the objective without a value stands for predicted costs: it may occur in the
coefficients of columns with predicted costs, which are ignored, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from regretless.modeling.linear import (
    LinearModel,
    choose_array_columns,
    model_reader,
    with_infinities,
)

if TYPE_CHECKING:
    from regretless import Problem

REFUSED_ATTRIBUTES = ("PSD", "NSD", "symmetric", "diag", "hermitian", "complex", "imag", "sparsity")
"""Attributes of variables that bounds and integrality cannot express."""

TEST_VALUE = 0.7310585786
"""A value of parameters at which no expression of a user's vanishes by chance."""


@model_reader
def from_cvxpy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a cvxpy problem.

    Parameters
    ----------
    model : cvxpy.Problem
        With affine constraints and objective.

    Notes
    -----
    Columns are the entries of the variables, row by row: ``x[0,0]``, ``x[0,1]`` and so on. A
    parameter of the objective may have no value if it is the cost of columns with predicted costs,
    as in ``cvxpy.Minimize(c @ x)``.
    """
    columns = Columns(model)
    chosen = choose_array_columns(costs, columns.names, lambda item: cost_columns(item, columns))
    return read_with_costs(model, columns, chosen).problem(chosen)


class Columns:
    """The columns of a problem: the entries of its variables, row by row of each."""

    def __init__(self, problem: Any) -> None:
        self.variables = problem.variables()
        self.names: list[str] = []
        self.is_default: list[bool] = []
        self.first: dict[int, int] = {}
        for variable in self.variables:
            self.first[variable.id] = len(self.names)
            name = variable.name()
            self.names += entry_names(name, variable.shape)
            self.is_default += [name == f"var{variable.id}"] * variable.size

    def places(self, variable: Any) -> np.ndarray:
        """Return the columns of a variable in the order in which cvxpy vectorizes it."""
        numbers = np.arange(variable.size).reshape(variable.shape)
        return self.first[variable.id] + numbers.ravel(order="F")

    def affine(self, expression: Any) -> tuple[Any, np.ndarray]:
        """Return coefficients (rows by columns) and constants of an affine expression at 0."""
        from scipy.sparse import coo_matrix, csr_matrix

        constants = np.ravel(np.asarray(expression.value, dtype=float), order="F")
        rows, places, values = [], [], []
        for variable, gradient in expression.grad.items():
            block = coo_matrix(gradient if np.ndim(gradient) else [[float(gradient)]])
            rows.append(block.col)
            places.append(self.places(variable)[block.row])
            values.append(block.data)
        shape = (len(constants), len(self.names))
        if not rows:
            return csr_matrix(shape), constants
        entries = (np.concatenate(rows), np.concatenate(places))
        return coo_matrix((np.concatenate(values), entries), shape=shape).tocsr(), constants


def entry_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Return the names of the entries of a variable, such as ``x[0,1]``, row by row."""
    if not shape:
        return [name]
    return [f"{name}[{','.join(map(str, index))}]" for index in np.ndindex(*shape)]


def read(problem: Any, columns: Columns) -> LinearModel:
    """Read a ``cvxpy.Problem``, except for parameters of its objective without a value."""
    from scipy.sparse import csr_matrix, vstack

    for variable in columns.variables:
        check_attributes(variable)
    objective_expression = problem.objective.args[0]
    if not objective_expression.is_affine():
        raise ValueError(f"the cvxpy problem is not linear: its objective is {problem.objective}")
    blocks, lower, upper = [csr_matrix((0, len(columns.names)))], [], []
    with at_zero(columns.variables):
        for number, constraint in enumerate(problem.constraints):
            matrix, constants, is_equation = constraint_rows(constraint, number, columns)
            blocks.append(matrix)
            upper.append(-constants)
            lower.append(-constants if is_equation else np.full(len(constants), -np.inf))
        coefficients, constants = columns.affine(objective_expression)
    bounds = [variable_bounds(variable) for variable in columns.variables]
    return LinearModel(
        matrix=vstack(blocks, format="csr"),
        row_lower=np.concatenate([*lower, []]),
        row_upper=np.concatenate([*upper, []]),
        lower=np.concatenate([*(low for low, _ in bounds), []]),
        upper=np.concatenate([*(high for _, high in bounds), []]),
        integer=np.concatenate([*map(integrality, columns.variables), []]).astype(bool),
        objective=np.asarray(coefficients.todense()).ravel(),
        maximize=type(problem.objective).__name__ == "Maximize",
        names=columns.names,
        constant=float(constants[0]),
        default_name=lambda column: columns.names[column] if columns.is_default[column] else "",
    )


def constraint_rows(constraint: Any, number: int, columns: Columns) -> tuple[Any, np.ndarray, bool]:
    """Return coefficients and constants of ``expression <= 0`` or ``== 0``, and which of them."""
    kind = type(constraint).__name__
    signs = {"Inequality": 1.0, "NonPos": 1.0, "NonNeg": -1.0, "Equality": 1.0, "Zero": 1.0}
    if kind not in signs or not all(part.is_affine() for part in constraint.args):
        raise ValueError(
            f"the cvxpy problem is not linear: its constraint {number} is {constraint}"
        )
    expression = constraint.expr if hasattr(constraint, "expr") else constraint.args[0]
    for parameter in expression.parameters():
        if parameter.value is None:
            raise ValueError(
                f"the parameter {parameter.name()} of constraint {number} of the cvxpy problem has "
                "no value"
            )
    matrix, constants = columns.affine(expression)
    return matrix * signs[kind], constants * signs[kind], kind in ("Equality", "Zero")


def check_attributes(variable: Any) -> None:
    """Refuse variables that are more than numbers within bounds."""
    for attribute in REFUSED_ATTRIBUTES:
        value = variable.attributes.get(attribute)
        if value is not None and value is not False:
            raise ValueError(
                f"the variable {variable.name()} of the cvxpy problem is declared {attribute}, "
                "which cannot be read"
            )


def variable_bounds(variable: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both bounds of the entries of a variable, row by row."""
    attributes = variable.attributes
    lower, upper = np.full(variable.shape, -np.inf), np.full(variable.shape, np.inf)
    if attributes.get("bounds") is not None:
        given = attributes["bounds"]
        lower = np.maximum(lower, -np.inf if given[0] is None else given[0])
        upper = np.minimum(upper, np.inf if given[1] is None else given[1])
    if attributes.get("nonneg") or attributes.get("pos"):
        lower = np.maximum(lower, 0.0)
    if attributes.get("nonpos") or attributes.get("neg"):
        upper = np.minimum(upper, 0.0)
    is_binary = marked(variable, "boolean")
    lower = np.where(is_binary, np.maximum(lower, 0.0), lower)
    upper = np.where(is_binary, np.minimum(upper, 1.0), upper)
    return with_infinities(lower.ravel()), with_infinities(upper.ravel())


def integrality(variable: Any) -> np.ndarray:
    """Return which entries of a variable are integer, row by row."""
    return (marked(variable, "boolean") | marked(variable, "integer")).ravel()


def marked(variable: Any, attribute: str) -> np.ndarray:
    """Return which entries have an attribute: all, none, or a list of indices."""
    marks = np.zeros(variable.shape, dtype=bool)
    value = variable.attributes.get(attribute)
    if value is True:
        marks[...] = True
    elif value is not None and value is not False:
        for index in np.asarray(value).reshape(-1, max(len(variable.shape), 1)).tolist():
            marks[tuple(index)] = True
    return marks


@contextmanager
def at_zero(variables: list[Any]) -> Iterator[None]:
    """Set all variables to 0 for a while, whatever their bounds."""
    with values(variables, 0.0):
        yield


@contextmanager
def values(leaves: list[Any], number: float) -> Iterator[None]:
    """Set all entries of variables or parameters to a number for a while."""
    before = [leaf.value for leaf in leaves]
    try:
        for leaf in leaves:
            leaf.save_value(np.full(leaf.shape, number))
        yield
    finally:
        for leaf, value in zip(leaves, before):
            leaf.save_value(value)


def read_with_costs(problem: Any, columns: Columns, chosen: list[int]) -> LinearModel:
    """Read a problem whose predicted costs are those of the chosen columns.

    Parameters of the objective without a value may occur in these costs alone.
    """
    parameters = problem.objective.args[0].parameters()
    unset = [parameter for parameter in parameters if parameter.value is None]
    if not unset:
        return read(problem, columns)
    used = {
        parameter.id for constraint in problem.constraints for parameter in constraint.parameters()
    }
    for parameter in unset:
        if parameter.id in used:
            raise ValueError(
                f"the parameter {parameter.name()} of a constraint of the cvxpy problem has no "
                "value"
            )
    with values(unset, 0.0):
        linear = read(problem, columns)
    known = np.ones(len(columns.names), dtype=bool)
    known[chosen] = False
    with ExitStack() as stack:
        for number, parameter in enumerate(unset):
            stack.enter_context(values([parameter], TEST_VALUE + number))
        stack.enter_context(at_zero(columns.variables))
        coefficients, constants = columns.affine(problem.objective.args[0])
    found = np.asarray(coefficients.todense()).ravel()
    if (found != linear.objective)[known].any() or constants[0] != linear.constant:
        names = ", ".join(parameter.name() for parameter in unset)
        raise ValueError(
            f"the objective of the cvxpy problem has parameters without a value ({names}) that are "
            "more than the costs of columns with predicted costs"
        )
    return linear


def cost_columns(item: Any, columns: Columns) -> list[int] | None:
    """Return the columns of a variable or of entries of one; None for anything else."""
    if not hasattr(item, "is_affine") or not item.is_affine():
        return None
    if any(variable.id not in columns.first for variable in item.variables()):
        return None
    with at_zero(columns.variables):
        matrix, constants = columns.affine(item)
    single = (np.diff(matrix.indptr) == 1).all() and (matrix.data == 1.0).all()
    if not single or constants.any():
        return None
    # Row by row, as the names are.
    order = np.arange(item.size).reshape(item.shape, order="F").ravel()
    return [int(column) for column in matrix.indices[order]]
