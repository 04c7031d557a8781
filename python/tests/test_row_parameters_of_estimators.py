"""Row parameters in scikit-learn, torch, PyEPO, boosted trees, clusters and kept solvers."""

import pickle

import numpy as np
import pytest
from row_problems import ROWS, WEIGHTS, X, knapsack_capacity

import regretless as rl

pytestmark = [
    pytest.mark.filterwarnings("ignore:costs are matched by position"),
    pytest.mark.filterwarnings("ignore:the model was trained or validated on"),
]


def test_the_estimator_takes_parameters():
    pandas = pytest.importorskip("pandas")
    sklearn = pytest.importorskip("regretless.sklearn")
    case = knapsack_capacity(None)
    features = pandas.DataFrame(X, columns=["a", "b", "c", "d"]).assign(cap=case.parameters["cap"])
    estimator = sklearn.DecisionFocusedRegressor(case.problem, "MAE(O,S)", epochs=3, random_state=0)
    estimator.fit(features, case.costs, parameters=["cap"])
    decided = estimator.decide(features, parameters=["cap"])
    predicted = estimator.predict(features)
    expected = case.problem.solve_all(predicted, parameters=case.parameters)
    np.testing.assert_array_equal(np.asarray(decided.decisions), expected.decisions)
    np.testing.assert_array_equal(
        estimator.transform(features, parameters=case.parameters), expected.decisions
    )
    score = estimator.score(features, case.costs, parameters=features[["cap"]])
    assert score == sklearn.regret_score(
        case.problem, case.costs, predicted, parameters=case.parameters
    )
    weighted = estimator.score(features, case.costs, np.ones(ROWS), parameters=case.parameters)
    assert weighted == pytest.approx(score)
    with pytest.raises(ValueError, match="needs the parameter 'cap'"):
        estimator.decide(features)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(features, parameters=["cap"]), expected.decisions)


def test_cross_validation_routes_parameters():
    pandas = pytest.importorskip("pandas")
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer

    case = knapsack_capacity(None)
    frame = pandas.DataFrame(case.parameters)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = DecisionFocusedRegressor(case.problem, "MAE(O,S)", epochs=2, random_state=0)
        estimator.set_fit_request(parameters=True).set_score_request(parameters=True)
        by_score = cross_val_score(estimator, X, case.costs, cv=3, params={"parameters": frame})
        scorer = make_regret_scorer(case.problem).set_score_request(parameters=True)
        by_scorer = cross_val_score(
            estimator, X, case.costs, cv=3, scoring=scorer, params={"parameters": frame}
        )
    np.testing.assert_array_equal(by_score, by_scorer)
    assert np.isfinite(by_score).all()


def test_torch_losses_and_layers_take_the_parameters_of_the_batch():
    torch = pytest.importorskip("torch")
    from regretless.torch import DecisionLayer, DecisionLoss

    case = knapsack_capacity(None)
    predictions = torch.tensor(case.costs * 1.5 + 1.0, requires_grad=True)
    table = rl.Loss(case.problem, case.costs, "SPO+", parameters=case.parameters)
    values, gradients = table.evaluate(predictions.detach().numpy())
    by_number = DecisionLoss(
        case.problem, case.costs, "SPO+", parameters=case.parameters, reduction="sum"
    )
    by_number(predictions, torch.arange(ROWS)).backward()
    np.testing.assert_array_equal(predictions.grad.numpy(), gradients)
    added = DecisionLoss(case.problem, loss="SPO+", reduction="none")
    batch = torch.arange(10, 30)
    caps = {"cap": torch.tensor(case.parameters["cap"])[batch]}
    costs = torch.tensor(case.costs)
    found = added(predictions[batch], costs[batch], parameters=caps)
    np.testing.assert_array_equal(found.detach().numpy(), values[10:30])
    # Rows of equal costs and other capacities are other rows.
    larger = {"cap": caps["cap"] + 5.0}
    other = added(predictions[batch], costs[batch], parameters=larger)
    assert len(added.rows.tables) == 2
    assert not torch.equal(other, found)
    again = added(predictions[batch], costs[batch], parameters=caps)
    assert torch.equal(again, found)
    with pytest.raises(ValueError, match="give parameters beside the costs"):
        added(predictions[batch], costs[batch])
    with pytest.raises(ValueError, match="have the parameters of the table"):
        by_number(predictions, torch.arange(ROWS), parameters=case.parameters)
    for gradient in ("DBB", "NID", "DPO"):
        layer = DecisionLayer(case.problem, gradient, samples=3)
        decisions = layer(predictions[batch], parameters=caps)
        decisions.sum().backward()
        loads = decisions.detach().numpy() @ WEIGHTS
        assert (loads <= caps["cap"].numpy() + 1e-9).all()


def test_pyepo_models_refuse_parameters():
    pytest.importorskip("pyepo")
    from regretless.pyepo import as_pyepo

    for problem in (
        rl.Problem.knapsack(WEIGHTS, rl.column("cap")),
        rl.Problem.top_k(3, 1).with_known([1.0, 2.0, 3.0]),
        rl.Problem.from_solver(np.ones_like, 3, sense="minimize").with_known([1.0, 2.0, 3.0]),
    ):
        with pytest.raises(ValueError, match="one feasible set"):
            as_pyepo(problem)


