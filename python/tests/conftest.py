"""What tests share: the golden vectors, the command line, small tables."""

import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"


def golden(name):
    """A file of golden vectors. A missing file is a failure."""
    return json.loads((TESTDATA / "golden" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def program():
    """The words that start the command line of the installed package."""
    return [sys.executable, "-m", "regretless"]
