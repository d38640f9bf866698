"""How well scores separate two kinds; higher scores speak for the positive kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core

__all__ = ["average_precision", "roc_auc"]


def roc_auc(positive: ArrayLike, scores: ArrayLike) -> float:
    """The probability that a positive scores higher than a negative, equal scores counting half.

    >>> roc_auc([False, False, True], [0.1, 0.4, 0.35])
    0.5
    """
    return _core.roc_auc(np.ascontiguousarray(scores, dtype=np.float64), np.ascontiguousarray(positive, dtype=np.bool_))


def average_precision(positive: ArrayLike, scores: ArrayLike) -> float:
    """The sum over thresholds of precision times the gain in recall.

    >>> average_precision([False, False, True], [0.1, 0.4, 0.35])
    0.5
    """
    return _core.average_precision(
        np.ascontiguousarray(scores, dtype=np.float64), np.ascontiguousarray(positive, dtype=np.bool_)
    )
