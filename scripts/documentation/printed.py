"""What a command printed: comparison with shown lines, and values of JSON and CSV."""

import csv
import io
import json
import re

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def agrees(shown, printed, tolerance):
    """Whether a printed line is the shown one, with numbers within a tolerance."""
    pieces, numbers = [], NUMBER.findall(shown)
    if tolerance == 0:
        pattern = ".*".join(re.escape(piece) for piece in shown.rstrip().split("…"))
        return re.fullmatch(pattern, printed.rstrip()) is not None
    for piece in NUMBER.split(" ".join(shown.split())):
        pieces.append(".*".join(re.escape(part) for part in piece.split("…")))
    pattern = f"({NUMBER.pattern})".join(pieces)
    found = re.fullmatch(pattern, " ".join(printed.split()))
    if found is None:
        return False
    pairs = zip(numbers, (group for group in found.groups() if group is not None))
    return all(is_close(value(one), value(other), tolerance) for one, other in pairs)


def value(text):
    """Return the number that a text says."""
    return float(text.replace(",", ""))


def is_close(shown, found, tolerance):
    """Whether a number is within a relative tolerance of the shown one."""
    return abs(found - shown) <= tolerance * max(abs(shown), abs(found)) + 1e-12


def parsed(text):
    """Return what a command printed: JSON, or the rows of a CSV table."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return list(csv.DictReader(io.StringIO(text)))


def row(rows, **cells):
    """Return the row of a table that has these cells."""
    return next(one for one in rows if all(one[name] == cell for name, cell in cells.items()))


def published_differences(rows, problem):
    """Return the absolute differences from published ratios: MSE and MAE with C, O and S."""
    return [
        abs(float(one["ratio_mean"]) - float(one["published_ratio"]))
        for one in rows
        if one["problem"] == problem
        and one["method"].startswith(("MSE", "MAE"))
        and "O_S" not in one["method"]
    ]


def tail(text, lines=15):
    """Return the last lines of a text, indented."""
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-lines:])
