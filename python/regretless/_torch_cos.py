"""The cost-sensitive family in plain torch operations.

The formula is that of the Rust library (Schutte, Berden, Guns, Postek and Yorke-Smith, 2026): errors between
predicted and true costs, squared or absolute; with O only those that can mislead the decision; with S between vectors of
unit length; with C weighted by instance. Works on any device and can be differentiated twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

SHORTEST = 1e-12
"""Shorter vectors are not divided by their own length."""


@dataclass(frozen=True)
class CosName:
    """A label such as ``MAE(O,S)``, taken apart."""

    squared: bool
    one_sided: bool = False
    scale_invariant: bool = False
    weighted: bool = False
    tau: float | None = None

    @classmethod
    def read(cls, label: str) -> CosName:
        """Takes a label apart; components that need more than decisions are refused."""
        base, _, inside = label.replace(" ", "").upper().partition("(")
        components = [word for word in inside.removesuffix(")").split(",") if word]
        taus = [
            share(word.removeprefix("TAU="), label)
            for word in components
            if word.startswith("TAU=")
        ]
        words = {word for word in components if not word.startswith("TAU=")}
        if (
            base not in ("MSE", "MAE")
            or words - {"O", "S", "C"}
            or len(taus) > 1
            or (taus and "O" in words)
        ):
            raise ValueError(
                f"'{label}' is not MSE or MAE with some of O, S, C or tau=t, such as MAE(O,S)"
            )
        return cls(
            base == "MSE", "O" in words, "S" in words, "C" in words, taus[0] if taus else None
        )


def share(text: str, label: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"'{label}': tau is a number from 0 to 1, such as MAE(tau=0.3)")
    return number


def cos_loss_torch(
    predictions: Tensor,
    costs_true: Tensor,
    decisions: Tensor | None = None,
    *,
    loss: str | CosName = "MAE(O,S)",
    sense: str = "minimize",
    bounds: tuple[float | Tensor, float | Tensor] = (0.0, 1.0),
    weights: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The loss of predicted costs, given the best decisions (rows of the same shape; only O needs them).

    ``sense`` is ``"minimize"`` or ``"maximize"``, ``reduction`` ``"mean"``, ``"sum"`` or ``"none"``. ``bounds`` are those of the
    decisions; ``weights`` (one per row, of shape (n,)) are the instance costs of the component C, and only it takes them.
    """
    name = CosName.read(loss) if isinstance(loss, str) else loss
    if sense not in ("minimize", "maximize"):
        raise ValueError(f"sense is 'minimize' or 'maximize', not {sense!r}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    if predictions.ndim != 2:
        raise ValueError(
            f"predictions are one row per instance, not of shape {tuple(predictions.shape)}"
        )
    # Torch would stretch what is too small instead of complaining.
    check_shape("costs_true", costs_true, predictions.shape)
    check_shape("decisions", decisions, predictions.shape)
    check_shape("weights", weights, predictions.shape[:1])
    if weights is not None and not name.weighted:
        raise ValueError("weights are those of the component C, which the loss does not have")
    errors = (
        unit(predictions) - unit(costs_true) if name.scale_invariant else predictions - costs_true
    )
    terms = errors.square() if name.squared else errors.abs()
    if name.one_sided:
        if decisions is None:
            raise ValueError("the component O needs the best decisions")
        terms = terms * misleading(errors if sense == "minimize" else -errors, decisions, bounds)
    elif name.tau is not None:
        terms = terms * torch.where(errors <= 0, name.tau, 1.0 - name.tau)
    values = terms.mean(dim=1)
    if name.weighted:
        if weights is None:
            raise ValueError("the component C needs the weights of the instances")
        values = values * weights
    if reduction == "mean":
        return values.mean()
    return values.sum() if reduction == "sum" else values


def check_shape(what: str, values: Tensor | None, shape: torch.Size) -> None:
    """Refuses a tensor of another shape."""
    if values is not None and values.shape != shape:
        raise ValueError(
            f"{what} must be of shape {tuple(shape)}, as the predictions are, not {tuple(values.shape)}"
        )


def unit(vectors: Tensor) -> Tensor:
    """Rows brought to unit length."""
    return vectors / vectors.norm(dim=1, keepdim=True).clamp_min(SHORTEST)


def misleading(
    errors: Tensor, decisions: Tensor, bounds: tuple[float | Tensor, float | Tensor]
) -> Tensor:
    """Where an error (of costs to be minimised) can change the decision: too dear where chosen, too cheap elsewhere."""
    at_lower, at_upper = decisions <= bounds[0], decisions >= bounds[1]
    return ((errors > 0) & ~at_lower) | ((errors < 0) & ~at_upper)
