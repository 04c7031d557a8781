"""Random numbers of cases: scenarios of parameters, costs, predictions."""

from __future__ import annotations

import numpy as np


class Draw:
    """The random stream of a case, and the parameters that its rows have so far."""

    def __init__(self, rng, rows, scenarios):
        self.rng = rng
        self.rows = rows
        self.scenarios = scenarios
        # Every scenario occurs; rows of the first one are the most.
        self.scenario = rng.integers(0, scenarios, size=rows)
        self.scenario[:scenarios] = np.arange(scenarios)
        self.parameters = {}

    def chance(self, probability):
        return bool(self.rng.random() < probability)

    def one_of(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def number(self, low, high):
        """A whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def column(self, name, by_scenario):
        """Register a number per row; returns its reference in the problem."""
        self.parameters[name] = np.asarray(by_scenario)[self.scenario]
        return {"column": name}

    def columns(self, prefix, by_scenario):
        """Register several numbers per row; returns their reference in the problem."""
        table = np.asarray(by_scenario, dtype=float)
        for item in range(table.shape[1]):
            self.parameters[f"{prefix}{item:02}"] = table[self.scenario, item]
        return {"columns": f"{prefix}*"}

    def numbers(self, shape, low=1, high=20):
        """Weights and capacities: whole numbers, quarters or numbers with one decimal."""
        step = self.one_of(1.0, 1.0, 0.25, 0.1)
        return np.round(self.rng.integers(low, high + 1, size=shape) * step, 2)

    def presence(self, width, probability=0.75):
        """Flags per scenario; the first scenario has everything."""
        flags = (self.rng.random((self.scenarios, width)) < probability).astype(float)
        flags[0] = 1.0
        # A row without anything is refused: it defines no problem.
        flags[np.arange(self.scenarios), self.rng.integers(0, width, size=self.scenarios)] = 1.0
        return flags


COST_STYLES = (
    "positive",
    "positive",
    "signed",
    "negative",
    "small integers",
    "zeros",
    "equal",
    "decimals",
    "tenths",
    "tiny",
    "huge",
    "mixed",
)


def draw_costs(draw, rows, width, style):
    """Costs of a style, as numbers of single precision."""
    rng = draw.rng
    if style in ("small integers", "zeros"):
        costs = rng.integers(-4, 10, size=(rows, width)).astype(float)
        if style == "zeros":
            costs *= rng.random((rows, width)) < 0.3
    elif style == "tenths":
        # Sums of some are 0, but not in single precision.
        costs = rng.integers(-4, 10, size=(rows, width)) / 10
    elif style == "equal":
        costs = np.repeat(rng.integers(-3, 9, size=(rows, 1)).astype(float), width, axis=1)
    elif style in ("signed", "decimals"):
        costs = rng.normal(0, 20, size=(rows, width))
        if style == "decimals":
            costs = np.round(costs, 1)
    elif style == "negative":
        costs = -rng.uniform(1, 100, size=(rows, width))
    else:
        costs = rng.uniform(1, 100, size=(rows, width))
    scales = {"tiny": [1e-9, 1e-6, 1e-3], "huge": [1e5, 1e8, 1e12]}
    if style in scales:
        costs = costs * rng.choice([-1.0, 1.0, 1.0], size=costs.shape) * rng.choice(scales[style])
    if style == "mixed":
        costs = costs * 10.0 ** rng.integers(-4, 5, size=costs.shape)
    return costs.astype(np.float32).astype(float)


def draw_predictions(draw, costs):
    """Predicted costs near the true ones, at times other ones, in single precision."""
    rng = draw.rng
    noise = draw.one_of(0.1, 0.5, 0.5, 2.0)
    typical = np.abs(costs).max(axis=1, keepdims=True)
    predictions = costs * rng.uniform(1 - noise, 1 + noise, size=costs.shape)
    predictions = predictions + 0.05 * noise * typical * rng.normal(size=costs.shape)
    if draw.chance(0.1):
        predictions = np.round(predictions)
    return predictions.astype(np.float32).astype(float)
