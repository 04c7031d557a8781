"""Costs, and solvers in Python that keep state, for tests of problems solved by functions."""

import time

import numpy as np

import regretless as rl

COSTS = np.random.default_rng(0).uniform(1, 10, size=(60, 6)).astype(np.float32)
X = COSTS[:, :3].copy()


class Stateful:
    """A solver with state: costs are set, then solved for a while without the interpreter lock."""

    def __init__(self):
        self.costs = None
        self.inside = self.most = self.calls = 0

    def solve(self, costs):
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.calls += 1
        self.costs = costs
        time.sleep(0.0005)
        decision = np.zeros(len(costs))
        decision[np.argmin(self.costs)] = 1
        self.inside -= 1
        return decision


def problem_of(solver, **settings):
    return rl.Problem.from_solver(solver.solve, 6, sense="minimize", name="stateful", **settings)


def right(solutions, costs=COSTS):
    return (solutions.decisions.argmax(axis=1) == costs.argmin(axis=1)).all()


USES = {
    "solve_all": lambda p: right(p.solve_all(COSTS, threads=4)),
    "label": lambda p: right(rl.label(p, COSTS, threads=4)),
    "train": lambda p: rl.train(p, X, COSTS, "SPO+", epochs=2, threads=4) is not None,
    "train MAP": lambda p: rl.train(p, X, COSTS, "MAP", epochs=2, threads=4) is not None,
    "loss": lambda p: (rl.Loss(p, COSTS, "SPO+", threads=4).evaluate(COSTS)[0] < 1e-5).all(),
    "regret": lambda p: (rl.regret(p, COSTS, COSTS, threads=4) == 0).all(),
}


def cheapest(costs):
    time.sleep(0.0002)
    return np.arange(len(costs)) == np.argmin(costs)


SETTINGS = {"methods": ["MSE"], "epochs": 2}
USES_OF_LABELS = {
    "train": lambda p, X, C: rl.train(p, X, C, "MSE", epochs=2),
    "compare": lambda p, X, C: rl.compare(p, X, C, seeds=1, **SETTINGS),
    "backtest": lambda p, X, C: rl.backtest(p, X, C, time=np.arange(len(C)), **SETTINGS),
    "evaluate": lambda p, X, C: rl.evaluate(p, C, C=C),
    "regret": lambda p, X, C: rl.regret(p, C, C),
    "loss": lambda p, X, C: rl.Loss(p, C, "SPO+"),
}
