"""Boosted trees by squared error, and the same fine-tuned for decisions: normalised regret on rows never seen.

    python bench/python_trees.py [--problem SP5x5] [--seeds 4] [--rounds 75 120]

The yardstick is XGBoost with as many rounds of squared error as validation regret likes best, and LightGBM likewise tuned.
"""

from __future__ import annotations

import argparse

import numpy as np
import xgboost

import regretless as rl
from regretless.trees import XGBOOST_MSE, CosObjective


def regret(problem: rl.Problem, predictions: np.ndarray, costs: np.ndarray) -> float:
    """Normalised regret."""
    return rl.evaluate(problem, np.ascontiguousarray(predictions, dtype=np.float32), C=costs)["normalised_regret"]


def squared(features: np.ndarray, costs: np.ndarray, rounds: int) -> xgboost.Booster:
    """XGBoost by squared error."""
    settings = {"tree_method": "hist", "num_target": costs.shape[1], "objective": "reg:squarederror", **XGBOOST_MSE}
    return xgboost.train(settings, xgboost.DMatrix(features, label=costs), rounds)


def best_squared(problem: rl.Problem, train: tuple, validation: tuple) -> xgboost.Booster:
    """The number of rounds that validation regret likes best."""
    long = squared(*train, 150)
    table = xgboost.DMatrix(validation[0])
    choices = range(25, 151, 25)
    worth = [regret(problem, long.predict(table, iteration_range=(0, count)), validation[1]) for count in choices]
    return long[: choices[int(np.argmin(worth))]]


def main() -> None:
    """Prints one line per seed and the means."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--problem", default="SP5x5")
    words.add_argument("--seeds", type=int, default=4)
    words.add_argument("--rounds", type=int, nargs=2, default=[75, 120])
    told = words.parse_args()
    print("| seed | XGBoost, first rounds | XGBoost, rounds tuned | XGBoost then MAE(O,S) | LightGBM then MAE(O,S) |\n|---|---:|---:|---:|---:|")
    lines = []
    for seed in range(told.seeds):
        features, costs = rl.generate(told.problem, rows=2000, seed=seed)
        problem = rl.Problem(told.problem, seed=seed)
        train, validation, test = (slice(0, 1000), slice(1000, 1400), slice(1400, 2000))
        objective = CosObjective(problem, costs[train], "MAE(O,S)")
        rest = xgboost.DMatrix(features[test])
        models = [
            squared(features[train], costs[train], told.rounds[0]).predict(rest),
            best_squared(problem, (features[train], costs[train]), (features[validation], costs[validation])).predict(rest),
            objective.fine_tune_xgboost(features[train], rounds=tuple(told.rounds)).predict(features[test]),
            objective.fine_tune_lightgbm(features[train], rounds=tuple(told.rounds)).predict(features[test]),
        ]
        lines.append([regret(problem, predictions, costs[test]) for predictions in models])
        print(f"| {seed} | " + " | ".join(f"{value:.4f}" for value in lines[-1]) + " |", flush=True)
    print("| mean | " + " | ".join(f"{value:.4f}" for value in np.mean(lines, axis=0)) + " |")


if __name__ == "__main__":
    main()
