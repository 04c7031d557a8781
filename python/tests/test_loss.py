"""Losses: value and gradient of predictions."""

import numpy as np
import pytest

import regretless as rl
from regretless._core import _check_loss

PROBLEM = rl.Problem("KS10")
X, C = rl.generate("KS10", instances=30, seed=1)
LABELS = rl.label(PROBLEM, C)
PREDICTIONS = (C + np.random.default_rng(0).normal(size=C.shape)).astype(np.float64)


@pytest.mark.parametrize("label", ["MSE", "MAE(O,S)", "MSE(O_S)", "MSE(O,S)"])
def test_gradients_are_those_of_the_values(label):
    loss = rl.Loss(PROBLEM, C, label, labels=LABELS)
    _, gradients = loss.evaluate(PREDICTIONS)
    step = 1e-6
    for column in range(C.shape[1]):
        moved = [PREDICTIONS.copy() for _ in range(2)]
        moved[0][:, column] += step
        moved[1][:, column] -= step
        up, down = (loss.evaluate(values)[0] for values in moved)
        np.testing.assert_allclose(
            (up - down) / (2 * step), gradients[:, column], rtol=1e-4, atol=1e-6
        )


def test_spo_plus_bounds_regret_from_above_and_is_zero_at_the_truth():
    loss = rl.Loss(PROBLEM, C, "SPO+", labels=LABELS)
    values, gradients = loss.evaluate(PREDICTIONS)
    assert (values >= rl.regret(PROBLEM, PREDICTIONS, C, labels=LABELS) - 1e-4).all()
    exact, _ = loss.evaluate(C)
    np.testing.assert_allclose(exact, 0, atol=1e-4)
    # A maximization: the gradient is negative where the optimal decision should look better.
    best = 2 * PROBLEM.solve_all(2 * PREDICTIONS - C).decisions - 2 * LABELS.decisions
    np.testing.assert_allclose(gradients, best, atol=1e-6)


def test_gradients_have_the_precision_of_the_predictions():
    loss = rl.Loss(PROBLEM, C, "MAE(O,S)", labels=LABELS)
    single, double = loss.evaluate(PREDICTIONS.astype(np.float32)), loss.evaluate(PREDICTIONS)
    assert (single[1].dtype, double[1].dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single[0], double[0], rtol=1e-5, atol=1e-6)


def test_some_rows_are_evaluated_like_all():
    loss = rl.Loss(PROBLEM, C, "SPO+", labels=LABELS)
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
        loss = rl.Loss(PROBLEM, C, "PFYL(samples=2)", labels=LABELS, seed=seed, threads=threads)
        return loss.evaluate(PREDICTIONS, epoch=epoch)[0]

    np.testing.assert_array_equal(values(), values(threads=2))
    assert (values() != values(seed=1)).any()
    assert (values() != values(epoch=1)).any()


def test_pools_grow_with_training():
    loss = rl.Loss(PROBLEM, C, "MAP cache 100%", labels=LABELS)
    before = loss.evaluate(PREDICTIONS)[0]
    np.testing.assert_array_equal(loss.evaluate(PREDICTIONS)[0], before)
    wild = np.random.default_rng(1).permuted(PREDICTIONS, axis=1)
    first = loss.evaluate(wild)[0]
    loss.evaluate(wild, epoch=1, training=True)
    assert (loss.evaluate(wild)[0] >= first - 1e-9).all()
    assert len(loss) == 30 and loss.name == "MAP cache 100%"


@pytest.mark.parametrize(
    "name, word",
    [
        ("MAE(C,O,S)", "weights instances"),
        ("MSE then SPO+", "without 'then'"),
        ("MAX", "choose one of"),
        ("MSE relax", "relax"),
    ],
)
def test_names_that_are_not_a_single_loss_are_refused(name, word):
    with pytest.raises(ValueError, match=word):
        rl.Loss(PROBLEM, C, name, labels=LABELS)


