"""Boosted trees that are fine-tuned for decisions."""

import json
import zipfile

import numpy as np
import pytest

import regretless as rl
from regretless.trees import BoostedCostModel, CostSensitiveObjective, RegretMetric
from regretless.trees._fine_tune import gradient_scale

LIBRARIES = ["xgboost", "lightgbm"]


def data(rows=300):
    """Features and costs of small paths."""
    features, costs = rl.generate("SP5x5", instances=rows, seed=5)
    return rl.Problem("SP5x5"), features, costs


def cheapest(items=3):
    """The cheapest of some items."""
    return rl.Problem({"kind": "top_k", "items": items, "k": 1, "sense": "minimize"})


def tuner(library, objective):
    """The fine-tuning of a library, or a skipped test."""
    pytest.importorskip(library, reason=f"{library} is not installed")
    return getattr(objective, f"fine_tune_{library}")


def mean_regret(problem, model, features, costs):
    """Mean regret of a model's decisions."""
    return rl.regret(problem, model.predict(features), costs).mean()


def test_derivatives_are_those_of_the_loss_in_the_size_of_costs():
    problem, _, costs = data(20)
    for loss in ("MSE", "MSE(O,S)", "MAE(O,S)", "MAE(O)"):
        objective = CostSensitiveObjective(problem, costs, loss)
        predictions = costs * np.random.default_rng(0).uniform(0.5, 1.5, costs.shape).astype(
            np.float32
        )
        gradient, second = objective.derivatives(predictions)
        _, plain = rl.Loss(problem, costs, loss).evaluate(predictions)
        np.testing.assert_allclose(
            gradient, plain * gradient_scale(rl.CostSensitiveSpec(loss), costs)[0], rtol=1e-5
        )
        assert 0.01 < np.abs(gradient).max() / np.abs(costs).mean() < 50, (
            "a gradient of the size of costs"
        )
        assert (second > 0).all()
    squared, curvature = CostSensitiveObjective(problem, costs, "MSE").derivatives(predictions)
    np.testing.assert_allclose(squared / curvature, predictions - costs, rtol=1e-4, atol=1e-4)


def test_spaces_in_a_name_change_no_gradient():
    _, _, costs = data(20)
    spaced, compact = (rl.CostSensitiveSpec(name) for name in ("MAE(O, S)", "MAE(O,S)"))
    assert gradient_scale(spaced, costs) == gradient_scale(compact, costs)


@pytest.mark.parametrize("library", LIBRARIES)
def test_fine_tuning_lowers_the_regret_on_rows_never_seen(library):
    problem, features, costs = data(600)
    model = tuner(library, CostSensitiveObjective(problem, costs[:400]))(
        features[:400], rounds=(15, 40)
    )
    base, tuned = (
        mean_regret(problem, each, features[400:], costs[400:]) for each in (model.base, model)
    )
    assert model.report.best_round > 0
    assert tuned < 0.9 * base


def groups(rows, seed, noise=0.5):
    """Ten kinds of rows with their own costs and some noise, which a few trees can memorize."""
    random = np.random.RandomState(seed)
    kind = np.arange(rows) % 10
    features = np.stack([kind, 3 * kind % 10, 7 * kind % 10], axis=1).astype(np.float32)
    costs = 1.0 + (kind[:, None] + 3 * np.arange(3)) % 7 + random.uniform(0.0, noise, (rows, 3))
    return features, costs.astype(np.float32)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_base_that_tuning_makes_worse_is_kept(library):
    # The base has seen each kind in 2000 noisy rows; tuning has 30 and takes far too large steps.
    problem, (features, costs), held = (
        cheapest(),
        groups(30, 1, noise=8.0),
        groups(300, 2, noise=8.0),
    )
    base = Known(groups(2000, 3, noise=8.0))
    small_leaves = {"min_data_in_leaf": 1} if library == "lightgbm" else {}
    tune = tuner(library, CostSensitiveObjective(problem, costs))
    model = tune(
        features, base=base, rounds=(1, 20), validation=held, learning_rate=5.0, **small_leaves
    )
    regrets = [entry.regret for entry in model.history]
    assert max(regrets) > regrets[0], "the tuning did harm, else this test shows nothing"
    assert regrets[-1] > regrets[0], "the last round is worse than the base"
    assert model.report.best_round == 0 and model.trees is None
    np.testing.assert_array_equal(model.predict(held[0]), base.predict(held[0]))
    assert mean_regret(problem, model, *held) == pytest.approx(regrets[0])


