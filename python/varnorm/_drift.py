"""A running test of whether new series still look like the corpus."""

from __future__ import annotations

import json
from typing import Any

from sklearn.utils.validation import check_is_fitted

from . import _core
from .detector import NoveltyDetector
from .errors import ParameterError


class Drift:
    """Do new series, as a whole, still look like the corpus? A test that runs for as long as series come.

    Each score is ranked among the calibration scores and all new scores before it. As long as they are exchangeable, a bet
    against that starts with a capital of 1 and reaches 100 with a chance of at most 1 %, at any time (a conformal test
    martingale and Ville's inequality). Calibration scores of a split are exchangeable with those of new series;
    leave-one-out scores are so only nearly.

    Parameters
    ----------
    detector : NoveltyDetector
        A fitted one, with a calibration.
    seed : int
        Breaks ties between equal scores.

    Examples
    --------
    >>> import numpy as np, varnorm
    >>> X = np.random.default_rng(0).standard_normal((60, 20)).cumsum(axis=1)
    >>> drift = varnorm.Drift(varnorm.NoveltyDetector("flat_rbf").fit(X[:40]))
    >>> bool(drift.add(X[40:])["drifted"])
    False
    >>> bool(drift.add(X[40:] + 25)["drifted"])
    True
    """

    def __init__(self, detector: NoveltyDetector, seed: int = 0) -> None:
        check_is_fitted(detector)
        scores = detector.detector_.calibration_scores()
        if scores is None:
            raise ParameterError("calibration = none: there are no normal scores to compare with; choose another calibration")
        self.detector = detector
        self._test = _core.Drift(scores, seed)

    def add(self, X: Any) -> dict[str, Any]:
        """Looks at more series, in their order; what is found then, as `state` gives it."""
        self._test.add(self.detector.novelty(X))
        return self.state()

    def state(self) -> dict[str, Any]:
        """`series` seen, `martingale` (the capital now), its `largest` value, whether that has `drifted` (100 or more), and
        the `false_alarm_rate` of that."""
        found: dict[str, Any] = json.loads(self._test.state())
        return found
