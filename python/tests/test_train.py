"""Training, models and evaluation."""

import pickle
import signal
import time

import numpy as np
import pytest

import regretless as rl

PROBLEM = rl.Problem("SP4x4")
X, C = rl.generate("SP4x4", instances=200, seed=3)
LABELS = rl.label(PROBLEM, C)


def test_training_lowers_regret():
    _, report = rl.train(PROBLEM, X, C, "MAE(O,S)", labels=LABELS, epochs=15)
    regrets = [epoch.validation_regret for epoch in report.rounds[-1].epochs]
    assert min(regrets) < 0.7 * regrets[0]
    assert report.best_epoch == int(np.argmin(regrets))
    assert report.test.instances == 40


def test_the_same_seed_gives_the_same_bytes_on_any_threads():
    def trained(threads, seed=5):
        model, _ = rl.train(
            PROBLEM, X, C, "SPO+", labels=LABELS, epochs=3, threads=threads, seed=seed
        )
        return model.to_bytes()

    assert trained(1) == trained(2)
    assert trained(1) != trained(1, seed=6)


def test_labels_solved_by_train_are_those_of_label():
    with_labels, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=2)
    without, _ = rl.train(PROBLEM, X, C, method="MAE(O,S)", epochs=2)
    assert with_labels == without
    with pytest.raises(ValueError, match="other costs: row 7 differs"):
        other = C.copy()
        other[7, 0] += 1
        rl.train(PROBLEM, X, other, labels=LABELS)


@pytest.mark.parametrize(
    "split",
    [
        (np.arange(100), np.arange(100, 150), np.arange(150, 200)),
        (list(range(100)), list(range(100, 150)), list(range(150, 200))),
        (100, 50, 50),
        "100,50,50",
    ],
)
def test_splits_may_be_rows_or_counts(split):
    right, _ = rl.train(
        PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=2, split="100,50,50"
    )
    found, report = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=2, split=split)
    # The models record how the rows were divided, in different words.
    np.testing.assert_array_equal(found.predict(X), right.predict(X))
    assert (report.validation.instances, report.test.instances) == (50, 50)


def test_fractions_are_drawn_by_the_seed():
    _, report = rl.train(
        PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=1, split=(0.3, 0.1)
    )
    assert (report.validation.instances, report.test.instances) == (60, 20)
    same, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=1, split=0.2)
    default, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=1)
    assert same == default
    with pytest.raises(ValueError, match="row 200 does not exist"):
        rl.train(PROBLEM, X, C, split=([0, 1], [200]))
    with pytest.raises(ValueError, match="add up to less than 1"):
        rl.train(PROBLEM, X, C, split=(0.5, 0.5))


def test_settings_are_those_of_the_command_line():
    _, report = rl.train(
        PROBLEM,
        X,
        C,
        "MSE",
        labels=LABELS,
        epochs=np.int64(2),
        batch_size=16,
        learning_rate=0.01,
        optimizer="sgd:momentum=0.9",
        select="last",
        standardize=False,
        predictor="mlp:8",
        profile="paper",
    )
    assert report.best_epoch == 2 and report.chosen_method == "MSE"
    for arguments, word in [
        ({"epoch": 3}, "no setting 'epoch'; choose one of: batch_size"),
        ({"batch_size": "many"}, "batch_size"),
        ({"optimizer": "lion"}, "adamw"),
        ({"select": "best"}, "validation-regret"),
        ({"profile": "fast"}, "default, paper"),
        ({"method": "MAX"}, "SPO"),
        ({"predictor": "tree"}, "mlp:64,32"),
    ]:
        with pytest.raises((ValueError, TypeError), match=word):
            rl.train(PROBLEM, X, C, **arguments)


def test_methods_follow_each_other_and_models_are_trained_on():
    first, _ = rl.train(PROBLEM, X, C, "MSE", labels=LABELS, epochs=2)
    at_once, _ = rl.train(PROBLEM, X, C, "MSE then SPO+", labels=LABELS, epochs=2)
    in_turn, _ = rl.train(PROBLEM, X, C, "SPO+", labels=LABELS, epochs=2, init_model=first)
    assert at_once == in_turn and in_turn.method == "MSE then SPO+"
    _, report = rl.train(PROBLEM, X, C, "auto 1s", labels=LABELS, epochs=2)
    assert len(report.candidates) > 2 and report.method == "auto 1s"


