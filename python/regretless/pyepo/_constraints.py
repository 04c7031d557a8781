"""The constraints that bind at a solution, in the form in which PyEPO's CaVE reads them.

PyEPO's ``optDatasetConstrs`` takes the normals of binding constraints from the inner model of a
Gurobi model: its rows with slack and sense, the cuts that were added lazily, and the bounds of
binary variables. :class:`BindingConstraints` answers the same questions about a problem of this
package. Tours and routes have more constraints than can be listed; those that bind at a solution
are known from it: a set of consecutive nodes has one edge less than nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from regretless.modeling.linear import LinearModel
from regretless.pyepo._linear_forms import present_nodes

OPTIMAL = 2
"""Gurobi's status of an optimal solution."""

LOADED = 1
"""Gurobi's status of a model that was not solved yet."""

ACTIVE_EDGE = 0.5
"""Values above this mean that an edge is used."""


@dataclass(frozen=True)
class CostVariable:
    """A variable with a predicted cost."""

    index: int

    @property
    def VarName(self) -> str:
        """Its name."""
        return f"x{self.index}"


@dataclass(frozen=True)
class EdgeSum:
    """The sum of some edges."""

    edges: tuple[int, ...]

    def size(self) -> int:
        """Return the number of terms."""
        return len(self.edges)

    def getVar(self, term: int) -> CostVariable:
        """Return the variable of a term."""
        return CostVariable(self.edges[term])

    def getCoeff(self, term: int) -> float:
        """Return the coefficient of a term."""
        return 1.0


@dataclass(frozen=True)
class Cut:
    """A sum of edges with an upper bound, as PyEPO reads the cuts of a Gurobi model."""

    _lhs: EdgeSum
    _rhs: float
    _sense: str = "<"


class BindingConstraints:
    """Rows, slacks and cuts at the last solution of a model.

    Parameters
    ----------
    description : dict
        The description of the problem without further constraints.
    linear : callable
        Returns its linear model with further constraints.
    costs : int
        Number of predicted costs.
    """

    def __init__(
        self, description: dict[str, Any], linear: Callable[[], LinearModel], costs: int
    ) -> None:
        self.variables = [CostVariable(column) for column in range(costs)]
        self._description, self._linear, self._costs = description, linear, costs
        self._rows: tuple[Any, np.ndarray, list[str]] | None = None
        self._decision: np.ndarray | None = None

    def set_decision(self, decision: np.ndarray) -> None:
        """Keep the solution at which constraints bind."""
        self._decision = decision

    @property
    def Status(self) -> int:
        """Gurobi's number for an optimal solution, once there is one."""
        return LOADED if self._decision is None else OPTIMAL

    @property
    def NumConstrs(self) -> int:
        """Number of rows."""
        return len(self._matrix_rows()[2])

    def getConstrs(self) -> list[int]:
        """Return the numbers of all rows."""
        return list(range(self.NumConstrs))

    def getA(self) -> Any:
        """Return the coefficients of the rows."""
        return self._matrix_rows()[0]

    def getAttr(self, name: str, rows: list[int]) -> list[Any]:
        """Return ``Slack`` or ``Sense`` of some rows."""
        matrix, bounds, senses = self._matrix_rows()
        if name == "Sense":
            return [senses[row] for row in rows]
        if name == "Slack":
            slack = bounds - matrix @ np.asarray(self._decision, dtype=float)
            return [float(slack[row]) for row in rows]
        raise AttributeError(f"rows have the attributes Slack and Sense, not {name}")

    def _matrix_rows(self) -> tuple[Any, np.ndarray, list[str]]:
        """Return coefficients, right-hand sides and senses of the rows of predicted columns."""
        if self._rows is None:
            self._rows = cost_rows(self._description, self._linear(), self._costs)
        return self._rows

    @property
    def _lazy_constrs(self) -> list[Cut]:
        """The constraints of tours and routes that bind, beyond the rows."""
        kind = self._description["kind"]
        if self._decision is None or kind not in ("tsp", "cvrp"):
            return []
        nodes = self._description.get("nodes") or len(self._description["demands"]) + 1
        edge_of = {edge: number for number, edge in enumerate(combinations(range(nodes), 2))}
        used = [edge for edge, number in edge_of.items() if self._decision[number] > ACTIVE_EDGE]
        cuts = {}
        for nodes_in_sequence in consecutive_nodes(used, kind == "tsp"):
            members = tuple(sorted(nodes_in_sequence))
            edges = tuple(edge_of[edge] for edge in combinations(members, 2))
            cuts[members] = Cut(EdgeSum(edges), len(members) - 1.0)
        return list(cuts.values())


