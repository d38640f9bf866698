"""The detector says what the program says, and keeps what it was told."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas
import pytest

import varnorm
from varnorm import NoveltyDetector
from varnorm.errors import DataError, FileError, FormatError, ParameterError, VarnormError
from varnorm.kernels import FlatRbf, Sig

VIEWS = [dict(kernel="gak", alpha=0.1, neighbour=2), dict(kernel=FlatRbf(), normalize=False, prepare="none", max_rank=4)]
SETTINGS = [
    (dict(), ()),
    (dict(preset="fast", combination="max"), ("--preset", "fast", "--settings", "combination.json")),
    (dict(views=VIEWS, decision="storey"), ("--settings", "views.json")),
    (dict(kernel="flat_rbf"), ("--kernel", "flat_rbf")),
    (dict(kernel="gak", distance="mahalanobis", alpha=0.01, max_rank=5), ("--kernel", "gak", "--distance", "mahalanobis", "--alpha", 0.01, "--max-rank", 5)),
    (dict(kernel=Sig(level=3), norm="tikhonov", neighbour=2, prepare="published,time"), ("--kernel", "sig:level=3", "--norm", "tikhonov", "--neighbour", 2, "--prepare", "published,time")),
    (dict(calibration="split:holdout=0.5", normalize=False, contamination=0.2), ("--calibration", "split:holdout=0.5", "--no-normalize", "--level", 0.2)),
    (dict(decision="storey", eigenvalue_threshold=1e-3), ("--decision", "storey", "--eigenvalue-threshold", 1e-3)),
    (dict(kernel="gak", space="landmarks:count=8,seed=3"), ("--kernel", "gak", "--space", "landmarks:count=8,seed=3")),
    (dict(kernel="sig_random", space="features", distance="mahalanobis"), ("--kernel", "sig_random", "--space", "features", "--distance", "mahalanobis")),
    (dict(calibration="gaussian", distance="mahalanobis"), ("--calibration", "gaussian", "--distance", "mahalanobis")),
]


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
@pytest.mark.parametrize(("settings", "arguments"), SETTINGS)
def test_models_go_from_python_to_the_program_and_back(walks, program, tmp_path, settings, arguments):
    np.save(tmp_path / "normal.npy", walks[:20])
    np.save(tmp_path / "new.npy", walks[20:])
    ours, theirs = tmp_path / "ours.model", tmp_path / "theirs.model"
    detector = NoveltyDetector(**settings, layout="ntd", n_jobs=2).fit(walks[:20])
    detector.save(ours)
    # What has no option of its own is in a file of settings.
    chosen = {name: value for name, value in detector.settings().items() if name in ("views", "combination", "decision")}
    for name in ("combination", "views"):
        (tmp_path / f"{name}.json").write_text(json.dumps(chosen if name == "views" else {name: chosen.get(name)}))
    program("fit", tmp_path / "normal.npy", "-o", theirs, *arguments, cwd=tmp_path)
    assert ours.read_bytes() == theirs.read_bytes()

    found = json.loads(program("score", ours, tmp_path / "new.npy", "--format", "json"))
    loaded = NoveltyDetector.load(theirs, layout="ntd")
    for model in (detector, loaded):
        assert model.findings(walks[20:])["findings"] == [
            {key: one[key] for key in one if key != "name"} for one in found["findings"]
        ]
        assert model.novelty(walks[20:]).tolist() == [one["score"] for one in found["findings"]]
        assert model.nearest(walks[20:]).tolist() == [one["nearest"] for one in found["findings"]]
        assert model.pvalues(walks[20:]).tolist() == [one["p_value"] for one in found["findings"]]
    # What was loaded can be fitted again.
    assert loaded.settings() == json.loads(detector.detector_.settings())
    assert np.array_equal(loaded.fit(walks[:20]).novelty(walks), detector.novelty(walks))


@pytest.mark.parametrize("settings", [dict(), dict(kernel="flat_rbf"), dict(views=VIEWS), dict(combination="log_mean_exp")])
@pytest.mark.parametrize("contamination", ["auto", 0.2])
def test_flags_pvalues_and_the_sign_of_the_decision_agree(motions, settings, contamination):
    train, test = motions
    X = np.concatenate([train.X, test.X])
    normal = np.flatnonzero(np.concatenate([train.y, test.y]) == "Standing")
    detector = NoveltyDetector(**settings, contamination=contamination, layout="ntd").fit(X[normal])
    level = 0.05 if contamination == "auto" else contamination
    flagged = detector.predict(X) == -1
    assert 0 < flagged.sum() < len(X)
    assert np.array_equal(flagged, detector.pvalues(X) <= level)
    assert np.array_equal(flagged, detector.decision_function(X) < 0)
    found = detector.findings(X)
    assert flagged.tolist() == [one["novel"] for one in found["findings"]]
    assert found["level"] == level and found["threshold"] == -detector.offset_


def test_several_views_are_combined(walks):
    detector = NoveltyDetector(views=VIEWS, layout="ntd").fit(walks[:20])
    assert [view["kernel"]["kernel"] for view in detector.views_] == ["gak", "flat_rbf"]
    assert detector.kernel_.name == "gak" and detector.detector_.n_views == 2
    found = detector.findings(walks[20:])["findings"]
    assert [view["view"] for view in found[0]["views"]] == ["gak", "flat_rbf"]
    means = [np.mean([view["score"] for view in one["views"]]) for one in found]
    np.testing.assert_allclose(detector.novelty(walks[20:]), means, rtol=1e-12)
    most = detector.set_params(combination="max").fit(walks[:20]).findings(walks[20:])["findings"]
    assert [one["score"] for one in most] == [max(view["score"] for view in one["views"]) for one in most]
    assert detector.explain(walks[23]).view == max(most[3]["views"], key=lambda view: view["score"])["view"]
    # One view in a list is that view.
    one = NoveltyDetector(views=[dict(kernel="gak")], layout="ntd").fit(walks[:20])
    assert one.detector_.to_bytes() == NoveltyDetector("gak", layout="ntd").fit(walks[:20]).detector_.to_bytes()


def test_names_of_a_long_table_are_told_as_the_program_tells_them(walks, program, tmp_path):
    names = [f"run {at}" for at in range(20)]
    varnorm.datasets.save(tmp_path / "normal.csv", walks[:20], layout="ntd", case_names=names)
    program("fit", tmp_path / "normal.csv", "-o", tmp_path / "theirs.model")
    detector = NoveltyDetector(layout="long").fit(pandas.read_csv(tmp_path / "normal.csv", float_precision="round_trip"))
    detector.save(tmp_path / "ours.model")
    assert (tmp_path / "ours.model").read_bytes() == (tmp_path / "theirs.model").read_bytes()
    detector.set_params(layout="ntd")
    found = detector.findings(walks[20:])["findings"]
    assert [one["nearest_name"] for one in found] == [names[at] for at in detector.nearest(walks[20:])]


def test_explanations_are_the_program_s(walks, program, tmp_path):
    detector = NoveltyDetector(layout="ntd", contamination=0.1).fit(walks[:20])
    detector.save(tmp_path / "model")
    np.save(tmp_path / "new.npy", walks[20:])
    found = json.loads(program("explain", tmp_path / "model", tmp_path / "new.npy", "--series", 3, "--format", "json"))
    explanation = detector.explain(walks[23])
    assert json.loads(explanation.to_json()).items() <= found.items()
    assert explanation.score == detector.novelty(walks[23:24])[0]
    assert len(explanation.channels) == 3 and len(explanation.segments) == 10
    nct = NoveltyDetector(layout="nct", contamination=0.1).fit(walks[:20].transpose(0, 2, 1))
    assert nct.explain(walks[23].T).to_json() == explanation.to_json()
    assert "nearest normal series" in repr(explanation)
    assert explanation._repr_html_().count("<svg") == 2
    with pytest.raises(DataError, match="x must be a single series: .* it is a 3-D array"):
        detector.explain(walks[23:24])
    with pytest.raises(DataError, match="state which"):
        NoveltyDetector(contamination=0.1).fit(walks[:20, :, 0]).explain(walks[23])


def test_reports_are_the_program_s(walks, program, tmp_path):
    detector = NoveltyDetector(layout="ntd", contamination=0.1).fit(walks[:20])
    detector.save(tmp_path / "model")
    np.save(tmp_path / "new.npy", walks[20:])
    program("report", tmp_path / "model", tmp_path / "new.npy", "-o", tmp_path / "new.html")
    page = detector.report(walks[20:], title="new")
    assert page == (tmp_path / "new.html").read_text()
    page.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page and repr(page).startswith("<page of ")
    # What a notebook shows: a frame with the pictures of the detector alone, which an unfitted one has not.
    program("report", tmp_path / "model", "-o", tmp_path / "alone.html")
    shown = detector._repr_mimebundle_()["text/html"]
    assert html.unescape(re.search('srcdoc="([^"]*)"', shown)[1]) == (tmp_path / "alone.html").read_text()
    assert "srcdoc" not in NoveltyDetector()._repr_mimebundle_()["text/html"]
    labels = ["calm"] * 5 + ["<b>wild</b>"] * 5
    labelled = detector.report(walks[20:], labels, normal="calm", explain=1)
    assert "Precision and recall" in labelled and "<b>wild" not in labelled
    with pytest.raises(ParameterError, match="one label for each series"):
        detector.report(walks[20:], labels[:3])


def test_the_smart_watch_recordings_are_told_apart(motions):
    train, test = motions
    detector = NoveltyDetector("integral_rbf", contamination=0.1, layout="ntd").fit(train.X[train.y == "Standing"])
    novel = test.y != "Standing"
    assert varnorm.metrics.roc_auc(novel, detector.novelty(test.X)) > 0.95
    assert (detector.predict(test.X)[novel] == -1).mean() > 0.9
    frame = detector.findings(test.X, decision="each", as_frame=True)
    assert frame.index.name == "series" and frame.novel[novel].mean() > 0.9
    assert set(detector.nearest(test.X)) <= set(range(10))
    assert detector.diagnostics()["series"] == 10


def test_labelled_outliers_choose_the_threshold(walks):
    X = np.concatenate([walks, walks[:6] + 30])
    y = np.r_[np.ones(30, int), -np.ones(6, int)]
    detector = NoveltyDetector("flat_rbf", calibration="supervised:objective=youden", layout="ntd").fit(X, y)
    assert (detector.predict(walks[:6] + 30) == -1).all() and detector.n_series_in_ == 30
    for labels in (None, y[:5], y * 2):
        with pytest.raises(ParameterError, match="needs y with 1 for each normal series and -1 for each outlier"):
            NoveltyDetector(calibration="supervised", layout="ntd").fit(X, labels)


def test_leave_one_out_scores_are_those_of_models_of_the_others(walks):
    # With alpha given: one that is left to the corpus is that of all series.
    detector = NoveltyDetector(FlatRbf(sigma=5.0), alpha=0.1, prepare="none", calibration="none", layout="ntd")
    found = detector.leave_one_out(walks)
    for at in (0, 17):
        others = np.delete(walks, at, axis=0)
        assert found[at] == pytest.approx(detector.fit(others).novelty(walks[at : at + 1])[0], rel=1e-9)


def test_threads_do_not_change_a_bit(walks):
    one, four = (NoveltyDetector("gak", layout="ntd", n_jobs=n).fit(walks[:20]) for n in (1, 4))
    assert np.array_equal(one.novelty(walks), four.novelty(walks))
    assert one.detector_.to_bytes() == four.detector_.to_bytes()


def test_what_it_was_told_is_checked_when_it_is_fitted(walks):
    for wrong, words in [
        (dict(kernel="gag"), "gag: is not a kernel"),
        (dict(norm="euclid"), "unknown variant `euclid`"),
        (dict(distance="far"), "must be 'conformance' or 'mahalanobis'"),
        (dict(alpha=0.0), "alpha = 0: must be positive for the envelope norm"),
        (dict(prepare="wavelet"), "`wavelet` is not a preparation step"),
        (dict(calibration="magic"), "calibration = magic"),
        (dict(decision="coin"), "unknown variant `coin`"),
        (dict(contamination="much"), "must be 'auto' or a rate"),
        (dict(contamination=1.5), "contamination = 1.5: must be 'auto' or a rate above 0 and at most 0.5"),
        (dict(n_jobs=0), "n_jobs = 0: must be a number of threads"),
        (dict(max_rank=2.5), r'rank = \{"max_rank":2.5\}: invalid type'),
        (dict(max_rank=0), "max_rank = 0: must be at least 1"),
        (dict(progress="loud"), "must be True, False or a function"),
        (dict(preset="best"), "preset = .*best"),
        (dict(preset="fast", kernel="gak"), "preset = 'fast': chooses the views itself; leave out either it or kernel"),
        (dict(preset="fast", views=[dict(kernel="gak")]), "leave out either it or views"),
        (dict(views=[dict(kernel="gak")], norm="exact"), "views: norm is a choice of one view"),
        (dict(views=[]), "at least one view"),
        (dict(views=["gak"]), r"views\[0\] = 'gak': must be a dictionary"),
        (dict(views=[dict(kernel="gak", colour="red")]), "unknown field `colour`"),
        (dict(views=[dict(kernel="gak"), dict(space="landmarks:4")]), "either all views are of all pairs"),
        (dict(combination="sum"), "unknown variant `sum`"),
    ]:
        with pytest.raises(ParameterError, match=words):
            NoveltyDetector(**{"layout": "ntd"} | wrong).fit(walks)
    with pytest.warns(varnorm.VarnormWarning, match="cannot give a p-value below"):
        NoveltyDetector(layout="ntd").fit(walks[:10])
    with pytest.raises(ParameterError, match="there are no p-values"):
        NoveltyDetector(layout="ntd", calibration="none").fit(walks).pvalues(walks)
    with pytest.raises(DataError, match="series 4, step 0, channel 2"):
        broken = walks.copy()
        broken[4, 0, 2] = np.inf
        NoveltyDetector(layout="ntd").fit(broken)
    gaps = walks.copy()
    gaps[4, 5, 2] = np.nan
    assert NoveltyDetector(prepare="interpolate,standard", layout="ntd").fit(gaps).predict(gaps).shape == (30,)


def test_files_that_cannot_be_used_say_why(walks, tmp_path):
    detector = NoveltyDetector(layout="ntd").fit(walks)
    with pytest.raises(FileError, match="cannot read .*nowhere.model"):
        NoveltyDetector.load(tmp_path / "nowhere.model")
    with pytest.raises(OSError, match="cannot write"):
        detector.save(tmp_path / "no" / "folder.model")
    detector.save(tmp_path / "good.model")
    damaged = bytearray((tmp_path / "good.model").read_bytes())
    damaged[-9] ^= 1
    (tmp_path / "bad.model").write_bytes(damaged)
    with pytest.raises(FormatError, match="not a usable varnorm model: its checksum does not fit"):
        NoveltyDetector.load(tmp_path / "bad.model")
    for kind in (FileError, FormatError, ParameterError, DataError):
        assert issubclass(kind, VarnormError)


def test_a_loaded_supervised_model_is_fitted_again_on_labels(tmp_path):
    train, _ = varnorm.datasets.load_basic_motions()
    y = np.where(np.isin(train.y, ["Standing", "Walking"]), 1, -1)
    model = NoveltyDetector(calibration="supervised", layout="ntd").fit(train.X, y)
    model.save(tmp_path / "supervised.model")
    loaded = NoveltyDetector.load(tmp_path / "supervised.model", layout="ntd")
    again = loaded.fit(train.X, y)
    assert again.offset_ == model.offset_
    with pytest.raises(ParameterError, match="needs y"):
        loaded.fit(train.X)


def test_views_of_a_detector_make_the_same_detector_again(walks):
    detector = NoveltyDetector(layout="ntd").fit(walks)
    assert [view["kernel"]["kernel"] for view in detector.views_] == ["radon", "rocket", "sig"]
    assert "fitted" not in repr(detector.views_)
    again = NoveltyDetector(views=detector.views_, layout="ntd").fit(walks)
    assert np.array_equal(again.novelty(walks), detector.novelty(walks))
