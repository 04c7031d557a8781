"""Flows, transports, storages and linear models, by SciPy's linear programs."""

from __future__ import annotations

import itertools

import numpy as np

from .kinds import Drawn, draw_presence, fixed_or_rows, present_field
from .networks import arc_names, draw_arcs, draw_nodes
from .references import Enumerated, Linear, LinearRows


def spread(values, draw):
    """Numbers per scenario as numbers per row."""
    return np.asarray(values, dtype=float)[draw.scenario]


def draw_min_cost_flow(draw):
    nodes = draw_nodes(draw, draw.number(2, 6))
    arcs, _, _ = draw_arcs(draw, nodes)
    written, names = arc_names(draw, arcs)
    places = {node: place for place, node in enumerate(nodes)}
    balance = np.zeros((len(nodes), len(arcs)))
    for arc, (tail, head) in enumerate(arcs):
        balance[places[tail], arc] += 1.0
        balance[places[head], arc] -= 1.0
    scenarios, count = draw.scenarios, len(arcs)
    spec = {"kind": "min_cost_flow", "arcs": written}
    if draw.chance(0.3):
        spec["sense"] = draw.one_of("minimize", "maximize")
    # Supplies are those of a random flow, so most rows have one.
    flow = draw.rng.integers(0, 8, size=(scenarios, count)) * draw.one_of(1.0, 1.0, 0.5, 0.1)
    flow *= draw.rng.random((scenarios, count)) < 0.6
    supply = np.round(flow @ balance.T, 6)
    capacity = np.full((scenarios, count), np.inf)
    if draw.chance(0.75):
        capacity = flow + draw.rng.integers(0, 5, size=flow.shape)
        capacity[draw.rng.random(flow.shape) < draw.one_of(0.0, 0.2, 0.5, 0.8)] = np.inf
    lower = np.zeros((scenarios, count))
    if draw.chance(0.3):
        lower = np.minimum(flow, draw.rng.integers(0, 3, size=flow.shape))
    flags = np.ones((scenarios, count))
    if draw.chance(0.3):
        flags = draw.presence(count, 0.85)
    if scenarios > 1 and draw.chance(0.3):
        supply[-1] = np.round(supply[-1] * 3.0, 6)
    if scenarios == 1:
        spec["supply"] = {str(node): float(supply[0, i]) for node, i in places.items()}
    else:
        spec["supply"] = {
            str(node): draw.column(f"net {node}", supply[:, i]) for node, i in places.items()
        }
    # Numbers that are the same in all rows may be in the problem file.
    if np.isfinite(capacity).any():
        write_bounds(draw, spec, "capacity", capacity, "most_")
    if lower.any():
        write_bounds(draw, spec, "lower", lower, "least_")
    if not flags.all():
        present_field(draw, spec, flags)
    rows = LinearRows(
        balance,
        spread(supply, draw),
        spread(supply, draw),
        spread(lower * flags, draw),
        spread(np.where(flags == 1, capacity, 0.0), draw),
    )
    present = flags[draw.scenario]
    return Drawn(spec, count, Linear([rows]), names, present, binary=False)


def write_bounds(draw, spec, key, bounds, prefix):
    if draw.scenarios > 1:
        spec[key] = draw.columns(prefix, bounds)
    else:
        spec[key] = bounds[0].tolist()


def draw_transport(draw):
    sources, destinations = draw.number(1, 3), draw.number(1, 3)
    lanes, scenarios = sources * destinations, draw.scenarios
    amounts = draw.rng.integers(0, 9, size=(scenarios, sources, destinations))
    amounts = amounts * draw.one_of(1.0, 1.0, 0.5, 0.1)
    demand = np.round(amounts.sum(axis=1), 6)
    supply = np.round(amounts.sum(axis=2), 6) + draw.one_of(0.0, 1.0, 5.0)
    spec = {"kind": "transport"}
    if draw.chance(0.3):
        spec["sense"] = draw.one_of("minimize", "maximize")
    names = None
    if draw.chance(0.5):
        spec["sources"] = ["north", "south", "west"][:sources]
        spec["destinations"] = ["c", "a", "b"][:destinations]
        names = [f"{s}-{d}" for s in spec["sources"] for d in spec["destinations"]]
    elif scenarios > 1:
        spec["sources"], spec["destinations"] = sources, destinations
    capacity = np.full((scenarios, lanes), np.inf)
    if draw.chance(0.5):
        capacity = amounts.reshape(scenarios, lanes) + draw.rng.integers(0, 4, (scenarios, lanes))
        capacity[draw.rng.random(capacity.shape) < 0.3] = np.inf
        write_bounds(draw, spec, "capacity", capacity, "most_")
    if scenarios > 1 and draw.chance(0.3):
        demand[-1] += 20.0
    write_bounds(draw, spec, "supply", supply, "has_")
    write_bounds(draw, spec, "demand", demand, "need_")
    flags = draw_presence(draw, spec, lanes, 0.3, 0.85, only_by_row=True)
    leaving = np.kron(np.eye(sources), np.ones(destinations))
    arriving = np.kron(np.ones(sources), np.eye(destinations))
    rows = LinearRows(
        np.vstack([leaving, arriving]),
        spread(np.hstack([np.full_like(supply, -np.inf), demand]), draw),
        spread(np.hstack([supply, demand]), draw),
        np.zeros((draw.rows, lanes)),
        spread(np.where(flags == 1, capacity, 0.0), draw),
    )
    present = flags[draw.scenario]
    return Drawn(spec, lanes, Linear([rows]), names, present, binary=False)


