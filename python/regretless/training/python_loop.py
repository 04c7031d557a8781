"""The training loop of predictors that Python trains: torch modules and boosted trees.

It is the loop of ``regretless train``: step 0 is the start, each step is an epoch of gradient steps
or a round of boosting, every step is scored, and the best one is kept. What a step is and how a
predictor is kept is the adapter's; nothing here knows a library.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Adapter", "StoppingRule", "TrainingLoop"]

PATIENCE = "patience"
"""Why a training stopped: without improvement for too long."""

TIME_LIMIT = "time-limit"
"""Why a training stopped: its time is over."""

ALL_STEPS = "epochs"
"""Why a training stopped: all steps were run."""


@dataclass(frozen=True)
class StepScore:
    """What a step is worth."""

    score: float | None
    """What the selection minimizes; None if the latest step is the best."""
    details: Any
    """What the report says of the step."""


class Adapter(Protocol):
    """A predictor in training."""

    def step(self, number: int) -> str | None:
        """Train one epoch or round, from 1 on; return why there are no further ones, if so.

        A step that returns a reason does not count.
        """

    def score(self, number: int) -> StepScore:
        """Return what the predictor is worth after a step; 0 is the start."""

    def keep(self, number: int) -> None:
        """Remember the predictor after this step, which is the best so far."""


@dataclass(frozen=True)
class StoppingRule:
    """When a training ends."""

    steps: int
    """Most epochs or rounds."""
    patience: int | None = None
    """Steps without improvement."""
    patience_seconds: float | None = None
    """Seconds without improvement."""
    time_limit: float | None = None
    """Seconds in total."""

    def reason(self, steps: int, seconds: float, total_seconds: float) -> str | None:
        """Return why a training ends after steps and seconds without improvement, if it does."""
        if self.patience is not None and steps >= self.patience:
            return PATIENCE
        if self.patience_seconds is not None and seconds >= self.patience_seconds:
            return PATIENCE
        if self.time_limit and total_seconds >= self.time_limit:
            return TIME_LIMIT
        return None


@dataclass
class LoopStep:
    """A step that was scored."""

    number: int
    score: float | None
    seconds: float
    """Since the start of the loop."""
    details: Any


@dataclass
class TrainingLoop:
    """One training; its steps and the best of them are known after an interruption, too."""

    adapter: Adapter
    rule: StoppingRule
    steps: list[LoopStep] = field(default_factory=list)
    best: int = 0
    """The step that was kept: the earliest of equal ones."""

    def run(self) -> str:
        """Run all steps and return why the training ended."""
        started = improved = time.perf_counter()
        best_score: float | None = None
        for number in range(self.rule.steps + 1):
            if number:
                reason = self.adapter.step(number)
                if reason is not None:
                    return reason
            found = self.adapter.score(number)
            if found.score is None or best_score is None or found.score < best_score:
                self.best, best_score = number, found.score
                improved = time.perf_counter()
                if found.score is not None:
                    self.adapter.keep(number)
            now = time.perf_counter()
            self.steps.append(LoopStep(number, found.score, now - started, found.details))
            if number:
                reason = self.rule.reason(number - self.best, now - improved, now - started)
                if reason is not None:
                    return reason
        return ALL_STEPS
