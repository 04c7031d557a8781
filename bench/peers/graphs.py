"""Grids, edges and cycles: what models of paths, tours and routes share."""

from __future__ import annotations

from typing import Any, Iterable, Iterator


def grid_arcs(rows: int, cols: int) -> list[tuple[int, int]]:
    """Arcs of a grid in cost order: for each row, first the arcs to the right, then those down."""
    arcs: list[tuple[int, int]] = []
    for row in range(rows):
        arcs += [(row * cols + col, row * cols + col + 1) for col in range(cols - 1)]
        if row + 1 < rows:
            arcs += [(row * cols + col, (row + 1) * cols + col) for col in range(cols)]
    return arcs


def flow_rows(rows: int, cols: int) -> list[tuple[dict[int, float], float]]:
    """Flow conservation from the first corner to the last.

    One row per node: coefficients by arc, and the right-hand side.
    """
    nodes = rows * cols
    balance: list[dict[int, float]] = [{} for _ in range(nodes)]
    for arc, (start, end) in enumerate(grid_arcs(rows, cols)):
        balance[start][arc] = 1.0
        balance[end][arc] = -1.0
    supply = [0.0] * nodes
    supply[0], supply[-1] = 1.0, -1.0
    return list(zip(balance, supply))


def edges(nodes: int) -> list[tuple[int, int]]:
    """Pairs of nodes in the order of their costs."""
    return [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]


def edge_numbers(nodes: int) -> list[list[int]]:
    """The number of the edge between two nodes."""
    numbers = [[-1] * nodes for _ in range(nodes)]
    for number, (i, j) in enumerate(edges(nodes)):
        numbers[i][j] = numbers[j][i] = number
    return numbers


def components(nodes: Iterable[int], chosen: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Sets of nodes that chosen edges connect."""
    neighbors: dict[int, list[int]] = {node: [] for node in nodes}
    for i, j in chosen:
        neighbors[i].append(j)
        neighbors[j].append(i)
    seen: set[int] = set()
    for first in neighbors:
        if first in seen:
            continue
        seen.add(first)
        part, waiting = [first], [first]
        while waiting:
            for other in neighbors[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    part.append(other)
                    waiting.append(other)
        yield part


def inside(part: list[int], numbers: list[list[int]]) -> list[int]:
    """Numbers of the edges within a set of nodes."""
    return [numbers[i][j] for place, i in enumerate(part) for j in part[place + 1 :]]


def tour_edges(tour: list[int], numbers: list[list[int]]) -> list[int]:
    """Numbers of the edges of a closed tour."""
    return [numbers[i][j] for i, j in zip(tour, tour[1:] + tour[:1])]


def matrix(costs: Any, nodes: int) -> list[list[float]]:
    """Edge costs as a symmetric matrix."""
    square = [[0.0] * nodes for _ in range(nodes)]
    for cost, (i, j) in zip(costs.tolist(), edges(nodes)):
        square[i][j] = square[j][i] = cost
    return square
