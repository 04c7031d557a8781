"""Costs that are known beside the predicted ones, which may differ per row."""

import pickle

import numpy as np
import pytest
from row_problems import ROWS, X, costs_of, function

import regretless as rl

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
]


def test_known_costs_are_part_of_the_objective():
    known = np.random.default_rng(5).uniform(0, 8, size=(ROWS, 6))
    costs = costs_of(6)
    plain = rl.Problem.top_k(6, 2)
    per_row = plain.with_known(rl.columns("distance"))
    parameters = {"distance": known}
    solved = per_row.solve_all(costs, parameters=parameters)
    total = plain.solve_all(costs + known)
    np.testing.assert_array_equal(solved.decisions, total.decisions)
    np.testing.assert_array_equal(solved.objectives, total.objectives)
    predictions = costs * np.random.default_rng(6).uniform(0.5, 2, size=costs.shape)
    np.testing.assert_array_equal(
        rl.regret(per_row, predictions, costs, parameters=parameters),
        rl.regret(plain, predictions + known, costs + known),
    )
    fixed = plain.with_known(known[0])
    np.testing.assert_array_equal(
        fixed.solve_all(costs).objectives, plain.solve_all(costs + known[0]).objectives
    )
    assert fixed.solve(costs[1]).objective == plain.solve(costs[1] + known[0]).objective
    values, gradients = rl.Loss(per_row, costs, "SPO+", parameters=parameters).evaluate(predictions)
    totals = rl.Loss(plain, costs + known, "SPO+").evaluate(predictions + known)
    np.testing.assert_array_equal(values, totals[0])
    np.testing.assert_array_equal(gradients, totals[1])
    model, _ = rl.train(per_row, X, costs, parameters=parameters, method="MAE(O,S)", epochs=2)
    np.testing.assert_array_equal(
        model.decide(X, parameters=parameters).decisions,
        plain.solve_all(model.predict(X) + known).decisions,
    )
    mixed = plain.with_known([1.0, 0, 0, rl.column("toll"), 0, 0])
    tolls = np.zeros((ROWS, 6))
    tolls[:, 0], tolls[:, 3] = 1.0, known[:, 3]
    np.testing.assert_array_equal(
        mixed.solve_all(costs, parameters={"toll": known[:, 3]}).objectives,
        plain.solve_all(costs + tolls).objectives,
    )
    with pytest.raises(ValueError, match="known has 2 costs"):
        plain.with_known([1.0, 2.0])
    with pytest.raises(ValueError, match="Problem.solve"):
        rl.Solver(fixed)


def test_known_costs_have_factors_and_names():
    costs, prices = costs_of(4), np.random.default_rng(8).uniform(0, 5, size=(ROWS, 4))
    plain = rl.Problem.top_k(4, 2, sense="maximize")
    priced = plain.with_known(rl.columns("price", factor=-1))
    np.testing.assert_array_equal(
        priced.solve_all(costs, parameters={"price": prices}).objectives,
        plain.solve_all(costs - prices).objectives,
    )
    assert repr(rl.column("price", factor=-1)) == "column('price', factor=-1)"
    named = rl.Problem.from_arrays(
        [[1, 1, 1]], [2], sense="minimize", relations=">=", upper=1, names=["a", "b", "c"]
    )
    by_name = named.with_known({"b": 3.0, "c": rl.column("toll")})
    known = np.zeros((ROWS, 3))
    known[:, 1], known[:, 2] = 3.0, prices[:, 0]
    np.testing.assert_array_equal(
        by_name.solve_all(costs[:, :3], parameters={"toll": prices[:, 0]}).objectives,
        named.solve_all(costs[:, :3] + known).objectives,
    )
    with pytest.raises(ValueError, match="no cost is called 'd'"):
        named.with_known({"d": 1.0})
    pandas = pytest.importorskip("pandas")
    series = pandas.Series({"c": 2.0, "a": 1.0})
    assert named.with_known(series) == named.with_known({"a": 1.0, "c": 2.0})
    assert named.with_known(pandas.Series([1.0, 0.0, 2.0])) == named.with_known([1.0, 0.0, 2.0])


def test_a_function_gets_total_costs():
    prices = np.random.default_rng(8).uniform(0, 5, size=(ROWS, 5))
    case = function(None)
    total = case.problem.solve_all(case.costs + prices, parameters=case.parameters)
    priced = case.problem.with_known(rl.columns("price"))
    assert priced.parameters == ["needed", "price"]
    parameters = {**case.parameters, "price": prices}
    solved = priced.solve_all(case.costs, parameters=parameters)
    np.testing.assert_array_equal(solved.decisions, total.decisions)
    np.testing.assert_array_equal(solved.objectives, total.objectives)
    regrets = rl.regret(priced, case.costs[::-1], case.costs, parameters=parameters)
    expected = rl.regret(
        case.problem, case.costs[::-1] + prices, case.costs + prices, parameters=case.parameters
    )
    np.testing.assert_array_equal(regrets, expected)
    again = pickle.loads(pickle.dumps(priced))
    assert again == priced
    assert again != case.problem

    def cheapest(costs):
        return np.arange(len(costs)) == np.argmin(costs)

    plain = rl.Problem.from_solver(cheapest, 5, sense="minimize")
    fixed = plain.with_known([1.0, 2.0, rl.column("toll", factor=2.0), 0.0, 0.0])
    known = np.zeros((ROWS, 5))
    known[:, 0], known[:, 1], known[:, 2] = 1.0, 2.0, 2.0 * prices[:, 0]
    np.testing.assert_array_equal(
        fixed.solve_all(case.costs, parameters={"toll": prices[:, 0]}).objectives,
        plain.solve_all(case.costs + known).objectives,
    )
    with pytest.raises(ValueError, match="5 costs"):
        plain.with_known([1.0])
