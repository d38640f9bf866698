"""Signatures as features, for any other estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._input import Layout
from ._progress import Listening, Progress
from ._table import admit
from .errors import DataError

Floats = NDArray[np.float64]


class _Features(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What both transformers share: preparation learned in `fit`, names of features."""

    prepare: str
    layout: Layout
    n_jobs: int | None
    progress: Progress

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learns the preparation and the number of channels."""
        series = admit(self, X, reset=True)
        self.preparation_, prepared = _core.prepare_fit(self.prepare, series)
        self.n_channels_in_, self.n_channels_ = series.channels, prepared.channels
        self._features(prepared.select([0]))
        return self

    def transform(self, X: Any) -> Floats:
        """One row of features per series."""
        check_is_fitted(self)
        series = admit(self, X, reset=False)
        return self._features(_core.prepare_apply(self.preparation_, series))

    def _features(self, prepared: _core.SeriesSet) -> Floats:
        raise NotImplementedError

    def _names(self) -> list[str]:
        raise NotImplementedError

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name per feature."""
        check_is_fitted(self)
        if input_features is not None and "n_features_in_" in self.__dict__:
            known = getattr(self, "feature_names_in_", None)
            if len(input_features) != self.n_features_in_:
                raise DataError(f"input_features should have length equal to number of features ({self.n_features_in_})")
            if known is not None and list(known) != list(input_features):
                raise DataError("input_features is not equal to feature_names_in_")
        return np.asarray(self._names(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = "interpolate" in self.prepare
        return tags


class SignatureFeatures(_Features):
    """Signatures of series up to a level: d + d^2 + ... + d^level features for d channels (after preparation).

    Parameters
    ----------
    level : int
        The last level.
    prepare : str
        What is done before; "time" appends a channel that runs from 0 to 1, without which a series of one channel has only
        its increment to show.
    layout, n_jobs, progress :
        As for `NoveltyDetector`.

    Examples
    --------
    >>> import varnorm
    >>> varnorm.SignatureFeatures(level=2).fit_transform([[0.0, 1.0, 3.0]])
    array([[3.  , 1.  , 4.5 , 1.25, 1.75, 0.5 ]])
    """

    def __init__(
        self,
        level: int = 3,
        prepare: str = "time",
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.level = level
        self.prepare = prepare
        self.layout = layout
        self.n_jobs = n_jobs
        self.progress = progress

    def _features(self, prepared: _core.SeriesSet) -> Floats:
        with Listening(self.progress) as listener:
            return _core.signature_features(prepared, self.level, self.n_jobs, listener)

    def _names(self) -> list[str]:
        return [f"S({word})" for word in _core.signature_feature_names(self.n_channels_, self.level)]


class RandomSignature(_Features):
    """Randomised signatures: a random network driven by the series, its last state as features.

    Parameters
    ----------
    features : int
        Number of features.
    variance : float or None
        Variance of the entries of the random matrices; None is 1 / features.
    seed : int
        Chooses the random matrices.
    prepare, layout, n_jobs, progress :
        As for `SignatureFeatures`.
    """

    def __init__(
        self,
        features: int = 50,
        variance: float | None = None,
        seed: int = 0,
        prepare: str = "time",
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.features = features
        self.variance = variance
        self.seed = seed
        self.prepare = prepare
        self.layout = layout
        self.n_jobs = n_jobs
        self.progress = progress

    def _features(self, prepared: _core.SeriesSet) -> Floats:
        with Listening(self.progress) as listener:
            return _core.random_signature(prepared, self.features, self.variance, self.seed, self.n_jobs, listener)

    def _names(self) -> list[str]:
        return [f"Z{at}" for at in range(self.features)]
