"""A table of costs with predictions as tensors, for tests of the torch part."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import regretless as rl  # noqa: E402


def table(name: str, rows: int = 12):
    """A problem, true costs, labels, and predictions that are wrong."""
    problem = rl.Problem(name)
    _, costs = rl.generate(name, instances=rows, seed=1)
    predictions = torch.from_numpy(
        costs * np.random.default_rng(3).uniform(0.5, 1.5, costs.shape).astype(np.float32)
    )
    return problem, costs, rl.label(problem, costs), predictions
