"""Losses and layers for PyTorch."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch_tables import table  # noqa: E402

import regretless as rl  # noqa: E402
from regretless.torch import DecisionLayer, DecisionLoss, cost_sensitive_loss  # noqa: E402

NAMES = [
    "MSE",
    "MAE",
    "MSE(O)",
    "MAE(O)",
    "MSE(S)",
    "MAE(S)",
    "MSE(O,S)",
    "MAE(O,S)",
    "MSE(tau=0.3)",
    "MAE(tau=0.3,S)",
]


@pytest.mark.parametrize("problem_name", ["SP5x5", "KS32"])
@pytest.mark.parametrize("loss", NAMES)
def test_torch_operations_give_the_value_and_gradient_of_rust(problem_name, loss):
    problem, costs, labels, predictions = table(problem_name)
    rust_input, torch_input = (
        predictions.clone().requires_grad_(),
        predictions.clone().requires_grad_(),
    )
    value = DecisionLoss(problem, costs, loss, labels=labels)(rust_input, torch.arange(len(costs)))
    best = torch.from_numpy(np.asarray(labels.decisions))
    other = cost_sensitive_loss(
        torch_input, torch.from_numpy(costs), best, loss=loss, sense=problem.sense
    )
    value.backward()
    other.backward()
    torch.testing.assert_close(value, other, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(
        rust_input.grad,
        torch_input.grad,
        rtol=1e-4,
        atol=1e-5 * float(torch_input.grad.abs().max()),
    )


def test_torch_operations_have_the_precision_of_their_tensors():
    costs = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    for shift, weight in ((1.0, 0.7), (-1.0, 0.3)):
        value = cost_sensitive_loss(costs + shift, costs, None, loss="MAE(tau=0.3)")
        assert value.dtype == torch.float64
        assert abs(float(value) - weight) < 1e-15


@pytest.mark.parametrize("loss", ["SPO+", "PFYL", "DBB", "PG", "MAE(O_S,S)", "MSE(O,E)"])
def test_every_loss_is_a_module_whose_gradient_is_that_of_rust(loss):
    problem, costs, labels, predictions = table("SP5x5", rows=4)
    predictions = predictions.requires_grad_()
    module = DecisionLoss(problem, costs, loss, labels=labels, reduction="sum")
    module(predictions, torch.tensor([2, 0, 1, 3])).backward()
    _, gradients = rl.Loss(problem, costs, loss, labels=labels).evaluate(
        predictions.detach().numpy(), rows=np.array([2, 0, 1, 3])
    )
    np.testing.assert_allclose(predictions.grad.numpy(), gradients, rtol=1e-5, atol=1e-7)


def test_double_precision_returns_double_precision():
    problem, costs, labels, predictions = table("KS32", rows=4)
    single, double = predictions.clone().requires_grad_(), predictions.double().requires_grad_()
    module = DecisionLoss(problem, costs, "SPO+", labels=labels)
    module(single, torch.arange(4)).backward()
    value = module(double, torch.arange(4))
    value.backward()
    assert value.dtype == double.grad.dtype == torch.float64
    torch.testing.assert_close(double.grad.float(), single.grad)


def test_half_precision_comes_back_in_half_precision():
    problem, costs, labels, predictions = table("SP5x5", rows=4)
    half = predictions.bfloat16().requires_grad_()
    value = DecisionLoss(problem, costs, "SPO+", labels=labels)(half, torch.arange(4))
    value.backward()
    assert value.dtype == half.grad.dtype == torch.bfloat16 and bool((half.grad != 0).any())


def test_noise_follows_the_epoch_and_nothing_else():
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    module = DecisionLoss(problem, costs, "PFYL", labels=labels)
    values = []
    for epoch in (0, 1, 0):
        module.begin_epoch(epoch)
        values.append(float(module(predictions, torch.arange(3))))
    assert values[0] == values[2] != values[1]


def test_tensors_of_other_dimensions_are_refused_by_their_name():
    problem, costs, labels, predictions = table("SP5x5", rows=4)
    layer = DecisionLayer(problem)
    message = r"costs has 1 dimension and needs 2: rows, columns; for a single row: costs.uns"
    for call in (layer, layer.decide):
        with pytest.raises(ValueError, match=message):
            call(predictions[0])
        with pytest.raises(ValueError, match="costs has 3 dimensions and needs 2"):
            call(predictions[None])
    with pytest.raises(ValueError, match="C has 1 dimension and needs 2"):
        DecisionLoss(problem, costs[0], "MSE")
    decisions = np.asarray(labels.decisions)
    with pytest.raises(ValueError, match="labels has 1 dimension and needs 2"):
        DecisionLoss(problem, costs, "MSE", labels=decisions[0])
    with pytest.raises(ValueError, match="labels has 1 dimension and needs 2"):
        DecisionLoss(problem, loss="MSE")(predictions, torch.from_numpy(costs), decisions[0])


@pytest.mark.parametrize(
    "change, word",
    [
        ({"sense": "max"}, "sense is 'minimize' or 'maximize', not 'max'"),
        ({"sense": "Maximize"}, "not 'Maximize'"),
        ({"reduction": "avg"}, "'sum' or 'none', not 'avg'"),
        ({"decisions": torch.ones(1, 2)}, r"decisions must have the shape \(3, 2\)"),
        ({"decisions": torch.ones(2)}, r"decisions must have the shape \(3, 2\)"),
        ({"C": torch.ones(1, 2)}, r"C must have the shape \(3, 2\)"),
        ({"weights": torch.ones(3, 1)}, r"weights must have the shape \(3,\)"),
        ({"weights": torch.ones(1)}, r"weights must have the shape \(3,\)"),
        ({"loss": "MAE(O)"}, "which the loss does not have"),
        ({"loss": "MAE(tau=2,C)"}, "tau is a number from 0 to 1"),
        ({"loss": "MAE(tau=nan,C)"}, "tau is a number from 0 to 1"),
    ],
)
def test_torch_operations_refuse_tensors_that_would_be_broadcast(change, word):
    right = {
        "C": torch.ones(3, 2),
        "decisions": torch.ones(3, 2),
        "weights": torch.ones(3),
        "loss": "MAE(O,C)",
        "sense": "minimize",
    }
    cost_sensitive_loss(torch.ones(3, 2), **right)
    with pytest.raises(ValueError, match=word):
        cost_sensitive_loss(torch.ones(3, 2), **{**right, **change})


def test_a_tensor_on_the_cpu_is_read_in_place():
    from regretless.torch import numpy_view

    tensor = torch.ones(3, 4, requires_grad=True)
    assert numpy_view(tensor).__array_interface__["data"][0] == tensor.data_ptr()


def test_training_with_spo_plus_lowers_the_regret():
    problem = rl.Problem("SP5x5")
    features, costs = rl.generate("SP5x5", instances=120, seed=2)
    labels, inputs = rl.label(problem, costs), torch.from_numpy(features)
    torch.manual_seed(0)
    model = torch.nn.Linear(features.shape[1], costs.shape[1])
    before = rl.regret(problem, model(inputs).detach().numpy(), costs, labels=labels).mean()
    loss, optimizer = (
        DecisionLoss(problem, costs, "SPO+", labels=labels),
        torch.optim.Adam(model.parameters(), lr=0.05),
    )
    for _ in range(60):
        optimizer.zero_grad()
        loss(model(inputs), torch.arange(len(costs))).backward()
        optimizer.step()
    after = rl.regret(problem, model(inputs).detach().numpy(), costs, labels=labels).mean()
    assert after < before / 2


@pytest.mark.parametrize(
    "name, word",
    [
        ("SPO+", r"such as MAE\(O,S\)"),
        ("MAE(O_S)", r"such as MAE\(O,S\)"),
        ("MAE(O,E)", "use regretless.torch.DecisionLoss"),
        ("MAE(W(0.5))", r"such as MAE\(O,S\)"),
        ("MAE(O,S) lr 0.1", r"such as MAE\(O,S\)"),
        ("MAE(Q)", "'Q'"),
        ("MAE(O,tau=0.2)", "contradicts another component"),
    ],
)
def test_names_without_torch_operations_are_refused(name, word):
    with pytest.raises(ValueError, match=word):
        cost_sensitive_loss(torch.ones(1, 2), torch.ones(1, 2), loss=name)


def test_double_precision_is_preserved():
    problem = rl.Problem({"kind": "top_k", "items": 2, "k": 1, "sense": "minimize"})
    table = np.array([[0.1, 0.7], [0.3, 0.2]])
    loss = DecisionLoss(problem, table, "MAE")
    exact = torch.tensor(table, requires_grad=True)
    loss(exact, torch.arange(2)).backward()
    assert exact.grad.dtype == torch.float64 and float(exact.grad.abs().max()) == 0
    # Rows are found by their costs in either precision.
    for kind in (torch.float32, torch.float64):
        predictions = torch.tensor(table, dtype=kind, requires_grad=True)
        loss(predictions, torch.tensor(table, dtype=kind)).backward()
        assert float(predictions.grad.abs().max()) == 0
    assert len(loss.rows.blocks) == 1


def test_losses_that_a_problem_cannot_serve_are_refused_when_they_are_built():
    def solve(costs):
        raise AssertionError("called, though the loss is refused")

    problem = rl.Problem.from_solver(solve, 4, sense="minimize")
    costs = np.ones((3, 4))
    for name in ("CaVE", "CaVE+", "LAVA", "MSE(O_S)", "SPO+ relax"):
        for given in (costs, None):
            with pytest.raises(ValueError, match="use|leave out"):
                DecisionLoss(problem, given, name)


def test_component_o_needs_the_sense():
    right = {"C": torch.ones(3, 2), "decisions": torch.ones(3, 2)}
    with pytest.raises(TypeError, match=r"O of 'MAE\(O,S\)'.*pass sense=problem.sense"):
        cost_sensitive_loss(torch.ones(3, 2), **right)
    cost_sensitive_loss(torch.ones(3, 2), torch.ones(3, 2), loss="MAE(S)")


def test_a_module_has_seed_threads_and_a_factor():
    problem, costs, labels, predictions = table("SP5x5")
    rows = torch.arange(len(costs))

    def value(name, **settings):
        return DecisionLoss(problem, costs, name, labels=labels, **settings)(predictions, rows)

    assert value("PFYL") == value("PFYL", seed=0, threads=1)
    assert value("PFYL") != value("PFYL", seed=1)
    factor = rl.Loss(problem, costs, "MAE(O,S)", labels=labels)._rescaling()
    assert factor > 10
    torch.testing.assert_close(
        value("MAE(O,S)", rescale_loss=True), factor * value("MAE(O,S)"), rtol=1e-5, atol=0.0
    )
    later = DecisionLoss(problem, loss="MAE(O,S)", rescale_loss=True)
    given = torch.from_numpy(costs)
    later(predictions[:6], given[:6])
    inputs = predictions.clone().requires_grad_()
    later(inputs, given).backward()
    assert inputs.grad.abs().max() > 0.01


def test_the_gradient_of_a_loss_of_ones_own_is_checked():
    problem, costs, labels, _ = table("SP5x5")

    @rl.loss(name="turned-for-torch")
    def turned(predicted, true):
        error = predicted - true
        return (error**2).mean(axis=1), -2 * error

    with pytest.raises(ValueError, match="turned-for-torch"):
        DecisionLoss(problem, costs, turned, labels=labels)


@pytest.mark.parametrize("loss", ["MAE(O,S)", "SPO+", "MSE"])
def test_second_derivatives_of_a_module_are_refused(loss):
    problem, costs, labels, predictions = table("KS8")
    module = DecisionLoss(problem, costs, loss, labels=labels)
    # The weight makes the gradient depend on something that requires a gradient in other ways, too.
    weight = torch.ones(costs.shape[1], requires_grad=True)
    value = module(predictions * weight, torch.arange(len(costs)))
    (gradient,) = torch.autograd.grad(value, weight, create_graph=True)
    with pytest.raises(RuntimeError, match="cost_sensitive_loss"):
        gradient.square().sum().backward()
    # Without a graph, and with one that nothing is differentiated through, all is as before.
    value = module(predictions * weight, torch.arange(len(costs)))
    (again,) = torch.autograd.grad(value, weight)
    torch.testing.assert_close(gradient.detach(), again)


def test_second_derivatives_of_torch_operations_are_those_of_differences():
    generator = torch.Generator().manual_seed(0)
    predictions = torch.rand(4, 5, generator=generator, dtype=torch.float64)
    costs = torch.rand(4, 5, generator=generator, dtype=torch.float64)
    predictions[1] = 0.0

    def value(given):
        return cost_sensitive_loss(given, costs, loss="MSE(S)", reduction="sum")

    others = predictions[[0, 2, 3]].clone().requires_grad_()
    assert torch.autograd.gradgradcheck(
        lambda rows: cost_sensitive_loss(rows, costs[[0, 2, 3]], loss="MSE(S)"), others
    )
    # The gradient of a row of zeros is chosen, not the slope of the value: it must be finite.
    given = predictions.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value(given), given, create_graph=True)
    (second,) = torch.autograd.grad(gradient.square().sum(), given)
    assert torch.isfinite(second).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("loss", [name for name in NAMES if "S" in name[3:]])
def test_predictions_of_norm_zero_have_the_gradient_of_rust(loss, dtype):
    problem, costs, labels, predictions = table("KS8")
    predictions = predictions.to(dtype)
    predictions[0], predictions[2], predictions[5] = 0.0, 1e-14, -1e-13
    values, gradients = rl.Loss(problem, costs, loss, labels=labels).evaluate(predictions.numpy())
    given = predictions.clone().requires_grad_()
    found = cost_sensitive_loss(
        given,
        torch.from_numpy(costs).to(dtype),
        torch.from_numpy(np.asarray(labels.decisions)),
        loss=loss,
        sense=problem.sense,
        reduction="none",
    )
    found.sum().backward()
    np.testing.assert_allclose(found.detach().numpy(), values, rtol=2e-5, atol=1e-7)
    scale = np.abs(gradients).max(axis=1, keepdims=True)
    np.testing.assert_allclose(given.grad.numpy() / scale, gradients / scale, rtol=1e-3, atol=1e-4)
    assert np.abs(given.grad.numpy()).max() < 1.0


def test_costs_that_the_equalities_absorb_have_a_finite_gradient():
    problem, costs, labels, predictions = table("SP5x5")
    # Costs that are differences of node potentials change no decision: E projects them to zero.
    arcs = rl.Problem("SP5x5").num_costs
    predictions = predictions.double()
    predictions[0] = 0.0
    predictions[1] = 3.0  # every path of the grid has the same number of arcs
    values, gradients = rl.Loss(problem, costs, "MAE(O,E)", labels=labels).evaluate(
        predictions.numpy()
    )
    given = predictions.clone().requires_grad_()
    module = DecisionLoss(problem, costs, "MAE(O,E)", labels=labels, reduction="none")
    found = module(given, torch.arange(len(costs)))
    found.sum().backward()
    np.testing.assert_allclose(found.detach().numpy(), values, rtol=1e-12)
    np.testing.assert_allclose(given.grad.numpy(), gradients, rtol=1e-12)
    assert gradients.shape == (len(costs), arcs)
    assert 0.0 < np.abs(gradients[:2]).max() < 1.0


def test_predictions_that_are_no_floating_point_tensor_are_refused():
    problem, costs, labels, predictions = table("KS8")
    rows = torch.arange(len(costs))
    module = DecisionLoss(problem, costs, "SPO+", labels=labels)
    with pytest.raises(TypeError, match=r"predictions must be floating-point .*int64.*\.float\(\)"):
        module(predictions.long(), rows)
    with pytest.raises(TypeError, match="must be a torch tensor, not ndarray"):
        module(predictions.numpy(), rows)
    true = torch.from_numpy(costs)
    with pytest.raises(TypeError, match="floating-point"):
        cost_sensitive_loss(predictions.long(), true, loss="MSE")
    with pytest.raises(TypeError, match="must be a torch tensor, not ndarray"):
        cost_sensitive_loss(predictions.numpy(), true, loss="MSE")
    for gradient in ("DBB", "NID", "DPO"):
        with pytest.raises(TypeError, match="costs must be floating-point"):
            DecisionLayer(problem, gradient)(predictions.long())


def first_batch_warning(loss, predicted, costs):
    """Return what a module says of its first batch, and that it says it once."""
    module = DecisionLoss(rl.Problem("KS12"), costs, loss)
    found = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(predicted, torch.arange(len(costs)))
        found.append([str(warning.message) for warning in caught])
    assert not found[1]
    return found[0][0] if found[0] else None


@pytest.mark.parametrize("loss", ["SPO+", "MSE", "MAE(O,S)", "CaVE"])
def test_an_untrained_network_that_predicts_costs_without_their_scale_is_noticed(loss):
    features, costs = rl.generate("KS12", instances=40, seed=0)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(5, 32), torch.nn.ReLU(), torch.nn.Linear(32, costs.shape[1])
    )
    outputs = network(torch.from_numpy(features))
    mean, deviation = torch.from_numpy(costs.mean(axis=0)), torch.from_numpy(costs.std(axis=0))
    warning = first_batch_warning(loss, outputs, costs)
    assert "mean + deviation · output" in warning
    assert ("cosine" in warning) == (loss in ("MAE(O,S)", "CaVE"))
    assert first_batch_warning(loss, mean + deviation * outputs, costs) is None
    if loss in ("SPO+", "MSE"):
        assert "mean size" in first_batch_warning(loss, 1000 * (mean + outputs), costs)


def test_costs_without_a_common_direction_or_scale_give_no_warning_about_it():
    costs = np.random.default_rng(0).normal(size=(40, 12)).astype(np.float32)
    random = torch.randn(40, 12, generator=torch.Generator().manual_seed(0))
    for loss in ("SPO+", "MAE(O,S)"):
        assert first_batch_warning(loss, random, costs) is None
    module = DecisionLoss(rl.Problem("KS12"), costs, "SPO+").eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module(random / 1000, torch.arange(40))


def test_torch_operations_notice_predictions_without_the_scale_of_costs_once():
    costs = torch.full((4, 7), 50.0)
    predicted = torch.full((4, 7), 0.5, requires_grad=True)
    with pytest.warns(UserWarning, match="mean size 0.5, its costs 50"):
        cost_sensitive_loss(predicted, costs, loss="MAE")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cost_sensitive_loss(predicted, costs, loss="MAE")
