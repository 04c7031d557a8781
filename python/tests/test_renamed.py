"""Old keywords are refused with an error that gives the new one."""

import inspect

import numpy as np
import pytest

import regretless as rl
from regretless import _renamed, cluster

PROBLEM = rl.Problem("KS4")
X, C = rl.generate("KS4", instances=20, seed=0)
MODEL, _ = rl.train(PROBLEM, X, C, "MSE", epochs=1)

CALLS = {
    "Loss": lambda **old: rl.Loss(PROBLEM, C, "MSE", **old),
    "Model.decide": lambda **old: MODEL.decide(X, **old),
    "Problem.from_file": lambda **old: rl.Problem.from_file("file.tsp", **old),
    "Problem.solve": lambda **old: PROBLEM.solve(C[0], **old),
    "Problem.solve_all": lambda **old: PROBLEM.solve_all(C, **old),
    "cluster.label": lambda **old: cluster.label(PROBLEM, C, store="s", **old),
    "cluster.map_shards": lambda **old: cluster.map_shards(work=len, shards=1, **old),
    "cluster.sweep": lambda **old: cluster.sweep(PROBLEM, X, C, [{}], folder="f", **old),
    "evaluate": lambda **old: rl.evaluate(PROBLEM, C, C=C, **old),
    "generate": lambda **old: rl.generate("KS4", **old),
    "label": lambda **old: rl.label(PROBLEM, C, **old),
    "regret": lambda **old: rl.regret(PROBLEM, C, C, **old),
    "train": lambda **old: rl.train(PROBLEM, X, C, **old),
}


@pytest.mark.parametrize("function", CALLS)
def test_old_keywords_of_the_core_are_refused_with_the_new_one(function):
    for old, new in _renamed.RENAMED[function].items():
        with pytest.raises(TypeError) as refused:
            CALLS[function](**{old: 1})
        assert str(refused.value) == f"{function}() got '{old}'; it is called '{new}' now"


@pytest.mark.parametrize(
    "old, new",
    [
        ("batch", "batch_size"),
        ("clip_costs", "clip_instance_costs"),
        ("decay", "lr_decay"),
        ("epoch_rows", "rows_per_epoch"),
        ("join_validation", "train_on_validation"),
        ("output_map", "scale_costs"),
        ("rescale", "rescale_loss"),
        ("warm_start", "retrain_from_baseline"),
    ],
)
def test_old_settings_of_train_are_refused_with_the_new_one(old, new):
    with pytest.raises(TypeError, match=rf"train\(\) got '{old}'; it is called '{new}' now"):
        rl.train(PROBLEM, X, C, **{old: 1})


def test_old_kinds_of_problems_are_refused_with_the_new_one():
    with pytest.raises(ValueError, match="'shortest_path' is called 'grid_path' now"):
        rl.Problem({"kind": "shortest_path", "grid": [3, 3]})


@pytest.mark.parametrize("function", sorted(set(CALLS) - {"cluster.map_shards", "train"}))
def test_unknown_keywords_are_refused_as_python_does(function):
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such'|missing"):
        CALLS[function](no_such=1)


def test_adapters_refuse_old_keywords():
    pytest.importorskip("sklearn")
    from regretless.sklearn import DecisionFocusedRegressor
    from regretless.trees import CostSensitiveObjective

    with pytest.raises(TypeError, match="got 'loss'; it is called 'method' now"):
        DecisionFocusedRegressor(PROBLEM, loss="MSE")
    with pytest.raises(TypeError, match="got 'costs'; it is called 'C' now"):
        CostSensitiveObjective(PROBLEM, costs=C)
    with pytest.raises(TypeError, match="got 'features'; it is called 'X' now"):
        CostSensitiveObjective(PROBLEM, C).fine_tune_xgboost(features=X)


def test_torch_refuses_old_keywords():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from regretless.torch import DecisionLayer, DecisionLoss, cost_sensitive_loss

    with pytest.raises(TypeError, match="got 'costs'; it is called 'C' now"):
        DecisionLoss(PROBLEM, costs=C)
    rows = torch.from_numpy(np.asarray(C))
    with pytest.raises(TypeError, match="got 'costs_true'; it is called 'C' now"):
        cost_sensitive_loss(rows, costs_true=rows)
    with pytest.raises(TypeError, match="got 'method'; it is called 'gradient' now"):
        DecisionLayer(PROBLEM, method="DBB")


def test_the_checks_do_not_change_signatures():
    assert list(inspect.signature(cluster.label).parameters)[:3] == ["problem", "C", "backend"]
    for function in (rl.generate, rl.label, rl.evaluate, rl.regret):
        kinds = [p.kind for p in inspect.signature(function).parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds
