"""Linear models from PuLP."""

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

LESS, EQUAL, GREATER = -1, 0, 1
"""PuLP's senses of a constraint."""

MAXIMIZE = -1
"""PuLP's sense of a maximization."""


@model_reader
def from_pulp(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a PuLP model.

    Parameters
    ----------
    model : pulp.LpProblem
        With linear constraints.

    Notes
    -----
    PuLP knows the variables that occur in the model, or were added with ``addVariable``, in the
    order of ``model.variables()``.
    """
    variables = model.variables()
    linear = read(model, variables)
    column_of = {id(variable): column for column, variable in enumerate(variables)}

    def column(variable: Any) -> int:
        if id(variable) not in column_of:
            raise foreign_variable_error(variable)
        return column_of[id(variable)]

    return linear.problem_with_costs(costs, column)


def read(model: Any, variables: list[Any]) -> LinearModel:
    """Read a ``pulp.LpProblem`` with these variables as columns."""
    from scipy.sparse import coo_matrix

    if model.sos1 or model.sos2:
        name = next(iter({**model.sos1, **model.sos2}))
        raise ValueError(
            f"the PuLP model has a special ordered set ({name}): only linear constraints can be "
            "read"
        )
    column_of = {id(variable): column for column, variable in enumerate(variables)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    lower, upper = [], []
    for row, constraint in enumerate(constraints_of(model)):
        for variable, coefficient in constraint.items():
            rows.append(row)
            columns.append(column_of[id(variable)])
            values.append(float(coefficient))
        # PuLP moves all to the left: terms + constant <= 0.
        bound = -float(constraint.constant)
        lower.append(-np.inf if constraint.sense == LESS else bound)
        upper.append(np.inf if constraint.sense == GREATER else bound)
    objective = np.zeros(len(variables))
    constant = 0.0
    if model.objective is not None:
        for variable, coefficient in model.objective.items():
            objective[column_of[id(variable)]] += float(coefficient)
        constant = float(model.objective.constant)
    return LinearModel(
        matrix=coo_matrix((values, (rows, columns)), shape=(len(lower), len(variables))),
        row_lower=lower,
        row_upper=upper,
        lower=bounds([variable.lowBound for variable in variables], -np.inf),
        upper=bounds([variable.upBound for variable in variables], np.inf),
        integer=[variable.cat == "Integer" for variable in variables],
        objective=objective,
        maximize=model.sense == MAXIMIZE,
        names=[variable.name for variable in variables],
        constant=constant,
    )


def constraints_of(model: Any) -> Any:
    """Return the constraints: a list from a method, or in PuLP before 3.3 a dictionary."""
    constraints = model.constraints
    return constraints() if callable(constraints) else constraints.values()


def bounds(values: list[Any], missing: float) -> np.ndarray:
    """Return bounds of variables; ``None`` is a missing one."""
    return with_infinities([missing if value is None else value for value in values])
