"""Boosted trees by squared error, and fine-tuned for decisions: normalized regret on test rows.

    python bench/python_trees.py [--case SP5x5,1000,4 ...] [--rounds 75 120]

A case is a problem, its training rows and the number of seeds; 400 more rows are for validation and
600 for test. Printed are means over the seeds, and how many fine-tuned models are worse than their
base on the test rows; the results of every seed go to standard error.

The reference is XGBoost with the number of rounds of squared error that has the smallest validation
regret. Fine-tuning selects its round by the regret on the same validation rows; "round" is that
round, and 0 is the base.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np
import xgboost

import regretless as rl
from regretless.trees import XGBOOST_MSE, CostSensitiveObjective

CASES = ["SP5x5,1000,4", "SP5x5,100,8", "KS32,300,4"]
VALIDATION_ROWS, TEST_ROWS = 400, 600


class SeedResult(NamedTuple):
    """Normalized regrets on the test rows, and the rounds that fine-tuning selected."""

    tuned: float
    xgboost_base: float
    xgboost_fine_tuned: float
    xgboost_round: int
    lightgbm_base: float
    lightgbm_fine_tuned: float
    lightgbm_round: int

    def worse_than_base(self) -> int:
        """Return how many of the two fine-tuned models are worse than their base."""
        return (self.xgboost_fine_tuned > self.xgboost_base) + (
            self.lightgbm_fine_tuned > self.lightgbm_base
        )


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


def measured(name: str, rows: int, seed: int, rounds: tuple[int, int]) -> SeedResult:
    """Train on one generated table; return the results on its test rows."""
    ends = (0, rows, rows + VALIDATION_ROWS, rows + VALIDATION_ROWS + TEST_ROWS)
    features, costs = rl.generate(name, instances=ends[-1], seed=seed)
    problem = rl.Problem(name, seed=seed)
    train, validation, test = ((features[a:b], costs[a:b]) for a, b in zip(ends, ends[1:]))
    tuned = best_squared(problem, train, validation).predict(xgboost.DMatrix(test[0]))
    results = [regret(problem, tuned, test[1])]
    objective = CostSensitiveObjective(problem, train[1], "MAE(O,S)")
    for tune in (objective.fine_tune_xgboost, objective.fine_tune_lightgbm):
        model = tune(train[0], rounds=rounds, validation=validation)
        results += [regret(problem, each.predict(test[0]), test[1]) for each in (model.base, model)]
        results.append(model.report.best_round)
    return SeedResult(*results)


def row_of_case(case: str, rounds: tuple[int, int]) -> str:
    """Train on the tables of a case; return its row of the table."""
    name, rows, seeds = (word.strip() for word in case.split(","))
    results = []
    for seed in range(int(seeds)):
        result = measured(name, int(rows), seed, rounds)
        shown = ", ".join(
            f"{field} {value:.4g}" for field, value in zip(SeedResult._fields, result)
        )
        print(f"{name}, {rows} rows, seed {seed}: {shown}", file=sys.stderr, flush=True)
        results.append(result)
    means = [
        float(np.mean([getattr(result, field) for result in results]))
        for field in SeedResult._fields
        if not field.endswith("round")
    ]
    worse = sum(result.worse_than_base() for result in results)
    cells = [*(f"{mean:.4f}" for mean in means), f"{worse} of {2 * len(results)}"]
    return f"| {name}, {rows}, {seeds} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--case", nargs="+", default=CASES, metavar="PROBLEM,ROWS,SEEDS", help="cases to run"
    )
    parser.add_argument(
        "--rounds", type=int, nargs=2, default=[75, 120], help="of the base, and of fine-tuning"
    )
    arguments = parser.parse_args()
    print(
        "| problem, training rows, seeds | XGBoost, tuned | XGBoost, base | fine-tuned "
        "| LightGBM, base | fine-tuned | worse than base |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for case in arguments.case:
        print(row_of_case(case, tuple(arguments.rounds)), flush=True)


if __name__ == "__main__":
    main()
