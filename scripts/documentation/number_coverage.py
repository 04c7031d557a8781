"""Find the numbers of pages that no check compares with a result.

Numbers count that look measured: those with decimals or an exponent, and those before a unit (`%`,
`×`, `s`, `MB`, `EUR`, …), with those before them in a range or list (`3 to 22 %`). Numbers in code,
in inline code and in addresses of links do not. A number is covered if

* a mark `check: NUMBER within …` of the page names it;
* it is in a table below which a mark `check: table` stands (execute.py reports the numbers of such
  a table that no mark compares);
* a code block of the page has it, to the letter: commands are executed, and printed lines compared;
* it is in a checked table of its section;
* a mark in its section says that it was not measured, and why, or where it is checked:

    <!-- given: 0.005, 32 | settings of the paper -->
    <!-- given: columns paper; difference | published -->    of the table above
    <!-- copied: 0.71, 0.62 | results/methods.md -->         checked on that page, below docs/
"""

import bisect
import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

import tables

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- (given|copied|check): (.*?) -->", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
NOT_PROSE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)")
UNIT = (
    r"\s?(?:%|×(?!\s?\d))"
    r"|[\s-]?(?:[mµμn]?s|seconds?|minutes?|min|hours?|[kKMG]i?B|bytes|GFLOP/s|GB/s|EUR"
    r"|percent|fold|times)\b"
)
# Not within names (TSP100), versions (2.2.7), dates or exponents of formulas (d^-1.5).
NUMBER = re.compile(
    r"(?<![\w.,^/-])(?P<number>[-+−]?\d[\d,]*(?<!,)(?:\.\d+)?(?:e[-+]?\d+)?)"
    rf"(?:(?P<unit>{UNIT})|(?![\w/^]|-\d|\.\d))"
)
# What stands between the numbers of a range or of a list with one unit.
BETWEEN = re.compile(r"\s(?:to|and|or)\s|\s?–\s?|,\s")
# The level of every confidence interval of the project.
DEFINED = {"95 %"}
# Written from the help of the program and from docstrings.
GENERATED = ("docs/reference/command-line.md", "docs/reference/python-api.md")


@dataclass
class Table:
    """A table of a page with the marks below it."""

    line: int
    cells: list
    is_checked: bool = False
    given_columns: set = field(default_factory=set)

    def is_given(self, before):
        """Whether a place of a line, by the text before it, is in a column that is given."""
        column = len(re.findall(r"(?<!\\)\|", before)) - 1
        return self.cells[0][column] in self.given_columns


@dataclass
class Page:
    """Numbers of a page, and what covers them."""

    # Line, number and surroundings of numbers outside of checked tables.
    shown: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    # Numbers of check marks and of printed lines.
    checked: set = field(default_factory=set)
    # Numbers of code blocks, as they stand there.
    in_code: set = field(default_factory=set)
    # Section and number, of checked tables and of marks that say where numbers are from.
    explained: set = field(default_factory=set)
    # Numbers that other pages may copy: those of check marks, printed lines and checked tables.
    copyable: set = field(default_factory=set)
    # Line, page and number of numbers that are copied from other pages.
    copied: list = field(default_factory=list)
    findings: list = field(default_factory=list)
    # Lines of the headings.
    headings: list = field(default_factory=list)

    def section(self, line):
        """Return the number of the section that a line is in."""
        return bisect.bisect_right(self.headings, line)

    def table_of(self, line):
        """Return the table that a line is in, or None."""
        # The line below the heading is not among the cells.
        found = (one for one in self.tables if one.line <= line <= one.line + len(one.cells))
        return next(found, None)

    def is_covered(self, line, shown):
        """Whether something of the page covers a number of a line."""
        number = magnitude(shown)
        return (
            number in self.checked
            or letters(shown) in self.in_code
            or (self.section(line), number) in self.explained
        )


def magnitude(text):
    """Return the absolute value of the number that a text says."""
    return abs(float(text.replace(",", "").replace("−", "-")))


def letters(number):
    """Return a number without its sign and separators of thousands."""
    return number.lstrip("+-−").replace(",", "")


def measured_numbers(text):
    """Yield the numbers of a text that look measured, with their places."""
    found = list(NUMBER.finditer(text))
    has_unit = [match["unit"] is not None for match in found]
    # A unit is that of the numbers before it, too: 3 to 22 %.
    for place in reversed(range(len(found) - 1)):
        between = text[found[place].end() : found[place + 1].start()]
        if has_unit[place + 1] and BETWEEN.fullmatch(between):
            has_unit[place] = True
    for match, is_before_unit in zip(found, has_unit):
        number = match["number"]
        looks_measured = is_before_unit or "." in number or "e" in number
        if looks_measured and match[0] not in DEFINED:
            yield match.start(), number


