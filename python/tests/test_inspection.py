"""What a model says about itself: attributes, coefficients, importance, rows of its training."""

import json
import subprocess
import warnings

import numpy as np
import pytest

import regretless as rl

PROBLEM = rl.Problem("KS6")
X, C = rl.generate("KS6", instances=60, seed=1)


@pytest.fixture(scope="module")
def model():
    return rl.train(PROBLEM, X, C, "MSE", epochs=3)[0]


def test_coefficients_give_the_predictions(model):
    assert model.predictor == "linear"
    assert model.coefficients.shape == (6, 5) and model.intercepts.shape == (6,)
    expected = X @ model.coefficients.T + model.intercepts
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-4)
    network = rl.train(PROBLEM, X, C, "MSE", epochs=1, predictor="mlp:4")[0]
    assert (network.predictor, network.coefficients, network.intercepts) == ("mlp:4", None, None)


def test_a_model_records_its_training():
    model, report = rl.train(PROBLEM, X, C, "MSE", epochs=2)
    training = model.training
    assert training["rows"] == [36, 12, 12]
    assert training["settings"]["epochs"] == 2
    assert training["program_version"] == rl.__version__
    for part in ("validation", "test"):
        assert training[part]["regret"] == getattr(report, part).regret
    assert model.problem.to_dict() == PROBLEM.to_dict()
    assert model.inspect()["training"] == training


def test_python_and_the_command_line_say_the_same(model, tmp_path, program):
    model.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "c.npy", C)

    def run(*words):
        done = subprocess.run(
            [*program, *words, "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert run("inspect", "m.safetensors") == model.inspect()
    data = ["--data", "x.npy", "--cost-data", "c.npy", "--repeats", "2", "--seed", "3"]
    found = run("inspect", "m.safetensors", *data)["importance"]["features"]
    importance = model.permutation_importance(X, C, repeats=2, seed=3)
    assert list(importance["feature"]) == [entry["feature"] for entry in found]
    for key in ("regret_increase", "deviation"):
        np.testing.assert_allclose(importance[key], [entry[key] for entry in found], rtol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_importance_of_a_frame_is_a_frame(library):
    library = pytest.importorskip(library)
    names = list("abcde")
    frame = library.DataFrame({name: X[:, column] for column, name in enumerate(names)})
    model = rl.train(PROBLEM, frame, C, "MSE", epochs=3)[0]
    importance = model.permutation_importance(frame, C, repeats=2)
    assert isinstance(importance, library.DataFrame)
    found = importance.index if library.__name__ == "pandas" else importance["feature"]
    assert list(found) == names
    arrays = model.permutation_importance(X, C, repeats=2, threads=1)
    np.testing.assert_array_equal(importance["regret_increase"], arrays["regret_increase"])
    with pytest.raises(ValueError, match="repeats"):
        model.permutation_importance(X, C, repeats=0)


def test_rows_of_the_training_are_warned_about(model):
    with pytest.warns(UserWarning, match="trained or validated on 48 of these 60 rows"):
        model.evaluate(X, C)
    with pytest.warns(UserWarning, match="trained or validated on 48 of these 60 rows"):
        rl.evaluate(PROBLEM, model, X, C)
    new_features, new_costs = rl.generate("KS6", instances=20, seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.evaluate(new_features, new_costs)
