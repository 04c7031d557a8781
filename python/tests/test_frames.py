"""DataFrames in, DataFrames out; arrays in, arrays out."""

import numpy as np
import pytest

import regretless as rl

PROBLEM = rl.Problem("KS6")
X, C = rl.generate("KS6", instances=40, seed=1)
FEATURES = list("abcde")
COSTS = [f"item {number}" for number in range(6)]


@pytest.fixture(scope="module", params=["pandas", "polars"])
def frames(request):
    """The library, features and costs with names; pandas with an index of days."""
    library = pytest.importorskip(request.param)
    if request.param == "polars":
        return (
            library,
            library.DataFrame(X, schema=FEATURES, orient="row"),
            library.DataFrame(C, schema=COSTS, orient="row"),
        )
    days = library.date_range("2026-01-01", periods=len(X))
    return (
        library,
        library.DataFrame(X, index=days, columns=FEATURES),
        library.DataFrame(C, index=days, columns=COSTS),
    )


def check_frame(frames, found, values, columns):
    """The frame has these numbers and names, and the index of the input."""
    library, features, _ = frames
    assert isinstance(found, library.DataFrame)
    assert list(found.columns) == list(columns)
    np.testing.assert_array_equal(np.asarray(found), values)
    if library.__name__ == "pandas":
        assert found.index.equals(features.index)


@pytest.fixture(scope="module")
def model(frames):
    _, features, costs = frames
    return rl.train(PROBLEM, features, costs, "MSE", epochs=2)[0]


def test_predictions_of_a_frame_are_a_frame(frames, model):
    array = model.predict(X)
    assert type(array) is np.ndarray
    check_frame(frames, model.predict(frames[1]), array, COSTS)


def test_decisions_of_a_frame_are_a_frame(frames, model):
    array = model.decide(X).decisions
    assert type(array) is np.ndarray
    solutions = model.decide(frames[1])
    check_frame(frames, solutions.decisions, array, COSTS)
    assert solutions.decisions is solutions.decisions, "made once"


# Two depots with fixed costs; the costs of shipping are predicted.
DEPOTS = """minimize
 obj: ship_a + ship_b + 30 open_a + 25.5 open_b + 100 one
subject to
 town: ship_a + ship_b >= 3.25
 a: ship_a - 9 open_a <= 0
 b: ship_b - 5 open_b <= 0
bounds
 one = 1
binary
 open_a open_b
end
"""
SHIPS = ["ship_a", "ship_b"]
ALL = [*SHIPS, "open_a", "open_b", "one"]


@pytest.fixture
def depots(frames, tmp_path):
    """The problem, a model, and features and costs as frames."""
    library, features, costs = frames
    path = tmp_path / "depots.lp"
    path.write_text(DEPOTS)
    problem = rl.Problem.from_file(path, costs="ship_*")
    costs = costs[COSTS[:2]]
    costs.columns = SHIPS
    return problem, rl.train(problem, features, costs, "MSE", epochs=2)[0], features, costs


def test_decisions_have_every_column_and_the_objective(frames, depots):
    _, model, features, _ = depots
    solutions, plain = model.decide(features), model.decide(np.asarray(features))
    assert solutions.column_names == plain.column_names == ALL
    values = plain.values
    assert type(values) is np.ndarray and values.dtype == np.float64
    check_frame(frames, solutions.values, values, ALL)
    np.testing.assert_array_equal(values[:, :2].astype(np.float32), plain.decisions)
    ship, opened, one = values[:, :2], values[:, 2:4], values[:, 4]
    assert (ship.sum(axis=1) >= 3.25 - 1e-6).all()
    assert (ship <= opened * [9, 5] + 1e-6).all() and (one == 1).all()
    assert set(opened.ravel()) == {0, 1}
    expected = (ship * model.predict(np.asarray(features))).sum(axis=1)
    expected += opened @ [30, 25.5] + 100
    np.testing.assert_allclose(plain.objectives, expected, rtol=1e-6)


def test_a_frame_of_decisions_is_the_table_of_the_command_line(frames, depots):
    library, _, _ = frames
    _, model, features, _ = depots
    solutions = model.decide(features)
    table = solutions.to_frame()
    assert isinstance(table, library.DataFrame)
    assert list(table.columns) == ["objective", "status", *ALL]
    np.testing.assert_array_equal(np.asarray(table[ALL]), np.asarray(solutions.values))
    assert set(table["status"]) == {"optimal"}
    sparse = solutions.to_frame(sparse=True)
    kept = np.asarray(solutions.values) != 0
    assert len(sparse) == kept.sum()
    assert list(sparse["value"]) == list(np.asarray(solutions.values)[kept])
    days = features.index if library.__name__ == "pandas" else range(len(features))
    keys = sparse.index if library.__name__ == "pandas" else sparse["instance"]
    assert list(keys) == [day for day, row in zip(days, kept) for _ in range(row.sum())]
    pandas = pytest.importorskip("pandas")
    unnamed = model.decide(np.asarray(features)).to_frame()
    assert isinstance(unnamed, pandas.DataFrame) and list(unnamed.index) == list(range(len(X)))


