"""Decision losses and decision layers for PyTorch.

:class:`DecisionLoss` is any loss of this package as a module: value and gradient are computed in
Rust in one pass, without a copy for CPU tensors. Optimal decisions are found once, when the module
is made, and addressed by row. :func:`cost_sensitive_loss` is the cost-sensitive family in torch
operations, for tensors on a GPU and for losses that are differentiated twice.
:class:`DecisionLayer` is the decision itself as a layer.

Examples
--------
>>> loss = DecisionLoss(problem, C, loss="SPO+")  # labels every row, once
>>> for features, rows in loader:
...     loss(mean + deviation * network(features), rows).backward()
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from regretless import Problem
from regretless._renamed import refuse_renamed
from regretless.losses.custom import OwnLoss
from regretless.tables.names import names_of
from regretless.tables.rows import LabeledRows
from regretless.torch._checks import check_tensor, differentiable_once, numpy_view
from regretless.torch._cost_sensitive import cost_sensitive_loss
from regretless.torch._layer import DecisionLayer, array_parameters

__all__ = ["DecisionLayer", "DecisionLoss", "cost_sensitive_loss"]

NO_SECOND_DERIVATIVE = (
    "DecisionLoss has no second derivative: leave out create_graph=True, or use "
    "regretless.torch.cost_sensitive_loss, which can be differentiated twice, if the loss is "
    "MSE or MAE with some of O, S, C or tau=t"
)


class DecisionLoss(nn.Module):
    """A loss of predicted costs for one problem.

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    C : array_like or DataFrame of shape (n, d), optional
        True costs; columns with names are matched to the problem's costs by name. Predictions are
        in the order of ``problem.cost_names``. Without it, rows are labeled as they are first used.
        Pass the rows for training alone: a solution pool starts with the labels of all of them.
    loss : str or custom loss, default "MAE(O,S)"
        A loss's name, or one made with :func:`regretless.loss`, as :class:`regretless.Loss` takes
        it. The gradient of a custom loss is checked as there.
    labels : regretless.Labels or array_like, optional
        Optimal decisions of the rows (:func:`regretless.label`); solved here by default.
    weights : array_like of shape (n,), optional
        One weight per row of ``C``, such as the instance costs of component C. Each loss is
        multiplied by the weight of its row; weights are not scaled, unlike those of
        :func:`regretless.train`, of which only ratios matter. If rows of equal costs have different
        weights, rows must be addressed by number.
    reduction : {"mean", "sum", "none"}, default "mean"
        How the losses of a batch of n rows are combined: "mean" is Σ w · loss / n, divided by the
        number of rows and not by the sum of the weights, "sum" is Σ w · loss, and "none" has
        w · loss for each row; without weights, w is 1. For the weighted mean of `train`, divide
        the weights by their mean over the training rows.
    parameters : mapping or DataFrame, optional
        Parameters of the rows of ``C`` that the problem reads
        (:attr:`regretless.Problem.parameters`).
    seed : int, default 0
        Seed of the noise of perturbed losses and of the draws of a cache.
    threads : int, optional
        Number of threads; all by default.
    rescale_loss : bool, default False
        Whether the loss is multiplied by the factor that :func:`regretless.train` uses. Gradients
        of losses with S or E shrink like d^-1.5 (MAE) or d^-2 (MSE) in d costs: use Adam, or True.

    Raises
    ------
    ValueError
        For an unknown reduction or loss, or weights that do not belong to the rows; for a custom
        loss whose gradient does not fit its values.

    Notes
    -----
    Predictions are costs in their unit: let a network predict mean + deviation · output. A warning
    says if the predictions of the first batch are far from its costs.

    Perturbed losses draw new noise in every epoch: call :meth:`begin_epoch`. Losses with a solution
    pool (``MAP``, ``SPO+ cache 5%``) have one pool for all rows, and add solutions to it in
    training mode only, as :func:`regretless.train` does.

    ``state_dict`` holds the epoch, the batch and the pool, so a loop that resumes from a checkpoint
    gets the same values. Copies (``copy.deepcopy``) have a pool of their own. A pickled module
    holds its table; rows that were solved when it was made are solved again.

    There is no second derivative: to differentiate a gradient made with ``create_graph=True``
    raises a ``RuntimeError``. :func:`cost_sensitive_loss` has one.

    Examples
    --------
    >>> loss = DecisionLoss(problem, C, loss="SPO+", labels=rl.label(problem, C))
    >>> loss(mean + deviation * network(features), rows).backward()
    """

    @refuse_renamed("DecisionLoss")
    def __init__(
        self,
        problem: Problem,
        C: Any = None,
        loss: str | OwnLoss = "MAE(O,S)",
        *,
        labels: Any = None,
        weights: Any = None,
        reduction: str = "mean",
        parameters: Any = None,
        seed: int = 0,
        threads: int | None = None,
        rescale_loss: bool = False,
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction is 'mean', 'sum' or 'none', not '{reduction}'")
        self.reduction = reduction
        self.epoch, self.batch = 0, 0
        # The predictions of the first batch are compared with its costs.
        self.has_started = False
        weights = numpy_view(weights) if isinstance(weights, Tensor) else weights
        parameters = array_parameters(parameters)
        self.rows = LabeledRows(
            problem,
            C,
            loss,
            labels=labels,
            weights=weights,
            parameters=parameters,
            seed=seed,
            threads=threads,
            rescale_loss=rescale_loss,
        )
        self.weights = None if weights is None else torch.from_numpy(self.rows.weights)

    def begin_epoch(self, epoch: int) -> None:
        """Set the number of the next epoch, which determines the noise and the cache decisions.

        Parameters
        ----------
        epoch : int
            Counted from 0. The same epoch draws the same noise whenever it is run.
        """
        self.epoch, self.batch = epoch, 0

    def get_extra_state(self) -> dict[str, Any]:
        """Return what a checkpoint holds: the epoch, the batch and the solution pool."""
        pool = _with_tensors(self.rows.pool_state())
        return {"epoch": self.epoch, "batch": self.batch, "pool": pool}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint.

        Parameters
        ----------
        state : dict
            From :meth:`get_extra_state`, of a module with the same problem, table and loss.
        """
        self.epoch, self.batch, self.has_started = state["epoch"], state["batch"], True
        self.rows.set_pool_state(_with_lists(state["pool"]))

    @refuse_renamed("DecisionLoss.forward")
    def forward(
        self, predictions: Tensor, C: Tensor, labels: Any = None, parameters: Any = None
    ) -> Tensor:
        """Return the loss of predicted costs.

        Parameters
        ----------
        predictions : Tensor of shape (n, d)
            Predicted costs, floating-point numbers.
        C : Tensor of shape (n,) or (n, d)
            Row numbers of the table of true costs (integers, fastest), or the true costs
            themselves. Rows that are not in the table are added to it.
        labels : array_like of shape (n, d), optional
            Optimal decisions of added rows; solved once by default.
        parameters : mapping or DataFrame, optional
            Parameters of the rows of the batch, if ``C`` are costs and the problem reads
            parameters. Row numbers have the parameters of their rows already.

        Returns
        -------
        Tensor
            A scalar, or one value per row for the reduction ``"none"``.

        Raises
        ------
        TypeError
            For predictions that are an array, or not floating-point numbers.
        ValueError
            For other shapes and row numbers that are not integers, and if costs in single precision
            belong to several different rows of a table in double precision.
        """
        check_tensor(predictions, "predictions")
        wanted = numpy_view(C) if names_of(C) is None else C
        rows = self.rows.find(wanted, labels, array_parameters(parameters))
        if self.training and not self.has_started:
            self.has_started = True
            self.rows.warn_about_start(numpy_view(predictions), rows)
        evaluate = partial(
            self.rows.evaluate,
            rows=rows,
            epoch=self.epoch,
            batch=self.batch,
            training=self.training,
        )
        self.batch += self.training
        if self.weights is None:
            return _LossFunction.apply(predictions, evaluate, self.reduction)
        weights = self.weights[torch.from_numpy(rows)].to(predictions)
        values = _LossFunction.apply(predictions, evaluate, "none") * weights
        if self.reduction == "mean":
            return values.mean()
        return values.sum() if self.reduction == "sum" else values


