"""Problems of this package as linear models, for constraints that are added to them.

The first columns of each model are the costs of the problem, in their order; further columns are
auxiliary. Decisions are integral as those of the problem are.

* Assignments give each member of the smaller side one of the larger.
* Paths are flows of one unit from the source to the target, by default the first and last node.
* Tours have two edges at each node and are connected by a flow of one unit from node 0 to every
  other node (Gavish and Graves, 1978).
* Routes are directed: a flow of goods along the arcs of a route limits its load. If a customer
  demands nothing, a second flow of one unit to every customer excludes cycles without the depot.
  The linear relaxation of routes is that of loads at customers (Miller, Tucker and Zemlin, 1960),
  as in PyEPO: it is weaker.
* Absent items and edges are columns that are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from regretless import Problem
from regretless.modeling.linear import LinearModel

Description = dict[str, Any]
Edge = tuple[int, int]

ITEM_KINDS = ("knapsack", "top_k")
"""Problems with one cost per item."""

NODE_KINDS = ("tsp", "cvrp")
"""Problems with one cost per edge of a complete graph."""


def linear_model(problem: Problem) -> LinearModel | None:
    """Return the linear model of a problem.

    ``None`` for a Python function, and for problems whose coefficients are not in their
    description.
    """
    description = problem.to_dict()
    build = BUILDERS.get(description["kind"])
    return None if build is None else of_present(description, build)


def linear_relaxation(problem: Problem) -> LinearModel | None:
    """Return the linear relaxation of a problem; ``None`` as :func:`linear_model`."""
    description = problem.to_dict()
    if description["kind"] == "cvrp":
        model = of_present(description, partial(cvrp, limits_loads_by_flow=False))
    else:
        found = linear_model(problem)
        if found is None:
            return None
        model = found
    return replace(model, integer=np.zeros(len(model.names), dtype=bool))


def of_present(
    description: Description, build: Callable[[Description], LinearModel]
) -> LinearModel:
    """Return the linear model of a problem of which some items or nodes may be absent.

    It is that of the problem without them, with further columns that are 0.
    """
    kind = description["kind"]
    if "present" not in description or kind not in ITEM_KINDS + NODE_KINDS:
        return build(description)
    smaller = {key: value for key, value in description.items() if key != "present"}
    present = np.array(description["present"], dtype=bool)
    if kind == "knapsack":
        smaller["weights"] = [np.array(row)[present].tolist() for row in smaller["weights"]]
    elif kind == "top_k":
        smaller["items"] = int(present.sum())
        smaller["k"] = min(smaller["k"], smaller["items"])
    elif kind == "tsp":
        smaller["nodes"] = int(present.sum())
    else:
        smaller["demands"] = np.array(smaller["demands"])[present].tolist()
    return with_absent(build(smaller), present_costs(description))


def present_nodes(description: Description) -> np.ndarray:
    """Return for each node of tours and routes whether it is present, the depot included."""
    if description["kind"] == "tsp":
        return np.array(description.get("present", [1] * description["nodes"]), dtype=bool)
    customers = description.get("present", [1] * len(description["demands"]))
    return np.array([1, *customers], dtype=bool)


def present_costs(description: Description) -> np.ndarray:
    """Return for each cost of items, tours or routes whether it exists."""
    if description["kind"] in ITEM_KINDS:
        return np.array(description["present"], dtype=bool)
    nodes = present_nodes(description)
    return np.array([nodes[i] and nodes[j] for i, j in combinations(range(len(nodes)), 2)])


def with_absent(model: LinearModel, present: np.ndarray) -> LinearModel:
    """Return the model with columns of absent costs, each of which a further row sets to 0."""
    from scipy.sparse import coo_matrix

    matrix = coo_matrix(model.matrix)
    (absent,) = np.nonzero(~present)
    auxiliary = len(model.names) - int(present.sum())
    columns = len(present) + auxiliary
    places = np.concatenate([np.nonzero(present)[0], np.arange(len(present), columns)])
    rows = matrix.shape[0] + np.arange(len(absent))
    entries = (
        np.concatenate([matrix.data, np.ones(len(absent))]),
        (np.concatenate([matrix.row, rows]), np.concatenate([places[matrix.col], absent])),
    )
    upper, integer = np.zeros(columns), np.ones(columns, dtype=bool)
    upper[places], integer[places] = model.upper, model.integer
    zeros = np.zeros(len(absent))
    return replace(
        model,
        matrix=coo_matrix(entries, shape=(matrix.shape[0] + len(absent), columns)).tocsr(),
        row_lower=np.concatenate([model.row_lower, zeros]),
        row_upper=np.concatenate([model.row_upper, zeros]),
        lower=np.zeros(columns),
        upper=upper,
        integer=integer,
        objective=np.zeros(columns),
        names=[""] * columns,
    )


def with_row(model: LinearModel, coefficients: np.ndarray, bound: float) -> LinearModel:
    """Return the model with ``coefficients @ x <= bound``, for the first columns."""
    from scipy.sparse import csr_matrix, vstack

    row = np.zeros(len(model.names))
    row[: len(coefficients)] = coefficients
    return replace(
        model,
        matrix=vstack([csr_matrix(model.matrix), csr_matrix(row)], format="csr"),
        row_lower=np.append(model.row_lower, -np.inf),
        row_upper=np.append(model.row_upper, bound),
    )


class Rows:
    """Rows of a linear model, added one after the other."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, float]] = []
        self.lower: list[float] = []
        self.upper: list[float] = []

    def add(self, terms: dict[int, float], lower: float, upper: float) -> None:
        """Add ``lower <= sum of coefficient * column <= upper``."""
        number = len(self.lower)
        self.entries += [(number, column, value) for column, value in terms.items()]
        self.lower.append(lower)
        self.upper.append(upper)

    def model(
        self,
        costs: int,
        auxiliary: int,
        *,
        upper: np.ndarray | float = 1.0,
        integer_auxiliary: int = 0,
        maximize: bool = False,
    ) -> LinearModel:
        """Return the model of integral columns with costs, then of auxiliary ones.

        The first ``integer_auxiliary`` auxiliary columns are binary, the others only nonnegative.
        """
        from scipy.sparse import coo_matrix

        columns = costs + auxiliary
        rows, places, values = zip(*self.entries) if self.entries else ((), (), ())
        upper_bounds = np.full(columns, np.inf)
        upper_bounds[:costs] = upper
        upper_bounds[costs : costs + integer_auxiliary] = 1.0
        return LinearModel(
            matrix=coo_matrix((values, (rows, places)), shape=(len(self.lower), columns)).tocsr(),
            row_lower=np.array(self.lower),
            row_upper=np.array(self.upper),
            lower=np.zeros(columns),
            upper=upper_bounds,
            integer=np.arange(columns) < costs + integer_auxiliary,
            objective=np.zeros(columns),
            maximize=maximize,
            names=[""] * columns,
        )


