"""Gurobi: grid paths as a linear program, knapsacks as a MIP, TSP and CVRP with lazy constraints.

The TSP model is PyEPO's: an edge variable per pair, degree two, and at every integer point a cut
for its shortest subtour. The CVRP model is that of CaVE and PyDFLT: at most 2K edges at the depot
and rounded capacity cuts for components of integer points. The license that comes with the package
is limited to 2,000 variables.
"""

from __future__ import annotations

import math
from typing import Any

import common
import graphs
import solver_race

np = common.require("numpy")
gp = common.require("gurobipy")
GRB = gp.GRB

# Relative rounding error of loads, so sums of decimal demands may fill a vehicle exactly.
LOAD_TOLERANCE = 1e-9


def environment(limit: float) -> Any:
    """An environment without output, on one thread, with default settings otherwise."""
    try:
        env = gp.Env(params={"OutputFlag": 0})
    except gp.GurobiError as error:
        common.skip(f"Gurobi has no license: {error}")
    env.setParam("Threads", 1)
    env.setParam("TimeLimit", limit)
    return env


class Model:
    """A model without cuts."""

    def __init__(self, num_costs: int, limit: float, kind: str, sense: int) -> None:
        self.model = gp.Model(env=environment(limit))
        self.x = self.model.addMVar(num_costs, ub=1.0, vtype=kind)
        self.variables = self.x.tolist()
        self.model.ModelSense = sense

    def add_row(self, entries: dict[int, float], sense: str, right_side: float) -> None:
        """Adds a constraint."""
        expression = gp.LinExpr(
            list(entries.values()), [self.variables[column] for column in entries]
        )
        self.model.addLConstr(expression, sense, right_side)

    def solve(self, costs: Any) -> Any:
        self.x.Obj = costs
        try:
            self.model.optimize(self.callback)
        except gp.GurobiError as error:
            raise common.Refused(str(error)) from error
        return np.flatnonzero(self.x.X > 0.5) if self.model.SolCount else None

    callback = None

    @property
    def proven(self) -> bool:
        return self.model.Status == GRB.OPTIMAL

    @property
    def solver_seconds(self) -> float:
        return self.model.Runtime


def path(problem: solver_race.Problem, limit: float) -> Model:
    rows = graphs.flow_rows(*problem["grid"])
    model = Model(len(graphs.grid_arcs(*problem["grid"])), limit, GRB.CONTINUOUS, GRB.MINIMIZE)
    for entries, right_side in rows:
        model.add_row(entries, "=", right_side)
    return model


def knapsack(problem: solver_race.Problem, limit: float) -> Model:
    weights = problem["weights"]
    model = Model(len(weights[0]), limit, GRB.BINARY, GRB.MAXIMIZE)
    for row, capacity in zip(weights, problem["capacity"]):
        model.add_row(dict(enumerate(row)), "<", capacity)
    return model


class CutModel(Model):
    """A model on edges whose cuts are found at integer points."""

    def __init__(self, nodes: int, limit: float) -> None:
        super().__init__(nodes * (nodes - 1) // 2, limit, GRB.BINARY, GRB.MINIMIZE)
        self.nodes = nodes
        self.edges = graphs.edges(nodes)
        self.edge_index = graphs.edge_indices(nodes)
        self.model.Params.LazyConstraints = 1
        self.callback = self.separate

    def add_degree_row(self, node: int, sense: str, right_side: float) -> None:
        """Constrains the number of edges at a node."""
        others = [other for other in range(self.nodes) if other != node]
        self.add_row({self.edge_index[node][other]: 1.0 for other in others}, sense, right_side)

    def separate(self, model: Any, where: int) -> None:
        """Called by Gurobi at every integer point."""
        if where == GRB.Callback.MIPSOL:
            values = model.cbGetSolution(self.variables)
            self.cut([self.edges[e] for e, value in enumerate(values) if value > 0.5])

    def add_edge_limit(self, nodes: list[int], count: int) -> None:
        """Adds the constraint that at most `count` edges are within a set of nodes."""
        within = [self.variables[e] for e in graphs.edges_within(nodes, self.edge_index)]
        self.model.cbLazy(gp.LinExpr([1.0] * len(within), within), GRB.LESS_EQUAL, count)

    def cut(self, chosen: list[tuple[int, int]]) -> None:
        raise NotImplementedError


class Tour(CutModel):
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        super().__init__(problem["nodes"], limit)
        for node in range(self.nodes):
            self.add_degree_row(node, "=", 2.0)

    def cut(self, chosen: list[tuple[int, int]]) -> None:
        shortest = min(graphs.components(range(self.nodes), chosen), key=len)
        if len(shortest) < self.nodes:
            self.add_edge_limit(shortest, len(shortest) - 1)


class Routes(CutModel):
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        super().__init__(len(problem["demands"]) + 1, limit)
        self.demands = [0.0, *problem["demands"]]
        self.capacity = problem["capacity"]
        self.add_degree_row(0, "<", 2.0 * problem["vehicles"])
        for node in range(1, self.nodes):
            self.add_degree_row(node, "=", 2.0)

    def cut(self, chosen: list[tuple[int, int]]) -> None:
        customers = [(i, j) for i, j in chosen if i > 0]
        touched = {j for i, j in chosen if i == 0}
        for component in graphs.components(range(1, self.nodes), customers):
            load = sum(self.demands[node] for node in component)
            vehicles = math.ceil(load / self.capacity - LOAD_TOLERANCE)
            if len(component) > 1 and (vehicles > 1 or not touched.intersection(component)):
                self.add_edge_limit(component, len(component) - vehicles)


BUILDERS = {"grid_path": path, "knapsack": knapsack, "tsp": Tour, "cvrp": Routes}

if __name__ == "__main__":
    solver_race.run("Gurobi", ".".join(map(str, gp.gurobi.version())), BUILDERS)
