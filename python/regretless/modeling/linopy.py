"""Linear models from linopy."""

from __future__ import annotations

import re
from itertools import product
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

DEFAULT_NAME = re.compile(r"var\d+")
"""Names that linopy gives to variables that the user did not name."""

MASKED = -1
"""The label of an entry that a mask leaves out."""


@model_reader
def from_linopy(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a linopy model.

    Parameters
    ----------
    model : linopy.Model
        With a linear objective.

    Notes
    -----
    Columns are the entries of the variables that no mask leaves out, named by their coordinates:
    ``x[north,3]``.
    """
    linear, column_of = read(model)
    chosen = choose_array_columns(costs, linear.names, lambda item: columns(model, item, column_of))
    return linear.problem(chosen)


def read(model: Any) -> tuple[LinearModel, dict[int, int]]:
    """Read a ``linopy.Model``; returns the column of each label too."""
    check_linear(model)
    matrices = model.matrices
    labels = [int(label) for label in matrices.vlabels]
    column_of = {label: column for column, label in enumerate(labels)}
    names, is_default = [""] * len(labels), [False] * len(labels)
    for name, variable in model.variables.items():
        for label, entry in zip(np.ravel(variable.labels.values), entry_names(name, variable)):
            if label != MASKED:
                names[column_of[int(label)]] = entry
                is_default[column_of[int(label)]] = bool(DEFAULT_NAME.fullmatch(name))
    matrix = matrices.A
    sense, rhs = np.asarray(matrices.sense), np.asarray(matrices.b, dtype=float)
    kinds = np.asarray(matrices.vtypes)
    lower, upper = with_infinities(matrices.lb), with_infinities(matrices.ub)
    linear = LinearModel(
        matrix=np.zeros((0, len(labels))) if matrix is None else matrix,
        row_lower=np.where(sense == "<", -np.inf, with_infinities(rhs)),
        row_upper=np.where(sense == ">", np.inf, with_infinities(rhs)),
        lower=lower,
        upper=upper,
        integer=kinds != "C",
        objective=np.asarray(matrices.c, dtype=float),
        maximize=model.objective.sense == "max",
        names=names,
        default_name=lambda column: names[column] if is_default[column] else "",
    )
    return linear, column_of


def check_linear(model: Any) -> None:
    """Refuse what a linear model cannot express, by name."""
    if not model.is_linear:
        raise ValueError("the linopy model is not linear: its objective is quadratic")
    for name, variable in model.variables.items():
        if variable.attrs.get("semi_continuous"):
            raise ValueError(
                f"the variable {name} of the linopy model is semi-continuous, which cannot be read"
            )
        if "sos_type" in variable.attrs:
            raise ValueError(
                f"the variable {name} of the linopy model is in a special ordered set: only "
                "linear constraints can be read"
            )
    indicators = list(getattr(model, "indicator_constraints", None) or [])
    if indicators:
        raise ValueError(
            f"the linopy model has indicator constraints ({indicators[0]}): only linear "
            "constraints can be read"
        )


def entry_names(name: str, variable: Any) -> list[str]:
    """Return the names of the entries of a variable, such as ``x[north,3]``."""
    if not variable.dims:
        return [name]
    coordinates = [
        [label_text(label) for label in coordinate_values(variable, dimension)]
        for dimension in variable.dims
    ]
    return [f"{name}[{','.join(labels)}]" for labels in product(*coordinates)]


def coordinate_values(variable: Any, dimension: str) -> Any:
    """Return the coordinates along a dimension; numbers if there are none."""
    labels = variable.labels
    if dimension in labels.coords:
        return labels.coords[dimension].values
    return range(labels.sizes[dimension])


def label_text(label: Any) -> str:
    """Return a coordinate as text; those of several levels are separated by commas."""
    if isinstance(label, tuple):
        return ",".join(map(label_text, label))
    return str(label)


def columns(model: Any, item: Any, column_of: dict[int, int]) -> list[int] | None:
    """Return the columns of a linopy variable; None for one of another model, or anything else."""
    if getattr(item, "model", None) is not model:
        return None
    if hasattr(item, "labels"):
        labels = np.ravel(item.labels.values)
    elif hasattr(item, "label"):
        labels = np.array([item.label])
    else:
        return None
    return [column_of[int(label)] for label in labels if label != MASKED]
