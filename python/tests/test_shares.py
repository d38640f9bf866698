"""Rocket and Radon: aeon's features, lengths, names, and what travels with a kernel."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import varnorm
from varnorm import Radon, Rocket, kernels
from varnorm.errors import ParameterError

GOLDEN = Path(__file__).parents[2] / "crates" / "varnorm" / "tests" / "data" / "rocket.json"
TRANSFORMERS = [Rocket(features=252), Radon(directions=7, thresholds=5)]


def test_the_features_of_aeon():
    for case in json.loads(GOLDEN.read_text())["cases"]:
        X = np.array(case["eighths"]) / 8
        rocket = Rocket(features=case["kernel"]["features"], layout="ntd").fit(X)
        rocket.kernel_ = kernels.kernel_from(case["kernel"])
        np.testing.assert_allclose(rocket.transform(X), case["features"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=["rocket", "radon"])
def test_any_lengths_any_threads_and_the_kernel_of_the_features(transformer, walks):
    unequal = [x[: 1 + 3 * at] for at, x in enumerate(walks[:7])]
    for X in (walks, unequal):
        fitted = type(transformer)(**transformer.get_params() | {"layout": "ntd"}).fit(X)
        features = fitted.transform(X)
        assert features.shape == (len(X), len(fitted.get_feature_names_out())) and features.min() >= 0 and features.max() <= 1
        assert len(set(fitted.get_feature_names_out())) == features.shape[1]
        assert np.array_equal(fitted.set_params(n_jobs=2).transform(X), features)
        assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(X[:3]), features[:3])
        values = varnorm.gram(fitted.kernel_, X, layout="ntd")
        np.testing.assert_allclose(values, features @ features.T / features.shape[1], rtol=1e-12)


@pytest.mark.parametrize("kernel", [kernels.Rocket(84, 1), kernels.Radon(5, 4, seed=1)], ids=["rocket", "radon"])
def test_what_was_learned_travels_in_json_and_not_in_words(kernel, walks):
    resolved = kernel.resolve(walks, layout="ntd")
    assert resolved.fitted and "fitted" not in resolved.to_words() and "fitted" not in repr(resolved)
    again = kernels.kernel_from(json.loads(json.dumps(resolved.to_dict())))
    assert again == resolved == pickle.loads(pickle.dumps(resolved)) and again.resolve(walks[:3], layout="ntd") == resolved
    broken = resolved.to_dict()
    name = "biases" if kernel.name == "rocket" else "ranges"
    broken["fitted"][name] = base64.b64encode(b"123").decode()
    with pytest.raises(ParameterError, match="3 bytes where"):
        kernels.kernel_from(broken)


@pytest.mark.parametrize("space", ["gram", "features"])
@pytest.mark.parametrize("kernel", ["rocket:features=252", "radon:directions=9"])
def test_a_detector_carries_what_was_learned(kernel, space, walks, tmp_path):
    detector = varnorm.NoveltyDetector(kernel, space=space, prepare="none", calibration="none", layout="ntd").fit(walks)
    detector.save(tmp_path / "shares.model")
    loaded = varnorm.NoveltyDetector.load(tmp_path / "shares.model", layout="ntd")
    assert loaded.kernel_ == detector.kernel_ and loaded.kernel_.fitted
    assert np.array_equal(loaded.novelty(walks * 1.5), detector.novelty(walks * 1.5))


def test_features_are_a_multiple_of_84(walks):
    with pytest.raises(ParameterError, match="multiple of 84"):
        Rocket(features=100, layout="ntd").fit(walks)
