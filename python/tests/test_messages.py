"""Messages of calls that are refused, and their remedies; remarks about a training."""

import warnings

import numpy as np
import pytest

import regretless as rl

SPLIT = (60, 20, 20)


@pytest.fixture(scope="module")
def knapsack():
    return rl.Problem("KS8"), *rl.generate("KS8", instances=100)


def test_auto_is_no_loss(knapsack):
    problem, _, C = knapsack
    for name in ("auto", "auto 5s"):
        with pytest.raises(ValueError, match="is a search over methods, not a loss; use train"):
            rl.Loss(problem, C, name)


def test_labels_that_are_an_array_are_refused_with_the_way_to_make_them(knapsack):
    problem, X, C = knapsack
    decisions = np.asarray(rl.label(problem, C).decisions)
    calls = [
        lambda: rl.Loss(problem, C, "MSE", labels=decisions),
        lambda: rl.train(problem, X, C, labels=decisions),
        lambda: rl.compare(problem, X, C, labels=decisions),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"Labels\.from_decisions.*not ndarray"):
            call()


def test_some_rows_of_predictions_need_their_row_numbers(knapsack):
    problem, _, C = knapsack
    loss = rl.Loss(problem, C, "MSE")
    with pytest.raises(ValueError, match="32 rows of predictions for 100 instances; pass rows="):
        loss.evaluate(C[:32])
    with pytest.raises(ValueError, match="32 rows of predictions for 31 instances$"):
        loss.evaluate(C[:32], rows=range(31))


@pytest.mark.parametrize("seed", [-1, 1.5, 2**32, "one", None])
def test_seeds_are_integers_from_0_on(knapsack, seed):
    problem, X, C = knapsack
    calls = [
        lambda: rl.train(problem, X, C, seed=seed),
        lambda: rl.compare(problem, X, C, seed=seed),
        lambda: rl.backtest(problem, X, C, time=np.arange(len(X)), seed=seed),
        lambda: rl.generate("KS8", instances=10, seed=seed),
        lambda: rl.Loss(problem, C, "MSE", seed=-1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="seed is an integer from 0 on, below 2"):
            call()


def test_settings_of_another_type_are_refused_in_plain_words(knapsack):
    problem, X, C = knapsack
    with pytest.raises(ValueError, match="epochs: .*5.0.*expected an integer of at least 0"):
        rl.train(problem, X, C, epochs=5.0)
    with pytest.raises(ValueError, match="batch_size: .*-3.*expected an integer of at least 0"):
        rl.train(problem, X, C, batch_size=-3)
    with pytest.raises(ValueError, match="learning_rate: .*expected a number"):
        rl.train(problem, X, C, learning_rate="fast")


def test_gaps_of_an_array_are_refused_with_the_remedy(knapsack):
    problem, X, C = knapsack
    gap = X.copy()
    gap[3, 1] = np.nan
    with pytest.raises(ValueError, match="X: row 3, .*NaN.*filled in a DataFrame only"):
        rl.train(problem, gap, C)
    infinite = X.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="inf is not a finite number") as refused:
        rl.train(problem, infinite, C)
    assert "DataFrame" not in str(refused.value)


def test_lists_of_dicts_are_refused_with_the_remedy(knapsack):
    problem, X, C = knapsack
    features = [{"a": 1.0, "b": 2.0}] * len(X)
    with pytest.raises(ValueError, match=r"X is a list of dicts.*pandas\.DataFrame\(X\)"):
        rl.train(problem, features, C)
    with pytest.raises(ValueError, match=r"C is a list of dicts.*pandas\.DataFrame\(C\)"):
        rl.label(problem, features)


def test_a_table_without_rows_is_named(knapsack):
    pandas = pytest.importorskip("pandas")
    _, X, C = knapsack
    problem = rl.Problem.knapsack(np.arange(1, 9), capacity=rl.column("shelf"))
    table = pandas.DataFrame(X, columns=list("abcde")).assign(shelf=10.0)
    model, _ = rl.train(problem, table, C, "MSE", split=SPLIT, epochs=2)
    with pytest.raises(ValueError, match="^X has no rows"):
        model.decide(table.iloc[:0])


def test_text_in_a_column_of_numbers_is_named_once_with_its_row(knapsack):
    pandas = pytest.importorskip("pandas")
    problem, X, C = knapsack
    table = pandas.DataFrame(X, columns=list("abcde")).assign(day=["mon", "tue"] * 50)
    model, _ = rl.train(problem, table, C, "MSE", split=SPLIT, epochs=2)
    wrong = table.astype({"b": object})
    wrong.loc[7, "b"] = "warm"
    with pytest.raises(ValueError, match="row 7, column b: 'warm' is text, but") as refused:
        model.decide(wrong)
    assert str(refused.value).count("column") == 1
    words = table.assign(b="1.5")
    with pytest.raises(ValueError, match="column b: the column holds text, but") as refused:
        model.decide(words)


