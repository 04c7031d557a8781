import html
import json
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import regretless as rl


@pytest.fixture
def history():
    problem = rl.Problem("KS8")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    C = 10 + X @ rng.normal(size=(3, 8)) + rng.normal(size=(90, 8))
    time = np.datetime64("2026-01-01") + np.arange(90)
    return problem, X, C, time


def methods(result):
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.methods, pandas.DataFrame)
    return result.methods.set_index("method")


def test_a_history_is_decided_period_by_period(history):
    problem, X, C, time = history
    result = rl.backtest(
        problem, X, C, time=time, methods=["MSE"], initial=30, step=20, epochs=2, unit="EUR"
    )
    table = methods(result)
    assert list(table.index) == ["least squares", "MSE", "mean of history", "last period"]
    assert len(result.periods) == 60 * 4
    total = result.periods.groupby("method")["cost"].sum()
    assert total["MSE"] == pytest.approx(table.loc["MSE", "cost"])
    assert result.summary["trainings"] == 3
    assert str(result).splitlines() == [result.verdict, *result.remarks]


def test_the_true_costs_as_predictions_have_no_regret(history):
    problem, X, C, time = history
    result = rl.backtest(problem, X, C, time=time, methods=[], predictions={"oracle": C}, step=15)
    assert methods(result).loc["oracle", "regret"] == pytest.approx(0, abs=1e-6)


def test_estimators_are_fitted_to_the_history_of_each_fold(history):
    linear_model = pytest.importorskip("sklearn.linear_model")
    problem, X, C, time = history
    regression = linear_model.LinearRegression()
    seen = []

    class Recorder(linear_model.LinearRegression):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X, y)

    result = rl.backtest(
        problem,
        X,
        C,
        time=time,
        methods=[],
        predictions={"sklearn": regression, "recorder": Recorder()},
        window=40,
        step=25,
    )
    table = methods(result)
    assert seen == [40, 40]
    # The same regression.
    assert table.loc["sklearn", "cost"] == pytest.approx(table.loc["least squares", "cost"])


def test_splitters_of_scikit_learn_are_accepted_in_order_of_time(history):
    selection = pytest.importorskip("sklearn.model_selection")
    problem, X, C, time = history
    splitter = selection.TimeSeriesSplit(n_splits=3, gap=1, test_size=10)
    settings = {"methods": ["MSE"], "splitter": splitter, "epochs": 2}
    result = rl.backtest(problem, X, C, time=time, **settings)
    assert len(result.periods) == 30 * 4
    order = np.random.default_rng(1).permutation(90)
    with pytest.warns(UserWarning, match="rows are sorted by time"):
        shuffled = rl.backtest(problem, X[order], C[order], time=time[order], **settings)
    assert shuffled.periods["cost"].tolist() == result.periods["cost"].tolist()
    with pytest.raises(ValueError, match="its history reaches"):
        rl.backtest(problem, X, C, time=time, splitter=selection.KFold(3), methods=[])


def test_decisions_are_checked_and_results_are_written_as_by_the_command_line(history, tmp_path):
    problem, X, C, time = history
    made = np.zeros((90, 8))
    result = rl.backtest(problem, X, C, time=time, methods=[], decisions=made, out=tmp_path)
    assert methods(result).loc["present decisions", "cost"] == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary == result.summary
    assert (tmp_path / "periods.csv").read_text().count("\n") == 1 + len(result.periods)
    again = rl.backtest(problem, X, C, time=time, methods=[], decisions=made, out=tmp_path)
    assert again.summary == result.summary
    made[80] = 1
    with pytest.raises(ValueError, match=r"1 of the decided rows.*2026-03-22"):
        rl.backtest(problem, X, C, time=time, methods=[], decisions=made)


def test_bad_settings_are_refused(history):
    problem, X, C, time = history
    for settings, message in [
        ({"window": 90}, "none to decide"),
        ({"step": 2, "horizon": 3}, "more than once"),
        ({"unit": "E\x07R"}, "control characters"),
        ({"window": "growing"}, "training window"),
        ({"time": time[:80]}, "80 entries"),
        ({"time": "date"}, "no column"),
    ]:
        with pytest.raises(ValueError, match=message):
            rl.backtest(problem, X, C, **{"time": time, "methods": [], **settings})
    with pytest.raises(TypeError):
        rl.backtest(problem, X, C, time=time, epochz=3)


