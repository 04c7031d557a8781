"""The `regretless` command: ``python -m regretless`` and the console script of the package."""

import sys

from regretless._core import _run_command_line


def main() -> int:
    """Run the command line of this process and return its exit code."""
    return _run_command_line(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
