import os
import pathlib
import subprocess
import sys

import regretless

ROOT = pathlib.Path(__file__).parents[2]


def test_the_stubs_agree_with_the_compiled_module():
    package = pathlib.Path(regretless.__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "regretless._core"],
        cwd=ROOT,
        # The stubs that are installed next to the module, not those of the clone.
        env={**os.environ, "MYPYPATH": str(package), "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "no issues found in 1 module" in found.stdout
