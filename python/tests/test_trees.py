"""Boosted trees that are fine-tuned for decisions."""

import numpy as np
import pytest

import regretless as rl
from regretless.trees import CosObjective, RegretMetric, sizes


def data(rows=300):
    """Features and costs of small paths."""
    features, costs = rl.generate("SP5x5", rows=rows, seed=5)
    return rl.Problem("SP5x5"), features, costs


def test_derivatives_are_those_of_the_loss_in_the_size_of_costs():
    problem, _, costs = data(20)
    for loss in ("MSE", "MSE(O,S)", "MAE(O,S)", "MAE(O)"):
        objective = CosObjective(problem, costs, loss)
        predictions = costs * np.random.default_rng(0).uniform(0.5, 1.5, costs.shape).astype(np.float32)
        gradient, second = objective.derivatives(predictions)
        _, plain = rl.Loss(loss, problem, costs).evaluate(predictions)
        np.testing.assert_allclose(gradient, plain * sizes(loss, costs)[0], rtol=1e-5)
        assert 0.01 < np.abs(gradient).max() / np.abs(costs).mean() < 50, "a gradient of the size of costs"
        assert (second > 0).all()
    squared, curvature = CosObjective(problem, costs, "MSE").derivatives(predictions)
    np.testing.assert_allclose(squared / curvature, predictions - costs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_fine_tuning_lowers_the_training_regret(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    problem, features, costs = data()
    labels = rl.label(problem, costs)
    objective = CosObjective(problem, costs, labels=labels)
    tune = getattr(objective, f"fine_tune_{library}")
    before, after = (tune(features, rounds=(15, rounds)) for rounds in (1, 40))
    regret = [rl.regret(problem, model.predict(features), costs, labels=labels).mean() for model in (before, after)]
    assert regret[1] < 0.9 * regret[0]


def test_regret_is_a_metric_of_xgboost():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    problem, features, costs = data()
    table, rest = xgboost.DMatrix(features[:200], label=costs[:200]), xgboost.DMatrix(features[200:], label=costs[200:])
    told: dict = {}
    settings = {"tree_method": "hist", "num_target": costs.shape[1], "disable_default_eval_metric": 1, "max_depth": 3}
    metric = RegretMetric(problem)
    model = xgboost.train(
        settings, table, 20, evals=[(rest, "rest")], custom_metric=metric.xgboost, evals_result=told, verbose_eval=False
    )
    predictions = model.predict(rest)
    labels = rl.label(problem, costs[200:])
    expected = rl.regret(problem, predictions, costs[200:], labels=labels).sum() / labels.objectives.sum()
    assert told["rest"]["regret"][-1] == pytest.approx(expected, rel=1e-4)
    assert told["rest"]["regret"][-1] < told["rest"]["regret"][0]


def test_regret_is_a_metric_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, features, costs = data(200)
    table = lightgbm.Dataset(features, label=np.zeros(len(costs)), init_score=np.repeat(costs.mean(0)[None], len(costs), 0))
    told: dict = {}
    settings = {"num_class": costs.shape[1], "objective": CosObjective(problem, costs, "MSE").lightgbm, "verbosity": -1}
    metric = RegretMetric(problem, {id(table): costs})
    lightgbm.train(
        settings, table, 10, valid_sets=[table], valid_names=["same"], feval=metric.lightgbm, callbacks=[lightgbm.record_evaluation(told)]
    )
    assert told["same"]["regret"][-1] < told["same"]["regret"][0]


def test_losses_that_solve_are_no_objective():
    problem, _, costs = data(5)
    with pytest.raises(ValueError, match="not 'SPO"):
        CosObjective(problem, costs, "SPO+")
