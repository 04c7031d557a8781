"""Scripts in cells (`# %%`), and the pages and notebooks that are made of them.

Of a cell `# %% tags=["hide-input"]` the page shows only what it prints.
"""

import json
import re
from dataclasses import dataclass

MARKER = re.compile(
    r'^# %%(?P<kind> \[markdown\])?(?P<hidden> tags=\["hide-input"\])?[^\n]*\n', re.MULTILINE
)
OUTPUT = re.compile(r"\n```text\n.*?^```\n", re.MULTILINE | re.DOTALL)
DATE = re.compile(r"^\*Run on .*\*\n", re.MULTILINE)
PAGE_MARK = "<!-- run: none: scripts/gallery executes the script of this page -->"


@dataclass
class Cell:
    """A cell of a script: text in Markdown, or code, which a page may leave out."""

    kind: str
    text: str
    is_hidden: bool


def read(path):
    """Return the cells of a script."""
    text = path.read_text()
    marks = list(MARKER.finditer(text))
    found = []
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = text[mark.end() : end].strip("\n")
        if mark["kind"]:
            body = "\n".join(re.sub(r"^# ?", "", line) for line in body.splitlines())
        kind = "markdown" if mark["kind"] else "code"
        found.append(Cell(kind, body, mark["hidden"] is not None))
    return found


def page(script, printed, date):
    """Return the page of a script; without what cells printed, the output is left out."""
    parts = []
    for number, cell in enumerate(read(script)):
        if cell.kind == "markdown":
            parts.append(cell.text)
            continue
        if not cell.is_hidden:
            parts.append(f"```python\n{cell.text}\n```")
        output = printed[number].rstrip() if printed else ""
        if output:
            parts.append(f"```text\n{output}\n```")
    name = script.stem
    parts[0] += f"\n\n{PAGE_MARK}"
    parts.append(
        f"All code, with that of the data and figures: [{name}.py]({name}.py), "
        f"[{name}.ipynb]({name}.ipynb); both need [gallery.py](gallery.py) and "
        "[figure.py](figure.py)."
    )
    if printed:
        parts.append(f"*Run on {date}, on two cores of an AMD EPYC.*")
    return "\n\n".join(parts) + "\n"


def without_output(text):
    """Return a page without what its code printed and when."""
    return without_date(OUTPUT.sub("", text))


def without_date(text):
    """Return a page without the line on its run."""
    return DATE.sub("", text).rstrip() + "\n"


def notebook(script):
    """Return a script as a Jupyter notebook, without output."""
    found = []
    for number, cell in enumerate(read(script)):
        lines = cell.text.splitlines(keepends=True)
        tags = {"tags": ["hide-input"]} if cell.is_hidden else {}
        entry = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": tags, "source": lines}
        if cell.kind == "code":
            entry |= {"execution_count": None, "outputs": []}
        found.append(entry)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": found, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
