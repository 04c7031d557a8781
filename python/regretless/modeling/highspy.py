"""Linear models from HiGHS."""

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
def from_highspy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a HiGHS model.

    Parameters
    ----------
    model : highspy.Highs, highspy.HighsModel or highspy.HighsLp
        With one linear objective.
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

    return linear.problem_with_costs(costs, column)


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
