"""Reports: the program's pages, shown by notebooks and kept in files."""

from __future__ import annotations

import html
import os
from typing import Union

from . import _core

PathLike = Union[str, "os.PathLike[str]"]


class Page(str):
    """One HTML page that needs no network: a string that notebooks show."""

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style and script leave the notebook alone.
        return f'<iframe srcdoc="{html.escape(self)}" style="width: 100%; height: 720px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<page of {len(self)} characters of HTML>"

    def save(self, path: PathLike) -> None:
        """Writes the page: whole or not at all."""
        _core.write_text(os.fspath(path), self)


def study_report(run: PathLike, *, published: PathLike | None = None, compare: PathLike | None = None) -> Page:
    """The folder of a study as one page: `varnorm report RUN`.

    Parameters
    ----------
    run : path
        The folder that was given to `study`.
    published : path, optional
        Put the numbers of this published file beside its own.
    compare : path, optional
        Tell what moved since this other run.
    """
    other = [None if path is None else os.fspath(path) for path in (published, compare)]
    return Page(_core.study_report(os.fspath(run), *other))
