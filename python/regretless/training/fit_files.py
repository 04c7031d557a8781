"""Files that a fit reads: those of the user, and those of arguments that are no files."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

from regretless._files import write_atomically
from regretless.tables.columns import holiday_texts

__all__ = ["files_of", "holidays_file", "names_file", "paths"]

TABLE_FILE = "table.csv"
"""The table in the folder of a fit, where it was a DataFrame."""
NAMES_FILE = "names.csv"
"""What people call the costs, in the folder of a fit, where it was a mapping."""
HOLIDAYS_FILE = "holidays.txt"
"""The holidays in the folder of a fit, where they were dates."""


def _has_named_index(table: Any) -> bool:
    """Return whether the index of a frame is a column of its table; refuse a lost one."""
    names = list(getattr(table.index, "names", [None]))
    if all(name is not None for name in names):
        return True
    kind = type(table.index).__name__
    if len(names) > 1 or kind in ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex"):
        raise ValueError(
            f"table has a {kind} without a name, which would be lost; make it a column, such as "
            "table.rename_axis('date').reset_index()"
        )
    return False


def files_of(table: Any, folder: Path, *, force: bool) -> list[str]:
    """Return the files of a table; a frame is written into the folder."""
    if isinstance(table, (str, os.PathLike)):
        return [os.fspath(table)]
    if isinstance(table, (list, tuple)):
        return [os.fspath(file) for file in table]
    text = _csv_of(table)
    file = folder / TABLE_FILE
    _write_input(file, text, force=force)
    return [os.fspath(file)]


def paths(files: Any) -> list[str]:
    """Return paths as a list of texts."""
    if files is None:
        return []
    if isinstance(files, (str, os.PathLike)):
        return [os.fspath(files)]
    return [os.fspath(file) for file in files]


def _csv_of(table: Any) -> str:
    """Return a frame as text."""
    text: str | None
    if hasattr(table, "to_csv"):
        text = table.to_csv(index=_has_named_index(table), lineterminator="\n")
    elif hasattr(table, "write_csv"):
        text = table.write_csv()
    elif hasattr(table, "to_pandas"):
        text = table.to_pandas().to_csv(index=False, lineterminator="\n")
    else:
        text = None
    if text is None:
        raise TypeError(
            f"table is a {type(table).__name__}; give a file, or a DataFrame of pandas or polars "
            "with the names of its columns"
        )
    return text


def _write_input(file: Path, text: str, *, force: bool) -> None:
    """Write what a fit reads; the same file stays, another one is replaced if ``force``."""
    content = text.encode()
    if file.exists() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content, force=force)


def names_file(names: Any, folder: Path) -> str | None:
    """Return the file of names; a mapping is written into the folder."""
    if names is None or isinstance(names, (str, os.PathLike)):
        return None if names is None else os.fspath(names)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["cost", "name"])
    rows.writerows(names.items())
    file = folder / NAMES_FILE
    # They change no result.
    _write_input(file, text.getvalue(), force=True)
    return os.fspath(file)


def holidays_file(holidays: Any, folder: Path, *, force: bool) -> str | None:
    """Return the file of holidays; dates are written into the folder."""
    if holidays is None:
        return None
    if isinstance(holidays, os.PathLike):
        return os.fspath(holidays)
    text = "".join(f"{date}\n" for date in holiday_texts(holidays))
    file = folder / HOLIDAYS_FILE
    _write_input(file, text, force=force)
    return os.fspath(file)
