"""One rule: `predict`, `findings`, the report and the program say the same about a batch, whatever was chosen."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

from varnorm import NoveltyDetector, VarnormWarning
from varnorm.errors import ParameterError

CALIBRATIONS = [
    dict(calibration="auto"),
    dict(calibration="quantile:holdout=0.3"),
    dict(calibration="split:holdout=0.5"),
    dict(calibration="cross_fit:folds=4"),
    dict(calibration="leave_one_out", distance="mahalanobis"),
    dict(calibration="gaussian", distance="mahalanobis"),
    dict(calibration="supervised:objective=youden"),
    dict(calibration="fixed:threshold=2"),
    dict(calibration="cross_fit:folds=5", space="landmarks:8"),
]
DECISIONS = ["each", "benjamini_hochberg", "storey", "lord"]


@pytest.fixture()
def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Forty normal series, outliers, and a batch of six normal ones with four outliers."""
    t = np.arange(12)
    normal = np.array([np.sin(0.7 * (i + 1) + 0.3 * t) + 0.1 * i for i in range(46)])
    outliers = np.array([np.where((t + i) % 2 == 0, 9.0, -9.0) for i in range(4)])
    return normal[:40], outliers, np.concatenate([normal[40:], outliers])


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("choices", CALIBRATIONS, ids=lambda c: c["calibration"])
def test_everything_that_flags_agrees(batch, program, tmp_path, choices, decision):
    normal, outliers, new = batch
    supervised = choices["calibration"].startswith("supervised")
    X = np.concatenate([normal, outliers]) if supervised else normal
    y = np.repeat([1, -1], [len(normal), len(outliers)]) if supervised else None
    for level in (0.01, 0.1):
        detector = NoveltyDetector("flat_rbf", **choices, decision=decision, contamination=level).fit(X, y)
        labels = detector.predict(new)
        found = detector.findings(new)
        novel = np.array([one["novel"] for one in found["findings"]])
        scores = np.array([one["score"] for one in found["findings"]])
        assert np.array_equal(labels == -1, novel)
        assert np.array_equal(detector.findings(new, as_frame=True)["novel"].to_numpy(), novel)
        if found["rule"] == "lord":
            assert found["threshold"] is None
            with pytest.raises(ParameterError, match="order"):
                detector.decision_function(new)
        else:
            assert np.array_equal(scores > found["threshold"], novel)
            assert np.array_equal(detector.decision_function(new) < 0, novel)
        page = str(detector.report(new))
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        assert data["novel"] == novel.tolist()
        detector.save(tmp_path / "m.model")
        np.save(tmp_path / "new.npy", new)
        told = json.loads(program("score", tmp_path / "m.model", tmp_path / "new.npy", "--format", "json"))
        assert [one["novel"] for one in told["findings"]] == novel.tolist()
        cannot = told["cannot_flag"]
        assert cannot == found["cannot_flag"]
        if cannot is not None:
            assert not novel.any() and cannot["words"] in page
            assert cannot["normal_series_needed"] > cannot["calibration_scores"]
            with pytest.warns(VarnormWarning, match="can"):
                detector.predict(new)


@pytest.mark.parametrize("contamination", [0.0, -0.1, 0.51, 0.9, 1.5, float("nan")])
def test_a_contamination_beyond_one_half_is_refused(walks, contamination):
    with pytest.raises(ParameterError, match="at most 0.5"):
        NoveltyDetector("flat_rbf", contamination=contamination, layout="ntd").fit(walks)


def test_fit_predict_flags_what_stands_out_of_the_corpus(batch):
    normal, outliers, _ = batch
    X = np.concatenate([normal, outliers[:2]])
    for choices in (dict(), dict(kernel="flat_rbf"), dict(kernel="flat_rbf", calibration="split:holdout=0.5")):
        labels = NoveltyDetector(**choices, contamination=0.05).fit_predict(X)
        assert labels.dtype.kind == "i" and np.flatnonzero(labels == -1).tolist() == [40, 41]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VarnormWarning)
        assert (NoveltyDetector("flat_rbf", contamination=0.01).fit_predict(X) == 1).all()
    with pytest.raises(ParameterError, match="no threshold"):
        NoveltyDetector("flat_rbf", calibration="none").fit_predict(X)
