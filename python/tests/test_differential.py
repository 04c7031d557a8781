"""The differential tester: some instances, and that it reports wrong answers of every kind."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("pandas")
pytest.importorskip("polars")
pytest.importorskip("pyarrow")
# The installed package `regretless` comes first.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from differential import outcomes  # noqa: E402
from differential.cases import KINDS, draw_case  # noqa: E402
from differential.references import FEASIBLE  # noqa: E402
from differential.run import Counts, main, run_case  # noqa: E402

SEED = 7


def test_two_thousand_instances_agree_with_brute_force(capsys):
    assert main(["--instances", "2000", "--seed", "20"]) == 0
    assert "suite summary: 2" in capsys.readouterr().out


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_agrees_with_brute_force(kind, tmp_path):
    for number in range(2):
        result = run_case(SEED, number, kind, folder=tmp_path)
        assert not result.failures, result.report


def of_kind(session, kind):
    return [one for one in session.outcomes if isinstance(one, kind)]


def perturb_a_decision(case, session):
    solved = of_kind(session, outcomes.Solved)[0]
    row = np.flatnonzero(solved.objectives == solved.objectives)[0]
    solved.decisions[row, 0] += 1.0


def choose_another_decision(case, session):
    """Choose feasible decisions with their own objectives: only their quality is wrong."""
    solved = of_kind(session, outcomes.Solved)[0]
    totals = case.totals(solved.costs)
    worst = case.drawn.reference.decide(-totals)
    solved.decisions[:] = worst
    solved.objectives[:] = case.sign * (totals * worst).sum(axis=1)


def change_a_status(case, session):
    of_kind(session, outcomes.Solved)[0].statuses[0] = "limit reached"


def swap_two_names(case, session):
    solved = of_kind(session, outcomes.Solved)[0]
    solved.names = [solved.names[1], solved.names[0], *solved.names[2:]]


def change_a_regret(case, session):
    of_kind(session, outcomes.Evaluated)[0].regrets[0] += 1e-3


def change_a_best_objective(case, session):
    of_kind(session, outcomes.Evaluated)[0].optimal_objectives[0] += 1e-3


def change_an_aggregate(case, session):
    of_kind(session, outcomes.Evaluated)[0].aggregates["normalized_regret"] += 1e-3


def change_the_error(case, session):
    of_kind(session, outcomes.Evaluated)[0].aggregates["mae"] *= 1.001


def lose_a_note(case, session):
    next(one for one in of_kind(session, outcomes.Noted) if one.must).appeared = False


def add_a_note(case, session):
    evaluated = of_kind(session, outcomes.Evaluated)[0]
    evaluated.named_rows = {0}


def fail(case, session):
    session.outcomes.append(outcomes.Failed("evaluate", "out of memory", False))


def change_a_prediction(case, session):
    of_kind(session, outcomes.Predicted)[0].predictions[0, 0] += 1e-3


def case_with(kind, interface, is_suitable):
    """The number of the first case that the predicate likes."""
    for number in range(400):
        case = draw_case(SEED, number, kind, interface)
        is_plain = case.style == "positive" and case.rows < 120
        if is_plain and (case.best.statuses == FEASIBLE).all() and is_suitable(case):
            return number
    raise AssertionError("no case is suitable")


PYTHON = [
    perturb_a_decision,
    choose_another_decision,
    change_a_status,
    swap_two_names,
    change_a_regret,
    change_a_best_objective,
    change_an_aggregate,
    change_the_error,
    lose_a_note,
    fail,
]
COMMAND_LINE = [
    change_a_regret,
    change_a_best_objective,
    change_an_aggregate,
    change_the_error,
    add_a_note,
    fail,
]


@pytest.mark.parametrize(
    ("interface", "tamper"),
    [("python", one) for one in PYTHON] + [("command line", one) for one in COMMAND_LINE],
)
def test_a_wrong_answer_is_reported(interface, tamper, tmp_path):
    def is_suitable(case):
        return case.drawn.names is not None and case.drawn.width > 2 and not case.known.any()

    number = case_with("knapsack", interface, is_suitable)
    right = run_case(SEED, number, "knapsack", interface, tmp_path)
    assert not right.failures, right.report
    wrong = run_case(SEED, number, "knapsack", interface, tmp_path, tamper)
    assert wrong.failures
    for part in (f"case {number} of seed {SEED}", f"--case {number}", "problem:", "FAILED"):
        assert part in wrong.report


def test_a_wrong_prediction_is_reported(tmp_path):
    changed = []

    def tamper(case, session):
        if case.style == "positive" and of_kind(session, outcomes.Predicted):
            change_a_prediction(case, session)
            changed.append(case.number)

    for number in range(200):
        result = run_case(SEED, number, "top_k", "python", tmp_path, tamper)
        if changed:
            assert any("by hand" in text for text in result.failures)
            return
    raise AssertionError("no case has predictions")


def change_an_interval(numbers):
    """Move the first end that lies between two others; returns whether there is one."""
    for place, (what, _, expected, tolerance) in enumerate(numbers.entries):
        if " end of " in what and tolerance > 0 and np.isfinite(expected):
            numbers.entries[place] = (what, expected + 1.5 * tolerance, expected, tolerance)
            return True
    return False


@pytest.mark.parametrize("interface", ["python", "command line"])
@pytest.mark.parametrize("operation", ["compare", "backtest", "explain row"])
def test_a_wrong_end_is_reported(interface, operation, tmp_path):
    if operation == "explain row" and interface == "command line":
        pytest.skip("the command line is tested by the package's own tests")
    changed = []

    def tamper(case, session):
        for numbers in of_kind(session, outcomes.Numbers):
            if numbers.operation.startswith(operation) and change_an_interval(numbers):
                changed.append(numbers)

    for number in range(300):
        result = run_case(SEED, number, "top_k", interface, tmp_path, tamper)
        if changed:
            assert any(" end of " in text for text in result.failures)
            return
    raise AssertionError("no case has an interval")


def test_intervals_of_independent_values_are_those_of_students_t():
    from differential.intervals import interval_ends

    rng = np.random.default_rng(3)
    series = rng.normal(0.3, 1.0, size=400)
    [[least, most], [lower, upper]] = interval_ends([series], rng)[0]
    half = 1.966 * series.std(ddof=1) / np.sqrt(400)
    assert least < series.mean() - half < most
    assert lower < series.mean() + half < upper
    assert interval_ends([series[:59]], rng) == [None]
    assert interval_ends([np.where(np.arange(80) < 9, 1.0, 0.0)], rng) == [None]


def test_counts_are_those_of_the_rows_and_a_failure_ends_with_one(tmp_path, monkeypatch, capsys):
    counts = Counts()
    result = run_case(SEED, 0, "top_k", "python", tmp_path)
    counts.add(result)
    assert counts.total == result.rows
    assert f"{result.rows:,}" in counts.table()
    monkeypatch.setattr("differential.run.discrepancies", lambda case, one: ["wrong"])
    assert main(["--instances", "1", "--folder", str(tmp_path)]) == 1
    assert "0 passed" in capsys.readouterr().out


def test_the_same_seed_draws_the_same_cases():
    first, second = draw_case(3, 5), draw_case(3, 5)
    assert first.drawn.spec["kind"] == second.drawn.spec["kind"]
    np.testing.assert_array_equal(first.costs, second.costs)
    np.testing.assert_array_equal(first.predictions, second.predictions)
