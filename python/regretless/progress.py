"""Progress of long work on standard error: a tqdm bar if tqdm is installed, else a text line."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any


class Progress:
    """Show the progress of one task after the other; called about 20 times a second."""

    MIN_SECONDS = 0.5
    """Work that ends sooner shows nothing. Untuned."""
    LINE_INTERVAL_SECONDS = 1.0
    """Time between two updates of the text line."""

    def __init__(self) -> None:
        try:
            with warnings.catch_warnings():
                # In notebooks without ipywidgets tqdm warns, and shows a bar of text.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm: Any = tqdm
        self._started = time.monotonic()
        self._task: tuple[str, int] | None = None
        self._bar: Any = None
        self._printed = 0.0

    def show(self, task: str, steps: int, done: int, message: str) -> None:
        """Show the current state.

        Parameters
        ----------
        task : str
            Name of the task; empty between tasks.
        steps, done : int
            Number of its steps, and of those that are finished.
        message : str
            A short text beside the bar.
        """
        if (task, steps) != self._task:
            self.close()
            self._task = (task, steps)
        if not task or time.monotonic() - self._started < self.MIN_SECONDS:
            return
        if self._tqdm is None:
            self._print_line(task, steps, done, message)
            return
        if self._bar is None:
            self._bar = self._tqdm(total=steps, desc=task, leave=False)
        self._bar.set_postfix_str(message, refresh=False)
        self._bar.update(done - self._bar.n)

    def _print_line(self, task: str, steps: int, done: int, message: str) -> None:
        now = time.monotonic()
        if now - self._printed >= self.LINE_INTERVAL_SECONDS:
            self._printed = now
            print(f"\r{task} {done}/{steps} {message}\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar or the line of the finished task."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._printed:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._printed = 0.0
