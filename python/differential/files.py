"""Problem files and tables of a case, as the command line reads them."""

from __future__ import annotations

import json
import math

import numpy as np


def toml_value(value):
    """A value in TOML, tables inline."""
    if isinstance(value, dict):
        entries = (
            f"{json.dumps(str(key), ensure_ascii=False)} = {toml_value(one)}"
            for key, one in value.items()
        )
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def toml_text(spec):
    """A problem file."""
    return "".join(f"{key} = {toml_value(value)}\n" for key, value in spec.items())


def csv_cell(value, decimal):
    if isinstance(value, str):
        if any(character in value for character in ',;"\t\n'):
            return '"' + value.replace('"', '""') + '"'
        return value
    if isinstance(value, float) and math.isnan(value):
        return ""
    text = repr(value)
    return text if decimal == "." else text.replace(".", decimal)


def write_csv(path, columns, delimiter=",", decimal="."):
    """Write columns by name."""
    lists = [column.tolist() for column in map(np.asarray, columns.values())]
    lines = [delimiter.join(csv_cell(name, ".") for name in columns)]
    quote = delimiter != "," or decimal == ","
    for row in zip(*lists):
        cells = []
        for value in row:
            cell = csv_cell(value, decimal)
            if quote and not cell.startswith('"') and delimiter in cell:
                cell = f'"{cell}"'
            cells.append(cell)
        lines.append(delimiter.join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_parquet(path, columns):
    """Write columns by name, by pyarrow."""
    import pyarrow
    import pyarrow.parquet

    arrays = {name: pyarrow.array(np.asarray(column).tolist()) for name, column in columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)
