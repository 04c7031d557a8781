"""Labels: the optimal decision of every row, found once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless._core import _label, _Labels
from regretless._renamed import refuse_renamed
from regretless.results.pages import html_table
from regretless.solving.options import SolveKeywords, SolveOptions, takes_solve_options
from regretless.solving.problem import Problem
from regretless.tables.columns import row_count
from regretless.tables.frames import FrameTemplate, check_same_rows, frame_template
from regretless.tables.names import plain_table
from regretless.tables.parameters import plain_parameters
from regretless.tables.selection import selected_rows

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Labels", "label"]


class Labels(_Labels):
    """The optimal decision of every row of costs.

    `label` and `Labels.from_decisions` make labels; `train`, `evaluate` and `Loss` take them.
    `labels[rows]` are the labels of some rows: a slice, row numbers or a boolean mask.
    """

    __module__ = "regretless"
    __slots__ = ("_decisions", "_template")

    _decisions: Any
    _template: FrameTemplate | None

    @classmethod
    def _of(cls, found: _Labels, template: FrameTemplate | None) -> Labels:
        """Return labels whose decisions become a DataFrame if there is a template."""
        labels = cls.__new__(cls, found)
        labels._template, labels._decisions = template, None
        return labels

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = [("rows", str(len(self))), ("without a decision", str(len(self.failed)))]
        solved = self.objectives[np.isfinite(self.objectives)]
        if solved.size:
            rows.append(("mean objective", f"{solved.mean():.6g}"))
        return html_table("Labels", ("", ""), rows)

    @staticmethod
    def from_decisions(
        problem: Problem, C: Any, decisions: Any, *, parameters: Any = None
    ) -> Labels:
        """Make labels of costs whose optimal decisions are known.

        Parameters
        ----------
        problem : Problem
            The problem.
        C : array_like or DataFrame of shape (n, d)
            True costs.
        decisions : array_like or DataFrame of shape (n, d)
            Optimal decisions. Each is checked for feasibility. Columns with names are matched by
            name.
        parameters : mapping or DataFrame, optional
            Parameters of the rows, as in `Problem.solve_all`.

        Returns
        -------
        Labels

        Raises
        ------
        ValueError
            If a decision is infeasible, or the objective has a part that the decisions do not
            contain: columns of known cost, or what a function adds to costs times decision.

        Notes
        -----
        No row is solved, except for two of a function, with different decisions: if it adds
        something to costs times decision in other rows only, that is not found.
        """
        check_same_rows(C, decisions, ("C", "decisions"))
        costs = plain_table(C, "C")
        given = plain_parameters(problem, parameters, row_count(costs), C, "C")
        found = _Labels._from_decisions(problem, costs, plain_table(decisions, "decisions"), given)
        return Labels._of(found, frame_template(C))

    @property
    def decisions(self) -> NDArray[np.float32] | Any:
        """The decisions, one row each (float32); a row without a decision is NaN.

        An array, or a DataFrame if `C` was one, with its index and the cost names. Made when first
        used.
        """
        if self._decisions is None:
            values = self._decision_array()
            template = self._template
            self._decisions = (
                values if template is None else template.build(values, self._column_names)
            )
        return self._decisions

    def __getitem__(self, rows: slice | ArrayLike, /) -> Labels:
        """Return the labels of some rows: a slice, row numbers or a boolean mask.

        They belong to the same rows of the costs: `labels[:100]` to `C[:100]`.
        """
        selected = selected_rows(rows, len(self))
        template = None if self._template is None else self._template.select(selected)
        return Labels._of(self._select(selected), template)


@overload
def label(
    problem: Problem,
    C: Any,
    *,
    store: str | os.PathLike[str] | None = None,
    shard: None = None,
    parameters: Any = None,
    **solving: Unpack[SolveKeywords],
) -> Labels: ...
@overload
def label(
    problem: Problem,
    C: Any,
    *,
    store: str | os.PathLike[str],
    shard: str | tuple[int, int],
    parameters: Any = None,
    **solving: Unpack[SolveKeywords],
) -> int: ...
@refuse_renamed("label")
@takes_solve_options
def label(
    problem: Problem,
    C: Any,
    *,
    store: str | os.PathLike[str] | None = None,
    shard: str | tuple[int, int] | None = None,
    parameters: Any = None,
    **solving: Unpack[SolveKeywords],
) -> Labels | int:
    """Find the optimal decision of every row of costs.

    Parameters
    ----------
    problem : Problem
        The problem.
    C : array_like or DataFrame of shape (n, d)
        True costs. Columns with names are matched to the problem's costs by name, arrays by
        position.
    store : path, optional
        Path of a table. Labels are stored in a folder next to it, in the same files as the command
        line uses for a table of that name. Stored labels are not solved again, except for one or
        two of a function, an interrupted run resumes with the same call, and several processes can
        share the work.
    shard : str or tuple of two int, optional
        "2/7" or (2, 7) solves the second of seven shards and writes it to the store; the call
        without `shard` joins them.
    parameters : mapping or DataFrame, optional
        Parameters of the rows, as in `Problem.solve_all`.
    threads, progress, heuristic, gap, nodes, seconds : optional
        As in `Problem.solve_all`.

    Returns
    -------
    Labels or int
        The labels; with `shard` the number of rows of all shards that are labeled.

    Raises
    ------
    ValueError
        If `shard` is given without `store`, or a function without a name is stored.

    Examples
    --------
    >>> labels = rl.label(problem, C, store="costs.npy")
    >>> model, report = rl.train(problem, X, C, labels=labels)
    """
    costs = plain_table(C, "C")
    given = plain_parameters(problem, parameters, row_count(costs), C, "C")
    options = SolveOptions(**solving)
    if shard is not None and not isinstance(shard, str):
        index, count = shard
        shard = f"{index}/{count}"
    found = _label(problem, costs, store, shard, given, options)
    return found if isinstance(found, int) else Labels._of(found, frame_template(C))
