"""A linear model as matrices, on its way from somebody's modeller to a :class:`regretless.Problem`.

All adapters of :mod:`regretless.problems` fill one :class:`LinearModel`. Columns with predicted costs are moved to the
front, in the order of the costs; a row with two ends becomes two rows. The modeller's names of these columns become the
names of the problem's costs, if there is one for each and no two are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from regretless import Problem


INFINITE = 1e20
"""From here on modellers mean infinity."""


@dataclass
class LinearModel:
    """``row_lower <= A x <= row_upper``, ``lower <= x <= upper``, some ``x`` integer, with an objective."""

    matrix: Any
    """Coefficients: anything ``scipy.sparse.csr_matrix`` takes."""
    row_lower: Sequence[float]
    row_upper: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    integer: Sequence[bool]
    objective: Sequence[float]
    maximize: bool
    names: Sequence[str]
    constant: float = 0.0
    """Part of the objective that no column changes."""
    name: str = "linear model"
    default_name: Callable[[int], str] = lambda number: ""
    """What the modeller calls a column by its number where the user gave no name."""

    def problem(self, costs: Iterable[int]) -> Problem:
        """The problem whose predicted costs belong to these columns, in this order."""
        from regretless import Problem
        from scipy.sparse import csr_matrix, hstack, vstack

        first = list(costs)
        chosen = set(first)
        order = np.array(
            first + [column for column in range(len(self.names)) if column not in chosen]
        )
        low, high = np.asarray(self.row_lower, dtype=float), np.asarray(self.row_upper, dtype=float)
        equal = low == high
        above, below = np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
        matrix = csr_matrix(self.matrix)
        # Modellers may list a column twice in one row, which means the sum.
        matrix.sum_duplicates()
        matrix = matrix[:, order]
        lower, upper = (
            np.asarray(self.lower, dtype=float)[order],
            np.asarray(self.upper, dtype=float)[order],
        )
        integer, known_costs = (
            np.asarray(self.integer, dtype=bool)[order],
            np.asarray(self.objective, dtype=float)[order],
        )
        if self.constant != 0.0:
            # A problem of arrays has no constant, but a column that is always 1 and costs as much is the same.
            matrix = hstack([matrix, csr_matrix((matrix.shape[0], 1))], format="csr")
            lower, upper, integer = (
                np.append(lower, 1.0),
                np.append(upper, 1.0),
                np.append(integer, False),
            )
            known_costs = np.append(known_costs, self.constant)
        names = [self.names[column] for column in first]
        # Modellers allow empty and equal names, which do not say which cost is which.
        given = all(self.names[column] not in ("", self.default_name(column)) for column in first)
        said = given and len(set(names)) == len(names)
        parts = [(equal, high, "=="), (below, high, "<="), (above, low, ">=")]
        return Problem.from_arrays(
            vstack([matrix[rows] for rows, _, _ in parts], format="csr"),
            np.concatenate([ends[rows] for rows, ends, _ in parts]),
            relations=[word for rows, _, word in parts for _ in range(rows.sum())],
            sense="maximize" if self.maximize else "minimize",
            lower=lower,
            upper=upper,
            integer=integer,
            costs=list(range(len(first))),
            known_costs=known_costs,
            names=[*names, *[None] * (len(known_costs) - len(first))] if said else None,
            name=self.name,
        )


def choose(costs: Any, names: Sequence[str], index_of: Callable[[Any], int]) -> list[int]:
    """Columns whose costs are predicted: all (``None``), names, patterns with ``*``, numbers of
    columns, or variables of the modeller.

    A column that was already chosen may match a pattern again (``["x3", "x*"]``: x3 first, then the others); to say the same
    name, number or variable twice is refused, since a table with two costs for it could only be a mistake.
    """
    if costs is None:
        return list(range(len(names)))
    chosen: dict[int, None] = {}
    for item in flattened(costs):
        if isinstance(item, str) and "*" in item:
            chosen.update(dict.fromkeys(matching(item, names)))
            continue
        column = single(item, names, index_of)
        if column in chosen:
            raise ValueError(
                f"costs holds column {column} ('{names[column]}') twice; each column has one cost"
            )
        chosen[column] = None
    if not chosen:
        raise ValueError(
            "no column with a predicted cost: give names, patterns such as 'x*', or variables"
        )
    return list(chosen)


def single(item: Any, names: Sequence[str], index_of: Callable[[Any], int]) -> int:
    """The column that one name, number or variable means."""
    if isinstance(item, str):
        columns = matching(item, names)
        if len(columns) > 1:
            raise ValueError(
                f"{len(columns)} columns are called '{item}'; give numbers of columns or variables instead"
            )
        return columns[0]
    if isinstance(item, (bool, float)):
        raise ValueError(
            f"costs holds {item!r}; give names, patterns such as 'x*', whole numbers of columns, or variables"
        )
    column = item if isinstance(item, int) else index_of(item)
    if not 0 <= column < len(names):
        raise ValueError(
            f"costs holds column {column}, but the model's columns are 0 to {len(names) - 1}"
        )
    return column


def not_of_this_model(variable: Any) -> ValueError:
    """A variable that would be taken for whatever has its number here."""
    return ValueError(f"costs holds {variable}, which is not a variable of this model")


def matching(pattern: str, names: Sequence[str]) -> list[int]:
    """Columns whose names match a pattern in which ``*`` stands for any characters."""
    test = re.compile(".*".join(map(re.escape, pattern.split("*"))))
    columns = [column for column, name in enumerate(names) if test.fullmatch(name)]
    if not columns:
        raise ValueError(
            f"no column is called '{pattern}'; the first columns are {', '.join(names[:8])}"
        )
    return columns


def flattened(costs: Any) -> Iterator[Any]:
    """Single names or variables out of lists, arrays and dictionaries of them."""
    single = (
        hasattr(costs, "is_indexed") and not costs.is_indexed()
    )  # Pyomo's own are containers of themselves
    if isinstance(costs, (str, int)) or single:
        yield costs
    elif hasattr(costs, "tolist"):
        yield from flattened(costs.tolist())
    elif hasattr(costs, "values"):
        values = costs.values() if callable(costs.values) else costs.values
        for item in values:
            yield from flattened(item)
    elif isinstance(costs, (list, tuple)):
        for item in costs:
            yield from flattened(item)
    else:
        yield costs


def bounded(values: Any) -> np.ndarray:
    """Numbers as floats, very large ones as infinity."""
    numbers = np.asarray(values, dtype=float)
    # Not sign times infinity: the sign of 0 is 0, and 0 times infinity is a warning.
    return np.where(np.abs(numbers) >= INFINITE, np.copysign(np.inf, numbers), numbers)