def draw_storage(draw):
    steps, scenarios = draw.number(1, 4), draw.scenarios
    rng = draw.rng
    spec = {"kind": "storage", "steps": steps}
    capacity = np.round(rng.uniform(4, 12, scenarios), 1)
    charge = np.round(rng.uniform(0.5, 5, (scenarios, steps)), 1)
    discharge = np.round(rng.uniform(0.5, 5, (scenarios, steps)), 1)
    fixed_or_rows(draw, spec, "capacity", capacity, "size")
    if draw.chance(0.5):
        charge[:], discharge[:] = charge[:, :1], discharge[:, :1]
        fixed_or_rows(draw, spec, "charge_limit", charge[:, 0], "in")
        fixed_or_rows(draw, spec, "discharge_limit", discharge[:, 0], "out")
    else:
        write_bounds(draw, spec, "charge_limit", charge, "in_")
        write_bounds(draw, spec, "discharge_limit", discharge, "out_")
    efficiency = np.ones((2, scenarios))
    for place, name in enumerate(("charge_efficiency", "discharge_efficiency")):
        if draw.chance(0.6):
            efficiency[place] = np.round(rng.uniform(0.6, 1.0, scenarios), 2)
            fixed_or_rows(draw, spec, name, efficiency[place], name)
    initial, final, least = np.zeros(scenarios), None, np.zeros(scenarios)
    if draw.chance(0.6):
        initial = np.round(capacity * rng.uniform(0, 1, scenarios), 1).clip(max=capacity)
        fixed_or_rows(draw, spec, "initial", initial, "start")
    if draw.chance(0.6):
        final = np.round(initial * rng.uniform(0, 1.3, scenarios), 1).clip(max=capacity)
        final[0] = min(final[0], initial[0])
        fixed_or_rows(draw, spec, "final_min", final, "finish")
    if draw.chance(0.3):
        least = np.round(initial * rng.uniform(0, 1, scenarios), 1)
        fixed_or_rows(draw, spec, "min_level", least, "floor")
    inflow = np.zeros((scenarios, steps))
    if draw.chance(0.4):
        inflow = np.round(rng.uniform(-0.3, 2.0, (scenarios, steps)), 1)
        inflow[0] = np.abs(inflow[0])
        write_bounds(draw, spec, "inflow", inflow, "rain_")
    final = initial if final is None else final
    branches = [
        storage_rows(
            draw, signs, capacity, (charge, discharge), efficiency, (initial, final, least), inflow
        )
        for signs in itertools.product((1.0, -1.0), repeat=steps)
    ]
    return Drawn(spec, steps, StorageReference(branches, steps), binary=False)


