"""Losses and layers for PyTorch."""

import copy
import pickle
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

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


def table(name: str, rows: int = 12):
    """A problem, true costs, labels, and predictions that are wrong."""
    problem = rl.Problem(name)
    _, costs = rl.generate(name, instances=rows, seed=1)
    predictions = torch.from_numpy(
        costs * np.random.default_rng(3).uniform(0.5, 1.5, costs.shape).astype(np.float32)
    )
    return problem, costs, rl.label(problem, costs), predictions


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


def batches_of(loss, predicted, epoch):
    """Return the losses of one epoch of three batches."""
    loss.begin_epoch(epoch)
    rows = torch.randperm(30, generator=torch.Generator().manual_seed(epoch)).split(10)
    return [float(loss(predicted[part] + 0.1 * epoch, part)) for part in rows]


COPIED = ["MAE(O,S)", "SPO+", "PFYL", "MAP", "SPO+ cache 30%", "NCE cache 50%"]


@pytest.mark.parametrize("name", COPIED)
def test_a_loop_that_resumes_from_a_checkpoint_gets_the_same_values(name, tmp_path):
    problem = rl.Problem("SP4x4")
    _, costs = rl.generate("SP4x4", instances=30, seed=0)
    predicted = torch.from_numpy(costs[::-1].copy())
    loss = DecisionLoss(problem, costs, name, seed=3)
    for epoch in range(2):
        batches_of(loss, predicted, epoch)
    torch.save(loss.state_dict(), tmp_path / "checkpoint.pt")
    expected = batches_of(loss, predicted, 2)
    resumed = DecisionLoss(problem, costs, name, seed=3)
    resumed.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True))
    assert resumed.epoch == 1
    assert batches_of(resumed, predicted, 2) == expected


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda loss: pickle.loads(pickle.dumps(loss))])
@pytest.mark.parametrize("name", COPIED)
def test_modules_are_copied_and_pickled_with_their_rows_and_pools(name, twin_of):
    problem = rl.Problem("KS12")
    _, costs = rl.generate("KS12", instances=30, seed=0)
    _, others = rl.generate("KS12", instances=4, seed=1)
    predicted = torch.from_numpy(costs[::-1].copy())
    loss = DecisionLoss(problem, costs, name, seed=3, weights=np.arange(1.0, 31.0))
    batches_of(loss, predicted, 0)
    twin = twin_of(loss)
    assert batches_of(twin, predicted, 1) == batches_of(loss, predicted, 1)
    # The copies train apart from each other, and rows that join later come with them.
    plain = DecisionLoss(problem, costs, name, seed=3)
    batches_of(plain, predicted, 0)
    given = DecisionLoss(problem, costs, name, labels=rl.label(problem, costs), seed=3)
    for original in (plain, given):
        original(torch.from_numpy(others[::-1].copy()), torch.from_numpy(others))
        pool, batch = original.rows.pool_state(), original.batch
        twin = twin_of(original)
        batches_of(twin, predicted, 5)
        assert (original.rows.pool_state(), original.batch) == (pool, batch)
        again = twin_of(original)
        assert batches_of(again, predicted, 6) == batches_of(original, predicted, 6)


def test_given_labels_that_are_no_whole_numbers_are_copied_and_not_pickled():
    problem = rl.Problem.from_arrays(np.ones((1, 2)), [1.0], sense="maximize", upper=0.3)
    costs = np.array([[1.0, 2.0], [2.0, 1.0]])
    loss = DecisionLoss(problem, costs, "SPO+", labels=rl.label(problem, costs))
    predicted = torch.tensor([[3.0, 1.0], [1.0, 1.0]])
    twin = copy.deepcopy(loss)
    assert float(twin(predicted, torch.arange(2))) == float(loss(predicted, torch.arange(2)))
    with pytest.raises(TypeError, match="leave labels out, .* or use copy.deepcopy"):
        pickle.dumps(loss)


