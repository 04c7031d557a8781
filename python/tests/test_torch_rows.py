"""Modules of losses and the rows of their table: numbers, weights, decisions, pools and copies."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch_tables import table  # noqa: E402

import regretless as rl  # noqa: E402
from regretless.torch import DecisionLoss, cost_sensitive_loss  # noqa: E402


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
