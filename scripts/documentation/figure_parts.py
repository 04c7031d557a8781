"""What the hand-drawn figures have in common: boxes, nodes of graphs and lines between them."""

import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "gallery"))
from figure import Figure  # noqa: E402

__all__ = ["ROOT", "Figure", "between", "box", "node"]


def box(figure, x, y, width, lines, classes="wash"):
    """Draw a box with lines of text in its middle."""
    height = 14 + 17 * len(lines)
    figure.rect(x, y, width, height, classes, 6)
    for number, line in enumerate(lines):
        figure.text(x + width / 2, y + 19 + 17 * number, line, "small middle")
    return y + height


def node(figure, x, y, name="", classes="blue", radius=11):
    """Draw a node of a graph with its name."""
    figure.circle(x, y, radius, f"fill {classes}")
    if name:
        figure.text(x, y + 4.5, name, "small strong middle on")


def between(start, end, margin=13):
    """Return the ends of a line between two nodes, outside of both disks."""
    length = math.dist(start, end)
    step = ((end[0] - start[0]) / length * margin, (end[1] - start[1]) / length * margin)
    return start[0] + step[0], start[1] + step[1], end[0] - step[0], end[1] - step[1]
