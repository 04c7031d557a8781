"""regretless trains predictors for the decisions they lead to.

    import regretless as rl

    problem = rl.Problem("KS32")
    X, C = rl.generate("KS32", rows=1000)
    model, report = rl.train(problem, X, C, loss="MAE(O,S)")
    decisions = model.decide(X[:5]).decisions

Costs come in and go out in the user's sense: those of a problem that maximises are what is earned. Everything runs on
several threads, gives the same bytes for any number of them, and stops at Ctrl-C.
"""

from regretless._core import (
    Labels,
    Loss,
    Model,
    Problem,
    Solution,
    Solutions,
    Solver,
    __version__,
    evaluate,
    generate,
    label,
    regret,
    train,
)

from regretless import problems as problems  # attaches Problem.from_gurobipy and its siblings

__all__ = [
    "Labels",
    "Loss",
    "Model",
    "Problem",
    "Solution",
    "Solutions",
    "Solver",
    "__version__",
    "evaluate",
    "generate",
    "label",
    "regret",
    "train",
]
