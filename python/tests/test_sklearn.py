"""The estimator is a good citizen of scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest

import regretless as rl

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer, regret_score

KS = rl.Problem("KS12")
X, C = rl.generate("KS12", instances=300, seed=0)


@parametrize_with_checks(
    [
        DecisionFocusedRegressor(),
        DecisionFocusedRegressor(method="MSE", predictor="mlp:16", epochs=40),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


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
    by_name = DecisionFocusedRegressor("KS12", epochs=5, random_state=0).fit(X, C)
    by_dict = DecisionFocusedRegressor(KS.to_dict(), epochs=5, random_state=0).fit(X, C)
    assert by_name.model_ == by_dict.model_ == fitted().model_


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


def test_set_output_gives_frames_of_predictions_in_a_pipeline():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    pipe = make_pipeline(
        StandardScaler().set_output(transform="pandas"), DecisionFocusedRegressor(KS, epochs=2)
    )
    assert list(pipe.fit(frame, C)[-1].feature_names_in_) == list("abcde")


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
        assert expected < -0.005, "decisions are not perfect, so that a different order shows"
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
