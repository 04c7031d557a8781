"""CP-SAT of OR-Tools: knapsacks, TSP as one circuit, CVRP as several circuits with load variables.

Costs are passed unscaled; CP-SAT scales them to integers itself. Weights and demands must be
integers: weights have one decimal and are exact, demands are rounded to a millionth of the
capacity.
"""

from __future__ import annotations

import math
from typing import Any

import common
import graphs
import solver_race

ortools = common.require("ortools")
cp_model = common.require("ortools.sat.python.cp_model")


class Base:
    """A model whose objective is replaced for every instance."""

    def __init__(self, limit: float, maximize: bool = False) -> None:
        self.model = cp_model.CpModel()
        self.solver = cp_model.CpSolver()
        self.solver.parameters.num_workers = 1
        self.solver.parameters.max_time_in_seconds = limit
        self.maximize = maximize
        self.status = cp_model.UNKNOWN
        # Which variables, all of equal cost, belong to each cost.
        self.variables: list[list[Any]] = []

    def solve(self, costs: Any) -> Any:
        terms = [(v, cost) for group, cost in zip(self.variables, costs.tolist()) for v in group]
        total = cp_model.LinearExpr.weighted_sum([v for v, _ in terms], [cost for _, cost in terms])
        self.model.clear_objective()
        self.model.maximize(total) if self.maximize else self.model.minimize(total)
        self.status = self.solver.solve(self.model)
        if self.status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return [
            j
            for j, group in enumerate(self.variables)
            if any(self.solver.boolean_value(v) for v in group)
        ]

    @property
    def proven(self) -> bool:
        return self.status == cp_model.OPTIMAL

    @property
    def solver_seconds(self) -> float:
        return self.solver.wall_time


class Knapsack(Base):
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        super().__init__(limit, maximize=True)
        x = [self.model.new_bool_var("") for _ in problem["weights"][0]]
        self.variables = [[v] for v in x]
        for weights, capacity in zip(problem["weights"], problem["capacity"]):
            load = cp_model.LinearExpr.weighted_sum(x, [round(10 * weight) for weight in weights])
            self.model.add(load <= math.floor(10 * capacity + 1e-6))


class Tour(Base):
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        super().__init__(limit)
        arcs = []
        for i, j in graphs.edges(problem["nodes"]):
            there, back = self.model.new_bool_var(""), self.model.new_bool_var("")
            arcs += [(i, j, there), (j, i, back)]
            self.variables.append([there, back])
        self.model.add_circuit(arcs)


class Routes(Base):
    SCALE = 1e6

    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        super().__init__(limit)
        capacity = round(problem["capacity"] * self.SCALE)
        demands = [0] + [round(demand * self.SCALE) for demand in problem["demands"]]
        nodes = len(demands)
        load = [self.model.new_int_var(demand, capacity, "") for demand in demands]
        arcs, leaving = [], []
        for i, j in graphs.edges(nodes):
            there, back = self.model.new_bool_var(""), self.model.new_bool_var("")
            arcs += [(i, j, there), (j, i, back)]
            self.variables.append([there, back])
            if i == 0:
                leaving.append(there)
                # A route with a single customer would use its edge to the depot twice.
                self.model.add_bool_or(there.Not(), back.Not())
                continue
            self.model.add(load[j] >= load[i] + demands[j]).only_enforce_if(there)
            self.model.add(load[i] >= load[j] + demands[i]).only_enforce_if(back)
        self.model.add_multiple_circuit(arcs)
        self.model.add(sum(leaving) <= problem["vehicles"])


BUILDERS = {"knapsack": Knapsack, "tsp": Tour, "cvrp": Routes}

if __name__ == "__main__":
    solver_race.run("CP-SAT", f"OR-Tools {ortools.__version__}", BUILDERS)
