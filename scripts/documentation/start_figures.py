"""Draw figures of the README and the start pages from what their examples have computed.

    python3 start_figures.py verdict SUMMARY.json NAME TITLE

Pages call this in hidden blocks after their example. The figure must be that in docs/figures: the
same words, and numbers that differ by 2 % at most, as other machines may round otherwise. With
DOCS_FIGURES=write it is written.
"""

import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"
sys.path.insert(0, str(ROOT / "docs" / "gallery"))
from figure import WIDTH, Figure, bars  # noqa: E402

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
TOLERANCE = 0.02
# Shorter names, so they fit beside the figure.
SHORT = re.compile(r"^columns (\S+)|^auto .*")


def keep(figure, name):
    """Write a figure, or compare it with the one in docs/figures."""
    path, drawn = FOLDER / f"{name}.svg", figure.svg()
    if os.environ.get("DOCS_FIGURES") == "write":
        path.write_text(drawn)
        return
    kept = path.read_text()
    if NUMBER.sub("", kept) != NUMBER.sub("", drawn):
        raise SystemExit(f"{path.name} has other words: draw it again (DOCS_FIGURES=write)")
    for old, new in zip(NUMBER.findall(kept), NUMBER.findall(drawn)):
        old, new = (float(text.replace(",", "")) for text in (old, new))
        # A unit is a hundredth of the width or less.
        if abs(old - new) > max(1.0, TOLERANCE * abs(old)):
            raise SystemExit(f"{path.name} has {old}, the example {new}")


def short(name):
    """Return the name of a method for a figure."""
    found = SHORT.match(name)
    if found is None:
        return name
    return "auto" if found[1] is None else found[1]


def verdict(summary, title):
    """Draw what each method saves against least squares, with its interval."""
    methods = [method for method in summary["methods"] if method["saving"]]
    word = "gains" if summary["sense"] == "maximize" else "saves"
    methods.sort(key=lambda method: method["saving"]["per_period"], reverse=True)
    ends = [0.0]
    for method in methods:
        saving = method["saving"]
        interval = saving["interval"] or {"lower": saving["per_period"]}
        ends += [saving["per_period"], interval["lower"], interval.get("upper", ends[0])]
    left, right = 166.0, WIDTH - 26.0
    least, most = min(ends), max(ends)

    def place(value):
        return left + (right - left) * (value - least) / (most - least)

    unit = f" {summary['unit']}" if summary["unit"] else ""
    words = ", ".join(
        f"{short(method['name'])}: {method['saving']['per_period']:.1f}{unit}" for method in methods
    )
    height = 74 + 30 * len(methods)
    figure = Figure(height, f"{title} What each method {word} against least squares: {words}")
    figure.text(0, 16, title, "head")
    figure.line(place(0.0), 28, place(0.0), height - 38, "line dash")
    for number, method in enumerate(methods):
        y = 46 + 30 * number
        saving, interval = method["saving"]["per_period"], method["saving"]["interval"]
        color = "green" if interval and interval["lower"] > 0 else "gray"
        figure.text(left - 14, y + 4, short(method["name"]), "small end")
        if interval:
            lower, upper = place(interval["lower"]), place(interval["upper"])
            figure.line(lower, y, upper, y, f"stroke thick {color}")
        figure.circle(place(saving), y, 5, f"fill {color}")
        figure.text(place(saving), y - 9, f"{saving:.1f}", "small middle")
    figure.text(place(0.0), height - 22, "least squares", "small middle")
    per = "a day" if summary["days_per_period"] == 1 else "per decision"
    figure.text(0, height - 4, f"{word}{unit} {per}; bars are 95 % intervals", "small faint")
    return figure


def regrets(title, rows):
    """Draw normalized regrets, in percent, as bars; the last one is that of no model."""
    colored = [(name, 100 * value, "blue") for name, value in rows[:-1]]
    colored += [(name, 100 * value, "gray") for name, value in rows[-1:]]
    return bars(title, colored, "%", note="normalized regret in %: less is better")


def curve(title, values, reference, name):
    """Draw a regret after each epoch, in percent, and a reference as a line."""
    figure = Figure(
        190, f"{title} From {values[0]:.0%} to {values[-1]:.0%}; {name} {reference:.0%}"
    )
    left, right, bottom, top = 44.0, WIDTH - 12.0, 150.0, 36.0
    highest = max([*values, reference])

    def height(value):
        return bottom - (bottom - top) * value / highest

    figure.text(0, 16, title, "head")
    figure.path([(left, top - 8), (left, bottom), (right, bottom)])
    figure.line(left, height(reference), right, height(reference), "line dash")
    figure.text(right, height(reference) + 16, f"{name}: {100 * reference:.0f} %", "small end")
    step = (right - left) / len(values)
    points = [(left + step * (epoch + 1), height(value)) for epoch, value in enumerate(values)]
    figure.path(points, "stroke blue")
    figure.circle(*points[-1], 5, "fill blue")
    figure.text(right, points[-1][1] - 10, f"{100 * values[-1]:.0f} %", "small end ink blue")
    figure.text(right, bottom + 18, f"epoch {len(values)}", "small end")
    figure.text(left - 8, bottom + 4, "0", "small end")
    figure.text(0, 186, "normalized regret on rows that were not used", "small faint")
    return figure


def main():
    """Draw the figure that the arguments name."""
    _, kind, summary, name, title = sys.argv
    if kind != "verdict":
        sys.exit(f"unknown figure {kind}")
    keep(verdict(json.loads(Path(summary).read_text()), title), name)


if __name__ == "__main__":
    main()
