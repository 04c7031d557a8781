"""What counts as numbers, and what is refused by name."""

import datetime
import decimal

import numpy as np
import pytest

import regretless as rl

PROBLEM = rl.Problem({"kind": "top_k", "items": 2, "k": 1, "sense": "minimize"})
GOOD = np.array([[1.0, 2.0], [4.0, 3.0]])


def masked(kind):
    return np.ma.masked_array(GOOD.astype(kind), mask=[[0, 0], [0, 1]])


BAD = {
    "masked float64": (masked(np.float64), r"the entry at \(1, 1\) is masked"),
    "masked float32": (masked(np.float32), r"the entry at \(1, 1\) is masked"),
    "dates": (np.array([["2020-01-01", "2021-01-01"]] * 2, dtype="datetime64[D]"), "holds dates"),
    "spans": (np.array([[1, 2]] * 2, dtype="timedelta64[D]"), "holds time differences"),
    "complex": (GOOD + 1j, "holds complex numbers"),
    "records": (np.zeros((2, 2), dtype=[("x", "f4")]), "holds records"),
    "objects": (np.array([[1, np.datetime64("2020-01-01")]] * 2, dtype=object), "datetime64"),
    "words": (np.array([["left", "right"]] * 2), "must be an array of numbers"),
}

USES = {
    "C": lambda value: PROBLEM.solve_all(value),
    "C, labels": lambda value: rl.label(PROBLEM, value),
    "predictions": lambda value: rl.Loss(PROBLEM, GOOD, "MSE").evaluate(value),
    "X": lambda value: rl.train(PROBLEM, value, GOOD),
    "c": lambda value: PROBLEM.solve(value[0]),
    "A": lambda value: rl.Problem.from_arrays(value, [1, 2], sense="minimize"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("bad", BAD)
def test_values_that_are_not_numbers_are_refused_by_argument(bad, use):
    value, word = BAD[bad]
    if use == "c" and "masked" in bad:
        value, word = value[::-1], r"the entry at \(1,\) is masked"
    with pytest.raises(ValueError, match=word) as error:
        USES[use](value)
    assert str(error.value).startswith(use.partition(",")[0])


def test_numbers_of_every_type_are_accepted():
    right = PROBLEM.solve_all(GOOD).objectives.tolist()
    for value in [
        GOOD.astype(object),
        np.array([[decimal.Decimal(1), 2], [4, 3.0]], dtype=object),
        GOOD.astype(np.int64),
        GOOD.astype(np.float16),
        GOOD.astype(np.longdouble),
        GOOD.astype(">f8"),
        np.ma.masked_array(GOOD, mask=False),
        np.asmatrix(GOOD),
        GOOD.tolist(),
    ]:
        assert PROBLEM.solve_all(value).objectives.tolist() == right
    assert PROBLEM.solve_all(GOOD > 2).objectives.tolist() == [0, 1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_names_the_column_that_holds_no_numbers(library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    day = datetime.date(2024, 5, 1)
    spans = frames.DataFrame({"a": [1.0, 2.0], "span": [datetime.timedelta(1)] * 2})
    with pytest.raises(ValueError, match="^X, column 'span',"):
        rl.train(PROBLEM, spans, GOOD)
    # Features may be dates and texts, costs may not.
    for bad, word in [([day, day], "day"), (["a", "b"], "word")]:
        frame = frames.DataFrame({"a": [1.0, 2.0], word: bad})
        with pytest.raises(ValueError, match=f"column '{word}',"):
            rl.train(PROBLEM, GOOD, frame)
    costs = frames.DataFrame({"a": [1.0, 4.0], "b": [True, False]})
    assert PROBLEM.solve_all(costs).objectives.tolist() == [1, 0]


def test_a_problem_file_is_named_where_its_numbers_are_wrong(tmp_path):
    path = tmp_path / "choice.toml"
    path.write_text('kind = "top_k"\nitems = 5\nk = 6\nsense = "minimize"\n')
    for read in [rl.Problem, rl.Problem.from_file, lambda path: rl.Problem(str(path))]:
        with pytest.raises(ValueError, match=r"choice\.toml.*k = 6 of 5"):
            read(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan")])
def test_settings_that_are_no_numbers_are_named(value):
    with pytest.raises(ValueError, match="^time_limit: (nan|inf) is not a finite number"):
        rl.train(PROBLEM, GOOD, GOOD, time_limit=value)
    with pytest.raises(ValueError, match="the problem holds a number that is not finite"):
        rl.Problem({"kind": "knapsack", "weights": [[1.0, float(value)]], "capacity": [1.0]})


@pytest.mark.parametrize(
    "optimizer, word",
    [
        ("adam:beta1=2", "beta1"),
        ("sgd:momentum=-5", "momentum"),
        ({"kind": "adam", "beta2": -1}, "beta2"),
    ],
)
def test_invalid_optimizers_are_refused(optimizer, word):
    with pytest.raises(ValueError, match=f"{word} must be at least 0 and below 1"):
        rl.train(PROBLEM, GOOD, GOOD, split=([0], [1]), optimizer=optimizer)
