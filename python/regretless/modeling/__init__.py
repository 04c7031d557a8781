"""Readers of models of modeling libraries, one file per library; internal.

:mod:`regretless.problems` has the public functions.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regretless import Problem

LIBRARIES = ("cpmpy", "cvxpy", "gurobipy", "highspy", "linopy", "ortools", "pulp", "pyomo")
"""Supported libraries: names of their packages, and of the modules here that read them."""


def from_model(model: Any, costs: Any = None) -> Problem:
    """Build the problem of a model; :meth:`regretless.Problem.from_model` documents it."""
    for library in LIBRARIES:
        if is_of_library(model, library):
            return from_model_of(library, model, costs)
    kind = type(model)
    raise TypeError(
        f"{kind.__module__}.{kind.__qualname__} is no model of a supported library: "
        f"{', '.join(LIBRARIES)}"
    )


def from_model_of(library: str, model: Any, costs: Any = None) -> Problem:
    """Build the problem of a model of this library."""
    reader = importlib.import_module(f"regretless.modeling.{library}")
    return getattr(reader, f"from_{library}")(model, costs)


def is_of_library(model: Any, library: str) -> bool:
    """Return whether the class of a model, or one that it inherits from, is of a library."""
    return any(base.__module__.split(".")[0] == library for base in type(model).__mro__)
