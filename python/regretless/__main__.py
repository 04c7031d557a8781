"""The `regretless` command: ``python -m regretless`` and the console script of the package."""

import sys

from regretless._core import _run_command_line


def main() -> int:
    """Run the command line of this process and return its exit code."""
    # The first word is the program's name in usage messages; here it would be the path of a script.
    return _run_command_line(["regretless", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
