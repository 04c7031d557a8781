"""Schedule tasks for tomorrow from forecasts of Irish electricity prices (energy-price challenge).

REGRETLESS_DATA is the folder of prices2013.dat or prices2013.dat.gz; ../shared/data/energy by
default.
"""

import gzip
import os
from pathlib import Path

import numpy as np

import regretless as rl

folder = Path(os.environ.get("REGRETLESS_DATA", "../shared/data/energy"))
files = [
    path for path in (folder / "prices2013.dat", folder / "prices2013.dat.gz") if path.exists()
]
if not files:
    print(f"skipped: no prices2013.dat in {folder}; set REGRETLESS_DATA to its folder")
    raise SystemExit(0)

# Half-hours with eight features and the price of electricity: 120 days without missing values.
opened = gzip.open(files[0], "rt") if files[0].suffix == ".gz" else files[0].open()
with opened:
    words = [line.split() for line in opened if line.strip()]
numbers = np.array(
    [
        [float("nan") if word == "NaN" else float(word) for word in line[-16:]]
        for line in words
        if line[-1] != "SMPEP2"
    ]
)
days = numbers[: len(numbers) // 48 * 48].reshape(-1, 48, 16)
days = days[~np.isnan(days).any(axis=(1, 2))][:120]
X, C = days[:, :, [0, 1, 2, 4, 7, 8, 9, 12]], days[:, :, 15]

tasks = [
    {"duration": 6, "earliest": 0, "latest": 30, "power": 40.0, "uses": [1.0]},
    {"duration": 4, "earliest": 12, "latest": 44, "power": 75.0, "uses": [1.0]},
    {"duration": 8, "earliest": 8, "latest": 48, "power": 20.0, "uses": [1.0]},
]
problem = rl.Problem({"kind": "schedule", "minutes": 30.0, "machines": [[1.0]], "tasks": tasks})

train, test = np.arange(80), np.arange(80, 120)
labels = rl.label(problem, C)
# Prices are high in the same hours every day, so that MSE is hard to beat here: compare first.
for method in ("MSE", "MAE(O)"):
    model, _ = rl.train(
        problem,
        X,
        C,
        method=method,
        labels=labels,
        split=(train[:60], train[60:]),
        seed=0,
        epochs=10,
    )
    regret = model.evaluate(X[test], C[test], problem=problem).normalized_regret
    print(f"{method}: schedules cost {regret:.1%} more than with known prices")

plan = model.decide(X[test[:1]], problem=problem).decisions[0]
print("energy per half-hour of the first test day:", plan.round(1).tolist())
