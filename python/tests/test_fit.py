"""`rl.fit`: roles, verdict and model of a table, recomputed with numpy."""

import csv
import inspect
import itertools
import re
import subprocess
import sys

import numpy as np
import pytest

import regretless as rl

pd = pytest.importorskip("pandas")

ITEMS = ["bread", "rolls", "cake", "pie", "tart"]
WEIGHTS = np.array([3.0, 4.0, 5.0, 2.0, 6.0])
CAPACITY = 10.0
SETS = np.array(
    [
        chosen
        for chosen in itertools.product([0.0, 1.0], repeat=len(ITEMS))
        if np.dot(chosen, WEIGHTS) <= CAPACITY
    ]
)


def bakery(rows=200, dates=True, seed=3):
    """Return a history: margins that bend with the temperature, and what was chosen."""
    rng = np.random.default_rng(seed)
    temperature = rng.uniform(-5, 30, size=rows)
    rain = rng.normal(size=rows)
    bend = np.abs(temperature[:, None] - np.array([0.0, 25.0, 5.0, 20.0, 12.0]))
    margin = 60 - 4 * bend + 2 * rain[:, None] + rng.gamma(2.0, size=(rows, len(ITEMS)))
    frame = pd.DataFrame({"temperature": temperature, "rain": rain})
    frame["weekday"] = [["mo", "tu", "we"][row % 3] for row in range(rows)]
    if dates:
        frame.insert(0, "date", pd.date_range("2023-01-01", periods=rows).strftime("%Y-%m-%d"))
    for item, values in zip(ITEMS, margin.T):
        frame[f"eur_{item}"] = values.round(3)
    always = SETS[np.argmax(SETS @ np.ones(len(ITEMS)))]
    for item, value in zip(ITEMS, always):
        frame[f"sold_{item}"] = [int(value)] * rows
    frame.loc[0, [f"sold_{item}" for item in ITEMS]] = [1, 1, 0, 0, 0]
    return frame


def problem():
    return rl.Problem.knapsack([WEIGHTS.tolist()], [CAPACITY], items=ITEMS)


def periods_of(folder, method):
    with open(folder / "periods.csv", newline="") as file:
        return [row for row in csv.DictReader(file) if row["method"] == method]


def test_roles_totals_and_interval_sign_are_those_of_an_independent_computation(tmp_path):
    frame = bakery(300)
    result = rl.fit(problem(), frame, unit="EUR", budget=8.0, lags="none", out=tmp_path)
    assert result.roles["costs"] == [f"eur_{item}" for item in ITEMS]
    assert result.roles["decisions"] == [f"sold_{item}" for item in ITEMS]
    assert result.roles["time"] == "date"
    assert set(result.roles["features"]) == {"date", "temperature", "rain", "weekday"}
    # The folds: half of the table, then five steps.
    costs = frame[[f"eur_{item}" for item in ITEMS]].to_numpy().astype(np.float32).astype(float)
    rows = len(frame)
    first, step = rows // 2, -(-(rows - rows // 2) // 5)
    # The calendar of the date is a feature, too.
    days = pd.get_dummies(pd.to_datetime(frame["date"]).dt.dayofweek).to_numpy(float)
    weekday = pd.get_dummies(frame["weekday"]).to_numpy(float)
    design = np.column_stack([np.ones(rows), frame[["temperature", "rain"]], weekday, days])
    totals = {"least squares": 0.0, "mean of history": 0.0, "last period": 0.0, "best": 0.0}
    for start in range(first, rows, step):
        test = range(start, min(rows, start + step))
        coefficients = np.linalg.lstsq(design[:start], costs[:start], rcond=None)[0]
        for row in test:
            predictions = {
                "least squares": design[row] @ coefficients,
                "mean of history": costs[:start].mean(0),
                "last period": costs[row - 1],
                "best": costs[row],
            }
            for name, predicted in predictions.items():
                chosen = SETS[np.argmax(SETS @ predicted)]
                totals[name] += chosen @ costs[row]
    found = {method["name"]: method for method in result.summary["methods"]}
    for name, total in totals.items():
        if name != "best":
            assert found[name]["total_cost"] == pytest.approx(total, rel=1e-5), name
            regret = totals["best"] - total
            assert found[name]["total_regret"] == pytest.approx(regret, abs=1e-3), name
    # Past decisions are valued as they were.
    made = frame[[f"sold_{item}" for item in ITEMS]].to_numpy(float)[first:]
    assert found["past decisions"]["total_cost"] == pytest.approx(
        (made * costs[first:]).sum(), rel=1e-5
    )
    # The verdict is about the differences of the files, whose mean and sign it states.
    auto = next(name for name in found if name.startswith("auto"))
    saved = [
        float(tried["cost"]) - float(base["cost"])
        for tried, base in zip(periods_of(tmp_path, auto), periods_of(tmp_path, "least squares"))
    ]
    saving = found[auto]["saving"]
    assert saving["per_period"] == pytest.approx(np.mean(saved), rel=1e-6)
    # A margin that bends with the temperature is found, with more than a t interval of doubt.
    error = np.std(saved, ddof=1) / np.sqrt(len(saved))
    assert np.mean(saved) - 2 * error > 0
    assert saving["interval"]["lower"] > 0
    assert result.method == auto
    assert result.verdict.startswith(f"`{auto}` gains"), result.verdict
    assert "past decisions" in " ".join(result.remarks)
    # Decisions of the model are feasible, by name.
    decided = result.model.decide(frame.tail(20)).to_frame()
    assert (decided[ITEMS].to_numpy() @ WEIGHTS <= CAPACITY + 1e-9).all()
    card = (tmp_path / "model-card.md").read_text()
    assert result.verdict in card and "from 2023-01-01 to 2023-10-27" in card


