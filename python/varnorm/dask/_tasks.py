"""Tasks on whatever runs Dask: collected as they finish, sent again when a worker took them with it, cancelled when stopped."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import dask
from dask.delayed import Delayed
from dask.system import CPU_COUNT
from distributed import Client, as_completed, get_client

from ..errors import VarnormError

Key = TypeVar("Key", bound=Hashable)
#: What several tasks use, by name: sent once.
Shared = Mapping[str, Any]

#: So many times in a row may tasks be lost without one that is finished.
PATIENCE = 3


def find_client(client: Client | None) -> Client | None:
    """The client to work on: the given one, else the current one; none where Dask is set to another scheduler."""
    if client is not None:
        return client
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return get_client()
    except ValueError:
        return None


def threads_of(client: Client | None) -> int:
    """How many tasks run at a time, as far as that is known."""
    if client is None:
        return int(CPU_COUNT)
    return max(1, int(sum(client.nthreads().values())))


def work(
    client: Client | None,
    shared: Shared,
    build: Callable[[Shared, list[Key]], list[Delayed]],
    keys: list[Key],
    take: Callable[[Key, Any], object],
    *,
    broadcast: bool = False,
) -> None:
    """Works out one task per key and hands each result to `take`, once, as it comes.

    `build` makes the tasks of some keys, from what they share, in the form in which Dask knows it. `broadcast` sends that to
    every worker at once.
    """
    if client is None:
        held = {name: constant(value, name) for name, value in shared.items()}
        for key, result in zip(keys, dask.compute(*build(held, keys)), strict=True):
            take(key, result)
        return
    missing, patience = dict.fromkeys(keys), PATIENCE
    while missing:
        before = len(missing)
        _collect(client, _sent(client, shared, broadcast), build, missing, take)
        # What is still missing was lost with a worker, and cannot be made again from what is left on the others.
        patience = patience - 1 if len(missing) == before else PATIENCE
        if patience == 0:
            raise VarnormError(f"{before} tasks were lost {PATIENCE} times with their workers; see the workers' logs")


def constant(value: Any, name: str) -> Delayed:
    """A value as a task of its own: it is in a graph once, however many tasks use it."""
    return dask.delayed(value, name=f"varnorm-{name}-{unique()}", traverse=False)


def unique() -> str:
    """A word that no other call uses."""
    return uuid.uuid4().hex


def _sent(client: Client, shared: Shared, broadcast: bool) -> dict[str, Any]:
    if not shared:
        return {}
    client.wait_for_workers(1)
    futures = client.scatter(list(shared.values()), broadcast=broadcast, hash=False)
    return dict(zip(shared, futures, strict=True))


def _collect(
    client: Client,
    sent: Shared,
    build: Callable[[Shared, list[Key]], list[Delayed]],
    missing: dict[Key, None],
    take: Callable[[Key, Any], object],
) -> None:
    """Takes what comes off `missing`."""
    keys = list(missing)
    futures: list[Any] = []
    try:
        futures = client.compute(build(sent, keys))
        names = dict(zip((future.key for future in futures), keys, strict=True))
        # On the client's own loop: that of the current client may be another, which is not told when these are done.
        for future, result in as_completed(futures, loop=client.loop, with_results=True):
            if not isinstance(result, CancelledError):
                key = names[future.key]
                take(key, result)
                del missing[key]
            future.release()
    except BaseException:
        # An error, or Ctrl-C: nothing waits any more, and a worker is idle when its task is done.
        client.cancel(futures, force=True)
        raise
