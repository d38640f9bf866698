"""Models that grow: parts of a corpus make the model of the whole."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from varnorm import NoveltyDetector
from varnorm.errors import ParameterError

SPACES = [("sig_random:features=20", "features"), ("flat_linear", "features"), ("gak:sigma=3", "landmarks:12")]


@pytest.fixture
def many():
    return np.random.default_rng(5).normal(size=(160, 8, 2)).cumsum(1)


def detector(kernel, space, **more):
    return NoveltyDetector(kernel, space=space, prepare="none", layout="ntd", **more)


@pytest.mark.parametrize("distance", ["mahalanobis", "conformance"])
@pytest.mark.parametrize(("kernel", "space"), SPACES)
def test_parts_in_any_order_are_the_whole(many, kernel, space, distance):
    corpus, new = many[:130], many[130:]
    first = detector(kernel, space, distance=distance).fit(corpus[:50])
    whole = first.fit_like(corpus)
    assert whole.n_series_in_ == 130
    parts = [first.fit_like(corpus[a:b]) for a, b in [(90, 130), (0, 50), (50, 90)]]
    merged = parts[0].merge(*parts[1:])
    np.testing.assert_allclose(merged.novelty(new), whole.novelty(new), rtol=1e-10)
    np.testing.assert_allclose(merged.pvalues(new), whole.pvalues(new), rtol=1e-12)
    grown = first.partial_fit(corpus[90:]).partial_fit(corpus[50:90])
    np.testing.assert_allclose(grown.novelty(new), whole.novelty(new), rtol=1e-10)
    again = pickle.loads(pickle.dumps(grown))
    assert (again.novelty(new) == grown.novelty(new)).all()


def test_features_are_all_pairs(many):
    for kernel in ["flat_linear", "sig_explicit:level=2", "sig_random"]:
        exact, compact = (detector(kernel, space, calibration="none").fit(many[:60]) for space in ["gram", "features"])
        np.testing.assert_allclose(compact.novelty(many[60:]), exact.novelty(many[60:]), rtol=1e-6)


def test_a_tolerance_chooses_the_number_of_landmarks(many):
    fitted = detector("flat_rbf:sigma=8", "landmarks:tolerance=0.05").fit(many)
    assert fitted.detector_.trace_error <= 0.05
    assert 1 < fitted.detector_.landmarks < 160


def test_all_pairs_do_not_grow(many):
    fitted = detector("flat_rbf", "gram").fit(many[:20])
    for name in ["partial_fit", "fit_like", "merge"]:
        assert not hasattr(fitted, name)
    with pytest.raises(AttributeError) as caught:
        fitted.partial_fit(many)
    assert "does not grow; choose space='landmarks:256' or 'features'" in str(caught.value.__cause__)
    with pytest.raises(ParameterError, match="has no features of its own"):
        detector("gak", "features").fit(many)
    with pytest.raises(ParameterError, match="landmarks of its own"):
        detector("gak:sigma=1", "landmarks:4").fit(many[:30]).merge(detector("gak:sigma=1", "landmarks:4").fit(many[30:60]))


def test_a_report_and_an_explanation_of_a_compact_model(many):
    fitted = detector("gak", "landmarks:12", calibration="none").fit(many[:130])
    new = many[130:135] + np.linspace(0, 9, 8)[None, :, None]
    explanation = json.loads(fitted.explain(new[0]).to_json())
    squares = sum(part["square"] for part in explanation["directions"]) + explanation["outside"]
    np.testing.assert_allclose(squares, explanation["score"] ** 2, rtol=1e-8)
    assert "130 series" in fitted.report(new)._repr_html_()


def test_an_estimate_says_what_a_fit_would_take(many):
    few, lots = (detector("gak", "gram").estimate(many, count) for count in [1000, 2000])
    assert lots["series"] == 2000
    assert lots["bytes"] > 3.5 * few["bytes"] > 0
    assert lots["kernel_values"] == pytest.approx(4 * few["kernel_values"])
    assert detector("gak", "landmarks:16").estimate(many, 100_000)["bytes"] < 1e9
    with pytest.raises(ParameterError, match="--landmarks 256 would need"):
        detector("gak", "gram").estimate(many, 100_000, memory=4e9)
