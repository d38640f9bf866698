"""scikit-learn's own checks, and its tools around our estimators."""

from __future__ import annotations

import pickle
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

import varnorm
from varnorm import FourierSignature, NoveltyDetector, Radon, RandomSignature, Rocket, SignatureFeatures
from varnorm.kernels import FlatRbf, Gak

ESTIMATORS = [
    NoveltyDetector(),
    NoveltyDetector("flat_rbf"),
    NoveltyDetector(Gak(), distance="mahalanobis", calibration="leave_one_out"),
    SignatureFeatures(),
    RandomSignature(features=8),
    FourierSignature(level=2, features=8),
    Rocket(features=84),
    Radon(directions=6, thresholds=4),
]


IN_SAMPLE = (
    "wants a share of the training series to be flagged by the model fitted on them; thresholds here come from scores of "
    "series that the model has not seen, and a series of the corpus is its own nearest normal series"
)


def expected_failures(estimator):
    """All that is left out of scikit-learn's checks; what else they look at is in the test below them."""
    if not isinstance(estimator, NoveltyDetector):
        return {}
    return {"check_outliers_fit_predict": IN_SAMPLE, "check_outliers_train": IN_SAMPLE}


@pytest.mark.filterwarnings("ignore::varnorm.VarnormWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("contamination", ["auto", 0.1])
@pytest.mark.parametrize("estimator", ESTIMATORS[:3], ids=["default", "conformance", "mahalanobis"])
def test_what_the_two_checks_look_at_besides(estimator, contamination):
    X = np.random.default_rng(0).standard_normal((700, 2))
    detector = clone(estimator).set_params(contamination=contamination).fit(X[:300])
    decision, scores, labels = (f(X[300:]) for f in (detector.decision_function, detector.score_samples, detector.predict))
    assert labels.dtype.kind == "i" and set(labels.tolist()) == {-1, 1}
    assert np.array_equal(np.where(decision >= 0, 1, -1), labels)
    assert np.allclose(decision, scores - detector.offset_) and np.array_equal(scores, -detector.novelty(X[300:]))
    level = 0.05 if contamination == "auto" else contamination
    assert abs((labels == -1).mean() - level) < 3 * np.sqrt(level * (1 - level) * (1 / 400 + 1 / 300))
    for method in (detector.predict, detector.decision_function, detector.score_samples):
        with pytest.raises(ValueError, match="features"):
            method(X.T)
    # Each of the 300 is scored without itself: that share of them is flagged.
    assert (clone(estimator).set_params(contamination=level).fit_predict(X[:300]) == -1).sum() == round(300 * level)


VIEWS = [{"kernel": Gak(sigma=4.0)}, {"kernel": "flat_rbf", "alpha": 0.1}]


@pytest.mark.parametrize("choices", [{}, {"preset": "fast", "combination": "max"}, {"views": VIEWS}, {"kernel": Gak()}])
def test_parameters_are_kept_as_they_are(walks, choices):
    detector = NoveltyDetector(**choices, layout="ntd")
    given = detector.get_params(deep=False)
    assert all(given[name] is value for name, value in choices.items())
    assert all(given[name] is None for name in ("norm", "alpha", "space", "prepare", "normalize"))
    detector.fit(walks[:20])
    assert all(value is given[name] for name, value in detector.get_params(deep=False).items())
    assert not hasattr(clone(detector), "detector_")
    expected = detector.novelty(walks[20:])
    for copy in (pickle.loads(pickle.dumps(detector)), clone(detector).fit(walks[:20])):
        assert copy.get_params() == detector.get_params()
        assert np.array_equal(copy.novelty(walks[20:]), expected)


@pytest.fixture()
def labelled(motions):
    """Walking and standing against running, as a table of one channel."""
    train, test = motions
    X, y = np.concatenate([train.X, test.X])[:, :, 0], np.concatenate([train.y, test.y])
    kept = np.isin(y, ["Walking", "Running"])
    return np.ascontiguousarray(X[kept]), np.where(y[kept] == "Walking", 1, -1)


def test_it_works_in_a_pipeline_a_search_and_cross_validation(labelled):
    X, y = labelled
    pipeline = make_pipeline(StandardScaler(), NoveltyDetector("flat_rbf"))
    pipeline.fit(X[y == 1])
    assert pipeline.decision_function(X[y == -1]).mean() < pipeline.decision_function(X[y == 1]).mean()

    # Fitted on all of a fold, judged by the labels: what matters here is that parameters get through.
    scorer = make_scorer(roc_auc_score, response_method="decision_function")
    detector = NoveltyDetector(Gak(), calibration="none")
    with pytest.raises(varnorm.errors.ParameterError, match="no threshold"):
        detector.fit(X).predict(X)
    detector.set_params(calibration="leave_one_out", contamination=0.2)
    # With a bandwidth of next to nothing all series are equally far apart.
    detector.set_params(kernel=FlatRbf())
    grid = {"kernel__sigma": [1e-9, 10.0], "alpha": [0.01, 1.0]}
    search = GridSearchCV(detector, grid, scoring=scorer, cv=2, error_score="raise").fit(X, y)
    scores = cross_val_score(NoveltyDetector(), X, y, scoring=scorer, cv=2, error_score="raise")
    assert search.best_estimator_.kernel == FlatRbf(sigma=10.0)
    assert search.cv_results_["mean_test_score"].min() == 0.5 < search.best_score_
    assert np.isfinite(scores).all()


def test_signature_features_feed_other_estimators(labelled):
    X, y = labelled
    for features in (SignatureFeatures(level=3), RandomSignature(features=16), FourierSignature(level=3, features=64)):
        model = make_pipeline(features, StandardScaler(), SVC()).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) >= 0.8
    names = SignatureFeatures(level=2).fit(X).get_feature_names_out()
    fourier = FourierSignature(level=2, features=3, form="diagonal").fit(X)
    values = fourier.transform(X)
    assert len(fourier.get_feature_names_out()) == values.shape[1] == 1 + 3 * (2 + 4)
    assert np.allclose(values @ values.T, varnorm.gram(fourier.kernel_, X, prepare="time"), rtol=1e-12)
    assert names.tolist() == ["S(1)", "S(2)", "S(1,1)", "S(1,2)", "S(2,1)", "S(2,2)"]