def test_decisions_of_problems_with_known_costs_have_the_values_of_all_columns():
    # Shipping costs are predicted; a depot costs 5 to open and ships up to 6.
    A = [[1, 1, 0, 0], [1, 0, -6, 0], [0, 1, 0, -6]]
    problem = rl.Problem.from_arrays(
        A,
        [3, 0, 0],
        sense="minimize",
        relations=[">=", "<=", "<="],
        upper=[9, 9, 1, 1],
        integer=[False, False, True, True],
        costs=[0, 1],
        known_costs=[0, 0, 5, 4],
    )
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(40, 2)), rng.uniform(1, 3, size=(40, 2))
    settings = {"time": np.arange(40), "methods": [], "step": 10}
    made = np.tile([3.0, 0, 1, 0], (40, 1))
    result = rl.backtest(problem, X, C, decisions=made, **settings)
    expected = (3 * C[20:, 0] + 5).sum()
    assert methods(result).loc["present decisions", "cost"] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="no values of 2 columns with known costs"):
        rl.backtest(problem, X, C, decisions=made[:, :2], **settings)
    made[30] = [3, 0, 0, 1]
    with pytest.raises(ValueError, match="1 of the decided rows cannot be used"):
        rl.backtest(problem, X, C, decisions=made, **settings)


def test_estimators_of_a_single_number_are_fitted_to_each_cost(history):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    problem, X, C, time = history
    booster = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1)
    settings = {"time": time, "methods": [], "window": 40, "step": 25}
    result = rl.backtest(problem, X, C, predictions={"lightgbm": booster}, **settings)
    expected = np.full(C.shape, np.nan)
    for first in (40, 65):
        rows = slice(first, min(first + 25, 90))
        for item in range(8):
            model = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1)
            model.fit(X[first - 40 : first], C[first - 40 : first, item])
            expected[rows, item] = model.predict(X[rows])
    again = rl.backtest(problem, X, C, predictions={"lightgbm": expected}, **settings)
    costs = [methods(found).loc["lightgbm", "cost"] for found in (result, again)]
    assert costs[0] == costs[1]


def test_errors_of_estimators_are_not_hidden(history):
    linear_model = pytest.importorskip("sklearn.linear_model")
    problem, X, C, time = history

    class Failing(linear_model.LinearRegression):
        def fit(self, X, y):
            raise ValueError("no license")

    with pytest.raises(ValueError, match="no license"):
        rl.backtest(problem, X, C, time=time, methods=[], predictions={"failing": Failing()})