class StorageReference(Linear):
    """Programs with amounts and passed inflow as columns; the amounts are the decision."""

    def __init__(self, branches, steps):
        super().__init__(branches)
        self.steps = steps

    def _padded(self, costs):
        return np.hstack([costs, np.zeros((len(costs), self.width - costs.shape[1]))])

    def _solve(self, costs):
        best, decisions = super()._solve(self._padded(np.nan_to_num(costs)))
        return best, decisions[:, : self.steps]

    def true_objectives(self, predicted, costs, row, tolerance):
        return super().true_objectives(self._padded(predicted), self._padded(costs), row, tolerance)

    def are_feasible(self, decisions):
        """Levels follow from the amounts, with as much of the inflow as fits."""
        feasible = np.zeros(len(decisions), dtype=bool)
        for branch in self.branches:
            feasible |= self._follows(branch, decisions)
        return feasible

    def _follows(self, branch, decisions):
        amounts = decisions[:, : self.steps]
        scale = VIOLATION_OF_LEVELS
        inside = (amounts >= branch.lower[:, : self.steps] - scale) & (
            amounts <= branch.upper[:, : self.steps] + scale
        )
        # The levels that the amounts allow, as inflow may pass unused.
        numbers = branch.storage
        low, high = numbers["initial"].copy(), numbers["initial"].copy()
        feasible = inside.all(axis=1)
        for step in range(self.steps):
            change = amounts[:, step] * numbers["factors"][:, step]
            inflow = numbers["inflow"][:, step]
            least = numbers["least"]
            if step + 1 == self.steps:
                least = np.maximum(least, numbers["final"])
            low = np.maximum(low + change + np.minimum(inflow, 0.0), least)
            high = np.minimum(high + change + inflow, numbers["capacity"])
            feasible &= low <= high + scale
        return feasible


VIOLATION_OF_LEVELS = 1e-5


def storage_rows(draw, signs, capacity, limits, efficiency, levels, inflow):
    """The program in which each step charges, or discharges."""
    steps, rows = len(signs), draw.rows
    charge, discharge = limits
    initial, final, least = levels
    signs = np.array(signs)
    factors = np.where(signs > 0, efficiency[0][:, None], 1.0 / efficiency[1][:, None])
    lower = np.where(signs > 0, 0.0, -discharge)
    upper = np.where(signs > 0, charge, 0.0)
    passed = np.maximum(inflow, 0.0)
    # level after a step = initial + sum of factor * amount + inflow - passed
    triangle = np.tril(np.ones((steps, steps)))
    matrix = np.concatenate(
        [triangle * factors[:, None, :], np.broadcast_to(-triangle, (len(factors), steps, steps))],
        axis=2,
    )
    known = initial[:, None] + np.cumsum(inflow, axis=1)
    floor = np.repeat(least[:, None], steps, axis=1)
    floor[:, -1] = np.maximum(floor[:, -1], final)
    program = LinearRows(
        matrix[draw.scenario],
        spread(floor - known, draw),
        spread(capacity[:, None] - known, draw),
        spread(np.hstack([lower, np.zeros((len(lower), steps))]), draw),
        spread(np.hstack([upper, passed]), draw),
    )
    program.storage = {
        "initial": spread(initial, draw),
        "factors": spread(factors, draw),
        "inflow": spread(inflow, draw),
        "capacity": spread(capacity, draw),
        "least": spread(least, draw),
        "final": spread(final, draw),
    }
    assert len(program.lower) == rows
    return program


def draw_linear(draw):
    """A model in an LP or MPS file, with right-hand sides and bounds of the row."""
    columns, num_rows, scenarios = draw.number(2, 5), draw.number(1, 4), draw.scenarios
    rng = draw.rng
    maximize = draw.chance(0.4)
    matrix = rng.integers(-3, 7, size=(num_rows, columns)).astype(float)
    matrix *= rng.random(matrix.shape) < 0.8
    matrix[np.arange(num_rows), rng.integers(0, columns, num_rows)] = rng.integers(1, 5, num_rows)
    lower = np.repeat(rng.integers(-2, 1, size=(1, columns)).astype(float), scenarios, axis=0)
    lower[:, rng.random(columns) < 0.6] = 0.0
    upper = np.repeat(rng.integers(1, 7, size=(1, columns)).astype(float), scenarios, axis=0)
    kinds = draw.one_of("continuous", "continuous", "mixed")
    integer = rng.random(columns) < (0.5 if kinds == "mixed" else 0.0)
    # Two integer columns at most, with few values: each assignment is a program of its own.
    integer[np.flatnonzero(integer)[2:]] = False
    upper[:, integer] = np.minimum(upper[:, integer], 2.0)
    lower[:, integer] = np.maximum(lower[:, integer], 0.0)
    if draw.chance(0.2):
        upper[:, ~integer & (rng.random(columns) < 0.5)] = np.inf
    inside = np.round(lower + (np.minimum(upper, 9) - lower) * rng.random((scenarios, columns)))
    values = inside @ matrix.T
    relations = [draw.one_of("<=", ">=", "<=", ">=", "==") for _ in range(num_rows)]
    if kinds == "mixed":
        relations = [one if one != "==" else "<=" for one in relations]
    slack = rng.integers(0, 4, size=values.shape)
    rhs = values.copy()
    for row, relation in enumerate(relations):
        rhs[:, row] += {"<=": slack[:, row], ">=": -slack[:, row], "==": 0.0}[relation]
    if scenarios > 1 and draw.chance(0.3):
        rhs[-1] += rng.integers(-30, 30, size=num_rows)
    known_columns = rng.random(columns) < draw.one_of(0.0, 0.0, 0.3)
    known_columns[rng.integers(columns)] = False
    known_costs = np.round(rng.uniform(-5, 5, columns), 2) * known_columns
    model = Model(matrix, relations, rhs, lower, upper, integer, known_columns, known_costs)
    spec = model.spec(draw, maximize)
    reference = model.reference(draw, maximize)
    names = [name for name, known in zip(model.names, known_columns) if not known]
    files = {"plan.lp": model.lp_text(maximize)} if spec["kind"] == "linear" else {}
    return Drawn(spec, len(names), reference, names, files=files, binary=False)


