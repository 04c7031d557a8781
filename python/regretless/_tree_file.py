"""The file of a fine-tuned model: a zip archive of the libraries' own formats.

``about.json`` says what the model is; ``trees.json`` (XGBoost) or ``trees.txt`` (LightGBM) are its trees; what it starts from lies below
``base/`` in the same way. Nothing is pickled, and nothing in a file is executed. Every part has a checksum, so that damage is noticed.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

FORMAT = "regretless fine-tuned trees"
VERSION = 1

DEEPEST = 8
"""A base may itself be a fine-tuned model, and so on; more levels than this are no model of anybody."""

LARGEST_RATIO, SMALL = 200, 1 << 24
"""Trees shrink to about a tenth in a zip archive. A part that claims to grow more than 200-fold, and beyond 16 MB, is not one of ours."""


def packed(parts: dict[str, bytes]) -> bytes:
    """The bytes of the archive; the same parts give the same bytes."""
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(parts):
            # The earliest time a zip archive knows: that of writing would change the bytes.
            archive.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), parts[name], zipfile.ZIP_DEFLATED
            )
    return inside.getvalue()


def unpacked(path: Path) -> dict[str, bytes]:
    """The parts of a file, each checked."""
    if not zipfile.is_zipfile(path):
        path.open("rb").close()  # a file that is missing or closed to us says so itself
        raise ValueError(
            f"{path}: this is no file of fine-tuned trees (BoostedCosts.save writes them)"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.file_size > max(SMALL, LARGEST_RATIO * info.compress_size):
                    raise ValueError(
                        f"{path}: the part {info.filename!r} claims {info.file_size} bytes; this is no file of fine-tuned trees"
                    )
            return {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path}: the file is damaged: {error}") from error


def write_whole(path: Path, content: bytes, *, force: bool) -> None:
    """Writes beside the target and renames into place, so that nobody reads half a file."""
    if path.exists() and not force:
        raise FileExistsError(f"{path}: exists already; force=True replaces it")
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def about(parts: dict[str, bytes], path: Path) -> dict[str, Any]:
    """What a file says about its model."""
    try:
        found = json.loads(parts["about.json"])
    except (KeyError, ValueError):
        raise ValueError(
            f"{path}: this is no file of fine-tuned trees: it has no readable about.json"
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(
            f"{path}: this is no file of fine-tuned trees (BoostedCosts.save writes them)"
        )
    if found.get("version") != VERSION:
        raise ValueError(
            f"{path}: the file has version {found.get('version')!r}; this program reads version {VERSION}"
        )
    return found


def below(parts: dict[str, bytes], folder: str) -> dict[str, bytes]:
    """The parts in a folder of the archive, by their names inside it."""
    return {
        name.removeprefix(folder): content
        for name, content in parts.items()
        if name.startswith(folder)
    }
