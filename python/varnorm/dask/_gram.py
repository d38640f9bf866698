"""Kernel values of all pairs, block by block."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import Client
from numpy.typing import NDArray

from .. import _core
from .._input import Layout, to_series
from .._kernel import KernelLike, kernel_spec
from .._progress import Listening, Progress
from ..errors import DataError, ParameterError, VarnormError
from ._store import BlockStore, Place
from ._tasks import Shared, constant, find_client, threads_of, work

Floats = NDArray[np.float64]
#: Tasks per thread where the size of blocks is left out, and the least and largest size then.
TASKS_PER_THREAD = 6
SMALLEST, LARGEST = 16, 1024


def gram(
    kernel: KernelLike,
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    log: bool = False,
    prepare: str = "none",
    layout: Layout = None,
    block: int | None = None,
    store: str | os.PathLike[str] | None = None,
    compute: bool = True,
    n_jobs: int | None = None,
    progress: Progress = None,
    client: Client | None = None,
) -> Any:
    """Kernel values of all pairs of series, worked out in blocks by the workers of Dask: the bits of `varnorm.gram`.

    What is learned from data (the preparation, and kernel parameters that are `auto`) is learned once, here, from the columns.
    Of a matrix of one set with itself, only the blocks on and above the diagonal are worked out. A worker that is lost costs
    the block it was at.

    Parameters
    ----------
    kernel, X, Y, normalize, log, prepare, layout :
        As for `varnorm.gram`.
    block : int, optional
        Series per block; left out, six blocks per thread of the cluster, or what `store` was begun with.
    store : path, optional
        Workers write each block there, once, whole or not at all; a later call with the same store goes on where it was. A
        folder keeps the blocks; a path that ends in `.npy` becomes the whole matrix, which is returned as a `numpy.memmap` and
        need not fit memory. Every machine must see it.
    compute : bool
        False returns a dask array that is worked out when it is asked for.
    n_jobs : int or None
        Threads of a task; None is one, which leaves threads to Dask.
    progress : bool or function
        True shows a bar (tqdm); a function is called with stage, done and total.
    client : distributed.Client, optional
        Whose workers; left out, the current one, else Dask's current scheduler.

    Returns
    -------
    ndarray, memmap (with a store that ends in `.npy`) or dask array (with `compute=False`)
    """
    client = find_client(client)
    plan = _Plan(kernel, X, Y, normalize, log, prepare, layout, n_jobs)
    kept = None if store is None else BlockStore(store)
    plan.cut(_block_size(plan, block, kept, client))
    if kept is not None:
        kept.open(plan.header())
        if compute and kept.done():
            return kept.mapped()
    if not compute:
        return plan.lazy(kept)
    return plan.computed(kept, client, progress)


def _block_size(plan: _Plan, block: int | None, kept: BlockStore | None, client: Client | None) -> int:
    if block is not None:
        if block < 1:
            raise ParameterError(f"block = {block}: must be a number of series, at least 1")
        return int(block)
    begun = None if kept is None else kept.begun()
    if begun is not None and isinstance(begun.get("block"), int):
        return int(begun["block"])
    series = len(plan.rows) * len(plan.columns) / (2 if plan.within else 1)
    fair = (series / (TASKS_PER_THREAD * threads_of(client))) ** 0.5
    return int(min(max(fair, SMALLEST), LARGEST))


class _Plan:
    """What is worked out, and in which blocks."""

    def __init__(
        self, kernel: Any, X: Any, Y: Any, normalize: bool, log: bool, prepare: str, layout: Layout, n_jobs: int | None
    ) -> None:
        self.within = Y is None
        rows = to_series(X, layout)
        fitted, self.columns = _core.prepare_fit(prepare, rows if Y is None else to_series(Y, layout, "Y"))
        self.rows = self.columns if Y is None else _core.prepare_apply(fitted, rows)
        if len(self.rows) == 0 or len(self.columns) == 0:
            raise DataError("X: Found array with 0 sample(s): there is no series")
        self.kernel = _core.resolve(kernel_spec(kernel), self.columns)
        _core.gram_check(self.kernel, self.rows, None if Y is None else self.columns)
        self.normalize, self.log, self.n_jobs = normalize, log, n_jobs
        self.shape = (len(self.rows), len(self.columns))

    def cut(self, block: int) -> None:
        """Into blocks of so many series."""
        self.block = block
        self.row_cuts = _cuts(self.shape[0], block)
        self.column_cuts = _cuts(self.shape[1], block)
        self.places: list[Place] = [
            (i, j) for i in range(len(self.row_cuts)) for j in range(i if self.within else 0, len(self.column_cuts))
        ]
        self.parts = {f"rows-{i}": _part(self.rows, cut) for i, cut in enumerate(self.row_cuts)}
        if not self.within:
            self.parts |= {f"columns-{j}": _part(self.columns, cut) for j, cut in enumerate(self.column_cuts)}

    def header(self) -> dict[str, Any]:
        """What a store is begun with."""
        return {
            "kernel": json.loads(self.kernel),
            "normalize": self.normalize,
            "log": self.log,
            "shape": list(self.shape),
            "block": self.block,
            "rows": _checksum(self.rows),
            "columns": None if self.within else _checksum(self.columns),
        }

    def names(self, place: Place) -> tuple[str, str]:
        """The parts of a block."""
        return f"rows-{place[0]}", f"rows-{place[1]}" if self.within else f"columns-{place[1]}"

    def of(self, parts: list[str], shared: Shared) -> list[Delayed]:
        """Tasks for the self-values of parts."""
        task = dask.delayed(_self_values, pure=False)
        first = {f"rows-{i}": cut[0] for i, cut in enumerate(self.row_cuts)}
        first |= {f"columns-{j}": cut[0] for j, cut in enumerate(self.column_cuts)}
        return [task(self.kernel, shared[name], self.n_jobs, first[name]) for name in parts]

    def blocks(self, places: list[Place], shared: Shared, store: BlockStore | None, give: bool) -> list[Delayed]:
        """Tasks for blocks."""
        task, tasks = dask.delayed(_block, pure=False), []
        for place in places:
            rows, columns = self.names(place)
            first = (self.row_cuts[place[0]][0], self.column_cuts[place[1]][0])
            selves = (shared.get(_of(rows)), shared.get(_of(columns)))
            same = self.within and place[0] == place[1]
            sides = (shared[rows], None if same else shared[columns], *(selves if not same else (None, None)))
            tasks.append(task(self.kernel, *sides, self._options(), place, first, store, give))
        return tasks

    def _options(self) -> tuple[bool, bool, bool, int | None]:
        return self.within, self.normalize, self.log, self.n_jobs

    def needs_selves(self) -> bool:
        """Whether `k(x,x)` have to be known before; the plain call between two sets always asks for them."""
        return self.normalize or not self.within

    def computed(self, store: BlockStore | None, client: Client | None, progress: Progress) -> Floats:
        """All blocks, worked out where they are not in the store."""
        missing = [place for place in self.places if store is None or not store.has(place)]
        whole = np.empty(self.shape) if store is None else None
        done = len(self.places) - len(missing)
        with Listening(progress) as listener:

            def take(place: Place, found: Floats | None) -> None:
                nonlocal done
                if whole is not None and found is not None:
                    self.put(whole, place, found)
                done += 1
                if listener is not None:
                    listener("kernel values", done, len(self.places))

            needed = sorted({name for place in missing for name in self.names(place)})
            shared: dict[str, Any] = {name: self.parts[name] for name in needed}
            if missing and self.needs_selves():
                selves: dict[str, Any] = {}
                work(client, shared, lambda sent, parts: self.of(parts, sent), needed, selves.__setitem__)
                shared |= {_of(name): found for name, found in selves.items()}
            build = lambda sent, places: self.blocks(places, sent, store, store is None)  # noqa: E731
            work(client, shared, build, missing, take)
        if whole is not None:
            return whole
        assert store is not None
        return self.gathered(store)

    def gathered(self, store: BlockStore) -> Floats:
        """The whole from the files of its blocks."""

        def fill(matrix: Floats) -> None:
            for place in self.places:
                self.put(matrix, place, store.read(place))

        if store.whole is not None:
            return store.join(self.shape, fill, self.places)
        whole = np.empty(self.shape)
        fill(whole)
        store.clear()
        return whole

    def put(self, whole: Floats, place: Place, found: Floats) -> None:
        """A block at its place, and mirrored."""
        (i, i_end), (j, j_end) = self.row_cuts[place[0]], self.column_cuts[place[1]]
        whole[i:i_end, j:j_end] = found
        if self.within and place[0] != place[1]:
            whole[j:j_end, i:i_end] = found.T

    def lazy(self, store: BlockStore | None) -> Any:
        """A dask array; the series are in its graph, once per block."""
        import dask.array

        shared: dict[str, Any] = {name: constant(part, name) for name, part in self.parts.items()}
        if self.needs_selves():
            shared |= {_of(name): found for name, found in zip(self.parts, self.of(list(self.parts), shared), strict=True)}
        found: dict[Place, Any] = {}
        for place, task in zip(self.places, self.blocks(self.places, shared, store, True), strict=True):
            (i, i_end), (j, j_end) = self.row_cuts[place[0]], self.column_cuts[place[1]]
            found[place] = dask.array.from_delayed(task, (i_end - i, j_end - j), dtype=np.float64)
            if self.within and place[0] != place[1]:
                found[place[::-1]] = found[place].T
        sides = range(len(self.row_cuts)), range(len(self.column_cuts))
        return dask.array.block([[found[i, j] for j in sides[1]] for i in sides[0]])


def _of(part: str) -> str:
    return f"{part}-self"


def _cuts(series: int, block: int) -> list[tuple[int, int]]:
    return [(start, min(start + block, series)) for start in range(0, series, block)]


def _part(series: _core.SeriesSet, cut: tuple[int, int]) -> _core.SeriesSet:
    return series.select(list(range(*cut)))


def _checksum(series: _core.SeriesSet) -> str:
    found = hashlib.sha256(series.lengths().tobytes())
    found.update(series.values().data)
    return found.hexdigest()


# -- what workers do


def _self_values(kernel: str, series: _core.SeriesSet, n_jobs: int | None, first: int) -> Floats:
    with _counting_from(first, first):
        return _core.self_values(kernel, series, n_jobs)


def _block(
    kernel: str,
    rows: _core.SeriesSet,
    columns: _core.SeriesSet | None,
    row_selves: Floats | None,
    column_selves: Floats | None,
    options: tuple[bool, bool, bool, int | None],
    place: Place,
    first: tuple[int, int],
    store: BlockStore | None,
    give: bool,
) -> Floats | None:
    """One block; `give` says whether it is returned too where it is written."""
    if store is not None and store.has(place):
        return store.read(place) if give else None
    within, normalize, log, n_jobs = options
    with _counting_from(*first):
        if columns is None:
            found = _core.gram(kernel, rows, None, "none", normalize, log, n_jobs)
        else:
            found = _core.gram_block(kernel, rows, columns, within, normalize, log, row_selves, column_selves, n_jobs)
    if store is not None:
        store.write(place, found)
    return found if give else None


@contextmanager
def _counting_from(row: int, column: int) -> Iterator[None]:
    """Errors of a block, which knows its own series alone, say which ones those are."""
    try:
        yield
    except VarnormError as problem:
        if row == column == 0:
            raise
        raise type(problem)(f"{problem} (rows are counted from series {row} here, columns from {column})") from None