class Model:
    """A linear model whose right-hand sides and bounds may differ per scenario."""

    def __init__(self, matrix, relations, rhs, lower, upper, integer, known, known_costs):
        self.matrix, self.relations, self.rhs = matrix, relations, rhs
        self.lower, self.upper, self.integer = lower, upper, integer
        self.known, self.known_costs = known, known_costs
        self.names = [f"x{place}" for place in range(matrix.shape[1])]

    def spec(self, draw, maximize):
        sense = "maximize" if maximize else "minimize"
        if draw.chance(0.4) and not self.known.any():
            return self.arrays_spec(draw, sense)
        spec = {"kind": "linear", "file": "plan.lp", "sense": sense}
        spec["costs"] = [name for name, known in zip(self.names, self.known) if not known]
        if draw.scenarios > 1:
            spec["rhs"] = {
                f"r{row}": draw.column(f"side {row}", self.rhs[:, row])
                for row in range(len(self.relations))
            }
            if draw.chance(0.5):
                finite = np.isfinite(self.upper[0]) & ~self.integer
                spec["upper"] = {}
                for place in np.flatnonzero(finite):
                    change = draw.rng.integers(0, 3, size=draw.scenarios)
                    change[0] = 0
                    self.upper[:, place] += change
                    spec["upper"][self.names[place]] = draw.column(
                        f"most {place}", self.upper[:, place]
                    )
                if not spec["upper"]:
                    del spec["upper"]
        return spec

    def arrays_spec(self, draw, sense):
        columns = []
        for place, name in enumerate(self.names):
            column = {"lower": float(self.lower[0, place]), "upper": float(self.upper[0, place])}
            columns.append({**column, "integer": bool(self.integer[place]), "name": name})
        rows = []
        for row, relation in enumerate(self.relations):
            entries = [
                [place, float(value)] for place, value in enumerate(self.matrix[row]) if value
            ]
            ends = {}
            if relation != "<=":
                ends["lower"] = self.side(draw, row, relation)
            if relation != ">=":
                ends["upper"] = self.side(draw, row, relation)
            rows.append({**ends, "entries": entries})
        return {
            "kind": "linear_arrays",
            "name": "arrays",
            "sense": sense,
            "columns": columns,
            "rows": rows,
        }

    def side(self, draw, row, _relation):
        if draw.scenarios > 1:
            return draw.column(f"side {row}", self.rhs[:, row])
        return float(self.rhs[0, row])

    def lp_text(self, maximize):
        """The model of the first scenario in the LP format."""

        def terms(numbers, all_columns=False):
            parts = [
                f"{'-' if value < 0 else '+'} {abs(value):g} {name}"
                for value, name in zip(numbers, self.names)
                if value or all_columns
            ]
            return " ".join(parts) or f"0 {self.names[0]}"

        objective = np.where(self.known, self.known_costs, 1.0)
        # Columns are in the order in which the file first names them.
        costs = terms(objective, all_columns=True)
        lines = ["Maximize" if maximize else "Minimize", f" cost: {costs}", "Subject To"]
        for row, relation in enumerate(self.relations):
            sign = "=" if relation == "==" else relation
            lines.append(f" r{row}: {terms(self.matrix[row])} {sign} {self.rhs[0, row]:g}")
        lines.append("Bounds")
        for place, name in enumerate(self.names):
            low, high = self.lower[0, place], self.upper[0, place]
            lines.append(f" {low:g} <= {name}" + (f" <= {high:g}" if np.isfinite(high) else ""))
        if self.integer.any():
            whole = [name for name, one in zip(self.names, self.integer) if one]
            lines += ["General", " " + " ".join(whole)]
        return "\n".join([*lines, "End", ""])

    def reference(self, draw, maximize):
        equal = np.array([one == "==" for one in self.relations])
        at_most = np.array([one == "<=" for one in self.relations])
        row_lower = np.where(at_most & ~equal, -np.inf, self.rhs)
        row_upper = np.where(~at_most & ~equal, np.inf, self.rhs)
        branches = []
        ranges = [
            np.arange(self.lower[0, place], self.upper[0, place] + 1)
            for place in np.flatnonzero(self.integer)
        ]
        for values in itertools.product(*ranges):
            lower, upper = self.lower.copy(), self.upper.copy()
            lower[:, self.integer] = upper[:, self.integer] = values
            branches.append(
                LinearRows(
                    self.matrix,
                    spread(row_lower, draw),
                    spread(row_upper, draw),
                    spread(lower, draw),
                    spread(upper, draw),
                )
            )
        sign = -1.0 if maximize else 1.0
        return ModelReference(branches, self.known, sign * self.known_costs)


