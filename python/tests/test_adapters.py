"""The adapters, within the packages that they are for."""

from __future__ import annotations

import numpy as np
import pytest

from varnorm import NoveltyDetector, metrics


def blobs():
    X = np.random.default_rng(2).standard_normal((120, 8))
    X[:12] *= 8
    return X


def test_pyod_s_conventions():
    pytest.importorskip("pyod", reason="pyod is not installed")
    from sklearn.base import clone

    from varnorm.adapters.pyod import VarnormOD

    X = blobs()
    model = VarnormOD(NoveltyDetector("flat_rbf"), contamination=0.1).fit(X)
    assert model.decision_scores_.shape == (120,) and set(model.labels_.tolist()) == {0, 1}
    assert model.labels_.sum() == 12 and model.labels_[:12].sum() >= 10
    assert np.array_equal(model.decision_function(X), model.detector_.novelty(X))
    new = np.r_[np.zeros((1, 8)), np.full((1, 8), 20.0)]
    assert model.predict(new).tolist() == [0, 1]
    probabilities = model.predict_proba(new)
    assert probabilities.shape == (2, 2) and probabilities[1, 1] > probabilities[0, 1]
    labels, confidence = model.predict(new, return_confidence=True)
    assert labels.tolist() == [0, 1] and ((0 <= confidence) & (confidence <= 1)).all()
    again = clone(VarnormOD(NoveltyDetector("gak", layout="nct"), contamination=0.2)).fit(X[:, None, :])
    assert again.labels_.sum() == 24


def test_pyod_combines_it_with_its_own():
    pytest.importorskip("pyod", reason="pyod is not installed")
    from pyod.models.knn import KNN
    from pyod.utils.utility import standardizer

    from varnorm.adapters.pyod import VarnormOD

    X = blobs()
    models = [VarnormOD().fit(X), KNN().fit(X)]
    scores = standardizer(np.stack([model.decision_scores_ for model in models], axis=1)).mean(axis=1)
    assert metrics.roc_auc(np.arange(120) < 12, scores) > 0.99


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
def test_aeon_s_conventions():
    pytest.importorskip("aeon", reason="aeon is not installed")
    from aeon.testing.estimator_checking import check_estimator

    from varnorm.adapters.aeon import VarnormAnomalyDetector

    passed = check_estimator(VarnormAnomalyDetector, raise_exceptions=True, verbose=False)
    assert len(passed) > 10 and set(passed.values()) == {"PASSED"}


def test_aeon_s_layout_is_read(motions):
    pytest.importorskip("aeon", reason="aeon is not installed")
    from aeon.anomaly_detection.collection.base import BaseCollectionAnomalyDetector

    from varnorm.adapters.aeon import VarnormAnomalyDetector

    train, test = motions
    X, Z = train.X.transpose(0, 2, 1), test.X.transpose(0, 2, 1)
    model = VarnormAnomalyDetector(NoveltyDetector("integral_rbf", contamination=0.1))
    assert isinstance(model, BaseCollectionAnomalyDetector)
    model.fit(X, (train.y != "Standing").astype(int))
    expected = NoveltyDetector("integral_rbf", contamination=0.1, layout="ntd").fit(train.X[train.y == "Standing"])
    assert np.array_equal(model.predict(Z), expected.novelty(test.X))
    assert not model.get_tag("capability:unequal_length")
    for settings, any_lengths in [
        ({"kernel": "gak"}, True),
        ({"kernel": "gak", "prepare": "published"}, False),
        ({"kernel": "flat_rbf", "prepare": "resample=50,published"}, True),
        ({"views": [{"kernel": "gak"}, {"kernel": "flat_rbf"}]}, False),
        ({}, True),
    ]:
        assert VarnormAnomalyDetector(NoveltyDetector(**settings)).get_tag("capability:unequal_length") == any_lengths
    unequal = [x[:, : 60 + at] for at, x in enumerate(X)]
    assert VarnormAnomalyDetector(NoveltyDetector("gak", calibration="none")).fit(unequal).predict(unequal).shape == (40,)
