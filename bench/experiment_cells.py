"""Read the cells of a finished experiment of `regretless reproduce`: one file per training."""

from __future__ import annotations

import json
from pathlib import Path


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
