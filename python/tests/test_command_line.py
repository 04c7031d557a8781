"""The `regretless` command of the package: `python -m regretless` is the compiled command line."""

import json
import signal
import subprocess
import time

import pytest

import regretless as rl
from regretless import __main__ as command

HANG_LIMIT = 60
"""Seconds after which a command counts as hung. Not a limit on its speed."""


def run(program, *words, cwd):
    return subprocess.run([*program, *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_version_and_help_end_with_success(program, tmp_path):
    version = run(program, "--version", cwd=tmp_path)
    assert (version.returncode, version.stdout.split()) == (0, ["regretless", rl.__version__])
    assert version.stderr == ""
    usage = run(program, "train", "--help", cwd=tmp_path)
    assert usage.returncode == 0
    assert "Usage: regretless train" in usage.stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["train", "--no-such-flag"], 2),
        (["no-such-command"], 2),
        ([], 2),
        (["label", "--data", "missing.csv", "--problem", "missing.toml"], 3),
    ],
)
def test_errors_have_the_exit_codes_of_the_program(program, tmp_path, words, code):
    result = run(program, *words, cwd=tmp_path)
    assert result.returncode == code
    assert result.stdout == ""
    assert result.stderr != ""


def test_compare_writes_its_results(program, tmp_path):
    words = ["compare", "--benchmark", "KS8", "--methods", "MSE;MAE(O,S)", "--seeds", "2"]
    result = run(program, *words, "--split", "60,30,30", "--epochs", "2", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)
    assert list((tmp_path / "runs").iterdir())


def test_ctrl_c_ends_the_command_with_code_130(program, tmp_path):
    words = ["compare", "--benchmark", "KS32", "--epochs", "1000000", "--seeds", "1"]
    with subprocess.Popen(
        [*program, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts jobs in the background makes its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        # The first files appear when the command has begun, its handler installed before.
        deadline = time.monotonic() + HANG_LIMIT
        while process.poll() is None and not (tmp_path / "runs").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=HANG_LIMIT) == 130
        assert "Traceback" not in process.stderr.read()


def test_the_console_script_runs_the_command_of_this_process(monkeypatch, capfd):
    monkeypatch.setattr("sys.argv", ["regretless", "--version"])
    assert command.main() == 0
    assert capfd.readouterr().out.split() == ["regretless", rl.__version__]
