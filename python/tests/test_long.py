"""One long recording."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import varnorm


def log(rows, seed, channels=2):
    noise = np.random.default_rng(seed).normal(size=(rows, channels))
    t = np.arange(rows)[:, np.newaxis]
    return np.sin(t / 5 + np.arange(channels)) + 0.2 * noise


@pytest.fixture(scope="module")
def detector():
    return varnorm.LongDetector(most_windows=200).fit(log(2500, 0))


@pytest.fixture(scope="module")
def rows():
    new = log(600, 1)
    new[300:320, 1] += 4
    return new


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


def test_an_event_has_its_place_and_its_channel(detector, rows):
    worst = max(detector.events(rows), key=lambda event: event.score)
    assert worst.start < 320 and worst.end > 300 and 280 <= worst.peak < 340
    assert next(iter(worst.channels)) == "1"
    assert detector.promise_.startswith("at most one false alarm in ")
    scores = detector.score_points(rows)
    assert scores.shape == (600,) and np.isfinite(scores).all()
    assert np.isnan(detector.score_points(rows, causal=True)[: detector.window_ - 1]).all()
    assert (detector.predict(rows) == (scores > detector.threshold_)).all()
    assert (detector.pvalues(rows)[detector.predict(rows)] <= 0.05).all()
    windows = detector.score_windows(rows)
    assert windows.start[1] - windows.start[0] == detector.stride_ and len(windows.score) == len(windows.nearest)


def test_a_stream_has_the_bits_of_the_whole(detector, rows):
    stream, settled, events = detector.follow(), [], []
    for chunk in np.array_split(rows, 37):
        update = stream.update(chunk)
        settled.append(update.settled)
        events.extend(update.events)
        stream = detector.resume(stream.state())
    update = stream.gap()
    assert same(np.concatenate([*settled, update.settled]), detector.score_points(rows))
    assert events + update.events == detector.events(rows)
    assert detector.update(rows).first_row == 0 and detector.update(rows).first_row == 600


def test_a_model_is_saved_cloned_and_pickled(detector, rows, tmp_path):
    path = tmp_path / "log.model"
    detector.save(path)
    for other in (varnorm.LongDetector.load(path), pickle.loads(pickle.dumps(detector))):
        assert same(other.score_points(rows), detector.score_points(rows))
        assert other.get_params() == detector.get_params()
    assert clone(detector).get_params() == detector.get_params()


def test_gaps_and_missing_values_have_no_window_across(detector, rows):
    holed = rows.copy()
    holed[100] = np.nan
    assert np.isnan(detector.score_points(holed)[100])
    broken = detector.score_points(rows, breaks=[100])
    assert not same(broken, detector.score_points(rows))


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
def test_what_is_wrong_is_said():
    with pytest.raises(varnorm.errors.ParameterError, match="19 normal blocks"):
        varnorm.LongDetector(calibration="blocks").fit(log(300, 0))
    with pytest.raises(varnorm.errors.ParameterError, match="must be at least 2|at least"):
        varnorm.LongDetector(window=1).fit(log(300, 0))
    with pytest.raises(varnorm.errors.DataError, match="one row per step"):
        varnorm.LongDetector().fit(np.zeros((2, 3, 4)))
    with pytest.raises(varnorm.errors.DataError, match="2 are expected"):
        varnorm.LongDetector(calibration="none").fit(log(300, 0)).score_points(log(300, 0, 3))