def test_a_text_names_several_methods(knapsack):
    problem, X, C = knapsack
    settings = {"split": SPLIT, "seeds": 1, "epochs": 2}
    one = rl.compare(problem, X, C, methods="MAE(O,S)", **settings)
    listed = rl.compare(problem, X, C, methods=["MAE(O,S)"], **settings)
    assert str(one).splitlines()[0] == str(listed).splitlines()[0]
    names = {
        run["method"]
        for run in rows_of(rl.compare(problem, X, C, methods="MSE; MAE(O,S)", **settings).runs)
    }
    assert {"MSE", "MAE(O,S)"} <= names
    assert names == {run["method"] for run in rows_of(one.runs)}
    history = {"time": np.arange(len(X)), "step": 50, "epochs": 2}
    found = rl.backtest(problem, X, C, methods="MAE(O,S)", **history)
    assert "MAE(O,S)" in str(found.methods)


def rows_of(table):
    """Return a table of results as records, with and without pandas."""
    return table.to_dict("records") if hasattr(table, "to_dict") else table


def test_a_folder_with_other_results_is_refused_with_a_remedy_that_exists(knapsack, tmp_path):
    problem, X, C = knapsack
    settings = {"methods": ["MAE(O,S)"], "split": SPLIT, "seeds": 1, "out": tmp_path / "runs"}
    rl.compare(problem, X, C, epochs=2, **settings)
    with pytest.raises(FileExistsError, match="choose another folder, or delete") as refused:
        rl.compare(problem, X, C, epochs=3, **settings)
    assert "force" not in str(refused.value)


def test_estimators_that_need_an_encoding_are_refused_with_the_remedy(knapsack):
    pandas = pytest.importorskip("pandas")
    linear_model = pytest.importorskip("sklearn.linear_model")
    problem, X, C = knapsack
    table = pandas.DataFrame(X, columns=list("abcde"))
    table["date"] = pandas.date_range("2026-01-01", periods=len(X))
    given = {"predictions": {"ridge": linear_model.Ridge()}, "methods": ["MSE"], "epochs": 2}
    for call in (
        lambda X: rl.backtest(problem, X, C, time="date", step=50, **given),
        lambda X: rl.compare(problem, X, C, split=SPLIT, seeds=1, **given),
    ):
        with pytest.raises(TypeError, match="Ridge cannot be fitted.*column 'date'.*Column"):
            call(table)
    # Its own errors stay what they are.
    broken = {**given, "predictions": {"ridge": linear_model.Ridge(alpha="much")}}
    with pytest.raises(Exception, match="alpha"):
        rl.backtest(problem, X, C, time=np.arange(len(X)), step=50, **broken)


def test_a_training_that_learned_nothing_or_too_little_is_remarked(knapsack):
    problem, X, C = knapsack
    settings = {"method": "MSE", "split": SPLIT, "select": "validation-loss"}
    with pytest.warns(UserWarning, match="the last epoch was the best: more epochs may help"):
        rl.train(problem, X, C, epochs=2, learning_rate=1e-4, **settings)
    with pytest.warns(UserWarning, match="the untrained model was best: training did not lower"):
        rl.train(problem, X, C, epochs=2, learning_rate=50.0, **settings)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model, _ = rl.train(problem, X, C, epochs=2, **{**settings, "select": "last"})
        rl.compare(problem, X, C, methods=["MSE"], seeds=1, epochs=2, split=SPLIT)
    assert not [warning for warning in found if "was best" in str(warning.message)]
    assert not [warning for warning in found if "was the best" in str(warning.message)]
    with pytest.warns(UserWarning, match="the initial model was best"):
        rl.train(problem, X, C, epochs=2, learning_rate=50.0, init_model=model, **settings)


def test_one_fraction_is_that_of_validation_and_test(knapsack):
    problem, X, C = knapsack
    _, report = rl.train(problem, X, C, "MSE", split=0.3, epochs=1)
    assert report.split.startswith("40/30/30")


def test_warnings_are_at_the_line_of_the_user(knapsack):
    problem, X, C = knapsack
    slow = {"epochs": 1, "learning_rate": 1e-4, "select": "validation-loss"}
    with pytest.warns(UserWarning, match="more epochs may help") as found:
        rl.train(problem, X, C, "MSE", split=SPLIT, **slow)
    assert {warning.filename for warning in found} == {__file__}
    sklearn = pytest.importorskip("regretless.sklearn", exc_type=ImportError)
    estimator = sklearn.DecisionFocusedRegressor(problem, method="MSE", **slow)
    with pytest.warns(UserWarning, match="more epochs may help") as found:
        estimator.fit(X, C)
    assert {warning.filename for warning in found} == {__file__}
