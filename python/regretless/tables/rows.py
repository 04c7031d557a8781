"""Rows of true costs with their optimal decisions, addressed by number or by the costs themselves.

Each row is labeled once. Rows come as one table when the loss is made, or in batches when they are
first used. Each such group is a block with its own :class:`regretless.Loss`, since a loss prepares
data (cost ranges, cones) once per table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from regretless import Labels, Loss, Problem, label
from regretless._core import _check_loss
from regretless.losses.custom import OwnLoss, as_method
from regretless.losses.start_scale import warn_about_start
from regretless.tables.names import costs_in_order, names_of, with_names
from regretless.tables.numbers import as_numeric_array
from regretless.tables.parameters import parameter_columns, select_rows


class LabeledRows:
    """All labeled rows of a loss.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    C : array_like or DataFrame of shape (n, d), optional
        True costs.
    loss : str or OwnLoss
        The loss, or its name.
    labels : regretless.Labels or array_like, optional
        Optimal decisions of the rows of ``C``.
    weights : array_like of shape (n,), optional
        One weight per row of ``C``; rows that are added later have none.
    parameters : mapping or DataFrame, optional
        Parameters of the rows of ``C``, if the problem reads some.
    seed, threads, rescale_loss : optional
        As in :class:`regretless.Loss`; one factor for all rows.
    """

    def __init__(
        self,
        problem: Problem,
        C: Any,
        loss: str | OwnLoss,
        *,
        labels: Any = None,
        weights: Any = None,
        parameters: Any = None,
        seed: int = 0,
        threads: int | None = None,
        rescale_loss: bool = False,
    ) -> None:
        self.problem, self.name = problem, loss
        self.seed, self.threads, self.rescale_loss = seed, threads, rescale_loss
        self.weights = None if weights is None else check_weights(weights, C)
        self.blocks: list[Loss] = []
        self.tables: list[np.ndarray] = []
        # The labels of each block, whether they were given, and its parameters: for copies.
        self.sources: list[tuple[Labels, bool, Any]] = []
        # The parameters of each block, one row of bytes per row.
        self.parameter_keys: list[list[bytes]] = []
        # Row numbers run through all blocks. The index from costs to row number is built for a
        # precision when rows of that precision are first looked up.
        self._row_of: dict[np.dtype, dict[bytes, int]] = {}
        self._indexed_tables: dict[np.dtype, int] = {}
        # Pairs of rows with equal costs and different weights, by the bytes of their costs.
        self._ambiguous: dict[bytes, tuple[int, int]] = {}
        # Pairs of rows whose different costs are equal in a lower precision, likewise.
        self._rounded_alike: dict[bytes, tuple[int, int]] = {}
        # Before rows are solved, or without any.
        _check_loss(problem, as_method(loss))
        # The pool of a checkpoint, until there are rows.
        self._resumed_pool: dict[str, Any] | None = None
        # Rows that can be given by number; those that are added later cannot.
        self.given_rows = 0
        if C is not None:
            self.add(costs_in_order(problem, C), labels, parameters)
            self.given_rows = len(self.tables[0])
        elif parameters is not None:
            raise ValueError("parameters belong to the rows of a table: give its costs C too")

    def add(self, costs: np.ndarray, labels: Any = None, parameters: Any = None) -> None:
        """Add a block of rows in the order of the problem's costs; solve them without labels."""
        table = with_names(costs, self.problem.cost_names)
        were_given = labels is not None
        if labels is None:
            labels = label(self.problem, table, parameters=parameters, threads=self.threads)
        elif not isinstance(labels, Labels):
            check_two_dimensions(labels, "labels")
            labels = Labels.from_decisions(self.problem, table, labels, parameters=parameters)
        # All blocks share one solution pool. Labels of later ones join it in training only, so a
        # validation loss does not change it.
        first = self.blocks[0] if self.blocks else None
        self.blocks.append(
            Loss(
                self.problem,
                table,
                self.name,
                labels=labels,
                parameters=parameters,
                seed=self.seed,
                threads=self.threads,
                pool_from=first,
            )
        )
        self.tables.append(costs)
        self.sources.append((labels, were_given, parameters))
        self.parameter_keys.append(parameter_keys(self.problem, parameters, len(costs)))

    def warn_about_start(self, predictions: np.ndarray, rows: np.ndarray) -> None:
        """Warn if the predictions of the first batch are far from the costs of these rows."""
        # The scale that a custom loss compares is not known.
        if isinstance(self.name, OwnLoss) or predictions.ndim != 2 or len(predictions) != len(rows):
            return
        if len(rows):
            costs = (
                np.concatenate(self.tables)[rows] if len(self.tables) > 1 else self.tables[0][rows]
            )
            warn_about_start(predictions, costs, self.blocks[0]._is_scale_invariant)

    def pool_state(self) -> dict[str, Any] | None:
        """Return the solution pool as a dict of lists and numbers; None without one."""
        return self.blocks[0]._pool_state() if self.blocks else None

    def set_pool_state(self, state: dict[str, Any] | None) -> None:
        """Replace the solution pool by one of :meth:`pool_state`."""
        if self.blocks:
            self.blocks[0]._set_pool_state(state)
        else:
            self._resumed_pool = state

    def __deepcopy__(self, memo: dict[int, Any]) -> LabeledRows:
        """Return rows with a solution pool of their own; labels, which never change, are shared."""
        twin = object.__new__(type(self))
        twin.__setstate__(self._state([labels for labels, _, _ in self.sources]))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return self._state([stored_labels(*source[:2]) for source in self.sources])

    def _state(self, labels: list[Any]) -> dict[str, Any]:
        """Return what the rows are made from again, with the labels of each block."""
        return {
            "problem": self.problem,
            "loss": self.name,
            "seed": self.seed,
            "threads": self.threads,
            "rescale_loss": self.rescale_loss,
            "weights": self.weights,
            "given_rows": self.given_rows,
            "tables": self.tables,
            "labels": labels,
            "were_given": [were_given for _, were_given, _ in self.sources],
            "parameters": [parameters for _, _, parameters in self.sources],
            "pending": [block._has_pending_labels() for block in self.blocks],
            "pool": self.pool_state(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = {name: state[name] for name in ("seed", "threads", "rescale_loss")}
        LabeledRows.__init__(self, state["problem"], None, state["loss"], **settings)
        self.weights, self.given_rows = state["weights"], state["given_rows"]
        blocks = zip(state["tables"], state["labels"], state["parameters"], state["pending"])
        for costs, labels, parameters, is_pending in blocks:
            self.add(costs, labels, parameters)
            if not is_pending:
                self.blocks[-1]._add_labels_to_pool()
            elif len(self.blocks) == 1:
                self.blocks[0]._defer_labels()
        for number, was_given in enumerate(state["were_given"]):
            labels, _, parameters = self.sources[number]
            self.sources[number] = (labels, was_given, parameters)
        self.set_pool_state(state["pool"])

    def find(self, wanted: Any, labels: Any = None, parameters: Any = None) -> np.ndarray:
        """Return row numbers; rows of costs that are not in the table are added.

        Parameters
        ----------
        wanted : array_like
            Row numbers, or rows of costs.
        labels : regretless.Labels or array_like, optional
            Optimal decisions of ``wanted``, for the rows that are added.
        parameters : mapping or DataFrame, optional
            Parameters of ``wanted``, if these are costs.

        Raises
        ------
        ValueError
            If costs do not determine a row, or its weight.
        """
        if names_of(wanted) is not None:
            wanted = costs_in_order(self.problem, wanted)
        if wanted.ndim == 1 and np.issubdtype(wanted.dtype, np.integer):
            if parameters is not None:
                raise ValueError(
                    "rows that are given by number have the parameters of the table already"
                )
            self._check_row_numbers(wanted)
            return wanted.astype(np.int64, copy=False)
        if wanted.ndim != 2:
            raise ValueError(
                "row numbers must be integers, or true costs of shape (n, d), not "
                f"{wanted.dtype} of shape {wanted.shape}"
            )
        table = as_cost_rows(wanted)
        if self.problem.parameters and parameters is None:
            raise ValueError(
                f"the problem reads the parameter '{self.problem.parameters[0]}' of every row: "
                "give parameters beside the costs, or row numbers"
            )
        row_of = self._index(table.dtype)
        extra = parameter_keys(self.problem, parameters, len(table))
        keys = [row.tobytes() + key for row, key in zip(table, extra)]
        self._check_precision(keys)
        if self.weights is not None:
            self._check_weights(keys, row_of)
        first = {key: position for position, key in reversed(list(enumerate(keys)))}
        new = sorted(position for key, position in first.items() if key not in row_of)
        if new:
            decisions = None if labels is None else dense_decisions(self.problem, labels)
            if decisions is not None and len(decisions) != len(table):
                raise ValueError(
                    f"{len(decisions)} rows of optimal decisions for {len(table)} rows of costs"
                )
            added = None if decisions is None else decisions[new]
            is_first = not self.blocks
            self.add(np.ascontiguousarray(table[new]), added, select_rows(parameters, new))
            if is_first:
                # These rows may be for validation: then their labels must not join the pool.
                self.blocks[0]._defer_labels()
                if self._resumed_pool is not None:
                    self.set_pool_state(self._resumed_pool)
            row_of = self._index(table.dtype)
        return np.array([row_of[key] for key in keys], dtype=np.int64)

    def evaluate(
        self, predictions: np.ndarray, rows: np.ndarray, **step: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return losses (n,) and gradients (n, d) of predictions for these rows.

        ``step`` is the epoch, the batch and whether it is a training step.
        """
        if predictions.ndim != 2:
            raise ValueError(f"predictions must have the shape (n, d), not {predictions.shape}")
        if len(predictions) != len(rows):
            raise ValueError(
                f"{len(predictions)} rows of predictions for {len(rows)} rows of the table"
            )
        if step.get("training"):
            # All of them, before the first row is evaluated.
            for block, _, _ in self._by_block(rows):
                block._add_labels_to_pool()
        if len(self.blocks) == 1:
            values, gradients = self.blocks[0].evaluate(predictions, rows=rows, **step)
        else:
            values, gradients = np.empty(len(rows)), np.empty_like(predictions)
            for block, positions, block_rows in self._by_block(rows):
                values[positions], gradients[positions] = block.evaluate(
                    np.ascontiguousarray(predictions[positions]), rows=block_rows, **step
                )
        if self.rescale_loss and self.blocks:
            factor = self.blocks[0]._rescaling()
            values *= factor
            gradients *= factor
        return values, gradients

    def _check_row_numbers(self, rows: np.ndarray) -> None:
        """Refuse row numbers beyond the table that the loss was made with."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.given_rows:
            row = rows.max() if rows.min() >= 0 else rows.min()
            raise ValueError(
                f"row {row} does not exist; the loss was made with {self.given_rows} rows of true "
                "costs C, and rows that are added later are given by their costs"
            )

    def _check_precision(self, keys: list[bytes]) -> None:
        """Refuse rows of costs whose precision is too low to identify a row of the table."""
        if not self._rounded_alike:
            return
        for number, key in enumerate(keys):
            if key in self._rounded_alike:
                first, second = self._rounded_alike[key]
                raise ValueError(
                    f"row {number} of the true costs is row {first} and row {second} of the "
                    "table, whose costs are equal in single precision; give row numbers instead "
                    "of costs, or the costs in double precision"
                )

    def _check_weights(self, keys: list[bytes], row_of: dict[bytes, int]) -> None:
        """Refuse rows of costs that do not determine a weight."""
        for number, key in enumerate(keys):
            if key not in row_of:
                raise ValueError(
                    f"row {number} of the true costs is not in the table, so it has no weight"
                )
            if key in self._ambiguous:
                first, second = self._ambiguous[key]
                raise ValueError(
                    f"row {number} of the true costs is row {first} and row {second} of the "
                    "table, which have different weights; give row numbers instead of costs"
                )

    def _by_block(self, rows: np.ndarray) -> Iterator[tuple[Loss, np.ndarray, np.ndarray]]:
        """Yield each block with the positions of its rows and their numbers in the block."""
        starts = np.cumsum([0] + [len(table) for table in self.tables])
        if len(rows) and (rows.min() < 0 or rows.max() >= starts[-1]):
            row = rows.max() if rows.min() >= 0 else rows.min()
            raise ValueError(f"row {row} is not in the table of {starts[-1]} rows")
        block_of = np.searchsorted(starts, rows, side="right") - 1
        for block in np.unique(block_of):
            positions = np.flatnonzero(block_of == block)
            yield self.blocks[block], positions, rows[positions] - starts[block]

    def _index(self, dtype: np.dtype) -> dict[bytes, int]:
        """Return the number of each row by its bytes in this precision."""
        row_of = self._row_of.setdefault(dtype, {})
        indexed = self._indexed_tables.get(dtype, 0)
        start = sum(len(table) for table in self.tables[:indexed])
        for table, extra in zip(self.tables[indexed:], self.parameter_keys[indexed:]):
            is_rounded = dtype.itemsize < table.dtype.itemsize
            for row, costs in enumerate(table.astype(dtype, copy=False)):
                key = costs.tobytes() + extra[row]
                first = row_of.setdefault(key, start + row)
                if is_rounded and first != start + row and self._differs(first, table[row]):
                    self._rounded_alike.setdefault(key, (first, start + row))
                if self.weights is not None and self.weights[first] != self.weights[start + row]:
                    self._ambiguous.setdefault(key, (first, start + row))
            start += len(table)
        self._indexed_tables[dtype] = len(self.tables)
        return row_of

    def _differs(self, number: int, costs: np.ndarray) -> bool:
        """Return whether a row in the precision of ``costs`` has other costs."""
        for table in self.tables:
            if number < len(table):
                # A row of lower precision is identified by its digits exactly.
                return table.dtype == costs.dtype and table[number].tobytes() != costs.tobytes()
            number -= len(table)
        return False


def stored_labels(labels: Labels, were_given: bool) -> np.ndarray | None:
    """Return the given labels of a block as decisions; None if the rows are solved again.

    Raises
    ------
    TypeError
        If decisions are in single precision, which may not be all their digits.
    """
    if not were_given:
        return None
    decisions = np.asarray(labels.decisions)
    if not np.isfinite(decisions).all() or (decisions != np.round(decisions)).any():
        raise TypeError(
            "given labels can be pickled if all decisions are whole numbers; leave labels out, "
            "so the rows are solved again, or use copy.deepcopy"
        )
    return decisions


def parameter_keys(problem: Problem, parameters: Any, rows: int) -> list[bytes]:
    """Return the bytes of each row's parameters, the same for the same numbers."""
    if parameters is None:
        return [b""] * rows
    names = problem.parameters
    found = parameter_columns(parameters, rows, names, None, None, "C", nodes=names)
    keys = [b""] * rows
    for _, entries in sorted(found, key=lambda item: item[0]):
        if isinstance(entries, list):
            keys = [key + name.encode() + b"\0" for key, name in zip(keys, entries, strict=True)]
        else:
            # -0.0 and 0.0 are the same number.
            numbers = entries.reshape(rows, -1) + 0.0
            keys = [key + row.tobytes() for key, row in zip(keys, numbers, strict=True)]
    return keys


def check_weights(weights: Any, C: Any) -> np.ndarray:
    """Return weights as float64, if there is a finite one for each row of ``C``."""
    if C is None:
        raise ValueError("weights belong to the rows of a table: give its costs C too")
    array = as_numeric_array(weights, "weights")
    if array.shape != (len(C),):
        raise ValueError(
            f"weights are one number per row, an array of shape ({len(C)},), not {array.shape}"
        )
    invalid = np.flatnonzero(~np.isfinite(array))
    if len(invalid):
        raise ValueError(f"the weight of row {int(invalid[0])} is not a finite number")
    return array.astype(np.float64)


def dense_decisions(problem: Problem, labels: Any) -> np.ndarray:
    """Return optimal decisions as dense rows in the order of the problem's costs."""
    if isinstance(labels, Labels):
        return np.asarray(labels.decisions)
    check_two_dimensions(labels, "labels")
    return as_cost_rows(labels) if names_of(labels) is None else costs_in_order(problem, labels)


def check_two_dimensions(table: Any, what: str) -> None:
    """Refuse anything but rows and columns."""
    count = np.ndim(table)
    if count != 2:
        dimensions = "dimension" if count == 1 else "dimensions"
        raise ValueError(f"{what} has {count} {dimensions} and needs 2: rows, columns")


def as_cost_rows(costs: Any) -> np.ndarray:
    """Return costs as rows of float32 if that holds all digits given, else of float64."""
    table = as_numeric_array(costs, "C")
    is_single = table.dtype in (np.float16, np.float32)
    table = np.ascontiguousarray(table, dtype=np.float32 if is_single else np.float64)
    if table.ndim != 2:
        raise ValueError(f"C needs one row per instance, not the shape {table.shape}")
    return table
