"""Linear models as matrices, the common form of all adapters of :mod:`regretless.problems`.

Columns with predicted costs are moved to the front, in the order of the costs; a row with two
bounds becomes two rows. The names of the columns with predicted costs become the cost names of
the problem, if every such column has one and no two are equal. Other columns keep their names.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from regretless import Problem


INFINITY_THRESHOLD = 1e20
"""Numbers of at least this size mean infinity in modeling libraries (HiGHS, Gurobi, CPLEX)."""


CONSTANT_COLUMN = "constant"
"""The column that stands for the constant term of an objective, if no variable has its name."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


SHARED_SECTIONS = """
    costs : optional
        The variables whose costs are predicted, in the order of the costs: names, patterns with
        ``*``, column numbers, or variables of the model (alone, in lists, or in containers of the
        modeling library). All variables by default.

    Returns
    -------
    regretless.Problem

    Raises
    ------
    ValueError
        If the model is not linear, or ``costs`` has a column twice, a number that is not a column,
        or a variable of another model.
    """
"""What the docstrings of all readers have between the model and the notes."""


def model_reader(function: _Function) -> _Function:
    """Mark a public function ``(model, costs)`` that reads the models of a library.

    It says that it needs scipy, if that is missing, and its docstring gets the sections that all
    readers share.
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if importlib.util.find_spec("scipy") is None:
            raise ImportError(f"{function.__name__} needs scipy: pip install scipy", name="scipy")
        return function(*args, **kwargs)

    # Python removes docstrings with -OO.
    if function.__doc__ is not None:
        before, notes, rest = function.__doc__.rstrip().partition("\n\n    Notes")
        checked.__doc__ = before + SHARED_SECTIONS.rstrip() + notes + rest + "\n    "
    return checked  # type: ignore[return-value]


def no_name(number: int) -> str:
    """Return that a modeling library makes up no names."""
    return ""


@dataclass
class LinearModel:
    """``row_lower <= A x <= row_upper``, ``lower <= x <= upper``, some ``x`` integer."""

    matrix: Any
    """Coefficients: anything ``scipy.sparse.csr_matrix`` takes."""
    row_lower: ArrayLike
    row_upper: ArrayLike
    lower: ArrayLike
    upper: ArrayLike
    integer: ArrayLike
    objective: ArrayLike
    maximize: bool
    names: Sequence[str]
    constant: float = 0.0
    """The constant term of the objective."""
    name: str = ""
    default_name: Callable[[int], str] = no_name
    """The name that the modeling library gives to a column that the user did not name."""

    def problem_with_costs(self, costs: Any, index_of: Callable[[Any], int]) -> Problem:
        """Build the problem of the costs that a user chose; see :func:`choose_columns`."""
        return self.problem(choose_columns(costs, self.names, index_of))

    def problem(self, cost_columns: Iterable[int]) -> Problem:
        """Build the problem whose predicted costs belong to these columns, in this order."""
        from scipy.sparse import csr_matrix, hstack, vstack

        from regretless import Problem

        first = list(cost_columns)
        chosen = set(first)
        order = np.array(
            first + [column for column in range(len(self.names)) if column not in chosen]
        )
        low, high = np.asarray(self.row_lower, dtype=float), np.asarray(self.row_upper, dtype=float)
        equal = low == high
        has_lower, has_upper = np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
        matrix = csr_matrix(self.matrix)
        # A column may occur twice in one row, which means the sum.
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
            # from_arrays has no constant term: a column fixed at 1 with this cost replaces it.
            matrix = hstack([matrix, csr_matrix((matrix.shape[0], 1))], format="csr")
            lower, upper, integer = (
                np.append(lower, 1.0),
                np.append(upper, 1.0),
                np.append(integer, False),
            )
            known_costs = np.append(known_costs, self.constant)
        names = self.column_names(order)
        if self.constant != 0.0:
            names.append(None if CONSTANT_COLUMN in self.names else CONSTANT_COLUMN)
        if None in names[: len(first)]:
            names[: len(first)] = [None] * len(first)
        parts = [(equal, high, "=="), (has_upper, high, "<="), (has_lower, low, ">=")]
        return Problem.from_arrays(
            vstack([matrix[rows] for rows, _, _ in parts], format="csr"),
            np.concatenate([bounds[rows] for rows, bounds, _ in parts]),
            relations=[relation for rows, _, relation in parts for _ in range(rows.sum())],
            sense="maximize" if self.maximize else "minimize",
            lower=lower,
            upper=upper,
            integer=integer,
            costs=list(range(len(first))),
            # Objective coefficients; those of columns with predicted costs are ignored.
            known_costs=known_costs,
            names=names if any(names) else None,
            name=self.name,
        )

    def column_names(self, order: Iterable[int]) -> list[str | None]:
        """Return the names of columns in an order; None for those that do not identify one.

        These are empty and equal names, and those that the modeling library made up.
        """
        counts = Counter(self.names)
        return [
            name if name not in ("", self.default_name(column)) and counts[name] == 1 else None
            for column, name in ((column, self.names[column]) for column in order)
        ]


def choose_columns(costs: Any, names: Sequence[str], index_of: Callable[[Any], int]) -> list[int]:
    """Return the columns whose costs are predicted.

    Parameters
    ----------
    costs : None, str, int, variable, or a container of them
        All columns (``None``), names, patterns with ``*``, column numbers, or variables.
    names : sequence of str
        The names of all columns.
    index_of : callable
        Returns the column of a variable.

    Raises
    ------
    ValueError
        If a name, number or variable is unknown or given twice. A column that is already chosen may
        match a pattern (``["x3", "x*"]``: x3 first, then the others).
    """
    if costs is None:
        return list(range(len(names)))
    chosen: dict[int, None] = {}
    for item in flatten(costs):
        if isinstance(item, str) and "*" in item:
            chosen.update(dict.fromkeys(matching_columns(item, names)))
            continue
        column = find_column(item, names, index_of)
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


def choose_array_columns(
    costs: Any, names: Sequence[str], columns_of: Callable[[Any], list[int] | None]
) -> list[int]:
    """Return the columns whose costs are predicted, where a variable may be an array.

    Parameters
    ----------
    costs : None, str, int, variable, or a container of them
        As in :func:`choose_columns`.
    names : sequence of str
        The names of all columns.
    columns_of : callable
        Returns the columns of a variable; ``None`` for anything else, such as a variable of
        another model.
    """
    if costs is None:
        return choose_columns(None, names, int)
    items: list[Any] = []
    for item in flatten(costs):
        if isinstance(item, (str, int, float)):
            items.append(item)
            continue
        columns = columns_of(item)
        if columns is None:
            raise foreign_variable_error(item)
        items += columns
    return choose_columns(items, names, int)


def find_column(item: Any, names: Sequence[str], index_of: Callable[[Any], int]) -> int:
    """Return the column of one name, number or variable."""
    if isinstance(item, str):
        columns = matching_columns(item, names)
        if len(columns) > 1:
            raise ValueError(
                f"{len(columns)} columns are called '{item}'; give column numbers or variables"
            )
        return columns[0]
    if isinstance(item, (bool, float)):
        raise ValueError(
            f"costs holds {item!r}; give names, patterns such as 'x*', column numbers, or variables"
        )
    column = item if isinstance(item, int) else index_of(item)
    if not 0 <= column < len(names):
        raise ValueError(
            f"costs holds column {column}, but the model's columns are 0 to {len(names) - 1}"
        )
    return column


def foreign_variable_error(variable: Any) -> ValueError:
    """Return the error for a variable of another model.

    Its index would refer to an unrelated column of this one.
    """
    return ValueError(f"costs holds {variable}, which is not a variable of this model")


def matching_columns(pattern: str, names: Sequence[str]) -> list[int]:
    """Return the columns whose names match a pattern; ``*`` stands for any characters."""
    test = re.compile(".*".join(map(re.escape, pattern.split("*"))))
    columns = [column for column, name in enumerate(names) if test.fullmatch(name)]
    if not columns:
        raise ValueError(
            f"no column is called '{pattern}'; the first columns are {', '.join(names[:8])}"
        )
    return columns


def flatten(costs: Any) -> Iterator[Any]:
    """Yield single names or variables from lists, arrays and dictionaries of them."""
    # A scalar variable of Pyomo is a container of itself.
    is_scalar = hasattr(costs, "is_indexed") and not costs.is_indexed()
    if isinstance(costs, (str, int)) or is_scalar:
        yield costs
    elif hasattr(costs, "tolist"):
        yield from flatten(costs.tolist())
    elif hasattr(costs, "values"):
        values = costs.values() if callable(costs.values) else costs.values
        for item in values:
            yield from flatten(item)
    elif isinstance(costs, (list, tuple)):
        for item in costs:
            yield from flatten(item)
    else:
        yield costs


def with_infinities(values: Any) -> np.ndarray:
    """Return numbers as floats, very large ones as infinity."""
    numbers = np.asarray(values, dtype=float)
    # Not sign times infinity: for 0 that would be 0 times infinity, with a warning.
    return np.where(np.abs(numbers) >= INFINITY_THRESHOLD, np.copysign(np.inf, numbers), numbers)
