"""Linear models from Pyomo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regretless.modeling.linear import (
    LinearModel,
    choose_columns,
    foreign_variable_error,
    model_reader,
)

if TYPE_CHECKING:
    from regretless import Problem


@model_reader
def from_pyomo(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a Pyomo model.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        With one active, linear objective.

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

    # Fixed variables are added at the end, so names and patterns find them too.
    chosen = choose_columns(costs, [*linear.names, *(variable.name for variable in fixed)], column)
    for number in chosen:
        if number >= len(columns):
            name = fixed[number - len(columns)].name
            raise ValueError(
                f"the variable {name} is fixed, so its cost cannot be predicted: unfix it, or "
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