def test_items_may_have_features_of_their_own():
    items = np.random.default_rng(0).normal(size=(60, 24, 3)).astype(np.float32)
    costs = np.exp(items @ np.array([1.0, -0.5, 0.2])).astype(np.float32)
    model, _ = rl.train(PROBLEM, items, costs, "MSE", epochs=3)
    assert model.predict(items).shape == (60, 24)
    with pytest.raises(ValueError, match="long table with 24 items"):
        model.predict(items[:, 0, :])


def test_models_are_read_back_from_files_bytes_and_pickles(tmp_path):
    model, _ = rl.train(
        PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=2, feature_names=list("abcde")
    )
    path = tmp_path / "model.safetensors"
    model.save(path)
    assert path.read_bytes() == model.to_bytes()
    for again in [
        rl.Model.load(path),
        rl.Model.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
    ]:
        assert again == model and again.feature_names == list("abcde")
    assert model.cost_names[:2] == ["c0", "c1"]
    with pytest.raises(FileExistsError, match="force=True"):
        model.save(path)
    model.save(path, force=True)
    with pytest.raises(FileNotFoundError):
        rl.Model.load(tmp_path / "other")
    with pytest.raises(ValueError, match="input"):
        rl.Model.from_bytes(model.to_bytes()[:-1])


def test_a_model_decides_for_its_own_problem_or_another():
    model, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=2)
    own = model.decide(X)
    np.testing.assert_array_equal(own.decisions, PROBLEM.solve_all(model.predict(X)).decisions)
    pick = rl.Problem({"kind": "top_k", "items": 24, "k": 2, "sense": "minimize"})
    assert (model.decide(X, problem=pick).decisions.sum(axis=1) == 2).all()
    with pytest.raises(ValueError, match="needs 12"):
        model.decide(X, problem=rl.Problem.top_k(12, k=2))


def test_evaluation_is_the_mean_of_regrets():
    model, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=2)
    predictions = model.predict(X)
    regrets = rl.regret(PROBLEM, predictions, C, labels=LABELS)
    found = rl.evaluate(PROBLEM, model, X, C, labels=LABELS)
    assert found == rl.evaluate(PROBLEM, predictions, C=C) == model.evaluate(X, C, labels=LABELS)
    assert found.regret == pytest.approx(regrets.mean())
    assert found.normalized_regret == pytest.approx(regrets.sum() / LABELS.objectives.sum())
    assert rl.evaluate(PROBLEM, C, C=C).optimal_fraction == 1.0
    with pytest.raises(ValueError, match="X is missing"):
        rl.evaluate(PROBLEM, model, C=C)
    with pytest.raises(ValueError, match="3 rows of predictions for 200 instances"):
        rl.regret(PROBLEM, predictions[:3], C)


def test_bad_tables_are_named_by_row_and_column():
    bad = X.copy()
    bad[4, 2] = np.nan
    with pytest.raises(ValueError, match="X: row 4, column x2: NaN is not a finite number"):
        rl.train(PROBLEM, bad, C)
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(bad, columns=["hour", "load", "sun", "wind", "rain"])
    with pytest.raises(ValueError, match="X: row 4, column sun"):
        rl.train(PROBLEM, named, C, missing="error")
    named.loc[4, "sun"] = np.inf
    with pytest.raises(ValueError, match="X: row 4, column sun: inf"):
        rl.train(PROBLEM, named, C)
    costs = C.copy()
    costs[1, 3] = np.inf
    with pytest.raises(ValueError, match="C: row 1, column c3: inf"):
        rl.train(PROBLEM, X, costs)
    with pytest.raises(ValueError, match="features of 200 instances but costs of 199"):
        rl.train(PROBLEM, X, C[1:])
    with pytest.raises(ValueError, match="23 costs per row"):
        rl.train(PROBLEM, X, C[:, 1:])


def test_a_finished_training_leaves_no_checkpoint(tmp_path):
    path = tmp_path / "model.safetensors"
    model, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=3, checkpoint=path)
    plain, _ = rl.train(PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=3)
    assert model == plain
    assert list(tmp_path.iterdir()) == []


# Checkpoints are at least two seconds apart.
CHECKPOINT_INTERVAL = 2.0


class InterruptedSolver:
    """Chooses the cheapest item. One call sleeps, so a checkpoint is due at the end of its epoch,
    and a later call interrupts the training."""

    def __init__(self, checkpoint):
        self.checkpoint = checkpoint
        self.reset()

    def reset(self, sleeps_at=0, interrupts_at=0):
        self.sleeps_at, self.interrupts_at = sleeps_at, interrupts_at
        self.calls = self.calls_before_checkpoint = 0

    def solve(self, costs):
        if self.checkpoint.exists() and not self.calls_before_checkpoint:
            self.calls_before_checkpoint = self.calls
        self.calls += 1
        if self.calls == self.sleeps_at:
            time.sleep(1.1 * CHECKPOINT_INTERVAL)
        if self.calls == self.interrupts_at:
            signal.raise_signal(signal.SIGINT)
        return np.arange(len(costs)) == np.argmin(costs)


def test_an_interrupted_training_resumes_from_its_checkpoint(tmp_path):
    path = tmp_path / "model.safetensors"
    checkpoint = tmp_path / "model.safetensors.checkpoints" / "epoch.safetensors"
    solver = InterruptedSolver(checkpoint)
    problem = rl.Problem.from_solver(solver.solve, 3, sense="minimize", name="cheapest")
    features, costs = X[:40], C[:40, :3]
    labels = rl.label(problem, costs)

    def trained(checkpoint):
        arguments = {"labels": labels, "epochs": 15, "split": (30, 10, 0), "threads": 1}
        return rl.train(problem, features, costs, "SPO+", checkpoint=checkpoint, **arguments)

    solver.reset()
    expected, _ = trained(None)
    calls = solver.calls
    solver.reset(sleeps_at=calls // 4, interrupts_at=calls // 2)
    with pytest.raises(KeyboardInterrupt):
        trained(path)
    calls_before_checkpoint = solver.calls_before_checkpoint
    assert calls // 4 <= calls_before_checkpoint < calls // 2
    assert calls // 2 <= solver.calls < calls
    assert [entry for entry in tmp_path.rglob("*") if entry.is_file()] == [checkpoint]
    # Only the epochs after the checkpoint are trained again.
    solver.reset()
    resumed, _ = trained(path)
    assert solver.calls == calls - calls_before_checkpoint
    assert resumed.to_bytes() == expected.to_bytes()
    assert list(tmp_path.iterdir()) == [], "a finished training leaves no checkpoint"


pd = pytest.importorskip("pandas")
DAYS = np.datetime64("2026-01-01") + np.arange(len(X))


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        DAYS.astype("datetime64[ns]"),
        [str(day) for day in DAYS],
        DAYS.astype(object),
        pd.Series(DAYS),
        pd.Series(DAYS).dt.tz_localize("UTC"),
        np.arange(len(X)),
        np.arange(len(X)) / 7,
    ],
    ids=["days", "ns", "texts", "dates", "pandas", "zoned", "integers", "floats"],
)
def test_a_split_by_time_takes_the_latest_rows(times):
    right, expected = rl.train(
        PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=1, split="order:0.2,0.1"
    )
    assert expected.split == "140/40/20 rows, in table order"
    found, report = rl.train(
        PROBLEM, X, C, labels=LABELS, method="MAE(O,S)", epochs=1, split=("time", times, 0.2, 0.1)
    )
    assert report.split.startswith("140/40/20 rows, split by time: training until ")
    assert report.test == expected.test
    np.testing.assert_array_equal(found.predict(X[:5]), right.predict(X[:5]))


