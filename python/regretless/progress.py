"""Progress of long work, on standard error: tqdm's bar where tqdm is installed, else a line of text."""

import sys
import time


class Progress:
    """Shows one task after the other. The compiled part calls it about 20 times a second."""

    PATIENCE = 0.5  # Work shorter than this shows nothing.

    def __init__(self):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm
        self._begun = time.monotonic()
        self._task = None
        self._bar = None
        self._said = 0.0

    def show(self, task, steps, done, note):
        """The present state: name of the task, its steps, those done, and a word about it."""
        if (task, steps) != self._task:
            self.close()
            self._task = (task, steps)
        if not task or time.monotonic() - self._begun < self.PATIENCE:
            return
        if self._tqdm is None:
            self._say(task, steps, done, note)
            return
        if self._bar is None:
            self._bar = self._tqdm(total=steps, desc=task, leave=False)
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def _say(self, task, steps, done, note):
        now = time.monotonic()
        if now - self._said >= 1.0:
            self._said = now
            print(f"\r{task} {done}/{steps} {note}\033[K", end="", file=sys.stderr, flush=True)

    def close(self):
        """The task is over."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._said:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._said = 0.0
