"""Every example runs and says something."""

import importlib.util
import os
import re
import shlex
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


PAGE = Path(__file__).parents[2] / "docs" / "extend" / "own-loss.md"
FILE = re.compile(r"^```python (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULES = {"torch_module.py": "torch", "forest.py": "sklearn"}


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory):
    """The files of the page about custom losses."""
    folder = tmp_path_factory.mktemp("own-loss")
    for name, text in FILE.findall(PAGE.read_text()):
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", [name for name, _ in FILE.findall(PAGE.read_text())])
def test_the_files_of_the_page_about_own_losses_run(name, page_folder):
    if name in MODULES and importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{MODULES[name]} is not installed")
    words = [sys.executable, name]
    done = subprocess.run(words, cwd=page_folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert name.endswith("_losses.py") or done.stdout


def test_the_commands_of_the_page_about_own_losses_run(page_folder, program):
    commands = "".join(COMMANDS.findall(PAGE.read_text())).splitlines()
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "regretless"
        done = subprocess.run(
            [*program, *words[1:]], cwd=page_folder, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert "losses.py:" in done.stdout + done.stderr
