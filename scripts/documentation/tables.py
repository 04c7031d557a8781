"""Check a whole table of a page against the rows of a result.

The mark stands below its table:

    <!-- check: long table within 1 % | COMMAND | ROW, COLUMN, VALUES -->

COMMAND prints CSV (or a JSON list of objects). ROW names the column of the result whose cells are
in the first column of the table; two names separated by a blank are its first two columns. COLUMN
names the column of the result whose cells begin the headings of the table (`SP5x5 (20 seeds)`); in
quotes it is a heading itself. VALUES names the columns of the result that a cell shows as its first
numbers, separated by blanks: `ratio_mean ratio_std` for `0.87 ± 0.06`. A sum is written with `+`.

A first cell may list several keys (`MSE, MAE(O,S)`). Left out are empty cells, cells with † (cut by
a time limit, so that they differ from machine to machine) and columns that COLUMN does not name.
Rows and cells that the result lacks are findings.

Where COMMAND prints CSV or Markdown with the headings of the table, `2 keys` is shorter: the first
two cells identify a row, and all numbers below headings that both have are compared. Of a heading
that is repeated (`Gurobi, speedup, HiGHS, speedup`), the one before it says which it is. Cells with
† and rows that only the result has are left out; a number that the result lacks is a finding.
"""

import collections
import csv
import io
import re

NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")
SEPARATOR = re.compile(r"^\|[\s:|-]+\|$")


def last_table(markdown):
    """Return the cells of the last table of a text, its heading first."""
    tables, current = [], []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            current.append(line)
        elif current:
            tables.append(current)
            current = []
    if not tables:
        return []
    lines = [line for line in tables[-1] if not SEPARATOR.match(line.strip())]
    return [[plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in lines]


def plain(cell):
    """Return the text of a cell without its marks."""
    return re.sub(r"\\(.)", r"\1", cell.replace("`", "").replace("**", "")).strip()


def keys(cell):
    """Return the keys that a cell lists: texts between commas that are not in parentheses."""
    return re.split(r",\s(?![^(]*\))", cell)


def is_heading_of(heading, key):
    """Whether a heading is a key, with or without more words."""
    return re.match(re.escape(key) + r"(?![\w.(])", heading) is not None


def numbers(cell):
    """Return the numbers of a cell, each with half a unit of its last digit."""
    found = []
    for text in NUMBER.findall(cell):
        decimals = len(text.partition(".")[2])
        value = float(text.replace(",", "").replace("−", "-"))
        found.append((value, 0.5 * 10.0**-decimals if decimals else 0.0))
    return found


def value_of(row, name):
    """Return the number of a row, or the sum of several columns (`exact+relaxed`)."""
    return sum(float(row[part] or 0) for part in name.split("+"))


def compare(table, result, spec, tolerance):
    """Return how many numbers of a table were compared, and what differs."""
    row_names, column_name, value_names = (part.strip().split() for part in split_spec(spec))
    column_name, findings, compared = " ".join(column_name), [], 0
    if not table:
        return 0, ["there is no table before the mark"]
    heading, *body = table
    for cells in body:
        for key in keys(cells[0]):
            wanted = [key, *cells[1 : len(row_names)]]
            rows = [row for row in result if [row[name] for name in row_names] == wanted]
            if not rows:
                findings.append(f"the result has no row '{' '.join(wanted)}'")
            for name, cell in list(zip(heading, cells))[len(row_names) :]:
                if not numbers(cell) or "†" in cell or not is_named(name, column_name, result):
                    continue
                row = row_of_column(rows, name, column_name)
                if row is None:
                    if rows:
                        findings.append(f"the result has no '{' '.join(wanted)}' of '{name}'")
                    continue
                for (shown, unit), value_name in zip(numbers(cell), value_names):
                    found = value_of(row, value_name)
                    compared += 1
                    if differs(found, shown, unit, tolerance):
                        place = f"'{' '.join(wanted)}', '{name}'"
                        findings.append(f"{place}: {shown:g} is {found:.6g} ({value_name})")
    if compared == 0:
        findings.append("no number of the table is in the result")
    return compared, findings


def differs(found, shown, unit, tolerance):
    """Whether a number is further from the shown one than a tolerance and a unit of rounding."""
    return abs(found - shown) > tolerance * max(abs(found), abs(shown)) + unit + 1e-9


def compare_headings(table, text, key_count, tolerance):
    """Compare a table with one that a command printed; return as `compare` does."""
    printed = last_table(text) or list(csv.reader(io.StringIO(text)))
    if not table or not printed:
        return 0, ["there is no table before the mark, or none was printed"]
    heading, *body = printed
    repeated = repeated_names(heading) | repeated_names(table[0])
    places = {name: place for place, name in enumerate(qualified(heading, repeated))}
    result = {row_key(row, key_count): row for row in body}
    compared, findings = 0, []
    for cells in table[1:]:
        key = row_key(cells, key_count)
        if key not in result:
            findings.append(f"the result has no row '{' '.join(key)}'")
            continue
        for name, cell in list(zip(qualified(table[0], repeated), cells))[key_count:]:
            if name not in places or "†" in cell:
                continue
            place = f"'{' '.join(key)}', '{name}'"
            found = [value for value, _ in numbers(result[key][places[name]])]
            if len(found) < len(numbers(cell)):
                findings.append(f"{place}: the result has no number")
            for (shown, unit), value in zip(numbers(cell), found):
                compared += 1
                if differs(value, shown, unit, tolerance):
                    findings.append(f"{place}: {shown:g} is {value:.6g}")
    if compared == 0:
        findings.append("no number of the table is in the result")
    return compared, findings


def repeated_names(heading):
    """Return the headings that occur more than once."""
    return {name for name, count in collections.Counter(heading).items() if count > 1}


def qualified(heading, repeated):
    """Return headings, those that are repeated with the one before them."""
    names = []
    for place, name in enumerate(heading):
        names.append(f"{heading[place - 1]}, {name}" if place and name in repeated else name)
    return names


def row_key(cells, count):
    """Return the cells that identify a row, without separators of thousands."""
    return tuple(re.sub(r"(?<=\d),(?=\d)", "", cell) for cell in cells[:count])


def split_spec(spec):
    """Return the three parts of a specification."""
    parts = [part.strip() for part in spec.split(",")]
    if len(parts) != 3:
        raise ValueError(f"'{spec}' is not ROW, COLUMN, VALUES")
    return parts


def is_named(heading, column_name, result):
    """Whether a heading of the table is one of those that are compared."""
    if column_name.startswith('"'):
        return heading == column_name.strip('"')
    return any(is_heading_of(heading, row[column_name]) for row in result)


def row_of_column(rows, heading, column_name):
    """Return the row of the result that a column of the table shows."""
    if column_name.startswith('"'):
        return rows[0] if rows else None
    return next((row for row in rows if is_heading_of(heading, row[column_name])), None)
