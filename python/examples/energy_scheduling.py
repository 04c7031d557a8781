"""Schedule tasks for tomorrow from forecasts of Irish electricity prices (energy-price challenge).

The prices are in ``testdata/energy`` of the repository.
"""

import gzip
from pathlib import Path

import numpy as np

import regretless as rl

PRICES = Path(__file__).parents[2] / "testdata" / "energy" / "prices2013.dat.gz"

# Half-hours with eight features and the price of electricity: 120 days without missing values.
with gzip.open(PRICES, "rt") as file:
    words = [line.split() for line in file if line.strip()]
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
# Prices are high in the same hours every day, so MSE is hard to beat here: compare first.
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
