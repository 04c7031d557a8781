"""Solvers of networks, offers and storage beside SciPy, OR-Tools and HiGHS, one thread each.

    python bench/network_race.py [--instances 20] [--smoke] [--task assignment]

Every solver gets the same instances; the objectives must agree. Times are processor times, medians
over the instances, the shortest of three passes: of the call that takes costs and returns a
solution, with its Python interface. Of OR-Tools and HiGHS only the solve counts, not the transfer
of costs. These two cannot be loaded together, so every peer runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

FEATURES = 5
PASSES = 3
# Relative difference of objectives that is rounding. Integer programs of HiGHS end at the gap 1e-9.
TOLERANCE = 1e-6


@dataclass
class Task:
    """Instances of one problem: its numbers, and costs and ends per instance."""

    name: str
    kind: str
    numbers: dict[str, Any]
    costs: np.ndarray
    # Source and target of every instance of a path.
    ends: np.ndarray | None
    # Other solvers of the problem.
    peers: list[str]
    # Most instances that a slow peer solves.
    slow: int = 3


def linear_costs(rng: np.random.Generator, rows: int, count: int) -> np.ndarray:
    """Draw costs as a linear predictor of five features returns them, all positive."""
    features = rng.normal(size=(rows, FEATURES))
    weights = rng.binomial(1, 0.5, (FEATURES, count)) * rng.uniform(0.5, 1.5, (FEATURES, count))
    return np.maximum(features @ weights / np.sqrt(FEATURES) + 5.0, 0.05)


def road_network(rng: np.random.Generator, side: int, arcs: int) -> np.ndarray:
    """Build a grid of streets in both directions, with further arcs between near nodes."""
    nodes = np.arange(side * side).reshape(side, side)
    pairs = [
        np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1),
        np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1),
    ]
    streets = np.concatenate([pair[:, order] for pair in pairs for order in ([0, 1], [1, 0])])
    known = {tuple(arc) for arc in streets.tolist()}
    extra = []
    while len(streets) + len(extra) < arcs:
        row, col = rng.integers(side, size=2)
        to_row, to_col = np.clip([row, col] + rng.integers(-3, 4, size=2), 0, side - 1)
        arc = (int(nodes[row, col]), int(nodes[to_row, to_col]))
        if arc[0] != arc[1] and arc not in known:
            known.add(arc)
            extra.append(arc)
    return np.concatenate([streets, np.array(extra, dtype=streets.dtype).reshape(-1, 2)])


def assignment(rng: np.random.Generator, rows: int, smoke: bool, rank: int | None) -> Task:
    """Assign as many agents as tasks."""
    size = 20 if smoke else 100
    costs = rng.uniform(0, 1, (rows, size * size))
    if rank is not None:
        costs = linear_costs(rng, rows, size * size)
    kind = "uniform random costs" if rank is None else "costs of a linear predictor (rank 5)"
    return Task(
        f"assignment {size}x{size}, {kind}", "assignment", {"size": size}, costs, None, ["scipy"]
    )


def path(rng: np.random.Generator, rows: int, smoke: bool) -> Task:
    """Find paths between random ends."""
    side, arcs = (20, 2_163) if smoke else (142, 100_000)
    network = road_network(rng, side, arcs)
    ends = rng.integers(side * side, size=(rows, 2))
    ends[ends[:, 0] == ends[:, 1], 1] += 1
    ends %= side * side
    numbers = {"arcs": network, "nodes": side * side}
    name = f"path, {side * side:,} nodes, {arcs:,} arcs"
    return Task(
        name, "graph_path", numbers, linear_costs(rng, rows, arcs), ends, ["scipy", "highs"]
    )


def transport(rng: np.random.Generator, rows: int, smoke: bool) -> Task:
    """Ship from origins to destinations."""
    size = 15 if smoke else 100
    demand = rng.integers(5, 30, size)
    supply = rng.multinomial(demand.sum(), np.ones(size) / size)
    # SimpleMinCostFlow takes integers.
    costs = np.round(1000 * linear_costs(rng, rows, size * size))
    numbers = {"supply": supply.astype(float), "demand": demand.astype(float)}
    return Task(f"transport {size}x{size}", "transport", numbers, costs, None, ["ortools"])


def sparse_flow(rng: np.random.Generator, rows: int, smoke: bool) -> Task:
    """Send flows through a sparse network."""
    nodes, arcs, terminals = (100, 500, 10) if smoke else (2_000, 10_000, 200)
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes], axis=1)
    others = rng.integers(nodes, size=(arcs, 2))
    network = np.unique(np.concatenate([ring, others[others[:, 0] != others[:, 1]]]), axis=0)
    is_ring = network[:, 1] == (network[:, 0] + 1) % nodes
    kept = np.flatnonzero(is_ring).tolist() + rng.permutation(np.flatnonzero(~is_ring)).tolist()
    network = network[np.sort(kept[:arcs])]
    chosen = rng.permutation(nodes)[: 2 * terminals]
    amounts = rng.integers(1, 20, terminals)
    supply = np.zeros(nodes)
    supply[chosen[:terminals]], supply[chosen[terminals:]] = amounts, -amounts
    capacity = rng.integers(20, 200, len(network)).astype(float)
    # The ring carries everything, so there is a flow.
    capacity[network[:, 1] == (network[:, 0] + 1) % nodes] = amounts.sum()
    costs = np.round(1000 * linear_costs(rng, rows, len(network)))
    numbers = {"arcs": network, "capacity": capacity, "supply": supply}
    name = f"flow, {nodes:,} nodes, {len(network):,} arcs"
    return Task(name, "min_cost_flow", numbers, costs, None, ["ortools"])


def offers(rng: np.random.Generator, rows: int, smoke: bool) -> Task:
    """Choose one offer per group within a budget."""
    groups, per_group = (100, 5) if smoke else (10_000, 10)
    weights = rng.uniform(1, 10, (groups, per_group))
    lightest = weights.min(axis=1).sum()
    capacity = lightest + 0.3 * (weights.mean(axis=1).sum() - lightest)
    values = linear_costs(rng, rows, groups * per_group)
    numbers = {"weights": weights, "capacity": float(capacity)}
    name = f"multiple choice, {groups:,} groups x {per_group} offers"
    return Task(name, "multiple_choice_knapsack", numbers, values, None, ["highs"])


BATTERY = {
    "capacity": 4.0,
    "initial": 2.0,
    "charge_limit": 1.0,
    "discharge_limit": 1.0,
    "charge_efficiency": 0.95,
    "discharge_efficiency": 0.95,
}


def storage(rng: np.random.Generator, rows: int, smoke: bool) -> Task:
    """Charge and discharge a battery."""
    steps = 12 if smoke else 48
    # Some prices are negative: charging and discharging must be mutually exclusive.
    prices = linear_costs(rng, rows, steps) - 4.0 + rng.normal(0, 0.5, (rows, steps))
    numbers = {"steps": steps, **BATTERY}
    return Task(f"storage, {steps} steps", "storage", numbers, prices, None, ["highs"])


def spanning_tree(rng: np.random.Generator, rows: int, smoke: bool) -> Task:
    """Connect all nodes of a complete graph."""
    nodes = 20 if smoke else 200
    costs = linear_costs(rng, rows, nodes * (nodes - 1) // 2)
    name = f"spanning tree, {nodes} nodes"
    return Task(name, "spanning_tree", {"nodes": nodes}, costs, None, ["scipy"])


def tasks(instances: int, smoke: bool) -> Iterator[Task]:
    """Yield all tasks, each with random numbers of its own."""
    makers: list[Callable[[np.random.Generator, int, bool], Task]] = [
        lambda rng, rows, smoke: assignment(rng, rows, smoke, None),
        lambda rng, rows, smoke: assignment(rng, rows, smoke, 5),
        path,
        transport,
        sparse_flow,
        offers,
        storage,
        spanning_tree,
    ]
    for number, maker in enumerate(makers):
        yield maker(np.random.default_rng(number), instances, smoke)


@dataclass
class Timed:
    """Median seconds and objectives of a solver."""

    seconds: list[float]
    objectives: list[float]

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return float(np.median(self.seconds))


Solve = Callable[[int], tuple[float, float]]


def measured(solve: Solve, rows: int, passes: int) -> Timed:
    """Solve all rows several times; `solve` returns the objective and its processor seconds."""
    seconds, objectives = [np.inf] * rows, [0.0] * rows
    for _ in range(passes):
        for row in range(rows):
            objectives[row], taken = solve(row)
            seconds[row] = min(seconds[row], taken)
    return Timed(seconds, objectives)


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


class Rows:
    """Rows of a linear program."""

    def __init__(self) -> None:
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.columns: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.sizes: list[int] = []

    def add(self, lower: float, upper: float, columns: Any, values: Any) -> None:
        """Add a row."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.columns.append(np.asarray(columns))
        self.values.append(np.asarray(values, dtype=float))
        self.sizes.append(len(self.columns[-1]))


