"""What the scripts of the gallery share: running the program, money, pictures.

Needs the standard library and the `regretless` command. A script runs in full by default; with
GALLERY_SIZE=small it takes fewer rows, so tests can run all of them.
"""

import csv
import datetime
import gzip
import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import figure

IS_SMALL = os.environ.get("GALLERY_SIZE") == "small"
FOLDER = Path(os.environ.get("GALLERY_FOLDER") or tempfile.mkdtemp(prefix="gallery-"))
# Bundled data are in testdata/ of the repository.
DATA = next(
    (up / "testdata" for up in Path(__file__).resolve().parents if (up / "testdata").is_dir()), None
)


# Columns of the Irish prices that are known the day before, by their place after the date.
FORECASTS = {"weekday": 2, "half_hour": 7, "wind": 8, "load": 9, "forecast": 10, "co2": 13}
PRICE = 16


def irish_days(count):
    """Return dates of the Irish market with 48 rows each: forecasts, then the price in EUR/MWh.

    Days with gaps are left out.
    """
    days = {}
    with gzip.open(DATA / "energy" / "prices2013.dat.gz", "rt") as file:
        next(file)
        for line in file:
            when, *cells = shlex.split(line)
            day, month, year = (int(part) for part in when.split()[1].split("/"))
            row = [float(cells[place]) for place in (*FORECASTS.values(), PRICE)]
            days.setdefault(f"{year}-{month:02}-{day:02}", []).append(row)
    whole = {date: rows for date, rows in days.items() if "nan" not in str(rows)}
    return dict(list(whole.items())[:count])


def size(small, full):
    """Return the number for tests, or the number of the page."""
    return small if IS_SMALL else full


def date(number):
    """Return a day, counted from the beginning of 2024, as text."""
    return (datetime.date(2024, 1, 1) + datetime.timedelta(number)).isoformat()


def write_csv(name, header, rows):
    """Write a table into the working folder; numbers have at most four decimals."""
    with (FOLDER / name).open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        for row in rows:
            table.writerow([f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row])


def write(name, text):
    """Write a file into the working folder, and show its lines, shortened."""
    (FOLDER / name).write_text(text)
    lines = [line if len(line) <= 88 else f"{line[:86]} …" for line in text.splitlines()]
    print("\n".join(lines if len(lines) <= 16 else [*lines[:15], "…"]))


def regretless(command, show=None):
    """Run the program in the working folder; print the lines that contain one of the words."""
    words = ["regretless", *shlex.split(command)]
    done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr}")
    for line in done.stdout.splitlines():
        if show is None or any(word in line for word in show):
            print(line.rstrip())
    return done.stdout


def backtest(arguments, unit="EUR"):
    """Decide the history; print the verdict and the table, and return the summary."""
    printed = regretless(f"backtest {arguments} --unit {unit} --out backtest --force", show=[])
    lines = printed.splitlines()
    last = next(number for number, line in enumerate(lines) if line.startswith("results in"))
    print("\n".join(line.rstrip() for line in lines[:last]).strip())
    return json.loads((FOLDER / "backtest" / "summary.json").read_text())


def explain(arguments):
    """Explain a decision; print the sentences. `regretless explain` also has tables."""
    print(regretless(f"explain {arguments}", show=[]).split("\n\n")[0])


def show(drawing, name):
    """Save a figure as NAME.svg and return it, so a notebook shows it."""
    folder = Path(os.environ.get("GALLERY_FIGURES", FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    drawing.save(folder / f"{name}.svg")
    return drawing


def totals(summary, title):
    """Draw what every method cost (or gained), and the best in hindsight."""
    is_gain = summary["sense"] == "maximize"
    baselines = ("least squares", "mean of history", "last period", "seasonal naive")
    methods = sorted(summary["methods"], key=lambda one: one["total_cost"], reverse=is_gain)
    rows = [
        (one["name"], one["total_cost"], "gray" if one["name"].startswith(baselines) else "blue")
        for one in methods
    ]
    first = methods[0]
    best = first["total_cost"] + (1 if is_gain else -1) * first["total_regret"]
    word = "more is better" if is_gain else "less is better"
    return figure.bars(title, rows, summary["unit"], best, word)


def periods(method="least squares"):
    """Return the rows of periods.csv of a method."""
    with (FOLDER / "backtest" / "periods.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["method"] == method]


def widest(method):
    """Return the period in which a method and least squares differ most."""
    pairs = zip(periods(method), periods("least squares"))
    gaps = {one["period"]: abs(float(one["cost"]) - float(other["cost"])) for one, other in pairs}
    return max(gaps, key=gaps.get)


def decisions(period, method):
    """Return the columns that a method chose in a period, with their values."""
    with (FOLDER / "backtest" / "decisions.csv").open() as file:
        rows = csv.DictReader(file)
        found = [row for row in rows if row["period"] == str(period) and row["method"] == method]
    return {row["column"]: float(row["value"]) for row in found}
