"""Where the program and the Python package are that pages are checked with."""

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def find():
    """Return the program: REGRETLESS, the newest build of this checkout, or the one on the path."""
    named = os.environ.get("REGRETLESS")
    if named:
        return Path(named).resolve()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "regretless" for profile in ("debug", "release")]
    built = sorted(
        (path for path in built if path.is_file()), key=lambda path: path.stat().st_mtime
    )
    if built:
        return built[-1].resolve()
    found = shutil.which("regretless")
    if found is None:
        sys.exit("docs: no program; build it (cargo build), or name it in REGRETLESS")
    return Path(found)


def python():
    """Return the interpreter that has the package, or None: REGRETLESS_PYTHON or .venv-python."""
    named = os.environ.get("REGRETLESS_PYTHON")
    if named:
        return Path(named)
    installed = ROOT / ".venv-python" / "bin" / "python"
    return installed if installed.is_file() else None
