"""Comparison of outcomes with the references; returns discrepancies as sentences."""

from __future__ import annotations

import numpy as np

from .cases import TOLERANCE
from .outcomes import Evaluated, Failed, Noted, Numbers, Predicted, Solved
from .references import CYCLE, FEASIBLE, INFEASIBLE, UNBOUNDED, UNDECIDED, statuses_under

STATUS_WORDS = {INFEASIBLE: "failed", UNBOUNDED: "unbounded", CYCLE: "limit reached"}


def discrepancies(case, outcome):
    """What is wrong with an outcome: a list of sentences, empty where nothing is."""
    kinds = {
        Solved: check_solved,
        Evaluated: check_evaluated,
        Predicted: check_predicted,
        Noted: check_noted,
        Numbers: check_numbers,
        Failed: check_failed,
    }
    return [f"{outcome.operation}: {text}" for text in kinds[type(outcome)](case, outcome)]


def shorten(found, texts):
    """Report the first of many rows only."""
    found += texts[:3]
    if len(texts) > 3:
        found.append(f"and {len(texts) - 3} more rows")


def close(actual, expected, scale, factor=1.0):
    with np.errstate(invalid="ignore"):
        return np.abs(actual - expected) <= factor * TOLERANCE * scale


def check_solved(case, solved):
    found = []
    if solved.names is not None and case.drawn.names is not None:
        expected = list(case.drawn.names)
        if list(solved.names)[: len(expected)] != expected:
            found.append(f"the columns are {solved.names}, the costs {expected}")
    best, deciding = statuses_under(case, solved.costs)
    found += check_statuses(best.statuses, solved)
    rows = np.flatnonzero(
        (best.statuses == FEASIBLE) | ((best.statuses == CYCLE) & (not solved.optimal_only))
    )
    rows = np.array([row for row in rows if not np.isnan(solved.objectives[row])], dtype=int)
    decisions = np.nan_to_num(solved.decisions)
    feasible = case.drawn.reference.are_feasible(decisions)
    shorten(
        found,
        [
            f"row {row}: decision {decisions[row]} is not feasible"
            for row in rows
            if not feasible[row]
        ],
    )
    totals = complete_totals(case, solved.costs, decisions.shape[1])
    # Predicted and known parts may cancel each other.
    parts = np.abs(np.nan_to_num(solved.costs)) + np.abs(np.nan_to_num(case.known))
    scale = np.maximum(size_of(totals, decisions), size_of(parts, decisions))
    own = np.nan_to_num((totals * decisions).sum(axis=1))
    reported = case.sign * np.nan_to_num(solved.objectives)
    factor = 10.0 if solved.may_round else 1.0
    texts = []
    for row in rows:
        if not close(own[row], reported[row], scale[row], factor):
            texts.append(
                f"row {row}: objective {reported[row]!r}, but its decision has {own[row]!r}"
            )
    shorten(found, texts)
    clipped = complete_totals(case, None, decisions.shape[1], deciding)
    least = case.drawn.reference.best(deciding).objectives
    value = (clipped * decisions).sum(axis=1)
    # A feasible decision that costs less than the least one shows that a linear program of the
    # reference is inexact, as where costs of one row differ by many orders of magnitude.
    is_exact = not hasattr(case.drawn.reference, "branches")
    texts = []
    for row in rows:
        if not close(value[row], least[row], scale[row], factor) and (
            is_exact or value[row] > least[row]
        ):
            texts.append(f"row {row}: decision costs {value[row]!r}, the least is {least[row]!r}")
    shorten(found, texts)
    return found


def size_of(totals, decisions):
    """The size of the largest terms of each row's objective."""
    size = np.abs(totals).max(axis=1, initial=0.0)
    return np.maximum(size * np.maximum(1.0, np.abs(decisions).sum(axis=1)), np.finfo(float).tiny)


def complete_totals(case, costs, width, totals=None):
    """Total costs of all columns of a decision, also those that are not predicted."""
    totals = np.nan_to_num(case.totals(costs) if totals is None else totals)
    reference = case.drawn.reference
    if width == totals.shape[1]:
        return totals
    known = np.tile(reference.known_costs[reference.known], (len(totals), 1))
    return np.hstack([totals, known])


