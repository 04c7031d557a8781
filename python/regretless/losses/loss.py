"""Losses on a table of true costs, with their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless._core import _FeatureSettings, _Loss
from regretless._renamed import refuse_renamed
from regretless.losses.custom import OwnLoss, as_method
from regretless.solving.labels import Labels
from regretless.solving.problem import Problem
from regretless.tables.columns import row_count, training_features
from regretless.tables.names import plain_table
from regretless.tables.numbers import row_array
from regretless.tables.parameters import plain_parameters

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Loss"]


class Loss(_Loss):
    """A loss of predicted costs on a table of true costs, with its gradient.

    Parameters
    ----------
    problem : Problem
        The problem.
    C : array_like or DataFrame of shape (n, d)
        True costs.
    loss : str or custom loss
        A name that `train` takes for one stage, such as "MAE(O,S)", "SPO+", "PFYL(samples=4)",
        "SPO+ relax" or "MAP cache 5%", or a loss made with `loss`.
    labels : Labels, optional
        Optimal decisions of the rows; solved here by default.
    parameters : mapping or DataFrame, optional
        Parameters of the rows, as in `Problem.solve_all`.
    seed : int, default 0
        Seed of the noise of perturbed losses and of the draws of a cache.
    threads : int, optional
        Number of threads; all by default.
    progress : bool, default False
        Whether to show a progress bar while rows are solved.
    pool_from : Loss, optional
        Another loss of the same name and problem, whose solution pool is shared. The labels of `C`
        join it in the first training step.
    rescale_loss : bool, default False
        Whether values and gradients are multiplied by the factor that `train` uses. Gradients of
        losses with S or E shrink like d^-1.5 (MAE) or d^-2 (MSE) in d costs: use Adam, or True.

    Raises
    ------
    ValueError
        For an unknown name, several stages ("then"), components that weight instances by the
        regret of a trained baseline (C, W, IC, EIC), which only `train` has, or a loss that needs
        more of the problem than it has, such as CaVE for a Python function; for a custom loss whose
        gradient does not fit its values.

    Notes
    -----
    The gradient of a custom loss is compared with differences of values on the first rows, as in
    `train`, unless the loss has `check_gradient=False`.

    Losses that use a solution pool (MAP, NCE, LTR) or a cache ("cache 5%") start with the labels of
    all rows of `C` as pool: pass the rows for training alone. The pool grows only by
    `evaluate(..., training=True)`.

    Values are computed in float64 from `C` as given; if the predictions are float32, the true costs
    are rounded to float32 too.

    Examples
    --------
    >>> loss = rl.Loss(problem, C, "SPO+")
    >>> values, gradients = loss.evaluate(predictions)
    """

    __module__ = "regretless"
    __slots__ = ()

    @refuse_renamed("Loss")
    def __new__(
        cls,
        problem: Problem,
        C: Any,
        loss: str | OwnLoss,
        *,
        labels: Labels | None = None,
        parameters: Any = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = False,
        pool_from: Loss | None = None,
        rescale_loss: bool = False,
    ) -> Self:
        """Label the rows and build the loss."""
        method = as_method(loss)
        costs = plain_table(C, "C")
        given = plain_parameters(problem, parameters, row_count(costs), C, "C")
        return _Loss.__new__(
            cls,
            problem,
            costs,
            method,
            labels,
            given,
            seed,
            threads,
            progress,
            pool_from,
            rescale_loss,
        )

    def evaluate(
        self,
        predictions: Any,
        rows: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        epoch: int = 0,
        batch: int = 0,
        training: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.floating]]:
        """Return the loss of each row of predictions and its gradient.

        Parameters
        ----------
        predictions : array_like of shape (n, d)
            Predicted costs. Columns with names must be in the order of the problem's costs, or of
            `C` if those have no names: the gradient belongs to the columns as given.
        rows : sequence of int, optional
            Rows of `C` that the predictions belong to; all rows in order by default.
        epoch : int, default 0
            Perturbed losses draw new noise in every epoch.
        batch : int, default 0
            With a cache, a new cache decision in every batch of an epoch.
        training : bool, default False
            Whether this is a training step. Losses with a solution pool then first solve for the
            predictions (with a cache, according to the cache decision) and add the solutions to the
            pool, as `train` does; solutions of a loss with a cache are added afterwards. Otherwise
            the pool does not change, and losses with a cache use only the pool.

        Returns
        -------
        values : ndarray of shape (n,)
            Losses, float64.
        gradients : ndarray of shape (n, d)
            Gradients with respect to the predicted costs, in the precision of the predictions.

        Raises
        ------
        ValueError
            For rows that do not exist or have no label, predictions that are not finite, and
            columns in another order.
        """
        table = plain_table(predictions, "predictions")
        if rows is not None and type(rows) is not np.ndarray:
            rows = row_array(rows, "rows")
        return self._evaluate_rows(table, rows, epoch, batch, training)

    def _evaluate_decisions(
        self,
        predictions: Any,
        rows: Sequence[int],
        *,
        leaves_out: bool = False,
        are_test_rows: bool = False,
    ) -> dict[str, Any]:
        """Evaluate the decisions that follow from predictions; fields of `Evaluation`.

        Where `leaves_out` is true, costs whose prediction is NaN have none. Where `are_test_rows`
        is, notes about the regret are raised.
        """
        table = plain_table(predictions, "predictions")
        return self._evaluate_predictions(table, rows, leaves_out, are_test_rows)

    def _raise_notes(
        self,
        features: Any,
        names: list[str] | None,
        split: Sequence[Sequence[int]],
        times: list[str] | None,
    ) -> None:
        """Raise the notes about the table and this loss, before a custom predictor is trained."""
        settings = _FeatureSettings([], [], [], [], "impute")
        self._raise_table_notes(training_features(features, settings), names, split, times)
