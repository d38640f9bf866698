"""The detector, as a scikit-learn estimator."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._explanation import Explanation, numbers
from ._frames import is_frame, is_long, read_long
from ._input import Layout, to_one, to_series
from ._kernel import Kernel, KernelLike, kernel_from, kernel_spec
from ._progress import Listening, Progress
from ._report import Page
from ._table import admit
from .errors import ParameterError, VarnormWarning

Floats = NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]
Method = TypeVar("Method", bound=Callable[..., Any])


_NO_THRESHOLD = "calibration = none: there is no threshold to decide by; choose another, or use score_samples"


def _warn_of(found: _core.Findings) -> None:
    """Where nothing can be flagged, a list without flags is no good news."""
    if found.cannot_flag is not None:
        warnings.warn(found.cannot_flag, VarnormWarning, stacklevel=3)


def _grows(detector: NoveltyDetector) -> bool:
    """Whether series can be added to the model."""
    grows = detector.detector_.grows if hasattr(detector, "detector_") else detector._native().grows
    if not grows:
        raise AttributeError("a model of all pairs does not grow; choose space='landmarks:256' or 'features'")
    return True


def _of_growing(method: Method) -> Method:
    """A method that only models have to which series can be added."""
    found: Method = available_if(_grows)(method)
    return found


class NoveltyDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Is a new time series like the normal ones? Scores, p-values and flags by variance norms.

    By default several views of the series are combined: the distribution of their windows, short patterns, and the order of
    events. A view is a preparation, a kernel and a variance norm: a corpus of normal series gives a covariance operator, and a
    new series is scored by its regularised distance to the nearest normal series (conformance) or to their mean (Mahalanobis).
    The scores of the views are made comparable, combined, and calibrated into a p-value.

    Parameters
    ----------
    kernel : Kernel, str or dict, optional
        One view with this kernel, such as `varnorm.kernels.Gak()` or `"gak:sigma=3"`; a parameter left out is worked out from
        the corpus. Left out, `preset` chooses the views. Any of the following choices up to `prepare` means one view too.
    norm : {"envelope", "tikhonov", "exact"}, optional
        Envelope (the default) sees inside and outside of the corpus' span; tikhonov is the paper's; exact is infinite off the
        span.
    distance : {"conformance", "mahalanobis"}, optional
        To the nearest normal series (the default), or to their mean.
    alpha : float or "auto", optional
        Regularisation of the norm; "auto" (the default) is a share of the corpus' variance.
    neighbour : int, optional
        Conformance: distance to the so-many-th nearest normal series; 1 by default.
    max_rank : int, optional
        Most eigenvectors that are kept.
    eigenvalue_threshold : float, optional
        Only eigenvalues above it are kept; 1e-10 times the largest by default.
    space : str, optional
        Where the covariance is worked out: "gram" (all pairs of series, exact), "landmarks:256",
        "landmarks:tolerance=0.001", or "features" for kernels that have them. The last two take corpora of any number of
        series, `partial_fit` and `merge`.
    normalize : bool, optional
        Whether kernel values are normalised; True by default.
    prepare : str, optional
        What is done to series before: "standard" (pool=100,zscore=channel,clip=5), "published", "none", or steps such as
        "interpolate,pool=100,zscore=channel".
    preset : {"auto", "fast", "paper"}
        Views that are chosen for the corpus, where nothing above is given: several that complement each other, one pass of
        features, or the paper's kernels.
    views : list of dict, optional
        The views themselves, each with the choices above: `[{"kernel": "gak"}, {"kernel": "sig:lift=rbf"}]`.
    combination : {"mean", "log_mean_exp", "max"}, optional
        How the comparable scores of several views become one; the mean by default.
    gaps : {"refuse", "interpolate"}
        What happens to missing values inside series: an error, or straight lines between their neighbours. A fitted model
        remembers it; set later, it holds for the series that are scored.
    calibration : str
        How normal scores for comparison are obtained: "auto" (leave-one-out, or cross-fitting where not all pairs are kept),
        "cross_fit", "split", "leave_one_out", "gaussian", "quantile", "supervised" (needs y in `fit`), "fixed:threshold=3",
        "none"; with parameters as in "cross_fit:folds=10,seed=1".
    decision : {"each", "benjamini_hochberg", "storey", "lord"}
        How `predict` and `findings` make flags from p-values: each on its own, over the batch, or over the batch as a stream.
    tail : {"none", "gpd"}
        "gpd" gives p-values below 1/(n+1), by a generalised Pareto law that is assumed for the largest normal scores. The fit
        is tested; a warning says where the scores contradict it.
    robust : {"none", "trim", "trim:0.1"}
        What is done about series of X that do not seem to belong there: "none" names them (`suspects_`), "trim" leaves a fifth
        of X out, "trim:0.1" a tenth: the most suspicious series. False-alarm rates then refer to series like those kept.
    contamination : "auto" or float
        The false-alarm rate: the share of normal series that may be flagged, at most 0.5. "auto" is 0.05.
    layout : {"ntd", "nct", "long"} or None
        What the axes of a 3-D array mean: series, steps, channels (tslearn) or series, channels, steps (aeon); "long" is a
        table with one row per step. A 2-D array needs none: one row is one series of one channel.
    n_jobs : int or None
        Threads; None is one, -1 is all cores. Results are the same bits for any number.
    progress : bool or function
        True shows a bar (tqdm); a function is called with stage, done and total.

    Attributes
    ----------
    offset_ : float
        `decision_function(X) = score_samples(X) - offset_`; minus the threshold on the novelty. nan where a decision over the
        batch has no threshold before the batch is there.
    views_ : list of dict
        Every view, with every `auto` worked out, in the form that `views` takes.
    suspects_ : list of dict
        Series of X that do not seem to belong there, most suspicious first: `series` (the place in X), its `name` where a table
        has names, `deviations`, and whether it was `left_out`.
    notes_ : list of str
        What one should know about the choice of views by a preset.
    kernel_ : Kernel
        The kernel of the first view, with every `auto` worked out.
    eigenvalues_ : ndarray
        Eigenvalues of the covariance in the first view, descending.
    n_series_in_, n_channels_in_ : int
        What was seen in `fit`.
    channel_names_ : list of str or None
        Names of the channels, where `fit` saw a table with names. Later tables are matched by them: columns in another order
        are put in this one, others are ignored with a warning, missing ones are an error.
    sampling_step_ : str or None
        How far apart steps are, such as "10 ms", where `fit` saw times. Series with another step are an error.
    n_features_in_ : int
        Number of steps, where `fit` saw a 2-D array.

    Examples
    --------
    >>> import varnorm
    >>> train, test = varnorm.datasets.load_basic_motions()
    >>> detector = varnorm.NoveltyDetector("integral_rbf", contamination=0.1, layout="ntd")
    >>> detector = detector.fit(train.X[train.y == "Standing"])
    >>> detector.predict(test.X)[test.y == "Running"]
    array([-1, -1, -1, -1, -1, -1, -1, -1, -1, -1])
    """

    def __init__(
        self,
        kernel: KernelLike | None = None,
        norm: str | None = None,
        distance: str | None = None,
        alpha: float | str | None = None,
        neighbour: int | None = None,
        max_rank: int | None = None,
        eigenvalue_threshold: float | None = None,
        space: str | None = None,
        normalize: bool | None = None,
        prepare: str | None = None,
        preset: str = "auto",
        views: list[dict[str, Any]] | None = None,
        combination: str | None = None,
        gaps: str = "refuse",
        calibration: str = "auto",
        decision: str = "each",
        tail: str = "none",
        robust: str = "none",
        contamination: str | float = "auto",
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.kernel = kernel
        self.norm = norm
        self.distance = distance
        self.alpha = alpha
        self.neighbour = neighbour
        self.max_rank = max_rank
        self.eigenvalue_threshold = eigenvalue_threshold
        self.space = space
        self.normalize = normalize
        self.prepare = prepare
        self.preset = preset
        self.views = views
        self.combination = combination
        self.gaps = gaps
        self.calibration = calibration
        self.decision = decision
        self.tail = tail
        self.robust = robust
        self.contamination = contamination
        self.layout = layout
        self.n_jobs = n_jobs
        self.progress = progress

    # -- what was chosen

    def settings(self) -> dict[str, Any]:
        """What was chosen, as the JSON of the program's settings and model files."""
        found: dict[str, Any] = json.loads(self._native().to_json())
        return found

    def _native(self) -> _core.Settings:
        """What was chosen, read once by the library; what is left out has its default there."""
        one_view = _view(
            {
                "kernel": self.kernel,
                "norm": self.norm,
                "distance": self.distance,
                "alpha": self.alpha,
                "neighbour": self.neighbour,
                "max_rank": self.max_rank,
                "eigenvalue_threshold": self.eigenvalue_threshold,
                "space": self.space,
                "normalize": self.normalize,
                "prepare": self.prepare,
            }
        )
        several: dict[str, Any] = {}
        if self.views is not None:
            if one_view:
                raise ParameterError(f"views: {next(iter(one_view))} is a choice of one view; give it in the views themselves")
            several = {"views": [_view(view, f"views[{at}]") for at, view in enumerate(self.views)]}
        elif not one_view:
            several = {"preset": self.preset}
        if self.preset != "auto" and "preset" not in several:
            chosen = next(iter(one_view | several))
            raise ParameterError(f"preset = {self.preset!r}: chooses the views itself; leave out either it or {chosen}")
        rest = {
            "combination": self.combination,
            "gaps": self.gaps,
            "calibration": self.calibration,
            "level": self._level(),
            "decision": self.decision,
            "tail": self.tail,
            "robust": self.robust,
        }
        given = one_view | several | {name: value for name, value in rest.items() if value is not None}
        return _core.Settings(json.dumps(given, default=lambda value: value.item()))

    def _level(self) -> float | None:
        rule = "must be 'auto' or a rate above 0 and at most 0.5"
        if isinstance(self.contamination, str):
            if self.contamination != "auto":
                raise ParameterError(f"contamination = {self.contamination!r}: {rule}")
            return None
        level = float(self.contamination)
        if not 0 < level <= 0.5:
            raise ParameterError(f"contamination = {self.contamination!r}: {rule}, the share of normal series that may be flagged")
        return level

    # -- fitting

    def fit(self, X: Any, y: Any = None) -> NoveltyDetector:
        """Fits on normal series.

        Parameters
        ----------
        X : array, list of arrays or table
            Normal series.
        y : array of 1 and -1, optional
            Only with calibration "supervised": 1 for normal series, -1 for outliers, which choose the threshold and never
            enter the model. Ignored otherwise.
        """
        settings = self._native()
        series = admit(self, X, reset=True)
        corpus, outliers = self._labelled(settings, series, y)
        with Listening(self.progress) as listener:
            detector = _core.Detector.fit(settings, corpus, outliers, self._names(X, settings), self.n_jobs, listener)
        self._take(detector)
        for sentence in detector.warnings():
            warnings.warn(sentence, VarnormWarning, stacklevel=2)
        return self

    def estimate(self, X: Any, n_series: int | None = None, memory: float | None = None) -> dict[str, float]:
        """What `fit` would take: series, kernel_values, seconds and bytes, from a measured sample. `varnorm fit --dry-run`.

        Parameters
        ----------
        X : array, list of arrays or table
            Some of the normal series, or all.
        n_series : int, optional
            How many there will be; as many as X has where it is left out.
        memory : float, optional
            A budget in bytes: an error says what would fit where this does not.
        """
        series = to_series(X, self.layout)
        count = len(series) if n_series is None else n_series
        found: dict[str, float] = json.loads(_core.estimate(self._native(), series, count, memory, self.n_jobs))
        return found

    @_of_growing
    def partial_fit(self, X: Any, y: Any = None) -> NoveltyDetector:
        """Adds normal series to the model, with a `space` of landmarks or features: in any order, the model of all of them.

        The first call learns preparation, automatic parameters and landmarks from its X; later ones keep them.

        Parameters
        ----------
        X : array, list of arrays or table
            Normal series.
        y : ignored
        """
        if not hasattr(self, "detector_"):
            return self.fit(X)
        series = admit(self, X, reset=False)
        with Listening(self.progress) as listener:
            self._take(self.detector_.partial_fit(series, self.n_jobs, listener))
        return self

    @_of_growing
    def fit_like(self, X: Any) -> NoveltyDetector:
        """A detector of other normal series, alike in everything but them: the two can be merged."""
        check_is_fitted(self)
        series = admit(self, X, reset=False)
        with Listening(self.progress) as listener:
            return self._alike(self.detector_.fit_like(series, self._names(X), self.n_jobs, listener))

    @_of_growing
    def merge(self, *others: NoveltyDetector) -> NoveltyDetector:
        """The detector of all series of these detectors, in their order: `varnorm merge`."""
        for one in (self, *others):
            check_is_fitted(one)
        models = [one.detector_ for one in (self, *others)]
        return self._alike(_core.Detector.merge(models, self.n_jobs))

    def _alike(self, detector: _core.Detector) -> NoveltyDetector:
        alike = NoveltyDetector(**self.get_params(deep=False))
        if hasattr(self, "n_features_in_"):
            alike.n_features_in_ = self.n_features_in_
        alike._take(detector)
        return alike

    @staticmethod
    def _labelled(settings: _core.Settings, series: _core.SeriesSet, y: Any) -> tuple[_core.SeriesSet, _core.SeriesSet | None]:
        if not settings.needs_outliers:
            return series, None
        labels = None if y is None else np.asarray(y)
        if labels is None or labels.shape != (len(series),) or not np.isin(labels, (1, -1)).all():
            raise ParameterError("calibration = supervised: fit(X, y) needs y with 1 for each normal series and -1 for each outlier")
        normal, outliers = (np.flatnonzero(labels == sign).tolist() for sign in (1, -1))
        return series.select(normal), series.select(outliers)

    def _names(self, X: Any, settings: _core.Settings | None = None) -> list[str] | None:
        """Names of the series, where a table has them: they are told with findings."""
        if settings is not None and settings.needs_outliers:
            return None
        long = is_frame(X) and (self.layout == "long" or is_long(X))
        return [str(name) for name in read_long(X).cases] if long else None

    def _take(self, detector: _core.Detector) -> None:
        threshold = detector.decision_threshold()
        self.detector_ = detector
        self.views_: list[dict[str, Any]] = [_choices_of(view) for view in json.loads(detector.views())]
        self.suspects_: list[dict[str, Any]] = json.loads(detector.suspects())
        self.notes_: list[str] = detector.notes()
        self.kernel_: Kernel = kernel_from(detector.kernel())
        self.eigenvalues_: Floats = detector.eigenvalues()
        self.n_channels_in_ = detector.channels
        self.channel_names_: list[str] | None = detector.channel_names
        self.sampling_step_: str | None = detector.sampling_step
        self.n_series_in_ = detector.corpus_series
        self.offset_ = np.nan if threshold is None else -threshold

    # -- what scikit-learn asks for: higher is more normal

    def score_samples(self, X: Any) -> Floats:
        """How normal each series is: minus its novelty."""
        return -self.novelty(X)

    def decision_function(self, X: Any) -> Floats:
        """How far each series is on the normal side of the threshold: negative is flagged.

        Benjamini-Hochberg and Storey have a threshold of their own for each batch; LORD++ has none.
        """
        found = self._found(X)
        if found.novel is None:
            raise ParameterError(_NO_THRESHOLD)
        if found.threshold is None:
            raise ParameterError("decision = 'lord': which series are flagged depends on their order; use predict")
        return found.threshold - found.scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 for normal, -1 for novel: the flags of `findings`, at the level `contamination`."""
        found = self._found(X)
        if found.novel is None:
            raise ParameterError(_NO_THRESHOLD)
        _warn_of(found)
        return np.where(found.novel, -1, 1)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Fits on these series and says which of them stand out: 1 for normal, -1 for novel.

        Each series is scored by the model of the others, and flagged where at most a share `contamination` of all scores so
        high: without ties, that share of the series is flagged. With `robust="trim"` the model is that of the kept series.
        Models that do not keep all pairs (`space` landmarks or
        features) score the series that they hold, as `fit(X).predict(X)` does.

        Parameters
        ----------
        X : array, list of arrays or table
            Series.
        y : array, optional
            As for `fit`. With calibration "supervised" every series is scored by the model that is fitted.
        """
        self.fit(X, y)
        settings = self._native()
        if self.detector_.grows or settings.needs_outliers:
            return self.predict(X)
        if self.calibration == "none":
            raise ParameterError(_NO_THRESHOLD)
        series = to_series(X, self.layout)
        scores = np.empty(len(series))
        left_out = sorted(one["series"] for one in self.suspects_ if one["left_out"])
        kept = np.setdiff1d(np.arange(len(series)), left_out)
        with Listening(self.progress) as listener:
            scores[kept] = _core.leave_one_out(settings, series.select(kept.tolist()), self.n_jobs, listener)
        if left_out:
            scores[left_out] = self.detector_.score(series.select(left_out), None, None, self.n_jobs).scores
        order = np.sort(scores)
        above = len(scores) - np.searchsorted(order, scores, side="left")
        # Counts over counts: equality up to rounding is equality.
        return np.where(above <= settings.level * len(scores) * (1 + 1e-12), -1, 1)

    # -- what only this detector says: higher is more novel

    def _admitted(self, X: Any) -> _core.SeriesSet:
        """Series to be scored."""
        series = admit(self, X, reset=False)
        return series if self.gaps == "refuse" else series.filled(self.gaps)

    def _found(self, X: Any, level: float | None = None, decision: str | None = None) -> _core.Findings:
        check_is_fitted(self)
        series = self._admitted(X)
        if self.progress is None:
            found = self.detector_.score(series, level, decision, self.n_jobs)
        else:
            with Listening(self.progress) as listener:
                found = self.detector_.score(series, level, decision, self.n_jobs, listener)
        for note in found.notes:
            warnings.warn(note, VarnormWarning, stacklevel=3)
        return found

    def novelty(self, X: Any) -> Floats:
        """How novel each series is: its distance from the normal ones. Higher is more."""
        return self._found(X).scores

    def pvalues(self, X: Any) -> Floats:
        """The chance of a normal series scoring at least as high as each of these."""
        found = self._found(X).p_values
        if found is None:
            raise ParameterError("calibration = none: there are no p-values; choose another calibration, such as cross_fit")
        return found

    def nearest(self, X: Any) -> NDArray[np.int64]:
        """The nearest normal series of each, by its place in the X of `fit`."""
        return self._found(X).nearest

    def findings(self, X: Any, level: float | None = None, decision: str | None = None, as_frame: bool = False) -> Any:
        """Everything that is found about each series, with flags over the whole batch: `varnorm score --format json`.

        Parameters
        ----------
        level : float, optional
            The rate that flags aim at; `contamination` where it is left out.
        decision : {"benjamini_hochberg", "storey", "lord", "each"}, optional
            How flags are made; the detector's `decision` where it is left out.
        as_frame : bool
            The findings alone, as a pandas table.
        """
        native = self._found(X, level, decision)
        _warn_of(native)
        found = numbers(json.loads(native.to_json()))
        if not as_frame:
            return found
        import pandas

        return pandas.DataFrame(found["findings"]).set_index("series")

    def explain(self, x: Any, segments: int = 10) -> Explanation:
        """Why a single series has its score: eigendirections, channels, stretches of time, nearest normal series.

        Parameters
        ----------
        x : array
            One series: 1-D for one channel, else 2-D, by `layout` without its n.
        segments : int
            How many stretches time is cut into.
        """
        check_is_fitted(self)
        series = to_one(x, self.layout)
        series = series if self.gaps == "refuse" else series.filled(self.gaps)
        return Explanation(json.loads(self.detector_.explain(series, 0, segments, self.n_jobs)))

    def report(
        self,
        X: Any = None,
        y: Any = None,
        *,
        normal: str | None = None,
        level: float | None = None,
        decision: str | None = None,
        explain: int = 20,
        segments: int = 10,
        title: str = "Series",
    ) -> Page:
        """Everything there is to see, as one HTML page: `varnorm report`. Notebooks show it; `save` keeps it.

        Parameters
        ----------
        X : optional
            Series to score; left out, the page shows the detector alone.
        y : optional
            A label per series.
        normal : str, optional
            The label of normal series: gives ROC and precision-recall curves.
        level, decision :
            As for `findings`.
        explain : int
            So many of the most novel series are explained; each takes as long as scoring a few dozen.
        segments : int
            Explanations cut time into so many stretches.
        title : str
            What the page is called.
        """
        check_is_fitted(self)
        series = None if X is None else self._admitted(X)
        labels = None if y is None else [str(label) for label in np.asarray(y).ravel()]
        if labels is not None and (series is None or len(labels) != len(series)):
            raise ParameterError("y: needs one label for each series of X")
        names = None if X is None else self._names(X)
        with Listening(self.progress) as listener:
            page = _core.report(
                self.detector_, series, title, names, labels, normal, level, decision, explain, segments, self.n_jobs, listener
            )
        return Page(page)

    def _html_repr(self) -> str:
        """What a notebook shows: the pictures of a fitted detector."""
        if not hasattr(self, "detector_"):
            unfitted: str = super()._html_repr()
            return unfitted
        return self.report()._repr_html_()

    def diagnostics(self) -> dict[str, Any]:
        """What the corpus and the norm are good for: `varnorm inspect --format json`."""
        check_is_fitted(self)
        found: dict[str, Any] = numbers(json.loads(self.detector_.diagnostics()))
        return found

    def leave_one_out(self, X: Any) -> Floats:
        """Novelty of each of these series under the model of the others. Nothing needs to be fitted before."""
        with Listening(self.progress) as listener:
            return _core.leave_one_out(self._native(), to_series(X, self.layout), self.n_jobs, listener)

    # -- keeping it

    def save(self, path: PathLike) -> None:
        """Writes the model file of the program: whole or not at all."""
        check_is_fitted(self)
        self.detector_.save(os.fspath(path))

    @classmethod
    def load(cls, path: PathLike, *, layout: Layout = None, n_jobs: int | None = None) -> NoveltyDetector:
        """Reads a model file, written here or by the program."""
        detector = _core.Detector.load(os.fspath(path))
        model = cls(**_choices(json.loads(detector.settings())), layout=layout, n_jobs=n_jobs)
        model._take(detector)
        return model

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "detector_" in state:
            state["detector_"] = state["detector_"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("detector_"), bytes):
            state["detector_"] = _core.Detector.from_bytes(state["detector_"])
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self._native().fills_missing
        return tags


def _view(choices: Any, name: str = "views") -> dict[str, Any]:
    """The choices of one view as the program's JSON has them; what is None is left out."""
    if not isinstance(choices, dict):
        raise ParameterError(f"{name} = {choices!r}: must be a dictionary of choices, such as {{'kernel': 'gak'}}")
    given = {name: value for name, value in choices.items() if value is not None}
    if "kernel" in given:
        given["kernel"] = kernel_spec(given["kernel"])
    if "normalize" in given:
        given["scaling"] = "normalized" if given.pop("normalize") else "raw"
    neighbour = given.pop("neighbour", None)
    distance = given.get("distance", "conformance")
    if isinstance(distance, str) and distance not in ("conformance", "mahalanobis"):
        raise ParameterError(f"distance = {distance!r}: must be 'conformance' or 'mahalanobis'")
    if neighbour is not None and distance == "conformance":
        given["distance"] = {"distance": "conformance", "neighbour": neighbour}
    rank = {name: given.pop(name) for name in ("max_rank", "eigenvalue_threshold") if name in given}
    return given | ({"rank": rank} if rank else {})


def _choices_of(view: dict[str, Any]) -> dict[str, Any]:
    """The choices of a fitted view: without what its kernel learned, and without the rank that came out."""
    kernel = {name: value for name, value in view["kernel"].items() if name != "fitted"}
    return {name: value for name, value in view.items() if name != "rank"} | {"kernel": kernel}


def _choices(settings: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a detector with these settings."""
    shared = {
        "calibration": json.dumps(settings["calibration"]),
        "decision": settings["decision"],
        "gaps": settings.get("gaps", "refuse"),
        "tail": settings.get("tail", "none"),
        "robust": json.dumps(settings["robust"]) if "robust" in settings else "none",
        "contamination": settings["level"],
    }
    if "preset" in settings or "views" in settings:
        names = ("preset", "views", "combination")
        return shared | {name: settings[name] for name in names if name in settings}
    distance = settings["distance"]
    return shared | {
        "kernel": kernel_from(settings["kernel"]),
        "norm": settings["norm"],
        "distance": distance["distance"],
        "alpha": settings["alpha"],
        "neighbour": distance.get("neighbour"),
        "max_rank": settings["rank"]["max_rank"],
        "eigenvalue_threshold": settings["rank"]["eigenvalue_threshold"],
        "space": json.dumps(settings["space"]) if "space" in settings else None,
        "normalize": settings["scaling"] == "normalized",
        "prepare": json.dumps(settings["prepare"]),
    }