def test_a_column_of_dates_splits_the_rows_and_is_a_feature():
    names = [f"f{column}" for column in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    frame.insert(0, "day", DAYS)
    model, report = rl.train(
        PROBLEM, frame, C, labels=LABELS, method="MAE(O,S)", epochs=1, split="time:day"
    )
    weekdays = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    assert report.features == (*[f"day weekday={day}" for day in weekdays], *names)
    assert report.split == (
        "120/40/40 rows, split by day: training until 2026-04-30, validation from 2026-05-01, "
        "test from 2026-06-10"
    )
    assert model.column_names == ["day", *names]
    frame["day"] = np.arange(len(X))
    _, report = rl.train(
        PROBLEM, frame, C, labels=LABELS, method="MAE(O,S)", epochs=1, split="time:day"
    )
    assert report.features == ("day", *names)


def test_a_split_by_time_needs_a_time_for_every_row():
    missing = DAYS.copy()
    missing[7] = np.datetime64("NaT")
    with pytest.raises(ValueError, match="row 7"):
        rl.train(PROBLEM, X, C, split=("time", missing))
    with pytest.raises(ValueError, match="199 times for 200 rows"):
        rl.train(PROBLEM, X, C, split=("time", DAYS[1:]))
    with pytest.raises(ValueError, match="no.*column|neither X nor C"):
        rl.train(PROBLEM, X, C, split="time:day")
    with pytest.raises(ValueError, match="time:date"):
        rl.train(PROBLEM, X, C, split="time")


def test_weights_of_rows_are_those_of_repeated_rows():
    """One step on all rows: twice the weight is the row twice."""
    rows = np.repeat(np.arange(100), 1 + np.arange(100) % 3)
    weights = 1.0 + np.arange(100) % 3
    settings = {
        "epochs": 1,
        "batch_size": 1000,
        "select": "last",
        # The deviation of a sample divides by one row less, which repeated rows change.
        "scale_costs": False,
        "learning_rate": 0.1,
        # Adam enlarges the rounding errors of gradients that vanish.
        "optimizer": "sgd:momentum=0.0",
    }
    for method in ("MSE", "SPO+"):
        repeated, _ = rl.train(
            PROBLEM, X[rows], C[rows], method, split=(np.arange(len(rows)), []), **settings
        )
        weighted, _ = rl.train(
            PROBLEM,
            X[:100],
            C[:100],
            method,
            weights=weights,
            split=(np.arange(100), []),
            **settings,
        )
        plain, _ = rl.train(
            PROBLEM, X[:100], C[:100], method, split=(np.arange(100), []), **settings
        )
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-4, atol=1e-4)
        assert np.abs(weighted.predict(X) - plain.predict(X)).max() > 1e-3


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(199), "199 weights for 200 rows"),
        (np.ones((200, 1)), "weights has 2 dimensions"),
        (np.append(np.ones(199), -1.0), "weights: row 199"),
        (np.append(np.ones(199), np.nan), "weights: row 199"),
        (np.zeros(200), "all rows have weight 0"),
        (np.arange(200) < 1, "validation rows have weight 0"),
        (["a"] * 200, "weights must be an array of numbers"),
    ],
)
def test_invalid_weights_of_rows_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        rl.train(PROBLEM, X, C, labels=LABELS, weights=weights, split=(120, 40, 40))


def test_a_resumed_training_has_the_same_weights(tmp_path):
    weights = np.linspace(0.1, 2.0, 200)
    path = tmp_path / "model.safetensors"
    settings = {"labels": LABELS, "epochs": 3, "seed": 1}
    first, _ = rl.train(PROBLEM, X, C, "MAE(C,O,S)", weights=weights, checkpoint=path, **settings)
    again, _ = rl.train(PROBLEM, X, C, "MAE(C,O,S)", weights=weights, **settings)
    other, _ = rl.train(PROBLEM, X, C, "MAE(C,O,S)", weights=weights[::-1], **settings)
    assert first == again != other


def test_a_column_that_a_prediction_may_make_unbounded_is_named():
    problem = rl.Problem.from_arrays(
        [[1.0, 1.0]],
        [2.0],
        sense="minimize",
        relations=">=",
        upper=[3.0, np.inf],
        names=["x", "y"],
    )
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 2))
    costs = 5 + rng.random((40, 2))
    with pytest.warns(UserWarning, match="column y has no upper bound"):
        rl.train(problem, features, costs, "MAE(O,S)", epochs=2)
