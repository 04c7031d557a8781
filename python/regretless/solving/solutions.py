"""Solutions of many rows of costs, as tables of the library that the costs came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless._core import _Solutions
from regretless.results.pages import first_names, html_table, short_text
from regretless.tables.frames import FrameTemplate, decision_frame, frame_template

__all__ = ["Solutions"]


SHOWN_ROWS = 10
"""Decisions that a notebook shows."""


class Solutions(_Solutions):
    """Decisions of many rows of costs, in their order."""

    __module__ = "regretless"
    __slots__ = ("_columns", "_decisions", "_template")

    _columns: Sequence[str] | None
    _decisions: Any
    _template: FrameTemplate | None

    @classmethod
    def _of(
        cls, found: _Solutions, table: Any, column_names: Sequence[str] | None = None
    ) -> Solutions:
        """Return solutions of the rows of a table, whose columns have these names.

        Costs without names have the names of the columns, and else numbers.
        """
        solutions = cls.__new__(cls, found)
        solutions._template = frame_template(table)
        solutions._columns = found.cost_names or column_names
        solutions._decisions = None
        return solutions

    @property
    def decisions(self) -> NDArray[np.float32] | Any:
        """The decisions, one row each (float32); a row without a decision is NaN.

        An array, or a DataFrame if the input was one, with its index and the cost names. Made when
        first used.
        """
        if self._decisions is None:
            values = self._decision_array()
            if self._template is None:
                self._decisions = values
            else:
                names = self._columns or [f"c{number}" for number in range(values.shape[1])]
                self._decisions = self._template.build(values, names)
        return self._decisions

    @property
    def values(self) -> NDArray[np.float64] | Any:
        """The values of all columns of the problem, one row each (float64).

        A row without a decision is NaN. The columns of `decisions`, then those with known costs,
        which a decision needs too: which depots to open. An array, or a DataFrame if the input was
        one, with its index.
        """
        values = self._value_array()
        if self._template is None:
            return values
        return self._template.build(values, self.column_names)

    def _repr_html_(self) -> str:
        """Return the first decisions for notebooks: what is chosen, with its amount if not 1."""
        names = [str(name) for name in self.column_names]
        values = self._value_array()[:SHOWN_ROWS]
        rows = []
        for row, objective, status in zip(values, self.objectives, self.statuses):
            chosen = [
                names[column] if row[column] == 1.0 else f"{names[column]}: {row[column]:.6g}"
                for column in np.flatnonzero(np.nan_to_num(row))
            ]
            rows.append([short_text(float(objective)), status, first_names(chosen)])
        title = f"Solutions: {len(self.objectives)} rows"
        return html_table(title, ("objective", "status", "decision"), rows)

    def to_frame(self, *, sparse: bool = False) -> Any:
        """Return a DataFrame with objective, status and the values of all columns.

        Parameters
        ----------
        sparse : bool, default False
            One row per value that is not 0 (objective, status, column, value) instead of one row
            per instance; an instance whose values are all 0 has one row with the first column.

        Returns
        -------
        DataFrame
            Of the library of the input, pandas if it was an array; with the index of the input. A
            sparse table of polars has a column `instance` with row numbers.

        Notes
        -----
        The same table as `regretless decide` writes.

        Examples
        --------
        >>> model.decide(tomorrow).to_frame()
        """
        return decision_frame(
            self._template,
            self._value_array(),
            self.column_names,
            self.objectives,
            self.statuses,
            sparse,
        )
