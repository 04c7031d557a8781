"""Decision-focused learning: train predictors for the decisions that follow from them.

Costs and decisions have the objective sense of the user's problem: the costs of a maximization are
gains. All functions run on several threads, return the same results for any number of threads, and
stop at Ctrl-C.

Examples
--------
>>> import regretless as rl
>>> problem = rl.Problem("KS32")
>>> X, C = rl.generate("KS32", instances=1000)
>>> model, report = rl.train(problem, X, C, method="MAE(O,S)")
>>> decisions = model.decide(X[:5]).decisions
"""

from regretless._core import (
    CostSensitiveSpec,
    Labels,
    Loss,
    Model,
    Problem,
    Solution,
    Solutions,
    Solver,
    __version__,
    check,
    evaluate,
    generate,
    label,
    regret,
    train,
)
from regretless.losses.custom import OwnLoss, RefusedLossError, loss
from regretless.results.explanation import Explanation
from regretless.results.reports import (
    CandidateReport,
    EpochReport,
    Evaluation,
    LabelCounts,
    RoundReport,
    SearchReport,
    SolveCounts,
    SweepResult,
    TrainingReport,
)
from regretless.tables.parameters import column, columns
from regretless.training.backtest import BacktestResult, backtest
from regretless.training.compare import ComparisonResult, compare
from regretless.training.custom_predictor import OwnModel

__all__ = [
    "BacktestResult",
    "CandidateReport",
    "ComparisonResult",
    "CostSensitiveSpec",
    "EpochReport",
    "Evaluation",
    "Explanation",
    "LabelCounts",
    "Labels",
    "Loss",
    "Model",
    "OwnLoss",
    "OwnModel",
    "Problem",
    "RefusedLossError",
    "RoundReport",
    "SearchReport",
    "Solution",
    "Solutions",
    "SolveCounts",
    "Solver",
    "SweepResult",
    "TrainingReport",
    "__version__",
    "backtest",
    "column",
    "columns",
    "compare",
    "evaluate",
    "generate",
    "check",
    "label",
    "loss",
    "regret",
    "train",
]
