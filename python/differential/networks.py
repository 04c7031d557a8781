"""Paths, trees, tours and routes, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np

from .kinds import Drawn, draw_presence, fixed_or_rows
from .references import Enumerated, Paths


def grid_arcs(rows, cols):
    """Arcs to the right and down, row by row, first the horizontal ones of a row."""
    arcs = []
    for row in range(rows):
        arcs += [(row * cols + col, row * cols + col + 1) for col in range(cols - 1)]
        if row + 1 < rows:
            arcs += [(row * cols + col, (row + 1) * cols + col) for col in range(cols)]
    return arcs


def simple_walks(arcs, present, source, target):
    """Indicators of the arcs of all simple paths from one node to another."""
    leaving = {}
    for number, (tail, head) in enumerate(arcs):
        if present[number]:
            leaving.setdefault(tail, []).append((number, head))
    found = []

    def extend(node, visited, used):
        if node == target:
            point = np.zeros(len(arcs))
            point[used] = 1.0
            found.append(point)
            return
        for number, head in leaving.get(node, []):
            if head not in visited:
                extend(head, visited | {head}, [*used, number])

    extend(source, {source}, [])
    return np.array(found).reshape(-1, len(arcs))


def reachable(arcs, present, start, forward=True):
    """The nodes that can be reached from a node, or from which it can be reached."""
    seen, stack = {start}, [start]
    while stack:
        node = stack.pop()
        for number, (tail, head) in enumerate(arcs):
            first, second = (tail, head) if forward else (head, tail)
            if present[number] and first == node and second not in seen:
                seen.add(second)
                stack.append(second)
    return seen


def simple_cycles(arcs, present, source, target):
    """Indicators of the arcs of all simple cycles on a way from source to target."""
    ways = reachable(arcs, present, source) & reachable(arcs, present, target, forward=False)
    found = []
    for start in sorted(ways, key=str):
        # Each cycle from its least node.
        allowed = {node for node in ways if str(node) >= str(start)}
        for number, (tail, head) in enumerate(arcs):
            if not (present[number] and tail == start and head in allowed):
                continue
            if head == start:
                point = np.zeros(len(arcs))
                point[number] = 1.0
                found.append(point)
                continue
            inner = [
                present[other] and ends[0] in allowed and ends[1] in allowed and ends[0] != start
                for other, ends in enumerate(arcs)
            ]
            for rest in simple_walks(arcs, inner, head, start):
                rest[number] = 1.0
                found.append(rest)
    return np.array(found).reshape(-1, len(arcs))


def draw_grid_path(draw):
    rows, cols = draw.number(1, 4), draw.number(2, 4)
    arcs = grid_arcs(rows, cols)
    nodes = rows * cols
    spec = {"kind": "grid_path", "grid": [rows, cols]}
    sources, targets = np.zeros(draw.scenarios, int), np.full(draw.scenarios, nodes - 1)
    if draw.chance(0.4):
        targets = draw.rng.integers(nodes // 2, nodes, size=draw.scenarios)
        targets[0] = nodes - 1
        fixed_or_rows(draw, spec, "target", targets, "end")
    if draw.chance(0.3):
        sources = draw.rng.integers(0, max(1, nodes // 3), size=draw.scenarios)
        sources[0] = 0
        fixed_or_rows(draw, spec, "source", sources, "begin")
    flags = draw_presence(draw, spec, len(arcs), 0.4, 0.85, only_by_row=True)
    points = [
        simple_walks(arcs, flags[one], sources[one], targets[one]) for one in range(draw.scenarios)
    ]
    present = flags[draw.scenario]
    return Drawn(spec, len(arcs), Enumerated(points, draw.scenario), present=present)


def draw_arcs(draw, nodes, directed=True, most=12):
    """A connected network: a chain through all nodes and random arcs, in random order."""
    order = draw.rng.permutation(len(nodes))
    arcs = [(nodes[a], nodes[b]) for a, b in itertools.pairwise(order)]
    acyclic = directed and draw.chance(0.3)
    for _ in range(draw.number(0, most - len(arcs))):
        a, b = draw.rng.choice(len(nodes), size=2, replace=False)
        if acyclic and list(order).index(a) > list(order).index(b):
            a, b = b, a
        arcs.append((nodes[a], nodes[b]))
    arcs = [arcs[i] for i in draw.rng.permutation(len(arcs))]
    return arcs, nodes[order[0]], nodes[order[-1]]


def draw_nodes(draw, count):
    style = draw.number(0, 2)
    if style == 0:
        return [f"n{i}" for i in range(count)]
    if style == 1:
        return ["home", "port", "shop", "mill", "farm", "mine", "dock"][:count]
    return [int(number) for number in draw.rng.permutation(20)[:count]]


def arc_names(draw, arcs, may_name=True):
    """The arcs as the problem file has them, and the names of their costs."""
    written = [[tail, head] for tail, head in arcs]
    names = [f"{tail}-{head}" for tail, head in arcs]
    if may_name and draw.chance(0.3):
        names = [f"road {number}" for number in draw.rng.permutation(len(arcs))]
        written = [[*ends, name] for ends, name in zip(written, names)]
    return written, names if len(set(names)) == len(names) else None


def draw_graph_path(draw):
    if draw.chance(0.3):
        return draw_map_path(draw)
    nodes = draw_nodes(draw, draw.number(2, 6))
    arcs, source, target = draw_arcs(draw, nodes)
    written, names = arc_names(draw, arcs)
    spec = {"kind": "graph_path", "arcs": written, "source": source, "target": target}
    sources, targets = [source] * draw.scenarios, [target] * draw.scenarios
    if draw.scenarios > 1 and draw.chance(0.6):
        targets = [target, *(draw.one_of(*nodes) for _ in range(draw.scenarios - 1))]
        spec["target"] = draw.column("goal", np.array(targets, dtype=object))
    flags = draw_presence(draw, spec, len(arcs), 0.4, 0.85)
    points, cycles = [], []
    for one in range(draw.scenarios):
        points.append(simple_walks(arcs, flags[one], sources[one], targets[one]))
        cycles.append(simple_cycles(arcs, flags[one], sources[one], targets[one]))
    reference = Paths(points, draw.scenario, cycles)
    return Drawn(spec, len(arcs), reference, names, flags[draw.scenario])


def draw_map_path(draw):
    """A path over the cells of a map, which pays for its cells."""
    rows, cols = draw.number(1, 3), draw.number(2, 3)
    cells, neighbors = rows * cols, draw.one_of(4, 8)
    spec = {"kind": "graph_path", "grid": [rows, cols], "neighbors": neighbors}
    arcs = []
    for a, b in itertools.permutations(range(cells), 2):
        down, right = abs(a // cols - b // cols), abs(a % cols - b % cols)
        if down + right == 1 or (neighbors == 8 and max(down, right) == 1):
            arcs.append((a, b))
    ends = np.array(arcs).reshape(-1, 2)
    sources, targets = np.zeros(draw.scenarios, int), np.full(draw.scenarios, cells - 1)
    if draw.chance(0.5):
        targets = draw.rng.integers(0, cells, size=draw.scenarios)
        targets[0] = cells - 1
        fixed_or_rows(draw, spec, "target", targets, "goal")
    flags = draw_presence(draw, spec, cells, 0.3, 0.85, only_by_row=True)
    points, cycles = [], []
    for one in range(draw.scenarios):
        open_arcs = (flags[one][ends] == 1).all(axis=1)
        closed_end = not (flags[one][sources[one]] and flags[one][targets[one]])
        walks = simple_walks(arcs, open_arcs, sources[one], targets[one])
        loops = simple_cycles(arcs, open_arcs, sources[one], targets[one])
        heads = np.zeros((len(arcs), cells))
        heads[np.arange(len(arcs)), ends[:, 1]] = 1.0
        start = np.zeros(cells)
        start[sources[one]] = 1.0
        points.append((walks @ heads + start)[: 0 if closed_end else len(walks)])
        cycles.append(loops @ heads)
    reference = Paths(points, draw.scenario, cycles)
    return Drawn(spec, cells, reference, present=flags[draw.scenario])


def draw_spanning_tree(draw):
    spec = {"kind": "spanning_tree"}
    if draw.chance(0.5):
        count = draw.number(2, 5)
        edges, names = list(itertools.combinations(range(count), 2)), None
        spec["nodes"] = count
    else:
        nodes = draw_nodes(draw, draw.number(2, 5))
        count = len(nodes)
        edges, _, _ = draw_arcs(draw, nodes, directed=False, most=9)
        spec["edges"], names = arc_names(draw, edges)
    if draw.chance(0.5):
        spec["sense"] = draw.one_of("minimize", "maximize")
    flags = draw_presence(draw, spec, len(edges), 0.4, 0.8, only_by_row=True)
    trees = []
    for chosen in itertools.combinations(range(len(edges)), count - 1):
        part = {node: node for edge in edges for node in edge}

        def root(node, part=part):
            while part[node] != node:
                node = part[node]
            return node

        is_tree = True
        for number in chosen:
            a, b = (root(node) for node in edges[number])
            is_tree &= a != b
            part[a] = b
        if is_tree:
            point = np.zeros(len(edges))
            point[list(chosen)] = 1.0
            trees.append(point)
    trees = np.array(trees)
    points = [trees[(trees <= one).all(axis=1)] for one in flags]
    present = flags[draw.scenario]
    return Drawn(spec, len(edges), Enumerated(points, draw.scenario), names, present)


def tour_points(nodes, edges):
    """All tours through some nodes."""
    first, *others = nodes
    points = []
    for order in itertools.permutations(others):
        if order[0] > order[-1]:
            continue
        point = np.zeros(len(edges))
        tour = [first, *order, first]
        for a, b in itertools.pairwise(tour):
            point[edges[min(a, b), max(a, b)]] += 1.0
        points.append(point)
    return points


def draw_tsp(draw):
    nodes = draw.number(3, 6)
    edges = {pair: number for number, pair in enumerate(itertools.combinations(range(nodes), 2))}
    spec = {"kind": "tsp", "nodes": nodes}
    flags = draw_presence(draw, spec, nodes, 0.5, 0.8)
    points = []
    for one in flags:
        here = [node for node in range(nodes) if one[node]]
        own = tour_points(here, edges) if len(here) >= 3 else []
        points.append(np.array(own).reshape(-1, len(edges)))
    present = edge_presence(flags, edges)[draw.scenario]
    return Drawn(spec, len(edges), Enumerated(points, draw.scenario), present=present)


def edge_presence(flags, edges):
    """Edges exist where both nodes do."""
    ends = np.array(list(edges))
    return flags[:, ends[:, 0]] * flags[:, ends[:, 1]]


def partitions(items):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, *rest = items
    for partition in partitions(rest):
        yield [[first], *partition]
        for place in range(len(partition)):
            yield [*partition[:place], [first, *partition[place]], *partition[place + 1 :]]


def draw_cvrp(draw):
    customers = draw.number(2, 4)
    demands = np.repeat(draw.numbers((1, customers), 1, 9), draw.scenarios, axis=0)
    single = draw.chance(0.6)
    spec = {"kind": "cvrp", "single_customer_routes": single}
    if draw.scenarios > 1 and draw.chance(0.4):
        demands = draw.numbers((draw.scenarios, customers), 1, 9)
        spec["demands"], spec["customers"] = draw.columns("need_", demands), customers
    else:
        spec["demands"] = demands[0].tolist()
    flags = draw_presence(draw, spec, customers, 0.4, 0.8)
    capacity = np.round(demands.sum(axis=1) * draw.rng.uniform(0.4, 1.1, draw.scenarios), 1)
    capacity = np.maximum(capacity, demands.max(axis=1))
    vehicles = draw.rng.integers(1, customers + 1, size=draw.scenarios)
    vehicles[0], capacity[0] = customers, max(capacity[0], demands[0].sum())
    fixed_or_rows(draw, spec, "capacity", capacity, "truck")
    fixed_or_rows(draw, spec, "vehicles", vehicles, "trucks")
    edges = {p: number for number, p in enumerate(itertools.combinations(range(customers + 1), 2))}
    points = [
        route_points(
            [c + 1 for c in range(customers) if flags[one][c]],
            dict(enumerate(demands[one], start=1)),
            capacity[one],
            vehicles[one],
            single,
            edges,
        )
        for one in range(draw.scenarios)
    ]
    present = edge_presence(np.hstack([np.ones((draw.scenarios, 1)), flags]), edges)
    reference = Enumerated(points, draw.scenario)
    return Drawn(spec, len(edges), reference, present=present[draw.scenario], binary=False)


def route_points(here, demands, capacity, vehicles, single, edges):
    """All sets of routes from the depot, as counts of edges."""
    points = []
    for routes in partitions(here):
        loads = [sum(demands[c] for c in route) for route in routes]
        is_allowed = len(routes) <= vehicles and all(
            load <= capacity * (1 + 1e-9) for load in loads
        )
        if not is_allowed or (not single and any(len(route) == 1 for route in routes)):
            continue
        ways = []
        for route in routes:
            if len(route) == 1:
                point = np.zeros(len(edges))
                point[edges[0, route[0]]] = 2.0
                ways.append([point])
            else:
                ways.append(tour_points([0, *sorted(route)], edges))
        points += [sum(parts) for parts in itertools.product(*ways)]
    return np.array(points).reshape(-1, len(edges))