class Known:
    """A model that has memorized the training rows."""

    def __init__(self, table):
        features, costs = table
        self.means = np.stack([costs[features[:, 0] == kind].mean(axis=0) for kind in range(10)])

    def predict(self, features):
        """The mean costs of each kind."""
        return self.means[np.asarray(features)[:, 0].astype(int)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_history_has_every_round_and_the_best_is_selected(library):
    problem, features, costs = data()
    held = slice(200, 300)
    model = tuner(library, CostSensitiveObjective(problem, costs[:200]))(
        features[:200], rounds=(10, 12), validation=(features[held], costs[held])
    )
    assert [entry.round for entry in model.history] == list(range(13))
    regrets = [entry.regret for entry in model.history]
    report = model.report
    assert report.best_round == int(np.argmin(regrets)) and report.rounds == 12
    assert report.base_regret == regrets[0] and report.best_regret == pytest.approx(
        min(regrets), rel=1e-6
    )
    assert (report.training_rows, report.validation_rows) == (200, 100)
    labels = rl.label(problem, costs[held])
    worth = rl.evaluate(problem, model.predict(features[held]), C=costs[held], labels=labels)
    assert worth.regret == pytest.approx(report.best_regret, rel=1e-6)
    best = model.history[report.best_round]
    assert best.normalized_regret == pytest.approx(worth.normalized_regret, rel=1e-6)
    assert f"round {report.best_round} of 12," in repr(model)


@pytest.mark.parametrize("library", LIBRARIES)
def test_patience_ends_a_tuning_that_gains_nothing(library):
    problem, (features, costs) = cheapest(), groups(100, 1)
    tune = tuner(library, CostSensitiveObjective(problem, costs))
    model = tune(
        features,
        base=Known((features, costs)),
        rounds=(1, 50),
        validation=groups(60, 2),
        patience=3,
    )
    assert model.report.rounds == model.report.best_round + 3
    assert model.report.stopped == "no better round within 3"


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_call_gives_the_same_bytes_for_any_number_of_threads(library, tmp_path):
    problem, features, costs = data(150)
    files = []
    for name, threads in (("a", None), ("b", 1), ("c", 2)):
        model = tuner(library, CostSensitiveObjective(problem, costs))(
            features, rounds=(5, 5), threads=threads
        )
        model.save(tmp_path / name)
        files.append(model.predict(features).tobytes())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert files[0] == files[1] == files[2]
    other = tuner(library, CostSensitiveObjective(problem, costs))(features, rounds=(5, 5), seed=1)
    assert other.predict(features).tobytes() != files[0], "another seed holds back other rows"


def frames(rows=150):
    """A table with names."""
    pandas = pytest.importorskip("pandas")
    problem, features, costs = data(rows)
    return (
        problem,
        pandas.DataFrame(features, columns=list("abcde")),
        pandas.DataFrame(costs, columns=[f"arc {i}" for i in range(40)]),
    )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("learning_rate", [0.02, 50.0])
def test_a_saved_model_decides_the_same(library, learning_rate, tmp_path):
    problem, features, costs = frames()
    model = tuner(library, CostSensitiveObjective(problem, costs))(
        features, rounds=(5, 8), learning_rate=learning_rate
    )
    path = tmp_path / "model.zip"
    model.save(path)
    again = BoostedCostModel.load(path)
    np.testing.assert_array_equal(again.predict(features), model.predict(features))
    np.testing.assert_array_equal(
        again.decide(features).decisions, model.decide(features, problem=problem).decisions
    )
    np.testing.assert_array_equal(
        model.decide(features).decisions, problem.solve_all(model.predict(features)).decisions
    )
    assert again.feature_names == list("abcde") and again.cost_names == list(costs.columns)
    assert (again.history, again.report, again.problem) == (model.history, model.report, problem)
    with pytest.raises(FileExistsError, match="force"):
        model.save(path)
    model.save(path, force=True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_saved_model_holds_the_file_of_its_problem(library, tmp_path):
    features, costs = groups(30, 1)
    path = tmp_path / "cheapest.lp"
    path.write_text(
        "minimize\n obj: a + b + c\nsubject to\n one: a + b + c = 1\nbinary\n a b c\nend\n"
    )
    problem = rl.Problem.from_file(path)
    tune = tuner(library, CostSensitiveObjective(problem, costs))
    model = tune(features, validation=groups(20, 2), rounds=(1, 3))
    model.save(tmp_path / "model.zip")
    expected = model.decide(features).values
    path.unlink()
    again = BoostedCostModel.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.decide(features).values, expected)
    assert again.problem.cost_names == ["a", "b", "c"]
    # The content is compared with its hash.
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "forged.zip", "w") as archive:
        for name, content in parts.items():
            forged = content.replace(b"= 1", b"= 2") if name == "problem.file" else content
            archive.writestr(name, forged)
    with pytest.warns(UserWarning, match="damaged"):
        assert BoostedCostModel.load(tmp_path / "forged.zip").problem is None


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_base_without_trees_is_saved_too(library, tmp_path):
    problem, (features, costs) = cheapest(), groups(30, 1)
    base, _ = rl.train(problem, features, costs, "MSE", epochs=3, seed=1)
    model = tuner(library, CostSensitiveObjective(problem, costs))(
        features, base=base, validation=groups(20, 2), rounds=(1, 3)
    )
    model.save(tmp_path / "model")
    again = BoostedCostModel.load(tmp_path / "model")
    assert again.base == base
    np.testing.assert_array_equal(again.predict(features), model.predict(features))
    twice = tuner(library, CostSensitiveObjective(problem, costs))(
        features, base=again, validation=groups(20, 2), rounds=(1, 3)
    )
    twice.save(tmp_path / "twice")
    np.testing.assert_array_equal(
        BoostedCostModel.load(tmp_path / "twice").predict(features), twice.predict(features)
    )


