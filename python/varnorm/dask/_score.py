"""Scores of series that lie in many partitions."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import Client
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._explanation import numbers
from .._progress import Listening, Progress
from ..detector import NoveltyDetector
from ..errors import ParameterError, VarnormError
from ._tasks import constant, find_client, work

#: What is found about a series on its own.
FOUND = [("score", "f8"), ("p_value", "f8"), ("nearest", "i8"), ("outside_span", "f8")]


def _found_type(detector: _core.Detector) -> np.dtype[Any]:
    """A record of what is found about a series; several views have a score each."""
    views = [("views", "f8", (detector.n_views,))] if detector.n_views > 1 else []
    return np.dtype([*FOUND, *views])


def _scored_type(found: np.dtype[Any]) -> np.dtype[Any]:
    """The same with where the series is (partition, and place in it), and whether it is flagged among all."""
    return np.dtype([("partition", "i8"), ("series", "i8"), *found.descr, ("novel", "?")])


def score(
    detector: NoveltyDetector,
    data: Any,
    *,
    findings: bool = False,
    level: float | None = None,
    decision: str | None = None,
    csv_layout: str = "auto",
    compute: bool = True,
    n_jobs: int | None = None,
    progress: Progress = None,
    client: Client | None = None,
) -> Any:
    """Scores series in many partitions on the workers of Dask: the bits of `NoveltyDetector.findings`.

    The detector is sent once, as the bytes of its model file, to every worker. A partition is in one worker's memory at a time;
    only what is found comes back.

    Parameters
    ----------
    detector : NoveltyDetector
        A fitted one; its `layout` says how partitions are read.
    data : dask array, dask bag, list of paths, or list of delayed objects
        A dask array is cut along its first axis, the series. A partition of a bag is a list of series or of paths. Files are
        read on the workers, so that every machine must see them. A delayed object is a partition: an array, a list of
        arrays, a table, or a path.
    findings : bool
        The dictionary of `NoveltyDetector.findings` over all series, in the order of partitions, instead of an array.
    level, decision :
        As for `NoveltyDetector.findings`: flags are made over all series.
    csv_layout :
        As for `varnorm.datasets.load`.
    compute : bool
        False returns what is worked out when it is asked for: a dask array of `varnorm.dask` records (score, p_value, nearest,
        outside_span; with several views also views) for a dask array, else a list of delayed arrays of them, one per
        partition. Flags need all series: there are none.
    n_jobs : int or None
        Threads of a task; None is one, which leaves threads to Dask.
    progress : bool or function
        True shows a bar (tqdm); a function is called with stage, done and total partitions.
    client : distributed.Client, optional
        Whose workers; left out, the current one, else Dask's current scheduler.

    Returns
    -------
    Structured array with partition, series (its place in the partition), score, p_value, nearest, outside_span and novel,
    and with several views `views`, the comparable score in each; without calibration p_value is nan and novel False.
    """
    check_is_fitted(detector)
    sources = _sources(data)
    if not sources:
        raise ParameterError("data: there is no partition")
    model: NoveltyDetector = copy.copy(detector)
    model.n_jobs, model.progress = n_jobs, None
    task = dask.delayed(_score, pure=False)
    if not compute:
        sent = constant(model, "detector")
        found = [task(sent, source, csv_layout) for source in sources]
        return _as_array(data, found, _found_type(detector.detector_)) if hasattr(data, "rechunk") else found

    parts: dict[int, NDArray[Any]] = {}
    with Listening(progress) as listener:

        def take(at: int, part: NDArray[Any]) -> None:
            parts[at] = part
            if listener is not None:
                listener("partitions", len(parts), len(sources))

        def build(shared: Any, places: list[int]) -> list[Delayed]:
            return [task(shared["detector"], sources[at], csv_layout) for at in places]

        work(find_client(client), {"detector": model}, build, list(range(len(sources))), take, broadcast=True)
    return _joined(detector.detector_, [parts[at] for at in range(len(sources))], findings, level, decision)


def _sources(data: Any) -> list[Any]:
    """A partition each: delayed, or a path."""
    if hasattr(data, "rechunk"):  # a dask array
        if data.ndim not in (2, 3):
            raise ParameterError(f"data: a dask array of series is 2-D or 3-D, and this one is {data.ndim}-D")
        whole = data.rechunk(dict.fromkeys(range(1, data.ndim), -1))
        return list(whole.to_delayed().ravel())
    if hasattr(data, "to_delayed"):  # a dask bag
        return list(data.to_delayed())
    if isinstance(data, Delayed):
        return [data]
    if isinstance(data, (str, os.PathLike)):
        return [os.path.abspath(data)]
    if isinstance(data, Sequence) and all(isinstance(part, (str, os.PathLike, Delayed)) for part in data):
        return [part if isinstance(part, Delayed) else os.path.abspath(part) for part in data]
    raise ParameterError(
        f"data is a {type(data).__name__}: must be a dask array, a dask bag, a list of paths or a list of delayed objects; "
        "dask.array.from_array(X, chunks=(1000, -1, -1)) makes one of an array"
    )


def _as_array(data: Any, found: list[Delayed], dtype: np.dtype[Any]) -> Any:
    import dask.array

    parts = [dask.array.from_delayed(part, (size,), dtype=dtype) for part, size in zip(found, data.chunks[0], strict=True)]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


def _joined(
    detector: _core.Detector, parts: list[NDArray[Any]], findings: bool, level: float | None, decision: str | None
) -> Any:
    found = np.concatenate(parts)
    views = found["views"].tolist() if detector.n_views > 1 else [[]] * len(found)
    whole = detector.findings_of(
        found["score"].tolist(), found["nearest"].tolist(), found["outside_span"].tolist(), views, level, decision
    )
    if findings:
        return numbers(json.loads(whole.to_json()))
    scored = np.zeros(len(found), dtype=_scored_type(found.dtype))
    for name in found.dtype.names or ():
        scored[name] = found[name]
    scored["partition"] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    scored["series"] = np.concatenate([np.arange(len(part)) for part in parts])
    if whole.novel is not None:
        scored["novel"] = whole.novel
    return scored


# -- what workers do


def _score(detector: NoveltyDetector, part: Any, csv_layout: str) -> NDArray[Any]:
    """What is found about the series of a partition."""
    if isinstance(part, (str, os.PathLike)):
        return _of_file(detector, part, csv_layout)
    if not isinstance(part, (list, tuple, np.ndarray)) and hasattr(part, "__next__"):
        part = list(part)
    if isinstance(part, (list, tuple)):
        if len(part) == 0:
            return np.zeros(0, dtype=_found_type(detector.detector_))
        if all(isinstance(item, (str, os.PathLike)) for item in part):
            return np.concatenate([_of_file(detector, item, csv_layout) for item in part])
    if isinstance(part, np.ndarray) and len(part) == 0:
        return np.zeros(0, dtype=_found_type(detector.detector_))
    return _found(detector, part)


def _of_file(detector: NoveltyDetector, path: str | os.PathLike[str], csv_layout: str) -> NDArray[Any]:
    series = _core.read([os.fspath(path)], csv_layout).series
    try:
        return _found(detector, series)
    except VarnormError as problem:
        raise type(problem)(f"{os.fspath(path)}: {problem}") from None


def _found(detector: NoveltyDetector, part: Any) -> NDArray[Any]:
    native = detector._found(part)
    found = np.empty(len(native), dtype=_found_type(detector.detector_))
    p_values = native.p_values
    found["score"], found["nearest"], found["outside_span"] = native.scores, native.nearest, native.outside_span
    found["p_value"] = np.nan if p_values is None else p_values
    if "views" in (found.dtype.names or ()):
        found["views"] = native.view_scores
    return found
