"""Files that are complete or absent."""

from __future__ import annotations

import os
from pathlib import Path


def check_free(path: Path, *, force: bool) -> None:
    """Raise FileExistsError if a file exists and is not to be replaced."""
    if path.exists() and not force:
        raise FileExistsError(f"{path}: the file exists already; force=True replaces it")


def write_atomically(path: Path, content: bytes, *, force: bool) -> None:
    """Write a file next to its target and rename it, so no reader sees a part of it.

    Parameters
    ----------
    path : pathlib.Path
        The target.
    content : bytes
        All bytes of the file.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    FileExistsError
        If the file exists and ``force`` is false.
    """
    check_free(path, force=force)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