def test_boosters_of_xgboost_are_bases_by_what_they_predict(tmp_path):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    problem, (features, costs) = cheapest(), groups(100, 1)
    # A logarithmic link: margins of this base are logarithms of costs.
    estimator = xgboost.XGBRegressor(n_estimators=20, objective="reg:gamma", n_jobs=1).fit(
        features, costs
    )
    model = CostSensitiveObjective(problem, costs).fine_tune_xgboost(
        features, base=estimator, rounds=(1, 2), validation=groups(60, 2), learning_rate=1e-9
    )
    np.testing.assert_allclose(model.predict(features), estimator.predict(features), rtol=1e-4)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        BoostedCostModel.load(tmp_path / "model").predict(features), model.predict(features)
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_regressor_of_logarithms_is_a_base(library):
    pytest.importorskip("sklearn")
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import Ridge

    problem, features, costs = frames(220)
    train, held = slice(0, 150), slice(150, 220)
    logarithm = {"func": np.log, "inverse_func": np.exp, "check_inverse": False}
    base = TransformedTargetRegressor(Ridge(alpha=300.0), **logarithm).fit(
        features[train], costs[train]
    )
    tune = tuner(library, CostSensitiveObjective(problem, costs[train]))
    model = tune(
        features[train], base=base, rounds=(1, 20), validation=(features[held], costs[held])
    )
    assert model.base is base and model.report.best_round > 0
    worth = [mean_regret(problem, each, features[held], costs[held]) for each in (base, model)]
    assert worth == pytest.approx([model.report.base_regret, model.report.best_regret], rel=1e-5)
    assert worth[1] < worth[0]


