import os
import pathlib
import subprocess
import sys

from conftest import ROOT

import regretless


def test_the_stubs_agree_with_the_compiled_module(tmp_path):
    package = pathlib.Path(regretless.__file__).parents[1]
    environment = dict(os.environ)
    # mypy finds installed packages itself and refuses their folder; a package that is on the path
    # for another reason has to be named.
    if "site-packages" not in package.parts:
        environment |= {"MYPYPATH": str(package), "PYTHONPATH": str(package)}
    found = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "regretless._core"],
        # Not the clone, whose settings of mypy name its own stubs.
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "no issues found in 1 module" in found.stdout


def test_the_types_of_constructors_are_those_of_the_kinds():
    script = ROOT / "scripts" / "kind-stubs"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
