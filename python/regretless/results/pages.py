"""What results with a page have in common."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regretless._files import check_free, write_atomically


class PageResult:
    """A result that is shown as a page and in notebooks."""

    page: str

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the page that the command line writes: one file, without requests.

        Parameters
        ----------
        path : path
            The file.
        force : bool, default False
            Whether an existing file is replaced.

        Raises
        ------
        FileExistsError
            If the file exists and `force` is false.
        """
        target = Path(path)
        # Before the page is drawn, which may take some seconds.
        check_free(target, force=force)
        write_atomically(target, self.page.encode(), force=force)


def notebook_html(sentences: Sequence[str], *parts: str) -> str:
    """Return sentences, which are escaped, and parts in HTML below them."""
    verdict = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    return f"<div>{verdict}{''.join(parts)}</div>"


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in HTML; all texts are escaped."""

    def cells(tag: str, values: Sequence[Any]) -> str:
        return "".join(f"<{tag}>{html.escape(str(value))}</{tag}>" for value in values)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(title)}</caption>"
        f"<thead><tr>{cells('th', header)}</tr></thead><tbody>{body}</tbody></table>"
    )


def first_names(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many there are besides."""
    shown = 8
    more = len(names) - shown
    text = ", ".join(names[:shown])
    return f"{text} and {more} more" if more > 0 else text


def short_text(value: Any) -> str:
    """Return a value in a few words."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return f"{len(value)} entries" if value else "none"
    return "none" if value is None else str(value)


def call_text(function: str, arguments: Mapping[str, Any]) -> str:
    """Return a call for people, without the tables and arguments that are None."""
    shown = [f"{name}={value!r}" for name, value in arguments.items() if value is not None]
    return f"regretless.{function}({', '.join(['problem', 'X', 'C', *shown])})"
