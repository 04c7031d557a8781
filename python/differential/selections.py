"""Choices of items: top k, knapsacks, assignments, functions."""

from __future__ import annotations

import itertools

import numpy as np

from .kinds import Drawn, draw_names, draw_presence, fixed_or_rows, present_field, subsets
from .references import Enumerated

# Loads may exceed a capacity by this part of it.
LOAD_TOLERANCE = 1e-9


def within(load, capacity):
    return load <= capacity + LOAD_TOLERANCE * max(1.0, abs(capacity))


def draw_top_k(draw):
    items = draw.number(2, 9)
    at_most = draw.chance(0.4)
    spec = {"kind": "top_k", "items": items, "sense": draw.one_of("minimize", "maximize")}
    if at_most:
        spec["at_most"] = True
    flags = draw_presence(draw, spec, items, 0.4)
    k = draw.rng.integers(1, items + 1, size=draw.scenarios)
    if draw.chance(0.8):
        k = np.minimum(k, np.maximum(flags.sum(axis=1).astype(int), 1))
    k[0] = min(k[0], items)
    fixed_or_rows(draw, spec, "k", k, "how_many")
    points = []
    for scenario in range(draw.scenarios):
        every = subsets(items)
        every = every[(every <= flags[scenario]).all(axis=1)]
        counts = every.sum(axis=1)
        points.append(every[counts <= k[scenario]] if at_most else every[counts == k[scenario]])
    return Drawn(spec, items, Enumerated(points, draw.scenario), present=flags[draw.scenario])


def draw_knapsack(draw):
    items, dimensions = draw.number(2, 9), draw.one_of(1, 1, 2, 3)
    by_row = draw.scenarios > 1
    weights = np.repeat(draw.numbers((1, dimensions, items), 0), draw.scenarios, axis=0)
    spec = {"kind": "knapsack", "weights": weights[0].tolist()}
    names = draw_names(draw, items) if draw.chance(0.5) else None
    if names:
        spec["items"] = names
    flags = draw_presence(draw, spec, items, 0.4)
    if by_row and dimensions == 1 and draw.chance(0.5):
        weights = draw.numbers((draw.scenarios, 1, items), 0)
        if names:
            for item, name in enumerate(names):
                draw.parameters[f"w_{name}"] = weights[draw.scenario, 0, item]
            spec["weights"] = {"columns": "w_*"}
        else:
            spec["weights"] = draw.columns("w_", weights[:, 0])
            spec["items"] = items
    elif dimensions == 1:
        spec["weights"] = weights[0, 0].tolist()
    totals = weights.sum(axis=2)
    capacity = np.round(totals * draw.rng.uniform(0.1, 0.9, size=totals.shape), 1)
    if by_row and draw.chance(0.2):
        capacity[-1] = -1.0
    if dimensions == 1:
        fixed_or_rows(draw, spec, "capacity", capacity[:, 0], "room")
    elif by_row:
        spec["capacity"] = draw.columns("room_", capacity)
    else:
        spec["capacity"] = capacity[0].tolist()
    points = []
    for scenario in range(draw.scenarios):
        every = subsets(items)
        every = every[(every <= flags[scenario]).all(axis=1)]
        fits = np.ones(len(every), dtype=bool)
        for load, most in zip((every @ weights[scenario].T).T, capacity[scenario]):
            fits &= np.array([within(one, most) for one in load])
        points.append(every[fits] if (capacity[scenario] >= 0).all() else every[:0])
    reference = Enumerated(points, draw.scenario)
    return Drawn(spec, items, reference, names, flags[draw.scenario], sense="maximize")


