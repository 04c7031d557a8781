"""Results of the fine-tuning of boosted trees."""

from __future__ import annotations

from dataclasses import dataclass

from regretless.results.reports import Result

__all__ = ["FineTuningReport", "FineTuningRound"]


@dataclass(frozen=True)
class FineTuningRound(Result):
    """Validation regret after one boosting round; round 0 is the base model.

    Attributes
    ----------
    round : int
        Number of the round.
    regret : float
        Mean regret on the validation rows.
    normalized_regret : float
        Sum of regrets divided by the sum of the absolute optimal objectives.
    """

    round: int
    regret: float
    normalized_regret: float


@dataclass(frozen=True, repr=False)
class FineTuningReport(Result):
    """What happened during the fine-tuning of boosted trees.

    Attributes
    ----------
    library : str
        ``"xgboost"`` or ``"lightgbm"``.
    loss : str
        Name of the loss.
    seed : int
        Seed of the split and of the trees.
    best_round : int
        The round of the model; 0 is the base model.
    rounds : int
        Rounds that were run.
    stopped : str
        Why no more were run.
    base_regret, best_regret : float
        Mean validation regret of the base model and of the result.
    training_rows, validation_rows : int
        Rows for training, and rows that selected the round.
    """

    library: str
    loss: str
    seed: int
    best_round: int
    rounds: int
    stopped: str
    base_regret: float
    best_regret: float
    training_rows: int
    validation_rows: int

    def __repr__(self) -> str:
        return (
            f"<FineTuningReport {self.library}: round {self.best_round} of {self.rounds}, "
            f"validation regret {self.best_regret:.6g} (base {self.base_regret:.6g})>"
        )
