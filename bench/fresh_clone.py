"""Minutes that the commands of CONTRIBUTING.md take in an empty clone.

    python bench/fresh_clone.py [--command scripts/demo ...]

Every command runs in a clone of its own of the last commit, without a build beside it. Packages
that Rust has downloaded before stay where they are; those of Python are downloaded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ["scripts/demo", "scripts/test", ".ci/run", "scripts/wheels"]


def minutes(command: str) -> float:
    """Run a command in an empty clone; return the minutes that it takes."""
    # A build folder elsewhere would not be empty.
    environment = {key: value for key, value in os.environ.items() if key != "CARGO_TARGET_DIR"}
    environment["PIP_NO_CACHE_DIR"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        begin = time.monotonic()
        subprocess.run([clone / command], cwd=clone, env=environment, check=True, stdout=sys.stderr)
        return (time.monotonic() - begin) / 60


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--command", nargs="+", default=COMMANDS)
    print("| command | minutes |\n|---|--:|")
    for command in parser.parse_args().command:
        print(f"| {command} | {minutes(command):.1f} |", flush=True)


if __name__ == "__main__":
    main()
