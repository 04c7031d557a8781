"""SCIP as it comes with OR-Tools: knapsacks."""

from __future__ import annotations

from typing import Any

import common
import solver_race

ortools = common.require("ortools")
pywraplp = common.require("ortools.linear_solver.pywraplp")


class Knapsack:
    def __init__(self, problem: solver_race.Problem, limit: float) -> None:
        self.solver = pywraplp.Solver.CreateSolver("SCIP")
        self.solver.SetNumThreads(1)
        self.solver.SetTimeLimit(int(limit * 1e3))
        self.x = [self.solver.BoolVar(f"x{j}") for j in range(len(problem["weights"][0]))]
        for weights, capacity in zip(problem["weights"], problem["capacity"]):
            row = self.solver.Constraint(-self.solver.infinity(), capacity)
            for variable, weight in zip(self.x, weights):
                row.SetCoefficient(variable, weight)
        self.objective = self.solver.Objective()
        self.objective.SetMaximization()
        self.status = None

    def solve(self, costs: Any) -> Any:
        for variable, cost in zip(self.x, costs.tolist()):
            self.objective.SetCoefficient(variable, cost)
        self.status = self.solver.Solve()
        if self.status not in (self.solver.OPTIMAL, self.solver.FEASIBLE):
            return None
        return [j for j, variable in enumerate(self.x) if variable.solution_value() > 0.5]

    @property
    def proven(self) -> bool:
        return self.status == self.solver.OPTIMAL

    solver_seconds = None


if __name__ == "__main__":
    solver_race.run("SCIP", f"OR-Tools {ortools.__version__}", {"knapsack": Knapsack})
