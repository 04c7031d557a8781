"""Python and the command line do the same: tables, labels, models and decisions, byte for byte."""

import json
import subprocess

import numpy as np
import pytest

import regretless as rl

# The table of all tests, from a benchmark.
DRAWN = ["--benchmark", "KS12", "--instances", 250, "--seed", 3]


@pytest.fixture(scope="module")
def shop(program, tmp_path_factory):
    """A folder with a table, and the command line in it."""
    folder = tmp_path_factory.mktemp("shop")

    def run(*words):
        done = subprocess.run(
            [*program, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run("generate", *DRAWN, "--format", "npy", "--out", ".", "--json")
    run.folder = folder
    run.table = ["--data", "features.npy", "--cost-data", "costs.npy", "--problem", "problem.toml"]
    return run


@pytest.fixture(scope="module")
def table(shop):
    folder = shop.folder
    return (
        rl.Problem(folder / "problem.toml"),
        np.load(folder / "features.npy"),
        np.load(folder / "costs.npy"),
    )


def test_tables_are_the_same_bytes(shop, table):
    problem, features, costs = table
    X, C = rl.generate("KS12", instances=250, seed=3)
    assert X.tobytes() == features.tobytes() and C.tobytes() == costs.tobytes()
    assert rl.Problem("KS12", seed=3) == problem


@pytest.mark.parametrize(
    "flags, settings",
    [
        (["--method", "MAE(O,S)"], {"method": "MAE(O,S)"}),
        (
            ["--method", "MSE(C,O)", "--split", "150,50,50", "--seed", 9],
            {"method": "MSE(C,O)", "split": (150, 50, 50), "seed": 9},
        ),
        (
            ["--method", "SPO+ cache 20%", "--threads", 1],
            {"method": "SPO+ cache 20%", "threads": 2},
        ),
        (
            ["--method", "MSE then PFYL(samples=2)", "--predictor", "mlp:8"],
            {"method": "MSE then PFYL(samples=2)", "predictor": "mlp:8"},
        ),
        (
            [
                "--method",
                "MAE(O,S)",
                "--profile",
                "paper",
                "--optimizer",
                "sgd:momentum=0.9",
                "--select",
                "last",
                "--batch-size",
                8,
                "--learning-rate",
                0.01,
            ],
            {
                "method": "MAE(O,S)",
                "profile": "paper",
                "optimizer": "sgd:momentum=0.9",
                "select": "last",
                "batch_size": 8,
                "learning_rate": 0.01,
            },
        ),
    ],
)
def test_models_are_the_same_bytes(shop, table, flags, settings):
    problem, X, C = table
    outcome = shop(
        "train", *shop.table, *flags, "--epochs", 4, "--out", "m.safetensors", "--force", "--json"
    )
    model, report = rl.train(problem, X, C, epochs=4, **settings)
    assert model.to_bytes() == (shop.folder / "m.safetensors").read_bytes()
    report = report.to_dict()
    # Of the command line alone: Python has them in `Labels.failed`.
    assert outcome.pop("skipped_rows") == []
    assert outcome.pop("data_check") == []
    del outcome["model"], report["rounds"]
    # Lists of columns there, by name here.
    for key in ("encoding", "unused_columns"):
        assert not any(outcome.pop(key).values() if key == "encoding" else outcome.pop(key))
        assert report.pop(key) == {}
    for clock in ("seconds", "cpu_seconds"):
        assert outcome.pop(clock) > 0 and report.pop(clock) > 0
    assert report == outcome


def test_tables_of_text_give_the_same_models_too(shop, table):
    pandas = pytest.importorskip("pandas")
    folder = shop.folder
    shop("generate", *DRAWN, "--out", "text", "--json")
    columns = ["--data", "text/table.csv", "--costs", "c*", "--problem", "text/problem.toml"]
    shop("train", *columns, "--epochs", 3, "--out", "t.safetensors", "--force", "--json")
    frame = pandas.read_csv(folder / "text/table.csv", dtype=np.float32)
    X, C = frame.filter(regex="^x"), frame.filter(regex="^c")
    model, _ = rl.train(table[0], X, C, epochs=3)
    assert model.to_bytes() == (folder / "t.safetensors").read_bytes()


def test_labels_of_one_are_found_by_the_other(shop, table):
    problem, _, C = table
    np.save(shop.folder / "other.npy", C)
    labels = rl.label(problem, C, store=shop.folder / "other.npy")
    outcome = shop("label", "--cost-data", "other.npy", "--problem", "problem.toml", "--json")
    assert (outcome["stored"], outcome["solved"], outcome["rows"]) == (len(C), 0, len(labels))


def test_decisions_and_regrets_are_the_same(shop, table):
    problem, X, C = table
    shop("train", *shop.table, "--epochs", 2, "--out", "d.safetensors", "--force", "--json")
    model = rl.Model.load(shop.folder / "d.safetensors")
    shop(
        "decide",
        "--model",
        "d.safetensors",
        "--data",
        "features.npy",
        "--out",
        "d.npy",
        "--predictions-out",
        "p.npy",
        "--force",
        "--json",
    )
    np.testing.assert_array_equal(np.load(shop.folder / "d.npy"), model.decide(X).decisions)
    np.testing.assert_array_equal(np.load(shop.folder / "p.npy"), model.predict(X))
    outcome = shop(
        "evaluate",
        "--model",
        "d.safetensors",
        "--data",
        "features.npy",
        "--cost-data",
        "costs.npy",
        "--json",
    )
    found = rl.evaluate(problem, model, X, C)
    assert found.to_dict() == {name: outcome[name] for name in found.to_dict()}


def test_a_model_of_python_is_read_by_the_command_line(shop, table):
    problem, X, C = table
    model, _ = rl.train(problem, X, C, epochs=2)
    model.save(shop.folder / "python.safetensors", force=True)
    outcome = shop(
        "evaluate",
        "--model",
        "python.safetensors",
        "--data",
        "features.npy",
        "--cost-data",
        "costs.npy",
        "--json",
    )
    assert outcome["regret"] == rl.evaluate(problem, model, X, C).regret
