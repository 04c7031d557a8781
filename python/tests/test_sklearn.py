"""The estimator is a good citizen of scikit-learn."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest

import regretless as rl

pytest.importorskip("sklearn")

from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_regressor_multioutput,
    parametrize_with_checks,
)

from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer, regret_score
from regretless.sklearn._checks import expected_failed_checks

KS = rl.Problem("KS12")
X, C = rl.generate("KS12", instances=300, seed=0)


TAKE_IT_OR_NOT = {"kind": "top_k", "items": 1, "k": 1, "at_most": True, "sense": "minimize"}
"""A problem with one cost, as the single target of scikit-learn's checks."""

CHECKED = [
    DecisionFocusedRegressor(),
    DecisionFocusedRegressor(method="MSE", predictor="mlp:16", epochs=40),
    DecisionFocusedRegressor(TAKE_IT_OR_NOT),
    DecisionFocusedRegressor(TAKE_IT_OR_NOT, method="SPO+", epochs=20),
    DecisionFocusedRegressor(method="ridge(0.1)", validation=0.0),
    DecisionFocusedRegressor(TAKE_IT_OR_NOT, method="ridge(0.1)", validation=0),
    DecisionFocusedRegressor(method="least squares", validation=0),
]


@pytest.mark.filterwarnings("ignore:every column of y has mean 0:UserWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failed_checks)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [CHECKED[0], CHECKED[2], CHECKED[5]])
def test_checks_that_are_expected_to_fail_fail(estimator):
    """The list of exceptions has no entry too many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator, expected_failed_checks=expected_failed_checks(estimator), on_skip=None
        )
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(expected_failed_checks(estimator))


def test_a_problem_of_five_costs_passes_the_check_of_five_targets():
    problem = {"kind": "top_k", "items": 5, "k": 2, "sense": "minimize"}
    check_regressor_multioutput("estimator", DecisionFocusedRegressor(problem))


def fitted(**settings):
    return DecisionFocusedRegressor(KS, epochs=5, **{"random_state": 0, **settings}).fit(X, C)


def test_it_predicts_decides_and_scores():
    estimator = fitted()
    assert estimator.predict(X).shape == C.shape
    decisions = estimator.decide(X).decisions
    assert set(np.unique(decisions)) <= {0.0, 1.0}
    best = rl.label(KS, C).objectives
    found = -(best - (decisions * C).sum(axis=1)).sum() / best.sum()
    assert estimator.score(X, C) == pytest.approx(found, rel=1e-6)
    assert regret_score(KS, C, C) == 0.0


def test_it_trains_the_model_that_train_trains():
    model, _ = rl.train(KS, X, C, "MAE(O,S)", split=(0.2, 0.0), epochs=5, seed=7)
    assert fitted(random_state=7).model_ == model
    assert fitted(random_state=8).model_ != model


def test_without_a_random_state_the_seed_is_drawn_from_numpy():
    np.random.seed(3)
    drawn = [fitted(random_state=None) for _ in range(2)]
    assert drawn[0].model_ != drawn[1].model_
    np.random.seed(3)
    assert fitted(random_state=None).model_ == drawn[0].model_
    generator = np.random.RandomState(3)
    assert fitted(random_state=generator).model_ == drawn[0].model_


def test_labels_save_solves_and_change_nothing():
    labels = rl.label(KS, C)
    estimator = DecisionFocusedRegressor(KS, epochs=5, random_state=0).fit(X, C, labels=labels)
    assert estimator.model_ == fitted().model_


def test_a_problem_may_be_a_name_or_a_dict():
    settings = {"method": "MAE(O,S)", "epochs": 5, "random_state": 0}
    by_name = DecisionFocusedRegressor("KS12", **settings).fit(X, C)
    by_dict = DecisionFocusedRegressor(KS.to_dict(), **settings).fit(X, C)
    assert (
        by_name.model_
        == by_dict.model_
        == DecisionFocusedRegressor(KS, **settings).fit(X, C).model_
    )


def test_a_table_too_narrow_for_the_problem_is_refused():
    with pytest.raises(ValueError, match="11 costs per row.*needs 12"):
        DecisionFocusedRegressor(KS).fit(X, C[:, :11])


def test_pipelines_and_grids_work():
    pipe = make_pipeline(StandardScaler(), DecisionFocusedRegressor(KS, epochs=3))
    grid = {
        "decisionfocusedregressor__method": ["MSE", "MAE(O,S)"],
        "decisionfocusedregressor__learning_rate": [0.005, 0.02],
    }
    search = GridSearchCV(pipe, grid, cv=2, n_jobs=2).fit(X, C)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ <= 0.0
    assert search.predict(X).shape == C.shape


def test_the_scorer_scores_any_estimator():
    scores = cross_val_score(LinearRegression(), X, C, scoring=make_regret_scorer("KS12"), cv=3)
    assert scores.shape == (3,) and (scores <= 0).all() and (scores > -1).all()
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e6]}, scoring=make_regret_scorer(KS), cv=3).fit(
        X, C
    )
    assert search.best_params_ == {"alpha": 0.1}


def test_copies_are_equal():
    estimator = fitted()
    again = pickle.loads(pickle.dumps(estimator))
    assert again.model_ == estimator.model_
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    fresh = clone(estimator)
    assert fresh.problem == KS and not hasattr(fresh, "model_")


def test_pickles_hold_the_bytes_of_the_model_file():
    estimator = fitted()
    assert isinstance(estimator.__getstate__()["model_"], bytes)
    assert estimator.model_.to_bytes() in pickle.dumps(estimator)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_column_names_are_kept_and_checked(library):
    frames = pytest.importorskip(library)
    names = ["hour", "load", "wind", "sun", "rain"]
    frame = frames.DataFrame({name: X[:, i] for i, name in enumerate(names)})
    estimator = DecisionFocusedRegressor(KS, epochs=2).fit(frame, C)
    assert list(estimator.feature_names_in_) == names == estimator.model_.feature_names
    assert estimator.predict(frame).shape == C.shape
    np.testing.assert_array_equal(estimator.model_.predict(frame), estimator.predict(frame))
    other = (
        frame.rename(columns={"sun": "moon"})
        if library == "pandas"
        else frame.rename({"sun": "moon"})
    )
    with pytest.raises(ValueError, match="moon"):
        estimator.predict(other)
    with pytest.raises(ValueError, match="moon"):
        estimator.model_.predict(other)


def test_frames_that_set_output_makes_keep_their_names_in_a_pipeline():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    pipe = make_pipeline(
        StandardScaler().set_output(transform="pandas"), DecisionFocusedRegressor(KS, epochs=2)
    )
    assert list(pipe.fit(frame, C)[-1].feature_names_in_) == list("abcde")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_makes_frames_of_decisions(library):
    frames = pytest.importorskip(library)
    names = [f"item {number}" for number in range(12)]
    costs = frames.DataFrame({name: C[:, number] for number, name in enumerate(names)})
    estimator = DecisionFocusedRegressor(KS, epochs=2, random_state=0).fit(X, costs)
    expected = estimator.decide(X).decisions
    plain = estimator.transform(X)
    assert isinstance(plain, np.ndarray) and plain.dtype == np.float64
    np.testing.assert_array_equal(plain, expected)
    frame = estimator.set_output(transform=library).transform(X)
    assert isinstance(frame, frames.DataFrame) and list(frame.columns) == names
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    assert isinstance(estimator.predict(X), np.ndarray), "predictions are arrays, as everywhere"
    pipe = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform=library)
    assert isinstance(pipe.fit(X, costs).transform(X), frames.DataFrame)
    assert isinstance(deciding().fit_transform(X, costs), np.ndarray)


def test_frames_of_decisions_have_the_index_of_the_features_and_the_names_of_the_problem():
    pandas = pytest.importorskip("pandas")
    features, _ = labeled_frames()
    estimator = deciding().set_output(transform="pandas").fit(features, C)
    frame = estimator.transform(features)
    assert list(frame.index) == list(features.index)
    assert list(frame.columns) == [f"decisionfocusedregressor{number}" for number in range(12)]
    problem = rl.Problem.from_arrays(
        np.ones((1, 2)), [1.0], sense="maximize", upper=1.0, integer=True, names=["b", "a"]
    )
    costs = pandas.DataFrame({"a": C[:, 0], "b": C[:, 1]})
    named = DecisionFocusedRegressor(problem, epochs=2, random_state=0).fit(X, costs)
    assert list(named.get_feature_names_out()) == ["b", "a"]
    np.testing.assert_array_equal(named.transform(X), named.decide(X).decisions)


def test_without_a_problem_the_estimator_is_no_transformer():
    plain = DecisionFocusedRegressor(epochs=2)
    assert not hasattr(plain, "transform") and not hasattr(plain, "fit_transform")
    assert hasattr(deciding(), "transform") and hasattr(deciding(), "fit_transform")
    assert get_tags(plain).transformer_tags is None
    assert get_tags(deciding()).transformer_tags is not None


WEIGHTS = np.where(X[:, 0] > 0, 1.0, 0.0) + 0.01


def test_sample_weights_are_the_weights_of_train():
    model, _ = rl.train(KS, X, C, "MAE(O,S)", weights=WEIGHTS, split=(0.2, 0.0), epochs=5, seed=7)
    estimator = DecisionFocusedRegressor(KS, epochs=5, random_state=7)
    assert estimator.fit(X, C, WEIGHTS).model_ == model
    # Only the record of the training, which has a hash of the weights, differs.
    scaled = estimator.fit(X, C, sample_weight=list(4 * WEIGHTS)).model_
    np.testing.assert_array_equal(scaled.predict(X), model.predict(X))
    assert estimator.fit(X, C).model_ != model
    unweighted = estimator.model_
    assert estimator.fit(X, C, sample_weight=np.full(len(X), 0.3)).model_ == unweighted


def contradictory_halves():
    """A signal, and costs to which one half of the rows adds it and the other subtracts it."""
    signal = X @ np.random.default_rng(0).normal(size=(5, 12))
    signs = np.tile([1.0, -1.0], 150)
    return signal, signs, 20.0 + signs[:, None] * signal


def test_the_weights_decide_which_of_two_contradictory_halves_is_learned():
    signal, signs, costs = contradictory_halves()
    for sign in (1.0, -1.0):
        weights = np.where(signs == sign, 1.0, 1e-3)
        estimator = DecisionFocusedRegressor(KS, method="MSE", random_state=0)
        predicted = estimator.fit(X, costs, sample_weight=weights).predict(X)
        error = np.abs(predicted - (20.0 + sign * signal)).mean()
        assert error < 0.1 * np.abs(signal).mean()


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(299), "shape \\(300,\\)"),
        (np.ones((300, 1)), "shape \\(300,\\)"),
        (-np.ones(300), "at least 0"),
        (np.full(300, np.nan), "finite"),
        (np.zeros(300), "zero"),
        (["a"] * 300, "numbers"),
    ],
)
def test_invalid_sample_weights_are_refused(weights, words):
    estimator = deciding().fit(X, C)
    for call in (deciding().fit, estimator.score, partial(make_regret_scorer(KS), estimator)):
        with pytest.raises(ValueError, match=words):
            call(X, C, sample_weight=weights)


def test_auto_takes_sample_weights():
    signal, signs, costs = contradictory_halves()
    for sign in (1.0, -1.0):
        weights = np.where(signs == sign, 1.0, 1e-3)
        estimator = DecisionFocusedRegressor(KS, method="auto 2s", random_state=0)
        heavy = signs == sign
        estimator.fit(X, costs, sample_weight=weights)
        assert estimator.score(X[heavy], costs[heavy]) > -0.01
        assert estimator.score(X[~heavy], costs[~heavy]) < -0.1


@pytest.mark.parametrize("method", ["MSE", "MAE(O,S)", "MAE(C,O,S)", "SPO+", "least squares"])
def test_a_row_of_weight_two_is_two_rows_where_all_rows_are_one_batch(method):
    counts = np.arange(len(X)) % 4
    repeated = np.repeat(np.arange(len(X)), counts)
    batch = {} if method == "least squares" else {"batch_size": 10_000, "epochs": 20}
    estimator = DecisionFocusedRegressor(KS, method, validation=0, random_state=0, **batch)
    weighted = estimator.fit(X, C, sample_weight=counts).predict(X)
    expected = estimator.fit(X[repeated], C[repeated]).predict(X)
    np.testing.assert_allclose(weighted, expected, rtol=2e-5, atol=2e-5)
    assert np.abs(estimator.fit(X, C).predict(X) - expected).max() > 1e-2


def test_gaps_and_categories_of_rows_of_weight_zero_are_not_seen():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 90.0] * 20, "kind": ["a", "b", "b", "rare"] * 20})
    table.loc[0, "size"] = np.nan
    costs = np.random.default_rng(0).uniform(1, 2, size=(80, 12))
    counts = np.where(table["kind"] == "rare", 0.0, 1.0)
    estimator = DecisionFocusedRegressor(KS, "least squares", validation=0, random_state=0)
    weighted = estimator.fit(table, costs, sample_weight=counts).predict(table[:3])
    kept = counts > 0
    expected = estimator.fit(table[kept], costs[kept]).predict(table[:3])
    np.testing.assert_allclose(weighted, expected, rtol=1e-6)


def test_scores_are_weighted_by_rows():
    estimator = fitted()
    regrets = rl.regret(KS, estimator.predict(X), C)
    best = rl.label(KS, C).objectives
    expected = -(WEIGHTS @ regrets) / (WEIGHTS @ np.abs(best))
    scorer = make_regret_scorer(KS)
    assert estimator.score(X, C, sample_weight=WEIGHTS) == pytest.approx(expected, rel=1e-6)
    assert scorer(estimator, X, C, sample_weight=WEIGHTS) == pytest.approx(expected, rel=1e-6)
    assert expected != pytest.approx(estimator.score(X, C), rel=1e-3)
    ones = np.ones(len(X))
    assert estimator.score(X, C, sample_weight=ones) == pytest.approx(
        estimator.score(X, C), rel=1e-9
    )
    single = np.zeros(len(X))
    single[7] = 2.0
    assert estimator.score(X, C, sample_weight=single) == pytest.approx(
        -regrets[7] / abs(best[7]), rel=1e-5, abs=1e-9
    )
    plain = DecisionFocusedRegressor(epochs=2).fit(X, C)
    assert plain.score(X, C, sample_weight=WEIGHTS) == r2_score(
        C, plain.predict(X), sample_weight=WEIGHTS
    )


def test_searches_pass_sample_weights_to_fit_and_score():
    with config_context(enable_metadata_routing=True):
        estimator = deciding().set_fit_request(sample_weight=True)
        scorer = make_regret_scorer(KS).set_score_request(sample_weight=True)
        found = cross_validate(
            estimator,
            X,
            C,
            cv=KFold(2),
            scoring=scorer,
            params={"sample_weight": WEIGHTS},
            return_estimator=True,
        )
        half = np.arange(len(X)) < len(X) // 2
        first = deciding().fit(X[~half], C[~half], sample_weight=WEIGHTS[~half])
        assert found["estimator"][0].model_ == first.model_
        assert found["test_score"][0] == first.score(X[half], C[half], sample_weight=WEIGHTS[half])
        unasked = cross_validate(
            estimator,
            X,
            C,
            cv=KFold(2),
            scoring=make_regret_scorer(KS).set_score_request(sample_weight=False),
            params={"sample_weight": WEIGHTS},
        )
        assert unasked["test_score"][0] == first.score(X[half], C[half])
    search = GridSearchCV(deciding(), {"epochs": [1, 2]}, cv=2).fit(X, C, sample_weight=WEIGHTS)
    assert search.best_score_ <= 0


def test_without_a_problem_there_are_no_decisions():
    estimator = DecisionFocusedRegressor().fit(X, C[:, 0])
    assert estimator.predict(X).shape == (len(X),)
    with pytest.raises(ValueError, match="no problem to solve"):
        estimator.decide(X)
    single_item = rl.Problem({"kind": "top_k", "items": 1, "k": 1, "sense": "minimize"})
    assert estimator.decide(X, problem=single_item).decisions.all()


def deciding(**settings):
    return DecisionFocusedRegressor(KS, epochs=2, **{"random_state": 0, **settings})


@pytest.mark.parametrize("wrapper", [MultiOutputRegressor, RegressorChain])
def test_fitting_each_cost_alone_is_refused(wrapper):
    with pytest.raises(
        ValueError,
        match="depends on all costs of a row: do not wrap this estimator in MultiOutputRegressor",
    ):
        wrapper(deciding()).fit(X, C)
    assert wrapper(DecisionFocusedRegressor(epochs=2)).fit(X, C[:, :2]).predict(X).shape == (
        len(X),
        2,
    ), "nothing is decided"


def test_means_of_several_estimators_decide():
    bagged = BaggingRegressor(deciding(), n_estimators=2, random_state=0).fit(X, C)
    assert bagged.predict(X).shape == C.shape
    assert make_regret_scorer(KS)(bagged, X, C) <= 0


LOGARITHM = {"func": np.log1p, "inverse_func": np.expm1, "check_inverse": False}


def pandas_standardized(costs):
    return (costs - costs.mean(axis=0)) / costs.std(axis=0, ddof=1)


@pytest.mark.parametrize(
    ("transformer", "words"),
    [
        (StandardScaler(), "mean 0 and deviation 1"),
        (FunctionTransformer(pandas_standardized, check_inverse=False), "mean 0 and deviation 1"),
        (MinMaxScaler(), "minimum 0 and maximum 1"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_costs_that_a_scaler_made_raise_a_warning(transformer, words, dtype):
    estimator = TransformedTargetRegressor(deciding(), transformer=transformer, check_inverse=False)
    with pytest.warns(
        UserWarning,
        match=f"every column of y has {words}.*fit the estimator to the costs themselves",
    ):
        estimator.fit(X, C.astype(dtype))


def test_costs_in_their_own_units_are_not_suspected():
    random = np.random.default_rng(0)
    binary = (random.uniform(size=(50, 12)) < 0.5).astype(float)
    noise = random.normal(size=(300, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", ".*was (the )?best")
        deciding().fit(X, C)
        deciding().fit(X, noise)
        deciding().fit(X[:50], binary)
        DecisionFocusedRegressor(epochs=2).fit(X, StandardScaler().fit_transform(C))


def test_the_scorer_refuses_decisions_of_transformed_costs():
    scorer = make_regret_scorer(KS)
    # A logarithm leaves no trace in the costs that `fit` sees.
    inside = TransformedTargetRegressor(deciding(), **LOGARITHM).fit(X, C)
    in_pipeline = make_pipeline(StandardScaler(), clone(inside)).fit(X, C)
    of_pipeline = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), deciding()), **LOGARITHM
    ).fit(X, C)
    search = GridSearchCV(clone(inside), {"regressor__epochs": [1]}, cv=2).fit(X, C)
    for estimator in (inside, in_pipeline, of_pipeline, search):
        with pytest.raises(
            ValueError,
            match="inside TransformedTargetRegressor learns decisions of the transformed costs",
        ):
            scorer(estimator, X, C)


def test_the_scorer_scores_other_regressors_of_transformed_costs():
    scorer = make_regret_scorer(KS)
    ridge = TransformedTargetRegressor(Ridge(), **LOGARITHM).fit(X, C)
    assert scorer(ridge, X, C) == regret_score(KS, C, ridge.predict(X))
    untouched = TransformedTargetRegressor(deciding()).fit(X, C)
    assert scorer(untouched, X, C) == deciding().fit(X, C).score(X, C)
    plain = TransformedTargetRegressor(
        DecisionFocusedRegressor(epochs=2), transformer=StandardScaler()
    ).fit(X, C)
    assert scorer(plain, X, C) <= 0


def test_units_of_costs_need_no_transformation():
    """Outputs are standardized: costs a thousand times as large lead to the same decisions."""
    small, large = deciding().fit(X, C), deciding().fit(X, 1024 * C)
    np.testing.assert_array_equal(small.decide(X).decisions, large.decide(X).decisions)
    np.testing.assert_allclose(large.predict(X), 1024 * small.predict(X), rtol=1e-4)


def labeled_frames():
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=len(X))
    return pandas.DataFrame(X, columns=list("abcde"), index=days), pandas.DataFrame(
        C, columns=[f"item {i}" for i in range(12)], index=days
    )


def test_frames_go_through_searches_and_cross_validation():
    features, costs = labeled_frames()
    pipe = make_pipeline(StandardScaler(), deciding())
    predicted = cross_val_predict(pipe, features, costs, cv=3)
    np.testing.assert_array_equal(predicted, cross_val_predict(pipe, X, C, cv=3))
    scores = cross_val_score(
        pipe, features, costs, cv=3, scoring=make_regret_scorer(KS), error_score="raise"
    )
    np.testing.assert_array_equal(scores, cross_val_score(pipe, X, C, cv=3))
    search = GridSearchCV(
        deciding(), {"method": ["MSE", "MAE(O,S)"]}, cv=2, error_score="raise"
    ).fit(features, costs)
    assert search.best_score_ <= 0
    np.testing.assert_array_equal(
        search.predict(features), search.best_estimator_.model_.predict(X).astype(float)
    )


def test_rows_in_another_order_are_refused():
    features, costs = labeled_frames()
    turned = costs.iloc[::-1]
    estimator = deciding().fit(features, costs)
    words = (
        "X and y have the same row labels in a different order: row 0 .*2024-01-01.*2024-10-26"
        r".*y = y.loc\[X.index\]"
    )
    for call in (
        lambda: deciding().fit(features, turned),
        lambda: estimator.score(features, turned),
        lambda: make_regret_scorer(KS)(estimator, features, turned),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(
        ValueError, match="y_true and y_pred have the same row labels in a different order"
    ):
        regret_score(KS, costs, turned)
    assert deciding().fit(features, turned.loc[features.index]).model_ == estimator.model_


def test_rows_with_other_labels_raise_a_warning_and_numbered_rows_do_not():
    pandas = pytest.importorskip("pandas")
    features, costs = labeled_frames()
    with pytest.warns(UserWarning, match="different row labels.*matched by position"):
        deciding().fit(features, costs.set_index(features.index.shift(1, freq="D")))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", ".*was (the )?best")
        deciding().fit(features.reset_index(drop=True), costs)
        deciding().fit(features, pandas.DataFrame(C))
        deciding().fit(features, C)
    shuffled = features.reset_index(drop=True).sample(frac=1.0, random_state=0)
    with pytest.raises(ValueError, match="same row labels in a different order.*reset_index"):
        deciding().fit(shuffled, pandas.DataFrame(C))


@pytest.mark.parametrize("validation", [1.0, 1.5, -0.5, float("nan"), "x", True])
def test_an_invalid_fraction_of_rows_is_refused(validation):
    with pytest.raises(ValueError, match="validation is the fraction of rows"):
        deciding(validation=validation).fit(X, C)
    with pytest.raises(ValueError, match="leaves none to train on"):
        deciding(validation=0.99).fit(X[:10], C[:10])


def test_another_problem_may_be_given_by_name():
    estimator = deciding().fit(X, C)
    np.testing.assert_array_equal(
        estimator.decide(X, problem="KS12").decisions, estimator.decide(X).decisions
    )


def test_the_scorer_takes_costs_in_the_order_of_those_the_estimator_was_fitted_to():
    pandas = pytest.importorskip("pandas")
    problem = rl.Problem.from_arrays(
        np.array([[5.0, 1.0, 1.0]]),
        [2.0],
        sense="maximize",
        upper=1.0,
        integer=True,
        names=["a", "b", "c"],
    )
    features = np.random.default_rng(0).normal(size=(100, 2))
    costs = pandas.DataFrame(
        {"c": 1 + features[:, 0], "b": 2 + features[:, 1], "a": 9 + features[:, 0]}
    )
    scorer = make_regret_scorer(problem)
    alone = DecisionFocusedRegressor(problem, method="MSE", epochs=5, random_state=0)
    piped = make_pipeline(StandardScaler(), clone(alone))
    search = GridSearchCV(clone(alone), {"epochs": [5]}, cv=2)
    for estimator in (alone, piped, search):
        estimator.fit(features, costs)
        expected = regret_score(problem, costs, estimator.predict(features))
        assert expected < -0.005, "decisions are not perfect, so a different order shows"
        for table in (costs, costs.to_numpy(), costs[["a", "b", "c"]]):
            assert scorer(estimator, features, table) == expected
        assert estimator.score(features, costs.to_numpy()) == expected


def test_columns_in_two_orders_are_refused_where_the_problem_has_no_names():
    pandas = pytest.importorskip("pandas")
    names = [f"item{number}" for number in range(C.shape[1])]
    costs = pandas.DataFrame(C, columns=names)
    estimator = deciding().fit(X, costs)
    assert estimator.problem_.cost_names is None
    expected = estimator.score(X, C)
    turned = costs[names[::-1]]
    for call in (estimator.score, lambda X, y: make_regret_scorer(KS)(estimator, X, y)):
        assert call(X, costs) == expected
        with pytest.raises(ValueError, match="y_true begins with 'item11', y_pred with 'item0'"):
            call(X, turned)
