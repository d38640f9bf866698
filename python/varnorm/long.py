"""One long recording: windows, scores of points, windows and events, streams."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._kernel import KernelLike, kernel_spec
from .errors import DataError, ParameterError, VarnormWarning

Floats = NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]

CHOICES = (
    "window",
    "stride",
    "alpha",
    "distance",
    "zscore_windows",
    "most_windows",
    "calibration",
    "level",
    "block",
    "folds",
    "merge",
    "minimum_duration",
    "hold_off",
    "seed",
)


class Event(NamedTuple):
    """A stretch of rows whose scores are above the threshold."""

    start: int
    """Its first row."""
    end: int
    """The row after its last."""
    peak: int
    """The row with the highest score."""
    score: float
    """The highest score."""
    p_value: float | None
    """The chance of a normal block with a score as high as this, at most."""
    channels: dict[str, float]
    """How much of the distance at the peak every channel carries, the most first."""
    nearest: int
    """Where the normal window nearest to the peak begins, in the recording that the detector was fitted on."""


class Update(NamedTuple):
    """What some rows brought to light."""

    first_row: int
    """The first of the rows that were given."""
    causal: Floats
    """The causal score of every row that was given."""
    settled_from: int
    """The first row whose settled score became known."""
    settled: Floats
    """Settled scores that became known."""
    alarms: list[dict[str, Any]]
    """Events that have begun: `from`, `row`, `score`."""
    events: list[Event]
    """Events that have ended."""


class Windows(NamedTuple):
    """The scores of windows."""

    start: NDArray[np.int64]
    """Their first rows."""
    score: Floats
    """How novel they are."""
    nearest: NDArray[np.int64]
    """Where the nearest normal windows begin, in the recording that the detector was fitted on."""


class LongDetector(BaseEstimator):  # type: ignore[misc]
    """Where in a long recording does something happen that the normal part does not have?

    The windows of the normal part are a corpus: a window is scored by its distance to the nearest of them in a variance norm. A row
    has two scores. The settled one is the mean over the windows that cover it and is known a window later; the causal one is that
    of the last window that has ended. Alarms rest on the highest scores of normal blocks that the model has not seen.

    Parameters
    ----------
    window : "auto" or int
        Steps of a window. "auto" is the highest peak of the autocorrelation (16 to 256) for one channel, and 32 for several.
    stride : int, optional
        Steps from one scored window to the next; a sixteenth of the window by default.
    kernel : Kernel, str or dict, optional
        How windows are looked at: a kernel with feature vectors. `rocket` for one channel, `flat_linear` for several.
    alpha : float, optional
        Regularisation in units of the mean eigenvalue; 1 for `rocket` and `radon`, 0.1 for others.
    distance : str
        "conformance" (to the nearest normal window) or "mahalanobis" (to their mean).
    zscore_windows : bool
        Whether every window is scaled by itself: shapes without level and size.
    most_windows : int
        Most normal windows that are kept.
    calibration : {"auto", "blocks", "points", "none"}
        What alarms promise; "auto" is "blocks" where there is enough normal data.
    level : float
        The share of normal blocks that may have an alarm.
    block : int, optional
        Steps of a block; four windows by default.
    folds : int
        Contiguous parts of the normal data that are held out in turn.
    merge : int, optional
        Alarms at most so many steps apart are one event; one window by default.
    minimum_duration, hold_off : int
        Steps that an event needs at least, and steps after it in which no other begins.
    seed : int
        Chooses the windows that are kept.
    n_jobs : int or None
        Threads; None is one, -1 is all cores. Results are the same bits for any number.

    Examples
    --------
    >>> import numpy as np, varnorm
    >>> t = np.arange(3000)
    >>> log = np.c_[np.sin(t / 5), np.cos(t / 5)] + 0.1 * np.random.default_rng(0).normal(size=(3000, 2))
    >>> detector = varnorm.LongDetector().fit(log[:2500])
    >>> log[2700:2710, 1] += 3
    >>> any(190 <= event.peak < 230 for event in detector.events(log[2500:]))
    True
    """

    def __init__(
        self,
        window: str | int = "auto",
        stride: int | None = None,
        kernel: KernelLike | None = None,
        alpha: float | None = None,
        distance: str = "conformance",
        zscore_windows: bool = False,
        most_windows: int = 2000,
        calibration: str = "auto",
        level: float = 0.05,
        block: int | None = None,
        folds: int = 5,
        merge: int | None = None,
        minimum_duration: int = 1,
        hold_off: int = 0,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.window = window
        self.stride = stride
        self.kernel = kernel
        self.alpha = alpha
        self.distance = distance
        self.zscore_windows = zscore_windows
        self.most_windows = most_windows
        self.calibration = calibration
        self.level = level
        self.block = block
        self.folds = folds
        self.merge = merge
        self.minimum_duration = minimum_duration
        self.hold_off = hold_off
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, breaks: Sequence[int] = ()) -> LongDetector:
        """Learns from a normal recording: one row per step, one column per channel. Rows are missing before each of `breaks`."""
        choices = {name: getattr(self, name) for name in CHOICES}
        if self.kernel is not None:
            choices["kernel"] = kernel_spec(self.kernel)
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        fitted = _core.LongDetector.fit(_rows(X), list(breaks), json.dumps(choices, default=_plain), names, self.n_jobs)
        return self._take(fitted)

    def _take(self, fitted: _core.LongDetector) -> LongDetector:
        self.detector_ = fitted
        self.window_, self.stride_, self.block_ = fitted.window, fitted.stride, fitted.block
        self.n_features_in_ = fitted.channels
        promise = fitted.promise()
        self.threshold_ = promise[0] if promise else None
        self.promise_ = promise[1] if promise else None
        self._stream: LongStream | None = None
        warning = fitted.warning()
        if warning:
            warnings.warn(warning, VarnormWarning, stacklevel=3)
        return self

    def score_points(self, X: Any, causal: bool = False, breaks: Sequence[int] = ()) -> Floats:
        """How novel every row is; NaN for rows in no window. `causal` looks at the past only."""
        settled, at_once = self._fitted().score(_rows(X), list(breaks), self.n_jobs)
        return at_once if causal else settled

    def pvalues(self, X: Any, causal: bool = False, breaks: Sequence[int] = ()) -> Floats:
        """The chance of a normal block with a score as high as each row's, at most."""
        found = self._fitted().p_values(self.score_points(X, causal, breaks), causal)
        if found is None:
            raise ParameterError("the detector makes no alarms: fit it on more normal data")
        return found

    def predict(self, X: Any, causal: bool = False, breaks: Sequence[int] = ()) -> NDArray[np.bool_]:
        """Whether every row is above the threshold."""
        promise = self._fitted().promise(causal)
        if promise is None:
            raise ParameterError("the detector makes no alarms: fit it on more normal data")
        return self.score_points(X, causal, breaks) > promise[0]

    def score_windows(self, X: Any, breaks: Sequence[int] = ()) -> Windows:
        """The scores of windows, one every `stride_` rows."""
        starts, scores, nearest = self._fitted().windows(_rows(X), list(breaks), self.n_jobs)
        rows = [self.detector_.window_row(int(window)) for window in nearest]
        return Windows(starts, scores, np.array(rows, dtype=np.int64))

    def events(self, X: Any, causal: bool = False, breaks: Sequence[int] = ()) -> list[Event]:
        """Stretches of rows whose scores are above the threshold, merged."""
        found = json.loads(self._fitted().events(_rows(X), list(breaks), causal, self.n_jobs))
        return [_event(self.detector_, event) for event in found]

    def normal_scores(self, causal: bool = False) -> Floats:
        """Scores of normal rows by models that had not seen them, ascending."""
        return self._fitted().normal_scores(causal)

    def update(self, X: Any) -> Update:
        """Takes the next rows of the detector's own stream; `follow` gives streams of their own."""
        if getattr(self, "_stream", None) is None:
            self._stream = self.follow()
        assert self._stream is not None
        return self._stream.update(X)

    def follow(self, causal: bool = False) -> LongStream:
        """A stream at its beginning, for rows as they come; `causal` makes alarms from the causal score."""
        return LongStream(self._fitted(), _core.LongStream(self._fitted(), causal))

    def resume(self, state: bytes) -> LongStream:
        """A stream where its state was saved."""
        return LongStream(self._fitted(), _core.LongStream.from_bytes(state, self._fitted()))

    def save(self, path: PathLike) -> None:
        """Writes the model file, which the program and the library read too."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: PathLike) -> LongDetector:
        """Reads a model file."""
        fitted = _core.LongDetector.load(path)
        choices = json.loads(fitted.settings())
        known = {name: choices[name] for name in CHOICES if name != "distance"}
        if choices["kernel"] is not None:
            known["kernel"] = choices["kernel"]
        tag = choices["distance"]
        parameters = ",".join(f"{key}={value}" for key, value in tag.items() if key != "distance")
        known["distance"] = tag["distance"] + (f":{parameters}" if parameters not in ("", "neighbour=1") else "")
        return cls(**known)._take(fitted)

    def _fitted(self) -> _core.LongDetector:
        check_is_fitted(self, "detector_")
        found: _core.LongDetector = self.detector_
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # A stream belongs to its process; its state can be saved by itself.
        return {name: value for name, value in state.items() if name != "_stream"}


class LongStream:
    """Rows as they come: scores and events as they become certain, to the same bits as all at once."""

    def __init__(self, detector: _core.LongDetector, stream: _core.LongStream) -> None:
        self._detector = detector
        self._stream = stream

    def update(self, X: Any) -> Update:
        """Takes the next rows, which follow the last ones without a gap. A row with a missing value is a gap."""
        return self._told(self._stream.push(_rows(X)))

    def gap(self) -> Update:
        """Rows are missing here, or there are no more."""
        return self._told(self._stream.gap())

    def each(self, chunks: Iterable[Any]) -> Iterator[Update]:
        """An update for every chunk of rows, and one for the end."""
        for chunk in chunks:
            yield self.update(chunk)
        yield self.gap()

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._stream.rows

    def state(self) -> bytes:
        """The state, for `LongDetector.resume`."""
        return self._stream.to_bytes()

    def _told(self, told: tuple[int, Floats, int, Floats, str]) -> Update:
        first, causal, settled_from, settled, certain = told
        alarms, events = json.loads(certain)
        return Update(first, causal, settled_from, settled, alarms, [_event(self._detector, event) for event in events])


def _event(detector: _core.LongDetector, event: dict[str, Any]) -> Event:
    names = detector.channel_names or [str(channel) for channel in range(len(event["channels"]))]
    shares = sorted(zip(names, event["channels"]), key=lambda pair: -pair[1])
    row = detector.window_row(event["nearest"])
    return Event(event["from"], event["to"] + 1, event["peak"], event["score"], event["p_value"], dict(shares), row)


def _rows(X: Any) -> Floats:
    """One row per step, one column per channel."""
    try:
        rows = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"the recording is not an array of numbers: {problem}") from None
    if rows.ndim == 1:
        rows = rows[:, np.newaxis]
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(f"one long recording has one row per step and one column per channel, not the shape {rows.shape}")
    return np.ascontiguousarray(rows)


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise ParameterError(f"{value!r} is not a choice that can be written as JSON")
