"""Warnings at the line of the user's call, whichever part of the package raises them."""

from __future__ import annotations

import os
import sys
import warnings

__all__ = ["warn"]

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
"""Folder of the package, whose lines are not the user's."""


def warn(message: str) -> None:
    """Raise a ``UserWarning`` at the innermost line outside the package.

    Parameters
    ----------
    message : str
        The warning.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
