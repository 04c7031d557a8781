"""The data check."""

from __future__ import annotations

from typing import Any

from regretless._core import _check
from regretless.solving.labels import Labels
from regretless.solving.problem import Problem
from regretless.tables.columns import training_features
from regretless.tables.frames import check_same_rows
from regretless.tables.names import plain_table
from regretless.tables.times import split_tables
from regretless.training.options import FeatureOptions

__all__ = ["check"]


def check(
    problem: Problem,
    X: Any,
    C: Any,
    *,
    labels: Labels | None = None,
    split: Any = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Check a table for columns and rows that spoil training or its results.

    Parameters
    ----------
    problem : Problem
        The problem.
    X : array_like or DataFrame of shape (n, p) or (n, d, p)
        Features.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    labels : Labels, optional
        Labels of `C`: with them, features that give the best objective of a row away are found too.
    split : optional
        The split that `train` gets, for drift between training and test rows.
    seed : int, default 0
        Seed of a random split.

    Returns
    -------
    list of dict
        Findings with the keys `kind`, `columns`, `message` and, if it is about a row, `row`. They
        are those of `regretless check`; the order of rows in time is checked if they are split by
        time.

    Raises
    ------
    ValueError
        If `X` and `C` have different numbers of rows or hold something else than numbers, text,
        dates and truth values.

    Examples
    --------
    >>> X, C = rl.generate("SP5x5", 200)
    >>> rl.check(rl.Problem("SP5x5"), X, C)
    []
    """
    check_same_rows(X, C, ("X", "C"))
    tables = split_tables(split, X, C)
    features = training_features(tables.X, FeatureOptions()._settings())
    costs = plain_table(tables.C, "C", single=True)
    return _check(problem, features, costs, labels, tables.split, tables.times, seed)
