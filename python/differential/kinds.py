"""The kinds of problems: a description as in a problem file, and its reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Drawn:
    """A problem that was drawn."""

    spec: dict
    width: int
    reference: Any
    names: list | None = None
    present: np.ndarray | None = None
    """Per row and cost, whether it exists; None where all do."""
    files: dict = field(default_factory=dict)
    """Files next to the problem file, by name."""
    binary: bool = True
    sense: str | None = None
    """Where the problem file does not say it."""

    @property
    def sign(self):
        return -1.0 if (self.sense or self.spec.get("sense")) == "maximize" else 1.0


def present_field(draw, spec, flags, name="on_"):
    """Write flags of absence into a problem, per row or fixed."""
    if draw.scenarios > 1:
        spec["present"] = draw.columns(name, flags)
    else:
        spec["present"] = [int(flag) for flag in flags[0]]


def draw_presence(draw, spec, width, chance, probability=0.75, only_by_row=False):
    """Flags of presence per scenario: some problems have the field, the others have all items."""
    if draw.chance(chance) and (draw.scenarios > 1 or not only_by_row):
        flags = draw.presence(width, probability)
        present_field(draw, spec, flags)
        return flags
    return np.ones((draw.scenarios, width))


def subsets(width):
    """All vectors of zeros and ones."""
    return ((np.arange(2**width)[:, None] >> np.arange(width)) & 1).astype(float)


def draw_names(draw, count, separator_safe=False):
    """Names in no particular order."""
    words = ["tea", "oil", "rice", "salt", "cola", "beer", "water", "milk", "corn", "soup", "ice"]
    if draw.chance(0.2) and not separator_safe:
        words = ["ä b", "x,y", 'q"t', "c 1", "1.5", "né", "a;b", "=s", "T", "n/m", "-z"]
    chosen = [words[i] for i in draw.rng.permutation(len(words))[:count]]
    return chosen


def fixed_or_rows(draw, spec, key, by_scenario, name):
    """One number: that of the row in a column, or the same for all rows."""
    if draw.scenarios > 1:
        spec[key] = draw.column(name, by_scenario)
    else:
        spec[key] = by_scenario[0].item() if hasattr(by_scenario[0], "item") else by_scenario[0]
