"""The detector in PyOD's manner: higher is more abnormal, labels are 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyod.models.base import BaseDetector
from sklearn.base import clone

from ..detector import NoveltyDetector

__all__ = ["VarnormOD"]


class VarnormOD(BaseDetector):  # type: ignore[misc]
    """A `NoveltyDetector` as a detector of PyOD.

    `decision_scores_` are the novelties of the training series under the models of the others; `threshold_` and `labels_`
    follow from them and `contamination`, as everywhere in PyOD.

    Parameters
    ----------
    detector : NoveltyDetector, optional
        What to use; its calibration and contamination do not matter here.
    contamination : float
        The share of outliers among the training series.
    """

    def __init__(self, detector: NoveltyDetector | None = None, contamination: float = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: Any = None) -> VarnormOD:
        """Fits on series of which a share `contamination` may be outliers."""
        self._set_n_classes(y)
        chosen = NoveltyDetector() if self.detector is None else clone(self.detector)
        self.detector_: NoveltyDetector = chosen.set_params(calibration="none").fit(X)
        self.decision_scores_ = self.detector_.leave_one_out(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How abnormal each series is."""
        return self.detector_.novelty(X)
