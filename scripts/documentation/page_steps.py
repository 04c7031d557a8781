"""The steps of a page: its blocks, and the marks that say how they are executed or checked.

Marks are comments of Markdown, which readers do not see. They precede their block:

    <!-- run: no, REASON -->                 the block is not executed
    <!-- run: long, last run 2026-11-17 -->  the block is executed by --full only
    <!-- run: hours, last run 2026-11-17 --> the block is executed by --hours only
    <!-- run: none: REASON -->               nothing of the page is executed
    <!-- setup sh
    COMMANDS -->                             executed, not shown; also `setup python`
    <!-- check: 8.5 within 2 % | COMMAND | EXPRESSION -->
                                             8.5, in the text before, is what EXPRESSION says of
                                             `result`, the JSON or CSV that COMMAND prints;
                                             `row(result, method="MSE")` is a row of CSV,
                                             `published_differences(result, "KS32")` differences
                                             from published ratios, and
                                             `long 8.5` is checked by --full only, `hours 8.5`
                                             by --hours only
    <!-- check: long table within 1 % | COMMAND | ROW, COLUMN, VALUES -->
                                             the table before it is in the result (tables.py)
    <!-- check: times table within 50 %, last run 2026-11-18 | COMMAND | 2 keys -->
                                             the table before it has times or ratios of times; it
                                             is compared by --times only, which executes no more
"""

import re
from dataclasses import dataclass

# Sizes of blocks and checks by the word in their marks; the first is that of marks without one.
SIZES = ("quick", "long", "hours")
# The word of checks that measure times: they run alone, one after the other.
TIMES = "times"
ELEMENT = re.compile(
    r"^<!-- (?P<mark>(?:run|setup|check)\b.*?) ?-->|^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$"
    r"|<!-- (?P<inline>check: .*?) -->",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Step:
    """Something of a page that is executed or compared."""

    kind: str
    text: str
    line: int
    mark: str = ""
    tolerance: float = 0.0
    # Character of the page where its mark begins.
    mark_place: int = 0


def steps(markdown):
    """Yield the steps of a page, with the marks that precede them."""
    mark, mark_place, tolerance = "", 0, 0.0
    for match in ELEMENT.finditer(markdown):
        line = markdown.count("\n", 0, match.start()) + 1
        found = match["mark"] or match["inline"]
        if found is None:
            words = match["info"].split()
            language = words[0] if words else ""
            kind = f"file {words[1]}" if len(words) > 1 and "=" not in words[1] else language
            yield Step(kind, match["text"], line, mark, tolerance, mark_place)
            mark, mark_place, tolerance = "", 0, 0.0
        elif found.startswith("setup"):
            head, _, body = found.partition("\n")
            yield Step(head.split()[1], body + "\n", line)
        elif found.startswith("check: tolerance"):
            tolerance = percentage(found.removeprefix("check: tolerance"))
        elif found.startswith("check:"):
            before = re.sub(r"<!--.*?-->", "", markdown[: match.start()], flags=re.DOTALL)
            claim = found.removeprefix("check:").strip()
            kind = "table" if without_size(claim).startswith("table ") else "number"
            # A number is near its mark; a table may be long.
            shown = before if kind == "table" else before[-4000:]
            yield Step(kind, f"{shown}\0{claim}", line, mark_place=match.start())
        else:
            mark, mark_place = found, match.start()


def size_of(mark):
    """Return the size of a block or check: a word of SIZES, or TIMES, that begins its mark."""
    word = mark.replace(",", " ").split(" ")[0]
    return word if word in (*SIZES, TIMES) else SIZES[0]


def without_size(claim):
    """Return a claim without the word for its size."""
    return claim.removeprefix(f"{size_of(claim)} ")


def percentage(text):
    """Return the fraction of a text such as `5 %`; a date may follow."""
    return float(text.partition(",")[0].replace("%", "")) / 100
