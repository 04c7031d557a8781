"""Custom predictors in the trainer: torch modules and scikit-learn regressors."""

import pickle
import warnings

import numpy as np
import pytest

import regretless as rl

SETTINGS = {"epochs": 6, "split": (80, 30, 40), "learning_rate": 0.02}


@pytest.fixture(scope="module")
def knapsack():
    return rl.Problem("KS8"), *rl.generate("KS8", instances=150)


def linear_module(X, C):
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(X.shape[1], C.shape[1])
    torch.nn.init.zeros_(module.weight)
    torch.nn.init.zeros_(module.bias)
    return module


@pytest.mark.parametrize("method", ["MSE", "MAE(O,S)", "SPO+", "SPO+ cache 30%", "MAP"])
def test_a_linear_module_is_trained_as_our_linear_predictor(knapsack, method):
    problem, X, C = knapsack
    model, report = rl.train(
        problem, X, C, method=method, predictor=linear_module(X, C), **SETTINGS
    )
    _, ours = rl.train(problem, X, C, method=method, fused=False, **SETTINGS)
    assert report.solves_by_kind == ours.solves_by_kind
    assert report.split == ours.split
    assert len(report.rounds[0].epochs) == len(ours.rounds[0].epochs) == 7
    # Ours starts from random parameters: the trainings are alike, not equal.
    assert report.test.normalized_regret < 2 * ours.test.normalized_regret + 0.02
    assert report.training_mean == ours.training_mean
    best = report.rounds[-1].epochs[report.best_epoch].validation_regret
    assert best == min(epoch.validation_regret for epoch in report.rounds[-1].epochs)
    assert report.validation.regret == pytest.approx(best, rel=1e-6)
    evaluation = model.evaluate(X[-40:], C[-40:])
    assert evaluation.regret == pytest.approx(report.test.regret, rel=1e-5)
    assert model.decide(X[:3]).decisions.shape == (3, C.shape[1])


def test_the_same_seed_trains_the_same_module(knapsack):
    problem, X, C = knapsack
    method = "MAE(O,S) then SPO+ lr 0.005 epochs 2"
    found = []
    for threads in (1, 2):
        model, report = rl.train(
            problem, X, C, method=method, predictor=linear_module(X, C), threads=threads, **SETTINGS
        )
        found.append(model.predict(X))
        assert [len(round.epochs) for round in report.rounds] == [7, 3]
    np.testing.assert_array_equal(found[0], found[1])


def test_a_module_is_trained_with_a_loss_of_ones_own_and_its_own_optimizer(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack

    @rl.loss(name="weighted")
    def weighted(predicted, true, decisions):
        weight, error = 1 + 4 * decisions, predicted - true
        return (weight * error**2).mean(axis=1), 2 * weight * error / error.shape[1]

    module = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], 16), torch.nn.ReLU(), torch.nn.Linear(16, C.shape[1])
    )
    _, report = rl.train(
        problem,
        X,
        C,
        method=weighted,
        predictor=module,
        optimizer=lambda parameters: torch.optim.RMSprop(parameters, lr=0.01),
        epochs=6,
        split=(80, 30, 40),
    )
    losses = [epoch.training_loss for epoch in report.rounds[0].epochs[1:]]
    assert losses[-1] < losses[0]
    assert report.method == "weighted"


def test_a_wrong_gradient_is_refused_for_a_module_too(knapsack):
    problem, X, C = knapsack

    @rl.loss(name="wrong-for-module")
    def wrong(predicted, true):
        error = predicted - true
        return (error**2).mean(axis=1), error

    with pytest.raises(ValueError, match="'wrong-for-module' is wrong"):
        rl.train(problem, X, C, method=wrong, predictor=linear_module(X, C), **SETTINGS)


