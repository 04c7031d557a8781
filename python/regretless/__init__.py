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

from regretless._core import CostSensitiveSpec, Solution, __version__
from regretless.losses.custom import OwnLoss, RefusedLossError, loss
from regretless.losses.loss import Loss
from regretless.results.explanation import Explanation
from regretless.results.reports import (
    CandidateReport,
    EpochReport,
    Evaluation,
    LabelCounts,
    RoundReport,
    SearchReport,
    SolveCounts,
    TrainingReport,
)
from regretless.results.sweep import SweepResult
from regretless.solving.labels import Labels, label
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Problem
from regretless.solving.solutions import Solutions
from regretless.solving.solver import Solver
from regretless.tables.references import column, columns
from regretless.training.backtest import BacktestResult, backtest
from regretless.training.benchmarks import generate
from regretless.training.check import check
from regretless.training.compare import ComparisonResult, compare
from regretless.training.custom_model import OwnModel
from regretless.training.evaluation import evaluate, regret
from regretless.training.fit import FitResult, fit
from regretless.training.model import Model
from regretless.training.options import FeatureOptions, TrainingOptions
from regretless.training.train import train

__all__ = [
    "BacktestResult",
    "CandidateReport",
    "ComparisonResult",
    "CostSensitiveSpec",
    "EpochReport",
    "Evaluation",
    "Explanation",
    "FeatureOptions",
    "FitResult",
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
    "SolveOptions",
    "Solver",
    "SweepResult",
    "TrainingOptions",
    "TrainingReport",
    "__version__",
    "backtest",
    "column",
    "columns",
    "compare",
    "evaluate",
    "fit",
    "generate",
    "check",
    "label",
    "loss",
    "regret",
    "train",
]
