"""DataFrames with categories, texts, dates, truth values and gaps."""

import datetime
import decimal
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import regretless as rl

pandas = pytest.importorskip("pandas")

ROWS = 200
PROBLEM = rl.Problem({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize"})
SPLIT = (120, 40, 40)


def bakery() -> "tuple[pandas.DataFrame, pandas.DataFrame]":
    """Return features of every kind, and costs that depend on weekday and weather."""
    random = np.random.default_rng(0)
    dates = pandas.date_range("2024-01-01", periods=ROWS)
    weather = np.array(["sun", "rain", "snow"])[random.integers(3, size=ROWS)]
    temperature = random.normal(10.0, 5.0, ROWS).astype(np.float32)
    temperature[::9] = np.nan
    X = pandas.DataFrame(
        {
            "date": dates,
            "shop": pandas.Categorical(np.array(["north", "south"])[np.arange(ROWS) % 2]),
            "weather": weather,
            "late": np.arange(ROWS) % 3 == 0,
            "temperature": temperature,
            "visitors": pandas.array(random.integers(50, size=ROWS), dtype="Int64"),
            "customer": [f"K{row}" for row in range(ROWS)],
        }
    )
    X.loc[3, "visitors"] = pandas.NA
    costs = np.stack(
        [
            2.0 + 2.0 * (dates.day_of_week >= 5),
            3.0 + 0.0 * np.arange(ROWS),
            2.5 + 1.5 * (weather == "rain"),
        ],
        axis=1,
    )
    C = pandas.DataFrame(costs + random.uniform(0.0, 0.2, costs.shape), columns=["a", "b", "c"])
    return X, C


FEATURES = [
    *[f"date weekday={day}" for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")],
    "shop=north",
    "shop=south",
    "weather=rain",
    "weather=snow",
    "weather=sun",
    "late",
    "temperature",
    "temperature is missing",
    "visitors",
    "visitors is missing",
]


def test_every_kind_of_column_becomes_features():
    X, C = bakery()
    model, report = rl.train(PROBLEM, X, C, split=SPLIT, method="MAE(O,S)", epochs=20)
    assert model.feature_names == FEATURES
    assert model.column_names == [name for name in X.columns if name != "customer"]
    assert report.encoding["weather"] == "one-hot, 3 values"
    assert "customer" in report.unused_columns
    assert report.test.normalized_regret < 0.7 * report.training_mean.normalized_regret
    predicted = model.predict(X)
    assert list(predicted.columns) == ["a", "b", "c"]
    # Columns are found by name; others are ignored.
    shuffled = X[["customer", *reversed(model.column_names)]]
    pandas.testing.assert_frame_equal(model.predict(shuffled), predicted)
    assert len(model.decide(X).decisions) == ROWS
    evaluation = model.evaluate(X.iloc[160:], C.iloc[160:])
    assert evaluation.regret == pytest.approx(report.test.regret)


def test_unknown_values_are_counted_in_a_warning():
    X, C = bakery()
    model, _ = rl.train(PROBLEM, X, C, split=SPLIT, method="MAE(O,S)", epochs=1)
    new = X.iloc[:4].copy()
    new["weather"] = ["sun", "hail", "rain", None]
    with pytest.warns(UserWarning) as caught:
        model.decide(new)
    messages = [str(warning.message) for warning in caught]
    assert any("row 1, column weather: 'hail' is a value that no" in text for text in messages)
    assert any("row 3, column weather: the value is missing" in text for text in messages)
    with pytest.raises(ValueError, match="there is no column 'shop'"):
        model.predict(new.drop(columns="shop"))
    new["date"] = ["2024-01-01", "2024-02-30", "2024-01-01", "2024-01-01"]
    with pytest.raises(ValueError, match="row 1, column date: '2024-02-30' is no date"):
        model.predict(new)
    new["date"] = 5.0
    with pytest.raises(ValueError, match="column date.*numbers.*expects dates"):
        model.predict(new)
    with pytest.raises(ValueError, match="column"):
        model.predict(np.zeros((2, 6)))


def test_other_rows_than_those_of_training_change_nothing():
    X, C = bakery()
    first, _ = rl.train(
        PROBLEM, X, C, split=SPLIT, method="MAE(O,S)", epochs=1, target_statistics="customer"
    )
    changed, costs = X.copy(), C.copy()
    changed.loc[120:, "weather"] = "hail"
    changed.loc[120:, "temperature"] = np.nan
    changed.loc[120:, "shop"] = None
    costs.loc[120:] = 100.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second, _ = rl.train(
            PROBLEM,
            changed,
            costs,
            split=SPLIT,
            method="MAE(O,S)",
            epochs=1,
            target_statistics="customer",
        )
    assert second.feature_names == first.feature_names
    encodings = [_encoding(model) for model in (first, second)]
    assert encodings[0] == encodings[1]


def _encoding(model):
    header = model.to_bytes()
    start = header.index(b"encoding")
    return header[start : header.index(b"record", start)]


def test_the_command_line_trains_and_decides_the_same(tmp_path):
    X, C = bakery()
    model, _ = rl.train(PROBLEM, X, C, split=SPLIT, method="MAE(O,S)", epochs=3)
    table = pandas.concat([X, C], axis=1)
    table["late"] = table["late"].map({True: "true", False: "false"})
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "problem.toml").write_text("kind = 'top_k'\nitems = 3\nk = 1\nsense = 'minimize'\n")
    command = [sys.executable, "-m", "regretless", "train", "--data", "table.csv", "--costs"]
    command += ["a,b,c", "--problem", "problem.toml", "--split", "120,40,40", "--epochs", "3"]
    command += ["--method", "MAE(O,S)"]
    subprocess.run([*command, "--categories", "shop"], cwd=tmp_path, check=True)
    other = rl.Model.load(tmp_path / "model.safetensors")
    assert other.feature_names == model.feature_names
    pandas.testing.assert_frame_equal(other.predict(X), model.predict(X))


def test_options_choose_how_columns_are_used():
    X, C = bakery()
    X = X.assign(week=np.arange(ROWS) % 4, customer=[f"K{row % 70}" for row in range(ROWS)])
    model, report = rl.train(
        PROBLEM,
        X,
        C,
        split=SPLIT,
        method="MAE(O,S)",
        epochs=1,
        categories=["week"],
        target_statistics="customer",
        dates="date=trend+holiday",
        holidays=[datetime.date(2024, 1, 1), datetime.date(2024, 12, 25)],
    )
    for name in ("week=0", "week=3", "customer mean cost", "date trend", "date holiday"):
        assert name in model.feature_names
    assert "weekday" not in report.encoding["date"]
    with pytest.raises(ValueError, match="row 0, column temperature"):
        rl.train(PROBLEM, X, C, missing="error")
    with pytest.raises(ValueError, match="missing"):
        rl.train(PROBLEM, X, C, missing="zero")
    with pytest.raises(ValueError, match="need a DataFrame"):
        rl.train(PROBLEM, np.zeros((ROWS, 2)), C, categories="x0")
    with pytest.raises(ValueError, match="'weak'"):
        rl.train(PROBLEM, X, C, categories="weak")


def test_numbers_without_gaps_are_used_as_before():
    X, C = bakery()
    numbers = X[["late"]].assign(x=np.arange(ROWS))
    model, report = rl.train(PROBLEM, numbers, C, split=SPLIT, method="MAE(O,S)", epochs=1)
    assert model.feature_names == ["late", "x"] and report.encoding == {}
    array, _ = rl.train(
        PROBLEM, numbers.to_numpy(np.float64), C, split=SPLIT, method="MAE(O,S)", epochs=1
    )
    np.testing.assert_array_equal(array.predict(numbers.to_numpy(float)), model.predict(numbers))
    missing = numbers.astype(float).mask(numbers["x"] == 7)
    with pytest.raises(ValueError, match="NaN is not a finite number"):
        rl.train(PROBLEM, missing.to_numpy(), C, split=SPLIT)
    with pytest.raises(ValueError, match="NaN"):
        rl.train(PROBLEM, X, C.mask(C["a"] > 3.9))


def test_a_model_survives_files_and_pickles(tmp_path):
    X, C = bakery()
    model, _ = rl.train(PROBLEM, X, C, split=SPLIT, method="MAE(O,S)", epochs=1)
    model.save(tmp_path / "model.safetensors")
    loaded = rl.Model.load(tmp_path / "model.safetensors")
    pandas.testing.assert_frame_equal(loaded.predict(X), model.predict(X))
    restored = rl.Model.from_bytes(model.to_bytes())
    assert restored == model
    assert json.dumps(restored.column_names) == json.dumps(model.column_names)


def test_polars_and_pyarrow_tables_are_read_like_pandas():
    X, C = bakery()
    plain = X.assign(shop=X["shop"].astype(str))
    expected, _ = rl.train(PROBLEM, plain, C, split=SPLIT, method="MAE(O,S)", epochs=1)
    frames = []
    polars = pytest.importorskip("polars")
    columns = {
        "date": [date.to_pydatetime() for date in plain["date"]],
        "shop": plain["shop"].tolist(),
        "weather": plain["weather"].tolist(),
        "late": plain["late"].tolist(),
        "temperature": [None if np.isnan(t) else float(t) for t in plain["temperature"]],
        "visitors": [None if v is pandas.NA else int(v) for v in plain["visitors"]],
        "customer": plain["customer"].tolist(),
    }
    frames.append(polars.DataFrame(columns))
    frames.append(polars.DataFrame(columns).with_columns(polars.col("date").cast(polars.Date)))
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        frames.append(pyarrow.table(columns))
    for frame in frames:
        model, _ = rl.train(PROBLEM, frame, C.to_numpy(), split=SPLIT, method="MAE(O,S)", epochs=1)
        assert model.feature_names == expected.feature_names
        np.testing.assert_allclose(
            np.asarray(model.predict(frame)), np.asarray(expected.predict(plain)), rtol=1e-6
        )


def test_estimators_of_scikit_learn_take_such_tables():
    pytest.importorskip("sklearn")
    from sklearn.compose import ColumnTransformer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer

    X, C = bakery()
    estimator = DecisionFocusedRegressor(PROBLEM, "MAE(O,S)", epochs=5, random_state=0).fit(X, C)
    assert estimator.model_.feature_names == FEATURES
    assert list(estimator.feature_names_in_) == list(X.columns)
    assert estimator.predict(X).shape == (ROWS, 3)
    assert len(estimator.decide(X).decisions) == ROWS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(estimator, X, C, cv=3, scoring=make_regret_scorer(PROBLEM))
    assert np.isfinite(scores).all()
    # A pipeline encodes by itself, as before.
    encoder = ColumnTransformer([("one-hot", OneHotEncoder(), ["shop", "weather"])])
    pipeline = make_pipeline(
        encoder, DecisionFocusedRegressor(PROBLEM, "MAE(O,S)", epochs=5, random_state=0)
    )
    pipeline.fit(X, C)
    assert pipeline[-1].model_.column_names == pipeline[-1].model_.feature_names
    with pytest.raises(ValueError, match="NaN"):
        DecisionFocusedRegressor(PROBLEM).fit(X[["temperature"]].to_numpy(), C)


def test_models_of_numbers_find_their_columns_by_name():
    random = np.random.default_rng(1)
    X = pandas.DataFrame(random.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    C = random.uniform(1, 9, size=(ROWS, 3))
    model, _ = rl.train(PROBLEM, X, C, "MSE", split=SPLIT, epochs=1)
    expected = model.predict(X)
    extra = X.assign(note="text", more=1.0)[["more", "c", "note", "a", "b"]]
    pandas.testing.assert_frame_equal(model.predict(extra), expected)
    assert len(model.decide(extra)) == ROWS
    assert model.evaluate(extra, C).regret == model.evaluate(X, C).regret
    indexed = X.set_index("b")
    np.testing.assert_array_equal(model.predict(indexed), expected)
    with pytest.raises(ValueError, match="b"):
        model.predict(X[["a", "c"]])


def test_dates_in_the_index_are_read_by_its_name():
    X, C = bakery()
    model, _ = rl.train(PROBLEM, X, C, "MSE", split=SPLIT, epochs=1)
    indexed = X.set_index("date")
    pandas.testing.assert_frame_equal(
        model.predict(indexed).reset_index(drop=True), model.predict(X)
    )
    assert list(model.decide(indexed).decisions.index) == list(X["date"])
    with pytest.raises(ValueError, match="no column 'date'"):
        model.predict(indexed.rename_axis("day"))


def test_codes_with_more_digits_than_single_precision_stay_different():
    random = np.random.default_rng(4)
    code = random.integers(0, 4, size=ROWS)
    C = 1.0 + np.stack([code == 0, code == 1, code == 2], axis=1)
    for codes in (123456788 + code, (123456788 + code).astype(float)):
        X = pandas.DataFrame({"customer": codes, "size": random.normal(size=ROWS)})
        model, _ = rl.train(PROBLEM, X, C, "least squares", split=SPLIT, categories="customer")
        assert model.feature_names[:4] == [f"customer={123456788 + one}" for one in range(4)]
        np.testing.assert_allclose(model.predict(X), C, atol=0.05)


def save_with_costs(table, folder):
    table = table.assign(
        **{f"c{cost}": 1.0 + np.arange(len(table)) % (cost + 2) for cost in range(3)}
    )
    (folder / "problem.toml").write_text('kind = "top_k"\nitems = 3\nk = 1\nsense = "minimize"\n')
    table.to_csv(folder / "table.csv", index=False)
    table.to_parquet(folder / "table.parquet", index=False)


def train_on_file(name, folder):
    words = ["train", "--data", name, "--costs", "c*", "--problem", "problem.toml", "--quiet"]
    words += ["--method", "least squares", "--split", "order", "--force"]
    return subprocess.run(
        [sys.executable, "-m", "regretless", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_column_of_dates_with_gaps_is_a_feature_of_a_file_too(tmp_path):
    X = pandas.DataFrame({"date": pandas.date_range("2025-01-01", periods=ROWS)})
    X.loc[3::7, "date"] = pandas.NaT
    save_with_costs(X, tmp_path)
    for name in ("table.csv", "table.parquet"):
        done = train_on_file(name, tmp_path)
        assert done.returncode == 0, done.stderr
        model = rl.Model.load(tmp_path / "model.safetensors")
        assert model.feature_names[-1] == "date is missing"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_times_that_parquet_holds_in_utc_are_refused_where_their_clock_showed_another_time(
    library, tmp_path
):
    frames = pytest.importorskip(library)
    times = pandas.date_range("2025-01-01", periods=ROWS, freq="7h")
    for zone, is_refused in [("Europe/Berlin", True), ("UTC", False), (None, False)]:
        X = pandas.DataFrame({"time": times.tz_localize("UTC").tz_convert(zone)})
        save_with_costs(X, tmp_path)
        if library == "polars":
            frames.read_parquet(tmp_path / "table.parquet").write_parquet(
                tmp_path / "table.parquet"
            )
        done = train_on_file("table.parquet", tmp_path)
        assert done.returncode == (3 if is_refused else 0), done.stderr
        if is_refused:
            assert "column time: the times were written in the zone Europe/Berlin" in done.stderr
            continue
        # The same features as in Python.
        model = rl.Model.load(tmp_path / "model.safetensors")
        by_frame, _ = rl.train(
            PROBLEM,
            X,
            pandas.read_csv(tmp_path / "table.csv")[["c0", "c1", "c2"]],
            "least squares",
            split="order",
        )
        assert model.feature_names == by_frame.feature_names
        np.testing.assert_allclose(model.coefficients, by_frame.coefficients, atol=1e-4)


@pytest.mark.parametrize("precision", [4, 9, 18, 30])
@pytest.mark.parametrize("as_integer", [False, True])
def test_decimal_numbers_are_numbers_in_every_table(precision, as_integer, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    from pyarrow import parquet

    random = np.random.default_rng(0)
    units = random.integers(-9999, 10000, size=ROWS).tolist()
    prices = [decimal.Decimal(unit).scaleb(-2) for unit in units]
    prices[3:8] = [decimal.Decimal("-0.05"), decimal.Decimal("0.00"), None, prices[6], None]
    costs = random.uniform(1, 9, size=(ROWS, 3))
    X = pandas.DataFrame({"price": prices, "x": random.normal(size=ROWS)})
    model, _ = rl.train(PROBLEM, X, costs, "least squares", split=SPLIT)
    assert model.feature_names[0] == "price"
    known = sorted(float(price) for price in prices[:120] if price is not None)
    median = known[(len(known) - 1) // 2]
    plain = [median if price is None else float(price) for price in prices]
    gaps = [price is None for price in prices]
    features = np.column_stack([plain, gaps, X["x"]])
    expected = features @ np.asarray(model.coefficients).T + model.intercepts
    kind = pyarrow.decimal128(precision, 2)
    table = pyarrow.table({"price": pyarrow.array(prices, type=kind), "x": X["x"].to_numpy()})
    for frame in [X, table, polars.from_arrow(table)]:
        np.testing.assert_allclose(model.predict(frame), expected, atol=1e-4)
    if as_integer and precision > 18:
        return
    for number in range(3):
        table = table.append_column(f"c{number}", pyarrow.array(costs[:, number]))
    save_with_costs(X[["x"]], tmp_path)
    parquet.write_table(table, tmp_path / "table.parquet", store_decimal_as_integer=as_integer)
    done = train_on_file("table.parquet", tmp_path)
    assert done.returncode == 0, done.stderr
    found = rl.Model.load(tmp_path / "model.safetensors")
    assert found.feature_names == model.feature_names


def test_a_model_of_numbers_predicts_from_decimal_numbers_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    random = np.random.default_rng(0)
    prices = random.integers(-9999, 10000, size=ROWS) / 100
    X = pandas.DataFrame({"price": prices})
    model, _ = rl.train(PROBLEM, X, random.uniform(1, 9, size=(ROWS, 3)), "MSE", epochs=1)
    exact = [decimal.Decimal(f"{price:.2f}") for price in prices]
    table = pyarrow.table({"price": pyarrow.array(exact, type=pyarrow.decimal128(7, 2))})
    np.testing.assert_allclose(model.predict(table), model.predict(X), atol=1e-5)


def test_nanoseconds_change_no_feature():
    pyarrow = pytest.importorskip("pyarrow")
    times = pandas.date_range("2025-01-01", periods=ROWS, freq="7h")
    costs = np.random.default_rng(0).uniform(1, 9, size=(ROWS, 3))
    X = pandas.DataFrame({"time": times})
    model, _ = rl.train(PROBLEM, X, costs, "least squares", split="order")
    later = times.as_unit("ns") + pandas.Timedelta(123, "ns")
    for zone in [None, "Europe/Berlin"]:
        shown = later if zone is None else later.tz_localize(zone, ambiguous=False)
        frame = pandas.DataFrame({"time": shown})
        table = pyarrow.Table.from_pandas(frame)
        for found in [frame, table]:
            np.testing.assert_allclose(model.predict(found), model.predict(X), atol=1e-5)


def test_times_of_day_are_refused_by_the_name_of_their_column(tmp_path):
    times = [datetime.time(hour % 24, 30) for hour in range(ROWS)]
    costs = np.random.default_rng(0).uniform(1, 9, size=(ROWS, 3))
    X = pandas.DataFrame({"opens": times, "x": np.arange(ROWS) % 7})
    with pytest.raises(ValueError, match="column 'opens', holds datetime.time"):
        rl.train(PROBLEM, X, costs, "least squares", split="order")
    save_with_costs(X, tmp_path)
    done = train_on_file("table.parquet", tmp_path)
    assert done.returncode == 3
    assert "column opens: times of day without a date are not supported" in done.stderr
