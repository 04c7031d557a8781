"""The constructors of problem kinds, such as `Problem.knapsack`.

The compiled library describes the fields of each kind; signatures, documentation and the
conversion of arguments follow from this description. The types for type checkers, in `kinds.pyi`,
are written by `scripts/kind-stubs`.
"""

from __future__ import annotations

import inspect
import operator
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from regretless._core import _Problem
from regretless.tables.references import (
    describe,
    flat_cells,
    flow_bounds,
    knapsack_capacity,
    knapsack_weights,
)

DOCSTRING_WIDTH = 92
"""Width of the lines of docstrings without their indentation."""


class KindConstructors:
    """The types of the constructors, for type checkers; `add_constructors` makes them."""

    __slots__ = ()


def truth_value(value: Any) -> bool:
    """Return a truth value; numbers are refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"'{type(value).__name__}' object is not a bool")
    return bool(value)


def true_or_none(value: Any) -> bool | None:
    """Return a truth value that is left out if it is false."""
    return truth_value(value) or None


FORMS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda value: value,
    "index": operator.index,
    "flag": truth_value,
    "flag_if_true": true_or_none,
    "sense": _Problem._sense_word,
    "cells": flat_cells,
    "flow_bounds": flow_bounds,
    "item_weights": knapsack_weights,
    "capacities": knapsack_capacity,
}
"""How arguments become values of problem files, by the forms of fields."""


def arguments_of(field: dict[str, Any]) -> list[str]:
    """Return the names of the arguments that a field is made of."""
    return field["arguments"] or [field["name"]]


def signature_of(kind: dict[str, Any]) -> inspect.Signature:
    """Return the signature of the constructor of a kind."""
    parameters = [inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)]
    for field in kind["fields"]:
        default = field["default"]
        for name in arguments_of(field):
            is_positional = len(parameters) <= kind["constructor"]["positional"]
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD
                    if is_positional
                    else inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if default is None else DEFAULTS[default],
                    annotation=field["annotation"],
                )
            )
    return inspect.Signature(parameters, return_annotation="Self")


DEFAULTS: dict[str, Any] = {
    "None": None,
    "False": False,
    "True": True,
    '"minimize"': "minimize",
    '"maximize"': "maximize",
}
"""Defaults by how Python writes them."""


def converted(field: dict[str, Any], name: str, value: Any) -> Any:
    """Return an argument as problem files write it."""
    if value is None:
        return None
    try:
        return FORMS[field["form"]](value)
    except TypeError as error:
        raise TypeError(f"argument '{name}': {error}") from None


def field_value(field: dict[str, Any], given: dict[str, Any]) -> Any:
    """Return the value of a field from the arguments of a call."""
    values = [converted(field, name, given[name]) for name in arguments_of(field)]
    return values if field["arguments"] else values[0]


def docstring_of(kind: dict[str, Any]) -> str:
    """Return the documentation of the constructor of a kind in the sections of numpydoc."""

    def filled(text: str, indent: str = "") -> str:
        return textwrap.fill(text, DOCSTRING_WIDTH, initial_indent=indent, subsequent_indent=indent)

    constructor = kind["constructor"]
    parameters, names = [], []
    for field in kind["fields"]:
        names += arguments_of(field)
        # A field without a description shares that of the next one.
        if field["doc"]:
            parameters.append(f"{', '.join(names)} : {field['shape']}")
            parameters.append(filled(field["doc"], "    "))
            names = []
    sections = {
        "Parameters": "\n".join(parameters),
        "Returns": "Problem",
        "Raises": constructor["raises"] and f"ValueError\n{filled(constructor['raises'], '    ')}",
        "Notes": filled(constructor["notes"]),
        "Examples": "\n".join(constructor["examples"]),
    }
    parts = [constructor["summary"], filled(constructor["details"])]
    for title, text in sections.items():
        parts.append(text and f"{title}\n{'-' * len(title)}\n{text}")
    return "\n\n".join(part for part in parts if part)


def constructor_of(kind: dict[str, Any]) -> Callable[..., Any]:
    """Return the constructor of a kind."""
    signature = signature_of(kind)

    def constructor(cls: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(cls, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"Problem.{kind['name']}(): {error}") from None
        given.apply_defaults()
        fields = {field["name"]: field_value(field, given.arguments) for field in kind["fields"]}
        return cls._of(_Problem._of_description(describe(kind["name"], fields)))

    constructor.__name__ = kind["name"]
    constructor.__qualname__ = f"Problem.{kind['name']}"
    constructor.__doc__ = docstring_of(kind)
    constructor.__signature__ = signature  # type: ignore[attr-defined]
    return constructor


def constructed_kinds() -> list[dict[str, Any]]:
    """Return the kinds that have a constructor."""
    return [kind for kind in _Problem._kinds() if kind["constructor"]]


def add_constructors(cls: type) -> None:
    """Give a class the constructor of each kind."""
    for kind in constructed_kinds():
        setattr(cls, kind["name"], classmethod(constructor_of(kind)))
