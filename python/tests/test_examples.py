"""Every example runs and says something."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {
    "own_data_pandas": ["pandas", "sklearn"],
    "torch_spo_plus_tsp": ["torch"],
    "pyepo_migration": ["pyepo", "gurobipy"],
    "energy_scheduling": [],
    "sweep_on_ray": ["ray"],
}


def test_all_examples_are_known():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_the_example_runs(name):
    for module in NEEDS[name]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    place = EXAMPLES.parents[1]
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 2