def test_a_frame_and_its_file_give_the_same_model(tmp_path):
    frame = bakery(80)
    frame.to_csv(tmp_path / "history.csv", index=False)
    of_frame = rl.fit(problem(), frame, budget=1.0, out=tmp_path / "a")
    of_file = rl.fit(problem(), tmp_path / "history.csv", budget=1.0, out=tmp_path / "b")
    assert of_frame.verdict == of_file.verdict
    model = "model.safetensors"
    assert (tmp_path / "a" / model).read_bytes() == (tmp_path / "b" / model).read_bytes()


def test_polars_and_rows_without_dates():
    pl = pytest.importorskip("polars")
    frame = bakery(90, dates=False)
    result = rl.fit(problem(), pl.from_pandas(frame), budget=1.0)
    assert result.roles["time"] is None
    assert result.summary["periods"] == len(frame)
    assert "<table>" in result._repr_html_()
    assert "Cross-validation" in result.page
    assert "earlier periods" not in result.page


def test_a_fit_is_shown_in_a_line_and_in_notebooks():
    frame = bakery(120)
    rng = np.random.default_rng(2)
    for item in ITEMS:
        frame[f"load_{item}"] = frame[f"eur_{item}"] + 60 * rng.normal(size=120)
    named = {"costs": "eur_*", "decisions": "none", "forecasts": "none", "lags": "1"}
    result = rl.fit(problem(), frame, method="MSE", **named)
    assert result.roles["cost_columns"] and result.roles["lags"], result.roles
    shown = result._repr_html_()
    assert "load_" in shown and "cost columns" in shown
    # Numbers are rounded.
    assert not re.search(r"\d\.\d{9}", shown), shown
    assert repr(result) == f"<FitResult: {result.verdict}>"


def test_least_squares_is_fitted_to_all_rows_where_it_is_not_beaten():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(120, 2)).round(3), columns=["x", "y"])
    for item in ITEMS:
        frame[f"eur_{item}"] = (10 + rng.normal(size=len(frame))).round(3)
    result = rl.fit(problem(), frame, method="MAE(O,S)")
    assert result.method == "least squares" and result.epochs is None
    assert "the model is least squares" in result.verdict
    design = np.column_stack([np.ones(len(frame)), frame[["x", "y"]]])
    costs = frame[[f"eur_{item}" for item in ITEMS]].to_numpy()
    expected = design @ np.linalg.lstsq(design, costs, rcond=None)[0]
    predicted = result.model.predict(frame)[ITEMS].to_numpy()
    np.testing.assert_allclose(predicted, expected, rtol=1e-4)


