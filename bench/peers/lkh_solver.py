"""LKH through elkai: TSP by one run of local search, without a proof of optimality.

LKH needs non-negative integers. A constant is added to all costs, which changes the length of every
tour by the same amount, and they are rounded to a ten-thousandth.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import common
import graphs
import solver_race

np = common.require("numpy")
elkai = common.require("elkai")


class Tour:
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        self.nodes = problem["nodes"]
        self.edge_index = graphs.edge_indices(self.nodes)

    def solve(self, costs: Any) -> Any:
        integer_costs = np.rint((costs - costs.min()) * 1e4).astype(np.int64)
        square = np.zeros((self.nodes, self.nodes), dtype=np.int64)
        upper = np.triu_indices(self.nodes, 1)
        square[upper] = integer_costs
        tour = elkai.DistanceMatrix((square + square.T).tolist()).solve_tsp(runs=1)
        return graphs.tour_edges(tour[:-1], self.edge_index)

    proven = False
    solver_seconds = None


if __name__ == "__main__":
    solver_race.run("LKH", f"elkai {version('elkai')}", {"tsp": Tour}, heuristic=True)
