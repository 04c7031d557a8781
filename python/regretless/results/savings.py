"""What results that compare methods period by period have in common."""

from __future__ import annotations

from typing import Any

from regretless.results.pages import PageResult
from regretless.results.plots import draws_on_axes, plot_intervals


class SavingsResult(PageResult):
    """A result with the savings of methods per period in its summary."""

    verdict: str
    remarks: list[str]
    summary: dict[str, Any]

    def __str__(self) -> str:
        """Return the verdict and the remarks."""
        return "\n".join([self.verdict, *self.remarks])

    @draws_on_axes
    def plot(self, ax: Any = None) -> Any:
        """Draw what each method saves per period, with its interval."""
        unit = self.summary["unit"]
        label = f"saving per period against {self.summary['methods'][0]['name']}"
        label += "" if unit is None else f", {unit}"
        return plot_intervals(ax, method_rows(self.summary), "saving_per_period", label)


def method_rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per method of the summary of a backtest."""
    rows = []
    for method in summary["methods"]:
        saving = method["saving"] or {}
        interval = saving.get("interval") or {}
        rows.append(
            {
                "method": method["name"],
                "cost": method["total_cost"],
                "regret": method["total_regret"],
                "saving_per_period": saving.get("per_period"),
                "lower": interval.get("lower"),
                "upper": interval.get("upper"),
                "saving_per_day": saving.get("per_day"),
                "saving_per_year": saving.get("per_year"),
                "won": saving.get("won"),
                "lost": saving.get("lost"),
            }
        )
    return rows


def frame_or_records(rows: list[dict[str, Any]]) -> Any:
    """Return a DataFrame where pandas is there, else the rows."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
