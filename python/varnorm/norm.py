"""Variance norms of any sample, for the theory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._input import Layout, as_array, refuse_times, to_series
from ._kernel import KernelLike, kernel_spec
from ._progress import Listening, Progress
from .errors import DataError, ParameterError

Floats = NDArray[np.float64]


class Measured(NamedTuple):
    """What is measured about some elements."""

    scores: Floats
    """The norms; infinite off the Cameron-Martin space under the exact one."""
    nearest: NDArray[np.int64] | None
    """The nearest elements of the sample, for conformance."""
    off_span: Floats
    """The distance of each element from the Cameron-Martin space around the mean."""


class VarianceNorm:
    """The variance norms of a sample of a Hilbert space: the Mahalanobis distance in any dimension.

    Made by `from_vectors`, `from_functions`, `from_coordinates`, `from_gram` or `from_kernel`.

    Examples
    --------
    >>> import numpy as np, varnorm
    >>> norm = varnorm.VarianceNorm.from_vectors([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    >>> norm.mahalanobis([[2.0, 1.0]], norm="exact").round(6)
    array([1.414214])
    """

    def __init__(self, native: _core.VarianceNorm, kind: str, layout: Layout = None) -> None:
        self._native = native
        self._kind = kind
        self._layout = layout

    @classmethod
    def from_vectors(
        cls, X: ArrayLike, *, max_rank: int | None = None, eigenvalue_threshold: float | None = None
    ) -> VarianceNorm:
        """From vectors, one per row, with the usual inner product."""
        return cls(_core.VarianceNorm.from_vectors(_rows(X), max_rank, eigenvalue_threshold), "vectors")

    @classmethod
    def from_functions(
        cls, values: ArrayLike, grid: ArrayLike, *, max_rank: int | None = None, eigenvalue_threshold: float | None = None
    ) -> VarianceNorm:
        """From functions in L2 given on a grid: one row per function (2-D), or functions, points, values per point (3-D)."""
        points = np.asarray(grid, dtype=np.float64).ravel().tolist()
        native = _core.VarianceNorm.from_functions(_rows(values), points, max_rank, eigenvalue_threshold)
        return cls(native, "vectors")

    @classmethod
    def from_coordinates(
        cls, X: ArrayLike, *, max_rank: int | None = None, eigenvalue_threshold: float | None = None
    ) -> VarianceNorm:
        """From coordinates in a basis of a Banach space, one element per row; only the exact norm exists there."""
        return cls(_core.VarianceNorm.from_coordinates(_rows(X), max_rank, eigenvalue_threshold), "vectors")

    @classmethod
    def from_gram(
        cls, gram: ArrayLike, *, max_rank: int | None = None, eigenvalue_threshold: float | None = None
    ) -> VarianceNorm:
        """From all inner products of the sample. New elements are then given by `products` and `squares`."""
        return cls(_core.VarianceNorm.from_gram(_rows(gram), max_rank, eigenvalue_threshold), "products")

    @classmethod
    def from_kernel(
        cls,
        kernel: KernelLike,
        X: Any,
        *,
        normalize: bool = True,
        layout: Layout = None,
        max_rank: int | None = None,
        eigenvalue_threshold: float | None = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> VarianceNorm:
        """From time series under a kernel; parameters that are `auto` are worked out from them."""
        with Listening(progress) as listener:
            native = _core.VarianceNorm.from_kernel(
                kernel_spec(kernel), to_series(X, layout), normalize, max_rank, eigenvalue_threshold, n_jobs, listener
            )
        return cls(native, "series", layout)

    @property
    def eigenvalues(self) -> Floats:
        """Eigenvalues of the covariance, descending."""
        return self._native.eigenvalues()

    @property
    def tolerance(self) -> float:
        """The largest distance from the Cameron-Martin space that counts as on it."""
        return self._native.tolerance

    def measure(
        self,
        X: Any,
        *,
        squares: ArrayLike | None = None,
        norm: str = "envelope",
        alpha: float = 0.1,
        distance: str = "mahalanobis",
        neighbour: int = 1,
    ) -> Measured:
        """Norms of the differences from the mean, or from the nearest elements of the sample.

        Parameters
        ----------
        X :
            Elements in the form of the sample: vectors, values on the grid, series; for `from_gram` their inner products with
            the sample, one row each, with `squares`, those with themselves.
        norm, alpha, distance, neighbour :
            As for `NoveltyDetector`.
        """
        if self._kind == "series":
            series = to_series(X, self._layout)
            return Measured(*self._native.measure_series(series, norm, alpha, distance, neighbour))
        rows = _rows(X)
        if self._kind == "vectors":
            return Measured(*self._native.measure_vectors(rows, norm, alpha, distance, neighbour))
        if squares is None:
            raise ParameterError("squares = None: a norm from a Gram matrix needs the inner product of each element with itself")
        own = np.ascontiguousarray(squares, dtype=np.float64)
        if own.shape != (len(rows),):
            raise DataError(f"squares has the shape {own.shape} where one per row of X is expected: ({len(rows)},)")
        return Measured(*self._native.measure_products(rows, own, norm, alpha, distance, neighbour))

    def mahalanobis(self, X: Any, *, squares: ArrayLike | None = None, norm: str = "envelope", alpha: float = 0.1) -> Floats:
        """Norms of the differences from the mean."""
        return self.measure(X, squares=squares, norm=norm, alpha=alpha).scores

    def conformance(
        self, X: Any, *, squares: ArrayLike | None = None, norm: str = "envelope", alpha: float = 0.1, neighbour: int = 1
    ) -> Floats:
        """Norms of the differences from the nearest elements of the sample."""
        found = self.measure(X, squares=squares, norm=norm, alpha=alpha, distance="conformance", neighbour=neighbour)
        return found.scores

    def gaussian_pvalues(self, scores: ArrayLike, *, norm: str = "envelope", alpha: float = 0.1) -> Floats:
        """The chance of a new element having at least these Mahalanobis norms, if the sample comes from a Gaussian."""
        return self._native.gaussian_survival(np.ascontiguousarray(scores, dtype=np.float64), norm, alpha)


def _rows(X: Any) -> Floats:
    given = as_array(X, "X")
    refuse_times(given, "X")
    rows = np.asarray(given, dtype=np.float64)
    if rows.ndim == 3:
        rows = rows.reshape(len(rows), -1)
    if rows.ndim != 2:
        raise DataError(f"X is a {rows.ndim}-D array; give one element per row")
    return rows
