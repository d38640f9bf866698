"""Input of estimators: what scikit-learn wants to be checked about 2-D arrays, and nothing more than that."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from . import _core
from ._frames import is_frame, is_long, is_nested, is_timed
from ._input import as_array, refuse_times, to_series
from .errors import DataError, VarnormWarning


def admit(estimator: Any, X: Any, *, reset: bool) -> _core.SeriesSet:
    """The series of X; 2-D arrays and wide tables go by scikit-learn's rules (names and number of features)."""
    if _is_plain(estimator, X) and not reset:
        return to_series(X)
    # scikit-learn would take what is masked for data, and dates for numbers.
    if isinstance(X, np.ndarray):
        X = as_array(X, "X")
        refuse_times(X, "X")
    rows_are_steps = estimator.layout == "long" or is_long(X) or is_nested(X) or is_timed(X)
    # With a layout of three axes, a 2-D array is not what was meant: `to_series` says so.
    plain = isinstance(X, np.ndarray) and X.ndim == 2 and estimator.layout is not None
    table = not rows_are_steps and not plain and (is_frame(X) or hasattr(X, "toarray") or _is_table(X))
    if table:
        least = 2 if reset and hasattr(estimator, "contamination") else 1
        X = validate_data(
            estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False, ensure_min_samples=least
        )
    elif reset:
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)
    series = to_series(X, estimator.layout)
    if len(series) == 0:
        raise DataError("X: Found array with 0 sample(s): there is no series")
    for note in series.notes:
        warnings.warn(note, VarnormWarning, stacklevel=4)
    return series


def _is_plain(estimator: Any, X: Any) -> bool:
    """An array as most calls have it, for which a few looks are enough."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and getattr(estimator, "n_features_in_", None) == X.shape[1]
        and estimator.layout is None
        and not hasattr(estimator, "feature_names_in_")
    )


def _is_table(X: Any) -> bool:
    """2-D, or something that scikit-learn can say what is wrong with."""
    if isinstance(X, _core.SeriesSet):
        return False
    if isinstance(X, (list, tuple)):
        if len(X) > 0 and all(is_frame(item) for item in X):
            return False
        # Lists of lists or of 1-D arrays, all of one length: otherwise they are series.
        dimensions = {np.asarray(item).ndim for item in X}
        return dimensions <= {0} or (dimensions == {1} and len({len(item) for item in X}) == 1)
    array = np.asarray(X)
    return array.ndim < 3 and not (array.dtype == object and array.ndim == 1)
