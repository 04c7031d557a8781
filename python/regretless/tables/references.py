"""Columns of a table instead of numbers of a problem, and descriptions that have them.

A problem names the columns it reads (:func:`column`, :func:`columns`); :mod:`.parameters` finds
them in the tables of a call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["column", "columns"]

BOUNDS = ("row_lower", "row_upper", "lower", "upper")
"""Fields of a linear problem whose numbers may be infinite; problem files write "inf"."""


@dataclass(frozen=True)
class ColumnReference:
    """A column, or several, instead of a number or an array of a problem."""

    pattern: str
    is_plural: bool
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise TypeError(f"a column is named by text, not by {self.pattern!r}")

    def __repr__(self) -> str:
        factor = "" if self.factor == 1.0 else f", factor={self.factor!r}"
        return f"{'columns' if self.is_plural else 'column'}({self.pattern!r}{factor})"

    def as_json(self) -> dict[str, Any]:
        """Return the reference as problem files write it."""
        reference: dict[str, Any] = {"columns" if self.is_plural else "column": self.pattern}
        return reference if self.factor == 1.0 else {**reference, "factor": float(self.factor)}


def column(name: str, *, factor: float = 1.0) -> Any:
    """Name a column of the row parameters that stands for a number.

    Parameters
    ----------
    name : str
        Name of the parameter, as in ``parameters={"truck_capacity": ...}``.
    factor : float, default 1.0
        What the numbers are multiplied by; only for known costs
        (:meth:`regretless.Problem.with_known`): a price is -1 times a gain.

    Returns
    -------
    ColumnReference
        For the constructors of :class:`regretless.Problem`.

    See Also
    --------
    columns : Several numbers per row.

    Examples
    --------
    >>> problem = rl.Problem.knapsack([4, 3, 5], capacity=rl.column("truck_capacity"))
    >>> problem.solve([10, 7, 12], parameters={"truck_capacity": 8}).decision
    array([0., 1., 1.], dtype=float32)
    """
    return ColumnReference(name, is_plural=False, factor=factor)


def columns(pattern: str, *, factor: float = 1.0) -> Any:
    """Name columns of the row parameters that stand for an array.

    Parameters
    ----------
    pattern : str
        Name of one parameter with several numbers per row (an array of shape (n, k)), or a
        pattern such as ``"w_*"`` of several with one number each, in the order they are given.
    factor : float, default 1.0
        As in :func:`column`.

    Returns
    -------
    ColumnReference
        For the constructors of :class:`regretless.Problem`.

    See Also
    --------
    column : One number per row.

    Examples
    --------
    >>> problem = rl.Problem.top_k(3, k=2, present=rl.columns("offered"))
    >>> problem.solve([5, 1, 4], parameters={"offered": [1, 0, 1]}).decision
    array([1., 0., 1.], dtype=float32)
    """
    return ColumnReference(pattern, is_plural=True, factor=factor)


def as_plain(value: Any, is_bound: bool = False) -> Any:
    """Return a description of a problem in plain Python values, as JSON holds them.

    Arrays become lists, references to columns the tables of problem files, and infinite bounds
    their names.
    """
    if isinstance(value, ColumnReference):
        return value.as_json()
    if isinstance(value, Mapping):
        return {
            str(name): as_plain(entry, is_bound or name in BOUNDS) for name, entry in value.items()
        }
    if isinstance(value, np.generic):
        return as_plain(value.item(), is_bound)
    if hasattr(value, "__array__"):
        return as_plain(np.asarray(value).tolist(), is_bound)
    if isinstance(value, (list, tuple, range)):
        return [as_plain(entry, is_bound) for entry in value]
    if is_bound and isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def describe(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a problem; fields that are None are left out."""
    return with_fields({"kind": kind}, fields)


def knapsack_weights(weights: Any) -> Any:
    """Return weights with one list per dimension; one list is one dimension."""
    plain = as_plain(weights)
    if isinstance(plain, dict):
        return [plain]
    if isinstance(plain, list) and all(is_one_number(entry) for entry in plain):
        return [plain]
    return plain


def knapsack_capacity(capacity: Any) -> Any:
    """Return capacities as a list with one per dimension, or the columns of all."""
    plain = as_plain(capacity)
    return [plain] if is_one_number(plain) else plain


def flat_cells(present: Any) -> Any:
    """Return the cells of a table as one list, row by row."""
    plain = as_plain(present)
    if isinstance(plain, list) and any(isinstance(row, list) for row in plain):
        return [cell for row in plain for cell in (row if isinstance(row, list) else [row])]
    return plain


def flow_bounds(bounds: Any) -> Any:
    """Return bounds of flows as one list, row by row; those that are infinite are "inf"."""
    return flat_cells(as_plain(bounds, is_bound=True))


def known_costs(known: Any) -> Any:
    """Return known costs as problem files write them; a Series with names becomes a table."""
    index = getattr(known, "index", None)
    if index is not None and not callable(index) and all(isinstance(name, str) for name in index):
        known = dict(known.items())
    return as_plain(known)


def is_one_number(plain: Any) -> bool:
    """Return whether an entry of a description is a number or the column of one."""
    return isinstance(plain, (int, float)) or (isinstance(plain, dict) and set(plain) == {"column"})


def split_references(values: Any) -> tuple[Any, list[tuple[int, str]]]:
    """Return a list with 0 instead of columns, and the positions and names of these."""
    if isinstance(values, ColumnReference):
        raise ValueError(f"{values!r} stands for one number: write a list of columns")
    if not isinstance(values, (list, tuple)):
        return values, []
    found = []
    for position, entry in enumerate(values):
        if isinstance(entry, ColumnReference):
            if entry.is_plural or entry.factor != 1.0:
                raise ValueError(f"{entry!r} instead of one number; use column(name)")
            found.append((position, entry.pattern))
    if not found:
        return values, []
    return [0.0 if isinstance(entry, ColumnReference) else entry for entry in values], found


def with_fields(description: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Return a description with further fields; those that are None are left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    return {**description, **as_plain(given)}