def _with_tensors(pool: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the state of a pool with its floats in tensors.

    Before 2.0, ``torch.load(..., weights_only=True)`` refuses a Python float.
    """
    if pool is None:
        return None
    values = [
        None if row is None else torch.tensor(row, dtype=torch.float64) for row in pool["values"]
    ]
    return {**pool, "values": values, "fixed": torch.tensor(pool["fixed"], dtype=torch.float64)}


def _with_lists(pool: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what :func:`_with_tensors` was given."""
    if pool is None:
        return None
    values = [None if row is None else row.tolist() for row in pool["values"]]
    return {**pool, "values": values, "fixed": pool["fixed"].tolist()}


class _LossFunction(torch.autograd.Function):
    """Losses per row, or their mean or sum; the gradient is computed in the forward pass."""

    @staticmethod
    def forward(
        ctx: Any, predictions: Tensor, evaluate: Callable[..., Any], reduction: str
    ) -> Tensor:
        values, gradients = evaluate(numpy_view(predictions))
        ctx.row_weight = 1.0 / len(values) if reduction == "mean" else 1.0
        ctx.save_for_backward(torch.from_numpy(gradients).to(predictions), predictions)
        if reduction == "none":
            return torch.from_numpy(values).to(predictions)
        return predictions.new_tensor(values.mean() if reduction == "mean" else values.sum())

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        gradients, predictions = ctx.saved_tensors
        factor = upstream.unsqueeze(1) if upstream.ndim else upstream * ctx.row_weight
        result = differentiable_once(gradients * factor, predictions, NO_SECOND_DERIVATIVE)
        return result, None, None
