"""What tests share: the golden vectors, the command line, small tables."""

import json
import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"


def golden(name):
    """A file of golden vectors. A missing file is a failure."""
    return json.loads((TESTDATA / "golden" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def program():
    """The built command line: REGRETLESS_PROGRAM, or the newest one in the target folder."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "regretless" for profile in ("debug", "release")]
    found = sorted((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime)
    named = os.environ.get("REGRETLESS_PROGRAM") or (
        str(found[-1]) if found else shutil.which("regretless")
    )
    if not named:
        pytest.skip(
            "the command line is not built (cargo build), so that nothing can be compared with it"
        )
    return named
