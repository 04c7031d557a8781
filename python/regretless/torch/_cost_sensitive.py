"""The cost-sensitive family of losses in torch operations.

The formula is that of the Rust library (Schutte, Berden, Guns, Postek and Yorke-Smith, 2026):
squared or absolute errors between predicted and true costs; with O only errors that can change the
decision; with S between vectors of unit norm; with C weighted by instance. It works on any device
and can be differentiated twice. Names are parsed by the compiled library.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor

from regretless import CostSensitiveSpec
from regretless._renamed import refuse_renamed
from regretless.losses.start_scale import warn_about_start
from regretless.torch._checks import check_tensor, numpy_view

_STARTED: set[tuple[str, int]] = set()
"""Losses and numbers of costs whose first predictions were compared with the costs: once, since
that waits for the device."""

MIN_NORM = 1e-12
"""Vectors with a smaller norm have no direction. That of the Rust library."""


def parse_loss(name: str) -> CostSensitiveSpec:
    """Parse the name of a loss that this module computes.

    Parameters
    ----------
    name : str
        MSE or MAE with some of O, S, C or tau=t.

    Raises
    ------
    ValueError
        For other names, and for components that need more than decisions.
    """
    spec = CostSensitiveSpec(name)
    if spec.equality_invariant:
        raise ValueError(
            f"'{name}' depends on the equality constraints of a problem: use "
            "regretless.torch.DecisionLoss, or S instead of E"
        )
    if re.search(r"\bD\b", spec.name):
        raise ValueError(
            f"'{name}' depends on the optimal decisions of a problem: use "
            "regretless.torch.DecisionLoss"
        )
    supported = (
        not spec.sensitivity_based
        and spec.weighting in (None, "C")
        and (spec.tau is None or len(spec.tau) == 1)
        and not spec.has_stage_settings
    )
    if not supported:
        raise ValueError(
            f"'{name}' is not MSE or MAE with some of O, S, C or tau=t, such as MAE(O,S)"
        )
    return spec


@refuse_renamed("cost_sensitive_loss")
def cost_sensitive_loss(
    predictions: Tensor,
    C: Tensor,
    decisions: Tensor | None = None,
    *,
    loss: str | CostSensitiveSpec = "MAE(O,S)",
    sense: str | None = None,
    bounds: tuple[float | Tensor, float | Tensor] = (0.0, 1.0),
    weights: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cost-sensitive loss of predicted costs.

    Parameters
    ----------
    predictions : Tensor of shape (n, d)
        Predicted costs, floating-point numbers.
    C : Tensor of shape (n, d)
        True costs.
    decisions : Tensor of shape (n, d), optional
        Optimal decisions under the true costs; only component O needs them.
    loss : str or CostSensitiveSpec, default "MAE(O,S)"
        MSE or MAE with some of O, S, C or tau=t.
    sense : {"minimize", "maximize"}
        Objective sense of the problem, ``problem.sense``; only component O needs it, and requires
        it.
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
    TypeError
        If the loss has the component O and ``sense`` is missing, and for predictions that are not a
        tensor of floating-point numbers.
    ValueError
        For an unknown name, sense or reduction, other shapes, or missing decisions or weights.

    Notes
    -----
    Predictions are costs in their unit, as for :class:`DecisionLoss`; the first ones of a loss and
    number of costs are compared with the costs.

    Gradients of losses with S shrink like d^-1.5 (MAE) or d^-2 (MSE) in d costs: use Adam.
    Predictions of norm zero have no direction: their gradient is divided by the norm of the true
    costs.
    """
    spec = parse_loss(loss if isinstance(loss, str) else loss.name)
    if sense is None and spec.one_sided:
        raise TypeError(
            f"the component O of '{spec.name}' depends on the objective sense: pass "
            "sense=problem.sense"
        )
    if sense not in (None, "minimize", "maximize"):
        raise ValueError(f"sense is 'minimize' or 'maximize', not {sense!r}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    check_tensor(predictions, "predictions")
    if predictions.ndim != 2:
        raise ValueError(f"predictions must have the shape (n, d), not {tuple(predictions.shape)}")
    # Torch would broadcast smaller tensors silently.
    check_shape("C", C, predictions.shape)
    check_shape("decisions", decisions, predictions.shape)
    check_shape("weights", weights, predictions.shape[:1])
    if weights is not None and spec.weighting is None:
        raise ValueError("weights are those of the component C, which the loss does not have")
    if predictions.requires_grad and not is_traced():
        check_start(predictions, C, spec)
    if spec.scale_invariant:
        cost_norms = C.norm(dim=1, keepdim=True).clamp_min(MIN_NORM)
        errors = normalize(predictions, cost_norms) - C / cost_norms
    else:
        errors = predictions - C
    terms = errors.square() if spec.squared else errors.abs()
    if spec.one_sided:
        if decisions is None:
            raise ValueError("the component O needs the optimal decisions")
        minimized = errors if sense == "minimize" else -errors
        terms = terms * misleading_mask(minimized, decisions, bounds[0], bounds[1])
    elif spec.tau is not None:
        # Tensors of the errors' type: numbers would be rounded to torch's default type.
        under, over = errors.new_tensor([spec.tau[0], 1.0 - spec.tau[0]])
        terms = terms * torch.where(errors <= 0, under, over)
    values = terms.mean(dim=1)
    if spec.weighting is not None:
        if weights is None:
            raise ValueError("the component C needs the weights of the instances")
        values = values * weights
    if reduction == "mean":
        return values.mean()
    return values.sum() if reduction == "sum" else values


def is_traced() -> bool:
    """Return whether torch records operations instead of computing numbers."""
    compiler = getattr(torch, "compiler", None)
    return bool(compiler is not None and compiler.is_compiling())


def check_start(predictions: Tensor, C: Tensor, spec: CostSensitiveSpec) -> None:
    """Compare the first predictions of a loss with the costs."""
    key = (spec.name, predictions.shape[1])
    if key in _STARTED:
        return
    _STARTED.add(key)
    try:
        numbers, costs = numpy_view(predictions), numpy_view(C)
    except RuntimeError:
        # Tensors of torch.func have no numbers.
        return
    warn_about_start(numbers, costs, spec.scale_invariant)


def check_shape(what: str, values: Tensor | None, shape: torch.Size) -> None:
    """Refuse a tensor of another shape."""
    if values is not None and values.shape != shape:
        raise ValueError(
            f"{what} must have the shape {tuple(shape)} of the predictions, not "
            f"{tuple(values.shape)}"
        )


def normalize(vectors: Tensor, other_norms: Tensor) -> Tensor:
    """Return rows of unit norm.

    A row of norm zero has no direction. It stays zero, and its gradient is divided by the other
    norm instead, as in the Rust library: the true derivative, about 1e12, would dominate the moving
    averages of the optimizer for many steps.

    Parameters
    ----------
    vectors : Tensor of shape (n, d)
        The rows.
    other_norms : Tensor of shape (n, 1)
        What gradients of rows without a direction are divided by.
    """
    has_direction = vectors.detach().norm(dim=1, keepdim=True) >= MIN_NORM
    # Other numbers instead of zeros: the second derivative of a norm at zero is not finite.
    directed = torch.where(has_direction, vectors, torch.ones_like(vectors))
    unit = directed / directed.norm(dim=1, keepdim=True)
    undirected = (vectors.detach().double() / MIN_NORM).to(vectors)
    undirected = undirected + (vectors - vectors.detach()) / other_norms.detach()
    return torch.where(has_direction, unit, undirected)


def misleading_mask(
    errors: Tensor, decisions: Tensor, lower: float | Tensor, upper: float | Tensor
) -> Tensor:
    """Return where an error of minimized costs can change the decision.

    These are overestimates of chosen variables and underestimates of the others.
    """
    at_lower, at_upper = decisions <= lower, decisions >= upper
    return ((errors > 0) & ~at_lower) | ((errors < 0) & ~at_upper)