def test_invalid_predictions_are_refused_with_row_and_column():
    loss = rl.Loss(PROBLEM, C, "MSE", labels=LABELS)
    for kind in [np.float32, np.float64]:
        bad = PREDICTIONS.astype(kind)
        bad[2, 5] = np.nan
        with pytest.raises(ValueError, match="predictions: row 2, column c5: NaN"):
            loss.evaluate(bad)
    with pytest.raises(ValueError, match="9 costs are predicted per row and there are 10"):
        loss.evaluate(PREDICTIONS[:, :9])


def test_the_table_may_change_after_the_loss_was_made():
    costs = C.copy()
    loss = rl.Loss(PROBLEM, costs, "MSE")
    before = loss.evaluate(PREDICTIONS)[0]
    costs[:] = 0
    np.testing.assert_array_equal(loss.evaluate(PREDICTIONS)[0], before)


ONE_OF_THREE = rl.Problem({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize"})


@pytest.mark.parametrize(
    "label, right",
    # The label is (1 0 0); under the prediction (3 1 2) the optimum is (0 1 0), 2 cheaper.
    [
        ("MAP", 2.0),
        ("NCE", 1.0),
        ("MAP cache 100%", 2.0),
        ("MAP cache 0%", 0.0),
        ("LTR(pair)", 2.0),
    ],
)
def test_losses_with_a_pool_solve_for_it_in_training_only(label, right):
    loss = rl.Loss(ONE_OF_THREE, [[1, 2, 3]], label)
    predictions = np.array([[3.0, 1.0, 2.0]])
    before = loss.evaluate(predictions)[0]
    np.testing.assert_array_equal(before, [0])
    np.testing.assert_array_equal(loss.evaluate(predictions)[0], before)
    values, gradients = loss.evaluate(predictions, epoch=1, training=True)
    np.testing.assert_allclose(values, [right])
    assert (np.abs(gradients).max() > 0) == (right > 0)
    # What was found stays known.
    np.testing.assert_allclose(loss.evaluate(predictions)[0], [right])


def test_training_solves_for_the_pool_at_the_solve_ratio():
    calls = []

    def solve(costs):
        calls.append(1)
        return np.arange(3) == np.argmin(costs)

    problem = rl.Problem.from_solver(solve, 3, sense="minimize")
    costs = np.random.default_rng(0).uniform(size=(50, 3))
    for label, least, most in [
        ("MAP", 50, 50),
        ("MAP cache 0%", 0, 0),
        ("MAP cache 50% per-instance", 5, 45),
    ]:
        loss = rl.Loss(problem, costs, label)
        calls.clear()
        loss.evaluate(costs, epoch=1, training=True)
        assert least <= len(calls) <= most, label
        calls.clear()
        loss.evaluate(costs, epoch=1)
        assert not calls, label


def test_losses_can_share_a_solution_pool():
    first = rl.Loss(ONE_OF_THREE, [[1, 2, 3]], "MAP")
    assert first.evaluate([[3.0, 1, 2]])[0] == 0
    second = rl.Loss(ONE_OF_THREE, [[3, 1, 2]], "MAP", pool_from=first)
    # Its label joins the pool in a training step: a validation loss does not change it.
    second.evaluate([[3.0, 2, 1]])
    assert first.evaluate([[3.0, 1, 2]])[0] == 0
    second.evaluate([[3.0, 2, 1]], training=True)
    assert first.evaluate([[3.0, 1, 2]])[0] == 2
    assert first.evaluate([[3.0, 2, 1]])[0] == 2
    with pytest.raises(ValueError, match="same name and problem"):
        rl.Loss(ONE_OF_THREE, [[3, 1, 2]], "NCE", pool_from=first)


PAIR = rl.Problem({"kind": "top_k", "items": 2, "k": 1, "sense": "minimize"})


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_costs_of_double_precision_keep_their_digits(sense):
    problem = rl.Problem({"kind": "top_k", "items": 2, "k": 1, "sense": sense})
    costs = [[0.1, 0.7]]
    values, gradients = rl.Loss(problem, costs, "MAE").evaluate(costs)
    assert (values.tolist(), gradients.tolist()) == ([0.0], [[0.0, 0.0]])
    best = 0.1 if sense == "minimize" else 0.7
    assert problem.solve_all(costs).objectives.tolist() == [best]
    assert problem.solve_all(np.asfortranarray(costs)).objectives.tolist() == [best]
    assert problem.solve(costs[0]).objective == best
    assert rl.label(problem, costs).objectives.tolist() == [best]
    assert rl.evaluate(problem, costs, C=costs).mae == 0
    worse = [[0.7, 0.1]]
    assert rl.regret(problem, worse, costs).tolist() == [0.7 - 0.1]
    known = rl.Labels.from_decisions(problem, costs, [[1, 0]] if sense == "minimize" else [[0, 1]])
    assert known.objectives.tolist() == [best]


def test_costs_that_differ_beyond_single_precision_are_distinguished():
    close = np.array([[1.0 + 1e-9, 1.0]])
    assert np.float32(close[0, 0]) == np.float32(close[0, 1])
    assert PAIR.solve_all(close).decisions.tolist() == [[0, 1]]
    assert rl.label(PAIR, close).decisions.tolist() == [[0, 1]]
    assert rl.regret(PAIR, [[0.0, 1.0]], close) == pytest.approx([1e-9], rel=1e-6)
    integers = np.array([[2**24 + 1, 2**24]])
    assert PAIR.solve_all(integers).objectives.tolist() == [2**24]


def test_predictions_of_single_precision_are_compared_with_rounded_costs():
    costs = np.array([[0.1, 0.7]])
    for label in ["MAE", "MAE(O,S)"]:
        values, gradients = rl.Loss(PAIR, costs, label).evaluate(costs.astype(np.float32))
        assert gradients.dtype == np.float32
        np.testing.assert_array_equal(values, [0])
        np.testing.assert_array_equal(gradients, 0)


def test_labels_in_a_store_have_objectives_of_double_precision(tmp_path):
    costs = np.array([[0.1, 0.7], [0.3, 0.2]])
    for _ in range(2):
        assert rl.label(PAIR, costs, store=tmp_path / "costs.npy").objectives.tolist() == [0.1, 0.2]
    # Labels belong to the costs as tables keep them.
    rounded = rl.label(PAIR, costs.astype(np.float32), store=tmp_path / "costs.npy")
    assert rounded.objectives.tolist() == [float(np.float32(0.1)), float(np.float32(0.2))]
    assert len(list((tmp_path / "costs.npy.labels").iterdir())) == 1


def test_costs_too_large_for_a_table_are_refused_with_row_and_column():
    assert PAIR.solve_all([[1e99, 2e99]]).objectives.tolist() == [1e99]
    with pytest.raises(ValueError, match="row 0, column c1: the number is beyond 3.4e38"):
        rl.Loss(PAIR, [[1.0, 1e39]], "MSE")


LOSSES = [
    "MSE", "MAE", "MSE(O)", "MAE(O,S)", "MSE(O,S)", "MSE(O,E)", "MAE(tau=0.3)", "MSE(O_S)",
    "MAE(O_S,S)",
    "MSE(O_S(exact))", "SPO+", "SPO+ relax", "SPO+ relax tight", "SPO+ labels relaxed",
    "SPO+ cache 50%", "SPO+ warm", "SPO+ local-search", "PFYL(samples=2)", "PG", "MAP", "MAP_c",
    "NCE", "NCE_c", "SCE", "SCE_c", "LTR(point)", "LTR(pair)", "LTR(list)", "DBB", "NID",
    "NID(distance)", "DPO(samples=2)", "I-MLE(samples=2)", "RFY(steps=3)", "RFW(steps=3)", "CaVE",
    "CaVE(inner)", "CaVE(hybrid)", "CaVE+", "LAVA", "MSE knn(2,0.5)",
]  # fmt: skip


def cheapest(costs):
    return np.arange(len(costs)) == np.argmin(costs)


def kinds_of_problems():
    """One small problem of every kind, and linear ones with and without unpredicted columns."""
    rows = np.array([[2.0, 1.0, 3.0, 1.0], [1.0, 2.0, 1.0, 2.0]])
    limits = {"sense": "maximize", "upper": 2.0}
    binary = {"sense": "minimize", "upper": 1.0, "integer": True}
    routes = {"kind": "cvrp", "demands": [1.0] * 4, "capacity": 2.0, "vehicles": 3}
    return {
        "paths": rl.Problem("SP3x3"),
        "knapsack": rl.Problem("KS5"),
        "choice": rl.Problem({"kind": "top_k", "items": 4, "k": 2, "sense": "maximize"}),
        "tours": rl.Problem("TSP5"),
        "routes": rl.Problem(routes),
        "linear": rl.Problem.from_arrays(rows, [4.0, 5.0], **limits),
        "integer": rl.Problem.from_arrays(rows, [4.0, 5.0], integer=True, **limits),
        "binary": rl.Problem.from_arrays(rows, [4.0, 5.0], **binary),
        "partly predicted": rl.Problem.from_arrays(
            rows, [4.0, 5.0], costs=[0, 1, 2], known_costs=[0.0, 0.0, 0.0, 1.0], **limits
        ),
        "function": rl.Problem.from_solver(cheapest, 4, sense="minimize"),
    }


REFUSED = {
    "knapsack": {"MSE(O,E)", "MSE(O_S(exact))", "SPO+ local-search"},
    "function": {
        "MSE(O,E)", "MSE(O_S)", "MAE(O_S,S)", "MSE(O_S(exact))", "SPO+ relax", "SPO+ relax tight",
        "SPO+ labels relaxed", "SPO+ local-search", "CaVE", "CaVE(inner)", "CaVE(hybrid)", "CaVE+",
        "LAVA", "SPO+ warm",
    },
}  # fmt: skip
"""Which losses are refused, for two of the kinds."""


@pytest.mark.parametrize("kind", kinds_of_problems())
def test_losses_that_a_problem_cannot_serve_are_refused_when_they_are_built(kind):
    problem = kinds_of_problems()[kind]
    random = np.random.default_rng(0)
    costs = random.uniform(0.5, 1.5, size=(6, problem.num_costs))
    labels = rl.label(problem, costs)
    refused = set()
    for name in LOSSES:
        try:
            loss = rl.Loss(problem, costs, name, labels=labels)
        except ValueError as error:
            remedies = ["use ", "leave out", "leave it out"]
            assert any(remedy in str(error) for remedy in remedies), f"{name}: {error}"
            assert problem.name in str(error), f"{name}: {error}"
            refused.add(name)
            with pytest.raises(ValueError):
                _check_loss(problem, name)
            with pytest.raises(ValueError):
                rl.train(problem, costs, costs, name, labels=labels, split=(4, 2, 0), epochs=1)
            continue
        _check_loss(problem, name)
        for training in (False, True):
            values, gradients = loss.evaluate(
                random.uniform(0.5, 1.5, size=costs.shape), training=training
            )
            assert np.isfinite(values).all() and np.isfinite(gradients).all(), name
    assert len(refused) < len(LOSSES) / 2
    if kind in REFUSED:
        assert refused == REFUSED[kind]


def test_a_loss_is_refused_before_rows_are_solved():
    calls = []

    def solve(costs):
        calls.append(costs)
        return cheapest(costs)

    problem = rl.Problem.from_solver(solve, 4, sense="minimize")
    costs = np.random.default_rng(0).uniform(size=(6, 4))
    for name in ("CaVE", "LAVA", "MSE(O_S)", "SPO+ relax"):
        with pytest.raises(ValueError):
            rl.Loss(problem, costs, name)
        with pytest.raises(ValueError):
            rl.train(problem, costs, costs, f"MSE then {name}", split=(4, 2, 0), epochs=1)
    assert not calls


@pytest.mark.parametrize("name", ["MSE", "MAE(O,S)", "MSE(O,S)"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_rescaled_loss_has_gradients_of_a_usual_size(name, kind):
    problem, (_, C) = rl.Problem("KS32"), rl.generate("KS32", instances=20)
    predictions = C[::-1].astype(kind)
    plain = rl.Loss(problem, C, name)
    rescaled = rl.Loss(problem, C, name, rescale_loss=True)
    factor = plain._rescaling()
    for found, expected in zip(rescaled.evaluate(predictions), plain.evaluate(predictions)):
        np.testing.assert_allclose(found, factor * expected, rtol=1e-6)
    assert np.abs(rescaled.evaluate(predictions)[1]).max() > 0.1