def test_rows_are_found_by_their_costs_and_labeled_once(monkeypatch):
    problem, costs, labels, predictions = table("SP5x5")
    solved = []
    from regretless.tables import rows as _rows

    real = _rows.label

    def counted(problem, new, **settings):
        solved.append(len(new))
        return real(problem, new, **settings)

    monkeypatch.setattr(_rows, "label", counted)
    module = DecisionLoss(problem, loss="SPO+", reduction="none")
    by_row = DecisionLoss(problem, costs, "SPO+", labels=labels, reduction="none")(
        predictions, torch.arange(12)
    )
    true = torch.from_numpy(costs)
    for _ in range(2):
        for batch in (slice(0, 5), slice(3, 12)):
            torch.testing.assert_close(module(predictions[batch], true[batch]), by_row[batch])
    assert solved == [5, 7]
    mixed = torch.tensor([11, 0, 6, 0])
    torch.testing.assert_close(module(predictions[mixed], true[mixed]), by_row[mixed])
    assert solved == [5, 7]


def test_known_decisions_are_not_solved_again(monkeypatch):
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    from regretless.tables import rows as _rows

    monkeypatch.setattr(
        _rows, "label", lambda *_: pytest.fail("solved although the decisions were given")
    )
    module = DecisionLoss(problem, loss="MAE(O,S)")
    value = module(
        predictions, torch.from_numpy(costs), torch.from_numpy(np.asarray(labels.decisions))
    )
    assert value == DecisionLoss(problem, costs, "MAE(O,S)", labels=labels)(
        predictions, torch.arange(3)
    )


def test_noise_follows_the_epoch_and_nothing_else():
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    module = DecisionLoss(problem, costs, "PFYL", labels=labels)
    values = []
    for epoch in (0, 1, 0):
        module.begin_epoch(epoch)
        values.append(float(module(predictions, torch.arange(3))))
    assert values[0] == values[2] != values[1]


def test_weights_multiply_the_loss_of_their_rows():
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    weights = torch.tensor([1.0, 2.0, 4.0])
    plain = DecisionLoss(problem, costs, "MAE(O)", labels=labels, reduction="none")(
        predictions, torch.arange(3)
    )
    weighted = DecisionLoss(problem, costs, "MAE(O)", labels=labels, weights=weights)(
        predictions, torch.arange(3)
    )
    torch.testing.assert_close(weighted, (plain * weights).mean())
    best = torch.from_numpy(np.asarray(labels.decisions))
    torch.testing.assert_close(
        weighted,
        cost_sensitive_loss(
            predictions,
            torch.from_numpy(costs),
            best,
            loss="MAE(O,C)",
            sense="minimize",
            weights=weights,
        ),
    )


@pytest.mark.parametrize(
    "weights, word",
    [
        (torch.ones(3, 1), r"shape \(3,\), not \(3, 1\)"),
        (np.ones((1, 3)), r"shape \(3,\), not \(1, 3\)"),
        ([1.0, 2.0], r"shape \(3,\), not \(2,\)"),
        (2.0, r"shape \(3,\), not \(\)"),
        ([1.0, float("nan"), 1.0], "weight of row 1 is not a finite number"),
    ],
)
def test_weights_that_are_not_one_per_row_are_refused(weights, word):
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    with pytest.raises(ValueError, match=word):
        DecisionLoss(problem, costs, "MAE(O)", labels=labels, weights=weights)


def test_rows_of_equal_costs_keep_their_own_weights():
    problem, costs, _, _ = table("SP5x5", rows=3)
    costs[2] = costs[0]
    predictions, true = torch.ones(3, costs.shape[1]), torch.from_numpy(costs)
    plain = DecisionLoss(problem, costs, "MSE", reduction="none")(predictions, torch.arange(3))
    weights = torch.tensor([1.0, 2.0, 4.0])
    loss = DecisionLoss(problem, costs, "MSE", weights=weights, reduction="none")
    torch.testing.assert_close(loss(predictions, torch.arange(3)), plain * weights)
    # By costs, row 1 is distinguishable from the others, rows 0 and 2 are not.
    torch.testing.assert_close(loss(predictions[1:2], true[1:2]), plain[1:2] * 2)
    for kind in (torch.float32, torch.float64):
        with pytest.raises(
            ValueError, match="row 1 of the true costs is row 0 and row 2 of the table.*row numbers"
        ):
            loss(predictions[1:], true[1:].to(kind))
    same = DecisionLoss(
        problem, costs, "MSE", weights=torch.tensor([3.0, 2.0, 3.0]), reduction="none"
    )
    torch.testing.assert_close(same(predictions, true), plain * torch.tensor([3.0, 2.0, 3.0]))