def test_one_solution_has_every_column(depots):
    problem, _, _, _ = depots
    solution = problem.solve([1.0, 20.0])
    assert (solution.column_names, list(solution.values)) == (ALL, [3.25, 0, 1, 0, 1])
    assert solution.objective == 3.25 + 30 + 100
    assert rl.Problem("KS6").solve(C[0]).column_names == [f"c{item}" for item in range(6)]


def test_evaluations_have_rows(frames, depots):
    library, _, _ = frames
    problem, model, features, costs = depots
    evaluation = model.evaluate(features, costs)
    rows = evaluation.rows
    assert isinstance(rows, library.DataFrame) and len(rows) == len(X)
    if library.__name__ == "pandas":
        assert rows.index.equals(costs.index)
    assert evaluation.regret == pytest.approx(rows["regret"].mean())
    assert evaluation.relative_regret == pytest.approx(rows["relative_regret"].mean())
    np.testing.assert_allclose(
        rows["objective"], np.asarray(rows["optimal_objective"]) + np.asarray(rows["regret"])
    )
    np.testing.assert_allclose(rows["optimal_objective"], problem.solve_all(costs).objectives)
    assert set(rows["label_status"]) == set(rows["decision_status"]) == {"optimal"}
    assert "rows" not in evaluation.to_dict()
    plain = model.evaluate(np.asarray(features), np.asarray(costs)).rows
    assert isinstance(plain, dict)
    np.testing.assert_array_equal(plain["regret"], np.asarray(rows["regret"]))
    regrets = rl.regret(problem, model.predict(features), costs)
    assert isinstance(regrets, library.Series) and regrets.name == "regret"
    np.testing.assert_array_equal(regrets, rows["regret"])
    assert type(rl.regret(problem, model.predict(X), np.asarray(costs))) is np.ndarray


def test_solutions_and_labels_of_a_frame_are_frames(frames):
    costs = frames[2]
    right = PROBLEM.solve_all(C).decisions
    assert type(right) is np.ndarray and type(rl.label(PROBLEM, C).decisions) is np.ndarray
    check_frame(frames, PROBLEM.solve_all(costs).decisions, right, COSTS)
    labels = rl.label(PROBLEM, costs)
    check_frame(frames, labels.decisions, right, COSTS)
    known = rl.Labels.from_decisions(PROBLEM, costs, labels.decisions)
    check_frame(frames, known.decisions, right, COSTS)


def test_decisions_are_in_the_order_and_under_the_names_of_the_problem(frames):
    library, _, costs = frames
    numbers = {"sense": "maximize", "upper": 1, "integer": True}
    problem = rl.Problem.from_arrays([[1] * 6], [2], names=COSTS, **numbers)
    turned = costs[COSTS[::-1]]
    check_frame(frames, problem.solve_all(turned).decisions, problem.solve_all(C).decisions, COSTS)


def test_columns_without_names_are_numbered_as_costs(frames):
    library, features, _ = frames
    if library.__name__ == "polars":
        pytest.skip("columns of polars have names always")
    plain = library.DataFrame(C, index=features.index)
    names = [f"c{number}" for number in range(6)]
    check_frame(frames, PROBLEM.solve_all(plain).decisions, PROBLEM.solve_all(C).decisions, names)


def test_the_estimator_decides_frames_and_predicts_arrays(frames):
    pytest.importorskip("sklearn")
    from regretless.sklearn import DecisionFocusedRegressor

    _, features, costs = frames
    estimator = DecisionFocusedRegressor(PROBLEM, "MAE(O,S)", epochs=2, random_state=0)
    estimator.fit(features, costs)
    assert type(estimator.predict(features)) is np.ndarray
    array = PROBLEM.solve_all(estimator.predict(features)).decisions
    check_frame(frames, estimator.decide(features).decisions, array, COSTS)
    unnamed = DecisionFocusedRegressor(PROBLEM, "MAE(O,S)", epochs=2, random_state=0).fit(X, C)
    assert type(unnamed.decide(X).decisions) is np.ndarray


def test_trees_predict_and_decide_frames(frames):
    pytest.importorskip("lightgbm")
    from regretless.trees import CostSensitiveObjective

    _, features, costs = frames
    with pytest.warns(UserWarning, match="validation rows"):
        model = CostSensitiveObjective(PROBLEM, costs).fine_tune_lightgbm(features, rounds=(2, 2))
    array = model.predict(X)
    assert type(array) is np.ndarray
    check_frame(frames, model.predict(features), array, COSTS)
    check_frame(frames, model.decide(features).decisions, PROBLEM.solve_all(array).decisions, COSTS)


def test_predictions_as_frames_can_be_evaluated(frames, model):
    """Predictions as a frame are evaluated like those of an array."""
    _, features, costs = frames
    outcome = rl.evaluate(PROBLEM, model.predict(features), C=costs)
    assert outcome == rl.evaluate(PROBLEM, model.predict(X), C=C) == model.evaluate(features, costs)
