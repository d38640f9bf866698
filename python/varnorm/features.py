"""Signatures, convolutions and windows as features, for any other estimator."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core, kernels
from ._input import Layout
from ._kernel import Kernel, kernel_from, kernel_spec
from ._progress import Listening, Progress
from ._table import admit
from .errors import DataError
from .kernels import SigFourier

Floats = NDArray[np.float64]


class _Features(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What all transformers share: preparation learned in `fit`, names of features."""

    prepare: str
    layout: Layout
    n_jobs: int | None
    progress: Progress

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learns the preparation and the number of channels."""
        series = admit(self, X, reset=True)
        self.preparation_, prepared = _core.prepare_fit(self.prepare, series)
        self.n_channels_in_, self.n_channels_ = series.channels, prepared.channels
        self._learn(prepared)
        self._features(prepared.select([0]))
        return self

    def _learn(self, prepared: _core.SeriesSet) -> None:
        """What a transformer learns beside the preparation: nothing, unless it says so."""

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


class FourierSignature(_Features):
    """Random Fourier signature features, whose inner products approach the kernel `Sig(order=1, lift="rbf")`.

    A row has the constant 1, then the features of every level: `features` of each ("tensor") or `2^m` times as many at level m
    ("diagonal").

    Parameters
    ----------
    level, features, form, sigma, scale, seed :
        As for `varnorm.kernels.SigFourier`; what is "auto" is worked out in `fit`.
    prepare, layout, n_jobs, progress :
        As for `SignatureFeatures`.

    Examples
    --------
    >>> import varnorm
    >>> varnorm.FourierSignature(level=2, features=64).fit_transform([[0.0, 1.0, 3.0], [2.0, 1.0, 1.0]]).shape
    (2, 129)
    """

    def __init__(
        self,
        level: int = 5,
        features: int = 256,
        form: Literal["tensor", "diagonal"] = "tensor",
        sigma: float | Literal["auto"] = "auto",
        scale: float | Literal["auto"] = "auto",
        seed: int = 0,
        prepare: str = "time",
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.level = level
        self.features = features
        self.form = form
        self.sigma = sigma
        self.scale = scale
        self.seed = seed
        self.prepare = prepare
        self.layout = layout
        self.n_jobs = n_jobs
        self.progress = progress

    def _learn(self, prepared: _core.SeriesSet) -> None:
        kernel = SigFourier(self.level, self.features, self.form, self.sigma, self.scale, self.seed)
        found = json.loads(_core.resolve(kernel.to_words(), prepared))
        self.kernel_ = SigFourier(**{name: value for name, value in found.items() if name != "kernel"})

    def _features(self, prepared: _core.SeriesSet) -> Floats:
        with Listening(self.progress) as listener:
            return _core.fourier_signature(prepared, self.kernel_.to_words(), self.n_jobs, listener)

    def _names(self) -> list[str]:
        sizes = [self.features * (2**m if self.form == "diagonal" else 1) for m in range(1, self.level + 1)]
        return ["F0", *(f"F{m},{at}" for m, size in enumerate(sizes, 1) for at in range(size))]


class _Shares(_Features):
    """Transformers whose features are shares of steps; what they learn is part of a kernel."""

    kernel_: Kernel

    def _kernel(self) -> Kernel:
        raise NotImplementedError

    def _learn(self, prepared: _core.SeriesSet) -> None:
        self.kernel_ = kernel_from(json.loads(_core.resolve(kernel_spec(self._kernel()), prepared)))

    def _features(self, prepared: _core.SeriesSet) -> Floats:
        with Listening(self.progress) as listener:
            return _core.share_features(prepared, kernel_spec(self.kernel_), self.n_jobs, listener)


class Rocket(_Shares):
    """MiniRocket: for 84 fixed convolutions at several dilations, the shares of steps above biases.

    Dilations and biases are learned in `fit`, the latter as quantiles of convolutions of random series. Series may have any lengths.

    Parameters
    ----------
    features : int
        Number of features, a multiple of 84.
    seed : int
        Chooses series for the biases, and subsets of channels.
    prepare : str
        What is done before.
    layout, n_jobs, progress :
        As for `NoveltyDetector`.

    Examples
    --------
    >>> import varnorm
    >>> varnorm.Rocket(features=84).fit_transform([[0.0, 1.0, 3.0], [2.0, 1.0, 1.0]]).shape
    (2, 84)
    """

    def __init__(
        self,
        features: int = 9996,
        seed: int = 0,
        prepare: str = "none",
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.features = features
        self.seed = seed
        self.prepare = prepare
        self.layout = layout
        self.n_jobs = n_jobs
        self.progress = progress

    def _kernel(self) -> Kernel:
        return kernels.Rocket(self.features, self.seed)

    def _names(self) -> list[str]:
        learned: dict[str, Any] = self.kernel_.to_dict()["fitted"]
        dilations = zip(learned["dilations"], learned["counts"])
        return [f"C{dilation},{kernel},{at}" for dilation, count in dilations for kernel in range(84) for at in range(count)]


class Radon(_Shares):
    """Cumulative Radon features: the shares of steps whose windows are at or below thresholds along random directions.

    Dilations and thresholds are learned in `fit`. Series may have any lengths.

    Parameters
    ----------
    directions, thresholds, window, seed : int
        As for `varnorm.kernels.Radon`; there are `directions * thresholds` features.
    prepare, layout, n_jobs, progress :
        As for `Rocket`.

    Examples
    --------
    >>> import varnorm
    >>> varnorm.Radon(directions=10).fit_transform([[0.0, 1.0, 3.0], [2.0, 1.0, 1.0]]).shape
    (2, 200)
    """

    def __init__(
        self,
        directions: int = 100,
        thresholds: int = 20,
        window: int = 9,
        seed: int = 0,
        prepare: str = "none",
        layout: Layout = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.directions = directions
        self.thresholds = thresholds
        self.window = window
        self.seed = seed
        self.prepare = prepare
        self.layout = layout
        self.n_jobs = n_jobs
        self.progress = progress

    def _kernel(self) -> Kernel:
        return kernels.Radon(self.directions, self.thresholds, self.window, self.seed)

    def _names(self) -> list[str]:
        return [f"P{direction},{at}" for direction in range(self.directions) for at in range(self.thresholds)]