def test_rows_without_a_weight_are_refused():
    problem, costs, _, predictions = table("SP5x5", rows=3)
    loss = DecisionLoss(problem, costs[:2], "MSE", weights=[1.0, 2.0])
    with pytest.raises(
        ValueError, match="row 2 of the true costs is not in the table, so it has no weight"
    ):
        loss(predictions, torch.from_numpy(costs))
    with pytest.raises(ValueError, match="give its costs C too"):
        DecisionLoss(problem, loss="MSE", weights=[1.0, 2.0])


def test_weights_keep_their_digits_in_double_precision():
    problem, costs, labels, predictions = table("SP5x5", rows=1)
    predictions, rows = predictions.double(), torch.arange(1)
    plain = DecisionLoss(problem, costs, "MSE", labels=labels)(predictions, rows)
    assert (
        float(DecisionLoss(problem, costs, "MSE", labels=labels, weights=[0.1])(predictions, rows))
        == float(plain) * 0.1
    )


def test_as_many_predictions_as_rows_and_decisions_are_needed():
    problem, costs, labels, predictions = table("SP5x5", rows=4)
    true, best = torch.from_numpy(costs), np.asarray(labels.decisions)
    loss = DecisionLoss(problem, loss="MSE")
    # Two blocks of two rows.
    loss(predictions[:2], true[:2])
    loss(predictions[2:], true[2:])
    with pytest.raises(ValueError, match="4 rows of predictions for 3 rows"):
        loss(predictions, true[:3])
    with pytest.raises(ValueError, match="4 rows of optimal decisions for 3 rows of costs"):
        DecisionLoss(problem, loss="MSE")(predictions[:3], true[:3], best)


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


def test_a_mean_is_divided_by_the_number_of_rows_and_not_by_the_weights():
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    weights = torch.tensor([1.0, 2.0, 5.0])

    def loss(reduction, rows):
        module = DecisionLoss(
            problem, costs, "MAE(O)", labels=labels, weights=weights, reduction=reduction
        )
        return module(predictions[rows], rows)

    rows = torch.tensor([1, 2])
    of_rows = loss("none", rows)
    torch.testing.assert_close(loss("sum", rows), of_rows.sum())
    torch.testing.assert_close(loss("mean", rows), of_rows.sum() / 2)


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


def test_pools_grow_in_training_mode_only():
    """All rows share one pool, also those that are added in batches."""
    problem = rl.Problem({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize"})
    costs, predictions = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[3.0, 1.0, 2.0]])
    loss = DecisionLoss(problem, costs, "MAP")
    loss.eval()
    assert float(loss(predictions, torch.tensor([0]))) == 0
    loss.train()
    assert float(loss(predictions, torch.tensor([0]))) == 2
    loss.eval()
    assert float(loss(predictions, torch.tensor([0]))) == 2
    # A row of costs never seen before: its loss knows what the others know.
    assert float(loss(predictions, torch.tensor([[1.0, 3.0, 2.0]]))) == 2


@pytest.mark.parametrize("name", ["MAP", "NCE", "SPO+ cache 0%", "LTR(pair)"])
@pytest.mark.parametrize("has_table", [True, False])
def test_a_validation_loss_of_new_rows_does_not_change_the_pool(name, has_table):
    """Their optimal decisions would leak into training."""
    problem = rl.Problem.top_k(4, 2, sense="maximize")
    generator = np.random.default_rng(0)
    costs = torch.tensor(generator.uniform(1, 5, (20, 4)))
    predictions = torch.tensor(generator.normal(size=(20, 4)))
    train, validation = slice(0, 3), slice(3, 20)

    def losses(validates):
        loss = DecisionLoss(problem, costs[train] if has_table else None, name)
        found = []
        for _ in range(2):
            if validates:
                loss.eval()
                loss(predictions[validation], costs[validation])
            loss.train()
            found.append(float(loss(predictions[train], costs[train])))
        return found

    assert losses(validates=True) == losses(validates=False)


def test_rows_that_are_added_have_no_number():
    problem = rl.Problem.top_k(4, 2, sense="maximize")
    costs = torch.tensor(np.random.default_rng(0).uniform(1, 5, (20, 4)))
    loss = DecisionLoss(problem, costs[:10])
    for _ in range(2):
        with pytest.raises(ValueError, match="row 10 does not exist; the loss was made with 10"):
            loss(costs[:2], torch.tensor([9, 10]))
        loss(costs[15:18], costs[15:18])


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


