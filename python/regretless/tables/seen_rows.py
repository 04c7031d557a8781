"""Rows that a model was trained or validated on, to recognize them later.

A row is identified by a hash of its features and costs in single precision. The smallest hashes are
kept (bottom-k sampling, Cohen and Kaplan 2007): all of them for small tables, a uniform sample of
the rows for large ones. Models of the compiled module do the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from regretless._core import _overlap_warning

__all__ = ["SeenRows"]

MAX_HASHES = 4096
"""Most hashes that a model keeps: 32 KB."""


@dataclass(frozen=True)
class SeenRows:
    """The smallest hashes of rows, sorted, and whether these are all of them."""

    hashes: np.ndarray
    is_complete: bool

    @classmethod
    def of(cls, features: np.ndarray, costs: np.ndarray) -> SeenRows:
        """Return what identifies these rows.

        Parameters
        ----------
        features : ndarray of shape (n, p) or (n, d, p)
            Features.
        costs : ndarray of shape (n, d)
            True costs, in the order of the model.
        """
        hashes = np.unique(row_hashes(features, costs))
        return cls(hashes[:MAX_HASHES], len(hashes) <= MAX_HASHES)

    def warning(self, features: np.ndarray, costs: np.ndarray) -> str | None:
        """Return a warning if some of these rows were seen.

        Parameters
        ----------
        features, costs : ndarray
            As in :meth:`of`.
        """
        hashes = row_hashes(features, costs)
        rows = len(hashes)
        if not self.is_complete:
            # Others are not covered by the sample.
            hashes = hashes[hashes <= self.hashes[-1]]
        seen = int(np.isin(hashes, self.hashes).sum())
        return _overlap_warning(rows, len(hashes), seen)


def row_hashes(features: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return one number per row, the same for the same features and costs."""
    count = len(features)
    flat = [features.reshape(count, features[:1].size), costs.reshape(count, costs[:1].size)]
    with np.errstate(over="ignore"):
        # A sum turns -0 into 0.
        rows = np.concatenate([part.astype(np.float32) for part in flat], axis=1) + np.float32(0)
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(digests), dtype="<u8")
