"""The reference data in ``testdata/`` are complete and unchanged."""

import csv
import hashlib

from conftest import TESTDATA


def listed_files():
    """Path, size and SHA-256 of each file, from the manifest."""
    with (TESTDATA / "MANIFEST.csv").open(newline="") as manifest:
        return list(csv.DictReader(manifest))


def test_every_listed_file_has_its_size_and_hash():
    for file in listed_files():
        content = (TESTDATA / file["path"]).read_bytes()
        assert len(content) == int(file["bytes"]), file["path"]
        assert hashlib.sha256(content).hexdigest() == file["sha256"], file["path"]


def test_every_file_is_listed():
    listed = {file["path"] for file in listed_files()} | {"MANIFEST.csv", "README.md"}
    present = {
        path.relative_to(TESTDATA).as_posix() for path in TESTDATA.rglob("*") if path.is_file()
    }
    assert present == listed