class ModelReference(Linear):
    """Programs whose known costs are part of the objective; decisions have predicted columns."""

    def __init__(self, branches, known, known_costs):
        super().__init__(branches)
        self.known, self.known_costs = known, known_costs

    def are_feasible(self, decisions):
        """Decisions have the predicted columns first."""
        order = np.concatenate([np.flatnonzero(~self.known), np.flatnonzero(self.known)])
        by_column = np.empty_like(decisions)
        by_column[:, order] = decisions
        return super().are_feasible(by_column)

    def _complete(self, costs):
        complete = np.tile(self.known_costs, (len(costs), 1))
        complete[:, ~self.known] = np.nan_to_num(costs)
        return complete

    def _solve(self, costs):
        return super()._solve(self._complete(costs))

    def true_objectives(self, predicted, costs, row, tolerance):
        return super().true_objectives(
            self._complete(predicted), self._complete(costs), row, tolerance
        )


SLOTS = 48


def draw_schedule(draw):
    """Few tasks with narrow windows on one or two machines of one resource."""
    rng = draw.rng
    machines = draw.number(1, 2)
    capacity = np.repeat(rng.integers(2, 6, size=(1, machines)), draw.scenarios, axis=0)
    if draw.scenarios > 1 and draw.chance(0.5):
        capacity = rng.integers(2, 6, size=(draw.scenarios, machines))
    tasks = []
    for _ in range(draw.number(1, 3)):
        duration, earliest = draw.number(1, 4), draw.number(0, 40)
        latest = min(SLOTS, earliest + duration + draw.number(0, 4))
        task = {"duration": duration, "earliest": earliest, "latest": latest}
        tasks.append(
            {**task, "power": float(draw.number(1, 9)), "uses": [float(draw.number(1, 3))]}
        )
    minutes = draw.one_of(30.0, 60.0, 15.0)
    spec = {"kind": "schedule", "minutes": minutes, "tasks": tasks}
    if draw.scenarios > 1:
        spec["machines"] = [
            [draw.column(f"machine {place}", capacity[:, place].astype(float))]
            for place in range(machines)
        ]
    else:
        spec["machines"] = [[float(one)] for one in capacity[0]]
    points = [schedule_points(tasks, one, minutes / 60.0) for one in capacity]
    return Drawn(spec, SLOTS, Enumerated(points, draw.scenario), binary=False)


def schedule_points(tasks, capacity, hours):
    """The energy of each slot, for all starts of all tasks that fit together."""
    choices = []
    for task in tasks:
        starts = range(task["earliest"], task["latest"] - task["duration"] + 1)
        choices.append(list(itertools.product(range(len(capacity)), starts)))
    points = set()
    for chosen in itertools.product(*choices):
        loads, energy = np.zeros((len(capacity), SLOTS)), np.zeros(SLOTS)
        for task, (machine, start) in zip(tasks, chosen):
            running = slice(start, start + task["duration"])
            loads[machine, running] += task["uses"][0]
            energy[running] += task["power"] * hours
        if (loads <= np.asarray(capacity)[:, None]).all():
            points.add(tuple(energy))
    return np.array(sorted(points)).reshape(-1, SLOTS)
