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
    estimator = DecisionFocusedRegressor(PROBLEM, epochs=2, random_state=0).fit(features, costs)
    assert type(estimator.predict(features)) is np.ndarray
    array = PROBLEM.solve_all(estimator.predict(features)).decisions
    check_frame(frames, estimator.decide(features).decisions, array, COSTS)
    unnamed = DecisionFocusedRegressor(PROBLEM, epochs=2, random_state=0).fit(X, C)
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
