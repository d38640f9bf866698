"""The paper's statements, watched on laws whose norms are known exactly."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._progress import Listening, Progress
from .plots import Picture


class Theory:
    """What was watched: numbers as `varnorm theory --format json` prints them, and three pictures.

    Attributes
    ----------
    report : dict
        Consistency, spread of neighbours, equidistance.
    pictures : dict of Picture
        By the names of their files.
    """

    def __init__(self, report: dict[str, Any], pictures: dict[str, Picture]) -> None:
        self.report = report
        self.pictures = pictures

    def __repr__(self) -> str:
        found = self.report["consistency"]
        slopes = f"{found['tikhonov_slope']:.2f} (tikhonov) and {found['envelope_slope']:.2f} (envelope)"
        return f"empirical norms tend to the law's with slopes {slopes}; pictures: {', '.join(self.pictures)}"

    def _repr_html_(self) -> str:
        return "".join(self.pictures.values())


def theory(
    *, dimension: int = 60, repeats: int = 20, alpha: float = 0.01, n_jobs: int | None = None, progress: Progress = None
) -> Theory:
    """Watches the paper's statements on samples of a Gaussian law with eigenvalues 1/j^2: `varnorm theory`.

    Parameters
    ----------
    dimension : int
        Eigenvalues of the law.
    repeats : int
        Samples per point.
    alpha : float
        Regularisation.
    n_jobs, progress :
        As for `NoveltyDetector`.
    """
    with Listening(progress) as listener:
        report, pictures = _core.theory(dimension, repeats, alpha, n_jobs, listener)
    return Theory(json.loads(report), {name: Picture(svg) for name, svg in pictures})
