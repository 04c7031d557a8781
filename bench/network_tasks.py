"""Instances of paths, assignments, flows, offers, batteries and spanning trees, drawn at random.

Imported before numpy: solvers are compared on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

FEATURES = 5


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
