"""Figures of results on axes of matplotlib, which is imported when the first one is drawn.

Each figure shows the numbers of its result; pages have figures of their own, as SVG.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

__all__: list[str] = []

Row = Mapping[str, Any]

_Method = TypeVar("_Method", bound=Callable[..., Any])

AXES_SECTIONS = """

Parameters
----------
ax : matplotlib.axes.Axes, optional
    Where to draw; by default a new figure.

Returns
-------
matplotlib.axes.Axes"""
"""What the docstrings of all methods ``plot(ax)`` have between the summary and the errors."""


def draws_on_axes(method: _Method) -> _Method:
    """Add the sections that all methods ``plot(ax)`` share to the docstring of one."""
    # Python removes docstrings with -OO, and indentation since 3.13.
    if method.__doc__ is not None:
        before, raises, rest = inspect.cleandoc(method.__doc__).partition("\n\nRaises\n")
        method.__doc__ = before + AXES_SECTIONS + raises + rest
    return method


def axes_or_new(axes: Any, rows: int) -> Any:
    """Return the axes, or those of a new figure that is high enough for the rows."""
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
    # 0.35 inches for a row of text, 1.2 for the axis and its label.
    _, axes = pyplot.subplots(figsize=(7, 1.2 + 0.35 * rows), layout="constrained")
    return axes


def plot_intervals(axes: Any, rows: Sequence[Row], value: str, label: str) -> Any:
    """Draw one number per method with the interval from ``lower`` to ``upper``, if it has one.

    The first method is on top, and a line marks 0: an interval beside it is a difference.
    """
    rows = [row for row in rows if row[value] is not None]
    axes = axes_or_new(axes, len(rows))
    for place, row in enumerate(rows):
        if row["lower"] is not None and row["upper"] is not None:
            axes.plot([row["lower"], row["upper"]], [place, place], color="tab:blue", linewidth=2)
        axes.plot(row[value], place, marker="o", color="tab:blue")
    axes.axvline(0, color="gray", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [row["method"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(label)
    return axes


def plot_costs(axes: Any, costs: Sequence[Any], label: str) -> Any:
    """Draw predicted costs with their ranges; filled points are chosen.

    A range without a limit on one side ends in an arrow at the edge of the axes.
    """
    axes = axes_or_new(axes, len(costs))
    for place, cost in enumerate(costs):
        is_chosen = cost.value != 0
        color = "tab:blue" if is_chosen else "gray"
        if cost.range is not None:
            _draw_range(axes, place, cost, color)
        face = color if is_chosen else "none"
        axes.plot(cost.predicted, place, marker="o", color=color, markerfacecolor=face)
    axes.set_yticks(range(len(costs)), [cost.name for cost in costs])
    axes.invert_yaxis()
    axes.set_xlabel(label)
    return axes


def _draw_range(axes: Any, place: int, cost: Any, color: str) -> None:
    """Draw the ends that there are; a side without limit has an arrow instead of an end."""
    for end, marker in ((cost.range.lower, "<"), (cost.range.upper, ">")):
        if end is None:
            axes.plot(cost.predicted, place, marker=marker, markersize=12, color=color, alpha=0.3)
        else:
            axes.plot([cost.predicted, end], [place, place], color=color, linewidth=2)
            axes.plot(end, place, marker="|", color=color)


def records(table: Any) -> list[Row]:
    """Return the rows of a DataFrame or of a list of dicts; gaps are None."""
    rows = table.to_dict("records") if hasattr(table, "to_dict") else table
    # A gap of a DataFrame is the only value that is not equal to itself.
    return [
        {name: None if value != value else value for name, value in row.items()} for row in rows
    ]
