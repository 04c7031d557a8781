"""Check a whole table of a page against the rows of a result.

The mark stands below its table:

    <!-- check: long table within 1 % | COMMAND | ROW, COLUMN, VALUES -->

COMMAND prints CSV (or a JSON list of objects). ROW names the column of the result whose cells are
in the first column of the table; two names separated by a blank are its first two columns. COLUMN
names the column of the result whose cells begin the headings of the table (`SP5x5 (20 seeds)`); in
quotes it is a heading itself. VALUES names the columns of the result that a cell shows as its first
numbers, separated by blanks: `ratio_mean ratio_sd` for `0.87 ± 0.06`. A sum is written with `+`, a
difference with `-`. A name in parentheses is a number that this mark does not compare; a column
without a value in the row is a number that the cell does not show.

A first cell may list several keys (`MSE, MAE(O,S)`). Numbers of a cell with † were cut by a time
limit, so they depend on the machine: they may differ by a factor of five. Left out are empty cells
and columns that COLUMN does not name. Rows and cells that the result lacks are findings.

Where COMMAND prints CSV or Markdown with the headings of the table, `2 keys` is shorter: the first
two cells identify a row, and all numbers below headings that both have are compared. Of a heading
that is repeated (`Gurobi, speedup, HiGHS, speedup`), the one before it says which it is. Rows that
only the result has are left out; a number that the result lacks is a finding.
"""

import collections
import csv
import io
import re
from dataclasses import dataclass, field

NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
# Relative difference of numbers that a time limit cut.
CUT_TOLERANCE = 0.8
SEPARATOR = re.compile(r"^\|[\s:|-]+\|$")


@dataclass
class Comparison:
    """What the comparison of a table has found."""

    findings: list = field(default_factory=list)
    # Row, column and place in the cell of every number that was compared.
    compared: set = field(default_factory=set)
    # Columns that identify a row.
    key_count: int = 0


def last_table(markdown):
    """Return the cells of the last table of a text, its heading first."""
    tables, current = [], []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            current.append(line)
        elif current:
            tables.append(current)
            current = []
    return cells_of(tables[-1]) if tables else []


def cells_of(lines):
    """Return the cells of the lines of a table, its heading first."""
    rows = [line.strip() for line in lines if not SEPARATOR.match(line.strip())]
    return [[plain(cell) for cell in re.split(r"(?<!\\)\|", row[1:-1])] for row in rows]


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
        mantissa, _, exponent = text.partition("e")
        decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
        value = float(text.replace(",", "").replace("−", "-"))
        found.append((value, 0.5 * 10.0**-decimals if decimals else 0.0))
    return found


def value_of(row, name):
    """Return a number of a row: a column, a sum (`exact+relaxed`) or a difference of columns."""
    first, *terms = re.split(r"(?=[+-])", name)
    total = float(row[first])
    for term in terms:
        value = float(row[term[1:]])
        total += value if term[0] == "+" else -value
    return total


def has_value(row, name):
    """Whether a row has a number in all columns of a name."""
    return all(row[part] not in (None, "") for part in re.split(r"[+-]", name.strip("()")))


def compare(table, result, spec, tolerance):
    """Compare a table with rows of a result."""
    row_names, column_name, value_names = (part.strip().split() for part in split_spec(spec))
    column_name, done = " ".join(column_name), Comparison(key_count=len(row_names))
    if not table:
        done.findings.append("there is no table before the mark")
        return done
    heading, *body = table
    for row_number, cells in enumerate(body):
        for key in keys(cells[0]):
            wanted = [key, *cells[1 : len(row_names)]]
            rows = [row for row in result if [row[name] for name in row_names] == wanted]
            if not rows:
                done.findings.append(f"the result has no row '{' '.join(wanted)}'")
            for column, (name, cell) in enumerate(zip(heading, cells)):
                is_key = column < len(row_names)
                if is_key or not numbers(cell) or not is_named(name, column_name, result):
                    continue
                row = row_of_column(rows, name, column_name)
                if row is None:
                    if rows:
                        done.findings.append(f"the result has no '{' '.join(wanted)}' of '{name}'")
                    continue
                place = f"'{' '.join(wanted)}', '{name}'"
                shown = [value for value in value_names if has_value(row, value)]
                for position in compare_cell(done, cell, row, shown, place, tolerance):
                    done.compared.add((row_number, column, position))
    if not done.compared:
        done.findings.append("no number of the table is in the result")
    return done


def compare_cell(done, cell, row, value_names, place, tolerance):
    """Compare the numbers of a cell with columns of a row; yield the places of those."""
    tolerance = tolerance_of(cell, tolerance)
    for position, ((shown, unit), name) in enumerate(zip(numbers(cell), value_names)):
        if name.startswith("("):
            continue
        found = value_of(row, name)
        yield position
        if differs(found, shown, unit, tolerance):
            done.findings.append(f"{place}: {shown:g} is {found:.6g} ({name})")


def tolerance_of(cell, tolerance):
    """Return the tolerance of a cell: that of its table, or of numbers that a time limit cut."""
    return max(tolerance, CUT_TOLERANCE) if "†" in cell else tolerance


def differs(found, shown, unit, tolerance):
    """Whether a number is further from the shown one than a tolerance and a unit of rounding."""
    return abs(found - shown) > tolerance * max(abs(found), abs(shown)) + unit * (1 + 1e-6) + 1e-12


def compare_headings(table, text, key_count, tolerance):
    """Compare a table with one of the same headings that a command printed."""
    printed = last_table(text) or list(csv.reader(io.StringIO(text)))
    done = Comparison(key_count=key_count)
    if not table or not printed:
        done.findings.append("there is no table before the mark, or none was printed")
        return done
    heading, *body = printed
    repeated = repeated_names(heading) | repeated_names(table[0])
    names = qualified(heading, repeated)
    for name in sorted(repeated_names(names)):
        done.findings.append(f"two columns of the result are '{name}'")
    places = {name: place for place, name in enumerate(names)}
    result = {row_key(row, key_count): row for row in body}
    for row_number, cells in enumerate(table[1:]):
        key = row_key(cells, key_count)
        if key not in result:
            done.findings.append(f"the result has no row '{' '.join(key)}'")
            continue
        for column, (name, cell) in enumerate(zip(qualified(table[0], repeated), cells)):
            if column < key_count or name not in places:
                continue
            place = f"'{' '.join(key)}', '{name}'"
            found = [value for value, _ in numbers(result[key][places[name]])]
            if len(found) < len(numbers(cell)):
                done.findings.append(f"{place}: the result has no number")
            for position, ((shown, unit), value) in enumerate(zip(numbers(cell), found)):
                done.compared.add((row_number, column, position))
                if differs(value, shown, unit, tolerance_of(cell, tolerance)):
                    done.findings.append(f"{place}: {shown:g} is {value:.6g}")
    if not done.compared:
        done.findings.append("no number of the table is in the result")
    return done


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
