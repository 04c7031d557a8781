"""Write the hand-drawn figures of the pages on concepts, methods and problems into docs/figures.

    python3 scripts/documentation/draw_figures.py [--check]

With --check, fail where a file differs from what would be written.
"""

import sys
from pathlib import Path

import concept_figures
import problem_figures
from figure_parts import ROOT

FOLDER = ROOT / "docs" / "figures"
FIGURES = concept_figures.FIGURES | problem_figures.FIGURES


def main():
    """Write or check all figures."""
    for name, draw in FIGURES.items():
        path, text = FOLDER / f"{name}.svg", draw().svg()
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.name} is out of date; run {Path(__file__).name}")
        else:
            path.write_text(text)


if __name__ == "__main__":
    main()
