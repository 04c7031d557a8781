"""PyVRP: CVRP by 1,000 iterations of iterated local search, without a proof of optimality.

PyVRP needs non-negative integers. Adding s to edges between customers and s/2 to edges at the depot
changes the cost of every solution by the same amount, since every customer has two edges; costs are
then rounded to a ten-thousandth. Routes with a single customer, which the other models exclude, are
allowed.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import common
import graphs
import solver_race

np = common.require("numpy")
pyvrp = common.require("pyvrp")
stop = common.require("pyvrp.stop")


class Routes:
    SCALE = 1e6
    ITERATIONS = 1000

    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        self.nodes = len(problem["demands"]) + 1
        self.edge_index = graphs.edge_indices(self.nodes)
        to_integer = lambda amount: round(amount * self.SCALE)
        zeros = np.zeros((self.nodes, self.nodes), dtype=np.int64)
        self.data = pyvrp.ProblemData(
            [pyvrp.Location(0, 0) for _ in range(self.nodes)],
            [
                pyvrp.Client(index + 1, delivery=[to_integer(demand)])
                for index, demand in enumerate(problem["demands"])
            ],
            [pyvrp.Depot(0)],
            [pyvrp.VehicleType(problem["vehicles"], capacity=[to_integer(problem["capacity"])])],
            [zeros],
            [zeros],
        )

    def solve(self, costs: Any) -> Any:
        square = np.zeros((self.nodes, self.nodes))
        square[np.triu_indices(self.nodes, 1)] = costs
        square += square.T
        shift = max(-2.0 * costs.min(), 0.0)
        square[1:, 1:] += shift
        square[0, 1:] += shift / 2
        square[1:, 0] += shift / 2
        np.fill_diagonal(square, 0.0)
        data = self.data.replace(distance_matrices=[np.rint(square * 1e4).astype(np.int64)])
        result = pyvrp.solve(data, stop.MaxIterations(self.ITERATIONS), seed=1, collect_stats=False)
        if not result.is_feasible():
            return None
        return [edge for route in result.best.routes() for edge in self.edges(route)]

    def edges(self, route: Any) -> list[int]:
        """Edges of a route from the depot and back."""
        nodes = [0] + [activity.idx + 1 for activity in route if activity.is_client()]
        return graphs.tour_edges(nodes, self.edge_index)

    proven = False
    solver_seconds = None


if __name__ == "__main__":
    solver_race.run("PyVRP", version("pyvrp"), {"cvrp": Routes}, heuristic=True, relaxes=True)
