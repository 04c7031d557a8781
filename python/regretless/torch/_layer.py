"""The optimal decision as a differentiable layer.

The true derivative of a decision is zero almost everywhere. The layer uses an estimate instead:

* ``DBB`` (Pogančić, Paulus, Musil, Martius and Rolínek, 2020): the slope between the decision and
  the one under costs moved by λ along the gradient.
* ``NID`` (Sahoo, Paulus, Vlastelica, Musil, Kuleshov and Martius, 2023): minus the identity.
* ``DPO`` (Berthet, Blondel, Teboul, Cuturi, Vert and Bach, 2020): the mean decision under normal
  noise, differentiated by the score function with the mean of the other samples as baseline.

For regret alone, SPO+ or the cost-sensitive family train better; the layer is for objectives of a
decision that are more than its cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regretless import Problem
from regretless._renamed import refuse_renamed
from regretless.tables.parameters import as_arrays
from regretless.torch._checks import check_rows, differentiable_once, numpy_view

NO_SECOND_DERIVATIVE = (
    "the estimated derivative of a decision cannot be differentiated again: leave out "
    "create_graph=True, or use gradient='NID', whose estimate is linear"
)


class DecisionLayer(nn.Module):
    """A layer from predicted costs (n, d) to decisions (n, d).

    Parameters
    ----------
    problem : regretless.Problem
        The problem.
    gradient : {"DBB", "NID", "DPO"}, default "DBB"
        How the derivative is estimated; see the module's documentation.
    width : float, optional
        λ of DBB (10 by default) or σ of DPO (1 by default), above 0.
    samples : int, default 10
        Noise samples of DPO per instance, at least 1.
    seed : int, default 0
        Seed of the noise, which is new in every call.

    Raises
    ------
    ValueError
        For an unknown gradient, or a width or number of samples that is not positive.

    Notes
    -----
    The estimates of DBB and DPO have no derivative of their own: to differentiate a gradient made
    with ``create_graph=True`` raises a ``RuntimeError``. That of NID is linear.

    Costs in half precision (float16, bfloat16, as under ``torch.autocast``) are decided by as they
    are, with three or two digits, so ties are common: pass ``costs.float()`` if the network
    computed them in single precision. Decisions have the type of the costs.

    Examples
    --------
    >>> decisions = DecisionLayer(problem, gradient="DPO", width=0.5)(network(features))
    """

    @refuse_renamed("DecisionLayer")
    def __init__(
        self,
        problem: Problem,
        gradient: str = "DBB",
        *,
        width: float | None = None,
        samples: int = 10,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if gradient not in ("DBB", "NID", "DPO"):
            raise ValueError(f"gradient is 'DBB', 'NID' or 'DPO', not '{gradient}'")
        if width is not None and not 0.0 < width < math.inf:
            raise ValueError(f"width is a finite number above 0, not {width}")
        if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 1:
            raise ValueError(f"samples is an integer of at least 1, not {samples!r}")
        if problem._predicts_quantities:
            raise ValueError(
                "a DecisionLayer differentiates decisions by costs, and the problem predicts "
                "quantities: use DecisionLoss with MAE(D)"
            )
        self.problem, self.gradient, self.samples = problem, gradient, int(samples)
        self.width = width if width is not None else (10.0 if gradient == "DBB" else 1.0)
        self.sign = 1.0 if problem.sense == "minimize" else -1.0
        self.generator = torch.Generator().manual_seed(seed)

    def forward(self, costs: Tensor, parameters: Any = None) -> Tensor:
        """Return the decisions of predicted costs; for DPO the mean of several.

        Parameters
        ----------
        costs : Tensor of shape (n, d)
            Predicted costs.
        parameters : mapping or DataFrame, optional
            Parameters of the rows of the batch that the problem reads; arrays or tensors.

        Returns
        -------
        Tensor of shape (n, d)

        Raises
        ------
        TypeError
            For costs that are an array, or not floating-point numbers.
        ValueError
            For costs that are not rows and columns, or not as many as the problem has.
        """
        functions: dict[str, type[torch.autograd.Function]] = {
            "DBB": _Interpolation,
            "NID": _NegativeIdentity,
            "DPO": _Perturbation,
        }
        check_rows(costs, "costs")
        return functions[self.gradient].apply(costs, self, array_parameters(parameters))

    def decide(self, costs: Tensor, parameters: Any = None) -> Tensor:
        """Return the optimal decision of each row, without a gradient.

        Parameters
        ----------
        costs : Tensor of shape (n, d)
            Predicted costs.
        parameters : mapping or DataFrame, optional
            Parameters of the rows, as in :meth:`forward`.

        Returns
        -------
        Tensor of shape (n, d)
        """
        check_rows(costs, "costs")
        solved = self.problem.solve_all(numpy_view(costs), parameters=array_parameters(parameters))
        return torch.from_numpy(solved.decisions).to(costs)


def array_parameters(parameters: Any) -> Any:
    """Return row parameters whose tensors are arrays."""
    if not isinstance(parameters, Mapping):
        return parameters
    return {
        name: entries.detach().cpu().numpy() if isinstance(entries, Tensor) else entries
        for name, entries in parameters.items()
    }


class _Interpolation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, costs: Tensor, layer: DecisionLayer, parameters: Any) -> Tensor:
        decisions = layer.decide(costs, parameters)
        ctx.layer, ctx.parameters = layer, parameters
        ctx.save_for_backward(costs, decisions)
        return decisions

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        costs, decisions = ctx.saved_tensors
        sign, width = ctx.layer.sign, ctx.layer.width
        with torch.no_grad():
            moved = ctx.layer.decide(costs + sign * width * upstream, ctx.parameters)
            slope = sign * (moved - decisions) / width
        return differentiable_once(slope, costs, NO_SECOND_DERIVATIVE), None, None


class _NegativeIdentity(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, costs: Tensor, layer: DecisionLayer, parameters: Any) -> Tensor:
        ctx.sign = layer.sign
        return layer.decide(costs, parameters)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        return -ctx.sign * upstream, None, None


class _Perturbation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, costs: Tensor, layer: DecisionLayer, parameters: Any) -> Tensor:
        shape = (layer.samples, *costs.shape)
        noise = torch.randn(shape, generator=layer.generator, dtype=costs.dtype).to(costs.device)
        samples = (costs + layer.width * noise).reshape(-1, costs.shape[1])
        # All rows of a sample, then those of the next one.
        repeated = as_arrays(parameters)
        if repeated is not None:
            repeated = {
                name: np.concatenate([entries] * layer.samples)
                for name, entries in repeated.items()
            }
        decisions = layer.decide(samples, repeated).reshape(shape)
        ctx.width = layer.width
        ctx.save_for_backward(costs, noise, decisions)
        return decisions.mean(dim=0)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        costs, noise, decisions = ctx.saved_tensors
        count = len(noise)
        with torch.no_grad():
            scores = (decisions * upstream).sum(dim=2, keepdim=True)
            baseline = torch.zeros_like(scores)
            if count > 1:
                baseline = (scores.sum(dim=0) - scores) / (count - 1)
            slope = (noise * (scores - baseline)).sum(dim=0) / (count * ctx.width)
        return differentiable_once(slope, costs, NO_SECOND_DERIVATIVE), None, None
