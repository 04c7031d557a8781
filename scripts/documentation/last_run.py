"""Dates of the last run of measurements that are repeated on demand.

A block or a check that only `--full`, `--hours` or `--times` runs has its date in its mark:

    <!-- run: long, last run 2026-11-17 -->
    <!-- check: times table within 50 %, last run 2026-11-18 | COMMAND | 2 keys -->

Readers see the dates (hooks.py), and `scripts/docs --check --times --record` writes that of today
into the marks whose command ran and whose numbers agree. A check of `long` or `hours` without a
date has that of the block before it on the page whose results it compares.
"""

import datetime
import re

DATE = re.compile(r"(?<=last run )\d{4}-\d{2}-\d{2}")
MARK = re.compile(r"<!-- (run|check): (long|hours|times)\b(.*?)-->", re.DOTALL)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# From this tolerance on a factor is easier to read than a percentage.
MIN_FACTOR_TOLERANCE = 0.5


def caption(mark):
    """Return what readers see of a mark with a date: an empty text if it has none."""
    found = DATE.search(mark)
    if found is None:
        return ""
    day = datetime.date.fromisoformat(found[0])
    shown = f"{day.day} {day:%B %Y}"
    tolerance = re.search(r"\bwithin (\S+) %", mark.partition("|")[0])
    if tolerance is None:
        return f"Last run: {shown}."
    return f"Last compared with a run: {shown}, {agreement(float(tolerance[1]) / 100)}."


def agreement(tolerance):
    """Return in words how far numbers may differ."""
    if not 0 <= tolerance < 1:
        raise ValueError(f"a tolerance of {100 * tolerance:g} % allows any number")
    if tolerance == 0:
        return "equal"
    if tolerance < MIN_FACTOR_TOLERANCE:
        return f"within {100 * tolerance:g} %"
    return f"within a factor of {1 / (1 - tolerance):g}"


def undated(markdown):
    """Yield lines and marks of a page that need a date and have none."""
    text = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), markdown)
    dated_blocks = set()
    for match in MARK.finditer(text):
        kind, size, rest = match.groups()
        has_date = DATE.search(rest) is not None
        if kind == "run" and has_date:
            dated_blocks.add(size)
        if not has_date and not (kind == "check" and size in dated_blocks):
            yield text.count("\n", 0, match.start()) + 1, f"{kind}: {size}"


def record(path, markdown, places):
    """Write the date of today into the marks of a page that begin at these characters.

    Returns whether the page is still the one that was executed; otherwise nothing is written.
    """
    if path.read_text() != markdown:
        return False
    today = datetime.date.today().isoformat()
    # All dates have the same length, so places stay where they are.
    for place in places:
        end = markdown.index("-->", place)
        markdown = markdown[:place] + DATE.sub(today, markdown[place:end]) + markdown[end:]
    path.write_text(markdown)
    return True
