"""What tests share: the golden vectors, the command line, small tables."""

import json
import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def golden(name):
    """A file of golden vectors; skips with a message where there is none."""
    folder = pathlib.Path(os.environ.get("REGRETLESS_GOLDEN", ROOT / "../shared/golden"))
    path = folder / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no golden vectors in {folder}; name their folder in REGRETLESS_GOLDEN")
    return json.loads(path.read_text())


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