def blanked(pattern, text):
    """Return a text of equal lines and columns without what a pattern finds."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def list_of(text):
    """Return the numbers of a list such as `0.005, 32`."""
    return [magnitude(word) for word in re.split(r",?\s+", text.strip())]


def read(markdown):
    """Return the numbers of a page and what covers them."""
    page = Page()
    for code in CODE.finditer(markdown):
        words = [match["number"] for match in NUMBER.finditer(code["text"])]
        page.in_code |= {letters(word) for word in words}
        if code["language"].startswith("text"):
            page.checked |= {magnitude(word) for word in words}
    without_code = blanked(CODE, markdown)
    page.tables = list(tables_of(without_code))
    page.headings = headings_of(without_code)
    for mark in MARK.finditer(without_code):
        read_mark(page, mark, without_code.count("\n", 0, mark.start()) + 1)
    for table in page.tables:
        if table.is_checked:
            cells = [cell for row in table.cells for cell in row]
            found = {abs(number) for cell in cells for number, _ in tables.numbers(cell)}
            page.explained |= {(page.section(table.line), number) for number in found}
            page.copyable |= found
    prose = blanked(NOT_PROSE, blanked(COMMENT, without_code))
    for number, line in enumerate(prose.splitlines(), 1):
        table = page.table_of(number)
        for start, shown in measured_numbers(line):
            if table is None or not (table.is_checked or table.is_given(line[:start])):
                around = line[max(0, start - 40) : start + 30].strip()
                page.shown.append((number, shown, around))
    return page


def headings_of(text):
    """Return the lines of the headings of a text."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("#")]


def tables_of(text):
    """Yield the tables of a text."""
    lines, begin = text.splitlines(), None
    for number, line in enumerate([*lines, ""]):
        if line.startswith("|") and begin is None:
            begin = number
        elif not line.startswith("|") and begin is not None:
            yield Table(begin + 1, tables.cells_of(lines[begin:number]))
            begin = None


def read_mark(page, mark, line):
    """Add what a mark covers."""
    kind, text = mark[1], mark[2]
    above = [table for table in page.tables if table.line < line]
    if kind == "check":
        words = re.sub(r"^(?:long|hours|times) ", "", text)
        if words.startswith("table "):
            if above:
                above[-1].is_checked = True
        elif not words.startswith("tolerance"):
            page.checked.add(magnitude(words.split(" within ")[0]))
        return
    listed, _, reason = (part.strip() for part in text.partition("|"))
    if not reason:
        page.findings.append((line, f"the mark '{kind}: {text}' has no reason or page"))
    elif listed.startswith("columns "):
        columns = {name.strip() for name in listed.removeprefix("columns ").split(";")}
        missing = columns - set(above[-1].cells[0] if above else [])
        if missing:
            page.findings.append((line, f"the table has no column {', '.join(sorted(missing))}"))
        else:
            above[-1].given_columns |= columns
    else:
        numbers = list_of(listed)
        page.explained |= {(page.section(line), number) for number in numbers}
        if kind == "copied":
            page.copied += [(line, reason, number) for number in numbers]


@functools.cache
def checked_numbers(source):
    """Return the numbers of a page below docs/ that something compares there."""
    path = ROOT / "docs" / source
    if not path.is_file():
        return set()
    page = read(path.read_text())
    return page.copyable | page.checked


def findings(paths):
    """Yield page, line and text of every number that nothing covers."""
    for path in paths:
        name = path.resolve().relative_to(ROOT)
        if str(name) in GENERATED:
            continue
        page = read(path.read_text())
        for line, message in page.findings:
            yield f"{name}:{line}: {message}"
        for line, source, number in page.copied:
            if str(name) == f"docs/{source}" or number not in checked_numbers(source):
                yield f"{name}:{line}: {number:g} is not a checked number of {source}"
        for line, shown, around in page.shown:
            if not page.is_covered(line, shown):
                yield f"{name}:{line}: no check compares {shown} in '{around}'"


def uncompared(table, given_columns, comparisons):
    """Return the cells of a table with numbers that no comparison of it has compared."""
    heading, *body = table
    key_count = max(done.key_count for done in comparisons)
    compared = set().union(*(done.compared for done in comparisons))
    found = []
    for row_number, cells in enumerate(body):
        for column, cell in list(enumerate(cells))[key_count:]:
            places = range(len(tables.numbers(cell)))
            is_compared = all((row_number, column, place) in compared for place in places)
            if not is_compared and heading[column] not in given_columns:
                found.append(f"'{cells[0]}', '{heading[column]}': {cell}")
    return found
