"""PyEPO's SPO+ training loop with problems of this package, compared with its Gurobi models.

    python bench/pyepo_loop.py [--case TSP20] [--rows 1000] [--test 500] [--epochs 10] [--seeds 3]

Same data, same initial weights, same order of batches. Printed per case: normalized regret of both
on test rows, seconds per epoch of both (alternating, median), and the ratio. Gurobi's bundled
license allows these sizes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyepo
import torch
from pyepo.data.dataset import optDataset
from pyepo.func import SPOPlus
from pyepo.model.grb import knapsackModel, shortestPathModel, tspDFJModel
from torch.utils.data import DataLoader

import regretless as rl
from regretless.pyepo import as_pyepo, from_pyepo


@dataclass
class Case:
    """PyEPO's model and data of one benchmark."""

    model: Any
    features: np.ndarray
    costs: np.ndarray


def case(name: str, rows: int, seed: int) -> Case:
    """Return the benchmark's data (our generators equal PyEPO's) and PyEPO's model of it."""
    features, costs = rl.generate(name, instances=rows, seed=seed)
    if name.startswith("SP"):
        model = shortestPathModel(tuple(int(side) for side in name[2:].split("x")))
    elif name.startswith("TSP"):
        model = tspDFJModel(int(name[3:]))
    else:
        about = rl.Problem(name, seed=seed).to_dict()
        model = knapsackModel(np.array(about["weights"]), np.array(about["capacity"]))
    return Case(model, features, costs)


class Loop:
    """One predictor trained by PyEPO."""

    def __init__(self, model: Any, data: Case, train: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = model
        table = optDataset(model, data.features[:train], data.costs[:train])
        order = torch.Generator().manual_seed(seed)
        self.batches = DataLoader(table, batch_size=32, shuffle=True, generator=order)
        self.rest = DataLoader(
            optDataset(model, data.features[train:], data.costs[train:]), batch_size=64
        )
        self.predictor = torch.nn.Linear(data.features.shape[1], data.costs.shape[1])
        self.loss = SPOPlus(model, processes=1)
        self.optimizer = torch.optim.Adam(self.predictor.parameters(), lr=0.05)

    def epoch(self) -> float:
        """Train for one epoch; return its seconds."""
        start = time.perf_counter()
        for features, costs, decisions, objectives in self.batches:
            loss = self.loss(self.predictor(features), costs, decisions, objectives)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return time.perf_counter() - start

    def regret(self) -> float:
        """Return the normalized regret on the test rows."""
        return float(pyepo.metric.regret(self.predictor, self.model, self.rest))


def compare(name: str, args: argparse.Namespace) -> str:
    """Return one line of the table."""
    ours_regret, peer_regret, ours_time, peer_time = [], [], [], []
    for seed in range(args.seeds):
        data = case(name, args.rows + args.test, seed)
        ours = Loop(as_pyepo(from_pyepo(data.model)), data, args.rows, seed)
        peer = Loop(data.model, data, args.rows, seed)
        for _ in range(args.epochs):
            ours_time.append(ours.epoch())
            peer_time.append(peer.epoch())
        ours_regret.append(ours.regret())
        peer_regret.append(peer.regret())
    fast, slow = statistics.median(ours_time), statistics.median(peer_time)
    regrets = " | ".join(f"{np.mean(r):.4f} ± {np.std(r):.4f}" for r in (ours_regret, peer_regret))
    return f"| {name} | {regrets} | {fast:.3f} | {slow:.3f} | {slow / fast:.1f} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", nargs="+", default=["SP5x5", "KS32", "TSP20"])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--test", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)  # small networks: threads of torch would only slow the solvers down
    print(
        f"SPO+ in PyEPO {pyepo.__version__}, {args.rows} rows, {args.epochs} epochs, "
        f"{args.seeds} seeds"
    )
    # All lines together: Gurobi prints the terms of its license when it first solves.
    lines = [compare(name, args) for name in args.case]
    print(
        "| case | regret, regretless | regret, Gurobi | epoch, regretless (s) "
        "| epoch, Gurobi (s) | ratio |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
