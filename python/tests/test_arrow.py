"""Arrow tables are read column by column, without copies but the matrix itself."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

import regretless as rl
from regretless.tables.numbers import as_numeric_array


@pytest.fixture(name="data")
def fixture_data():
    """Features and costs of a small benchmark."""
    return rl.generate("KS8", 120)


def arrow(array, prefix, chunks=3):
    """The array as a table of columns in several chunks."""
    columns = {
        f"{prefix}{j}": pa.chunked_array(np.array_split(array[:, j], chunks))
        for j in range(array.shape[1])
    }
    return pa.table(columns)


def test_training_on_arrow_tables_is_that_on_arrays(data):
    features, costs = data
    problem = rl.Problem("KS8")
    settings = {"method": "MAE(O,S)", "epochs": 3, "seed": 1}
    expected, _ = rl.train(problem, features, costs, **settings)
    found, _ = rl.train(problem, arrow(features, "x"), arrow(costs, "c"), **settings)
    new = features[:5]
    np.testing.assert_array_equal(found.predict(arrow(new, "x")), expected.predict(new))
    assert found.feature_names == [f"x{j}" for j in range(features.shape[1])]


def test_a_column_of_lists_is_read_in_place(data):
    features, _ = data
    flat = pa.array(features.ravel())
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(flat, features.shape[1])})
    matrix = as_numeric_array(table, "X")
    np.testing.assert_array_equal(matrix, features)
    assert np.shares_memory(matrix, np.frombuffer(flat.buffers()[1], dtype=np.float32))
    problem = rl.Problem("KS8")
    model, _ = rl.train(problem, table, data[1], method="MAE(O,S)", epochs=1)
    assert model.predict(table[:2]).shape == (2, 8)


def test_columns_are_copied_once():
    rows, cols = 200_000, 8
    columns = {f"x{j}": np.arange(rows, dtype=np.float64) for j in range(cols)}
    table = pa.table(columns)
    tracemalloc.start()
    matrix = as_numeric_array(table, "X", True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert matrix.dtype == np.float32
    assert peak < 1.05 * matrix.nbytes


def test_missing_values_and_text_are_refused_by_name(data):
    features, costs = data
    table = arrow(features, "x")
    gaps = table.set_column(1, "x1", pa.array([None, *features[1:, 1].tolist()], pa.float32()))
    assert np.isnan(as_numeric_array(gaps, "X")[0, 1])
    text = table.append_column("shop", pa.array(["a"] * len(features)))
    with pytest.raises(ValueError, match="column 'shop'"):
        as_numeric_array(text, "X")
    with pytest.raises(ValueError, match="c1"):
        broken = arrow(costs, "c").set_column(1, "c1", pa.array([None] * len(costs), pa.float32()))
        rl.label(rl.Problem("KS8"), broken)


def test_small_integers_booleans_and_streams_are_numbers(data):
    table = pa.table({"flag": [True, False, True], "count": pa.array([1, 2, 3], pa.int16())})
    expected = [[1, 1], [0, 2], [1, 3]]
    assert as_numeric_array(table, "X").dtype == np.float32
    np.testing.assert_array_equal(as_numeric_array(table, "X"), expected)
    reader = table.to_batches()[0]
    np.testing.assert_array_equal(as_numeric_array(reader, "X"), expected)
    large = pa.table({"id": pa.array([2**40 + 1], pa.int64())})
    assert as_numeric_array(large, "X")[0, 0] == 2**40 + 1
