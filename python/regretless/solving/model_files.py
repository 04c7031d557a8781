"""Reading the files of problems: which keywords belong to which file, and how models are read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regretless._core import _Problem
from regretless.tables.references import with_fields


@dataclass(frozen=True)
class ModelFileReading:
    """How a model file is read: keywords of :meth:`Problem.from_file`."""

    costs: list[str] | None
    sense: str | None
    file_format: str | None
    problem_number: int
    vehicles: int | None
    single_customer_routes: bool | None

    def names_given(self) -> list[str]:
        """Return the keywords that are not the default, by name."""
        defaults = ModelFileReading(None, None, None, 1, None, None)
        return [name for name, value in vars(self).items() if value != getattr(defaults, name)]


def is_problem_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a problem file (.toml)."""
    return isinstance(path, (str, os.PathLike)) and os.path.splitext(path)[1] == ".toml"


def refuse_model_keywords(changes: Mapping[str, Any], reading: ModelFileReading) -> None:
    """Refuse keywords that describe a model file beside a problem file, which says all itself."""
    for name in changes:
        raise ValueError(
            f"{name} changes a linear model (.mps, .lp); write it into the problem file"
        )
    for name in reading.names_given():
        raise ValueError(
            f"{name} describes a model file (.mps, .lp, .tsp, .vrp, OR-Library), not a problem "
            "file; write it into the problem file"
        )


def problem_of_file(
    path: str | os.PathLike[str], reading: ModelFileReading, changes: Mapping[str, Any]
) -> _Problem:
    """Read a problem or a model; changes that are not None replace fields of a linear model."""
    changes = {name: value for name, value in changes.items() if value is not None}
    if is_problem_file(path):
        refuse_model_keywords(changes, reading)
        return _Problem._of_problem_file(path)
    if not changes:
        return _Problem._of_model_file(path, reading)
    found = _Problem._linear_model_file(path, reading)
    if found is None:
        raise ValueError(
            f"{next(iter(changes))} changes a linear model (.mps, .lp), and {os.fspath(path)} "
            "is none"
        )
    description, costs = found
    return _Problem._of_description(with_fields(description, changes), costs)
