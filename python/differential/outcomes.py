"""What an interface returned for a case, in one form for all interfaces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Solved:
    """Decisions of all rows under some costs."""

    operation: str
    costs: np.ndarray
    """The costs that were solved, without their known part."""
    decisions: np.ndarray
    objectives: np.ndarray
    statuses: list
    names: list | None = None
    """The names of the decision's columns, where the interface reports them."""
    optimal_only: bool = False
    """Whether rows without a shortest path are failures, as for labels."""
    named_rows: set | None = None
    """The rows that notes name as having no decision, where the interface writes such notes."""
    may_round: bool = False


@dataclass
class Evaluated:
    """Regrets of predictions."""

    operation: str
    predictions: np.ndarray
    costs: np.ndarray
    regrets: np.ndarray
    objectives: np.ndarray
    optimal_objectives: np.ndarray
    relative_regrets: np.ndarray
    aggregates: dict
    named_rows: set | None = None


@dataclass
class Predicted:
    """Predictions of a model with known parameters, and what they must be."""

    operation: str
    predictions: np.ndarray
    expected: np.ndarray
    scale: np.ndarray


@dataclass
class Noted:
    """Whether a note appeared, and whether it must."""

    operation: str
    what: str
    appeared: bool
    must: bool


@dataclass
class Failed:
    """An error of the program, and whether the references expect one."""

    operation: str
    message: str
    expected: bool


@dataclass
class Numbers:
    """Numbers of a result, and what they must be."""

    operation: str
    entries: list = field(default_factory=list)
    """What the number is, the actual and the expected one, and the difference that is allowed."""

    def add(self, what, actual, expected, scale):
        """A number that may be off by a rounding error of this scale."""
        actual, expected = float(actual), float(expected)
        self.entries.append((what, actual, expected, 1e-6 * abs(float(scale))))

    def add_between(self, what, actual, least, most, scale):
        """A number that must lie between two others, but for a rounding error of this scale."""
        tolerance = (most - least) / 2 + 1e-6 * abs(float(scale))
        self.entries.append((what, float(actual), (least + most) / 2, tolerance))


@dataclass
class Session:
    """All outcomes of a case, and how to repeat them."""

    outcomes: list = field(default_factory=list)
    reproduction: list = field(default_factory=list)
