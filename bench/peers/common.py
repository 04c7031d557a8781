"""Common parts of all programs: reading the job, printing the response, skipping."""

from __future__ import annotations

import importlib
import json
import sys
import time
from types import ModuleType
from typing import Any, NoReturn


def job() -> dict[str, Any]:
    """The job, from the file named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


def respond(response: dict[str, Any]) -> None:
    """Prints the response on one line."""
    sys.stdout.write("\n" + json.dumps(response) + "\n")
    sys.stdout.flush()


def skip(reason: str) -> NoReturn:
    """Ends the program with the reason why it cannot run."""
    respond({"skipped": reason})
    sys.exit(0)


def require(name: str) -> ModuleType:
    """A package that the program needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        skip(f"{name} is not installed" if missing else f"{name} cannot be loaded: {error}")


class Refused(Exception):
    """A solver rejects an instance, for example for its size."""


class EpochClock:
    """Wall-clock and CPU time between marks."""

    def __init__(self) -> None:
        self.marks = [(time.perf_counter(), time.process_time())]

    def mark(self) -> None:
        """Records the end of an epoch."""
        self.marks.append((time.perf_counter(), time.process_time()))

    def times(self) -> dict[str, list[float]]:
        """Seconds of every epoch."""
        pairs = list(zip(self.marks, self.marks[1:]))
        return {"wall": [b[0] - a[0] for a, b in pairs], "cpu": [b[1] - a[1] for a, b in pairs]}
