"""Functions whose objective has costs beside the predicted ones."""

import warnings

import numpy as np
import pytest
from python_solvers import COSTS

import regretless as rl


def test_known_costs_of_decisions_are_warned_about_where_the_level_is_ignored():
    rents = np.array([3.0, 0.0, 1.0])

    def cheapest(costs):
        chosen = int(np.argmin(costs + rents))
        return np.eye(3)[chosen], costs[chosen] + rents[chosen]

    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 2))
    costs = 5 + features @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
    warning = "MAE.O,S. compares costs .* the level of the predicted costs matters"

    def new_problem():
        return rl.Problem.from_solver(cheapest, 3, sense="minimize")

    with pytest.warns(UserWarning, match=warning):
        rl.train(new_problem(), features, costs, "MAE(O,S)", epochs=2)
    methods = ["MAE(O,S)", "MSE"]
    with pytest.warns(UserWarning, match=warning):
        rl.compare(new_problem(), features, costs, methods=methods, seeds=1, epochs=2)
    with pytest.warns(UserWarning, match=warning):
        rl.backtest(
            new_problem(),
            features,
            costs,
            time=np.arange(60),
            methods=methods,
            initial=40,
            step=10,
            epochs=2,
        )
    problem = new_problem()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*level of the predicted costs")
        rl.train(problem, features, costs, "MAE(O)", epochs=2)


def cheapest_with_rent(costs, parameters):
    """Choose the cheapest of three, each of which has a rent that differs per row."""
    rents = parameters["rents"]
    chosen = int(np.argmin(costs + rents))
    return np.eye(3)[chosen], costs[chosen] + rents[chosen]


def is_one_choice(decision, parameters):
    return decision.sum() == 1


def with_rents(rows=60):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, 2))
    costs = 5 + features @ rng.normal(size=(2, 3)) + rng.normal(size=(rows, 3))
    problem = rl.Problem.from_solver(
        cheapest_with_rent, 3, sense="minimize", parameters=["rents"], check=is_one_choice
    )
    return problem, features, costs, rng.uniform(0, 6, size=(rows, 3))


@pytest.mark.parametrize("method", ["MAP", "SPO+ cache 0%"])
def test_pools_do_not_take_known_costs_of_other_rows(method):
    problem, _, costs, rents = with_rents()
    parameters = {"rents": rents}
    predicted = costs[::-1].copy()
    loss = rl.Loss(problem, costs, loss=method, parameters=parameters)
    values, _ = loss.evaluate(predicted)
    best = np.argmin(costs + rents, axis=1)
    rows = np.arange(len(costs))
    if method == "MAP":
        # The label beside the decision that the predicted costs lead to.
        expected = (predicted + rents)[rows, best] - np.min(predicted + rents, axis=1)
    else:
        extrapolated = 2 * predicted - costs
        expected = (
            2 * (predicted + rents)[rows, best]
            - (costs + rents)[rows, best]
            - np.min(extrapolated + rents, axis=1)
        )
    np.testing.assert_allclose(values, expected, atol=1e-9)


def test_trainings_with_pools_count_rows_that_no_pool_serves():
    problem, features, costs, rents = with_rents()
    _, report = rl.train(problem, features, costs, "MAP", parameters={"rents": rents}, epochs=2)
    assert report.solves_by_kind.unpooled_rows > 0


def test_given_decisions_are_refused_where_only_the_function_knows_their_costs():
    problem, features, costs, rents = with_rents()
    decisions = np.tile([1.0, 0.0, 0.0], (60, 1))
    with pytest.raises(ValueError, match="known costs besides the predicted ones"):
        rl.backtest(
            problem,
            features,
            costs,
            time=np.arange(60),
            methods=[],
            decisions=decisions,
            parameters={"rents": rents},
        )


def cheapest_with_fee(costs):
    """Choose one; every choice has a fee of its own."""
    fees = np.array([3.0, 0.0, 5.0])
    decision = np.zeros(3)
    decision[np.argmin(costs + fees)] = 1
    return decision, decision @ (costs + fees)


def test_labels_of_given_decisions_are_refused_where_the_function_adds_known_costs():
    problem = rl.Problem.from_solver(cheapest_with_fee, 3, sense="minimize")
    # The first row has no known cost, the next one with another decision has.
    costs = np.tile([1.0, 2.0, 3.0], (60, 1))
    costs[30] = [1.0, 9.0, 9.0]
    decisions = rl.label(problem, costs).decisions
    with pytest.raises(ValueError, match=r"row 30: by 3\), and given decisions do not contain"):
        rl.Labels.from_decisions(problem, costs, decisions)
    plain = rl.Problem.from_solver(lambda costs: cheapest_with_fee(costs)[0], 3, sense="minimize")
    assert rl.Labels.from_decisions(plain, costs, decisions).objectives[0] == 2.0


def test_known_costs_that_depend_on_the_costs_are_refused():
    def cheapest_with_tax(costs):
        decision = np.zeros(len(costs))
        decision[np.argmin(costs)] = 1
        return decision, 1.1 * (decision @ costs)

    problem = rl.Problem.from_solver(cheapest_with_tax, 6, sense="minimize")
    with pytest.raises(ValueError, match="depends on the costs: rows .* have the same decision"):
        rl.label(problem, COSTS)


def test_known_costs_are_compared_at_other_costs_where_no_decision_is_repeated():
    def ranked_with_tax(costs):
        decision = np.argsort(np.argsort(-costs)).astype(float)
        return decision, 1.1 * (decision @ costs)

    problem = rl.Problem.from_solver(ranked_with_tax, 6, sense="minimize", binary=False)
    _, different = np.unique(np.argsort(COSTS), axis=0, return_index=True)
    with pytest.raises(ValueError, match="if all costs are 1.25 times as high"):
        rl.label(problem, COSTS[different])


def test_known_costs_of_a_heuristic_that_change_are_a_warning():
    def with_tax(costs):
        decision = np.zeros(6)
        decision[np.argmin(costs)] = 1
        return decision, 1.1 * (decision @ costs)

    problem = rl.Problem.from_solver(with_tax, 6, sense="minimize", exact=False)
    with pytest.warns(UserWarning, match="the difference depends on the costs"):
        assert len(rl.label(problem, COSTS)) == 60


def test_known_costs_that_depend_on_decisions_alone_are_accepted():
    problem = rl.Problem.from_solver(cheapest_with_fee, 3, sense="minimize")
    labels = rl.label(problem, COSTS[:, :3])
    expected = np.min(COSTS[:, :3] + np.array([3.0, 0.0, 5.0]), axis=1)
    np.testing.assert_allclose(labels.objectives, expected, rtol=1e-6)
