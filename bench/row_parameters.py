"""Six tasks whose feasible sets differ between rows: regret of methods beside least squares.

    python bench/row_parameters.py [--program regretless] [--rows 500] [--seeds 3] [--task houses]
                                   [--csv results.csv]

Each task is written as a table and a problem file, and `regretless compare` trains on it. The best
objective of every test row and the decisions of one model are checked by programs of this file,
which share nothing with regretless: dynamic programming, enumeration, and SciPy.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog

METHODS = ["MAE(O,S)", "MSE(C,O,S)", "SPO+", "PFYL", "MAP cache 5%", "auto 60s"]
FEATURES = 5
# Relative difference between two solvers' objectives that is rounding: tables are stored in single
# precision, seven digits.
TOLERANCE = 1e-5


@dataclass
class Task:
    """A table, a problem file, and how to solve one row without regretless."""

    name: str
    problem: str
    header: list[str]
    rows: list[list]
    flags: list[str]
    maximize: bool
    # The best objective of an instance, by its number.
    best: Callable[[int], float]
    files: dict[str, str] = field(default_factory=dict)


def polynomial_costs(rng, features: np.ndarray, count: int) -> np.ndarray:
    """Draw costs that are a polynomial of the features with noise, as PyEPO generates them."""
    weights = rng.binomial(1, 0.5, (count, features.shape[1]))
    linear = features @ weights.T / math.sqrt(features.shape[1])
    costs = ((linear + 3) ** 4 / 3**4 + 1) * rng.uniform(0.75, 1.25, linear.shape)
    return np.round(costs, 5)


def wide_table(
    features: np.ndarray, columns: dict[str, np.ndarray]
) -> tuple[list[str], list[list]]:
    """Return header and rows: features, then the columns, arrays as numbered columns."""
    header = [f"x{j}" for j in range(features.shape[1])]
    blocks = [np.round(features, 6)]
    for name, values in columns.items():
        values = np.asarray(values)
        if values.ndim == 1:
            header.append(name)
            blocks.append(values[:, None])
        else:
            header += [f"{name}_{j}" for j in range(values.shape[1])]
            blocks.append(values)
    return header, np.hstack(blocks).tolist()


def knapsack(rng, rows: int) -> Task:
    """Load a truck whose capacity changes daily."""
    items = 16
    features = rng.normal(size=(rows, FEATURES))
    values = polynomial_costs(rng, features, items)
    weights = rng.integers(3, 9, items)
    capacity = rng.integers(15, 45, rows)

    def best(row: int) -> float:
        table = np.zeros(capacity[row] + 1)
        for weight, value in zip(weights, values[row], strict=True):
            table[weight:] = np.maximum(table[weight:], table[:-weight] + value)
        return table[-1]

    header, cells = wide_table(features, {"truck": capacity, "c": values})
    problem = (
        f'kind = "knapsack"\nweights = {weights.tolist()}\ncapacity = {{ column = "truck" }}\n'
    )
    return Task("knapsack", problem, header, cells, ["--costs", "c_*"], True, best)


def grid(rng, rows: int) -> Task:
    """Find a path through a grid whose ends change."""
    size = 6
    features = rng.normal(size=(rows, FEATURES))
    arcs = []
    for i in range(size):
        arcs += [((i, j), (i, j + 1)) for j in range(size - 1)]
        if i + 1 < size:
            arcs += [((i, j), (i + 1, j)) for j in range(size)]
    costs = polynomial_costs(rng, features, len(arcs))
    start = rng.integers(0, 3, (rows, 2))
    end = rng.integers(3, size, (rows, 2))

    def best(row: int) -> float:
        distance = {tuple(start[row]): 0.0}
        # Arcs are in the order of their nodes: every path to a node comes before the arcs from it.
        for (a, b), cost in sorted(zip(arcs, costs[row], strict=True)):
            if a in distance:
                distance[b] = min(distance.get(b, math.inf), distance[a] + cost)
        return distance[tuple(end[row])]

    ends = {"from": start @ [size, 1], "to": end @ [size, 1], "c": costs}
    header, cells = wide_table(features, ends)
    problem = (
        f'kind = "grid_path"\ngrid = [{size}, {size}]\n'
        'source = { column = "from" }\ntarget = { column = "to" }\n'
    )
    flags = ["--costs", "c_*", "--features", "x*"]
    return Task("grid path", problem, header, cells, flags, False, best)


def assignment(rng, rows: int) -> Task:
    """Assign jobs to the workers who are present, as an LP file."""
    workers, jobs = 8, 5
    features = rng.normal(size=(rows, FEATURES))
    costs = polynomial_costs(rng, features, workers * jobs)
    present = rng.uniform(size=(rows, workers)) < 0.8
    present[:, :jobs] |= present.sum(axis=1, keepdims=True) < jobs
    lines = [
        "Minimize",
        " cost: " + " + ".join(f"x_{w}_{j}" for w in range(workers) for j in range(jobs)),
    ]
    lines.append("Subject To")
    for j in range(jobs):
        lines.append(f" job_{j}: " + " + ".join(f"x_{w}_{j}" for w in range(workers)) + " = 1")
    for w in range(workers):
        lines.append(f" worker_{w}: " + " + ".join(f"x_{w}_{j}" for j in range(jobs)) + " <= 1")
    lines.append("End")

    def best(row: int) -> float:
        matrix = costs[row].reshape(workers, jobs)[present[row]]
        return matrix[linear_sum_assignment(matrix)].sum()

    header, cells = wide_table(features, {"here": present.astype(int), "x": costs})
    # Cost columns have the names of the model's columns.
    names = [f"x_{w}_{j}" for w in range(workers) for j in range(jobs)]
    header[-workers * jobs :] = names
    problem = (
        'kind = "linear"\nfile = "assignment.lp"\nrhs = { "worker_*" = { column = "here_*" } }\n'
    )
    flags = ["--costs", ",".join(names)]
    files = {"assignment.lp": "\n".join(lines) + "\n"}
    return Task("assignment", problem, header, cells, flags, False, best, files)


def transport(rng, rows: int) -> Task:
    """Deliver to customers whose demands change daily, as an LP file."""
    plants, customers = 4, 6
    features = rng.normal(size=(rows, FEATURES))
    costs = polynomial_costs(rng, features, plants * customers)
    demand = rng.integers(2, 10, (rows, customers))
    supply = 18
    lines = ["Minimize"]
    lines.append(
        " cost: " + " + ".join(f"y_{p}_{c}" for p in range(plants) for c in range(customers))
    )
    lines.append("Subject To")
    for c in range(customers):
        lines.append(f" demand_{c}: " + " + ".join(f"y_{p}_{c}" for p in range(plants)) + " >= 1")
    for p in range(plants):
        lines.append(
            f" supply_{p}: " + " + ".join(f"y_{p}_{c}" for c in range(customers)) + f" <= {supply}"
        )
    lines.append("End")

    def best(row: int) -> float:
        rows_of = np.zeros((customers + plants, plants * customers))
        for p in range(plants):
            for c in range(customers):
                rows_of[c, p * customers + c] = -1
                rows_of[customers + p, p * customers + c] = 1
        limits = np.concatenate([-demand[row], np.full(plants, supply)])
        return linprog(costs[row], A_ub=rows_of, b_ub=limits).fun

    header, cells = wide_table(features, {"d": demand, "y": costs})
    names = [f"y_{p}_{c}" for p in range(plants) for c in range(customers)]
    header[-plants * customers :] = names
    problem = 'kind = "linear"\nfile = "transport.lp"\nrhs = { "demand_*" = { column = "d_*" } }\n'
    flags = ["--costs", "y_*"]
    files = {"transport.lp": "\n".join(lines) + "\n"}
    return Task("transport", problem, header, cells, flags, False, best, files)


def houses(rng, rows: int) -> Task:
    """Buy houses: other ones, and another number of them, every week; prices are known."""
    weights = rng.normal(size=FEATURES)
    cells, instances = [], []
    for week in range(rows):
        count = rng.integers(4, 11)
        features = np.round(rng.normal(size=(count, FEATURES)), 6)
        score = np.exp(0.45 * features @ weights / math.sqrt(FEATURES))
        value = np.round(100 * score * rng.uniform(0.8, 1.2, count) + 10 * features[:, 0] ** 2, 3)
        price = np.round(value * rng.uniform(0.7, 1.15, count), 3)
        budget = float(np.round(price.sum() * rng.uniform(0.25, 0.6), 3))
        instances.append((value, price, budget))
        for house in range(count):
            cells.append(
                [week, f"h{week}_{house}", *features[house], price[house], budget, value[house]]
            )

    def best(row: int) -> float:
        value, price, budget = instances[row]
        margins, most = value - price, 0.0
        for chosen in itertools.product([0, 1], repeat=len(value)):
            chosen = np.array(chosen)
            if price @ chosen <= budget * (1 + 1e-9):
                most = max(most, margins @ chosen)
        return most

    header = ["week", "house", *(f"x{j}" for j in range(FEATURES)), "price", "budget", "value"]
    problem = (
        'kind = "knapsack"\nweights = { column = "price" }\ncapacity = { column = "budget" }\n'
        'known = { column = "price", factor = -1 }\n'
    )
    flags = ["--instance-column", "week", "--item-column", "house", "--cost-column", "value"]
    return Task("houses", problem, header, cells, flags, True, best)


def tours(rng, rows: int) -> Task:
    """Drive a round through the customers of the day."""
    nodes = 9
    features = rng.normal(size=(rows, FEATURES))
    edges = list(itertools.combinations(range(nodes), 2))
    costs = polynomial_costs(rng, features, len(edges))
    visit = rng.uniform(size=(rows, nodes)) < 0.75
    visit[:, :4] |= visit.sum(axis=1, keepdims=True) < 4

    def best(row: int) -> float:
        length = dict(zip(edges, costs[row], strict=True))
        present = np.flatnonzero(visit[row])
        first, others = present[0], present[1:]
        between = lambda a, b: length[min(a, b), max(a, b)]  # noqa: E731
        # Held and Karp: the shortest way from the first node through a set to its last node.
        ways = {(frozenset([node]), node): between(first, node) for node in others}
        for size in range(2, len(others) + 1):
            for group in itertools.combinations(others, size):
                group = frozenset(group)
                for last in group:
                    rest = group - {last}
                    ways[group, last] = min(ways[rest, node] + between(node, last) for node in rest)
        everyone = frozenset(others)
        return min(ways[everyone, last] + between(last, first) for last in others)

    header, cells = wide_table(features, {"visit": visit.astype(int), "c": costs})
    problem = f'kind = "tsp"\nnodes = {nodes}\npresent = {{ columns = "visit_*" }}\n'
    return Task("tours", problem, header, cells, ["--costs", "c_*"], False, best)


TASKS = {task.__name__: task for task in (knapsack, grid, assignment, transport, houses, tours)}


def run(arguments: list[str], folder: Path) -> str:
    """Run a command; its failure ends the benchmark."""
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def write(task: Task, folder: Path) -> None:
    """Write table, problem file and model file."""
    with open(folder / "table.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(task.header)
        writer.writerows(task.rows)
    (folder / "problem.toml").write_text(task.problem)
    for name, text in task.files.items():
        (folder / name).write_text(text)


def check(task: Task, program: str, folder: Path) -> int:
    """Compare the best objective of every instance with the independent program."""
    common = ["--data", "table.csv", *task.flags]
    model = ["--problem", "problem.toml", "--method", "MAE(O,S)", "--out", "check.safetensors"]
    run([program, "train", *common, *model, "--quiet"], folder)
    rows = ["--model", "check.safetensors", "--rows-out", "rows.csv"]
    run([program, "evaluate", *common, *rows, "--quiet"], folder)
    with open(folder / "rows.csv", newline="") as text:
        found = list(csv.DictReader(text))
    for number, row in enumerate(found):
        best, expected = float(row["optimal_objective"]), task.best(number)
        if abs(best - expected) > TOLERANCE * max(1.0, abs(expected)):
            raise SystemExit(f"{task.name}, instance {number}: {best} is not {expected}")
        sign = -1 if task.maximize else 1
        if sign * (float(row["objective"]) - best) < -TOLERANCE * max(1.0, abs(best)):
            raise SystemExit(f"{task.name}, instance {number}: better than the best")
    return len(found)


def regrets(task: Task, program: str, folder: Path, seed: int) -> dict[str, float]:
    """Return the normalized regret of methods and baselines on the test rows, in per cent."""
    common = ["--data", "table.csv", *task.flags, "--problem", "problem.toml"]
    methods = [
        "--methods",
        ";".join(METHODS),
        "--seeds",
        "1",
        "--seed",
        str(seed),
        "--out",
        "compared",
    ]
    run([program, "compare", *common, *methods, "--split", "0.2,0.3", "--quiet"], folder)
    with open(folder / "compared" / "results.csv", newline="") as text:
        records = list(csv.DictReader(text))
    return {row["method"]: 100 * float(row["test_normalized_regret"]) for row in records}


def report(
    make: Callable[..., Task], name: str, options: argparse.Namespace
) -> list[dict[str, str | float]]:
    """Print the mean regrets of all methods over the seeds; return them as rows of a table."""
    sums: dict[str, list[float]] = {}
    checked = 0
    for seed in range(options.seeds):
        task = make(np.random.default_rng(seed), options.rows)
        with tempfile.TemporaryDirectory() as folder:
            write(task, Path(folder))
            checked += check(task, options.program, Path(folder))
            for method, regret in regrets(task, options.program, Path(folder), seed).items():
                sums.setdefault(method, []).append(regret)
    means = {method: float(np.mean(values)) for method, values in sums.items()}
    line = ", ".join(f"{method} {mean:.2f}" for method, mean in means.items())
    print(f"{name}: {checked} instances checked; normalized regret in %: {line}", flush=True)
    return [{"task": name, "method": method, "regret": mean} for method, mean in means.items()]


def add_arguments(parser: argparse.ArgumentParser, tasks: dict) -> None:
    """Add the arguments of a run of tasks."""
    parser.add_argument("--program", default="regretless")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--task", choices=[*tasks], action="append")
    parser.add_argument("--csv", type=Path, help="write the mean regrets to this file, too")


def run_tasks(tasks: dict, options: argparse.Namespace) -> None:
    """Run all tasks or those named."""
    records = []
    for name in options.task or tasks:
        records += report(tasks[name], name, options)
    if options.csv:
        with open(options.csv, "w", newline="") as out:
            writer = csv.DictWriter(out, ["task", "method", "regret"])
            writer.writeheader()
            writer.writerows(records)


def main() -> None:
    """Run the tasks that the arguments name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_arguments(parser, TASKS)
    run_tasks(TASKS, parser.parse_args())


if __name__ == "__main__":
    main()