def check_statuses(expected, solved):
    texts = []
    for row, status in enumerate(expected):
        actual = str(solved.statuses[row])
        if status == UNDECIDED:
            continue
        if status == FEASIBLE:
            is_right = actual == "optimal"
        elif status == CYCLE and not solved.optimal_only:
            is_right = actual == "limit reached"
        else:
            word = "failed" if status == CYCLE else STATUS_WORDS[status]
            is_right = actual not in ("optimal", "limit reached") and (
                word == "failed" or word in actual
            )
        if not is_right:
            texts.append(f"row {row}: status '{actual}', expected {words_of(status)}")
    found = []
    shorten(found, texts)
    if solved.named_rows is not None:
        wrong = set(np.flatnonzero((expected != FEASIBLE) & (expected != UNDECIDED)).tolist())
        unknown = set(np.flatnonzero(expected == UNDECIDED).tolist())
        if solved.named_rows - unknown != wrong:
            found.append(f"notes name the rows {sorted(solved.named_rows)}, not {sorted(wrong)}")
    return found


def words_of(status):
    return {FEASIBLE: "optimal", **STATUS_WORDS}[int(status)]


def check_evaluated(case, one):
    found = []
    true_best = case.drawn.reference.best(case.totals(one.costs))
    predicted, deciding = statuses_under(case, one.predictions)
    decisions = np.nan_to_num(case.drawn.reference.decide(deciding))
    rows = np.flatnonzero(true_best.statuses == FEASIBLE)
    unknown = (true_best.statuses == UNDECIDED) | (predicted.statuses == UNDECIDED)
    rows = rows[~unknown[rows]]
    totals = model_totals(case, one.costs)
    scale = size_of(totals, decisions)
    expected = (totals * decisions).sum(axis=1)
    objectives = case.sign * one.objectives
    texts = []
    for row in rows:
        if np.isnan(objectives[row]) or not close(objectives[row], expected[row], scale[row]):
            if not is_tied(case, one, deciding, row, objectives[row], scale[row]):
                texts.append(
                    f"row {row}: the decision costs {objectives[row]!r}, expected {expected[row]!r}"
                )
        if not close(
            case.sign * one.optimal_objectives[row], true_best.objectives[row], scale[row]
        ):
            texts.append(
                f"row {row}: the best objective is {one.optimal_objectives[row]!r}, expected "
                f"{case.sign * true_best.objectives[row]!r}"
            )
        regret = objectives[row] - case.sign * one.optimal_objectives[row]
        if not close(one.regrets[row], regret, scale[row]):
            texts.append(f"row {row}: regret {one.regrets[row]!r}, expected {regret!r}")
        if one.regrets[row] < -TOLERANCE * scale[row]:
            texts.append(f"row {row}: negative regret {one.regrets[row]!r}")
    missing = np.flatnonzero(true_best.statuses != FEASIBLE)
    for row in missing:
        if true_best.statuses[row] != UNDECIDED and not np.isnan(one.regrets[row]):
            texts.append(f"row {row}: regret {one.regrets[row]!r} without a best decision")
    shorten(found, texts)
    found += check_aggregates(case, one, true_best)
    if one.named_rows is not None:
        wrong = set(np.flatnonzero(true_best.statuses != FEASIBLE).tolist())
        unsure = set(np.flatnonzero(true_best.statuses == UNDECIDED).tolist())
        if one.named_rows - unsure != wrong - unsure:
            found.append(f"notes name the rows {sorted(one.named_rows)}, not {sorted(wrong)}")
    return found


def model_totals(case, costs):
    """Costs of the columns of a linear model in the order of the model."""
    reference = case.drawn.reference
    if hasattr(reference, "_complete"):
        return reference._complete(case.totals(costs))
    return np.nan_to_num(case.totals(costs))


