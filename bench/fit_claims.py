"""How often `fit` claims an improvement: on tables of noise, and on tables with one to find.

    python bench/fit_claims.py [--tables 100] [--folder DIR]

Noise: 160 rows, 8 costs that no feature tells anything about, so nothing beats the mean of the
costs. Planted: 500 rows whose expected costs bend with a feature; deciding by them costs 10 % less
than deciding by the best linear predictor, as the script measures on fresh rows. Tables alternate
between rows with and without dates. Needs the installed package.
"""

import argparse
import datetime
import math
import tempfile
from pathlib import Path

import numpy as np

import regretless as rl

ITEMS, CHOSEN = 8, 2
FRESH_ROWS = 100_000
PLANTED_SAVING = 0.10


def wilson(count, total):
    """Return the 95 % interval of a share."""
    z, share = 1.96, count / total
    center = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2))
    return center - spread / (1 + z * z / total), center + spread / (1 + z * z / total)


def expected_costs(X, bend):
    """Return costs that are cheap where a feature is near the place of an item."""
    places = np.linspace(-1.5, 1.5, ITEMS)
    return 10.0 + bend * np.minimum(np.abs(X[:, :1] - places), 1.5)


def decided(scores, costs):
    """Return the mean cost of the items with the lowest scores."""
    chosen = np.argpartition(scores, CHOSEN, axis=1)[:, :CHOSEN]
    return np.take_along_axis(costs, chosen, axis=1).sum(axis=1).mean()


def saving_of(bend, rng):
    """Return what knowing the expected costs saves against the best linear predictor."""
    X = rng.normal(size=(FRESH_ROWS, 4))
    costs = expected_costs(X, bend)
    design = np.column_stack([np.ones(len(X)), X])
    linear = design @ np.linalg.lstsq(design, costs, rcond=None)[0]
    best = min(decided(linear, costs), decided(np.tile(costs.mean(0), (len(X), 1)), costs))
    return 1.0 - decided(costs, costs) / best


def planted_bend():
    """Return the bend with which the saving is the planted one, by bisection."""
    low, high = 0.0, 40.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if saving_of(middle, np.random.default_rng(0)) < PLANTED_SAVING:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def write_table(path, X, costs, has_dates):
    """Write a table of features and costs."""
    names = [f"x{i}" for i in range(X.shape[1])] + [f"c{i}" for i in range(ITEMS)]
    first = datetime.date(2024, 1, 1)
    with path.open("w") as file:
        file.write(",".join((["date"] if has_dates else []) + names) + "\n")
        for row, values in enumerate(np.column_stack([X, costs])):
            date = [str(first + datetime.timedelta(days=row))] if has_dates else []
            file.write(",".join(date + [f"{value:.5f}" for value in values]) + "\n")


def claims(kind, tables, folder, bend):
    """Count the tables on which a method is claimed to be better."""
    count = 0
    problem = rl.Problem.top_k(ITEMS, k=CHOSEN, sense="minimize")
    for table in range(tables):
        rng = np.random.default_rng([7, table, kind == "planted"])
        rows = 500 if kind == "planted" else 160
        X = rng.normal(size=(rows, 4))
        noise = rng.gamma(2.0, size=(rows, ITEMS)) - 2.0
        costs = (expected_costs(X, bend) if kind == "planted" else 10.0) + noise
        path = Path(folder) / f"{kind}{table}.csv"
        write_table(path, X, costs, has_dates=table % 2 == 0)
        result = rl.fit(problem, path, features="x*", budget=10.0)
        count += result.method.startswith("auto")
    return count


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    bend = planted_bend()
    saving = saving_of(bend, np.random.default_rng(1))
    print(f"planted: {100 * saving:.1f} % less cost than the best linear predictor")
    print("| tables of | tables | claims | share % | 95 % interval |")
    print("|---|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or temporary
        for kind in ("noise", "planted"):
            count = claims(kind, arguments.tables, folder, bend)
            low, high = (100 * end for end in wilson(count, arguments.tables))
            share = 100 * count / arguments.tables
            interval = f"{low:.1f} to {high:.1f}"
            cells = [kind, arguments.tables, count, f"{share:.0f}", interval]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
