"""Boosted trees by squared error, and fine-tuned for decisions: normalized regret on test rows.

    python bench/python_trees.py [--problem SP5x5] [--seeds 4] [--rows 1000] [--rounds 75 120]
                                 [--csv results.csv]

The reference is XGBoost with the number of rounds of squared error that has the smallest validation
regret. Fine-tuning selects its round by the regret on the same validation rows; "round" is that
round, and 0 is the base. The last line counts the fine-tuned models that are worse than their base
on the test rows.
"""

from __future__ import annotations

import argparse

import numpy as np
import xgboost

import regretless as rl
from regretless.trees import XGBOOST_MSE, CostSensitiveObjective


def regret(problem: rl.Problem, predictions: np.ndarray, costs: np.ndarray) -> float:
    """Return the normalized regret."""
    return rl.evaluate(
        problem, np.ascontiguousarray(predictions, dtype=np.float32), C=costs
    ).normalized_regret


def best_squared(problem: rl.Problem, train: tuple, validation: tuple) -> xgboost.Booster:
    """Train XGBoost by squared error; the validation regret selects the number of rounds."""
    settings = {
        "tree_method": "hist",
        "num_target": train[1].shape[1],
        "objective": "reg:squarederror",
        "nthread": 1,
        **XGBOOST_MSE,
    }
    long = xgboost.train(settings, xgboost.DMatrix(train[0], label=train[1]), 150)
    table = xgboost.DMatrix(validation[0])
    choices = range(25, 151, 25)
    regrets = [
        regret(problem, long.predict(table, iteration_range=(0, count)), validation[1])
        for count in choices
    ]
    return long[: choices[int(np.argmin(regrets))]]


def main() -> None:
    """Print one line per seed and the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problem", default="SP5x5")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument(
        "--rows",
        type=int,
        default=1000,
        help="training rows; 400 more are for validation and 600 for test",
    )
    parser.add_argument("--rounds", type=int, nargs=2, default=[75, 120])
    args = parser.parse_args()
    print(
        "| seed | XGBoost, rounds tuned | XGBoost, base | then MAE(O,S) | round "
        "| LightGBM, base | then MAE(O,S) | round |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    lines = []
    for seed in range(args.seeds):
        features, costs = rl.generate(args.problem, instances=args.rows + 1000, seed=seed)
        problem = rl.Problem(args.problem, seed=seed)
        ends = (0, args.rows, args.rows + 400, args.rows + 1000)
        train, validation, test = ((features[a:b], costs[a:b]) for a, b in zip(ends, ends[1:]))
        objective = CostSensitiveObjective(problem, train[1], "MAE(O,S)")
        line = [
            regret(
                problem,
                best_squared(problem, train, validation).predict(xgboost.DMatrix(test[0])),
                test[1],
            )
        ]
        for tune in (objective.fine_tune_xgboost, objective.fine_tune_lightgbm):
            model = tune(train[0], rounds=tuple(args.rounds), validation=validation)
            line += [
                regret(problem, each.predict(test[0]), test[1]) for each in (model.base, model)
            ] + [model.report.best_round]
        lines.append(line)
        print(shown(str(seed), line), flush=True)
    print(shown("mean", np.mean(lines, axis=0)))
    table = np.array(lines)
    worse = int((table[:, 2] > table[:, 1]).sum() + (table[:, 5] > table[:, 4]).sum())
    print(
        f"\nworse than their base on the test rows: {worse} of {2 * args.seeds} fine-tuned models"
    )


def shown(name: str, line: list[float]) -> str:
    """Format a line of the table."""
    return (
        f"| {name} | "
        + " | ".join(
            f"{value:.0f}" if place in (3, 6) else f"{value:.4f}"
            for place, value in enumerate(line)
        )
        + " |"
    )


if __name__ == "__main__":
    main()