def is_tied(case, one, deciding, row, objective, scale):
    """Whether another decision that is best under the predictions has this true objective."""
    tolerance = 1e-9 * max(1e-300, np.abs(np.nan_to_num(deciding[row])).sum())
    tolerance *= max(
        1.0, scale / max(np.abs(np.nan_to_num(case.totals(one.costs)[row])).max(), 1e-300)
    )
    values = case.drawn.reference.true_objectives(deciding, case.totals(one.costs), row, tolerance)
    if not len(values) or np.isnan(objective):
        return False
    if hasattr(case.drawn.reference, "branches"):
        slack = 10 * TOLERANCE * scale
        return values.min() - slack <= objective <= values.max() + slack
    return bool(close(values, objective, scale).any())


def check_aggregates(case, one, true_best):
    """Aggregates follow from the rows that the program returned, which are checked above."""
    found = []
    rows = ~np.isnan(one.regrets)
    regrets = one.regrets[rows]
    best = np.abs(one.optimal_objectives[rows])
    present = np.ones_like(one.costs, dtype=bool)
    if case.drawn.present is not None:
        present = case.drawn.present == 1
    errors = np.where(present, one.predictions - one.costs, 0.0)[rows]
    count = present[rows].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(regrets == 0, 0.0, regrets / best)
    expected = {
        "instances": float(rows.sum()),
        "regret": regrets.mean() if len(regrets) else np.nan,
        "normalized_regret": regrets.sum() / best.sum() if best.sum() else np.nan,
        "relative_regret": relative.mean() if len(relative) else np.nan,
        "mse": mean_of_rows(errors**2, present[rows]),
        "mae": mean_of_rows(np.abs(errors), present[rows]),
    }
    if regrets.sum() == 0 and not best.sum():
        expected["normalized_regret"] = 0.0
    for name, value in expected.items():
        actual = one.aggregates.get(name)
        actual = np.nan if actual is None else float(actual)
        if not np.isfinite(value) and not np.isfinite(actual):
            continue
        size = max(abs(value), abs(actual), 1e-300)
        if not abs(actual - value) <= 1e-5 * size:
            found.append(f"{name} is {actual!r}, of its rows {value!r} ({count} costs)")
    texts = []
    for row, value in zip(np.flatnonzero(rows), relative):
        actual = one.relative_regrets[row]
        if np.isfinite(value) and not abs(actual - value) <= 1e-6 * max(abs(value), 1e-9):
            texts.append(f"row {row}: relative regret {actual!r}, expected {value!r}")
    shorten(found, texts)
    # Regrets count as 0 relative to the objective, or to the mean of all where it is near 0.
    size = np.maximum(best, best.mean()) if len(best) else best
    least = (regrets <= 1e-10 * size).mean() if len(best) else 0.0
    most = (regrets <= 1e-7 * size + 1e-7 * case.scale(one.costs)[rows]).mean() if len(best) else 0
    actual = one.aggregates.get("optimal_fraction", 0.0)
    if len(best) and not least - 1e-9 <= actual <= most + 1e-9:
        found.append(f"optimal_fraction is {actual!r}, expected {least!r} to {most!r}")
    return found


def mean_of_rows(values, present):
    """The mean over all costs that exist."""
    counts = present.sum()
    return values.sum() / counts if counts else np.nan


def check_predicted(case, one):
    found = []
    wrong = ~(np.abs(one.predictions - one.expected) <= one.scale)
    present = getattr(getattr(case, "drawn", None), "present", None)
    if present is not None:
        # There is no prediction of a cost that no training row has.
        is_rare = (present == 0).mean(axis=0) > 0.5
        wrong &= ~(np.isnan(one.predictions).all(axis=0) & is_rare)
    texts = [
        f"row {row}, cost {cost}: prediction {one.predictions[row, cost]!r}, by hand "
        f"{one.expected[row, cost]!r}"
        for row, cost in zip(*np.nonzero(wrong))
    ]
    shorten(found, texts)
    return found


def check_numbers(_case, one):
    found = []
    texts = [
        f"{what} is {actual!r}, expected {expected!r}"
        for what, actual, expected, tolerance in one.entries
        if not (abs(actual - expected) <= tolerance or (actual != actual and expected != expected))
    ]
    shorten(found, texts)
    return found


def check_noted(_case, one):
    if one.appeared == one.must:
        return []
    return [f"the note '{one.what}' is {'missing' if one.must else 'not expected'}"]


def check_failed(_case, one):
    return [] if one.expected else [f"error: {one.message}"]
