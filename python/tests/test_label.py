"""Labels: found once, kept in a store, shared between processes."""

import numpy as np
import pytest

import regretless as rl

PROBLEM = rl.Problem("KS10")
X, C = rl.generate("KS10", instances=30, seed=1)


def test_labels_are_the_optimal_decisions():
    labels, solutions = rl.label(PROBLEM, C), PROBLEM.solve_all(C)
    np.testing.assert_array_equal(labels.decisions, solutions.decisions)
    np.testing.assert_array_equal(labels.objectives, solutions.objectives)
    assert len(labels) == 30 and labels.failed == {}
    assert labels.decisions is labels.decisions


def test_shards_join_into_one_store(tmp_path):
    store = tmp_path / "costs.npy"
    # Rows with equal costs belong to the shard of the first of them.
    first_rows = [(C == row).all(axis=1).argmax() for row in C]
    known = sum(row % 2 == 0 for row in first_rows)
    assert rl.label(PROBLEM, C, store=store, shard="1/2") == known < 30
    assert rl.label(PROBLEM, C, store=store, shard=(2, 2)) == 30
    joined = rl.label(PROBLEM, C, store=store)
    np.testing.assert_array_equal(joined.decisions, rl.label(PROBLEM, C).decisions)
    files = list((tmp_path / "costs.npy.labels").iterdir())
    assert [file.suffix for file in files] == [".safetensors"]
    with pytest.raises(ValueError, match="give its path"):
        rl.label(PROBLEM, C, shard="1/2")
    with pytest.raises(ValueError, match="2/7"):
        rl.label(PROBLEM, C, store=store, shard=(3, 2))


def test_a_function_needs_a_name_to_store_its_labels(tmp_path):
    calls = []

    def cheapest(costs):
        calls.append(1)
        return (costs == costs.min()).astype(float) * (np.arange(len(costs)) == costs.argmin())

    unnamed = rl.Problem.from_solver(cheapest, 10, sense="minimize")
    with pytest.raises(ValueError, match="give it one"):
        rl.label(unnamed, C, store=tmp_path / "c")
    named = rl.Problem.from_solver(cheapest, 10, sense="minimize", name="cheapest")
    first = rl.label(named, C, store=tmp_path / "c")
    # Rows with equal costs are solved once, and the first row three more times by each call.
    distinct = len(np.unique(C, axis=0))
    assert len(calls) == distinct + 3
    again = rl.label(named, C, store=tmp_path / "c")
    assert len(calls) == distinct + 6
    np.testing.assert_array_equal(first.decisions, again.decisions)


def test_the_table_may_change_after_it_was_labeled():
    costs = C.copy()
    problem = rl.Problem({"kind": "top_k", "items": 10, "k": 2, "sense": "minimize"})
    labels = rl.label(problem, costs)
    before = labels.objectives
    costs[:] = 0
    np.testing.assert_array_equal(labels.objectives, before)


def test_labels_of_another_problem_are_refused():
    costs = np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 2.0]] * 10)
    one = rl.Problem({"kind": "top_k", "items": 3, "k": 1, "sense": "maximize"})
    other = rl.Problem({"kind": "top_k", "items": 3, "k": 2, "sense": "maximize"})
    labels = rl.label(one, costs)
    assert rl.evaluate(one, costs, C=costs, labels=labels).regret == pytest.approx(0.0)
    for call in (
        lambda: rl.evaluate(other, costs, C=costs, labels=labels),
        lambda: rl.train(other, costs, costs, labels=labels),
        lambda: rl.Loss(other, costs, "SPO+", labels=labels),
    ):
        with pytest.raises(ValueError, match="optimal decisions of another problem"):
            call()


def test_labels_of_another_function_are_refused():
    costs = np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 2.0]] * 10)
    expensive = rl.Problem.from_solver(lambda c: np.arange(3) == np.argmax(c), 3, sense="minimize")
    cheap = rl.Problem.from_solver(lambda c: np.arange(3) == np.argmin(c), 3, sense="minimize")
    with pytest.raises(ValueError, match="optimal decisions of another problem"):
        rl.evaluate(cheap, costs, C=costs, labels=rl.label(expensive, costs))
    assert rl.evaluate(cheap, costs, C=costs, labels=rl.label(cheap, costs)).regret == 0.0


def test_labels_of_costs_that_differ_beyond_single_precision_are_refused():
    problem = rl.Problem({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize"})
    costs = 1e9 + np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 2.0]])
    labels = rl.label(problem, costs)
    with pytest.raises(ValueError, match="other costs: row 0"):
        rl.evaluate(problem, costs, C=costs[::-1], labels=labels)


