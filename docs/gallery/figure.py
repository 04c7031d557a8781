"""Draw small figures as SVG, with the standard library alone.

Figures are 400 units wide, so their type can be read on a telephone, and have the colors of a light
or a dark screen. `Figure.save` writes a file with its own style; on the site figures become part of
the page and take the style from it.
"""

from html import escape

WIDTH = 400
# Widths of letters in units of the font size: about those of DejaVu Sans, the widest font of the
# style, which browsers take on systems without the others.
LETTER_WIDTHS = {
    0.34: " '.,:;|/·ijlIJ",
    0.42: '-()[]!"*frt',
    0.73: "ABCDGHKNOQRUVXZ",
    1.0: "mwMW%@+=−×",
}
OTHER_LETTER_WIDTH = 0.63
BOLD_WIDTH = 1.1
STYLE = """\
.fig { font-family: Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; }
.fig text { fill: #1c1e22; font-size: 13px; }
.fig .small { font-size: 12.3px; }
.fig .faint { fill: #4d525a; }
.fig .head { font-weight: bold; font-size: 14px; }
.fig .strong { font-weight: bold; }
.fig .middle { text-anchor: middle; }
.fig .end { text-anchor: end; }
.fig .on { fill: #ffffff; }
.fig .line { stroke: #5f6570; stroke-width: 1.4; fill: none; }
.fig .grid { stroke: #d5d9df; stroke-width: 1; fill: none; }
.fig .dash { stroke-dasharray: 5 4; }
.fig .thick { stroke-width: 3.6; }
.fig .wash { fill: #e9edf2; }
.fig .fill { fill: currentColor; }
.fig .pale { fill: currentColor; fill-opacity: 0.18; }
.fig .stroke { stroke: currentColor; fill: none; stroke-width: 1.8; }
.fig .stroke.thick { stroke-width: 3.6; }
.fig .ink { fill: currentColor; }
.fig .blue { color: #00619c; }
.fig .red { color: #b33a00; }
.fig .green { color: #00704f; }
.fig .purple { color: #7d3c98; }
.fig .gray { color: #6a707a; }
@media (prefers-color-scheme: dark) {
.fig text { fill: #e6e9ee; }
.fig .faint { fill: #b9bfca; }
.fig .on { fill: #10151b; }
.fig .ink { fill: currentColor; }
.fig .line { stroke: #aab1bd; }
.fig .grid { stroke: #444b57; }
.fig .wash { fill: #313845; }
.fig .pale { fill-opacity: 0.22; }
.fig .blue { color: #6db9f2; }
.fig .red { color: #ff9b66; }
.fig .green { color: #5fd0a5; }
.fig .purple { color: #d3a4e8; }
.fig .gray { color: #a4abb7; }
}
"""


class Figure:
    """A drawing of a given height; `label` says in words what it shows."""

    def __init__(self, height, label, width=WIDTH):
        self.width, self.height, self.label = width, height, label
        self.parts = []

    def add(self, tag, classes, content=None, **attributes):
        """Add an element; underscores of attribute names become hyphens."""
        words = "".join(
            f' {name.replace("_", "-")}="{number(value)}"' for name, value in attributes.items()
        )
        head = f'<{tag} class="{classes}"{words}'
        self.parts.append(f"{head}/>" if content is None else f"{head}>{content}</{tag}>")

    def text(self, x, y, text, classes=""):
        """Write a line of text, which has to fit."""
        text = str(text)
        width, words = text_width(text, classes), classes.split()
        left = x - width * (0.5 if "middle" in words else 1.0 if "end" in words else 0.0)
        if left < -1 or left + width > self.width + 1:
            raise ValueError(f"'{text}' is cut at the edge: shorten it by a few letters")
        self.add("text", classes, escape(text), x=x, y=y)

    def line(self, x1, y1, x2, y2, classes="line"):
        """Draw a line."""
        self.add("line", classes, x1=x1, y1=y1, x2=x2, y2=y2)

    def rect(self, x, y, width, height, classes="wash", rounding=3):
        """Draw a rectangle; a negative height grows upwards."""
        if height < 0:
            y, height = y + height, -height
        self.add("rect", classes, x=x, y=y, width=width, height=height, rx=rounding)

    def circle(self, x, y, radius, classes="fill"):
        """Draw a disk."""
        self.add("circle", classes, cx=x, cy=y, r=radius)

    def path(self, points, classes="line", closed=False):
        """Draw a line through points."""
        steps = " L".join(f"{number(x)} {number(y)}" for x, y in points)
        self.add("path", classes, d=f"M{steps}{' Z' if closed else ''}")

    def arrow(self, x1, y1, x2, y2, classes="line"):
        """Draw a line with a tip at its end."""
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
        along = ((x2 - x1) / length, (y2 - y1) / length)
        base = (x2 - 8 * along[0], y2 - 8 * along[1])
        self.line(x1, y1, x2, y2, classes)
        for side in (4, -4):
            tip = (base[0] - side * along[1], base[1] + side * along[0])
            self.line(*tip, x2, y2, classes.replace("dash", ""))

    def svg(self):
        """Return the drawing as text."""
        label = escape(self.label, quote=True)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="fig" role="img" aria-label="{label}" '
            f'viewBox="0 0 {self.width} {self.height}">'
        )
        body = "\n".join(self.parts)
        return f"{head}\n<style>\n{STYLE}</style>\n{body}\n</svg>\n"

    def save(self, path):
        """Write the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())

    def _repr_svg_(self):
        """Show the drawing in a notebook."""
        return self.svg()


def text_width(text, classes):
    """Return about how wide a text is at most, in units of the drawing."""
    words = classes.split()
    # The sizes of STYLE.
    size = 14.0 if "head" in words else 12.3 if "small" in words else 13.0
    if "head" in words or "strong" in words:
        size *= BOLD_WIDTH
    widths = {letter: width for width, letters in LETTER_WIDTHS.items() for letter in letters}
    return size * sum(widths.get(letter, OTHER_LETTER_WIDTH) for letter in text)


def number(value):
    """Return a number with at most two decimals, and text as it is."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def bars(title, rows, unit="", best=None, note="", label_width=132):
    """Draw one horizontal bar per (name, value, classes); `best` marks a value with a line."""
    height = 40 + 26 * len(rows) + (18 if best is not None else 0) + (18 if note else 0)
    words = ", ".join(f"{name}: {value:,.0f} {unit}".strip() for name, value, _ in rows)
    figure = Figure(height, f"{title}. {words}")
    figure.text(0, 16, title, "head")
    highest = max([value for _, value, _ in rows] + [best or 0, 1e-9])
    room = WIDTH - label_width - 66
    y = 34
    for name, value, classes in rows:
        figure.text(label_width - 8, y + 14, name, "small end")
        figure.rect(label_width, y, max(room * value / highest, 1.0), 18, f"fill {classes}")
        figure.text(WIDTH - 2, y + 14, f"{value:,.0f}", "small end")
        y += 26
    if best is not None:
        x = label_width + room * best / highest
        figure.line(x, 28, x, y - 2, "line dash")
        figure.text(
            min(x + 50, WIDTH - 2), y + 12, f"best in hindsight: {best:,.0f}", "small faint end"
        )
        y += 18
    if note:
        figure.text(0, y + 12, note, "small faint")
    return figure
