"""What tests share: the golden vectors, the command line, small tables."""

import json
import pathlib
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"


def golden(name):
    """A file of golden vectors. A missing file is a failure."""
    return json.loads((TESTDATA / "golden" / f"{name}.json").read_text())


@pytest.fixture(scope="session", autouse=True)
def sigint_is_not_ignored():
    """Shells start background jobs with Ctrl-C ignored, which tests of Ctrl-C must not inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def program():
    """The words that start the command line of the installed package."""
    return [sys.executable, "-m", "regretless"]
