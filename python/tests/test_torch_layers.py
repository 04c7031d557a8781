"""Layers for PyTorch: decisions in the middle of a network."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch_tables import table  # noqa: E402

import regretless as rl  # noqa: E402
from regretless.torch import DecisionLayer, DecisionLoss, cost_sensitive_loss  # noqa: E402


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("gradient", ["DBB", "NID", "DPO"])
def test_layers_take_half_precision(gradient, dtype):
    problem = rl.Problem("SP4x4")
    _, costs = rl.generate("SP4x4", instances=6, seed=0)
    predicted = torch.from_numpy(costs).to(dtype).requires_grad_()
    layer = DecisionLayer(problem, gradient=gradient)
    decisions = layer(predicted)
    (decisions * torch.arange(1.0, costs.shape[1] + 1).to(dtype)).sum().backward()
    assert decisions.dtype == predicted.grad.dtype == dtype
    assert bool(predicted.grad.isfinite().all()) and bool((predicted.grad != 0).any())
    rounded = problem.solve_all(predicted.detach().float().numpy()).decisions
    np.testing.assert_array_equal(layer.decide(predicted).float().numpy(), rounded)


def test_layers_work_under_autocast():
    problem = rl.Problem("SP4x4")
    network = torch.nn.Linear(5, problem.num_costs)
    features = torch.randn(6, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        decisions = DecisionLayer(problem)(network(features))
        decisions.sum().backward()
    assert decisions.dtype == torch.bfloat16
    assert network.weight.grad.dtype == torch.float32


@pytest.mark.parametrize(
    "settings, word",
    [
        ({"width": width}, "width is a finite number above 0")
        for width in (0, -1.0, float("nan"), float("inf"))
    ]
    + [
        ({"samples": samples}, "samples is an integer of at least 1")
        for samples in (0, -2, 1.5, True)
    ],
)
@pytest.mark.parametrize("gradient", ["DBB", "NID", "DPO"])
def test_layers_refuse_invalid_settings(gradient, settings, word):
    with pytest.raises(ValueError, match=word):
        DecisionLayer(rl.Problem("SP5x5"), gradient, **settings)


@pytest.mark.parametrize("problem_name", ["SP5x5", "KS32"])
@pytest.mark.parametrize("method", ["DBB", "NID"])
def test_a_layer_under_the_true_costs_has_the_gradient_of_its_loss(problem_name, method):
    problem, costs, labels, predictions = table(problem_name)
    predictions = predictions.requires_grad_()
    sign = 1.0 if problem.sense == "minimize" else -1.0
    decisions = DecisionLayer(problem, method)(predictions)
    (sign * decisions * torch.from_numpy(costs)).sum().backward()
    _, gradients = rl.Loss(problem, costs, method, labels=labels).evaluate(
        predictions.detach().numpy()
    )
    np.testing.assert_allclose(predictions.grad.numpy(), gradients, rtol=1e-5, atol=1e-5)


def test_the_perturbed_layer_has_the_slope_of_its_mean_decision():
    # The better of two items is chosen with probability Φ((c0 − c1)/(σ√2)): a known slope.
    problem = rl.Problem(
        {"kind": "top_k", "items": 2, "k": 1, "at_most": False, "sense": "maximize"}
    )
    layer = DecisionLayer(problem, "DPO", width=1.0, samples=40_000)
    costs = torch.tensor([[1.0, 0.5]], requires_grad=True)
    chosen = layer(costs)[0, 0]
    chosen.backward()
    normal = torch.distributions.Normal(0.0, 2.0**0.5)
    assert abs(float(chosen.detach()) - float(normal.cdf(torch.tensor(0.5)))) < 0.01
    density = float(normal.log_prob(torch.tensor(0.5)).exp())
    assert costs.grad[0].tolist() == pytest.approx([density, -density], abs=0.02)


def test_the_same_seed_draws_the_same_noise():
    problem, costs, _, predictions = table("SP5x5", rows=2)
    first, second = (DecisionLayer(problem, "DPO", seed=7)(predictions) for _ in range(2))
    assert torch.equal(first, second)
    layer = DecisionLayer(problem, "DPO", seed=7, width=5.0)
    assert not torch.equal(layer(predictions), layer(predictions))


@pytest.mark.parametrize("gradient", ["DBB", "DPO"])
def test_second_derivatives_of_a_layer_are_refused(gradient):
    problem, costs, _, predictions = table("KS8")
    layer = DecisionLayer(problem, gradient)
    weight = torch.ones(costs.shape[1], requires_grad=True)
    value = (layer(predictions * weight) * torch.from_numpy(costs)).sum()
    (found,) = torch.autograd.grad(value, weight, create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        found.square().sum().backward()


def test_layers_and_losses_without_a_problem_refuse_predicted_quantities():
    problem = rl.Problem.newsvendor([3, 4], [1, 2])
    with pytest.raises(ValueError, match="DecisionLoss with MAE"):
        DecisionLayer(problem)
    demands = torch.tensor([[5.0, 4.0], [3.0, 2.0]])
    with pytest.raises(ValueError, match="regretless.torch.DecisionLoss"):
        cost_sensitive_loss(demands, demands, loss="MAE(D(0.5))")
    predicted = (demands - 1).requires_grad_()
    value = DecisionLoss(problem, demands.numpy(), "MAE(D)")(predicted, torch.arange(2))
    value.backward()
    # Without a capacity a unit short costs its margin: (3 + 4) / 2.
    assert float(value.detach()) == pytest.approx(3.5) and bool((predicted.grad < 0).all())