def test_the_backends_of_a_cluster_get_parameters(tmp_path):
    from regretless import cluster

    case = knapsack_capacity(None)
    labels = cluster.label(
        case.problem,
        case.costs,
        backend="local",
        store=tmp_path / "costs.npy",
        shards=2,
        parameters=case.parameters,
    )
    direct = rl.label(case.problem, case.costs, parameters=case.parameters)
    np.testing.assert_array_equal(labels.decisions, direct.decisions)
    runs = [{"method": "MAE(O,S)", "epochs": 1}]
    where = {"backend": "local", "folder": tmp_path / "sweep"}
    reports = cluster.sweep(case.problem, X, case.costs, runs, parameters=case.parameters, **where)
    _, report = rl.train(case.problem, X, case.costs, parameters=case.parameters, **runs[0])
    assert reports[0].test.regret == report.test.regret
    other = {"cap": case.parameters["cap"] + 4.0}
    changed = cluster.sweep(case.problem, X, case.costs, runs, parameters=other, **where)
    assert changed[0].test.regret != report.test.regret


def test_boosted_trees_take_parameters():
    pytest.importorskip("xgboost")
    from regretless.trees import CostSensitiveObjective, RegretMetric

    case = knapsack_capacity(None)
    objective = CostSensitiveObjective(case.problem, case.costs, parameters=case.parameters)
    model = objective.fine_tune_xgboost(X, rounds=(3, 3), validation=0.3)
    decided = model.decide(X, parameters=case.parameters)
    expected = case.problem.solve_all(model.predict(X), parameters=case.parameters)
    np.testing.assert_array_equal(decided.decisions, expected.decisions)
    with pytest.raises(ValueError, match="no parameters of rows"):
        RegretMetric(case.problem)


def test_a_model_finds_its_parameter_columns_by_name():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    C = np.abs(X @ rng.normal(size=(3, 3)) + 3)
    columns = {f"w_{name}": rng.integers(1, 5, 60).astype(float) for name in "abc"}
    table = pandas.DataFrame({**columns, "cap": 5.0})
    problem = rl.Problem(
        {
            "kind": "knapsack",
            "items": 3,
            "weights": [{"columns": "w_*"}],
            "capacity": [{"column": "cap"}],
        }
    )
    model, _ = rl.train(problem, X, C, parameters=table, method="MSE", epochs=3)
    moved = table[["cap", "w_c", "w_a", "w_b"]]
    expected = model.decide(X, parameters=table).decisions
    assert np.array_equal(model.decide(X, parameters=moved).decisions, expected)
    regrets = [model.evaluate(X, C, parameters=frame).regret for frame in (table, moved)]
    assert regrets[0] == regrets[1]
    sklearn = pytest.importorskip("regretless.sklearn")
    estimator = sklearn.DecisionFocusedRegressor(problem, method="MSE", epochs=3, random_state=0)
    estimator.fit(X, C, parameters=table)
    scores = [estimator.score(X, C, parameters=frame) for frame in (table, moved)]
    assert scores[0] == scores[1]
    with pytest.raises(ValueError, match="w_b"):
        model.decide(X, parameters=table.rename(columns={"w_b": "w_x"}))


def test_trees_refuse_patterns_whose_order_they_do_not_store():
    trees = pytest.importorskip("regretless.trees")
    problem = rl.Problem(
        {"kind": "top_k", "items": 2, "k": 1, "sense": "minimize", "present": {"columns": "on_*"}}
    )
    present = {"on_a": [1, 1, 0], "on_b": [1, 1, 1]}
    with pytest.raises(ValueError, match="in the order of each table"):
        trees.CostSensitiveObjective(problem, np.ones((3, 2)), parameters=present)


def test_a_kept_solver_solves_rows_with_parameters_of_their_own():
    arcs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")]
    problem = rl.Problem.graph_path(arcs, source=rl.column("from"), target=rl.column("to"))
    solver = rl.Solver(problem)
    costs = np.random.default_rng(3).uniform(1, 5, size=(12, 4))
    for row, (source, target) in enumerate([("a", "c"), ("b", "a"), ("a", "b"), ("c", "b")] * 3):
        ends = {"from": source, "to": target}
        decision, objective = solver.solve(costs[row], parameters=ends)
        expected = problem.solve(costs[row], parameters=ends)
        assert objective == expected.objective
        np.testing.assert_array_equal(decision, expected.decision)
    with pytest.raises(ValueError, match="needs the parameter 'from'"):
        solver.solve(costs[0])
    with pytest.raises(ValueError, match="which is no node of the problem"):
        solver.solve(costs[0], parameters={"from": "a", "to": "z"})
    sack = rl.Problem.knapsack([[2, 3, 4]], capacity=rl.column("room"))
    solver = rl.Solver(sack)
    for room in [9.0, 2.0, 5.0]:
        decision, objective = solver.solve([3.0, 4.0, 6.0], parameters={"room": room})
        assert objective == sack.solve([3.0, 4.0, 6.0], parameters={"room": room}).objective
    with pytest.raises(RuntimeError, match="room|capacity"):
        solver.solve([3.0, 4.0, 6.0], parameters={"room": -1.0})