def test_times_that_are_repeated_or_missing_are_counted(history):
    problem, X, C, time = history
    settings = {"methods": [], "step": 15}
    with pytest.warns(UserWarning, match="45 of 45 periods have several rows"):
        twice = rl.backtest(problem, X, C, time=time[np.arange(90) // 2], **settings)
    assert len(twice.notes) == 1
    late = time + np.where(np.arange(90) >= 50, 10, 0)
    with pytest.warns(UserWarning, match="about 10 periods"):
        rl.backtest(problem, X, C, time=late, **settings)
    with pytest.raises(ValueError, match="yesterday"):
        rl.backtest(problem, X, C, time=["yesterday"] * 90, **settings)
    with pytest.raises(ValueError, match="empty"):
        rl.backtest(problem, X, C, time=time, unit=" ", **settings)


def test_estimators_get_costs_by_name_in_the_order_of_the_problem(history):
    linear_model = pytest.importorskip("sklearn.linear_model")
    pandas = pytest.importorskip("pandas")
    _, X, C, time = history
    names = [f"c{item}" for item in "abcdefgh"]
    problem = rl.Problem.from_arrays(
        [np.arange(1, 9)], [12], sense="maximize", integer=True, upper=np.ones(8), names=names
    )
    costs = pandas.DataFrame(C, columns=names)
    settings = {"time": time, "methods": [], "step": 25}
    seen = []

    class Recorder(linear_model.LinearRegression):
        """Fits costs of any order, and predicts a table with its columns reversed."""

        def fit(self, X, y):
            seen.append(y)
            return super().fit(X, y)

        def predict(self, X):
            return pandas.DataFrame(super().predict(X), columns=names)[names[::-1]]

    given = {"sklearn": linear_model.LinearRegression(), "recorder": Recorder()}
    for table in (costs, costs[names[::-1]]):
        result = rl.backtest(problem, X, table, predictions=given, **settings)
        found = methods(result)["cost"]
        assert found["sklearn"] == pytest.approx(found["least squares"])
        assert found["recorder"] == pytest.approx(found["least squares"])
    assert len(seen) == 4
    for fitted in seen:
        pandas.testing.assert_frame_equal(fitted, costs.loc[fitted.index])
    assert not hasattr(given["recorder"], "coef_")


def test_estimators_of_a_single_number_take_a_table_of_costs(history):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    pandas = pytest.importorskip("pandas")
    problem, X, C, time = history
    table = pandas.DataFrame(C, columns=[f"c{item}" for item in range(8)])
    booster = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1)
    settings = {"time": time, "methods": [], "window": 40, "step": 25}
    given = {"lightgbm": booster}
    found = [
        methods(rl.backtest(problem, X, costs, predictions=given, **settings))
        for costs in (C, table)
    ]
    assert found[0].loc["lightgbm", "cost"] == found[1].loc["lightgbm", "cost"]


class MeanOnly:
    """A forecaster whose fit returns nothing and that predicts one number for all costs."""

    def fit(self, X, y):
        self.mean = float(np.mean(y))

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_one_prediction_for_several_costs_is_refused(history):
    problem, X, C, time = history
    with pytest.raises(ValueError, match=r"MeanOnly predicts an array of shape \(\d+,\)"):
        rl.backtest(problem, X, C, time=time, methods=[], predictions={"mean": MeanOnly()}, step=15)


def test_the_page_is_drawn_on_request(history, tmp_path):
    problem, X, C, time = history
    name = "<b>mine</b>"
    settings = {"methods": ["MAE(O,S)"], "predictions": {name: C}, "initial": 30, "step": 30}
    result = rl.backtest(problem, X, C, time=time, epochs=2, unit="EUR", **settings)
    shown = result._repr_html_()
    assert "_drawn" not in result.__dict__, "a notebook shows the table without a training"
    assert html.escape(result.verdict) in shown
    assert "&lt;b&gt;mine&lt;/b&gt;" in shown and name not in shown
    assert shown.count("<tr>") == 1 + len(result.methods)
    path = tmp_path / "page.html"
    result.report(path)
    page = path.read_text()
    assert page == result.page and "What would have been saved on" in page
    assert name not in page
    assert "regretless.backtest(problem, X, C, methods=[&#39;MAE(O,S)&#39;], initial=30" in page
    assert set(result.figures) >= {"money", "regrets"}
    assert all(svg.startswith("<svg") for svg in result.figures.values())
    with pytest.raises(FileExistsError, match="force=True"):
        result.report(path)
    result.report(path, force=True)
    copy = pickle.loads(pickle.dumps(result))
    assert (copy.page, copy.figures, copy.verdict) == (page, result.figures, result.verdict)


def sections(page):
    """Return the sections of a page by their names."""
    return dict(re.findall(r'<section id="([a-z-]+)"(.*?)</section>', page, re.DOTALL))


def test_the_page_has_the_results_of_the_command_line(history, tmp_path):
    pandas = pytest.importorskip("pandas")
    _, X, C, time = history
    names = [f"c{item}" for item in range(8)]
    columns = {"date": time.astype(str), "wind": X[:, 0], "load": X[:, 1]}
    pandas.DataFrame({**columns, **dict(zip(names, C.T))}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.toml").write_text('kind = "top_k"\nitems = 8\nk = 2\nsense = "minimize"\n')
    command = [sys.executable, "-m", "regretless", "backtest", "--data", "t.csv"]
    command += ["--costs", "c*", "--problem", "p.toml", "--time", "date", "--methods", "MAE(O,S)"]
    command += ["--epochs", "3", "--initial", "40", "--step", "25", "--unit", "EUR"]
    command += ["--report", "page.html", "--out", "result"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    expected = sections((tmp_path / "page.html").read_text())
    table = pandas.read_csv(tmp_path / "t.csv")
    result = rl.backtest(
        rl.Problem(tmp_path / "p.toml"),
        table[["date", "wind", "load"]],
        table[names],
        time="date",
        methods=["MAE(O,S)"],
        epochs=3,
        initial=40,
        step=25,
        unit="EUR",
    )
    found = sections(result.page)
    assert list(found) == list(expected)
    for name in ["money", "methods", "regrets", "sources", "examples", "explained"]:
        assert found[name] == expected[name], name


def test_a_page_can_be_drawn_for_solvers_and_losses_of_ones_own(history):
    problem, X, C, time = history

    @rl.loss
    def paged_squares(predicted, true):
        error = predicted - true
        return (error**2).mean(axis=1), 2 * error / error.shape[1]

    def cheapest(costs):
        return (costs == costs.min()).astype(float)

    own = rl.Problem.from_solver(cheapest, 8, sense="minimize")
    settings = {"methods": [paged_squares], "initial": 50, "step": 20, "epochs": 2}
    result = rl.backtest(own, X, C, time=time, **settings)
    assert "paged_squares" in result.page
