"""Solvers of the tasks of network_tasks.py: this package, SciPy, OR-Tools and HiGHS.

A solver takes the number of a row and returns its objective and the processor seconds of the call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from network_programs import highs_costs, highs_model
from network_tasks import Task

Solve = Callable[[int], tuple[float, float]]


def clocked(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call and its processor seconds."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def our_solver(task: Task) -> Solve:
    """Return a solver of this package."""
    import regretless as rl

    numbers = task.numbers
    if task.kind == "graph_path":
        assert task.ends is not None
        ends = {"source": rl.column("from"), "target": rl.column("to")}
        paths = rl.Solver(rl.Problem.graph_path(numbers["arcs"].tolist(), **ends))

        def solve_path(row: int) -> tuple[float, float]:
            source, target = task.ends[row].tolist()
            ends = {"from": source, "to": target}
            solved, seconds = clocked(lambda: paths.solve(task.costs[row], parameters=ends))
            return float(solved[1]), seconds

        return solve_path
    makers = {
        "assignment": lambda: rl.Problem.assignment(numbers["size"], numbers["size"]),
        "transport": lambda: rl.Problem.transport(numbers["supply"], numbers["demand"]),
        "min_cost_flow": lambda: rl.Problem.min_cost_flow(
            numbers["arcs"].tolist(), supply=numbers["supply"], capacity=numbers["capacity"]
        ),
        "multiple_choice_knapsack": lambda: rl.Problem.multiple_choice_knapsack(
            numbers["weights"], numbers["capacity"]
        ),
        "storage": lambda: rl.Problem.storage(**numbers),
        "spanning_tree": lambda: rl.Problem.spanning_tree(nodes=numbers["nodes"]),
    }
    solver = rl.Solver(makers[task.kind]())

    def solve(row: int) -> tuple[float, float]:
        solved, seconds = clocked(lambda: solver.solve(task.costs[row]))
        return float(solved[1]), seconds

    return solve


def scipy_solver(task: Task) -> Solve:
    """Return SciPy's assignment, Dijkstra or spanning tree."""
    import scipy.sparse
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

    if task.kind == "assignment":
        size = task.numbers["size"]

        def assign(row: int) -> tuple[float, float]:
            costs = task.costs[row].reshape(size, size)
            pairs, seconds = clocked(lambda: linear_sum_assignment(costs))
            return float(costs[pairs].sum()), seconds

        return assign
    if task.kind == "graph_path":
        arcs, nodes = task.numbers["arcs"], task.numbers["nodes"]
    else:
        nodes = task.numbers["nodes"]
        arcs = np.stack(np.triu_indices(nodes, 1), axis=1)
    order = np.lexsort((arcs[:, 1], arcs[:, 0]))
    places = (arcs[order, 0], arcs[order, 1])
    matrix = scipy.sparse.csr_matrix((np.ones(len(arcs)), places), shape=(nodes, nodes))

    def with_costs(row: int) -> Any:
        np.take(task.costs[row], order, out=matrix.data)
        return matrix

    def solve(row: int) -> tuple[float, float]:
        if task.kind == "spanning_tree":
            tree, seconds = clocked(lambda: minimum_spanning_tree(with_costs(row)))
            return float(tree.sum()), seconds
        assert task.ends is not None
        source, target = task.ends[row]
        found, seconds = clocked(
            lambda: dijkstra(with_costs(row), indices=source, return_predecessors=True)
        )
        return float(found[0][target]), seconds

    return solve


def ortools_solver(task: Task) -> Solve:
    """Return OR-Tools' SimpleMinCostFlow."""
    from ortools.graph.python import min_cost_flow

    numbers = task.numbers
    if task.kind == "transport":
        origins, destinations = len(numbers["supply"]), len(numbers["demand"])
        tails = np.repeat(np.arange(origins), destinations)
        heads = origins + np.tile(np.arange(destinations), origins)
        capacity = np.full(len(tails), numbers["supply"].sum())
        supply = np.concatenate([numbers["supply"], -numbers["demand"]])
    else:
        tails, heads = numbers["arcs"].T
        capacity, supply = numbers["capacity"], numbers["supply"]

    def solve(row: int) -> tuple[float, float]:
        flow = min_cost_flow.SimpleMinCostFlow()
        costs = task.costs[row].astype(np.int64)
        flow.add_arcs_with_capacity_and_unit_cost(
            tails.astype(np.int32), heads.astype(np.int32), capacity.astype(np.int64), costs
        )
        flow.set_nodes_supplies(np.arange(len(supply), dtype=np.int32), supply.astype(np.int64))
        status, seconds = clocked(flow.solve)
        if status != flow.OPTIMAL:
            raise RuntimeError(f"SimpleMinCostFlow ended with status {status}")
        return float(flow.optimal_cost()), seconds

    return solve


def highs_solver(task: Task) -> Solve:
    """Return HiGHS on the linear or mixed-integer program."""
    import highspy

    columns, integer, rows = highs_model(task)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("mip_rel_gap", 1e-9)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(columns), len(rows.lower)
    lp.col_cost_ = np.zeros(len(columns))
    lp.col_lower_, lp.col_upper_ = columns[:, 0], columns[:, 1]
    if integer.any():
        kinds = [highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger]
        lp.integrality_ = [kinds[int(flag)] for flag in integer]
    lp.row_lower_, lp.row_upper_ = np.array(rows.lower), np.array(rows.upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(rows.sizes)]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate(rows.columns).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(rows.values)
    highs.passModel(lp)
    everything = np.arange(len(columns), dtype=np.int32)

    def solve(row: int) -> tuple[float, float]:
        costs = highs_costs(task, row)
        highs.changeColsCost(len(costs), everything, costs)
        if task.ends is not None:
            for node, amount in zip(task.ends[row], (1.0, -1.0)):
                highs.changeRowBounds(int(node), amount, amount)
        _, seconds = clocked(highs.run)
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS ended with {highs.getModelStatus()}")
        objective = highs.getInfo().objective_function_value
        if task.ends is not None:
            for node in task.ends[row]:
                highs.changeRowBounds(int(node), 0.0, 0.0)
        maximizes = task.kind == "multiple_choice_knapsack"
        return (-objective if maximizes else objective), seconds

    return solve


PEERS = {"scipy": scipy_solver, "ortools": ortools_solver, "highs": highs_solver}
TITLES = {"scipy": "SciPy", "ortools": "OR-Tools", "highs": "HiGHS"}
