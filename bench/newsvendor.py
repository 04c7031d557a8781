"""Regret of methods on a newsvendor with a shared capacity, relative to MSE.

    python bench/newsvendor.py [--seeds 10] [--capacities 0.3 0.6 1.5]

Twenty products and five features; the capacity is a multiple of the mean training demand in units
of weight. Quantile regression has one quantile, margin / price, per product. Every method has a
linear predictor, 60 epochs and the epoch with the lowest validation regret.
"""

import argparse
import warnings

import numpy as np

import regretless as rl

PRODUCTS, FEATURES = 20, 5
SPLIT = (1000, 400, 600)


def instance(seed, tightness):
    """Return features, demands, the problem and the quantiles of one seed."""
    random = np.random.RandomState(seed)
    mixing = random.binomial(1, 0.5, (PRODUCTS, FEATURES))
    features = random.normal(size=(sum(SPLIT), FEATURES))
    noise = random.uniform(0.5, 1.5, (sum(SPLIT), PRODUCTS))
    base = (features @ mixing.T / np.sqrt(FEATURES) + 3) ** 4 + 1
    demand = 10 * base / 3.5**4 * noise
    price = random.uniform(4, 12, PRODUCTS)
    cost = price * random.uniform(0.2, 0.8, PRODUCTS)
    weight = random.uniform(1, 4, PRODUCTS)
    capacity = tightness * float(demand[: SPLIT[0]].mean(axis=0) @ weight)
    problem = rl.Problem.newsvendor(price - cost, cost, weights=weight, capacity=capacity)
    return features, demand, problem, (price - cost) / price


def regrets(seed, tightness):
    """Return the mean regret of every method on the test rows."""
    features, demand, problem, quantiles = instance(seed, tightness)
    taus = ":".join(f"{quantile:.6f}" for quantile in quantiles)
    methods = {name: name for name in ("MSE", "MAE", "MAE(D)", "MSE(D)")}
    found = {}
    for title, name in {**methods, "quantile": f"MAE(tau={taus})"}.items():
        settings = {"epochs": 60, "learning_rate": 0.01, "batch_size": 32, "seed": seed}
        _, report = rl.train(
            problem, features, demand, name, split=SPLIT, select="validation-regret", **settings
        )
        found[title] = report.test.regret
    return found


def main():
    """Print a table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--capacities", type=float, nargs="+", default=[0.3, 0.6, 1.5])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    titles = ["MAE", "quantile", "MAE(D)", "MSE(D)"]
    print("| capacity | " + " | ".join(titles) + " |")
    print("|--:|" + "--:|" * len(titles))
    for tightness in options.capacities:
        results = [regrets(seed, tightness) for seed in range(options.seeds)]
        ratios = [np.mean([found[title] / found["MSE"] for found in results]) for title in titles]
        print(f"| {tightness} | " + " | ".join(f"{ratio:.3f}" for ratio in ratios) + " |")


if __name__ == "__main__":
    main()