def test_the_command_line_gives_the_same_model_as_python(tmp_path):
    bakery(100).to_csv(tmp_path / "history.csv", index=False)
    items = ", ".join(f'"{item}"' for item in ITEMS)
    (tmp_path / "van.toml").write_text(
        f'kind = "knapsack"\nitems = [{items}]\nweights = [[3.0, 4.0, 5.0, 2.0, 6.0]]\n'
        "capacity = [10.0]\n"
    )
    words = ["fit", "history.csv", "--problem", "van.toml", "--budget", "1", "--out", "line"]
    done = subprocess.run(
        [sys.executable, "-m", "regretless", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    of_python = rl.fit(
        tmp_path / "van.toml", tmp_path / "history.csv", budget=1.0, out=tmp_path / "python"
    )
    assert of_python.verdict in done.stdout
    for file in ("model.safetensors", "periods.csv", "decisions.csv", "new-rows.csv"):
        line, python = ((tmp_path / folder / file).read_bytes() for folder in ("line", "python"))
        assert line == python, file


def test_ambiguous_and_unknown_columns_are_refused():
    frame = bakery(60)
    for item in ITEMS:
        frame[f"other_{item}"] = frame[f"eur_{item}"] + 1
    with pytest.raises(ValueError, match="several groups") as error:
        rl.fit(problem(), frame)
    for pattern in ("eur_*", "other_*"):
        assert f'regretless.fit(problem, table, costs="{pattern}")' in str(error.value)
    with pytest.raises(ValueError, match="no column is called 'usd_"):
        rl.fit(problem(), frame, costs="usd_*")
    with pytest.raises(TypeError, match="DataFrame"):
        rl.fit(problem(), np.ones((20, 6)))


def prices(rows, seed=7):
    """Return daily prices of six hours, with wind, load and gas of each hour."""
    rng = np.random.default_rng(seed)
    source = {name: rng.normal(size=(rows, 6)) for name in ("wind", "load", "gas")}
    price = 50 - 8 * source["wind"] + 10 * source["load"] + 5 * source["gas"]
    source["price"] = price + 6 * rng.normal(size=price.shape)
    frame = pd.DataFrame(
        {f"{name}_h{hour}": values[:, hour] for name, values in source.items() for hour in range(6)}
    ).round(3)
    dates = pd.date_range("2022-01-01", periods=rows)
    frame.insert(0, "date", dates.strftime("%Y-%m-%d"))
    return frame


def test_a_shared_predictor_is_the_pooled_regression_and_better_on_new_rows(tmp_path):
    frame = prices(300)
    cheapest = rl.Problem.top_k(6, 2, sense="minimize")
    result = rl.fit(cheapest, frame, costs="price_*", budget=4.0, lags="none", out=tmp_path)
    assert [group[0] for group in result.roles["cost_columns"]] == ["wind_h0", "load_h0", "gas_h0"]
    found = {method["name"]: method["total_regret"] for method in result.summary["methods"]}
    assert found["shared least squares"] < 0.97 * found["least squares"]
    # The regression with numpy: an intercept for each hour, and one set of slopes.
    costs = frame[[f"price_h{hour}" for hour in range(6)]].to_numpy().astype(np.float32)
    days = pd.get_dummies(pd.to_datetime(frame["date"]).dt.dayofweek).to_numpy(float)
    own = np.stack(
        [frame[[f"{name}_h{hour}" for hour in range(6)]] for name in ("wind", "load", "gas")], 2
    )
    rows, regret = len(frame), 0.0
    for start in range(rows // 2, rows, rows // 10):
        hours = np.broadcast_to(np.eye(6), (rows, 6, 6))
        common = np.broadcast_to(days[:, None, :], (rows, 6, 7))
        design = np.concatenate([own, hours, common], axis=2)
        known = design[:start].reshape(-1, design.shape[2])
        slopes = np.linalg.lstsq(known, costs[:start].ravel(), rcond=None)[0]
        for row in range(start, min(rows, start + rows // 10)):
            chosen = np.argsort(design[row] @ slopes)[:2]
            regret += costs[row, chosen].sum() - np.sort(costs[row])[:2].sum()
    assert found["shared least squares"] == pytest.approx(regret, rel=1e-4)
    # New rows: the model is chosen by what it has seen, and is better than a wide regression.
    new = prices(1200, seed=8)
    wide = np.column_stack([np.ones(rows), own.reshape(rows, -1)])
    slopes = np.linalg.lstsq(wide, costs, rcond=None)[0]
    new_own = np.stack(
        [new[[f"{name}_h{hour}" for hour in range(6)]] for name in ("wind", "load", "gas")], 2
    )
    predicted = np.column_stack([np.ones(len(new)), new_own.reshape(len(new), -1)]) @ slopes
    actual = new[[f"price_h{hour}" for hour in range(6)]].to_numpy()

    def total(costs):
        chosen = np.argsort(costs, axis=1)[:, :2]
        return np.take_along_axis(actual, chosen, 1).sum()

    assert total(result.model.predict(new).to_numpy()) < total(predicted)


def test_lags_are_the_same_in_both_interfaces_and_follow_a_longer_table(tmp_path):
    frame = prices(300)
    frame[:290].to_csv(tmp_path / "prices.csv", index=False)
    (tmp_path / "k.toml").write_text('kind = "top_k"\nitems = 6\nk = 2\nsense = "minimize"\n')
    words = ["fit", "prices.csv", "--problem", "k.toml", "--costs", "price_*", "--lags", "2,7"]
    words += ["--horizon", "2", "--method", "MSE", "--out", "line"]
    done = subprocess.run(
        [sys.executable, "-m", "regretless", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    result = rl.fit(
        tmp_path / "k.toml",
        tmp_path / "prices.csv",
        costs="price_*",
        lags=[2, 7],
        horizon=2,
        method="MSE",
        out=tmp_path / "python",
    )
    for file in ("model.safetensors", "new-rows.csv", "lagged.csv", "periods.csv"):
        line, python = ((tmp_path / folder / file).read_bytes() for folder in ("line", "python"))
        assert line == python, file
    next_day = result.new_rows.iloc[0]
    assert next_day["date"] == frame["date"][291]
    assert next_day["price_h3_lag2"] == pytest.approx(frame["price_h3"][289])
    assert next_day["price_h3_lag7"] == pytest.approx(frame["price_h3"][284])
    later = result.rows_after(frame[:295]).iloc[0]
    assert later["price_h3_lag7"] == pytest.approx(frame["price_h3"][289])
    # What only the user knows is empty.
    rows = result.rows_after(frame[:295])
    assert rows["wind_h0"].isna().all()
    assert len(result.model.decide(rows.fillna(0.0))) == 1
    with pytest.raises(ValueError, match="not known when the decision is made"):
        rl.fit(tmp_path / "k.toml", frame, costs="price_*", lags=1, horizon=2)


NOT_ARGUMENTS = {
    # Of the terminal alone.
    "config",
    "json",
    "quiet",
    "help",
    # `FitResult.rows_after` does it.
    "rows_only",
    # Checkpoints are those of single trainings.
    "checkpoint_interval",
}


def command_line(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", "regretless", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_setting_of_the_command_line_is_an_argument(tmp_path):
    text = command_line(tmp_path, "fit", "--help")
    flags = {flag.replace("-", "_") for flag in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.M)}
    assert {"costs", "keys", "categories"} <= flags
    arguments = set(inspect.signature(rl.fit).parameters) - {"problem", "table", "progress"}
    assert flags - NOT_ARGUMENTS - {"problem"} == arguments


def settings_of(folder):
    """Return the settings file of a fit without its folder."""
    lines = (folder / "settings.toml").read_text().splitlines()
    return [line for line in lines if not line.startswith("out = ")]


def assert_same_files(first, second):
    for file in ("model.safetensors", "periods.csv", "summary.json", "new-rows.csv"):
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


VAN = (
    'kind = "knapsack"\nitems = ["bread", "rolls", "cake", "pie", "tart"]\n'
    "weights = [[3.0, 4.0, 5.0, 2.0, 6.0]]\ncapacity = [10.0]\n"
)


def test_all_settings_give_the_files_of_the_command_line_and_are_repeated_by_its_settings(tmp_path):
    frame = bakery(90)
    frame["order"] = [f"o{row}" for row in range(len(frame))]
    frame["kind"] = [row % 3 for row in range(len(frame))]
    frame["noise"] = np.arange(len(frame)) % 7
    frame.loc[3, "rain"] = np.nan
    frame[:50].to_csv(tmp_path / "early.csv", index=False, sep=";", decimal=",")
    frame[50:].to_csv(tmp_path / "late.csv", index=False, sep=";", decimal=",")
    (tmp_path / "van.toml").write_text(VAN)
    (tmp_path / "holidays.txt").write_text("2023-01-06\n2023-03-08\n")
    files = [tmp_path / "early.csv", tmp_path / "late.csv"]
    settings = {
        "costs": "eur_*",
        "time": "date",
        "keys": "order",
        "decisions": "sold_*",
        "forecasts": "none",
        "ignore": "noise",
        "lags": "none",
        "categories": "kind",
        "target_statistics": "weekday",
        "dates": "date=season+holiday",
        "delimiter": ";",
        "decimal": ",",
        "method": "MAE",
        "season": 7,
        "horizon": 2,
        "seed": 4,
        "gap": 0.01,
        "nodes": 1000,
        "unit": "EUR",
        "title": "What goes into the van?",
        "missing": "impute",
    }
    words = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    words += ["--holidays", tmp_path / "holidays.txt", "--out", tmp_path / "line"]
    command_line(tmp_path, "fit", *files, "--problem", tmp_path / "van.toml", *words)
    result = rl.fit(
        tmp_path / "van.toml",
        files,
        holidays=tmp_path / "holidays.txt",
        out=tmp_path / "python",
        **settings,
    )
    assert result.roles["keys"] == ["order"]
    assert_same_files(tmp_path / "line", tmp_path / "python")
    assert settings_of(tmp_path / "line") == settings_of(tmp_path / "python")
    again = ["--config", tmp_path / "python" / "settings.toml", "--out", tmp_path / "again"]
    command_line(tmp_path, "fit", *again)
    assert_same_files(tmp_path / "python", tmp_path / "again")
    assert len(result.rows_after(files[0])) == 1


def test_the_settings_of_a_frame_and_a_problem_without_a_file_repeat_the_fit(tmp_path):
    frame = bakery(60)
    out = tmp_path / "python"
    holidays = pd.to_datetime(["2023-01-06"])
    first = rl.fit(problem(), frame, method="MAE", dates="date", holidays=holidays, out=out)
    command_line(tmp_path, "fit", "--config", out / "settings.toml", "--out", "again")
    assert_same_files(out, tmp_path / "again")
    # The same call resumes; other settings and other rows are refused.
    again = rl.fit(problem(), frame, method="MAE", dates="date", holidays=holidays, out=out)
    assert again.verdict == first.verdict
    with pytest.raises(FileExistsError, match=r"settings\.toml"):
        rl.fit(problem(), frame, method="MAE", dates="date", holidays=holidays, seed=1, out=out)
    with pytest.raises(FileExistsError, match=r"table\.csv"):
        rl.fit(problem(), frame[:50], method="MAE", out=out)
    other = rl.fit(problem(), frame[:50], method="MAE", out=out, force=True)
    assert other.summary["periods"] == 25


def test_a_long_table_and_one_with_tabs_are_read_as_by_the_command_line(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        (day, item, *rng.normal(size=2).round(3), round(10 + rng.normal(), 3))
        for day in range(40)
        for item in "abcd"
    ]
    names = ["day", "item", "wind", "load", "price"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "long.tsv", sep="\t", index=False)
    (tmp_path / "k.toml").write_text('kind = "top_k"\nitems = 4\nk = 2\nsense = "minimize"\n')
    columns = {"instance_column": "day", "item_column": "item", "cost_column": "price"}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in columns.items()]
    words += ["--method", "MAE", "--out", "line"]
    command_line(tmp_path, "fit", tmp_path / "long.tsv", "--problem", tmp_path / "k.toml", *words)
    result = rl.fit(
        tmp_path / "k.toml",
        tmp_path / "long.tsv",
        method="MAE",
        out=tmp_path / "python",
        **columns,
    )
    assert_same_files(tmp_path / "line", tmp_path / "python")
    assert settings_of(tmp_path / "line") == settings_of(tmp_path / "python")
    assert len(result.rows_after(tmp_path / "long.tsv")) == 4


def test_examples_are_those_of_the_command_line(tmp_path):
    settings = ["--method", "MSE", "--out", tmp_path / "line"]
    command_line(tmp_path, "fit", "--example", "machine", *settings)
    result = rl.fit(example="machine", method="MSE", out=tmp_path / "python")
    assert_same_files(tmp_path / "line", tmp_path / "python")
    assert "EUR" in result.verdict and "eight hours" in result.page
    with pytest.raises(ValueError, match="battery"):
        rl.fit(example="batery")
    with pytest.raises(TypeError, match="its own problem"):
        rl.fit(problem(), bakery(20), example="machine")
    with pytest.raises(TypeError, match="a problem and a table, or an example"):
        rl.fit(problem())


def test_names_for_people_are_on_the_page_and_change_nothing_else(tmp_path):
    frame = bakery(60)
    names = {"bread": "Rye bread", "cake": "Cake, sliced"}
    plain = rl.fit(problem(), frame, method="MAE", out=tmp_path / "plain")
    named = rl.fit(problem(), frame, method="MAE", names=names, out=tmp_path / "named")
    assert "Rye bread" in named.page and "Rye bread" not in plain.page
    assert_same_files(tmp_path / "plain", tmp_path / "named")
    of_file = rl.fit(problem(), frame, method="MAE", names=tmp_path / "named" / "names.csv")
    assert "Cake, sliced" in of_file.page
    with pytest.raises(ValueError, match="no cost is called 'eur_bread'"):
        rl.fit(problem(), frame, method="MAE", names={"eur_bread": "Rye bread"})


def test_times_in_the_index_of_a_frame_are_not_lost():
    frame = prices(60)
    cheapest = rl.Problem.top_k(6, 2, sense="minimize")
    times = pd.DatetimeIndex(frame.pop("date"))
    options = {"costs": "price_*", "method": "MSE", "lags": "none"}
    for index in (times.rename(None), pd.MultiIndex.from_arrays([times.rename(None), range(60)])):
        with pytest.raises(ValueError, match="reset_index"):
            rl.fit(cheapest, frame.set_index(index), **options)
    for index in (times, pd.MultiIndex.from_arrays([times, range(60)], names=["date", "number"])):
        assert rl.fit(cheapest, frame.set_index(index), **options).roles["time"] == "date"


def test_rows_without_costs_at_the_end_are_those_to_decide():
    frame = prices(120)
    known = [name for name in frame if name.startswith("price_")]
    frame.loc[118:, known] = np.nan
    cheapest = rl.Problem.top_k(6, 2, sense="minimize")
    with pytest.warns(UserWarning, match="the last 2 rows are without costs"):
        result = rl.fit(cheapest, frame, costs="price_*", method="MSE", lags="none")
    assert result.new_rows["date"].tolist() == frame["date"][118:].tolist()
    assert len(result.model.decide(result.new_rows)) == 2


def test_a_problem_file_that_is_not_filled_in_is_refused(tmp_path):
    file = tmp_path / "k.toml"
    file.write_text('kind = "top_k"\nitems = 6\nk = 2  # fill in\nsense = "minimize"\n')
    with pytest.raises(ValueError, match="row 3.*fill in"):
        rl.fit(file, prices(60), costs="price_*", method="MSE")