def grid_path(description: Description) -> LinearModel:
    """Return the flow of one unit through a grid."""
    height, width = description["grid"]
    arcs = grid_arcs(height, width)
    balances: list[dict[int, float]] = [{} for _ in range(height * width)]
    for arc, (tail, head) in enumerate(arcs):
        balances[tail][arc], balances[head][arc] = -1.0, 1.0
    source = description.get("source", 0)
    target = description.get("target", height * width - 1)
    rows = Rows()
    for node, balance in enumerate(balances):
        # The source sends the unit, the target receives it.
        excess = float(node == target) - float(node == source)
        rows.add(balance, excess, excess)
    closed = [arc for arc, is_open in enumerate(description.get("present", [])) if not is_open]
    if closed:
        rows.add(dict.fromkeys(closed, 1.0), 0.0, 0.0)
    return rows.model(len(arcs), 0)


def grid_arcs(height: int, width: int) -> list[Edge]:
    """Return the arcs of a grid: of each row of nodes those to the right, then those down."""
    arcs = []
    for row in range(height):
        first = row * width
        arcs += [(first + column, first + column + 1) for column in range(width - 1)]
        if row + 1 < height:
            arcs += [(first + column, first + column + width) for column in range(width)]
    return arcs


def knapsack(description: Description) -> LinearModel:
    """Return the capacity constraints of a knapsack."""
    rows = Rows()
    for weights, capacity in zip(description["weights"], description["capacity"]):
        rows.add(dict(enumerate(weights)), -np.inf, capacity)
    return rows.model(len(description["weights"][0]), 0, maximize=True)


