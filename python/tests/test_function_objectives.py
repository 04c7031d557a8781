"""Functions that are not optimal, and objectives that are not linear: found, or declared."""

import pickle
import warnings

import numpy as np
import pytest
from python_solvers import COSTS, USES_OF_LABELS, X

import regretless as rl


def test_an_objective_must_be_a_number():
    for claimed in [float("nan"), float("inf")]:
        problem = rl.Problem.from_solver(
            lambda c, claimed=claimed: (np.eye(6)[0], claimed), 6, sense="minimize"
        )
        with pytest.raises(ValueError, match="objective (NaN|inf), which is not a finite number"):
            problem.solve(COSTS[0])


def first_two(costs):
    """A heuristic that knows only the first two of the choices."""
    return np.arange(len(costs)) == np.argmin(costs[:2])


def test_a_heuristic_function_is_not_called_optimal():
    problem = rl.Problem.from_solver(first_two, 6, sense="minimize", exact=False)
    assert problem.solve(COSTS[0]).status == "heuristic"
    assert problem.solve(COSTS[0]).bound == -np.inf
    assert set(problem.solve_all(COSTS).statuses) == {"heuristic"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quality = rl.evaluate(problem, COSTS[::-1], C=COSTS)
    assert set(quality.rows["label_status"]) == {"heuristic"}
    assert set(quality.rows["decision_status"]) == {"heuristic"}
    model, report = rl.train(problem, X, COSTS, "MSE", epochs=1)
    assert (report.labels.optimal, report.labels.limit_reached) == (0, len(COSTS))
    explanation = model.explain(X[0], problem=problem, costs=COSTS[0])
    assert not explanation.is_proven
    assert explanation.status == "heuristic"
    for reason in (explanation.ranges.reason, explanation.alternatives.reason):
        assert "not proven optimal (heuristic)" in reason
    assert "not proven" in explanation.regret.reason
    with pytest.raises(RuntimeError, match=r"not proven optimal \(heuristic\)"):
        model.explain(X[0], problem=problem, force="c2")
    assert not np.isfinite(pickle.loads(pickle.dumps(problem)).solve(COSTS[0]).bound)
    exact = rl.Problem.from_solver(first_two, 6, sense="minimize")
    with pytest.raises(ValueError, match="another problem"):
        rl.evaluate(exact, COSTS, C=COSTS, labels=rl.label(problem, COSTS))


def careless(costs):
    """Considers further items than the first two only where they cost almost nothing."""
    seen = [item for item, cost in enumerate(costs) if item < 2 or cost < 2]
    return np.arange(len(costs)) == min(seen, key=lambda item: costs[item])


BOTH_CAUSES = "either the function is not optimal .*exact=False.*, or its objective has terms"


def test_negative_regret_of_a_function_that_claims_to_be_exact_is_reported():
    # Rows with parameters of their own are not compared with each other.
    problem = rl.Problem.from_solver(
        lambda costs, _: careless(costs), 6, sense="minimize", parameters=["day"]
    )
    settings = {"parameters": {"day": np.arange(len(COSTS))}}
    message = rf"^\d+ rows have negative regret: {BOTH_CAUSES}"
    with pytest.warns(UserWarning, match=message) as found:
        regrets = rl.regret(problem, COSTS[::-1], COSTS, **settings)
    assert len(found) == 1
    assert str(found[0].message).startswith(f"{(regrets < -1e-6).sum()} rows")
    with pytest.warns(UserWarning, match=message):
        rl.evaluate(problem, COSTS[::-1], C=COSTS, **settings)


def test_a_function_that_claims_to_be_exact_is_not_worse_than_its_answers_for_other_rows():
    problem = rl.Problem.from_solver(careless, 6, sense="minimize")
    for use in (lambda p: rl.label(p, COSTS), lambda p: rl.regret(p, COSTS[::-1], COSTS)):
        message = rf"^in \d+ of 60 compared rows, .*{BOTH_CAUSES}"
        with pytest.warns(UserWarning, match=message) as found:
            use(problem)
        assert len(found) == 1
    exact = rl.Problem.top_k(6, k=1, sense="minimize")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.evaluate(exact, COSTS[::-1], C=COSTS)


@pytest.mark.filterwarnings("ignore:.*either the function is not optimal")
def test_an_explanation_that_finds_a_better_decision_proves_nothing():
    problem = rl.Problem.from_solver(careless, 6, sense="minimize")
    model, _ = rl.train(problem, X, COSTS, "MSE", epochs=5)
    better = 0
    for row in range(len(X)):
        explanation = model.explain(X[row], problem=problem)
        lowest = min(cost.predicted for cost in explanation.costs)
        is_optimal = explanation.objective <= lowest + 1e-6
        assert explanation.is_proven == is_optimal
        if not is_optimal:
            better += 1
            assert explanation.status == "not optimal"
            assert explanation.ranges.method is None
            assert not explanation.alternatives.decisions
            assert "not optimal" in explanation.alternatives.reason
    assert 0 < better


def test_objectives_of_terms_that_cancel_may_be_rounded():
    def long_short(costs):
        # Buy the cheapest, sell the dearest; the objective in single precision.
        decision = np.zeros(6)
        decision[np.argmin(costs)], decision[np.argmax(costs)] = 1, -1
        return decision, float(np.float32(decision) @ np.float32(costs)) + 1e-3

    problem = rl.Problem.from_solver(long_short, 6, sense="minimize", binary=False)
    costs = 1e4 + np.random.default_rng(1).uniform(0, 1e-2, size=(60, 6))
    labels = rl.label(problem, costs)
    np.testing.assert_allclose(labels.objectives, costs.min(axis=1) - costs.max(axis=1), atol=0.01)


def split_order(costs):
    """Ten units at prices that rise by 1 with every unit: costs·x + x·x / 2 is least."""
    ascending = np.sort(costs)
    prices = (10 + np.cumsum(ascending)) / np.arange(1, len(costs) + 1)
    return np.maximum(prices[ascending < prices][-1] - costs, 0)


@pytest.mark.parametrize("use", USES_OF_LABELS)
def test_a_quadratic_objective_is_named_as_a_cause_wherever_rows_are_labeled(use):
    problem = rl.Problem.from_solver(split_order, 6, sense="minimize", binary=False)
    remedy = f"{BOTH_CAUSES}.* such as quadratic .* return the pair"
    with pytest.warns(UserWarning, match=remedy) as found:
        USES_OF_LABELS[use](problem, X, COSTS)
    causes = [str(warning.message) for warning in found if "quadratic" in str(warning.message)]
    assert len(causes) == 1
    assert "does the function really" not in causes[0]


def test_a_quadratic_objective_that_is_returned_is_part_of_regret():
    def solve(costs):
        amounts = split_order(costs)
        return amounts, costs @ amounts + amounts @ amounts / 2

    problem = rl.Problem.from_solver(solve, 6, sense="minimize", binary=False)
    predicted = COSTS[::-1] * 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regrets = rl.regret(problem, predicted, COSTS)

    def objective(costs, amounts):
        return costs @ amounts + amounts @ amounts / 2

    expected = [
        objective(true, split_order(guess)) - objective(true, split_order(true))
        for true, guess in zip(COSTS.astype(float), predicted.astype(float))
    ]
    assert min(expected) > 0
    np.testing.assert_allclose(regrets, expected, atol=1e-4)


def test_negative_regret_relative_to_an_objective_of_zero_is_reported():
    problem = rl.Problem.from_solver(lambda costs: np.eye(2)[np.argmax(costs)], 2, sense="minimize")
    # Equal rows have equal labels, none of which is better for another row.
    costs = np.tile([-1.0, 0.0], (12, 1))
    with pytest.warns(UserWarning, match="12 rows have negative regret"):
        rl.evaluate(problem, -costs - 1.5, C=costs)
