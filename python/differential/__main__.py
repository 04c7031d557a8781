"""Entry of ``scripts/differential``."""

import sys
from pathlib import Path

# Last, so the installed package `regretless` is found before its sources.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from differential.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
