"""Keywords that were renamed before the first release, each with its present name.

A function that receives an old keyword raises a ``TypeError`` that gives the new one: it has the
decorator :func:`refuse_renamed`, or calls :func:`check` if it takes any keywords. Renamed settings
of ``train`` are in the compiled library, which the command line uses too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_HEURISTIC = {"decide_by": "heuristic"}
_FINE_TUNE = {"features": "X"}

RENAMED: dict[str, dict[str, str]] = {
    "BoostedCostModel.decide": {"features": "X", **_HEURISTIC},
    "BoostedCostModel.predict": {"features": "X"},
    "CostSensitiveObjective": {"costs": "C"},
    "CostSensitiveObjective.fine_tune_lightgbm": _FINE_TUNE,
    "CostSensitiveObjective.fine_tune_xgboost": _FINE_TUNE,
    "DecisionFocusedRegressor": {"batch": "batch_size", "loss": "method"},
    "DecisionLayer": {"method": "gradient"},
    "DecisionLoss": {"costs": "C"},
    "DecisionLoss.forward": {"costs_true": "C"},
    "Loss": {"share_pool": "pool_from"},
    "Model.decide": _HEURISTIC,
    "Problem.from_file": {"kind": "file_format", "number": "problem_number"},
    "Problem.solve": {"cost": "c", **_HEURISTIC},
    "Problem.solve_all": {"costs": "C", **_HEURISTIC},
    "cluster.label": {"costs": "C", "engine": "backend"},
    "cluster.map_shards": {"engine": "backend"},
    "cluster.sweep": {"costs": "C", "engine": "backend", "features": "X"},
    "cost_sensitive_loss": {"costs_true": "C"},
    "evaluate": _HEURISTIC,
    "generate": {"rows": "instances"},
    "label": _HEURISTIC,
    "regret": _HEURISTIC,
    "train": {"loss": "method", "start": "init_model", **_HEURISTIC},
}
"""By function: old keyword and new keyword."""


def refuse(function: str, keywords: Iterable[str]) -> NoReturn:
    """Raise the ``TypeError`` for keywords that a function does not take.

    Parameters
    ----------
    function : str
        A key of :data:`RENAMED`, or any other name of a function.
    keywords : iterable of str
        The keywords that are not among its parameters; at least one.

    Raises
    ------
    TypeError
        Always. The message gives the new name if the first keyword is an old one.
    """
    check(function, keywords := list(keywords))
    raise TypeError(f"{function}() got an unexpected keyword argument '{keywords[0]}'")


def check(function: str, keywords: Iterable[str]) -> None:
    """Raise a ``TypeError`` if one of the keywords is an old one."""
    renamed = RENAMED.get(function, {})
    for keyword in keywords:
        if keyword in renamed:
            raise TypeError(f"{function}() got '{keyword}'; it is called '{renamed[keyword]}' now")


def refuse_renamed(name: str) -> Callable[[_Function], _Function]:
    """Make a Python function refuse its old keywords, listed under ``name``."""

    def decorate(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            unknown = [keyword for keyword in kwargs if keyword not in parameters]
            if unknown and function.__name__ == "__new__":
                # Python would name __new__, not the class.
                refuse(name, unknown)
            if unknown:
                check(name, unknown)
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate
