"""What the modules for torch share: refusals, and tensors as arrays.

Refused are second derivatives, and numbers that are not floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["check_rows", "check_tensor", "differentiable_once", "numpy_view"]


def check_tensor(values: Any, what: str) -> None:
    """Refuse anything but a tensor of floating-point numbers.

    Parameters
    ----------
    values : object
        What the user gave.
    what : str
        Its name in messages.

    Raises
    ------
    TypeError
        For arrays, and for tensors of integers: results have the type of the tensor, so they would
        be rounded.
    """
    if not isinstance(values, Tensor):
        raise TypeError(
            f"{what} must be a torch tensor, not {type(values).__name__}: give "
            f"torch.as_tensor({what})"
        )
    if not values.is_floating_point():
        raise TypeError(
            f"{what} must be floating-point numbers, not {values.dtype}: use {what}.float()"
        )


def check_rows(values: Any, what: str) -> None:
    """Refuse anything but rows of floating-point numbers, a tensor of shape (n, d).

    Parameters
    ----------
    values, what : object and str
        As in :func:`check_tensor`.

    Raises
    ------
    TypeError
        As :func:`check_tensor` does.
    ValueError
        For a tensor of another shape.
    """
    check_tensor(values, what)
    if values.ndim != 2:
        dimensions = "dimension" if values.ndim == 1 else "dimensions"
        remedy = f"; for a single row: {what}.unsqueeze(0)" if values.ndim == 1 else ""
        raise ValueError(
            f"{what} has {values.ndim} {dimensions} and needs 2: rows, columns{remedy}"
        )


def differentiable_once(gradients: Tensor, inputs: Tensor, refusal: str) -> Tensor:
    """Return gradients whose own derivative raises an error.

    ``torch.autograd.function.once_differentiable`` does this only if the upstream gradient requires
    one itself: otherwise ``create_graph=True`` would take the gradients for constants.

    Parameters
    ----------
    gradients : Tensor
        Gradients with respect to the inputs, computed without a graph.
    inputs : Tensor
        What they depend on.
    refusal : str
        The message of the error.
    """
    return _Refusal.apply(gradients, inputs, refusal)


def numpy_view(values: Any) -> np.ndarray:
    """Return the numbers of a tensor as an array, without a copy for contiguous CPU tensors."""
    if isinstance(values, Tensor):
        values = values.detach().cpu().contiguous()
        if values.dtype in (torch.float16, torch.bfloat16):
            values = values.float()
        values = values.numpy()
    return np.asarray(values)


class _Refusal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gradients: Tensor, inputs: Tensor, refusal: str) -> Tensor:
        ctx.refusal = refusal
        return gradients.view_as(gradients)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Any:
        raise RuntimeError(ctx.refusal)
