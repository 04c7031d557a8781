"""Explanations of single decisions: equal to those of the command line, and refusals."""

import itertools
import json
import pickle
import subprocess

import numpy as np
import pytest

import regretless as rl

PROBLEM = rl.Problem("KS6")
X, C = rl.generate("KS6", instances=60, seed=1)


@pytest.fixture(scope="module")
def model():
    return rl.train(PROBLEM, X, C, "MSE", epochs=3)[0]


def test_python_and_the_command_line_explain_the_same(model, tmp_path, program):
    model.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "c.npy", C)
    words = ["explain", "--model", "m.safetensors", "--data", "x.npy", "--cost-data", "c.npy"]
    choices = ["--row", "4", "--alternatives", "5", "--force-choice", "c2", "--forbid-choice", "c4"]
    done = subprocess.run(
        [*program, *words, *choices, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("row") == 4
    assert found.pop("encoding_notes") == []
    explanation = model.explain(X[4], costs=C[4], alternatives=5, force="c2", forbid=["c4"])
    assert explanation.to_dict() == found
    assert rl.Explanation.from_dict(found) == explanation


def test_the_parts_of_an_explanation_are_right(model):
    for row in range(5):
        explanation = model.explain(X[row : row + 1], costs=C[row])
        decision = model.decide(X[row : row + 1]).decisions[0]
        assert [cost.value for cost in explanation.costs] == decision.tolist()
        predicted = model.predict(X[row : row + 1])[0].astype(float)
        assert [cost.predicted for cost in explanation.costs] == predicted.tolist()
        split = explanation.regret
        assert split.regret == pytest.approx(sum(s.share for s in split.shares) - split.gap)
        effects = explanation.features
        assert effects.method == "linear_from_mean"
        sums = effects.base + np.sum([feature.effects for feature in effects.features], axis=0)
        np.testing.assert_allclose(sums, predicted, rtol=1e-9)
        best = explanation.alternatives.decisions[0]
        assert best.price == pytest.approx(explanation.objective - best.objective)
        nearest = min(
            abs(end - cost.predicted)
            for cost in explanation.costs
            for end in (cost.range.lower, cost.range.upper)
            if end is not None
        )
        assert nearest == pytest.approx(best.price)


def test_an_explanation_can_be_shown(model):
    explanation = model.explain(X[0], costs=C[0], force="c0")
    assert repr(explanation).startswith("<regretless.Explanation: ")
    assert "regret" in repr(explanation)
    page = explanation._repr_html_()
    for title in ("cost ranges", "other decisions", "choices", "regret", "features"):
        assert title in page


def test_names_in_tables_are_escaped():
    pandas = pytest.importorskip("pandas")
    hostile = "<script>alert(1)</script>"
    costs = pandas.DataFrame(C[:, :2], columns=[hostile, "b"])
    problem = rl.Problem.top_k(2, 1, sense="minimize")
    model = rl.train(problem, X, costs, "MSE", epochs=1)[0]
    explanation = model.explain(X[0], costs=costs.iloc[0], force=hostile)
    assert explanation.costs[0].name == hostile
    assert "<script>" not in explanation._repr_html_()


def test_rows_and_costs_may_be_series(model):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=model.feature_names)
    costs = pandas.DataFrame(C, columns=model.cost_names)
    expected = model.explain(X[3], costs=C[3])
    assert model.explain(table.iloc[3], costs=costs.iloc[3]) == expected
    assert model.explain(table.iloc[3:4], costs=costs.iloc[3:4]) == expected


def test_the_function_of_a_user_is_explained():
    weights = np.array([3.0, 2.0, 4.0, 1.0])
    choices = [np.array(c) for c in itertools.product([0, 1], repeat=4) if weights @ c <= 6]
    calls = []

    def solve(costs):
        calls.append(costs)
        return max(choices, key=lambda choice: choice @ costs)

    problem = rl.Problem.from_solver(solve, 4, sense="maximize")
    model = rl.train(problem, X, C[:, :4], "MSE", epochs=1)[0]
    explanation = model.explain(X[2], problem=problem, alternatives=4)
    predicted = np.array([cost.predicted for cost in explanation.costs])
    values = sorted((choice @ predicted for choice in choices), reverse=True)
    found = [explanation.objective, *(d.objective for d in explanation.alternatives.decisions)]
    np.testing.assert_allclose(found, values[:5], rtol=1e-6)
    assert explanation.ranges.method == "solves"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"force": "c9"}, "'c9'"),
        ({"costs": C[0, :3]}, "3 true costs"),
        ({"costs": C[:2]}, "2 rows"),
        ({"costs": np.full(6, np.nan)}, "'c0'"),
        ({"X": X[:2]}, "one instance"),
        ({"alternative": 3}, "alternative"),
    ],
)
def test_what_cannot_be_explained_is_refused(model, arguments, message):
    row = arguments.pop("X", X[0])
    with pytest.raises((ValueError, TypeError), match=message):
        model.explain(row, **arguments)


