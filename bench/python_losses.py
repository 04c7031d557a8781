"""Cost-sensitive losses: `regretless.torch` compared with torch operations, forward and backward.

    python bench/python_losses.py [--rows 32] [--threads 2] [--loss "MAE(O,S)"]

Both run in this process on the same tensors, alternately; printed are the minimum times and their
ratio. The torch operations get the optimal decisions as a dense tensor, gathered beforehand; ours
are addressed by row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

import regretless as rl
from regretless.torch import DecisionLoss, cost_sensitive_loss


def seconds(step: Callable[[], None], repeats: int) -> float:
    """Return the mean time of one call."""
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return (time.perf_counter() - start) / repeats


def time_both(
    ours: Callable[[], None], theirs: Callable[[], None], rounds: int
) -> tuple[float, float]:
    """Return the minimum times of both, measured in turn: other load can only lengthen them."""
    for step in (ours, theirs):
        seconds(step, 5)
    pairs = [(seconds(ours, 3), seconds(theirs, 3)) for _ in range(rounds)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def compare(name: str, width: int, rows: int, rounds: int) -> tuple[float, float]:
    """Time both on a top-k problem that chooses a tenth of the items."""
    problem = rl.Problem(
        {"kind": "top_k", "items": width, "k": width // 10, "at_most": False, "sense": "minimize"}
    )
    random = np.random.default_rng(0)
    costs = random.uniform(1, 9, (4 * rows, width)).astype(np.float32)
    labels = rl.label(problem, costs)
    loss = DecisionLoss(problem, costs, name, labels=labels)
    batch = torch.from_numpy(random.permutation(4 * rows)[:rows])
    true, best = (
        torch.from_numpy(costs)[batch],
        torch.from_numpy(np.asarray(labels.decisions))[batch],
    )
    predictions = torch.from_numpy(
        random.uniform(1, 9, (rows, width)).astype(np.float32)
    ).requires_grad_()

    def ours() -> None:
        predictions.grad = None
        loss(predictions, batch).backward()

    def theirs() -> None:
        predictions.grad = None
        cost_sensitive_loss(predictions, true, best, loss=name, sense="minimize").backward()

    ours()
    mine = predictions.grad.clone()
    theirs()
    torch.testing.assert_close(
        mine, predictions.grad, rtol=1e-4, atol=1e-6 * float(mine.abs().max())
    )
    return time_both(ours, theirs, rounds)


def main() -> None:
    """Print one line per number of costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--loss", default="MAE(O,S)")
    parser.add_argument("--widths", type=int, nargs="+", default=[40, 200, 1000, 5000, 49950])
    parser.add_argument("--rounds", type=int, default=200)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print(
        f"{args.loss}, batch {args.rows}, {args.threads} torch threads, torch {torch.__version__}"
    )
    print(
        "| costs | regretless.torch (µs) | torch operations (µs) | ratio |\n|---:|---:|---:|---:|"
    )
    for width in args.widths:
        ours, theirs = compare(args.loss, width, args.rows, args.rounds)
        print(
            f"| {width} | {1e6 * ours:.0f} | {1e6 * theirs:.0f} | {theirs / ours:.1f} |", flush=True
        )


if __name__ == "__main__":
    main()