def test_a_module_of_the_wrong_shape_is_refused(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack
    with pytest.raises(ValueError, match=r"the problem has 8 costs"):
        rl.train(problem, X, C, predictor=torch.nn.Linear(X.shape[1], 3), **SETTINGS)
    with pytest.raises(TypeError, match="'weights'"):
        module = linear_module(X, C)
        rl.train(problem, X, C, predictor=module, weights=np.ones(len(X)), **SETTINGS)
    with pytest.raises(ValueError, match="name a method"):
        rl.train(problem, X, C, method="auto", predictor=linear_module(X, C), **SETTINGS)


def test_images_are_refused_with_the_layer_that_takes_them_flat(knapsack):
    torch = pytest.importorskip("torch")
    problem, _, C = knapsack
    images = np.random.default_rng(0).normal(size=(150, 2, 4, 4))
    convolution = torch.nn.Conv2d(2, 3, 3)
    layers = [convolution, torch.nn.Flatten(), torch.nn.Linear(12, 8)]
    words = r"give X.reshape\(len\(X\), -1\), and begin .* torch.nn.Unflatten\(1, \(2, 4, 4\)\)"
    with pytest.raises(ValueError, match=words):
        rl.train(problem, images, C, predictor=torch.nn.Sequential(*layers), **SETTINGS)
    flat = torch.nn.Sequential(torch.nn.Unflatten(1, (2, 4, 4)), *layers)
    model, _ = rl.train(problem, images.reshape(150, -1), C, predictor=flat, **SETTINGS)
    assert model.predict(images.reshape(150, -1)).shape == (150, 8)


def test_training_stops_by_patience(knapsack):
    problem, X, C = knapsack
    settings = {**SETTINGS, "epochs": 200, "learning_rate": 1e-9, "patience": 2}
    _, report = rl.train(problem, X, C, method="MSE", predictor=linear_module(X, C), **settings)
    assert report.stopped == "patience"
    assert len(report.rounds[0].epochs) <= 10


def test_a_regressor_is_fitted_and_evaluated(knapsack):
    ensemble = pytest.importorskip("sklearn.ensemble")
    problem, X, C = knapsack
    forest = ensemble.RandomForestRegressor(n_estimators=10, random_state=0)
    model, report = rl.train(problem, X, C, predictor=forest, split=(80, 30, 40))
    assert report.method == "RandomForestRegressor.fit"
    assert report.solves == 30
    np.testing.assert_allclose(
        model.predict(X[:5]), forest.predict(np.asarray(X[:5], dtype=np.float64))
    )
    expected = rl.evaluate(problem, forest.predict(X[-40:]), C=C[-40:])
    assert report.test.regret == pytest.approx(expected.regret, rel=1e-4)
    with pytest.raises(ValueError, match="fitted by its own fit"):
        rl.train(problem, X, C, method="SPO+", predictor=forest)
    with pytest.raises(TypeError, match="fit and predict"):
        rl.train(problem, X, C, predictor=object())


class Oracle:
    """A regressor that knows the true costs of every row, or the opposite of them."""

    def __init__(self, X, C, sign):
        pairs = zip(X, C, strict=True)
        self.costs = {features.tobytes(): sign * costs for features, costs in pairs}

    def fit(self, X, C):
        return self

    def predict(self, X):
        return np.stack([self.costs[features.tobytes()] for features in X])


def test_auto_compares_predictors_of_ones_own_by_validation_regret(knapsack):
    problem, X, C = knapsack
    X = np.asarray(X, dtype=np.float64)
    perfect, worst = Oracle(X, C, 1.0), Oracle(X, C, -1.0)
    split = (80, 30, 40)
    model, report = rl.train(problem, X, C, split=split, candidates=[worst, perfect, "NCE"])
    assert isinstance(model, rl.OwnModel) and model.predictor is perfect
    assert report.method.startswith("auto") and report.test.regret == 0.0
    chosen = [entry for entry in report.candidates if entry.is_chosen]
    assert [entry.predictor for entry in chosen] == ["Oracle"]
    assert any(entry.method.startswith("NCE") for entry in report.candidates)
    ours, alone = rl.train(problem, X, C, method="auto", split=split)
    model, report = rl.train(problem, X, C, method="auto", split=split, candidates=[worst])
    assert isinstance(model, rl.Model)
    np.testing.assert_array_equal(model.predict(X), ours.predict(X))
    assert report.candidates[-1].regret > report.validation.regret == alone.validation.regret


def test_candidates_that_auto_cannot_compare_are_refused(knapsack):
    problem, X, C = knapsack
    for keywords, message in [
        ({"method": "MSE", "candidates": ["SPO+"]}, "compared by"),
        ({"candidates": "SPO+"}, "list of methods"),
        ({"candidates": ["SPO+", "auto"]}, "candidate of itself"),
        ({"candidates": [3]}, "a method is a name"),
        ({"candidates": [lambda: None]}, r'\("MAE\(O,S\)", lambda: Net\(\)\)'),
        ({"predictor": Oracle(X, C, 1.0), "candidates": ["SPO+"]}, "among the candidates"),
        ({"candidates": [Oracle(X, C, 1.0)], "weights": np.ones(len(X))}, "'weights'"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            rl.train(problem, X, C, split=(80, 30, 40), **keywords)


def test_a_function_makes_a_new_module_for_each_training(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack
    made = []

    def make():
        made.append(torch.nn.Linear(X.shape[1], C.shape[1]))
        return made[-1]

    def trained(seed):
        torch.rand(seed + 1)
        model, _ = rl.train(problem, X, C, "MSE", predictor=make, seed=seed, **SETTINGS)
        assert model.predictor is made[-1]
        return model.predict(X)

    first, second, again = trained(0), trained(1), trained(0)
    assert len(made) == 3
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


def test_a_module_that_was_trained_before_is_used_with_a_warning(knapsack):
    problem, X, C = knapsack
    module = linear_module(X, C)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the module was trained before")
        rl.train(problem, X, C, "MSE", predictor=module, **SETTINGS)
    with pytest.warns(UserWarning, match="trained before.*predictor=lambda: Linear"):
        rl.train(problem, X, C, "MSE", predictor=module, seed=1, **SETTINGS)
    with warnings.catch_warnings():
        # Nothing is trained: the module becomes a model as it is.
        warnings.filterwarnings("error", "the module was trained before")
        rl.train(problem, X, C, "MSE", predictor=module, **{**SETTINGS, "epochs": 0})
    candidate = linear_module(X, C)
    with warnings.catch_warnings():
        # Remarks are about the model of the training, not about its candidates.
        warnings.filterwarnings("error", ".*was (the )?best")
        rl.train(problem, X, C, "auto 1s", candidates=[("MSE", candidate)], split=(80, 30, 40))
    with pytest.warns(UserWarning, match="trained before"):
        rl.train(problem, X, C, "MSE", predictor=candidate, **SETTINGS)


class MeanCosts:
    """A regressor that predicts mean costs."""

    def fit(self, X, C):
        self.mean = C.mean(axis=0)
        return self

    def predict(self, X):
        return np.tile(self.mean, (len(X), 1))


@pytest.mark.parametrize("predictor", [MeanCosts, lambda: MeanCosts(), MeanCosts()])
def test_a_regressor_may_be_made_by_its_class_or_by_a_function(knapsack, predictor):
    problem, X, C = knapsack
    model, report = rl.train(problem, X, C, predictor=predictor, split=(80, 30, 40))
    assert isinstance(model.predictor, MeanCosts)
    assert report.method == "MeanCosts.fit"
    with pytest.raises(TypeError, match="or a function that makes one of them, not int"):
        rl.train(problem, X, C, predictor=lambda: 3)


def test_predictors_of_ones_own_find_columns_and_parameters_by_name(knapsack):
    pandas = pytest.importorskip("pandas")
    _, X, C = knapsack
    problem = rl.Problem.knapsack([3, 1, 2, 2, 1, 3, 2, 1], capacity=rl.column("capacity"))
    table = pandas.DataFrame(X, columns=list("abcde")).assign(capacity=6.0)
    model, _ = rl.train(problem, table, C, predictor=MeanCosts, split=(80, 30, 40))
    extra = table.assign(note="text")
    decisions = model.decide(extra).decisions
    assert (decisions @ np.array([3, 1, 2, 2, 1, 3, 2, 1]) <= 6).all()
    given = model.decide(extra, parameters=["capacity"]).decisions
    np.testing.assert_array_equal(decisions, given)
    assert model.evaluate(extra, C).regret > 0


NAMES = [f"item {letter}" for letter in "abcdefgh"]


@pytest.fixture
def named():
    """A problem with names, features with an index, and costs in another order, as frames."""
    pandas = pytest.importorskip("pandas")
    X, C = rl.generate("KS8", instances=150)
    problem = rl.Problem.from_arrays(
        [np.arange(1, 9)], [12], sense="maximize", integer=True, upper=np.ones(8), names=NAMES
    )
    days = pandas.date_range("2026-01-01", periods=150, name="day")
    features = pandas.DataFrame(X, columns=list("abcde"), index=days)
    costs = pandas.DataFrame(C, columns=NAMES, index=days)
    return problem, features, costs[NAMES[::-1]]


def own_predictor(kind, X, C):
    return MeanCosts() if kind == "regressor" else linear_module(X, C)


KINDS = pytest.mark.parametrize("kind", ["module", "regressor"])


@KINDS
def test_predictions_and_decisions_of_a_frame_are_frames(named, kind):
    problem, X, C = named
    model, _ = rl.train(problem, X, C, predictor=own_predictor(kind, X, C), split=(80, 30, 40))
    predicted = model.predict(X[60:70])
    assert list(predicted.columns) == NAMES and predicted.index.equals(X.index[60:70])
    np.testing.assert_array_equal(predicted.to_numpy(), model.predict(X[60:70].to_numpy()))
    solutions = model.decide(X[60:70])
    array = model.decide(X[60:70].to_numpy()).decisions
    assert isinstance(array, np.ndarray)
    assert list(solutions.decisions.columns) == NAMES
    np.testing.assert_array_equal(solutions.decisions.to_numpy(), array)
    for table in (solutions.decisions, solutions.values, solutions.to_frame()):
        assert table.index.equals(X.index[60:70])
    evaluation = model.evaluate(X[-40:], C[-40:])
    assert evaluation.rows.index.equals(X.index[-40:])
    with pytest.raises(ValueError, match="same row labels in a different order"):
        model.evaluate(X[-40:], C[-40:][::-1])


def test_results_of_a_polars_frame_are_polars_frames(named):
    polars = pytest.importorskip("polars")
    problem, X, C = named
    model, _ = rl.train(problem, X, C, predictor=MeanCosts, split=(80, 30, 40))
    features = polars.DataFrame(X.to_numpy(), schema=list("abcde"))
    predicted = model.predict(features)
    assert isinstance(predicted, polars.DataFrame) and predicted.columns == NAMES
    assert isinstance(model.decide(features).decisions, polars.DataFrame)


def test_costs_without_names_in_the_problem_have_those_of_training(knapsack):
    pandas = pytest.importorskip("pandas")
    problem, X, C = knapsack
    features = pandas.DataFrame(X, columns=list("abcde"))
    costs = pandas.DataFrame(C, columns=NAMES)
    model, _ = rl.train(problem, features, costs, predictor=MeanCosts, split=(80, 30, 40))
    assert list(model.predict(features).columns) == NAMES
    assert list(model.decide(features[:3]).decisions.columns) == NAMES
    found = model.evaluate(features[-40:], costs[NAMES[::-1]][-40:])
    assert found.regret == model.evaluate(X[-40:], C[-40:]).regret
    with pytest.raises(ValueError, match="there is no cost 'x', it lacks 'item h'"):
        model.evaluate(features[-40:], costs.rename(columns={"item h": "x"})[-40:])
    nameless, _ = rl.train(problem, X, C, predictor=MeanCosts, split=(80, 30, 40))
    assert list(nameless.predict(features).columns) == [f"c{item}" for item in range(8)]


@KINDS
def test_rows_of_training_are_recognized(knapsack, kind):
    problem, X, C = knapsack
    model, _ = rl.train(problem, X, C, predictor=own_predictor(kind, X, C), split=(80, 30, 40))
    for copy in (model, pickle.loads(pickle.dumps(model))):
        with pytest.warns(UserWarning, match="trained or validated on 110 of these 150 rows"):
            copy.evaluate(X, C)
        with pytest.warns(UserWarning, match="trained or validated on 10 of these 20 rows"):
            copy.evaluate(X[100:120].astype(np.float64), C[100:120])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            copy.evaluate(X[110:], C[110:])
            # Other costs are other rows.
            copy.evaluate(X[:40], C[40:80])


def test_large_trainings_are_recognized_by_a_sample():
    X, C = rl.generate("KS5", instances=20000)
    problem = rl.Problem("KS5")
    model, _ = rl.train(problem, X, C, predictor=MeanCosts, split=(9900, 100, 10000))
    with pytest.warns(UserWarning, match=r"about \d+ of these 20000 rows \(an estimate"):
        model.evaluate(X, C)
    assert len(pickle.dumps(model)) < 60_000


@KINDS
def test_costs_with_the_names_of_the_problem_are_not_matched_by_position(named, kind):
    problem, X, C = named
    predictor = own_predictor(kind, X, C)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*matched by position")
        model, _ = rl.train(problem, X, C, predictor=predictor, split=(80, 30, 40))
        copy = pickle.loads(pickle.dumps(model))
        copy.decide(X[-40:])
        copy.evaluate(X[-40:], C[-40:])
    with pytest.warns(UserWarning, match="matched by position"):
        copy.evaluate(X[-40:], C[NAMES][-40:].to_numpy())


def test_cost_names_of_arrays_are_those_that_are_given(named):
    problem, X, C = named
    settings = {"predictor": MeanCosts, "split": (80, 30, 40)}
    _, expected = rl.train(problem, X, C, **settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*matched by position")
        _, report = rl.train(problem, X, C.to_numpy(), cost_names=NAMES[::-1], **settings)
    assert report.test.regret == pytest.approx(expected.test.regret, rel=1e-6)


def test_times_of_a_split_may_be_a_column_of_the_costs(named):
    problem, X, C = named
    costs = C.assign(day=X.index)
    model, report = rl.train(problem, X, costs, predictor=MeanCosts, split="time:day")
    assert list(model.predict(X).columns) == NAMES and report.test is not None


def test_a_model_of_a_module_can_be_pickled(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack
    module = torch.nn.Sequential(
        torch.nn.Linear(5, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 8)
    )
    model, _ = rl.train(problem, X, C, method="MAE(O,S)", predictor=module, **SETTINGS)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(copy.decide(X[:5]).decisions, model.decide(X[:5]).decisions)
    assert copy.evaluate(X, C) == model.evaluate(X, C)
    # The table and the labels of the training are not part of it.
    parameters = sum(parameter.numel() for parameter in module.parameters())
    assert len(pickle.dumps(model)) < 20_000 + 8 * parameters


def test_a_model_of_a_regressor_can_be_pickled(knapsack):
    ridge = pytest.importorskip("sklearn.linear_model").Ridge()
    problem, X, C = knapsack
    model, _ = rl.train(problem, X, C, predictor=ridge, split=(80, 30, 40))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(copy.decide(X[:5]).decisions, model.decide(X[:5]).decisions)


def test_a_module_alone_predicts_the_same_without_scaling(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack
    unscaled = {"standardize": False, "scale_costs": False}
    module = torch.nn.Linear(X.shape[1], C.shape[1])
    model, _ = rl.train(problem, X, C, method="MSE", predictor=module, **SETTINGS, **unscaled)
    with torch.no_grad():
        np.testing.assert_allclose(
            module(torch.from_numpy(X)).numpy(), model.predict(X), rtol=1e-6, atol=1e-6
        )
    scaled = torch.nn.Linear(X.shape[1], C.shape[1])
    model, _ = rl.train(problem, X, C, method="MSE", predictor=scaled, **SETTINGS)
    with torch.no_grad():
        assert np.abs(scaled(torch.from_numpy(X)).numpy() - model.predict(X)).max() > 0.1


def test_a_learning_rate_beside_an_optimizer_of_ones_own_is_refused(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack
    module = linear_module(X, C)
    for optimizer in (torch.optim.SGD(module.parameters(), lr=0.1), torch.optim.SGD):
        with pytest.raises(TypeError, match="'learning_rate' beside a custom optimizer"):
            rl.train(problem, X, C, predictor=module, optimizer=optimizer, learning_rate=0.1)
    with pytest.raises(TypeError, match="leave out lr_decay"):
        rl.train(problem, X, C, predictor=module, optimizer=torch.optim.SGD, lr_decay=True)


def test_methods_that_weight_instances_are_refused_with_a_remedy(knapsack):
    problem, X, C = knapsack
    with pytest.raises(ValueError, match="leave the weighting out, or train predictor="):
        rl.train(problem, X, C, method="MSE(C,O,S)", predictor=linear_module(X, C))


def test_a_module_whose_training_did_not_help_is_remarked(knapsack):
    torch = pytest.importorskip("torch")
    problem, X, C = knapsack
    settings = {"method": "MSE", "split": (80, 30, 40), "epochs": 2}
    good = torch.nn.Linear(X.shape[1], C.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rl.train(problem, X, C, predictor=good, **{**settings, "epochs": 40})
    with pytest.warns(UserWarning, match="the initial model was best"):
        wild = {"optimizer": lambda parameters: torch.optim.SGD(parameters, lr=1e3)}
        rl.train(problem, X, C, predictor=good, **settings, **wild)
    slow = {"select": "validation-loss", "learning_rate": 1e-4}
    with pytest.warns(UserWarning, match="the last epoch was the best: more epochs may help"):
        rl.train(problem, X, C, predictor=linear_module(X, C), **settings, **slow)
