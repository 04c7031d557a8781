"""What every peer does the same way: read its job, answer, and step aside when it cannot take part."""

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


def answer(found: dict[str, Any]) -> None:
    """Prints what was measured, on one line."""
    sys.stdout.write("\n" + json.dumps(found) + "\n")
    sys.stdout.flush()


def skip(why: str) -> NoReturn:
    """Steps aside, saying why."""
    answer({"skipped": why})
    sys.exit(0)


def require(name: str) -> ModuleType:
    """A package this peer cannot do without."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        reason = "not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded: {error}"
        skip(f"{name} is {reason}")


class Refused(Exception):
    """A solver will not take an instance, such as for its size."""


class EpochClock:
    """Wall and processor time between marks."""

    def __init__(self) -> None:
        self.marks = [(time.perf_counter(), time.process_time())]

    def mark(self) -> None:
        """An epoch has ended."""
        self.marks.append((time.perf_counter(), time.process_time()))

    def times(self) -> dict[str, list[float]]:
        """Seconds of every epoch."""
        pairs = list(zip(self.marks, self.marks[1:]))
        return {"wall": [b[0] - a[0] for a, b in pairs], "cpu": [b[1] - a[1] for a, b in pairs]}
