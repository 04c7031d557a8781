"""Decision losses and decision layers for PyTorch.

:class:`DecisionLoss` is any loss of this package as a module: value and gradient come from Rust in one pass, CPU tensors
are read where they lie. Best decisions are found once, when the module is made, and addressed by row::

    loss = DecisionLoss(problem, "SPO+", costs)          # labels every row, once
    for features, rows in loader:
        loss(model(features), rows).backward()

:func:`cos_loss_torch` is the cost-sensitive family in plain torch operations, for tensors on a GPU and for losses that
must be differentiated twice. :class:`DecisionLayer` is the decision itself as a layer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regretless import Problem
from regretless._names import names_of
from regretless._rows import LabelledRows
from regretless._torch_cos import CosName, cos_loss_torch
from regretless._torch_layer import DecisionLayer

__all__ = ["CosName", "DecisionLayer", "DecisionLoss", "cos_loss_torch"]


class DecisionLoss(nn.Module):
    """A loss by the name the command line takes, for one problem.

    ``costs`` is the table of true costs, in the user's sense; a DataFrame is matched to the problem's costs by name, and
    predictions are in the order of ``problem.cost_names``. ``labels`` are its best decisions if they are known
    (:func:`regretless.label`), else they are found here. ``weights`` are one number per row of ``costs`` (instance costs
    of the component C, say), an array of shape (n,); where rows of equal costs have different weights, row numbers are
    needed. ``reduction`` is ``"mean"``, ``"sum"`` or ``"none"``.

    Perturbed losses draw other noise in every epoch: call :meth:`begin_epoch`. Methods that keep decisions (``MAP``, ``SPO+ cache
    5%``) have one pool for all rows, and solve for new ones in training mode only, as ``train`` does.
    """

    def __init__(
        self,
        problem: Problem,
        loss: str = "MAE(O,S)",
        costs: Any = None,
        *,
        labels: Any = None,
        weights: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction is 'mean', 'sum' or 'none', not '{reduction}'")
        self.reduction = reduction
        self.epoch, self.batch = 0, 0
        weights = numpy_view(weights) if isinstance(weights, Tensor) else weights
        self.rows = LabelledRows(problem, loss, costs, labels, weights)
        self.weights = None if weights is None else torch.from_numpy(self.rows.weights)

    def begin_epoch(self, epoch: int) -> None:
        """Says which epoch follows: the same noise and the same coins whenever it is run."""
        self.epoch, self.batch = epoch, 0

    def forward(self, predictions: Tensor, costs_true: Tensor, labels: Any = None) -> Tensor:
        """The loss of predicted costs, one row per instance.

        ``costs_true`` is a vector of row numbers of the table (fastest), or the true costs themselves: rows that are not
        in the table join it, with their best decisions from ``labels`` or solved, once. Costs in single precision that are
        those of several different rows of a table in double precision are refused.
        """
        wanted = numpy_view(costs_true) if names_of(costs_true) is None else costs_true
        rows = self.rows.find(wanted, labels)
        evaluate = partial(
            self.rows.evaluate,
            rows=rows,
            epoch=self.epoch,
            batch=self.batch,
            training=self.training,
        )
        self.batch += self.training
        if self.weights is None:
            return _Evaluated.apply(predictions, evaluate, self.reduction)
        values = _Evaluated.apply(predictions, evaluate, "none") * self.weights[
            torch.from_numpy(rows)
        ].to(predictions)
        if self.reduction == "mean":
            return values.mean()
        return values.sum() if self.reduction == "sum" else values


class _Evaluated(torch.autograd.Function):
    """Values per row, or their mean or sum; the gradient was computed with them."""

    @staticmethod
    def forward(
        ctx: Any, predictions: Tensor, evaluate: Callable[..., Any], reduction: str
    ) -> Tensor:
        values, gradients = evaluate(numpy_view(predictions))
        ctx.share = 1.0 / len(values) if reduction == "mean" else 1.0
        ctx.save_for_backward(torch.from_numpy(gradients).to(predictions))
        if reduction == "none":
            return torch.from_numpy(values).to(predictions)
        return predictions.new_tensor(values.mean() if reduction == "mean" else values.sum())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradients,) = ctx.saved_tensors
        factor = upstream.unsqueeze(1) if upstream.ndim else upstream * ctx.share
        return gradients * factor, None, None


def numpy_view(values: Any) -> np.ndarray:
    """The numbers of a tensor (no copy if they lie in rows on the CPU) or of anything else that numpy takes."""
    if isinstance(values, Tensor):
        values = values.detach().cpu().contiguous()
        values = (
            values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
        ).numpy()
    return np.asarray(values)
