"""Newsvendor: orders and regrets, against SciPy and by hand."""

import numpy as np
import pytest

import regretless as rl
from regretless.pyepo import as_pyepo

UNDER, OVER = np.array([4.0, 1.0, 6.0, 2.0]), np.array([1.0, 3.0, 2.0, 0.5])
WEIGHTS, CAPACITY = np.array([1.0, 2.0, 3.0, 1.5]), 110.0


def tables(rows=240):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, 3))
    noise = 6 * rng.normal(size=(rows, 4))
    return features, np.maximum(20 + features @ rng.normal(size=(3, 4)) * 4 + noise, 0)


def newsvendor(capacity=CAPACITY):
    return rl.Problem.newsvendor(UNDER, OVER, weights=WEIGHTS, capacity=capacity)


def earned(orders, demand):
    sold = np.minimum(orders, demand)
    return (UNDER * sold - OVER * (orders - sold)).sum(axis=-1)


def best(demand, capacity=CAPACITY):
    """Return what the best orders earn, by SciPy."""
    optimize = pytest.importorskip("scipy.optimize")
    bounds = [(0, quantity) for quantity in demand]
    found = optimize.linprog(-UNDER, A_ub=[WEIGHTS], b_ub=[capacity], bounds=bounds)
    return -found.fun


def test_regret_is_what_was_earned_less_than_by_the_true_demands():
    features, demand = tables()
    problem = newsvendor()
    model, report = rl.train(problem, features, demand, "MAE(D)", split=(140, 50, 50), epochs=20)
    orders = np.asarray(model.decide(features[190:]).decisions, dtype=float)
    assert (orders @ WEIGHTS <= CAPACITY * (1 + 1e-5)).all()
    optimal = np.array([best(row) for row in demand[190:]])
    regret = (optimal - earned(orders, demand[190:])).mean()
    assert regret > 0
    assert report.test.regret == pytest.approx(regret, rel=1e-4)
    assert report.test.normalized_regret == pytest.approx(50 * regret / optimal.sum(), rel=1e-4)
    labels = rl.label(problem, demand)
    np.testing.assert_allclose(labels.objectives, [best(row) for row in demand], rtol=1e-5)


def test_capacities_may_differ_per_row():
    _, demand = tables()
    van = np.linspace(40, 160, len(demand))
    solutions = newsvendor(rl.column("van")).solve_all(demand, parameters={"van": van})
    expected = [best(row, capacity) for row, capacity in zip(demand, van, strict=True)]
    np.testing.assert_allclose(solutions.objectives, expected, rtol=1e-5)


def test_methods_for_costs_and_negative_demands_are_refused():
    features, demand = tables()
    with pytest.raises(ValueError, match=r"'SPO\+' needs predicted objective coefficients"):
        rl.train(newsvendor(), features, demand, "SPO+")
    with pytest.raises(ValueError, match="predicts objective coefficients"):
        rl.train(rl.Problem.top_k(4, 2, sense="minimize"), features, demand, "MAE(D)")
    demand[3, 1] = -2
    labels = rl.label(newsvendor(), demand)
    assert list(labels.failed) == [3]


def test_models_for_pyepo_are_refused():
    with pytest.raises(ValueError, match="predicts quantities"):
        as_pyepo(newsvendor())


@pytest.mark.filterwarnings("ignore")
def test_comparisons_and_backtests_count_what_is_earned():
    features, demand = tables(rows=400)
    problem = newsvendor()
    result = rl.compare(problem, features, demand, methods=["MSE", "MAE(D)"], seeds=2, epochs=20)
    assert "MAE(D)" in str(result)
    dates = np.datetime64("2024-01-01") + np.arange(400)
    history = rl.backtest(
        problem, features, demand, time=dates, methods=["MAE(D)"], window=200, step=100
    )
    assert "least squares" in str(history)
