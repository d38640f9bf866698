"""Benchmarks, the same as the program's."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

import varnorm
from varnorm.errors import ParameterError

TIMES = ("fit_seconds", "score_seconds")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """BasicMotions, cut short."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "Motions").mkdir()
    for part, data in zip(("TRAIN", "TEST"), varnorm.datasets.load_basic_motions(), strict=True):
        varnorm.datasets.save(folder / "Motions" / f"Motions_{part}.ts", data.X[:, ::4], data.y, name="Motions", layout="ntd")
    return folder


def without_times(outcomes):
    return [{key: value for key, value in one.items() if key not in TIMES} for one in outcomes]


def nearest(corpus, test):
    """The plain nearest neighbour, without a scale."""
    a, b = (X.reshape(len(X), -1) for X in (corpus, test))
    return np.sqrt(((b[:, None] - a[None]) ** 2).sum(axis=-1)).min(axis=1)


def test_it_is_the_program_s_benchmark(folder, program, tmp_path):
    found = varnorm.benchmark(folder, methods=["fast", "nearest"], output=tmp_path / "kept", n_jobs=2)
    theirs = json.loads(program("bench", folder, "--methods", "fast,nearest", "--format", "json"))
    assert without_times(found.to_json()) == without_times(theirs)
    # The program goes on from the folder: nothing is worked out again, so that even times are the same.
    again = json.loads(program("bench", folder, "--methods", "fast,nearest", "-o", tmp_path / "kept", "--format", "json"))
    assert again == found.to_json()
    assert repr(found) == found.table() and "<table" in found._repr_html_()


def test_methods_of_other_packages_are_rows_too(folder):
    others = {"iforest": IsolationForest(random_state=0), "mine": nearest}
    heard = []
    found = varnorm.benchmark(folder, "Motions", methods="nearest", others=others, progress=lambda *word: heard.append(word))
    means = found.means().set_index("method")
    assert list(means.index) == ["nearest", "iforest", "mine"] and heard
    train, test = varnorm.datasets.load_split(folder, "Motions")
    label = "Walking"
    expected = varnorm.metrics.roc_auc(test.y != label, nearest(train.X[train.y == label], test.X))
    one = next(one for one in found.to_json() if (one["class"], one["method"]) == (label, "mine"))
    assert one["roc_auc"] == pytest.approx(expected, abs=1e-12)
    assert "novel_flagged" not in one and 0 < means.roc_auc["iforest"] < 1


def test_what_does_not_fit_is_said(folder):
    with pytest.raises(ParameterError, match="mine gave 1 scores for the 40 test series of Motions"):
        varnorm.benchmark(folder, others={"mine": lambda corpus, test: [1.0]})
    with pytest.raises(ParameterError, match="is none of auto, "):
        varnorm.benchmark(folder, methods="atuo")
    with pytest.raises(ParameterError, match="must be text, markdown or html"):
        varnorm.benchmark(folder, methods="nearest").table("latex")
