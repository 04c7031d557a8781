"""The file of a fine-tuned model: a zip archive of the libraries' own formats.

``description.json`` describes the model, ``trees.json`` (XGBoost) or ``trees.txt`` (LightGBM)
contains its trees, ``problem.file`` the file of its problem if there is one, and the folder
``base/`` contains the base model in the same way. Nothing is
pickled, and nothing in a file is executed. Every part has a checksum, which detects damage.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

FORMAT = "regretless fine-tuned trees"
VERSION = 3

VERSION_WITH_UNOBSERVED = 4
"""The version of files of models in which some costs have no prediction."""

PROBLEM_FILE = "problem.file"
"""The part with the file that the problem was read from; absent in files of earlier versions."""

MAX_DEPTH = 8
"""Levels of base models that are fine-tuned models themselves; real models have one or two."""

MAX_COMPRESSION_RATIO = 200
"""Trees shrink to about a tenth in a zip archive. A larger ratio means a zip bomb."""

MIN_CHECKED_BYTES = 1 << 24
"""Parts up to 16 MB are read whatever their compression ratio is."""


def pack(parts: dict[str, bytes]) -> bytes:
    """Return the bytes of the archive; the same parts give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(parts):
            # The earliest time of the format: the time of writing would change the bytes.
            archive.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), parts[name], zipfile.ZIP_DEFLATED
            )
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """Return the parts of a file, each checked."""
    if not zipfile.is_zipfile(path):
        path.open("rb").close()  # raises where the file is missing or not readable
        raise ValueError(
            f"{path}: not a file of fine-tuned trees (BoostedCostModel.save writes them)"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                limit = max(MIN_CHECKED_BYTES, MAX_COMPRESSION_RATIO * info.compress_size)
                if info.file_size > limit:
                    raise ValueError(
                        f"{path}: the part {info.filename!r} claims {info.file_size} bytes; not a "
                        "file of fine-tuned trees"
                    )
            return {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path}: the file is damaged: {error}") from error


def read_description(parts: dict[str, bytes], path: Path) -> dict[str, Any]:
    """Return the description of the model in a file."""
    try:
        description = json.loads(parts["description.json"])
    except (KeyError, ValueError):
        raise ValueError(
            f"{path}: not a file of fine-tuned trees: it has no readable description.json"
        ) from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(
            f"{path}: not a file of fine-tuned trees (BoostedCostModel.save writes them)"
        )
    if description.get("version") not in (VERSION, VERSION_WITH_UNOBSERVED):
        raise ValueError(
            f"{path}: the file has version {description.get('version')!r}; this program reads "
            f"the versions {VERSION} and {VERSION_WITH_UNOBSERVED}"
        )
    return description


def below(parts: dict[str, bytes], folder: str) -> dict[str, bytes]:
    """Return the parts in a folder of the archive, by their names inside it."""
    return {
        name.removeprefix(folder): content
        for name, content in parts.items()
        if name.startswith(folder)
    }
