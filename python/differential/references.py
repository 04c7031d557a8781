"""Best objectives and feasible decisions, by enumeration or by SciPy's linear programs.

All objectives are minimized; the caller negates the costs of maximizations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, csr_matrix, eye, hstack, kron

FEASIBLE, INFEASIBLE, UNBOUNDED, CYCLE, UNDECIDED = range(5)

# Least violation, relative to the numbers of the row, that counts as infeasible; the tolerances of
# the program are 1e-7 at most.
VIOLATION = 1e-6

# Of a number in single precision, relative to it.
ROUNDING = float(np.finfo(np.float32).eps) / 2


@dataclass
class Best:
    """The least objective of every row; NaN where the status is another than FEASIBLE."""

    objectives: np.ndarray
    statuses: np.ndarray


class Enumerated:
    """All feasible decisions of each scenario, and the scenario of each row."""

    def __init__(self, points, scenario):
        self.points = [np.asarray(each, dtype=float) for each in points]
        self.scenario = np.asarray(scenario)

    def _groups(self):
        for number, points in enumerate(self.points):
            rows = np.flatnonzero(self.scenario == number)
            if len(rows):
                yield rows, points

    def best(self, costs):
        costs = np.nan_to_num(costs, nan=0.0)
        objectives = np.full(len(costs), np.nan)
        statuses = np.full(len(costs), INFEASIBLE)
        for rows, points in self._groups():
            if len(points):
                objectives[rows] = (costs[rows] @ points.T).min(axis=1)
                statuses[rows] = FEASIBLE
        return Best(objectives, statuses)

    def decide(self, costs):
        """A best decision of every row; NaN where there is none."""
        costs = np.nan_to_num(costs, nan=0.0)
        decisions = np.full(costs.shape, np.nan)
        for rows, points in self._groups():
            if len(points):
                decisions[rows] = points[(costs[rows] @ points.T).argmin(axis=1)]
        return decisions

    def are_feasible(self, decisions):
        """Whether the decision of each row is one of the points."""
        feasible = np.zeros(len(decisions), dtype=bool)
        for rows, points in self._groups():
            if len(points):
                distances = np.abs(decisions[rows][:, None, :] - points[None, :, :]).max(axis=2)
                feasible[rows] = distances.min(axis=1) < VIOLATION
        return feasible

    def true_objectives(self, predicted, costs, row, tolerance):
        """The true objectives of all decisions that are best under the predicted costs of a row."""
        points = self.points[self.scenario[row]]
        if not len(points):
            return np.array([])
        under = points @ np.nan_to_num(predicted[row], nan=0.0)
        tied = under <= under.min() + tolerance
        return points[tied] @ np.nan_to_num(costs[row], nan=0.0)


class Paths(Enumerated):
    """Paths of a graph; costs of rows with a cycle of negative length have no shortest path."""

    def __init__(self, points, scenario, cycles):
        super().__init__(points, scenario)
        self.cycles = [np.asarray(each, dtype=float) for each in cycles]

    def shortest_cycles(self, costs):
        """The length of the shortest cycle on a way from source to target, over all costs."""
        costs = np.nan_to_num(costs, nan=0.0)
        lengths = np.full(len(costs), np.inf)
        for number, cycles in enumerate(self.cycles):
            rows = np.flatnonzero(self.scenario == number)
            if len(rows) and len(cycles):
                lengths[rows] = (costs[rows] @ cycles.T).min(axis=1)
        return lengths

    def best(self, costs):
        best = super().best(costs)
        # Cycles that are negative by the rounding to single precision only count as 0.
        lengths = self.shortest_cycles(costs + ROUNDING * np.abs(costs))
        scale = np.abs(np.nan_to_num(costs, nan=0.0)).max(axis=1, initial=0.0)
        solved = best.statuses == FEASIBLE
        best.statuses[solved & (lengths < 0.0)] = CYCLE
        best.statuses[solved & (np.abs(lengths) <= 1e-11 * scale) & (lengths != 0)] = UNDECIDED
        best.objectives[best.statuses != FEASIBLE] = np.nan
        return best


@dataclass
class LinearRows:
    """One linear program per row: ``lower <= A x <= upper`` within bounds; ``A`` per row or one."""

    matrix: np.ndarray
    row_lower: np.ndarray
    row_upper: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def matrix_of(self, row):
        return self.matrix if self.matrix.ndim == 2 else self.matrix[row]

    def blocks(self, rows):
        if self.matrix.ndim == 2:
            return kron(eye(len(rows), format="csr"), csr_matrix(self.matrix), format="csr")
        return block_diag([csr_matrix(self.matrix[row]) for row in rows], format="csr")


class Linear:
    """Linear programs, one per row, solved together as one block-diagonal program.

    ``branches`` are programs of which each row takes the best: the assignments of few integers, or
    the directions of a storage.
    """

    def __init__(self, branches):
        self.branches = branches
        first = branches[0]
        self.count, self.width = first.lower.shape

    def best(self, costs):
        return self._solve(costs)[0]

    def decide(self, costs):
        """A best decision of every row; NaN where there is none."""
        return self._solve(costs)[1]

    def _solve(self, costs):
        costs = np.nan_to_num(costs, nan=0.0)
        objectives = np.full(self.count, np.inf)
        statuses = np.full(self.count, INFEASIBLE)
        decisions = np.full((self.count, self.width), np.nan)
        for branch in self.branches:
            own, own_statuses, own_decisions = solve_rows(branch, costs)
            better = (own_statuses == FEASIBLE) & (own < objectives)
            objectives[better], decisions[better] = own[better], own_decisions[better]
            # What is known least of any branch is known of the row.
            statuses = np.where(
                own_statuses == INFEASIBLE, statuses, worse_status(statuses, own_statuses)
            )
        objectives[statuses != FEASIBLE] = np.nan
        decisions[statuses != FEASIBLE] = np.nan
        return Best(objectives, statuses), decisions

    def are_feasible(self, decisions):
        feasible = np.zeros(len(decisions), dtype=bool)
        for branch in self.branches:
            if branch.matrix.ndim == 2:
                values = decisions @ branch.matrix.T
            else:
                values = np.einsum("nrd,nd->nr", branch.matrix, decisions)
            scale = VIOLATION * np.maximum(1.0, np.abs(decisions).max(axis=1, initial=0.0))[:, None]
            feasible |= (
                (values >= branch.row_lower - scale).all(axis=1)
                & (values <= branch.row_upper + scale).all(axis=1)
                & (decisions >= branch.lower - scale).all(axis=1)
                & (decisions <= branch.upper + scale).all(axis=1)
            )
        return feasible

    def true_objectives(self, predicted, costs, row, tolerance):
        """The least and the most true objective of what is best under the predicted costs."""
        costs = np.nan_to_num(costs[row : row + 1], nan=0.0)
        predicted = np.nan_to_num(predicted[row : row + 1], nan=0.0)
        ends = []
        bests = [solve_rows(one_row(branch, row), predicted) for branch in self.branches]
        solved = [best[0][0] for best in bests if best[1][0] == FEASIBLE]
        if not solved:
            return np.array([])
        for branch, best in zip(self.branches, bests):
            if best[1][0] != FEASIBLE or best[0][0] > min(solved) + tolerance:
                continue
            face = with_row(one_row(branch, row), predicted, min(solved) + tolerance)
            for sign in (1.0, -1.0):
                objective, statuses, _ = solve_rows(face, sign * costs)
                if statuses[0] == FEASIBLE:
                    ends.append(sign * objective[0])
                elif statuses[0] == UNBOUNDED:
                    ends.append(-sign * np.inf)
        return np.array(ends)


def worse_status(first, second):
    """The status of a row of which two branches are solved, the second not infeasible."""
    order = {FEASIBLE: 1, INFEASIBLE: 0, UNBOUNDED: 3, UNDECIDED: 2}
    ranks = np.array([order.get(status, 0) for status in range(5)])
    return np.where(ranks[second] >= ranks[first], second, first)


def one_row(rows, row):
    """The program of one row."""
    part = slice(row, row + 1)
    return LinearRows(
        rows.matrix_of(row),
        rows.row_lower[part],
        rows.row_upper[part],
        rows.lower[part],
        rows.upper[part],
    )


def with_row(rows, costs, most):
    """The program of one row with a most value of its costs."""
    scale = np.abs(costs).max() or 1.0
    return LinearRows(
        np.vstack([rows.matrix, costs / scale]),
        np.hstack([rows.row_lower, [[-np.inf]]]),
        np.hstack([rows.row_upper, [[most / scale]]]),
        rows.lower,
        rows.upper,
    )


def solve_rows(rows, costs):
    """Objectives, statuses and decisions of all rows of a program."""
    count, width = rows.lower.shape
    objectives, statuses = np.full(count, np.nan), np.full(count, FEASIBLE)
    decisions = np.full((count, width), np.nan)
    crossed = (rows.lower > rows.upper).any(axis=1) | (rows.row_lower > rows.row_upper).any(axis=1)
    statuses[crossed] = INFEASIBLE
    kept = np.flatnonzero(~crossed)
    missing = least_violations(rows, kept)
    statuses[kept[missing > 1e-5]] = INFEASIBLE
    statuses[kept[(missing > 1e-9) & (missing <= 1e-5)]] = UNDECIDED
    kept = np.flatnonzero(statuses == FEASIBLE)
    scale = np.abs(costs).max(axis=1, initial=0.0)
    scale[scale == 0.0] = 1.0
    scaled = costs / scale[:, None]
    descent = steepest_directions(rows, kept, scaled + ROUNDING * np.abs(scaled))
    statuses[kept[descent < -1e-6]] = UNBOUNDED
    statuses[kept[(descent >= -1e-6) & (descent < -1e-10)]] = UNDECIDED
    kept = np.flatnonzero(statuses == FEASIBLE)
    if len(kept):
        result = milp(
            scaled[kept].ravel(),
            constraints=constraints(rows, kept),
            bounds=Bounds(rows.lower[kept].ravel(), rows.upper[kept].ravel()),
        )
        if result.x is None:
            statuses[kept] = UNDECIDED
        else:
            decisions[kept] = result.x.reshape(len(kept), width)
            objectives[kept] = (decisions[kept] * costs[kept]).sum(axis=1)
    return objectives, statuses, decisions


def constraints(rows, kept):
    """The rows of the block-diagonal program."""
    if rows.matrix.shape[-2] == 0:
        return None
    return LinearConstraint(
        rows.blocks(kept), rows.row_lower[kept].ravel(), rows.row_upper[kept].ravel()
    )


def least_violations(rows, kept):
    """How much the constraints of each row are violated at least, in sum."""
    num_rows = rows.matrix.shape[-2]
    if num_rows == 0 or len(kept) == 0:
        return np.zeros(len(kept))
    slacks = len(kept) * num_rows
    matrix = hstack([rows.blocks(kept), eye(slacks), -eye(slacks)], format="csr")
    columns = len(kept) * rows.lower.shape[1]
    result = milp(
        np.concatenate([np.zeros(columns), np.ones(2 * slacks)]),
        constraints=LinearConstraint(
            matrix, rows.row_lower[kept].ravel(), rows.row_upper[kept].ravel()
        ),
        bounds=Bounds(
            np.concatenate([rows.lower[kept].ravel(), np.zeros(2 * slacks)]),
            np.concatenate([rows.upper[kept].ravel(), np.full(2 * slacks, np.inf)]),
        ),
    )
    slack = result.x[columns:].reshape(2, len(kept), num_rows)
    return slack.sum(axis=(0, 2))


def steepest_directions(rows, kept, costs):
    """The least cost of a direction without end, with steps of at most 1; 0 where there is none."""
    lower = np.where(np.isinf(rows.lower[kept]), -1.0, 0.0)
    upper = np.where(np.isinf(rows.upper[kept]), 1.0, 0.0)
    if not (lower.any() or upper.any()):
        return np.zeros(len(kept))
    bounds = Bounds(lower.ravel(), upper.ravel())
    limits = None
    if rows.matrix.shape[-2]:
        limits = LinearConstraint(
            rows.blocks(kept),
            np.where(np.isinf(rows.row_lower[kept]), -np.inf, 0.0).ravel(),
            np.where(np.isinf(rows.row_upper[kept]), np.inf, 0.0).ravel(),
        )
    result = milp(costs[kept].ravel(), constraints=limits, bounds=bounds)
    direction = result.x.reshape(len(kept), -1)
    return (direction * costs[kept]).sum(axis=1)


def statuses_under(case, costs):
    """The statuses of all rows under some costs, and the costs that decide."""
    totals = case.totals(costs)
    best = case.drawn.reference.best(totals)
    deciding = np.where((best.statuses == CYCLE)[:, None], np.maximum(totals, 0.0), totals)
    return best, deciding
