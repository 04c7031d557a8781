"""Synthetic data of benchmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless._core import _generate
from regretless._renamed import refuse_renamed

__all__ = ["generate"]


@refuse_renamed("generate")
def generate(
    benchmark: str,
    instances: int = 2000,
    *,
    seed: int = 0,
    degree: int = 6,
    noise: float = 0.5,
    features: int = 5,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Generate features and costs of a benchmark.

    Parameters
    ----------
    benchmark : str
        "KS32" (knapsack), "SP5x5" (shortest path on a grid), "TSP20", "CVRP20", or another size.
    instances : int, default 2000
        Number of instances.
    seed : int, default 0
        Seed of numpy's RandomState.
    degree : int, default 6
        Degree of the polynomial from features to costs.
    noise : float, default 0.5
        Half-width of the multiplicative noise.
    features : int, default 5
        Number of features.

    Returns
    -------
    X : ndarray of shape (instances, features)
        Features, float32.
    C : ndarray of shape (instances, d)
        Costs, float32.

    Raises
    ------
    ValueError
        For an unknown benchmark or a size that is not positive.

    Notes
    -----
    The same bytes as `regretless generate` writes. The problem is `Problem(benchmark, seed=seed)`.

    Examples
    --------
    >>> X, C = rl.generate("KS32", instances=1000)
    >>> problem = rl.Problem("KS32")
    """
    return _generate(benchmark, instances, seed, degree, noise, features)