def draw_multiple_choice(draw):
    sizes = [draw.number(1, 4) for _ in range(draw.number(1, 4))]
    offers, optional = sum(sizes), draw.chance(0.4)
    ends = np.cumsum(sizes)
    groups = [range(end - size, end) for end, size in zip(ends, sizes)]
    weights = np.repeat(draw.numbers((1, offers), 0), draw.scenarios, axis=0)
    spec = {"kind": "multiple_choice_knapsack", "optional": optional}
    spec["sense"] = draw.one_of("maximize", "maximize", "minimize")
    flags = draw_presence(draw, spec, offers, 0.3, 0.85)
    if draw.scenarios > 1 and draw.chance(0.5):
        weights = draw.numbers((draw.scenarios, offers), 0)
        spec["weights"], spec["groups"] = draw.columns("w_", weights), sizes
    elif draw.chance(0.5):
        spec["weights"], spec["groups"] = weights[0].tolist(), sizes
    else:
        spec["weights"] = [[float(weights[0, offer]) for offer in group] for group in groups]
    least = np.array([sum(row[list(group)].min() for group in groups) for row in weights])
    most = np.array([sum(row[list(group)].max() for group in groups) for row in weights])
    low = 0.0 if optional else 0.05
    capacity = np.round(least + (most - least) * draw.rng.uniform(low, 0.9, len(least)) + 0.06, 1)
    fixed_or_rows(draw, spec, "capacity", capacity, "budget")
    choices = [[*group, None] if optional else list(group) for group in groups]
    every = np.zeros((int(np.prod([len(choice) for choice in choices])), offers))
    for point, chosen in zip(every, itertools.product(*choices)):
        point[[offer for offer in chosen if offer is not None]] = 1.0
    points = []
    for scenario in range(draw.scenarios):
        own = every[(every <= flags[scenario]).all(axis=1)]
        load = own @ weights[scenario]
        points.append(own[[within(one, capacity[scenario]) for one in load]])
    return Drawn(spec, offers, Enumerated(points, draw.scenario), present=flags[draw.scenario])


def draw_assignment(draw):
    agents, tasks = draw.number(1, 4), draw.number(1, 4)
    named = draw.chance(0.5)
    who = draw_names(draw, agents, True) if named else agents
    what = [f"t{task}" for task in range(tasks)] if named and draw.chance(0.7) else tasks
    spec = {"kind": "assignment", "agents": who, "tasks": what}
    if draw.chance(0.6):
        spec["sense"] = draw.one_of("minimize", "maximize")
    flags = np.ones((draw.scenarios, agents, tasks))
    forbidden = np.zeros((agents, tasks), dtype=bool)
    if draw.chance(0.3) and min(agents, tasks) > 1:
        # The diagonal is an assignment.
        forbidden = draw.rng.random((agents, tasks)) < 0.25
        np.fill_diagonal(forbidden, False)
        spec["forbidden"] = [
            [who[a] if named else int(a), what[t] if isinstance(what, list) else int(t)]
            for a, t in zip(*np.nonzero(forbidden))
        ]
    if draw.chance(0.4):
        flags = draw.presence(agents * tasks).reshape(-1, agents, tasks)
        present_field(draw, spec, flags.reshape(-1, agents * tasks))
    flags = flags * ~forbidden
    points = []
    for scenario in range(draw.scenarios):
        own = []
        if agents <= tasks:
            choices = (
                list(zip(range(agents), p)) for p in itertools.permutations(range(tasks), agents)
            )
        else:
            choices = (
                list(zip(p, range(tasks))) for p in itertools.permutations(range(agents), tasks)
            )
        for pairs in choices:
            if all(flags[scenario, a, t] for a, t in pairs):
                point = np.zeros((agents, tasks))
                point[tuple(zip(*pairs))] = 1.0
                own.append(point.ravel())
        points.append(np.array(own).reshape(-1, agents * tasks))
    names = None
    if named:
        others = what if isinstance(what, list) else range(tasks)
        names = [f"{agent}-{task}" for agent in who for task in others]
    present = flags.reshape(-1, agents * tasks)[draw.scenario]
    return Drawn(spec, agents * tasks, Enumerated(points, draw.scenario), names, present)


class LookUp:
    """A function that finds the best of some decisions; the parameter is their scenario."""

    def __init__(self, points, sign, constant):
        self.points, self.sign, self.constant = points, sign, constant

    def __call__(self, costs, parameters=None):
        points = self.points[int(parameters["which"]) if parameters else 0]
        if not len(points):
            return None
        decision = points[np.argmin(self.sign * (points @ costs))]
        if self.constant is None:
            return decision
        return decision, float(decision @ costs) + self.constant


def draw_function(draw):
    width = draw.number(2, 6)
    points = []
    for scenario in range(draw.scenarios):
        every = subsets(width)
        chosen = draw.rng.random(len(every)) < 0.4
        chosen[0] |= not chosen.any()
        points.append(every[chosen] if scenario == 0 or draw.chance(0.9) else every[:0])
    sense = draw.one_of("minimize", "maximize")
    sign = 1.0 if sense == "minimize" else -1.0
    spec = {"kind": "function", "sense": sense, "solve": LookUp(points, sign, None)}
    names = draw_names(draw, width) if draw.chance(0.5) else None
    if draw.scenarios > 1:
        draw.column("which", np.arange(draw.scenarios))
    return Drawn(spec, width, Enumerated(points, draw.scenario), names)
