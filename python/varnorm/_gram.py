"""Kernel values of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import float64
from numpy.typing import NDArray

from . import _core
from ._input import Layout, to_series
from ._progress import Listening, Progress

if TYPE_CHECKING:
    from ._kernel import KernelLike


def gram(
    kernel: KernelLike,
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    log: bool = False,
    prepare: str = "none",
    layout: Layout = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> NDArray[float64]:
    """Kernel values of all pairs of series: one row per series of X, one column per series of Y (of X if Y is left out).

    What is learned from data (the preparation, and kernel parameters that are `auto`) is learned from the columns.

    Parameters
    ----------
    kernel : Kernel, str or dict
        Such as `varnorm.kernels.Gak(sigma=3)`, `"gak:sigma=3"` or `{"kernel": "gak", "sigma": 3}`.
    X, Y : array, list of arrays or table
        The series; see `layout`.
    normalize : bool
        `k(x,y) / sqrt(k(x,x) k(y,y))`.
    log : bool
        Natural logarithms, for values that no float can hold.
    prepare : str
        What is done to the series before: "standard", "published", or steps such as "pool=100,zscore=channel".
    layout : "ntd", "nct", "long" or None
        What the axes of a 3-D array mean: series, steps, channels (tslearn) or series, channels, steps (aeon).
    n_jobs : int or None
        Threads; None is one, -1 is all cores. Results are the same bits for any number.
    progress : bool or function
        True shows a bar (tqdm); a function is called with stage, done and total.

    Examples
    --------
    >>> import varnorm
    >>> varnorm.gram("flat_linear", [[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """
    if isinstance(kernel, str):
        spec = kernel
    else:
        from ._kernel import kernel_spec

        spec = kernel_spec(kernel)
    x = to_series(X, layout)
    y = None if Y is None else to_series(Y, layout, "Y")
    if progress is None:
        return _core.gram(spec, x, y, prepare, normalize, log, n_jobs)
    with Listening(progress) as listener:
        return _core.gram(spec, x, y, prepare, normalize, log, n_jobs, listener)
