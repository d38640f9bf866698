"""Studies, a unit a task."""

from __future__ import annotations

import functools
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, Union

import dask
from dask.delayed import Delayed
from distributed import Client

from .. import _core
from .._progress import Listening, Progress
from .._study import Study
from ._tasks import find_client, unique, work

PathLike = Union[str, "os.PathLike[str]"]
#: Data set, kernel, class.
Unit = tuple[str, str, str]


def study(
    folder: PathLike,
    datasets: str | Sequence[str],
    *,
    kernels: Sequence[str] | None = None,
    run: PathLike | None = None,
    grid: Mapping[str, Any] | None = None,
    published: PathLike | None = None,
    compat: str | None = None,
    select: str = "joint",
    baselines: bool = True,
    scores: Mapping[str, PathLike] | None = None,
    n_jobs: int | None = None,
    progress: Progress = None,
    client: Client | None = None,
) -> Study:
    """A study whose units (a data set, a kernel, a class) are worked out by the workers of Dask: that of `varnorm.study`.

    A finished unit is written to `run` at once, by the calling process; a worker that is lost costs the unit it was at. The
    folder is one of `varnorm study`: the program and `varnorm.study` show it and go on with it, and the other way round. When
    the call ends its lines are in the order of a run on one machine, and the same bytes.

    Parameters
    ----------
    folder : path
        Holds `NAME/NAME_TRAIN.ts` and `NAME/NAME_TEST.ts`. Every machine must see it, and files of `published` and `scores`.
    datasets, kernels, grid, published, compat, select, baselines, scores :
        As for `varnorm.study`.
    run : path, optional
        Keep every finished unit in this folder, and go on from what is there. Only the calling process needs to see it.
    n_jobs : int or None
        Threads of a task; None is one, which leaves threads to Dask.
    progress : bool or function
        True shows a bar (tqdm); a function is called with the unit, done and total.
    client : distributed.Client, optional
        Whose workers; left out, the current one, else Dask's current scheduler.
    """
    names = [datasets] if isinstance(datasets, str) else list(datasets)
    asked = (
        os.path.abspath(folder),
        None if kernels is None else tuple(kernels),
        None if grid is None else json.dumps(grid),
        None if published is None else os.path.abspath(published),
        compat,
        select,
        baselines,
        tuple((name, os.path.abspath(path)) for name, path in (scores or {}).items()),
    )
    with tempfile.TemporaryDirectory() as scratch:
        place = scratch if run is None else os.fspath(run)
        kept = _loaded(names, *asked).open(place)
        try:
            _work_out(kept, asked, n_jobs, progress, find_client(client))
        finally:
            kept.close()
        return Study.read(place, published=published)


def _work_out(
    kept: _core.StudyFolder, asked: tuple[Any, ...], n_jobs: int | None, progress: Progress, client: Client | None
) -> None:
    missing = kept.missing()
    call, task, done = unique(), dask.delayed(_unit, pure=False), 0

    def build(_: Any, units: list[Unit]) -> list[Delayed]:
        return [task(call, asked, unit, n_jobs) for unit in units]

    with Listening(progress) as listener:

        def take(unit: Unit, found: tuple[str, float]) -> None:
            nonlocal done
            kept.add(*found)
            done += 1
            if listener is not None:
                listener("/".join(unit), done, len(missing))

        work(client, {}, build, missing, take)


def _loaded(datasets: list[str], folder: str, kernels: Any, grid: Any, published: Any, *rest: Any) -> _core.StudyUnits:
    compat, select, baselines, scores = rest
    rows = None if kernels is None else list(kernels)
    return _core.StudyUnits(folder, datasets, rows, grid, published, compat, select, baselines, list(scores))


# -- what workers do


@functools.lru_cache(maxsize=2)
def _read(call: str, dataset: str, asked: tuple[Any, ...]) -> _core.StudyUnits:
    """A data set, read once per worker and call: its files can have changed by the next one."""
    return _loaded([dataset], *asked)


def _unit(call: str, asked: tuple[Any, ...], unit: Unit, n_jobs: int | None) -> tuple[str, float]:
    """A unit's line, and what it took."""
    unit = (unit[0], unit[1], unit[2])
    loaded = _read(call, unit[0], _hashable(asked))
    began = time.perf_counter()
    return loaded.work(unit, n_jobs), time.perf_counter() - began


def _hashable(value: Any) -> Any:
    """Dask hands tuples on as lists."""
    return tuple(_hashable(item) for item in value) if isinstance(value, (list, tuple)) else value
