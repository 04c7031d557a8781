"""The cost-sensitive family of losses in torch operations.

The formula is that of the Rust library (Schutte, Berden, Guns, Postek and Yorke-Smith, 2026):
squared or absolute errors between predicted and true costs; with O only those that can mislead the
decision; with S between vectors of unit norm; with C weighted by instance. It works on any device
and can be differentiated twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regretless._renamed import refuse_renamed

MIN_NORM = 1e-12
"""Smaller norms are replaced by this one before a division; any tiny value works."""


@dataclass(frozen=True)
class CosName:
    """The components of a loss's name such as ``MAE(O,S)``.

    Attributes
    ----------
    squared : bool
        MSE instead of MAE.
    one_sided : bool
        Component O: only errors that can mislead the decision.
    scale_invariant : bool
        Component S: errors between vectors of unit norm.
    weighted : bool
        Component C: weighted by instance.
    tau : float or None
        Weight of negative errors; positive ones have 1 − tau.
    """

    squared: bool
    one_sided: bool = False
    scale_invariant: bool = False
    weighted: bool = False
    tau: float | None = None

    @classmethod
    def parse(cls, name: str) -> CosName:
        """Parse a loss's name.

        Parameters
        ----------
        name : str
            MSE or MAE with some of O, S, C or tau=t.

        Raises
        ------
        ValueError
            For other names, and for components that need more than decisions.
        """
        base, _, inside = name.replace(" ", "").upper().partition("(")
        words = [word for word in inside.removesuffix(")").split(",") if word]
        taus = [
            parse_tau(word.removeprefix("TAU="), name) for word in words if word.startswith("TAU=")
        ]
        components = {word for word in words if not word.startswith("TAU=")}
        if (
            base not in ("MSE", "MAE")
            or components - {"O", "S", "C"}
            or len(taus) > 1
            or (taus and "O" in components)
        ):
            raise ValueError(
                f"'{name}' is not MSE or MAE with some of O, S, C or tau=t, such as MAE(O,S)"
            )
        return cls(
            squared=base == "MSE",
            one_sided="O" in components,
            scale_invariant="S" in components,
            weighted="C" in components,
            tau=taus[0] if taus else None,
        )


def parse_tau(text: str, name: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"'{name}': tau is a number from 0 to 1, such as MAE(tau=0.3)")
    return number


@refuse_renamed("cos_loss_torch")
def cos_loss_torch(
    predictions: Tensor,
    C: Tensor,
    decisions: Tensor | None = None,
    *,
    loss: str | CosName = "MAE(O,S)",
    sense: str = "minimize",
    bounds: tuple[float | Tensor, float | Tensor] = (0.0, 1.0),
    weights: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cost-sensitive loss of predicted costs.

    Parameters
    ----------
    predictions : Tensor of shape (n, d)
        Predicted costs.
    C : Tensor of shape (n, d)
        True costs.
    decisions : Tensor of shape (n, d), optional
        Optimal decisions under the true costs; only component O needs them.
    loss : str or CosName, default "MAE(O,S)"
        MSE or MAE with some of O, S, C or tau=t.
    sense : {"minimize", "maximize"}, default "minimize"
        Objective sense of the problem.
    bounds : tuple of float or Tensor, default (0.0, 1.0)
        Lower and upper bounds of the decisions.
    weights : Tensor of shape (n,), optional
        Instance costs of component C, and only for it.
    reduction : {"mean", "sum", "none"}, default "mean"
        How the losses of the rows are combined.

    Returns
    -------
    Tensor
        A scalar, or one value per row for the reduction ``"none"``.

    Raises
    ------
    ValueError
        For an unknown name, sense or reduction, other shapes, or missing decisions or weights.
    """
    name = CosName.parse(loss) if isinstance(loss, str) else loss
    if sense not in ("minimize", "maximize"):
        raise ValueError(f"sense is 'minimize' or 'maximize', not {sense!r}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    if predictions.ndim != 2:
        raise ValueError(
            f"predictions are one row per instance, not of shape {tuple(predictions.shape)}"
        )
    # Torch would broadcast smaller tensors silently.
    check_shape("C", C, predictions.shape)
    check_shape("decisions", decisions, predictions.shape)
    check_shape("weights", weights, predictions.shape[:1])
    if weights is not None and not name.weighted:
        raise ValueError("weights are those of the component C, which the loss does not have")
    if name.scale_invariant:
        errors = normalize(predictions) - normalize(C)
    else:
        errors = predictions - C
    terms = errors.square() if name.squared else errors.abs()
    if name.one_sided:
        if decisions is None:
            raise ValueError("the component O needs the optimal decisions")
        minimized = errors if sense == "minimize" else -errors
        terms = terms * misleading_mask(minimized, decisions, bounds[0], bounds[1])
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
    """Refuse a tensor of another shape."""
    if values is not None and values.shape != shape:
        raise ValueError(
            f"{what} must have the shape {tuple(shape)} of the predictions, not "
            f"{tuple(values.shape)}"
        )


def normalize(vectors: Tensor) -> Tensor:
    """Return rows of unit norm."""
    return vectors / vectors.norm(dim=1, keepdim=True).clamp_min(MIN_NORM)


def misleading_mask(
    errors: Tensor, decisions: Tensor, lower: float | Tensor, upper: float | Tensor
) -> Tensor:
    """Return where an error of minimized costs can change the decision.

    These are overestimates of chosen variables and underestimates of the others.
    """
    at_lower, at_upper = decisions <= lower, decisions >= upper
    return ((errors > 0) & ~at_lower) | ((errors < 0) & ~at_upper)
