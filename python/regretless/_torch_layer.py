"""The best decision as a layer, with a stand-in for its derivative, which is 0 almost everywhere.

``DBB`` (Pogančić, Paulus, Musil, Martius and Rolínek, 2020): slope between the decision and the one under costs moved
by λ along the gradient. ``NID`` (Sahoo, Paulus, Vlastelica, Musil, Kuleshov and Martius, 2023): minus the
identity. ``DPO`` (Berthet, Blondel, Teboul, Cuturi, Vert and Bach, 2020): mean decision under normal noise, differentiated by the
score of the noise with the mean of the other samples as baseline.

For regret alone, SPO+ or the cost-sensitive family train better; a layer is for judgements of a decision that are more than
its cost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regretless import Problem


class DecisionLayer(nn.Module):
    """Predicted costs (n, d) in, decisions (n, d) out.

    ``method`` is ``"DBB"`` (``width`` is its λ, above 0), ``"NID"`` or ``"DPO"`` (``width`` is its σ, above 0, ``samples`` decisions per
    instance, at least 1, noise drawn from ``seed``, anew in every call).
    """

    def __init__(
        self,
        problem: Problem,
        method: str = "DBB",
        *,
        width: float | None = None,
        samples: int = 10,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if method not in ("DBB", "NID", "DPO"):
            raise ValueError(f"method is 'DBB', 'NID' or 'DPO', not '{method}'")
        if width is not None and not 0.0 < width < math.inf:
            raise ValueError(f"width is a finite number above 0, not {width}")
        if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 1:
            raise ValueError(f"samples is a whole number of at least 1, not {samples!r}")
        self.problem, self.method, self.samples = problem, method, int(samples)
        self.width = width if width is not None else (10.0 if method == "DBB" else 1.0)
        self.sign = 1.0 if problem.sense == "minimize" else -1.0
        self.random = torch.Generator().manual_seed(seed)

    def forward(self, costs: Tensor) -> Tensor:
        """The decisions; means of several with DPO."""
        function = {"DBB": _Interpolated, "NID": _Identity, "DPO": _Perturbed}[self.method]
        return function.apply(costs, self)

    def decide(self, costs: Tensor) -> Tensor:
        """The best decision of each row."""
        rows = np.ascontiguousarray(costs.detach().cpu().numpy())
        return torch.from_numpy(self.problem.solve_all(rows).decisions).to(costs)


class _Interpolated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, costs: Tensor, layer: DecisionLayer) -> Tensor:
        decisions = layer.decide(costs)
        ctx.layer = layer
        ctx.save_for_backward(costs, decisions)
        return decisions

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        costs, decisions = ctx.saved_tensors
        sign, width = ctx.layer.sign, ctx.layer.width
        moved = ctx.layer.decide(costs + sign * width * upstream)
        return sign * (moved - decisions) / width, None


class _Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, costs: Tensor, layer: DecisionLayer) -> Tensor:
        ctx.sign = layer.sign
        return layer.decide(costs)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return -ctx.sign * upstream, None


class _Perturbed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, costs: Tensor, layer: DecisionLayer) -> Tensor:
        shape = (layer.samples, *costs.shape)
        noise = torch.randn(shape, generator=layer.random, dtype=costs.dtype).to(costs.device)
        decisions = layer.decide((costs + layer.width * noise).reshape(-1, costs.shape[1])).reshape(
            shape
        )
        ctx.width = layer.width
        ctx.save_for_backward(noise, decisions)
        return decisions.mean(dim=0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        noise, decisions = ctx.saved_tensors
        count = len(noise)
        worth = (decisions * upstream).sum(dim=2, keepdim=True)
        others = (worth.sum(dim=0) - worth) / (count - 1) if count > 1 else torch.zeros_like(worth)
        return (noise * (worth - others)).sum(dim=0) / (count * ctx.width), None