def highs_costs(task: Task, row: int) -> np.ndarray:
    """Return the costs of the columns, to be minimized."""
    costs = task.costs[row]
    if task.kind == "multiple_choice_knapsack":
        return -costs
    if task.kind == "storage":
        # Buy, sell, level, and whether the step charges.
        return np.concatenate([costs, -costs, np.zeros(2 * len(costs))])
    return costs


def highs_model(task: Task) -> tuple[np.ndarray, np.ndarray, Rows]:
    """Return bounds of the columns, which of them are integer, and the rows."""
    numbers, rows = task.numbers, Rows()
    infinity = float("inf")
    if task.kind == "graph_path":
        arcs, nodes = numbers["arcs"], numbers["nodes"]
        leaving, entering = (np.argsort(arcs[:, side], kind="stable") for side in (0, 1))
        starts = [
            np.searchsorted(arcs[order, side], np.arange(nodes + 1))
            for side, order in ((0, leaving), (1, entering))
        ]
        for node in range(nodes):
            out = leaving[starts[0][node] : starts[0][node + 1]]
            into = entering[starts[1][node] : starts[1][node + 1]]
            signs = np.concatenate([np.ones(len(out)), -np.ones(len(into))])
            rows.add(0.0, 0.0, np.concatenate([out, into]), signs)
        return np.tile([0.0, 1.0], (len(arcs), 1)), np.zeros(len(arcs), dtype=bool), rows
    if task.kind == "multiple_choice_knapsack":
        weights = numbers["weights"]
        groups, per_group = weights.shape
        for group in range(groups):
            columns = np.arange(group * per_group, (group + 1) * per_group)
            rows.add(1.0, 1.0, columns, np.ones(per_group))
        rows.add(-infinity, numbers["capacity"], np.arange(weights.size), weights.ravel())
        return np.tile([0.0, 1.0], (weights.size, 1)), np.ones(weights.size, dtype=bool), rows
    steps = numbers["steps"]
    buy, sell, level, charges = (np.arange(steps) + block * steps for block in range(4))
    for step in range(steps):
        columns = [level[step], buy[step], sell[step]]
        values = [1.0, -numbers["charge_efficiency"], 1.0 / numbers["discharge_efficiency"]]
        before = numbers["initial"] if step == 0 else 0.0
        if step > 0:
            columns.append(level[step - 1])
            values.append(-1.0)
        rows.add(before, before, columns, values)
        rows.add(-infinity, 0.0, [buy[step], charges[step]], [1.0, -numbers["charge_limit"]])
        limit = numbers["discharge_limit"]
        rows.add(-infinity, limit, [sell[step], charges[step]], [1.0, limit])
    bounds = np.zeros((4 * steps, 2))
    for block, limit in ((buy, "charge_limit"), (sell, "discharge_limit"), (level, "capacity")):
        bounds[block, 1] = numbers[limit]
    bounds[charges, 1] = 1.0
    bounds[level[-1], 0] = numbers["initial"]
    integer = np.zeros(4 * steps, dtype=bool)
    integer[charges] = True
    return bounds, integer, rows


