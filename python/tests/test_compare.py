"""Comparisons in Python: the numbers and the page of the command line."""

import csv
import subprocess
import sys

import numpy as np
import pytest

import regretless as rl


@pytest.fixture
def table():
    X, C = rl.generate("KS8", instances=120, seed=0)
    return rl.Problem("KS8"), X, C


def records(table):
    """Return rows as dicts, whatever kind of table it is."""
    return table.to_dict("records") if hasattr(table, "to_dict") else table


def comparable(table, *omitted):
    """Return rows as texts, in which missing numbers are equal, without some columns."""
    return [
        repr({name: cell for name, cell in row.items() if name not in omitted})
        for row in records(table)
    ]


def by_method(result):
    return {row["method"]: row for row in records(result.methods)}


QUICK = {"methods": ["MSE", "MAE(O,S)"], "seeds": 2, "epochs": 2}


def test_methods_and_baselines_are_compared(table, tmp_path):
    result = rl.compare(*table, **QUICK)
    rows = by_method(result)
    assert list(rows) == ["MSE", "MAE(O,S)", "least squares", "training mean"]
    assert rows["MSE"]["ratio"] == 1
    interval = rows["MAE(O,S)"]
    assert interval["lower"] <= interval["difference"] <= interval["upper"]
    columns = ["method", "runs", "ratio", "ratio_sd", "difference", "lower", "upper"]
    assert list(result.methods)[:7] == columns
    assert len(result.runs) == 8
    assert result.verdict and result.verdict[0] in str(result)
    assert "MAE(O,S)" in result._repr_html_() and "<svg" in result._repr_html_()
    assert any(svg.startswith("<svg") for svg in result.figures.values())
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page == result.page and "Which method decides best" in page
    with pytest.raises(FileExistsError):
        result.report(tmp_path / "report.html")


