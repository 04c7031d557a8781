"""True costs whose best decisions are known, and the way from a row of costs to its place.

Rows are labelled once. They come as one table when the loss is made, or in batches as they are first seen; each such
group is a block with a loss of its own, since what a loss needs beyond labels (ranges, cones) it computes once for its
table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from regretless import Labels, Loss, Problem, label
from regretless._names import in_order, named, names_of
from regretless._numbers import numbers


class LabelledRows:
    """The rows a loss knows.

    ``weights`` are one number per row of ``costs``; rows that join later have none.
    """

    def __init__(
        self,
        problem: Problem,
        name: str,
        costs: Any = None,
        labels: Any = None,
        weights: Any = None,
    ) -> None:
        self.problem, self.name = problem, name
        self.weights = None if weights is None else one_per_row(weights, costs)
        self.blocks: list[Loss] = []
        self.tables: list[np.ndarray] = []
        # Row numbers count through all blocks; built only when somebody asks by costs, for rows of the precision asked with.
        self._places: dict[np.dtype, dict[bytes, int]] = {}
        self._indexed: dict[np.dtype, int] = {}
        # Rows of equal costs and different weights, as pairs of row numbers by the bytes of their costs.
        self._ambiguous: dict[bytes, tuple[int, int]] = {}
        # Rows whose costs differ, but are the same in the precision asked with, likewise.
        self._rounded_alike: dict[bytes, tuple[int, int]] = {}
        if costs is not None:
            self.add(in_order(problem, costs), labels)

    def add(self, costs: np.ndarray, labels: Any = None) -> None:
        """Adds a block of rows in the order of the problem's costs; their best decisions are found unless they are given."""
        table = named(costs, self.problem.cost_names)
        if labels is not None and not isinstance(labels, Labels):
            labels = Labels.known(self.problem, table, labels)
        known = label(self.problem, table) if labels is None else labels
        # All blocks know the same decisions.
        first = self.blocks[0] if self.blocks else None
        self.blocks.append(Loss(self.name, self.problem, table, labels=known, share_pool=first))
        self.tables.append(costs)

    def find(self, wanted: Any, labels: Any = None) -> np.ndarray:
        """Row numbers of rows of costs; those never seen before are added. Row numbers stay as they are.

        With weights, costs must say which row of the table is meant.
        """
        if names_of(wanted) is not None:
            wanted = in_order(self.problem, wanted)
        if wanted.ndim == 1 and np.issubdtype(wanted.dtype, np.integer):
            return wanted.astype(np.int64, copy=False)
        table = as_table(wanted)
        places = self._index(table.dtype)
        keys = [row.tobytes() for row in table]
        self._check_digits(keys)
        if self.weights is not None:
            self._check_weights(keys, places)
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        new = sorted(place for key, place in first.items() if key not in places)
        if new:
            known = None if labels is None else decisions(self.problem, labels)
            if known is not None and len(known) != len(table):
                raise ValueError(
                    f"{len(known)} rows of best decisions for {len(table)} rows of costs"
                )
            self.add(np.ascontiguousarray(table[new]), None if known is None else known[new])
            places = self._index(table.dtype)
        return np.array([places[key] for key in keys], dtype=np.int64)

    def evaluate(
        self, predictions: np.ndarray, rows: np.ndarray, **moment: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values (n,) and gradients (n, d) of predictions for these rows; ``moment`` says where in a training."""
        if len(predictions) != len(rows):
            raise ValueError(
                f"{len(predictions)} rows of predictions for {len(rows)} rows of the table"
            )
        if len(self.blocks) == 1:
            return self.blocks[0].evaluate(predictions, rows=rows, **moment)
        values, gradients = np.empty(len(rows)), np.empty_like(predictions)
        for block, places, inside in self._by_block(rows):
            values[places], gradients[places] = block.evaluate(
                np.ascontiguousarray(predictions[places]), rows=inside, **moment
            )
        return values, gradients

    def _check_digits(self, keys: list[bytes]) -> None:
        """Refuses rows of costs whose digits do not suffice to tell rows of the table apart."""
        if not self._rounded_alike:
            return
        for number, key in enumerate(keys):
            if key in self._rounded_alike:
                first, second = self._rounded_alike[key]
                raise ValueError(
                    f"row {number} of the true costs is row {first} and row {second} of the table, whose costs differ only in digits "
                    "that single precision drops; give row numbers instead of costs, or the costs in double precision"
                )

    def _check_weights(self, keys: list[bytes], places: dict[bytes, int]) -> None:
        """Refuses rows of costs that do not lead to one weight."""
        for number, key in enumerate(keys):
            if key not in places:
                raise ValueError(
                    f"row {number} of the true costs is not in the table, so that it has no weight"
                )
            if key in self._ambiguous:
                first, second = self._ambiguous[key]
                raise ValueError(
                    f"row {number} of the true costs is row {first} and row {second} of the table, which have different "
                    "weights; give row numbers instead of costs"
                )

    def _by_block(self, rows: np.ndarray) -> Iterator[tuple[Loss, np.ndarray, np.ndarray]]:
        starts = np.cumsum([0] + [len(table) for table in self.tables])
        if len(rows) and (rows.min() < 0 or rows.max() >= starts[-1]):
            raise ValueError(
                f"row {rows.max() if rows.min() >= 0 else rows.min()} is not in the table of {starts[-1]} rows"
            )
        of_row = np.searchsorted(starts, rows, side="right") - 1
        for block in np.unique(of_row):
            places = np.flatnonzero(of_row == block)
            yield self.blocks[block], places, rows[places] - starts[block]

    def _index(self, dtype: np.dtype) -> dict[bytes, int]:
        """Places of all rows by their bytes in this precision; rows of more digits are found by their rounded costs."""
        places, indexed = self._places.setdefault(dtype, {}), self._indexed.get(dtype, 0)
        start = sum(len(table) for table in self.tables[:indexed])
        for table in self.tables[indexed:]:
            rounds = dtype.itemsize < table.dtype.itemsize
            for row, costs in enumerate(table.astype(dtype, copy=False)):
                key = costs.tobytes()
                first = places.setdefault(key, start + row)
                if rounds and first != start + row and self._loses_digits(first, table[row]):
                    self._rounded_alike.setdefault(key, (first, start + row))
                if self.weights is not None and self.weights[first] != self.weights[start + row]:
                    self._ambiguous.setdefault(key, (first, start + row))
            start += len(table)
        self._indexed[dtype] = len(self.tables)
        return places

    def _loses_digits(self, first: int, costs: np.ndarray) -> bool:
        """Whether the row of this number, given in the precision of ``costs``, is another row than ``costs``."""
        for table in self.tables:
            if first < len(table):
                # A row that was itself given in fewer digits is meant by just these digits.
                return table.dtype == costs.dtype and table[first].tobytes() != costs.tobytes()
            first -= len(table)
        return False


def one_per_row(weights: Any, costs: Any) -> np.ndarray:
    """Weights as numbers, if there is one for each row of the table."""
    if costs is None:
        raise ValueError("weights belong to the rows of a table: give its costs too")
    array = numbers(weights, "weights")
    if array.shape != (len(costs),):
        raise ValueError(
            f"weights are one number per row, an array of shape ({len(costs)},), not {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"the weight of row {int(np.flatnonzero(~np.isfinite(array))[0])} is not a finite number"
        )
    return array.astype(np.float64)


def decisions(problem: Problem, labels: Any) -> np.ndarray:
    """Best decisions, one dense row each, in the order of the problem's costs."""
    if isinstance(labels, Labels):
        return np.asarray(labels.decisions)
    return as_table(labels) if names_of(labels) is None else in_order(problem, labels)


def as_table(costs: Any) -> np.ndarray:
    """Numbers as rows of single or double precision, whichever holds what was given."""
    table = numbers(costs, "costs")
    table = np.ascontiguousarray(
        table, dtype=np.float32 if table.dtype in (np.float16, np.float32) else np.float64
    )
    if table.ndim != 2:
        raise ValueError(f"costs are one row per instance, not an array of shape {table.shape}")
    return table