PEERS = {"scipy": scipy_solver, "ortools": ortools_solver, "highs": highs_solver}
TITLES = {"scipy": "SciPy", "ortools": "OR-Tools", "highs": "HiGHS"}


def run_peer(arguments: argparse.Namespace) -> None:
    """Time one peer on one task and print the result as JSON."""
    task = list(tasks(arguments.instances, arguments.smoke))[arguments.number]
    rows = len(task.costs)
    slow = arguments.peer == "highs" and task.kind != "storage"
    rows, passes = (min(rows, task.slow), 1) if slow else (rows, PASSES)
    timed = measured(PEERS[arguments.peer](task), rows, passes)
    print(json.dumps({"seconds": timed.seconds, "objectives": timed.objectives}))


def peer_result(arguments: argparse.Namespace, number: int, peer: str) -> Timed:
    """Run a peer in a process of its own."""
    command = [sys.executable, __file__, "--peer", peer, "--number", str(number)]
    command += ["--instances", str(arguments.instances)]
    command += ["--smoke"] if arguments.smoke else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Timed(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Race all tasks and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--smoke", action="store_true", help="small instances")
    parser.add_argument("--task", help="only tasks whose name contains this")
    parser.add_argument("--peer", choices=sorted(PEERS), help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        run_peer(arguments)
        return
    print(f"{processor()}, one thread, {arguments.instances} instances")
    print("| task | other solver | ours | theirs | speedup |\n|---|---|---:|---:|---:|")
    for number, task in enumerate(tasks(arguments.instances, arguments.smoke)):
        if arguments.task and arguments.task not in task.name:
            continue
        ours = measured(our_solver(task), len(task.costs), PASSES)
        for peer in task.peers:
            theirs = peer_result(arguments, number, peer)
            count = len(theirs.objectives)
            np.testing.assert_allclose(ours.objectives[:count], theirs.objectives, rtol=TOLERANCE)
            median = float(np.median(ours.seconds[:count]))
            print(
                f"| {task.name} | {TITLES[peer]} | {1e3 * median:.3f} | {1e3 * theirs.median:.3f} "
                f"| {theirs.median / median:.1f}× |",
                flush=True,
            )


def processor() -> str:
    """Return the name of the processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
