"""Read a finished experiment of `regretless reproduce`: its tables, and one file per training."""

from __future__ import annotations

import csv
import json
from pathlib import Path


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cpu_seconds(experiment: Path) -> dict[tuple[str, str], list[float]]:
    """Return the CPU seconds of all seeds by problem and method."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for file in sorted((experiment / "cells").glob("*/*.json")):
        cell = json.loads(file.read_text())
        # A file of each folder describes the problem; it has no outcome.
        done = cell.get("outcome", {}).get("done")
        if done is not None:
            seconds.setdefault((cell["problem"], cell["name"]), []).append(done["cpu_seconds"])
    return seconds
