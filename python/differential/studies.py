"""Comparisons, backtests and explanations: their numbers from the rows they are made of."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

import regretless as rl

from .intervals import interval_ends, savings_of
from .outcomes import Numbers
from .references import FEASIBLE, Enumerated, statuses_under

LEAST_ROWS = 60


def is_suitable(case):
    """Whether all rows have decisions under true and predicted costs, of an ordinary size."""
    predicted, _ = statuses_under(case, case.predictions)
    size = np.abs(case.costs).max(initial=0.0)
    return (
        case.rows >= LEAST_ROWS
        and 1e-3 < size < 1e6
        and type(case.drawn.reference) is Enumerated
        and case.kind != "function"
        and (case.best.statuses == FEASIBLE).all()
        and (predicted.statuses == FEASIBLE).all()
    )


def decided_by_predictions(case):
    """True objectives of the decisions under the predictions; None where there are ties."""
    _, deciding = statuses_under(case, case.predictions)
    totals = case.totals(case.costs)
    decisions = case.drawn.reference.decide(deciding)
    for row in range(case.rows):
        tolerance = 1e-9 * np.abs(deciding[row]).sum()
        values = case.drawn.reference.true_objectives(deciding, totals, row, tolerance)
        if np.ptp(values) > 0:
            return None
    return (totals * decisions).sum(axis=1)


def run_study(run):
    """A comparison or a backtest with given predictions, whose regrets are known."""
    case = run.case
    if not is_suitable(case):
        return
    objectives = decided_by_predictions(case)
    if objectives is None:
        return
    features = case.rng.normal(size=(case.rows, 2)).astype(np.float32)
    study = compare if case.rng.random() < 0.5 else backtest
    study(run, features, objectives)


def compare(run, features, objectives):
    case = run.case
    in_order = case.rng.random() < 0.5
    result = run.study(
        rl.compare,
        features,
        methods=["MSE", "least squares"],
        seeds=3,
        epochs=1,
        split=split_text(in_order),
        predictions={"mine": case.predictions.astype(np.float32)},
    )
    if result is not None:
        numbers = compared_numbers(case, result.methods, result.runs, in_order, objectives)
        run.session.outcomes.append(numbers)


def split_text(in_order):
    return "order:0.2,0.3" if in_order else "0.2,0.3"


def compared_numbers(case, methods, runs, in_order, objectives):
    """The numbers of a comparison, from its runs and from what the given predictions decide."""
    numbers = Numbers("compare")
    scale = np.abs(objectives).max()
    test_rows = int(0.3 * case.rows + 0.5)
    if in_order and (runs.method == "mine").any():
        test = slice(case.rows - test_rows, None)
        regret = (objectives - case.best.objectives)[test]
        mine = runs[runs.method == "mine"].iloc[0]
        numbers.add("regret of given predictions", mine.test_regret, regret.mean(), scale)
    ratios = {name: group for name, group in runs.groupby("method")}
    reference = ratios["MSE"].set_index("seed").test_normalized_regret
    for _, row in methods.iterrows():
        own = ratios[row.method].set_index("seed")
        numbers.add(f"regret of {row.method}", row.test_regret, own.test_regret.mean(), scale)
        if (reference == 0).any() or not np.isfinite(reference).all():
            continue
        ratio = (own.test_normalized_regret / reference).to_numpy()
        numbers.add(f"ratio of {row.method}", row.ratio, ratio.mean(), max(1.0, ratio.max()))
        has_interval = row.lower is not None and np.isfinite(row.lower)
        numbers.add(f"interval of {row.method}", in_order and has_interval, 0.0, 1.0)
        if in_order or row.method == "MSE" or not has_interval:
            continue
        # Seeds that divide one table share test rows: as many variances as test rows per other row
        # are added (Nadeau and Bengio 2003).
        error = np.sqrt(1 / len(ratio) + test_rows / (case.rows - test_rows))
        half = student.ppf(0.975, len(ratio) - 1) * ratio.std(ddof=1) * error
        size = 300 * max(1.0, ratio.max())
        numbers.add(f"difference of {row.method}", row.difference, ratio.mean() - 1, size)
        numbers.add(f"lower end of {row.method}", row.lower, ratio.mean() - 1 - half, size)
        numbers.add(f"upper end of {row.method}", row.upper, ratio.mean() - 1 + half, size)
    return numbers


def days_of(rows):
    """A day per row."""
    return [str(np.datetime64("2025-01-01") + day) for day in range(rows)]


def backtest(run, features, objectives):
    case = run.case
    result = run.study(
        rl.backtest,
        features,
        time=days_of(case.rows),
        methods=["least squares"],
        window=case.rows // 2,
        step=10,
        epochs=1,
        predictions={"mine": case.predictions.astype(np.float32)},
    )
    if result is not None:
        numbers = backtested_numbers(case, result.methods, result.periods, objectives)
        run.session.outcomes.append(numbers)


def backtested_numbers(case, methods, periods, objectives):
    """The numbers of a backtest, from its periods and from what the given predictions decide."""
    numbers, scale = Numbers("backtest"), np.abs(objectives).max()
    row_of = {day: row for row, day in enumerate(days_of(case.rows))}
    for _, period in periods[periods.method == "mine"].iterrows():
        row = row_of[str(period.period)[:10]]
        best = case.best.objectives[row]
        numbers.add(f"cost of {period.period}", period.cost, case.sign * objectives[row], scale)
        numbers.add(f"best of {period.period}", period.best, case.sign * best, scale)
        numbers.add(f"regret of {period.period}", period.regret, objectives[row] - best, scale)
    costs = {name: group.set_index("period").cost for name, group in periods.groupby("method")}
    reference = costs["least squares"]
    savings = {}
    for _, method in methods.iterrows():
        own = periods[periods.method == method.method].set_index("period")
        size = max(scale * len(own), 1e-9)
        numbers.add(f"cost of {method.method}", method.cost, own.cost.sum(), size)
        numbers.add(f"regret of {method.method}", method.regret, own.regret.sum(), size)
        if method.saving_per_period is not None and np.isfinite(method.saving_per_period):
            saving = savings_of(reference.to_numpy(), own.cost.to_numpy(), case.sign)
            savings[method.method] = saving
            actual = method.saving_per_period
            numbers.add(f"saving of {method.method}", actual, saving.mean(), scale)
    if savings:
        rows = methods.set_index("method").loc[list(savings)]
        add_intervals(numbers, rows, interval_ends(list(savings.values()), case.rng), scale)
    return numbers


def add_intervals(numbers, rows, expected, scale):
    """The ends of the intervals of savings, between those of two tails."""
    for (name, row), ends in zip(rows.iterrows(), expected):
        has_interval = row.lower is not None and np.isfinite(row.lower)
        if ends is not None and not np.isfinite(ends).all():
            # Some resamples have no standard error; whether too many depends on the draws.
            continue
        numbers.add(f"interval of {name}", has_interval, ends is not None, 1.0)
        if ends is not None and has_interval:
            numbers.add_between(f"lower end of {name}", row.lower, *ends[0], scale)
            numbers.add_between(f"upper end of {name}", row.upper, *ends[1], scale)


def explain_a_row(run, model, features, predictions):
    """The objective, the regret and the best other decisions of one row."""
    case = run.case
    if type(case.drawn.reference) is not Enumerated or case.kind == "function":
        return
    if not case.drawn.binary or case.known.any():
        return
    best, _ = statuses_under(case, predictions)
    rows = np.flatnonzero((best.statuses == FEASIBLE) & (case.best.statuses == FEASIBLE))
    if not len(rows):
        return
    row = int(case.rng.choice(rows))
    parameters = None
    if case.draw.parameters:
        parameters = {
            name: np.asarray(one)[row : row + 1] for name, one in case.draw.parameters.items()
        }
        if any(one.dtype == object for one in parameters.values()):
            return
    part = slice(row, row + 1)
    explanation, _ = run.call(
        f"explain row {row}",
        lambda: model.explain(
            features[part],
            costs=case.costs[part].astype(np.float32),
            parameters=parameters,
            threads=run.threads,
        ),
    )
    if explanation is None:
        return
    result, numbers = explanation.to_dict(), Numbers(f"explain row {row}")
    points = case.drawn.reference.points[case.draw.scenario[row]]
    costs = case.totals(predictions)[row]
    # What has no prediction is left out of the choice.
    is_choice = (points[:, np.isnan(costs)] == 0).all(axis=1)
    predicted = np.unique(points[is_choice], axis=0) @ np.nan_to_num(costs)
    scale = np.abs(predicted).max() or 1.0
    numbers.add("objective", case.sign * result["objective"], predicted.min(), scale)
    ordered = np.sort(predicted)
    for rank, other in enumerate(result["alternatives"]["decisions"], start=1):
        actual = case.sign * other["objective"]
        expected = ordered[rank] if rank < len(ordered) else np.nan
        numbers.add(f"objective of rank {rank}", actual, expected, scale)
        numbers.add(f"price of rank {rank}", other["price"], expected - ordered[0], scale)
    add_ranges(numbers, result, points[is_choice], costs, case.sign)
    regret = result["regret"]
    true_best = case.best.objectives[row]
    size = np.abs(points @ np.nan_to_num(case.totals(case.costs)[row])).max() or 1.0
    numbers.add("best objective", case.sign * regret["optimal_objective"], true_best, size)
    difference = case.sign * regret["objective"] - true_best
    numbers.add("regret", regret["regret"], difference, size)
    run.session.outcomes.append(numbers)


def add_ranges(numbers, result, points, costs, sign):
    """The ends of the ranges of predicted costs: where another decision becomes as good."""
    costs = np.nan_to_num(costs)
    decision = np.zeros(len(costs))
    for one in result["costs"]:
        decision[one["index"]] = one["value"]
    objectives = points @ costs
    scale = np.abs(costs).sum() or 1.0
    for one in result["costs"]:
        if one["range"] is None:
            continue
        place = one["index"]
        others = objectives[points[:, place] != decision[place]]
        room = others.min() - costs @ decision if len(others) else np.inf
        # A chosen cost may rise by that much, another one may fall; a maximization mirrors both.
        is_upper = (decision[place] > 0.5) == (sign > 0)
        expected = {"lower": -np.inf, "upper": np.inf}
        if is_upper:
            expected["upper"] = one["predicted"] + room
        else:
            expected["lower"] = one["predicted"] - room
        for end in ("lower", "upper"):
            what, actual = f"{end} end of the range of {one['name']}", one["range"][end]
            actual = np.nan if actual is None else actual
            if one["range"][f"{end}_is_exact"]:
                limit = expected[end] if np.isfinite(expected[end]) else np.nan
                numbers.add(what, actual, limit, scale)
            else:
                # The decision stays at least so far.
                limits = sorted([one["predicted"], expected[end]])
                numbers.add(what, limits[0] - 1e-6 * scale <= actual, 1.0, 1.0)
                numbers.add(what, actual <= limits[1] + 1e-6 * scale, 1.0, 1.0)