def cost_rows(
    description: dict[str, Any], linear: LinearModel, costs: int
) -> tuple[Any, np.ndarray, list[str]]:
    """Return the rows that hold predicted columns alone, one per finite bound.

    Raises
    ------
    ValueError
        If other rows are more than an auxiliary formulation of tours and routes.
    """
    from scipy.sparse import csr_matrix, vstack

    matrix = csr_matrix(linear.matrix)
    is_own = np.diff(matrix[:, costs:].indptr) == 0
    if description["kind"] in ("tsp", "cvrp"):
        matrix, lower, upper = with_degrees(description, linear, is_own)
    elif is_own.all():
        lower, upper = np.asarray(linear.row_lower), np.asarray(linear.row_upper)
    else:
        raise ValueError(
            "binding constraints are those of predicted costs, and this problem has columns "
            "without one; predict the costs of all columns"
        )
    matrix = matrix[:, :costs]
    equal = lower == upper
    parts = [
        (equal, upper, "="),
        (np.isfinite(upper) & ~equal, upper, "<"),
        (np.isfinite(lower) & ~equal, lower, ">"),
    ]
    return (
        vstack([matrix[rows] for rows, _, _ in parts], format="csr"),
        np.concatenate([bounds[rows] for rows, bounds, _ in parts]),
        [sense for rows, _, sense in parts for _ in range(int(rows.sum()))],
    )


def with_degrees(
    description: dict[str, Any], linear: LinearModel, is_own: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return two edges per node, the number of vehicles, and the further constraints."""
    from scipy.sparse import csr_matrix, vstack

    is_tour = description["kind"] == "tsp"
    nodes = description["nodes"] if is_tour else len(description["demands"]) + 1
    edges = list(combinations(range(nodes), 2))
    present = present_nodes(description)
    exists = np.array([present[i] and present[j] for i, j in edges])
    (visited,) = np.nonzero(present)
    degrees = np.array([[node in edge for edge in edges] for node in visited]) * exists
    lower, upper = np.full(len(visited), 2.0), np.full(len(visited), 2.0)
    if not is_tour:
        lower[0], upper[0] = -np.inf, 2.0 * description["vehicles"]
    # The degrees of a tour are rows of its linear model; what follows them was added.
    added = is_own.copy()
    if is_tour:
        added[: len(visited)] = False
    rows = csr_matrix(linear.matrix)[:, : len(edges)][added]
    return (
        vstack([csr_matrix(degrees, dtype=float), rows], format="csr"),
        np.concatenate([lower, np.asarray(linear.row_lower)[added]]),
        np.concatenate([upper, np.asarray(linear.row_upper)[added]]),
    )


def consecutive_nodes(used: list[tuple[int, int]], is_tour: bool) -> list[list[int]]:
    """Return the sets of at least three consecutive nodes of a tour, or of customers of routes.

    Sets of two nodes are the upper bound of an edge. Of a tour, sets of more than half of the nodes
    are left out: with two edges per node, a set and the other nodes have the same constraint.
    """
    neighbors: dict[int, list[int]] = {}
    for i, j in used:
        neighbors.setdefault(i, []).append(j)
        neighbors.setdefault(j, []).append(i)
    sets = []
    for sequence in sequences(neighbors, is_tour):
        count = len(sequence)
        for start in range(count):
            longest = count // 2 if is_tour else count - start
            for length in range(3, longest + 1):
                sets.append([sequence[(start + step) % count] for step in range(length)])
    return sets


def sequences(neighbors: dict[int, list[int]], is_tour: bool) -> list[list[int]]:
    """Return the nodes of a tour in visiting order, or the customers of each route."""
    found: list[list[int]] = []
    seen = {0}
    for first in neighbors.get(0, []):
        if first in seen:
            continue
        sequence, node = [], first
        while node != 0 and node not in seen:
            seen.add(node)
            sequence.append(node)
            onward = [other for other in neighbors[node] if other not in seen and other != 0]
            node = onward[0] if onward else 0
        found.append([0, *sequence] if is_tour else sequence)
    return found
