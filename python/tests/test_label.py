"""Labels: found once, kept in a store, shared between processes."""

import numpy as np
import pytest
import regretless as rl

PROBLEM = rl.Problem("KS10")
X, C = rl.generate("KS10", rows=30, seed=1)


def test_labels_are_the_best_decisions():
    labels, solutions = rl.label(PROBLEM, C), PROBLEM.solve_all(C)
    np.testing.assert_array_equal(labels.decisions, solutions.decisions)
    np.testing.assert_array_equal(labels.objectives, solutions.objectives)
    assert len(labels) == 30 and labels.failed == {}
    assert labels.decisions is labels.decisions


def test_shards_join_into_one_store(tmp_path):
    store = tmp_path / "costs.npy"
    assert rl.label(PROBLEM, C, store=store, shard="1/2") == 15
    assert rl.label(PROBLEM, C, store=store, shard=(2, 2)) == 30
    joined = rl.label(PROBLEM, C, store=store)
    np.testing.assert_array_equal(joined.decisions, rl.label(PROBLEM, C).decisions)
    files = list((tmp_path / "costs.npy.labels").iterdir())
    assert [file.suffix for file in files] == [".safetensors"]
    with pytest.raises(ValueError, match="say where"):
        rl.label(PROBLEM, C, shard="1/2")
    with pytest.raises(ValueError, match="2/7"):
        rl.label(PROBLEM, C, store=store, shard=(3, 2))


def test_a_function_needs_a_name_to_keep_its_labels(tmp_path):
    calls = []

    def cheapest(costs):
        calls.append(1)
        return (costs == costs.min()).astype(float) * (np.arange(len(costs)) == costs.argmin())

    unnamed = rl.Problem.from_callable(cheapest, 10, sense="minimize")
    with pytest.raises(ValueError, match="give it one"):
        rl.label(unnamed, C, store=tmp_path / "c")
    named = rl.Problem.from_callable(cheapest, 10, sense="minimize", name="cheapest")
    first = rl.label(named, C, store=tmp_path / "c")
    assert len(calls) == 30
    again = rl.label(named, C, store=tmp_path / "c")
    assert len(calls) == 30
    np.testing.assert_array_equal(first.decisions, again.decisions)


def test_the_table_may_change_after_it_was_labelled():
    costs = C.copy()
    problem = rl.Problem({"kind": "top_k", "items": 10, "k": 2, "sense": "minimize"})
    labels = rl.label(problem, costs)
    before = labels.objectives
    costs[:] = 0
    np.testing.assert_array_equal(labels.objectives, before)
