"""Losses: value and gradient of predictions."""

import numpy as np
import pytest
import regretless as rl

PROBLEM = rl.Problem("KS10")
X, C = rl.generate("KS10", rows=30, seed=1)
LABELS = rl.label(PROBLEM, C)
PREDICTIONS = (C + np.random.default_rng(0).normal(size=C.shape)).astype(np.float64)


@pytest.mark.parametrize("label", ["MSE", "MAE(O,S)", "MSE(O_S)", "MSE(O,S)"])
def test_gradients_are_those_of_the_values(label):
    loss = rl.Loss(label, PROBLEM, C, labels=LABELS)
    _, gradients = loss.evaluate(PREDICTIONS)
    step = 1e-6
    for column in range(C.shape[1]):
        moved = [PREDICTIONS.copy() for _ in range(2)]
        moved[0][:, column] += step
        moved[1][:, column] -= step
        up, down = (loss.evaluate(values)[0] for values in moved)
        np.testing.assert_allclose((up - down) / (2 * step), gradients[:, column], rtol=1e-4, atol=1e-6)


def test_spo_plus_bounds_regret_from_above_and_is_zero_at_the_truth():
    loss = rl.Loss("SPO+", PROBLEM, C, labels=LABELS)
    values, gradients = loss.evaluate(PREDICTIONS)
    assert (values >= rl.regret(PROBLEM, PREDICTIONS, C, labels=LABELS) - 1e-4).all()
    exact, _ = loss.evaluate(C)
    np.testing.assert_allclose(exact, 0, atol=1e-4)
    # Earned costs: the gradient, in the user's sense, is negative where the best decision should look better.
    best = 2 * PROBLEM.solve_all(2 * PREDICTIONS - C).decisions - 2 * LABELS.decisions
    np.testing.assert_allclose(gradients, best, atol=1e-6)


def test_gradients_have_the_precision_of_the_predictions():
    loss = rl.Loss("MAE(O,S)", PROBLEM, C, labels=LABELS)
    single, double = loss.evaluate(PREDICTIONS.astype(np.float32)), loss.evaluate(PREDICTIONS)
    assert (single[1].dtype, double[1].dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single[0], double[0], rtol=1e-5, atol=1e-6)


def test_some_rows_are_evaluated_like_all():
    loss = rl.Loss("SPO+", PROBLEM, C, labels=LABELS)
    values, gradients = loss.evaluate(PREDICTIONS)
    rows = [7, 0, 21]
    for listed in [rows, np.array(rows), np.array(rows, dtype=np.int32)]:
        some = loss.evaluate(PREDICTIONS[rows], rows=listed)
        np.testing.assert_array_equal(some[0], values[rows])
        np.testing.assert_array_equal(some[1], gradients[rows])
    np.testing.assert_array_equal(loss.evaluate(PREDICTIONS[:4], range(4))[0], values[:4])
    for wrong in [[0.5], [-1], ["a"]]:
        with pytest.raises(ValueError, match="row numbers"):
            loss.evaluate(PREDICTIONS[:1], rows=wrong)
    with pytest.raises(ValueError, match="row 30 does not exist; there are 30"):
        loss.evaluate(PREDICTIONS[:1], rows=[30])
    with pytest.raises(ValueError, match="2 rows of predictions for 1"):
        loss.evaluate(PREDICTIONS[:2], rows=[3])


def test_noise_follows_seed_and_epoch_and_not_threads():
    def values(seed=0, epoch=0, threads=1):
        loss = rl.Loss("PFYL(samples=2)", PROBLEM, C, labels=LABELS, seed=seed, threads=threads)
        return loss.evaluate(PREDICTIONS, epoch=epoch)[0]

    np.testing.assert_array_equal(values(), values(threads=2))
    assert (values() != values(seed=1)).any()
    assert (values() != values(epoch=1)).any()


def test_pools_grow_with_training():
    loss = rl.Loss("MAP cache 100%", PROBLEM, C, labels=LABELS)
    before = loss.evaluate(PREDICTIONS)[0]
    np.testing.assert_array_equal(loss.evaluate(PREDICTIONS)[0], before)
    wild = np.random.default_rng(1).permuted(PREDICTIONS, axis=1)
    first = loss.evaluate(wild)[0]
    loss.evaluate(wild, epoch=1, training=True)
    assert (loss.evaluate(wild)[0] >= first - 1e-9).all()
    assert len(loss) == 30 and loss.name == "MAP cache 100%"


@pytest.mark.parametrize(
    "label, word",
    [
        ("MAE(C,O,S)", "weights instances"),
        ("MSE then SPO+", "'then' belongs to train"),
        ("MAX", "choose one of"),
        ("MSE relax", "no questions"),
    ],
)
def test_labels_that_are_no_single_loss_are_refused(label, word):
    with pytest.raises(ValueError, match=word):
        rl.Loss(label, PROBLEM, C, labels=LABELS)


def test_predictions_that_cannot_be_used_are_named_by_place():
    loss = rl.Loss("MSE", PROBLEM, C, labels=LABELS)
    for kind in [np.float32, np.float64]:
        bad = PREDICTIONS.astype(kind)
        bad[2, 5] = np.nan
        with pytest.raises(ValueError, match="predictions: row 2, column c5: NaN"):
            loss.evaluate(bad)
    with pytest.raises(ValueError, match="9 costs are predicted per row and there are 10"):
        loss.evaluate(PREDICTIONS[:, :9])


def test_the_table_may_change_after_the_loss_was_made():
    costs = C.copy()
    loss = rl.Loss("MSE", PROBLEM, costs)
    before = loss.evaluate(PREDICTIONS)[0]
    costs[:] = 0
    np.testing.assert_array_equal(loss.evaluate(PREDICTIONS)[0], before)
