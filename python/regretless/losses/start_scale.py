"""A warning if a network starts far from the costs that it is to predict.

Outputs of an untrained network are numbers around 0. If they are taken for costs, training spends
its first epochs on the mean of the costs, and often ends before it is reached.
"""

from __future__ import annotations

import numpy as np

from regretless._user_warnings import warn

MAX_SIZE_RATIO = 5.0
"""Mean sizes of predictions and costs that differ by more than this factor are noticed. An
untrained layer is about 10 to 100 times too small for costs of 5; predictions of the right unit, of
any quality, stay within a factor of 2 or so."""

MIN_COSINE = 0.5
"""Mean predictions and mean costs below this cosine point elsewhere: that of random vectors is near
0, that of predictions that know no more than the mean of each cost is 1."""

MIN_COMMON_PART = 3.0
"""Costs have a common direction if the norm of their means is at least this many standard errors of
it; otherwise a cosine says nothing."""

MIN_ROWS = 8
"""Fewer rows have no mean to speak of."""

REMEDY = (
    "let the network predict mean + deviation · output, with mean and standard deviation of each "
    "cost in the training rows, or training starts far from the costs and may end there"
)


def warn_about_start(predictions: np.ndarray, costs: np.ndarray, is_scale_invariant: bool) -> None:
    """Warn if the predictions of the first batch are far from its costs.

    Parameters
    ----------
    predictions, costs : ndarray of shape (n, d)
        Predicted and true costs.
    is_scale_invariant : bool
        Whether the loss ignores the size of predictions: directions are compared then.
    """
    # What is wrong with such predictions is said by the loss.
    is_table = predictions.shape == costs.shape and predictions.size > 0
    if not is_table or not np.isfinite(predictions).all():
        return
    predictions, costs = predictions.astype(np.float64), costs.astype(np.float64)
    if is_scale_invariant:
        mean, other = costs.mean(axis=0), predictions.mean(axis=0)
        norm, error = np.linalg.norm(mean), np.linalg.norm(costs.std(axis=0)) / np.sqrt(len(costs))
        is_enough = len(costs) >= MIN_ROWS and len(mean) >= 2
        if not is_enough or norm == 0.0 or norm < MIN_COMMON_PART * error:
            return
        cosine = float(mean @ other) / max(float(norm * np.linalg.norm(other)), 1e-300)
        if cosine < MIN_COSINE:
            warn(
                "the mean predictions of the first batch point elsewhere than its mean costs "
                f"(cosine {cosine:.2f}): {REMEDY}"
            )
        return
    size, found = float(np.abs(costs).mean()), float(np.abs(predictions).mean())
    if size > 0.0 and not size / MAX_SIZE_RATIO <= found <= size * MAX_SIZE_RATIO:
        warn(
            f"the predictions of the first batch have the mean size {found:.2g}, its costs "
            f"{size:.2g}: {REMEDY}"
        )