def top_k(description: Description) -> LinearModel:
    """Return the choice of some of the items."""
    items, count = description["items"], float(description["k"])
    rows = Rows()
    fewest = 0.0 if description.get("at_most") else count
    rows.add(dict.fromkeys(range(items), 1.0), fewest, count)
    return rows.model(items, 0, maximize=description["sense"] == "maximize")


def assignment(description: Description) -> LinearModel:
    """Return the assignment of each member of the smaller side to one of the larger."""
    sides = [description["agents"], description["tasks"]]
    agents, tasks = (side if isinstance(side, int) else len(side) for side in sides)
    pairs = np.arange(agents * tasks).reshape(agents, tasks)
    rows = Rows()
    for members, count in ((pairs, agents), (pairs.T, tasks)):
        for member in members:
            rows.add(dict.fromkeys(member.tolist(), 1.0), float(count == min(pairs.shape)), 1.0)
    absent = [pair for pair, flag in enumerate(description.get("present", [])) if not flag]
    for members in description.get("forbidden", []):
        numbers = [
            number if isinstance(side, int) else [str(name) for name in side].index(str(number))
            for number, side in zip(members, sides)
        ]
        absent.append(int(pairs[tuple(numbers)]))
    if absent:
        rows.add(dict.fromkeys(absent, 1.0), 0.0, 0.0)
    return rows.model(pairs.size, 0, maximize=description["sense"] == "maximize")


def multiple_choice_knapsack(description: Description) -> LinearModel:
    """Return the choice of one offer of each group within a capacity."""
    weights = description["weights"]
    rows = Rows()
    first = 0
    for group in weights:
        offers = dict.fromkeys(range(first, first + len(group)), 1.0)
        rows.add(offers, 0.0 if description.get("optional") else 1.0, 1.0)
        first += len(group)
    rows.add(dict(enumerate(sum(weights, []))), -np.inf, description["capacity"])
    absent = [offer for offer, flag in enumerate(description.get("present", [])) if not flag]
    if absent:
        rows.add(dict.fromkeys(absent, 1.0), 0.0, 0.0)
    return rows.model(first, 0, maximize=description["sense"] == "maximize")


def tsp(description: Description) -> LinearModel:
    """Return tours: two edges at each node, connected by a flow."""
    nodes = description["nodes"]
    edges = list(combinations(range(nodes), 2))
    ends: list[dict[int, float]] = [{} for _ in range(nodes)]
    for number, (i, j) in enumerate(edges):
        ends[i][number] = ends[j][number] = 1.0
    rows = Rows()
    for edges_at_node in ends:
        rows.add(edges_at_node, 2.0, 2.0)
    # The flow along an edge in each direction.
    flow = {
        arc: len(edges) + number for number, arc in enumerate(edges + [(j, i) for i, j in edges])
    }
    for node in range(1, nodes):
        rows.add(balance_of(node, nodes, flow), 1.0, 1.0)
    for number, (i, j) in enumerate(edges):
        for arc in ((i, j), (j, i)):
            rows.add({flow[arc]: 1.0, number: 1.0 - nodes}, -np.inf, 0.0)
    return rows.model(len(edges), len(flow))


