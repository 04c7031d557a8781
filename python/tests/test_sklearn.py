"""The estimator is a good citizen of scikit-learn."""

import pickle

import numpy as np
import pytest
import regretless as rl

pytest.importorskip("sklearn")

from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer, regret_score
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

KS = rl.Problem("KS12")
X, C = rl.generate("KS12", rows=300, seed=0)


@parametrize_with_checks(
    [DecisionFocusedRegressor(), DecisionFocusedRegressor(loss="MSE", predictor="mlp:16", epochs=40)]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def fitted(**settings):
    return DecisionFocusedRegressor(KS, epochs=5, **settings).fit(X, C)


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


def test_labels_save_solves_and_change_nothing():
    labels = rl.label(KS, C)
    assert DecisionFocusedRegressor(KS, epochs=5).fit(X, C, labels=labels).model_ == fitted().model_


def test_a_problem_may_be_a_name_or_a_dict():
    by_name = DecisionFocusedRegressor("KS12", epochs=5).fit(X, C)
    by_dict = DecisionFocusedRegressor(KS.to_dict(), epochs=5).fit(X, C)
    assert by_name.model_ == by_dict.model_ == fitted().model_


def test_a_table_too_narrow_for_the_problem_is_refused():
    with pytest.raises(ValueError, match="11 costs per row.*needs 12"):
        DecisionFocusedRegressor(KS).fit(X, C[:, :11])


def test_pipelines_and_grids_work():
    pipe = make_pipeline(StandardScaler(), DecisionFocusedRegressor(KS, epochs=3))
    grid = {
        "decisionfocusedregressor__loss": ["MSE", "MAE(O,S)"],
        "decisionfocusedregressor__learning_rate": [0.005, 0.02],
    }
    search = GridSearchCV(pipe, grid, cv=2, n_jobs=2).fit(X, C)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ <= 0.0
    assert search.predict(X).shape == C.shape


def test_the_scorer_judges_any_estimator():
    scores = cross_val_score(LinearRegression(), X, C, scoring=make_regret_scorer("KS12"), cv=3)
    assert scores.shape == (3,) and (scores <= 0).all() and (scores > -1).all()
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e6]}, scoring=make_regret_scorer(KS), cv=3).fit(X, C)
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
    other = frame.rename(columns={"sun": "moon"}) if library == "pandas" else frame.rename({"sun": "moon"})
    with pytest.raises(ValueError, match="moon"):
        estimator.predict(other)
    with pytest.raises(ValueError, match="moon"):
        estimator.model_.predict(other)


def test_set_output_gives_frames_of_predictions_in_a_pipeline():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), DecisionFocusedRegressor(KS, epochs=2))
    assert list(pipe.fit(frame, C)[-1].feature_names_in_) == list("abcde")


def test_without_a_problem_nothing_is_decided():
    estimator = DecisionFocusedRegressor().fit(X, C[:, 0])
    assert estimator.predict(X).shape == (len(X),)
    with pytest.raises(ValueError, match="nothing is decided"):
        estimator.decide(X)
    assert estimator.decide(X, rl.Problem({"kind": "top_k", "items": 1, "k": 1, "sense": "minimize"})).decisions.all()