def test_kernels_feed_support_vector_machines(labelled):
    X, y = labelled
    kernel = Gak(sigma=30.0)
    given = SVC(kernel=partial(kernel, normalize=True)).fit(X[::2], y[::2])
    precomputed = SVC(kernel="precomputed").fit(varnorm.gram(kernel, X[::2], normalize=True), y[::2])
    matrix = varnorm.gram(kernel, X[1::2], X[::2], normalize=True)
    assert SVC(kernel=FlatRbf()).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.6
    assert np.allclose(given.decision_function(X[1::2]), precomputed.decision_function(matrix))
    unequal = [x[: 60 + at] for at, x in enumerate(X)]
    model = OneClassSVM(kernel="precomputed").fit(varnorm.gram("gak", unequal, normalize=True))
    assert model.predict(varnorm.gram("gak", unequal, normalize=True)).shape == (len(X),)


def test_copies_of_every_kind_give_the_same_bits(walks, tmp_path):
    detector = NoveltyDetector(Gak(sigma=4.0), layout="ntd").fit(walks[:20])
    expected = detector.novelty(walks[20:])
    again = clone(detector).fit(walks[:20])
    joblib.dump(detector, tmp_path / "detector.joblib")
    for copy in (pickle.loads(pickle.dumps(detector)), joblib.load(tmp_path / "detector.joblib"), again):
        assert np.array_equal(copy.novelty(walks[20:]), expected)
        assert copy.offset_ == detector.offset_ and copy.kernel_ == Gak(sigma=4.0)
    assert clone(detector).kernel is not detector.kernel


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_runs_it_anywhere(walks, backend):
    detector = NoveltyDetector(layout="ntd", n_jobs=2).fit(walks[:20])
    expected = detector.novelty(walks[20:])
    parallel = joblib.Parallel(n_jobs=2, backend=backend, timeout=120)
    for found in parallel(joblib.delayed(detector.novelty)(walks[20:]) for _ in range(3)):
        assert np.array_equal(found, expected)
