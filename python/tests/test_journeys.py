"""The tables of docs/tutorials/journeys.md are those that its script writes."""

import runpy
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "journeys"


def test_the_script_writes_the_tables_of_the_journeys(tmp_path):
    script = runpy.run_path(str(FOLDER / "generate.py"))
    for journey in ("transport", "battery", "sites", "tours"):
        script[journey](tmp_path)
    written = sorted(tmp_path.glob("*.csv"))
    assert len(written) == 9
    for table in written:
        assert table.read_bytes() == (FOLDER / table.name).read_bytes(), table.name
