"""A road network, an assignment and a battery: regret of methods beside least squares.

    python bench/network_regret.py [--program regretless] [--rows 500] [--seeds 3] [--task road]
                                   [--csv results.csv]
    python bench/network_regret.py --speed

Tables and checks are those of row_parameters.py. `--speed` trains SPO+ on the road network as a
`graph_path` and as the linear program of its flows, five epochs, and prints the seconds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import network_tasks
import numpy as np
import row_parameters as tables
from row_parameters import FEATURES, Task, polynomial_costs, wide_table
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

SIDE, ARCS = 20, 2163
NODES = SIDE * SIDE
AGENTS = 25
STEPS = 48


def road_table(rng, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw arcs, features, costs and ends of the road network."""
    arcs = network_tasks.road_network(rng, SIDE, ARCS)
    features = rng.normal(size=(rows, FEATURES))
    ends = rng.integers(NODES, size=(rows, 2))
    ends[:, 1] = np.where(ends[:, 0] == ends[:, 1], (ends[:, 1] + 1) % NODES, ends[:, 1])
    return arcs, features, polynomial_costs(rng, features, ARCS), ends


def road(rng, rows: int) -> Task:
    """Find paths through a road network of 400 nodes whose ends change."""
    arcs, features, costs, ends = road_table(rng, rows)
    order = np.lexsort((arcs[:, 1], arcs[:, 0]))

    def best(row: int) -> float:
        places = (arcs[order, 0], arcs[order, 1])
        matrix = csr_matrix((costs[row][order], places), shape=(NODES, NODES))
        return float(dijkstra(matrix, indices=ends[row, 0])[ends[row, 1]])

    header, cells = wide_table(features, {"from": ends[:, 0], "to": ends[:, 1], "c": costs})
    problem = (
        'kind = "graph_path"\n'
        'arcs = { file = "arcs.csv", from = "tail", to = "head", name = "arc" }\n'
        'source = { column = "from" }\ntarget = { column = "to" }\n'
    )
    listed = "".join(f"{tail},{head},c_{number}\n" for number, (tail, head) in enumerate(arcs))
    flags = ["--costs", "c_*", "--features", "x*"]
    files = {"arcs.csv": "tail,head,arc\n" + listed}
    return Task("road", problem, header, cells, flags, False, best, files)


def assignment(rng, rows: int) -> Task:
    """Assign 25 agents to 25 tasks."""
    features = rng.normal(size=(rows, FEATURES))
    costs = polynomial_costs(rng, features, AGENTS * AGENTS)

    def best(row: int) -> float:
        matrix = costs[row].reshape(AGENTS, AGENTS)
        return float(matrix[linear_sum_assignment(matrix)].sum())

    header, cells = wide_table(features, {"c": costs})
    problem = f'kind = "assignment"\nagents = {AGENTS}\ntasks = {AGENTS}\n'
    return Task("assignment", problem, header, cells, ["--costs", "c_*"], False, best)


def storage(rng, rows: int) -> Task:
    """Charge and discharge a battery over 48 prices; what it holds in the morning changes."""
    features = rng.normal(size=(rows, FEATURES))
    prices = polynomial_costs(rng, features, STEPS)
    initial = rng.integers(0, 5, rows).astype(float)
    battery = network_tasks.BATTERY

    def best(row: int) -> float:
        # Prices are positive, so no optimum charges and discharges in one step.
        gain, loss = battery["charge_efficiency"], 1 / battery["discharge_efficiency"]
        steps = np.tri(STEPS)
        change = np.hstack([gain * steps, -loss * steps])
        lower, upper = np.zeros(STEPS) - initial[row], battery["capacity"] - initial[row]
        lower[-1] = 0.0
        found = linprog(
            np.concatenate([prices[row], -prices[row]]),
            A_ub=np.vstack([change, -change]),
            b_ub=np.concatenate([np.full(STEPS, upper), -lower]),
            bounds=[(0, battery["charge_limit"])] * STEPS
            + [(0, battery["discharge_limit"])] * STEPS,
        )
        return float(found.fun)

    header, cells = wide_table(features, {"level": initial, "c": prices})
    numbers = {**battery, "initial": '{ column = "level" }'}
    problem = f'kind = "storage"\nsteps = {STEPS}\n'
    problem += "".join(f"{name} = {value}\n" for name, value in numbers.items())
    flags = ["--costs", "c_*", "--features", "x*"]
    return Task("storage", problem, header, cells, flags, False, best)


TASKS = {"road": road, "assignment": assignment, "storage": storage}


def speed(program: str, rows: int) -> None:
    """Train on the road network as a graph and as a linear program."""
    rng = np.random.default_rng(0)
    graph = road(rng, rows)
    arcs, features, costs, ends = road_table(np.random.default_rng(0), rows)
    supply = np.zeros((rows, NODES))
    supply[np.arange(rows), ends[:, 0]] = 1.0
    supply[np.arange(rows), ends[:, 1]] = -1.0
    header, cells = wide_table(features, {"b": supply, "c": costs})
    rows_of_model = [[] for _ in range(NODES)]
    for number, (tail, head) in enumerate(arcs.tolist()):
        rows_of_model[tail].append(f"+ c_{number}")
        rows_of_model[head].append(f"- c_{number}")
    model = "Minimize\n obj: " + "\n + ".join(f"c_{j}" for j in range(ARCS)) + "\nSubject To\n"
    model += "".join(f" n_{i}: {' '.join(row)} = 0\n" for i, row in enumerate(rows_of_model))
    model += "Bounds\n" + "".join(f" 0 <= c_{j} <= 1\n" for j in range(ARCS)) + "End\n"
    problem = (
        'kind = "linear"\nfile = "model.lp"\ncosts = ["c_*"]\n'
        'rhs = { "n_*" = { column = "b_*" } }\n'
    )
    linear = Task(
        "linear", problem, header, cells, graph.flags, False, graph.best, {"model.lp": model}
    )
    seconds = {}
    for task in (graph, linear):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tables.write(task, folder)
            common = ["--data", "table.csv", *task.flags, "--problem", "problem.toml", "--quiet"]
            tables.run([program, "label", *common[:2], *task.flags[:2], *common[-3:]], folder)
            training = ["--method", "SPO+", "--epochs", "5", "--threads", "1"]
            output = tables.run([program, "train", *common, *training, "--json"], folder)
            # Of the training itself: not of reading the table and of the solves of test rows.
            seconds[task.name] = json.loads(output)["seconds"]
    print("| the road network as | seconds | ratio |\n|---|---:|---:|")
    print(f"| graph_path | {seconds['road']:.2f} | 1.0 |")
    ratio = seconds["linear"] / seconds["road"]
    print(f"| linear program of its flows | {seconds['linear']:.2f} | {ratio:.1f} |")


def main() -> None:
    """Run all tasks or those named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    tables.add_arguments(parser, TASKS)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        speed(options.program, options.rows)
        return
    tables.run_tasks(TASKS, options)


if __name__ == "__main__":
    main()
