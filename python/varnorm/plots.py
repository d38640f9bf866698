"""Pictures without another package: curves as SVG, shown by notebooks, kept in files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core

__all__ = ["Curve", "Picture", "plot"]


class Curve(NamedTuple):
    """Points with a name."""

    name: str
    x: ArrayLike
    y: ArrayLike
    style: str = "line"
    """"line", "dashed", "points" or "line_and_points"."""


class Picture(str):
    """An SVG picture: a string that notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<picture of {len(self)} characters of SVG>"

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the picture: whole or not at all."""
        _core.write_text(os.fspath(path), self)


def plot(
    curves: Iterable[Curve],
    *,
    title: str = "",
    x: str = "",
    y: str = "",
    x_log: bool = False,
    y_log: bool = False,
    size: tuple[float, float] = (720, 440),
) -> Picture:
    """Curves over two axes.

    >>> plot([Curve("squares", [0, 1, 2], [0, 1, 4])], x="n", y="n * n")[:4]
    '<svg'
    """

    def numbers(values: ArrayLike) -> list[float]:
        found: list[float] = np.asarray(values, dtype=np.float64).ravel().tolist()
        return found

    given = [(curve.name, curve.style, numbers(curve.x), numbers(curve.y)) for curve in curves]
    return Picture(_core.plot(title, (x, x_log), (y, y_log), given, size))
