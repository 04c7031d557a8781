"""HiGHS: linear and integer programs; TSP by repeated solves with subtour elimination cuts.

HiGHS has no lazy constraints, so one TSP instance needs several integer programs; its cuts are
removed before the next instance. CVRP is not included.
"""

from __future__ import annotations

from typing import Any

import common
import graphs
import solver_race

np = common.require("numpy")
highspy = common.require("highspy")


class Model:
    """A model without cuts."""

    def __init__(self, num_costs: int, limit: float, integer: bool, maximize: bool = False) -> None:
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.highs.setOptionValue("time_limit", limit)
        zeros = np.zeros(num_costs)
        empty = np.array([], dtype=np.int32)
        self.highs.addCols(num_costs, zeros, zeros, zeros + 1.0, 0, empty, empty, np.array([]))
        self.columns = np.arange(num_costs, dtype=np.int32)
        if integer:
            kinds = np.full(num_costs, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
            self.highs.changeColsIntegrality(num_costs, self.columns, kinds)
        if maximize:
            self.highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self.limit = limit

    def add_row(self, lower: float, entries: dict[int, float], upper: float) -> None:
        """Adds a constraint."""
        columns = np.array(list(entries), dtype=np.int32)
        self.highs.addRow(lower, upper, len(columns), columns, np.array(list(entries.values())))

    def run(self) -> Any:
        """Solves the current model; returns the indices of the chosen variables."""
        # HiGHS adds up the time of all solves, so the limit must grow with it.
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.limit)
        self.highs.run()
        return np.flatnonzero(np.asarray(self.highs.getSolution().col_value) > 0.5)

    def solve(self, costs: Any) -> Any:
        self.highs.changeColsCost(len(costs), self.columns, costs)
        return self.run()

    @property
    def proven(self) -> bool:
        return self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal

    solver_seconds = None


def path(problem: solver_race.Problem, limit: float) -> Model:
    model = Model(len(graphs.grid_arcs(*problem["grid"])), limit, integer=False)
    for entries, right_side in graphs.flow_rows(*problem["grid"]):
        model.add_row(right_side, entries, right_side)
    return model


def knapsack(problem: solver_race.Problem, limit: float) -> Model:
    weights = problem["weights"]
    model = Model(len(weights[0]), limit, integer=True, maximize=True)
    for row, capacity in zip(weights, problem["capacity"]):
        model.add_row(-highspy.kHighsInf, dict(enumerate(row)), capacity)
    return model


class Tour(Model):
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        self.nodes = problem["nodes"]
        self.edges = graphs.edges(self.nodes)
        self.edge_index = graphs.edge_indices(self.nodes)
        super().__init__(len(self.edges), limit, integer=True)
        for node in range(self.nodes):
            others = [other for other in range(self.nodes) if other != node]
            self.add_row(2.0, {self.edge_index[node][other]: 1.0 for other in others}, 2.0)

    def solve(self, costs: Any) -> Any:
        cuts = self.highs.getNumRow() - self.nodes
        if cuts > 0:
            self.highs.deleteRows(cuts, np.arange(self.nodes, self.nodes + cuts, dtype=np.int32))
        self.highs.changeColsCost(len(costs), self.columns, costs)
        while True:
            chosen = self.run()
            components = list(graphs.components(range(self.nodes), [self.edges[e] for e in chosen]))
            if not self.proven or len(components) == 1:
                return chosen if len(components) == 1 else None
            for component in components:
                within = graphs.edges_within(component, self.edge_index)
                self.add_row(-highspy.kHighsInf, dict.fromkeys(within, 1.0), len(component) - 1.0)


BUILDERS = {"grid_path": path, "knapsack": knapsack, "tsp": Tour}

if __name__ == "__main__":
    solver_race.run("HiGHS", highspy.Highs().version(), BUILDERS)
