"""The detector in aeon's manner: series are (cases, channels, steps), predictions are anomaly scores of whole series."""

from __future__ import annotations

from typing import Any

import numpy as np
from aeon.anomaly_detection.collection.base import BaseCollectionAnomalyDetector
from numpy.typing import NDArray
from sklearn.base import clone

from ..detector import NoveltyDetector

__all__ = ["VarnormAnomalyDetector"]


class VarnormAnomalyDetector(BaseCollectionAnomalyDetector):  # type: ignore[misc]
    """A `NoveltyDetector` as a collection anomaly detector of aeon.

    Parameters
    ----------
    detector : NoveltyDetector, optional
        What to use; its layout is aeon's here.
    """

    _tags = {
        "X_inner_type": ["numpy3D", "np-list"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "fit_is_empty": False,
        "anomaly_output_type": "anomaly_scores",
        "learning_type:semi_supervised": True,
    }

    def __init__(self, detector: NoveltyDetector | None = None) -> None:
        self.detector = detector
        super().__init__()
        chosen = NoveltyDetector() if detector is None else detector
        self.set_tags(**{"capability:unequal_length": chosen._native().any_lengths})

    def _fit(self, X: Any, y: Any = None) -> VarnormAnomalyDetector:
        """Fits on normal series: those that y, where it is given, has a 0 for."""
        if y is not None:
            X = [X[at] for at in np.flatnonzero(np.asarray(y) == 0)]
        chosen = NoveltyDetector() if self.detector is None else clone(self.detector)
        self.detector_: NoveltyDetector = chosen.set_params(layout="nct").fit(X)
        return self

    def _predict(self, X: Any) -> NDArray[np.float64]:
        return self.detector_.novelty(X)

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> dict[str, Any]:
        return {"detector": NoveltyDetector("gak", calibration="none")}
