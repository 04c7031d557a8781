"""Commands that measurements run: the program, and cargo in this checkout."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Seconds between two readings of the memory of a command.
INTERVAL = 0.01


class Finished(NamedTuple):
    """What a command printed and took."""

    printed: str
    messages: str
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    peak_anonymous_bytes: int


def find_program(parser: argparse.ArgumentParser, name: str) -> str:
    """Return the path of the program, or end with an error of the command line."""
    program = shutil.which(name)
    if program is None:
        parser.error(f"there is no program {name}")
    return str(Path(program).resolve())


def anonymous_bytes(process: int) -> int:
    """Return the resident memory of a process without mapped files, 0 when it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def run(words: list[str], folder: Path) -> Finished:
    """Run a command that succeeds; return what it printed and took."""
    print(" ".join(words), file=sys.stderr, flush=True)
    begin, anonymous = time.monotonic(), 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(words, cwd=folder, stdout=out, stderr=err)
        ended, status, usage = 0, 0, None
        while ended == 0:
            anonymous = max(anonymous, anonymous_bytes(process.pid))
            time.sleep(INTERVAL)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        printed, messages = out.read(), err.read()
    print(messages, end="", file=sys.stderr, flush=True)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode} of {' '.join(words)}")
    cpu = usage.ru_utime + usage.ru_stime
    return Finished(printed, messages, cpu, wall, usage.ru_maxrss * 1024, anonymous)


def cargo(words: list[str]) -> str:
    """Run cargo in this checkout, as its scripts do; return all that it printed."""
    print(" ".join(["cargo", *words]), file=sys.stderr, flush=True)
    # In one stream, so what a test prints follows its name.
    finished = subprocess.run(
        ["bash", "-c", 'eval "$(scripts/setup)" && cargo "$@" 2>&1', "cargo", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    print(finished.stdout, file=sys.stderr)
    if finished.returncode != 0:
        sys.exit(f"exit code {finished.returncode} of cargo {' '.join(words)}")
    return finished.stdout