def test_costs_that_are_equal_in_single_precision_raise_a_warning():
    problem = rl.Problem({"kind": "top_k", "items": 30, "k": 1, "sense": "minimize"})
    features = np.random.default_rng(0).random((40, 2))
    costs = 1e9 + np.arange(30.0) * np.ones((40, 1))
    with pytest.warns(UserWarning, match="single precision"):
        rl.train(problem, features, costs, method="MAE(O,S)", epochs=1, split=(20, 10, 10))


def test_known_decisions_of_a_problem_with_known_costs_are_refused():
    # One unit, from a column whose cost is predicted or from one that costs 10.
    arrays = {"sense": "minimize", "relations": "=", "upper": 1, "integer": True}
    problem = rl.Problem.from_arrays([[1, 1]], [1], costs=[0], known_costs=[0, 10], **arrays)
    with pytest.raises(ValueError, match="regretless.label"):
        rl.Labels.from_decisions(problem, [[20.0]], [[0.0]])
    assert rl.label(problem, [[20.0]]).objectives[0] == 10.0
    plain = rl.Problem.from_arrays([[1, 1]], [1], **arrays)
    labels = rl.Labels.from_decisions(plain, [[3.0, 4.0]], [[1.0, 0.0]])
    assert rl.evaluate(plain, [[3.0, 4.0]], C=[[3.0, 4.0]], labels=labels).regret == 0.0


def test_rows_in_another_order_and_rows_of_two_parts_are_refused():
    pandas = pytest.importorskip("pandas")
    problem = rl.Problem({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize"})
    days = pandas.date_range("2026-01-01", periods=30)
    X = pandas.DataFrame({"f": np.arange(30.0)}, index=days)
    C = pandas.DataFrame(np.random.default_rng(0).random((30, 3)), index=days[::-1])
    for call in (
        lambda: rl.train(problem, X, C),
        lambda: rl.evaluate(problem, C.loc[days], C=C),
        lambda: rl.regret(problem, C.loc[days], C),
    ):
        with pytest.raises(ValueError, match="same row labels in a different order"):
            call()
    rl.train(problem, X, C.loc[days], method="MAE(O,S)", epochs=1)
    with pytest.raises(ValueError, match="row 9 is among the rows for training and test"):
        rl.train(
            problem,
            X.to_numpy(),
            C.to_numpy(),
            split=(range(10), range(10, 20), range(9, 30)),
            method="MAE(O,S)",
            epochs=1,
        )


def test_labels_of_some_rows_belong_to_these_rows_of_the_costs():
    labels = rl.label(PROBLEM, C)
    mask = C[:, 0] > np.median(C[:, 0])
    for rows in (slice(5, 25, 3), [3, -1, 7], np.arange(10), mask):
        some = labels[rows]
        np.testing.assert_array_equal(some.decisions, labels.decisions[rows])
        np.testing.assert_array_equal(some.objectives, labels.objectives[rows])
        assert rl.evaluate(PROBLEM, C[rows], C=C[rows], labels=some).regret == 0
    with pytest.raises(ValueError, match="costs"):
        rl.evaluate(PROBLEM, C[:5], C=C[:5], labels=labels[5:10])
    with pytest.raises(IndexError, match="row 30 does not exist; there are 30"):
        labels[[30]]
    for wrong in (3, [0.5], "a", mask[:-1]):
        with pytest.raises(TypeError, match="a slice, an array of row numbers"):
            labels[wrong]


def test_labels_of_some_rows_keep_missing_decisions_and_the_index():
    pandas = pytest.importorskip("pandas")

    def solve(costs):
        return None if costs[0] > 5 else np.arange(3) == np.argmin(costs)

    problem = rl.Problem.from_solver(solve, 3, sense="minimize")
    costs = pandas.DataFrame(
        [[1, 2, 3], [9, 2, 3], [4, 1, 2], [8, 1, 1]], columns=list("abc"), index=list("wxyz")
    )
    with pytest.warns(UserWarning, match="2 of the rows have no decision"):
        labels = rl.label(problem, costs)
    some = labels[[3, 2, 0]]
    assert some.failed == {0: "infeasible"}
    assert list(some.decisions.index) == ["z", "y", "w"]
    assert np.isnan(some.objectives[0]) and some.objectives[1:].tolist() == [1, 1]
    assert rl.regret(problem, costs.iloc[[3, 2, 0]], costs.iloc[[3, 2, 0]], labels=some).sum() == 0
