"""Execute the notebook of a script in cells: python notebook.py SCRIPT

The kernel is that of the interpreter, which needs nbclient and ipykernel (scripts/python-test
installs them), and works in the folder of the script. Cells must not fail, and one must show
a figure.
"""

import sys
from pathlib import Path

import cells
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

# Most seconds of a cell. Generous: other tests may run at the same time.
MAX_SECONDS = 600


def execute(script):
    """Return what is wrong with the notebook of a script, or None."""
    notebook = nbformat.reads(cells.notebook(script), as_version=4)
    nbformat.validate(notebook)
    place = {"metadata": {"path": str(script.parent)}}
    try:
        NotebookClient(notebook, timeout=MAX_SECONDS, resources=place).execute()
    except CellExecutionError as error:
        return str(error)
    outputs = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output
    ]
    if not any("image/svg+xml" in output["data"] for output in outputs):
        return f"{script.stem}: no cell shows a figure"
    return None


if __name__ == "__main__":
    sys.exit(execute(Path(sys.argv[1])))