def cvrp(description: Description, limits_loads_by_flow: bool = True) -> LinearModel:
    """Return routes: directed arcs whose loads are within the capacity."""
    demands, capacity = description["demands"], description["capacity"]
    nodes = len(demands) + 1
    edges = list(combinations(range(nodes), 2))
    arcs = edges + [(j, i) for i, j in edges]
    used = {arc: len(edges) + number for number, arc in enumerate(arcs)}
    rows = Rows()
    for number, (i, j) in enumerate(edges):
        rows.add({number: 1.0, used[i, j]: -1.0, used[j, i]: -1.0}, 0.0, 0.0)
    for node in range(1, nodes):
        others = [other for other in range(nodes) if other != node]
        rows.add({used[other, node]: 1.0 for other in others}, 1.0, 1.0)
        rows.add({used[node, other]: 1.0 for other in others}, 1.0, 1.0)
    starts = {used[0, node]: 1.0 for node in range(1, nodes)}
    rows.add(starts, -np.inf, description["vehicles"])
    auxiliary = len(arcs)
    if limits_loads_by_flow:
        goods = {arc: len(edges) + auxiliary + number for number, arc in enumerate(arcs)}
        add_flow(rows, demands, capacity, goods, used)
        auxiliary += len(arcs)
    else:
        add_loads(rows, demands, capacity, len(edges) + auxiliary, used)
        auxiliary += len(demands)
    if min(demands) <= 0.0:
        units = {arc: len(edges) + auxiliary + number for number, arc in enumerate(arcs)}
        add_flow(rows, [1.0] * len(demands), nodes - 1.0, units, used)
        auxiliary += len(arcs)
    # A route with a single customer uses its edge to the depot twice.
    at_depot = 2.0 if description.get("single_customer_routes") else 1.0
    upper = np.array([at_depot if i == 0 else 1.0 for i, _ in edges])
    return rows.model(len(edges), auxiliary, upper=upper, integer_auxiliary=len(arcs))


def add_flow(
    rows: Rows,
    demands: list[float],
    capacity: float,
    flow: dict[Edge, int],
    used: dict[Edge, int],
) -> None:
    """Add a flow from node 0 to the customers within the capacity of the arcs that are used."""
    for number, demand in enumerate(demands):
        rows.add(balance_of(number + 1, len(demands) + 1, flow), demand, demand)
    for arc, column in flow.items():
        rows.add({column: 1.0, used[arc]: -capacity}, -np.inf, 0.0)


def add_loads(
    rows: Rows, demands: list[float], capacity: float, first: int, used: dict[Edge, int]
) -> None:
    """Add the load after each customer, in columns from ``first`` on; it grows along an arc."""
    for number, demand in enumerate(demands):
        rows.add({first + number: 1.0}, demand, capacity)
    for (i, j), column in used.items():
        if i > 0 and j > 0:
            terms = {first + i - 1: 1.0, first + j - 1: -1.0, column: capacity}
            rows.add(terms, -np.inf, capacity - demands[j - 1])


def balance_of(node: int, nodes: int, column: dict[Edge, int]) -> dict[int, float]:
    """Return what flows into a node minus what flows out of it."""
    terms = {}
    for other in range(nodes):
        if other != node:
            terms[column[other, node]] = 1.0
            terms[column[node, other]] = -1.0
    return terms


def linear_arrays(description: Description) -> LinearModel:
    """Return a linear problem with its predicted columns first."""
    columns = description["columns"]
    order = sorted(range(len(columns)), key=lambda number: "cost" in columns[number])
    place = {column: number for number, column in enumerate(order)}
    rows = Rows()
    for row in description["rows"]:
        terms: dict[int, float] = {}
        for column, value in row["entries"]:
            terms[place[column]] = terms.get(place[column], 0.0) + value
        rows.add(terms, row.get("lower", -np.inf), row.get("upper", np.inf))
    ordered = [columns[number] for number in order]
    model = rows.model(len(columns), 0, maximize=description["sense"] == "maximize")
    return replace(
        model,
        lower=np.array([column.get("lower", -np.inf) for column in ordered]),
        upper=np.array([column.get("upper", np.inf) for column in ordered]),
        integer=np.array([column.get("integer", False) for column in ordered]),
        objective=np.array([column.get("cost", 0.0) for column in ordered]),
        names=[column.get("name", "") for column in ordered],
        name=description["name"],
    )


BUILDERS: dict[str, Callable[[Description], LinearModel]] = {
    "grid_path": grid_path,
    "assignment": assignment,
    "multiple_choice_knapsack": multiple_choice_knapsack,
    "knapsack": knapsack,
    "top_k": top_k,
    "tsp": tsp,
    "cvrp": cvrp,
    "linear_arrays": linear_arrays,
}
