"""A backtest of 100 refits on 789 days of Irish electricity prices: its time and its verdict.

    python bench/backtest_energy.py [--program regretless] [--threads 2] [--folder FOLDER]

Every day, half hours are chosen in which energy is sold: a knapsack of 48 items. Weights (3, 5 or
7) and values, the price of a half hour times its weight with noise, are those of
`testdata/energy/knapsack48_values.csv.gz`; the capacity is 60 of 240. Each half hour has the
forecasts of `testdata/energy/prices2013.dat.gz` as features and the weight of its item.
Trained on the latest 389 days, refitted every 4 days, 400 days are decided: 100 trainings of each
method, 50 epochs. The times, of labels too, are printed as CSV, the verdict on standard error.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "testdata" / "energy"
HALF_HOURS = 48
CAPACITY = 60
METHODS = "MSE;MAE(O,S);MSE(C,O,S);SPO+"
# Columns of prices2013.dat that are known the day before, by position after the date.
FEATURES = {
    "holiday": 1,
    "weekday": 2,
    "week": 3,
    "period": 7,
    "wind": 8,
    "load": 9,
    "price": 10,
    "co2": 13,
}


def half_hours() -> list[tuple[str, list[str]]]:
    """Return date and features of every half hour, in order of time."""
    rows = []
    with gzip.open(DATA / "prices2013.dat.gz", "rt") as file:
        next(file)
        for line in file:
            when, *cells = shlex.split(line)
            day, month, year = (int(part) for part in when.split()[1].split("/"))
            date = f"{year}-{month:02}-{day:02}"
            rows.append((date, [cells[position] for position in FEATURES.values()]))
    return rows


def write_table(folder: Path) -> None:
    """Write the long table and the problem."""
    with gzip.open(DATA / "knapsack48_values.csv.gz", "rt") as file:
        (_, *weights), *days = csv.reader(file)
    rows = half_hours()
    with (folder / "table.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["date", "half_hour", "weight", *FEATURES, "value"])
        for day, (_, *values) in enumerate(days):
            for item, value in enumerate(values):
                date, features = rows[day * HALF_HOURS + item]
                table.writerow([date, f"h{item:02}", weights[item], *features, value])
    (folder / "problem.toml").write_text(
        f'kind = "knapsack"\nweights = [[{", ".join(weights)}]]\ncapacity = [{CAPACITY}]\n'
    )


def main() -> None:
    """Write the table, run the backtest, and print its time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="regretless")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--folder", type=Path, help="where table and results are kept")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder)
    command = [
        *(arguments.program, "backtest", "--data", "table.csv", "--instance-column", "date"),
        *("--item-column", "half_hour", "--cost-column", "value", "--problem", "problem.toml"),
        *("--time", "date", "--methods", METHODS, "--window", "389", "--step", "4"),
        *("--season", "7", "--unit", "EUR", "--epochs", "50", "--threads", arguments.threads),
        *("--out", "result", "--force", "--quiet"),
    ]
    begun = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
    wall = time.monotonic() - begun
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("threads,seconds,CPU seconds")
    print(f"{arguments.threads},{wall:.1f},{usage.ru_utime + usage.ru_stime:.1f}")


if __name__ == "__main__":
    main()