def test_a_base_that_only_pickle_could_write_is_not_saved(tmp_path):
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, (features, costs) = cheapest(), groups(100, 1)
    model = CostSensitiveObjective(problem, costs).fine_tune_lightgbm(
        features, base=Known((features, costs)), rounds=(1, 2)
    )
    with pytest.raises(ValueError, match="Known, which only pickle could write"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_for_a_function_is_given_the_function_again(library, tmp_path):
    def solve(costs):
        return np.arange(len(costs)) == np.argmin(costs)

    features, costs = groups(60, 1)
    problem = rl.Problem.from_solver(solve, 3, sense="minimize", name="cheapest of three")
    model = tuner(library, CostSensitiveObjective(problem, costs))(features, rounds=(3, 3))
    model.save(tmp_path / "model")
    again = BoostedCostModel.load(tmp_path / "model")
    np.testing.assert_array_equal(
        again.decide(features, problem=problem).decisions, model.decide(features).decisions
    )
    with pytest.raises(ValueError, match="give it: decide"):
        again.decide(features)


@pytest.mark.parametrize("library", LIBRARIES)
def test_wrong_files_are_refused(library, tmp_path):
    problem, (features, costs) = cheapest(), groups(60, 1)
    model = tuner(library, CostSensitiveObjective(problem, costs))(features, rounds=(3, 3))
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    model.save(right)

    def refused(words):
        with pytest.raises(ValueError, match=words) as found:
            BoostedCostModel.load(wrong)
        assert str(wrong) in str(found.value)

    wrong.write_text("a,b\n1,2\n")
    refused("not a file of fine-tuned trees")
    rl.train(problem, features, costs, epochs=1)[0].save(wrong, force=True)
    refused("not a file of fine-tuned trees")
    np.savez(tmp_path / "wrong.npz", a=np.zeros(3))
    (tmp_path / "wrong.npz").replace(wrong)
    refused("not a file of fine-tuned trees")
    with pytest.raises(FileNotFoundError):
        BoostedCostModel.load(tmp_path / "missing")

    def changed(**replaced):
        with zipfile.ZipFile(right) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        parts |= {
            name.replace("__", "/").replace("_json", ".json"): content
            for name, content in replaced.items()
        }
        with zipfile.ZipFile(wrong, "w") as archive:
            for name, content in parts.items():
                if content is not None:
                    archive.writestr(name, content)

    changed(base__description_json=None)
    refused("description.json")
    with zipfile.ZipFile(right) as archive:
        description = json.loads(archive.read("description.json"))
    changed(description_json=json.dumps(description | {"version": 99}))
    refused("version 99")
    changed(description_json=json.dumps(description | {"library": "pickle"}))
    refused("cannot be read")
    content = bytearray(right.read_bytes())
    refusals = 0
    for place in range(100, len(content) - 400, max(1, len(content) // 40)):
        content[place] ^= 255
        wrong.write_bytes(content)
        content[place] ^= 255
        try:
            found = BoostedCostModel.load(wrong)
        except ValueError:
            refusals += 1
        else:  # a byte that means nothing, such as a time
            np.testing.assert_array_equal(found.predict(features), model.predict(features))
    assert refusals > 20


def test_a_part_that_claims_to_be_huge_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("description.json", bytes(1 << 25))
    with pytest.raises(ValueError, match="claims 33554432 bytes"):
        BoostedCostModel.load(tmp_path / "bomb")


def interrupted_after(solves):
    """A problem whose function is interrupted by Ctrl-C after as many solves."""
    calls = []

    def solve(costs):
        calls.append(1)
        if len(calls) > solves:
            raise KeyboardInterrupt
        return np.arange(len(costs)) == np.argmin(costs)

    return rl.Problem.from_solver(solve, 3, sense="minimize", name="impatient")


def interrupted_tuning(library, rounds, finished):
    """The objective of a tuning that Ctrl-C ends after so many finished rounds, and the table."""
    features, costs = groups(60, 1)
    # 60 labels and 12 validation labels (with four and three repeated solves), 12 solves
    # for the base and for each finished round; then Ctrl-C.
    objective = CostSensitiveObjective(interrupted_after(64 + 15 + (1 + finished) * 12), costs)
    with pytest.raises(KeyboardInterrupt):
        tuner(library, objective)(features, rounds=(3, rounds), validation=0.2)
    return objective, features, costs


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_interruption_leaves_the_best_model_so_far(library):
    objective, features, costs = interrupted_tuning(library, rounds=30, finished=2)
    assert [entry.round for entry in objective.incumbent.history] == [0, 1, 2]
    assert objective.incumbent.report.stopped == "interrupted: KeyboardInterrupt"
    assert objective.incumbent.predict(features).shape == costs.shape


def test_progress_shows_both_parts(monkeypatch):
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    from regretless.trees import _fine_tune

    calls = []

    class Shown:
        def show(self, task, steps, done, message):
            calls.append((task, steps, done, message))

        def close(self):
            calls.append("closed")

    monkeypatch.setattr(_fine_tune, "Progress", Shown)
    problem, (features, costs) = cheapest(), groups(60, 1)
    CostSensitiveObjective(problem, costs).fine_tune_lightgbm(
        features, rounds=(2, 3), progress=True
    )
    assert {(entry[0], entry[1]) for entry in calls[:-1]} == {
        ("base by squared error", 2),
        ("fine-tuning", 3),
    }
    assert "validation regret" in calls[-2][3] and calls[-1] == "closed"


@pytest.mark.parametrize("library", LIBRARIES)
def test_other_features_are_refused_by_name(library):
    problem, features, costs = frames(60)
    model = tuner(library, CostSensitiveObjective(problem, costs))(features, rounds=(2, 2))
    with pytest.raises(ValueError, match="feature 0 of X is 'e'.*a different order"):
        model.predict(features[list("edcba")])
    with pytest.raises(ValueError, match="4 features"):
        model.predict(features.to_numpy()[:, :4])
    with pytest.raises(ValueError, match="column b: 'x' is not a number"):
        model.predict(features.assign(b="x"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_costs_of_double_precision_are_tuned_for_as_well(library):
    problem, features, costs = data(100)
    precise = costs.astype(np.float64) + 1e-9
    model = tuner(library, CostSensitiveObjective(problem, precise))(
        features, rounds=(3, 3), validation=(features[:50], precise[:50])
    )
    assert model.report.best_regret == pytest.approx(
        mean_regret(problem, model, features[:50], precise[:50]), rel=1e-6
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_in_another_order_are_refused(library):
    problem, features, costs = frames(60)
    tune = tuner(library, CostSensitiveObjective(problem, costs.iloc[::-1]))
    with pytest.raises(ValueError, match=r"same row labels in a different order.*C.loc\[X.index\]"):
        tune(features)


def test_sparse_features_stay_sparse_where_zeros_would_change_their_meaning(tmp_path):
    pytest.importorskip("xgboost", reason="xgboost is not installed")
    sparse = pytest.importorskip("scipy.sparse").csr_matrix
    problem, features, costs = data(100)
    features = np.where(features > 0, features, 0.0).astype(np.float32)
    model = CostSensitiveObjective(problem, costs).fine_tune_xgboost(
        sparse(features), rounds=(3, 3)
    )
    model.save(tmp_path / "model")
    again = BoostedCostModel.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(sparse(features)), model.predict(sparse(features)))
    with pytest.raises(ValueError, match="trained on a sparse matrix, and X is an array"):
        again.predict(features)
    dense = CostSensitiveObjective(problem, costs)
    with pytest.raises(ValueError, match="trained on an array, and X is a sparse matrix"):
        dense.fine_tune_xgboost(features, rounds=(3, 3)).predict(sparse(features))
    with pytest.raises(ValueError, match="trained on an array, and X is a sparse matrix"):
        dense.fine_tune_xgboost(features, validation=(sparse(features), costs))


def test_settings_by_an_alias_count_and_those_of_the_tuning_are_refused():
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    pytest.importorskip("xgboost", reason="xgboost is not installed")
    problem, features, costs = data(100)
    objective = CostSensitiveObjective(problem, costs)
    for tune in (objective.fine_tune_lightgbm, objective.fine_tune_xgboost):
        by_name, by_alias, as_it_is = (
            tune(features, rounds=(2, 3), **rate)
            for rate in ({"learning_rate": 0.5}, {"eta": 0.5}, {})
        )
        assert [e.regret for e in by_name.history] == [e.regret for e in by_alias.history]
        assert [e.regret for e in by_name.history] != [e.regret for e in as_it_is.history]
        with pytest.raises(ValueError, match="'objective' is set by the fine-tuning"):
            tune(features, objective="multiclass")


@pytest.mark.parametrize("validation", [0.0, 1.0, 0.001, -1, True, "half", (1,)])
def test_invalid_validation_rows_are_refused(validation):
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, (features, costs) = cheapest(), groups(60, 1)
    with pytest.raises(ValueError, match="validat"):
        CostSensitiveObjective(problem, costs).fine_tune_lightgbm(features, validation=validation)


def test_a_round_selected_on_few_rows_raises_a_warning():
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, (features, costs) = cheapest(), groups(30, 1)
    with pytest.warns(UserWarning, match="6 validation rows.*mostly chance"):
        CostSensitiveObjective(problem, costs).fine_tune_lightgbm(features, rounds=(2, 2))


def test_a_table_too_small_for_trees_keeps_its_mean_costs():
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, (features, costs) = cheapest(), groups(15, 1)
    model = CostSensitiveObjective(problem, costs).fine_tune_lightgbm(
        features, validation=groups(20, 2), rounds=(5, 5)
    )
    np.testing.assert_allclose(
        model.predict(features), np.repeat(costs.mean(axis=0)[None], 15, axis=0), rtol=1e-5
    )
    assert model.report.stopped == "no tree can be split any more"


def test_an_objective_refuses_a_table_of_other_costs():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    problem, features, costs = data(50)
    objective = CostSensitiveObjective(problem, costs)
    settings = {"num_target": costs.shape[1], "disable_default_eval_metric": 1, "nthread": 1}
    xgboost.train(settings, xgboost.DMatrix(features, label=costs), 1, obj=objective.xgboost)
    precise = costs.astype(np.float64) + 1e-9
    xgboost.train(
        settings,
        xgboost.DMatrix(features, label=precise),
        1,
        obj=CostSensitiveObjective(problem, precise).xgboost,
    )
    with pytest.raises(ValueError, match="row by row"):
        xgboost.train(
            settings, xgboost.DMatrix(features, label=costs[::-1]), 1, obj=objective.xgboost
        )


def test_regret_is_a_metric_of_xgboost():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    problem, features, costs = data()
    table, test_table = (
        xgboost.DMatrix(features[:200], label=costs[:200]),
        xgboost.DMatrix(features[200:], label=costs[200:]),
    )
    history: dict = {}
    settings = {
        "tree_method": "hist",
        "num_target": costs.shape[1],
        "disable_default_eval_metric": 1,
        "max_depth": 3,
        "nthread": 1,
    }
    metric = RegretMetric(problem)
    model = xgboost.train(
        settings,
        table,
        20,
        evals=[(test_table, "test")],
        custom_metric=metric.xgboost,
        evals_result=history,
        verbose_eval=False,
    )
    predictions = model.predict(test_table)
    labels = rl.label(problem, costs[200:])
    expected = (
        rl.regret(problem, predictions, costs[200:], labels=labels).sum() / labels.objectives.sum()
    )
    assert history["test"]["regret"][-1] == pytest.approx(expected, rel=1e-4)
    assert history["test"]["regret"][-1] < history["test"]["regret"][0]


def test_a_table_with_new_costs_is_evaluated_by_them():
    problem, _, costs = data(40)

    class Table:
        label = costs[:20]

        def get_label(self):
            return self.label

    table, metric = Table(), RegretMetric(problem)
    assert metric.xgboost(costs[:20], table)[1] == pytest.approx(0.0, abs=1e-6)
    table.label = costs[20:]
    assert metric.xgboost(costs[20:], table)[1] == pytest.approx(0.0, abs=1e-6)


def test_regret_is_a_metric_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, features, costs = data(200)
    table = lightgbm.Dataset(
        features,
        label=np.zeros(len(costs)),
        init_score=np.repeat(costs.mean(0)[None], len(costs), 0),
    )
    history: dict = {}
    objective = CostSensitiveObjective(problem, costs, "MSE").lightgbm
    settings = {
        "num_class": costs.shape[1],
        "objective": objective,
        "verbosity": -1,
        "num_threads": 1,
    }
    metric = RegretMetric(problem, {table: costs})
    lightgbm.train(
        settings,
        table,
        10,
        valid_sets=[table],
        valid_names=["same"],
        feval=metric.lightgbm,
        callbacks=[lightgbm.record_evaluation(history)],
    )
    assert history["same"]["regret"][-1] < history["same"]["regret"][0]


def test_losses_that_solve_are_no_objective():
    problem, _, costs = data(5)
    with pytest.raises(ValueError, match="not 'SPO"):
        CostSensitiveObjective(problem, costs, "SPO+")
    with pytest.raises(ValueError, match="use S instead of E"):
        CostSensitiveObjective(problem, costs, "MAE(O,E)")


@pytest.mark.parametrize("library", LIBRARIES)
def test_trees_that_end_up_worse_than_the_base_are_dropped_with_a_warning(library, monkeypatch):
    problem, (features, costs), held = cheapest(), groups(100, 1), groups(50, 2)
    real = BoostedCostModel._number_costs

    def turned(model, table):
        """Only what is tuned holds the problem: its trees then prefer the most expensive item."""
        found = real(model, table)
        return -found if model.problem is not None and model.trees is not None else found

    monkeypatch.setattr(BoostedCostModel, "_number_costs", turned)
    with pytest.warns(UserWarning, match="The base is kept"):
        model = tuner(library, CostSensitiveObjective(problem, costs))(
            features, rounds=(1, 10), validation=held
        )
    assert model.trees is None and model.report.best_round == 0
    assert model.report.best_regret == model.report.base_regret == model.history[0].regret
    assert min(entry.regret for entry in model.history) < model.history[0].regret, (
        "a round was better on its way"
    )
    np.testing.assert_array_equal(model.predict(held[0]), model.base.predict(held[0]))


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_interruption_of_the_last_check_leaves_the_model(library):
    objective, _, _ = interrupted_tuning(library, rounds=1, finished=1)
    assert [entry.round for entry in objective.incumbent.history] == [0, 1]
    assert objective.incumbent.report.stopped == "all rounds were run"
