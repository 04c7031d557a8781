"""The reports of many trainings with their settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from regretless.results.pages import html_table
from regretless.results.reports import TrainingReport

__all__ = ["SweepResult"]


class SweepResult(Sequence[TrainingReport]):
    """Reports of a sweep, in the order of its runs.

    Parameters
    ----------
    runs : sequence of dict
        The settings of each run.
    reports : iterable of TrainingReport
        Its report.
    """

    def __init__(self, runs: Sequence[dict[str, Any]], reports: Iterable[TrainingReport]) -> None:
        self.runs = tuple(runs)
        self.reports = tuple(reports)

    @overload
    def __getitem__(self, index: int) -> TrainingReport: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TrainingReport, ...]: ...
    def __getitem__(self, index: int | slice) -> TrainingReport | tuple[TrainingReport, ...]:
        return self.reports[index]

    def __len__(self) -> int:
        return len(self.reports)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SweepResult) and self.reports == other.reports

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return the runs and their reports as plain values.

        Returns
        -------
        dict
            ``runs`` as they were given, ``reports`` as a list of dicts.
        """
        return {"runs": list(self.runs), "reports": [report.to_dict() for report in self]}

    def best(self) -> TrainingReport:
        """Return the report with the smallest normalized regret on the validation rows.

        Raises
        ------
        ValueError
            If no run has validation rows.
        """
        measured = [
            (report.validation.normalized_regret, report)
            for report in self
            if report.validation is not None
        ]
        if not measured:
            raise ValueError("no run has validation rows, so none can be called the best")
        # Of equal regrets, the first run.
        return min(measured, key=lambda pair: pair[0])[1]

    def __repr__(self) -> str:
        return f"<regretless.SweepResult: {len(self)} runs>"

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks, one row per run."""
        regret = [
            tuple(
                "" if part is None else f"{part.normalized_regret:.2%}"
                for part in (report.validation, report.test)
            )
            for report in self
        ]
        return html_table(
            "SweepResult",
            ("method", "seed", "best epoch", "validation regret", "test regret", "seconds"),
            [
                (report.method, report.seed, report.best_epoch, *parts, f"{report.seconds:.1f}")
                for report, parts in zip(self, regret)
            ],
        )
