"""The data check, and Parquet files on the command line of the package."""

import subprocess

import numpy as np
import polars

import regretless as rl


def test_planted_defects_are_found():
    features, costs = rl.generate("SP5x5", 200)
    problem = rl.Problem("SP5x5")
    assert rl.check(problem, features, costs) == []
    leak = np.column_stack([features, 2 * costs[:, 3], np.full(200, 4.0)])
    found = rl.check(problem, leak, costs)
    assert [(finding["kind"], finding["columns"]) for finding in found] == [
        ("leak", ["x5"]),
        ("constant", ["x6"]),
    ]
    labels = rl.label(problem, costs)
    objectives = np.array([labels.decisions[row] @ costs[row] for row in range(200)])
    with_objective = np.column_stack([features, objectives])
    assert rl.check(problem, with_objective, costs) == []
    (finding,) = rl.check(problem, with_objective, costs, labels=labels)
    assert "best objective" in finding["message"]


def test_parquet_files_train_as_csv_files_do(program, tmp_path):
    rng = np.random.default_rng(3)
    shops = np.array(["north", "south", "east"])[rng.integers(0, 3, 90)]
    temperature = rng.normal(10, 5, 90).round(3)
    first, last = polars.date(2026, 1, 1), polars.date(2026, 3, 31)
    frame = polars.DataFrame(
        {
            "day": polars.date_range(first, last, eager=True),
            "shop": shops,
            "open": rng.random(90) < 0.5,
            "temperature": [None, *temperature[1:].tolist()],
            **{f"c{j}": rng.normal(20 + temperature, 1).round(4) for j in range(4)},
        }
    )
    frame.write_csv(tmp_path / "table.csv")
    frame.write_parquet(tmp_path / "table.parquet")
    problem = 'kind = "top_k"\nitems = 4\nk = 2\nsense = "minimize"\n'
    (tmp_path / "problem.toml").write_text(problem)
    models = []
    for name in ("csv", "parquet"):
        words = ["train", "--data", f"table.{name}", "--costs", "c*", "--problem", "problem.toml"]
        words += ["--epochs", "5", "--quiet", "--out", f"{name}.safetensors"]
        done = subprocess.run(
            [*program, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        models.append(rl.Model.load(tmp_path / f"{name}.safetensors"))
    assert models[0].feature_names == models[1].feature_names
    assert "shop=north" in models[0].feature_names
    np.testing.assert_array_equal(models[0].coefficients, models[1].coefficients)
