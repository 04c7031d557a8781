"""Intervals of a backtest's savings, by an implementation and random numbers of their own.

The method is the balanced simultaneous studentized block bootstrap of the tutorial about backtests.
The program draws 5,000 resamples, this module more of them, so the ends differ by the error of
quantiles of samples: an end must lie between those of a smaller and of a larger tail.
"""

from __future__ import annotations

import numpy as np

PROGRAM_RESAMPLES = 5_000
RESAMPLES = 20_000
TAIL = 0.025
# Standard errors of a tail's probability that the program's quantile may be off. Of some thousand
# intervals one was beyond five: the rank that all series share varies more than one quantile.
MOST_ERRORS = 6.0
LEAST_PERIODS = 60
LEAST_DIFFERENCES = 10
LEAST_BLOCKS = 6
INSIGNIFICANT_LAGS = 7


def savings_of(reference, own, sign):
    """What a method saves in each period; rounding errors are no difference."""
    saving = sign * (reference - own)
    size = np.maximum(np.abs(reference), np.abs(own))
    return np.where(np.abs(saving) <= 1e-9 * size, 0.0, saving)


def longest_block(periods):
    return max(1, int(min(3 * np.sqrt(periods), periods / LEAST_BLOCKS)))


def block_length(series):
    """Twice the length of Politis and White (2004), with the correction of Patton et al. (2009)."""
    count = len(series)
    centered = series - series.mean()
    most = min(int(np.ceil(np.sqrt(count))) + INSIGNIFICANT_LAGS, count - 1)
    covariances = np.array([centered[: count - lag] @ centered[lag:] for lag in range(most + 1)])
    covariances /= count
    bound = 2 * np.sqrt(np.log10(count) / count) * covariances[0]
    significant = np.abs(covariances) >= bound
    last = most
    for lag in range(most):
        if not significant[lag + 1 : lag + 1 + INSIGNIFICANT_LAGS].any():
            last = lag
            break
    width = min(2 * max(last, 1), most)
    lags = np.arange(1, width + 1)
    window = np.minimum(1.0, 2 * (1 - lags / width)) * covariances[1 : width + 1]
    spectrum = covariances[0] + 2 * window.sum()
    if covariances[0] <= 0 or spectrum == 0:
        return min(2, longest_block(count))
    length = np.ceil(np.cbrt(2 * (2 * (window * lags).sum()) ** 2 / (4 / 3 * spectrum**2) * count))
    automatic = min(max(int(length), 1), longest_block(count))
    return min(2 * automatic, longest_block(count))


class Blocks:
    """The block means of one series, and t of its resamples."""

    def __init__(self, series):
        self.length = block_length(series)
        self.count = len(series) // self.length
        around = np.concatenate([series, series[: self.length]])
        sums = np.concatenate([[0.0], np.cumsum(around)])
        starts = np.arange(len(series))
        self.means = (sums[starts + self.length] - sums[starts]) / self.length
        self.mean = series.mean()
        squares = ((self.means - self.mean) ** 2).mean()
        self.error = np.sqrt(squares / (self.count - 1))

    def resampled(self, starts, shortest):
        """One t per row of starts; NaN without a standard error."""
        places = np.arange(self.count) * self.length // shortest
        drawn = self.means[starts[:, places]]
        error = drawn.std(axis=1, ddof=1) / np.sqrt(self.count)
        error[error <= 1e-10 * np.abs(self.means).max()] = np.nan
        return (drawn.mean(axis=1) - self.mean) / error


def quantiles(statistics, tail):
    """A quantile of each row at one rank, with which all hold together but in a tail."""
    ordered = np.sort(statistics, axis=1)
    ranks = [np.searchsorted(row, own) for row, own in zip(ordered, statistics)]
    highest = np.sort(np.max(ranks, axis=0))
    return ordered[:, highest[len(highest) - 1 - int(tail * len(highest))]]


def interval_ends(differences, rng):
    """For each series the least and the most of the lower and of the upper end; None without."""
    varying = [
        number
        for number, series in enumerate(differences)
        if np.count_nonzero(series) >= LEAST_DIFFERENCES and np.ptp(series) > 0
    ]
    found = [None] * len(differences)
    for number, series in enumerate(differences):
        if np.count_nonzero(series) >= LEAST_DIFFERENCES and np.ptp(series) == 0:
            found[number] = np.full((2, 2), series[0])
    if len(differences[0]) < LEAST_PERIODS:
        return [None] * len(differences)
    if not varying:
        return found
    blocks = [Blocks(differences[number]) for number in varying]
    shortest = min(blocks, key=lambda one: one.length)
    size = (RESAMPLES, shortest.count)
    starts = rng.integers(0, len(differences[0]), size=size)
    drawn = np.array([one.resampled(starts, shortest.length) for one in blocks])
    upward, downward = np.nan_to_num(drawn, nan=np.inf), np.nan_to_num(-drawn, nan=np.inf)
    error = np.sqrt(TAIL * (1 - TAIL) * (1 / PROGRAM_RESAMPLES + 1 / RESAMPLES))
    tails = (TAIL - MOST_ERRORS * error, TAIL + MOST_ERRORS * error)
    lower, upper = (
        np.array([quantiles(one, tail) for tail in tails]) for one in (upward, downward)
    )
    for place, (number, one) in enumerate(zip(varying, blocks)):
        lower_ends = one.mean - lower[:, place] * one.error
        upper_ends = one.mean + upper[::-1, place] * one.error
        found[number] = np.array([lower_ends, upper_ends])
    return found