def test_tables_with_names_are_matched_by_name():
    from regretless.tables.names import NamedTable

    numbers = {"sense": "maximize", "upper": 1, "integer": True}
    problem = rl.Problem.from_arrays([[5, 1, 1]], [2], names=["a", "b", "c"], **numbers)
    ordered = np.array([[9, 2, 1], [8, -1, 3], [7, 1, 1]], dtype=np.float32)
    turned = NamedTable(ordered[:, [2, 0, 1]], ["c", "a", "b"])
    predictions, rows = torch.from_numpy(ordered), torch.arange(len(ordered))
    for name in ("MSE", "SPO+"):
        loss = DecisionLoss(problem, turned, name)
        assert float(loss(predictions, rows)) == pytest.approx(0.0, abs=1e-5)
        assert float(loss(predictions, turned)) == pytest.approx(0.0, abs=1e-5)
    with pytest.raises(ValueError, match="only C has 'z'"):
        DecisionLoss(problem, NamedTable(ordered, ["a", "b", "z"]), "MSE")


def test_rows_that_are_equal_in_single_precision_are_refused():
    problem = rl.Problem({"kind": "top_k", "items": 2, "k": 1, "sense": "minimize"})
    small = 1e-12
    costs = np.array([[1.0, 1.0 + small], [3.0, 4.0], [1.0 + small, 1.0], [3.0, 4.0]])
    predictions = torch.tensor([[1.0, 2.0]] * 4, dtype=torch.float64)
    module = DecisionLoss(problem, costs, "MAE(O)", reduction="none")
    by_row = module(predictions, torch.arange(4))
    # All rows are found in double precision, and equal rows are allowed in single precision too.
    torch.testing.assert_close(module(predictions, torch.from_numpy(costs)), by_row)
    single = torch.from_numpy(costs).float()
    torch.testing.assert_close(module(predictions[[1, 3]], single[[1, 3]]), by_row[[1, 3]])
    words = "row 1 of the true costs is row 0 and row 2 of the table, .* single precision; give row"
    with pytest.raises(ValueError, match=words):
        module(predictions[1:3], single[1:3])
    # Refused again, not only when the rows are first looked up; row numbers always work.
    with pytest.raises(ValueError, match=words):
        module(predictions[1:3], single[1:3])
    torch.testing.assert_close(module(predictions, torch.arange(4)), by_row)


def test_rows_given_in_single_precision_are_found_after_doubles_joined():
    problem, costs, _, predictions = table("SP5x5", rows=3)
    module = DecisionLoss(problem, costs, "MSE", reduction="none")
    by_row = module(predictions, torch.arange(3))
    module(predictions, torch.from_numpy(costs.astype(np.float64) * (1 + 1e-12)))
    torch.testing.assert_close(module(predictions, torch.from_numpy(costs)), by_row)


def test_losses_that_a_problem_cannot_serve_are_refused_when_they_are_built():
    def solve(costs):
        raise AssertionError("called, though the loss is refused")

    problem = rl.Problem.from_solver(solve, 4, sense="minimize")
    costs = np.ones((3, 4))
    for name in ("CaVE", "CaVE+", "LAVA", "MSE(O_S)", "SPO+ relax"):
        for table in (costs, None):
            with pytest.raises(ValueError, match="use|leave out"):
                DecisionLoss(problem, table, name)


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


@pytest.mark.parametrize(
    "rows", [torch.arange(3).float(), torch.tensor([True, False, True]), torch.tensor(1)]
)
def test_row_numbers_that_are_not_integers_are_refused(rows):
    problem, costs, labels, predictions = table("SP5x5", rows=3)
    loss = DecisionLoss(problem, costs, labels=labels)
    with pytest.raises(ValueError, match="row numbers must be integers, or true costs of shape"):
        loss(predictions, rows)
    with pytest.raises(ValueError, match=r"predictions must have the shape \(n, d\), not \(40,\)"):
        loss(predictions[0], torch.arange(3))


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


@pytest.mark.parametrize("gradient", ["DBB", "DPO"])
def test_second_derivatives_of_a_layer_are_refused(gradient):
    problem, costs, _, predictions = table("KS8")
    layer = DecisionLayer(problem, gradient)
    weight = torch.ones(costs.shape[1], requires_grad=True)
    value = (layer(predictions * weight) * torch.from_numpy(costs)).sum()
    (found,) = torch.autograd.grad(value, weight, create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        found.square().sum().backward()


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
