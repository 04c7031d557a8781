"""Items that some rows do not have, and rows without a choice."""

import numpy as np
import pytest
from row_problems import ROWS, X, present_items

import regretless as rl

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
]


def test_costs_of_absent_items_may_be_missing():
    case = present_items(None)
    costs = np.where(case.parameters["offered"] == 1, case.costs, np.nan)
    complete = rl.label(case.problem, case.costs, parameters=case.parameters)
    labels = rl.label(case.problem, costs, parameters=case.parameters)
    np.testing.assert_array_equal(labels.decisions, complete.decisions)
    solved = case.problem.solve_all(costs, parameters=case.parameters)
    np.testing.assert_array_equal(solved.objectives, complete.objectives)
    model, _ = rl.train(
        case.problem, X, costs, parameters=case.parameters, method="MAE(O,S)", epochs=3
    )
    filled, _ = rl.train(
        case.problem, X, case.costs, parameters=case.parameters, method="MAE(O,S)", epochs=3
    )
    np.testing.assert_array_equal(model.predict(X), filled.predict(X))
    _, gradients = rl.Loss(case.problem, costs, "MSE", parameters=case.parameters).evaluate(
        np.ones_like(costs)
    )
    assert (gradients[case.parameters["offered"] == 0] == 0).all()
    assert (gradients[case.parameters["offered"] == 1] != 0).all()
    costs[4, 0] = np.nan
    for call in (rl.label, lambda *args, **named: args[0].solve_all(*args[1:], **named)):
        with pytest.raises(ValueError, match="row 4, column c0"):
            call(case.problem, costs, parameters=case.parameters)


def test_features_of_absent_items_do_not_matter():
    """Rows have different items: a table with as many columns as the largest row has items."""
    case = present_items(None)
    offered = case.parameters["offered"] == 1
    features = np.random.default_rng(12).normal(size=(ROWS, 7, 3)).astype(np.float32)
    models = []
    for filler in (0.0, 1000.0):
        table = np.where(offered[:, :, None], features, np.float32(filler))
        for method in ("MSE", "MAE(O,S)", "SPO+"):
            costs = np.where(offered, case.costs, filler)
            model, _ = rl.train(
                case.problem, table, costs, method, parameters=case.parameters, epochs=3
            )
            models.append(model.coefficients)
    for first, second in zip(models[:3], models[3:]):
        np.testing.assert_array_equal(first, second)


def test_a_predictor_of_items_serves_more_of_them():
    case = present_items(None)
    rng = np.random.default_rng(13)
    model, _ = rl.train(
        case.problem,
        rng.normal(size=(ROWS, 7, 3)),
        case.costs,
        parameters=case.parameters,
        method="MAE(O,S)",
        epochs=2,
    )
    features, offered = rng.normal(size=(5, 9, 3)), np.ones((5, 9))
    offered[1, 3] = 0.0
    larger = rl.Problem.top_k(9, 2, sense="maximize", present=rl.columns("offered"))
    parameters = {"offered": offered}
    decided = model.decide(features, problem=larger, parameters=parameters)
    expected = larger.solve_all(model.predict(features), parameters=parameters)
    np.testing.assert_array_equal(decided.decisions, expected.decisions)
    costs = rng.uniform(1, 9, size=(5, 9))
    evaluation = model.evaluate(features, costs, problem=larger, parameters=parameters)
    np.testing.assert_array_equal(
        evaluation.rows["regret"],
        rl.regret(larger, model.predict(features), costs, parameters=parameters),
    )
    with pytest.raises(ValueError, match="9 costs per row"):
        model.decide(features, parameters=parameters)


def test_tours_and_routes_visit_the_customers_of_the_row():
    rng = np.random.default_rng(11)
    rows = 8
    visit = (rng.uniform(size=(rows, 6)) < 0.7).astype(float)
    visit[:, :4] = 1.0
    costs = rng.uniform(1, 10, size=(rows, 15))
    problem = rl.Problem.tsp(6, present=rl.columns("visit"))
    solved = problem.solve_all(costs, parameters={"visit": visit})
    for row in range(rows):
        own = rl.Problem.tsp(6, present=visit[row]).solve(costs[row])
        np.testing.assert_array_equal(solved.decisions[row], own.decision)
    demands = rng.integers(1, 4, size=(rows, 5)).astype(float)
    routes = rl.Problem.cvrp(rl.columns("demand"), rl.column("cap"), 3, customers=5)
    parameters = {"demand": demands, "cap": np.full(rows, 7.0)}
    solved = routes.solve_all(costs, parameters=parameters)
    for row in range(rows):
        own = rl.Problem.cvrp(demands[row], 7.0, 3).solve(costs[row])
        assert solved.objectives[row] == own.objective


def test_an_item_that_no_training_row_has_is_left_out_with_a_warning():
    rows = 60
    X = np.random.default_rng(0).normal(size=(rows, 2))
    C = 10 + np.random.default_rng(1).uniform(size=(rows, 4))
    C[:, 3] = np.nan
    present = np.ones((rows, 4))
    present[:, 3] = 0
    problem = rl.Problem.top_k(4, 1, present=rl.columns("on"))
    with pytest.warns(UserWarning, match="no training row has a value of c3"):
        model, _ = rl.train(
            problem, X, C, "MSE", parameters={"on": present}, split="order:0.2,0.2", epochs=2
        )
    with pytest.warns(UserWarning, match="no training row has a value of c3"):
        predicted = model.predict(X[:5])
    assert np.isnan(predicted[:, 3]).all()
    assert np.isfinite(predicted[:, :3]).all()
    with pytest.warns(UserWarning, match=r"c3 \(5 rows\)"):
        decided = model.decide(X[:5], parameters={"on": np.ones((5, 4))})
    assert (np.asarray(decided.decisions)[:, 3] == 0).all()
    true_costs = np.where(np.isnan(C[:5]), 99.0, C[:5])
    with pytest.warns(UserWarning, match=r"c3 \(5 rows\)"):
        evaluated = model.evaluate(X[:5], true_costs, parameters={"on": np.ones((5, 4))})
    assert evaluated.regret >= 0
    again = rl.Model.from_bytes(model.to_bytes())
    assert again == model


def test_rows_without_a_choice_are_noticed_in_training():
    rng = np.random.default_rng(3)
    X, C = rng.normal(size=(80, 2)), 5 + rng.uniform(size=(80, 3))
    chosen = np.eye(3)[rng.integers(0, 3, size=80)]
    problem = rl.Problem.top_k(3, 1, present=rl.columns("was"))
    with pytest.warns(UserWarning, match="leave no choice"):
        rl.train(problem, X, C, "MSE", parameters={"was": chosen}, epochs=2)
