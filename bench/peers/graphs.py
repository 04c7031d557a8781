"""Grids, edges and cycles, shared by the models of paths, tours and routes."""

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


def edge_indices(nodes: int) -> list[list[int]]:
    """The index of the edge between two nodes, as a matrix."""
    indices = [[-1] * nodes for _ in range(nodes)]
    for index, (i, j) in enumerate(edges(nodes)):
        indices[i][j] = indices[j][i] = index
    return indices


def components(nodes: Iterable[int], chosen: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """The connected components of the chosen edges."""
    neighbors: dict[int, list[int]] = {node: [] for node in nodes}
    for i, j in chosen:
        neighbors[i].append(j)
        neighbors[j].append(i)
    seen: set[int] = set()
    for first in neighbors:
        if first in seen:
            continue
        seen.add(first)
        component, stack = [first], [first]
        while stack:
            for other in neighbors[stack.pop()]:
                if other not in seen:
                    seen.add(other)
                    component.append(other)
                    stack.append(other)
        yield component


def edges_within(nodes: list[int], edge_index: list[list[int]]) -> list[int]:
    """Indices of the edges within a set of nodes."""
    return [edge_index[i][j] for position, i in enumerate(nodes) for j in nodes[position + 1 :]]


def tour_edges(tour: list[int], edge_index: list[list[int]]) -> list[int]:
    """Indices of the edges of a closed tour."""
    return [edge_index[i][j] for i, j in zip(tour, tour[1:] + tour[:1])]


def matrix(costs: Any, nodes: int) -> list[list[float]]:
    """Edge costs as a symmetric matrix."""
    square = [[0.0] * nodes for _ in range(nodes)]
    for cost, (i, j) in zip(costs.tolist(), edges(nodes)):
        square[i][j] = square[j][i] = cost
    return square
