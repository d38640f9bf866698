"""Models of corpora that lie in many partitions."""

from __future__ import annotations

import os
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import Client
from sklearn.base import clone

from .. import _core
from .._progress import Listening, Progress
from ..detector import NoveltyDetector
from ..errors import ParameterError, VarnormError
from ._score import _sources
from ._tasks import find_client, work


def fit(
    detector: NoveltyDetector,
    data: Any,
    *,
    csv_layout: str = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    client: Client | None = None,
) -> NoveltyDetector:
    """Fits a detector on series in many partitions, on the workers of Dask: a model per partition, merged into one.

    The `space` of the detector's views must be landmarks or features. One that is fitted is what all partitions are fitted like: its
    preparation, its kernel and its landmarks stay, its own series do not count. One that is not learns these from the first
    partition. Choose that partition as a fair sample, or fit the detector on one.

    Parameters
    ----------
    detector : NoveltyDetector
        What to fit; it is not changed.
    data : dask array, dask bag, list of paths, or list of delayed objects
        As for `varnorm.dask.score`; two series or more in each partition.
    csv_layout :
        As for `varnorm.datasets.load`.
    n_jobs : int or None
        Threads of a task; None is one, which leaves threads to Dask.
    progress : bool or function
        True shows a bar (tqdm); a function is called with stage, done and total partitions.
    client : distributed.Client, optional
        Whose workers; left out, the current one, else Dask's current scheduler.

    Returns
    -------
    The fitted detector: to 1e-10 that of one call with all series, `detector.fit_like(X)`.
    """
    if not hasattr(detector, "fit_like"):
        raise ParameterError("space = gram: a model of all pairs is not made of parts; choose space='landmarks:256' or 'features'")
    sources = _sources(data)
    if not sources:
        raise ParameterError("data: there is no partition")
    places = list(range(len(sources)))
    models: dict[int, NoveltyDetector] = {}
    with Listening(progress) as listener:

        def take(at: int, model: NoveltyDetector) -> None:
            models[at] = model
            if listener is not None:
                listener("partitions", len(models), len(sources))

        def run(task: Any, sent: NoveltyDetector, keys: list[int]) -> None:
            def build(shared: Any, keys: list[int]) -> list[Delayed]:
                return [task(shared["detector"], sources[at], csv_layout) for at in keys]

            work(find_client(client), {"detector": sent}, build, keys, take, broadcast=True)

        learned = hasattr(detector, "detector_")
        if not learned:
            run(dask.delayed(_fit, pure=False), _quiet(clone(detector), n_jobs), places[:1])
        run(dask.delayed(_fit_like, pure=False), detector if learned else models[0], places[len(models) :])
    whole = models[0].merge(*(models[at] for at in places[1:]))
    whole.set_params(n_jobs=detector.n_jobs, progress=detector.progress)
    return whole


def _quiet(detector: NoveltyDetector, n_jobs: int | None) -> NoveltyDetector:
    detector.set_params(n_jobs=n_jobs, progress=None)
    return detector


# -- what workers do


def _fit(detector: NoveltyDetector, part: Any, csv_layout: str) -> NoveltyDetector:
    """The model of the first partition, from which the others learn."""
    return _told(part, lambda series: detector.fit(series), csv_layout)


def _fit_like(detector: NoveltyDetector, part: Any, csv_layout: str) -> NoveltyDetector:
    """The model of another partition."""
    return _told(part, detector.fit_like, csv_layout)


def _told(part: Any, fit: Any, csv_layout: str) -> NoveltyDetector:
    paths = _paths(part)
    if paths is None:
        return fit(list(part) if hasattr(part, "__next__") else part)  # type: ignore[no-any-return]
    try:
        return fit(_core.read(paths, csv_layout).series)  # type: ignore[no-any-return]
    except VarnormError as problem:
        raise type(problem)(f"{', '.join(paths)}: {problem}") from None


def _paths(part: Any) -> list[str] | None:
    """The files of a partition, where it is given as files."""
    if isinstance(part, (str, os.PathLike)):
        return [os.fspath(part)]
    if isinstance(part, (list, tuple)) and len(part) > 0 and not isinstance(part, np.ndarray):
        if all(isinstance(item, (str, os.PathLike)) for item in part):
            return [os.fspath(item) for item in part]
    return None