def test_the_numbers_are_those_of_the_command_line(table, tmp_path):
    problem, X, C = table
    command = [sys.executable, "-m", "regretless", "generate", "--benchmark", "KS8"]
    command += ["--instances", "120", "--out", "ks8"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    command = [sys.executable, "-m", "regretless", "compare", "--data", "ks8/table.csv"]
    command += ["--costs", "c*", "--problem", "ks8/problem.toml", "--methods", "MSE;MAE(O,S)"]
    command += ["--seeds", "2", "--epochs", "2", "--out", "cmp"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with (tmp_path / "cmp" / "results.csv").open() as file:
        expected = [float(row["test_regret"]) for row in csv.DictReader(file)]
    runs = records(rl.compare(problem, X, C, **QUICK).runs)
    assert [run["test_regret"] for run in runs] == pytest.approx(expected, rel=1e-5)


def test_estimators_and_predictions_are_compared(table):
    linear_model = pytest.importorskip("sklearn.linear_model")
    problem, X, C = table
    given = {"sklearn": linear_model.LinearRegression(), "oracle": C}
    rows = by_method(rl.compare(problem, X, C, predictions=given, **QUICK))
    assert rows["oracle"]["test_regret"] == pytest.approx(0, abs=1e-6)
    expected = rows["least squares"]["test_regret"]
    assert rows["sklearn"]["test_regret"] == pytest.approx(expected, rel=1e-6)
    assert rows["sklearn"]["is_baseline"]


def test_splits_of_a_splitter_take_the_place_of_seeds(table):
    selection = pytest.importorskip("sklearn.model_selection")
    problem, X, C = table
    seen = []

    class Recorder:
        def fit(self, X, y):
            seen.append(len(X))
            self.mean = y.mean(axis=0)
            return self

        def predict(self, X):
            return np.tile(self.mean, (len(X), 1))

    result = rl.compare(
        problem,
        X,
        C,
        methods=["MSE"],
        epochs=1,
        splitter=selection.TimeSeriesSplit(3),
        predictions={"recorder": Recorder()},
    )
    # A quarter of the rows each; a fifth of the training rows validates.
    assert seen == [24, 48, 72]
    assert len(result.runs) == 3 * 4
    rows = by_method(result)
    expected = rows["training mean"]["test_regret"]
    assert rows["recorder"]["test_regret"] == pytest.approx(expected, rel=1e-5)


NAMES = [f"c{item}" for item in "abcdefgh"]


@pytest.fixture
def named():
    """A problem whose costs have names, features, and costs in the order of the problem."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    C = 10 + X @ rng.normal(size=(3, 8)) + rng.normal(size=(120, 8))
    weights = [np.arange(1, 9)]
    problem = rl.Problem.from_arrays(
        weights, [12], sense="maximize", integer=True, upper=np.ones(8), names=NAMES
    )
    return problem, X, C


class Regression:
    """Least squares that remembers the costs it was fitted to, and how it answers."""

    seen = []

    def __init__(self, answer=lambda predicted: predicted):
        self.answer = answer

    def fit(self, X, C):
        self.seen.append(C)
        self.coefficients = np.linalg.lstsq(self.with_constant(X), np.asarray(C), rcond=None)[0]

    def predict(self, X):
        return self.answer(self.with_constant(X) @ self.coefficients)

    @staticmethod
    def with_constant(X):
        return np.column_stack([np.ones(len(X)), np.asarray(X)])


def test_estimators_get_costs_by_name_in_the_order_of_the_problem(named):
    pandas = pytest.importorskip("pandas")
    problem, X, C = named
    frame = pandas.DataFrame(C, columns=NAMES, index=pandas.RangeIndex(500, 620))

    def reversed_frame(predicted):
        return pandas.DataFrame(predicted, columns=NAMES)[NAMES[::-1]]

    given = {"array": Regression(), "frame": Regression(reversed_frame)}
    for table in (frame, frame[NAMES[::-1]]):
        Regression.seen.clear()
        rows = by_method(rl.compare(problem, X, table, predictions=given, **QUICK))
        expected = pytest.approx(rows["least squares"]["test_regret"], rel=1e-5)
        assert rows["array"]["test_regret"] == rows["frame"]["test_regret"] == expected
        assert len(Regression.seen) == 4
        for costs in Regression.seen:
            assert isinstance(costs, pandas.DataFrame) and list(costs.columns) == NAMES
            pandas.testing.assert_frame_equal(costs, frame.loc[costs.index])
    # Copies are fitted.
    assert not hasattr(given["array"], "coefficients")


def test_estimators_get_arrays_for_arrays(named):
    problem, X, C = named
    Regression.seen.clear()
    with pytest.warns(UserWarning, match="matched by position"):
        rows = by_method(rl.compare(problem, X, C, predictions={"mine": Regression()}, **QUICK))
    assert all(isinstance(costs, np.ndarray) for costs in Regression.seen)
    expected = rows["least squares"]["test_regret"]
    assert rows["mine"]["test_regret"] == pytest.approx(expected, rel=1e-5)


def test_estimators_get_frames_of_polars(named):
    polars = pytest.importorskip("polars")
    problem, X, C = named
    features, costs = polars.DataFrame(X), polars.DataFrame(C, schema=NAMES)
    Regression.seen.clear()
    rl.compare(problem, features, costs[NAMES[::-1]], predictions={"m": Regression()}, **QUICK)
    assert [seen.columns for seen in Regression.seen] == [NAMES, NAMES]


def test_predictions_with_other_names_than_the_costs_are_refused(named):
    pandas = pytest.importorskip("pandas")
    problem, X, C = named
    frame = pandas.DataFrame(C, columns=NAMES)

    def compare(names):
        estimator = Regression(lambda predicted: pandas.DataFrame(predicted, columns=names))
        rl.compare(problem, X, frame, predictions={"mine": estimator}, **QUICK)

    with pytest.raises(ValueError, match="Regression .*there is no cost 'x', it lacks 'ch'"):
        compare([*NAMES[:-1], "x"])
    with pytest.raises(ValueError, match="it lacks 'ch'"):
        compare([*NAMES[:-1], "ca"])


def test_an_estimator_that_fails_for_several_costs_says_why(table):
    problem, X, C = table

    class Wide(Regression):
        def fit(self, X, C):
            if np.ndim(C) == 2:
                raise ValueError("no tables here")
            super().fit(X, C)
            self.coefficients = np.tile(self.coefficients[:, None], 8)

    with pytest.raises(ValueError, match="shape .* all costs at once, it fails: no tables here"):
        rl.compare(problem, X, C, predictions={"wide": Wide()}, **QUICK)


def test_estimators_are_not_fitted_to_the_times_of_a_split(named):
    pandas = pytest.importorskip("pandas")
    problem, X, C = named
    costs = pandas.DataFrame(C, columns=NAMES)
    costs.insert(0, "date", pandas.date_range("2026-01-01", periods=120))
    settings = {**QUICK, "split": "time:date", "predictions": {"mine": Regression()}}
    Regression.seen.clear()
    rl.compare(problem, X, costs, **settings)
    assert list(Regression.seen[0].columns) == NAMES


def test_losses_of_ones_own_are_compared(table):
    @rl.loss
    def compared_squares(predicted, true):
        error = predicted - true
        return (error**2).mean(axis=1), 2 * error / error.shape[1]

    rows = by_method(rl.compare(*table, methods=[compared_squares], seeds=1, epochs=2))
    assert list(rows)[:2] == ["MSE", "compared_squares"]


def test_bad_settings_are_refused(table):
    problem, X, C = table
    for settings, error, message in [
        ({"seeds": 0}, ValueError, "at least 1"),
        ({"split": (0.2, 0)}, ValueError, "test rows"),
        ({"split": 0.2, "splitter": object()}, TypeError, "either"),
        ({"epochz": 3}, TypeError, "epochz"),
        ({"predictions": {"short": C[:5]}}, ValueError, "short"),
        ({"predictions": {"MSE": C}}, ValueError, "two methods have the name 'MSE'"),
        ({"profile": "fast"}, ValueError, "profile"),
    ]:
        with pytest.raises(error, match=message):
            rl.compare(problem, X, C, **{"methods": ["MSE"], "epochs": 1, **settings})


def test_runs_that_fail_are_named_and_the_others_compared(table):
    problem, X, C = table
    given = {"gaps": np.full(C.shape, np.nan)}
    with pytest.warns(UserWarning, match="gaps, seed 0 failed"):
        result = rl.compare(problem, X, C, methods=["MSE"], seeds=1, epochs=1, predictions=given)
    assert [failure["run"] for failure in result.failed] == ["gaps, seed 0"]
    assert by_method(result)["MSE"]["ratio"] == 1


def test_a_folder_keeps_runs_and_the_same_call_resumes(table, tmp_path):
    out = tmp_path / "cmp"
    first = rl.compare(*table, out=out, **QUICK)
    assert {file.name for file in out.iterdir()} == {
        "report.html",
        "results.csv",
        "results.jsonl",
        "settings.toml",
        "summary.csv",
    }
    # Seconds differ between two trainings: equal ones are those of the file.
    again = rl.compare(*table, out=out, **QUICK)
    assert comparable(again.runs) == comparable(first.runs)
    lines = (out / "results.jsonl").read_text().splitlines(keepends=True)
    (out / "summary.csv").unlink()
    (out / "results.jsonl").write_text("".join(lines[:3]) + lines[3][:50])
    resumed = rl.compare(*table, out=out, **QUICK)
    assert comparable(resumed.runs)[:3] == comparable(first.runs)[:3]
    assert comparable(resumed.runs, "seconds") == comparable(first.runs, "seconds")
    assert resumed.verdict == first.verdict
    for changed in [{"epochs": 3}, {"methods": ["MSE"]}]:
        with pytest.raises(FileExistsError, match="settings.toml|results.jsonl|report.html"):
            rl.compare(*table, out=out, **{**QUICK, **changed})
    problem, X, C = table
    with pytest.raises(FileExistsError):
        rl.compare(problem, X, C + 1, out=out, **QUICK)


def test_one_decision_is_explained_on_the_page(table):
    result = rl.compare(*table, **QUICK)
    assert "One decision explained: row " in result.page
    assert result.figures["explained"].startswith("<svg")


def test_the_deviation_of_the_test_regret_is_in_the_table(table):
    result = rl.compare(*table, **QUICK)
    for row in records(result.methods):
        regrets = [
            run["test_normalized_regret"]
            for run in records(result.runs)
            if run["method"] == row["method"]
        ]
        assert row["test_normalized_regret"] == pytest.approx(np.mean(regrets))
        assert row["test_normalized_regret_sd"] == pytest.approx(np.std(regrets, ddof=1))


def test_predictors_of_ones_own_are_refused_with_a_way_to_compare_them(table):
    with pytest.raises(TypeError, match="compare takes the names of predictors; a custom module"):
        rl.compare(*table, predictor=object())