def test_decisions_that_are_not_binary_have_no_list():
    problem = rl.Problem.storage(6, capacity=2.0, charge_limit=1.0, discharge_limit=1.0)
    model = rl.train(problem, X, C, "MSE", epochs=1)[0]
    explanation = model.explain(X[0])
    assert explanation.ranges.method == "exact"
    assert "binary" in explanation.alternatives.reason
    with pytest.raises(ValueError, match="binary"):
        model.explain(X[0], alternatives=2)
    with pytest.raises(ValueError, match="binary"):
        model.explain(X[0], forbid="c1")


LOTS = """Minimize
 cost: 2 a + 3 b + 4 c + 6 open_a + 4 open_b + 1 open_c
Subject To
 need: a + b + c >= 10
 la: a - 8 open_a <= 0
 lb: b - 9 open_b <= 0
 lc: c - 6 open_c <= 0
Binary
 open_a open_b open_c
End
"""


def test_quantities_that_need_set_ups_are_explained(tmp_path, program):
    (tmp_path / "lots.lp").write_text(LOTS)
    problem = rl.Problem.from_file(tmp_path / "lots.lp", costs=["a", "b", "c"])
    features = np.arange(12.0)[:, np.newaxis]
    costs = np.tile([2.0, 3.0, 4.0], (12, 1))
    model = rl.train(problem, features, costs, "least squares")[0]
    explanation = model.explain(features[0], force="open_b")
    assert explanation.ranges.method == "solves"
    assert explanation.costs[2].range.upper == pytest.approx(4.5)
    assert explanation.costs[2].range.upper_is_exact
    best = explanation.alternatives.decisions[0]
    assert best.price == pytest.approx(1.0)
    assert (best.added, best.removed) == (("b", "open_b"), ("c", "open_c"))
    assert {one.name for one in best.other_columns} == {"open_a", "open_b"}
    assert explanation.choices[0].price == pytest.approx(1.0)
    assert "changes" in explanation._repr_html_()
    limited = model.explain(features[0], max_solves=2)
    assert "max_solves = 15" in str(limited)
    model.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", features)
    words = ["explain", "--model", "m.safetensors", "--data", "x.npy", "--row", "0"]
    words += ["--force-choice", "open_b"]
    done = subprocess.run(
        [*program, *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert str(explanation).splitlines()[1:] == done.stdout.rstrip("\n").splitlines()[1:]


def test_an_explanation_is_printed_as_the_command_line_prints_it(model, tmp_path, program):
    explanation = model.explain(X[0], costs=C[0])
    model.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "c.npy", C)
    words = ["explain", "--model", "m.safetensors", "--data", "x.npy", "--cost-data", "c.npy"]
    done = subprocess.run(
        [*program, *words, "--row", "0"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    lines = str(explanation).splitlines()
    assert lines[0] == f"The row of {explanation.problem}"
    assert lines[1:] == done.stdout.rstrip("\n").splitlines()[1:]
    assert pickle.loads(pickle.dumps(explanation)) == explanation
    assert str(type(explanation).from_dict(explanation.to_dict())) == repr(explanation)
