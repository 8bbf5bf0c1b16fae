"""Running the stages of a fit: on the current client, or on Dask's local scheduler."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

import dask
from dask.delayed import Delayed, delayed

from menet._running import warn_user
from menet.dask import _progress, _tasks

T = TypeVar("T")


def current_client() -> Any:
    """Return the client that computations go to, or None for Dask's local scheduler."""
    try:
        from distributed import Client, get_client
    except ImportError:
        return None
    scheduler = dask.config.get("scheduler", None)
    if isinstance(scheduler, Client):
        return _usable(scheduler)
    if scheduler not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return _usable(get_client())
    except ValueError:
        if scheduler is None:
            return None
    raise ConnectionError(
        "Dask is set to work on a cluster, but no client is connected to one; perhaps its scheduler went away: connect "
        'a new client, or work in this process with dask.config.set(scheduler="threads")'
    )


def _usable(client: Any) -> Any:
    """Refuse a client whose calls would have to be awaited, and one that is closed."""
    if client.asynchronous:
        raise TypeError(
            "the current Dask client is asynchronous, which a fit cannot wait for: use Client(asynchronous=False), or "
            "call the estimator in a thread with a client of its own"
        )
    if client.status in ("closing", "closed"):
        raise ConnectionError("the current Dask client is closed: connect a new client, and fit again with that one")
    return client


class Engine:
    """The stages of one fit. Tasks have the names of their stage and their step, which Dask's dashboard shows."""

    def __init__(self) -> None:
        self.client = current_client()
        self.seconds: dict[str, float] = {}
        self._token, self._numbers, self._stage = uuid.uuid4().hex, count(), "fit"
        self._bar = _progress.Bar("")
        self._record: Callable[[], None] = lambda: None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Name what is computed from now on, and add up its seconds."""
        before, start, self._stage = self.seconds.get(name, 0.0), time.perf_counter(), name
        self._bar = _progress.Bar(name)
        self._record = lambda: self.seconds.update({name: before + time.perf_counter() - start})
        with clear_errors(f"in the stage {name}", self.client):
            yield
        self._record()
        self._bar.end()

    def so_far(self) -> list[tuple[str, float]]:
        """Return the seconds of every stage, that of the present one included."""
        self._record()
        return list(self.seconds.items())

    def warn_of_no_workers(self) -> None:
        """Warn where a fit waits until a worker comes."""
        if self.client is not None and not self._workers():
            warn_user(
                f"the Dask cluster {self.client.scheduler.address} has no workers: the fit waits until one comes",
                UserWarning,
            )

    def memory(self, *, per_thread: bool = False) -> float:
        """Return the least memory that a worker has, or a thread of one, in bytes; infinity if it is not limited."""
        limits = [limit / (threads if per_thread else 1) for limit, threads in self._limits() if limit]
        return min(limits, default=math.inf)

    def memory_together(self) -> float:
        """Return the memory of all workers, in bytes; infinity if one of them is not limited."""
        limits = [limit for limit, _ in self._limits()]
        return sum(limits) if limits and all(limits) else math.inf

    def _limits(self) -> list[tuple[int, int]]:
        """Return the memory limit of every worker, 0 for none, and its threads."""
        workers = self._workers().values() if self.client is not None else []
        return [(worker["memory_limit"] or 0, worker["nthreads"]) for worker in workers]

    def _workers(self) -> dict[str, Any]:
        # Asked of the scheduler: the client's own copy may for a moment hold none of them.
        with clear_errors("while the workers were counted", self.client):
            identity: dict[str, Any] = self.client.sync(self.client.scheduler.identity, n_workers=-1)
        return dict(identity["workers"])

    def task(self, step: str, function: Callable[..., Any], *args: Any) -> Delayed:
        """Return a task of this fit: `function` of values and of other tasks."""
        key = f"menet-{self._stage}-{step}-{self._token}-{next(self._numbers)}"
        return delayed(_tasks.call, pure=False)(function, *args, dask_key_name=key)

    def tree(self, step: str, parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
        """Return the sum of parts in a tree whose shape depends on their number alone."""
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [pair[0] if len(pair) == 1 else self.task(step, add, *pair) for pair in pairs]
        return parts[0]

    def keep(self, collections: list[T]) -> list[T]:
        """Compute where the workers are, and leave the results there."""
        if self.client is None:
            with _progress.of_callbacks(self._bar):
                return list(dask.persist(*collections))
        with _outside_the_pool():
            kept = self.client.persist(collections)
            self._wait(kept)
        return list(kept)

    def get(self, collection: Any) -> Any:
        """Compute, and bring the result here."""
        return self.get_all([collection])[0]

    def get_all(self, collections: list[Any]) -> list[Any]:
        """Compute several, and bring the results here."""
        if self.client is None:
            with _progress.of_callbacks(self._bar):
                return list(dask.compute(*collections))
        with _outside_the_pool():
            futures = self.client.compute(collections)
            self._wait(futures)
            values = self.client.gather(futures)
        return [_tasks.ready(value) for value in values]

    def _wait(self, collections: list[Any]) -> None:
        from distributed import as_completed, futures_of

        futures = futures_of(collections)
        counted = _progress.of_futures(self._bar, futures, self.client)
        try:
            for future in as_completed(futures):
                if future.status == "error":
                    future.result()  # raises
                if future.status == "cancelled":
                    raise LostError
            counted()
        except BaseException:
            # Ctrl-C, or one of them failed: the others are of no use.
            counted()
            self._cancel(futures)
            raise

    def _cancel(self, futures: list[Any]) -> None:
        if self.client.status == "running":
            self.client.cancel(futures, force=True)


@contextmanager
def _outside_the_pool() -> Iterator[None]:
    """Give the worker's thread to other tasks while a fit that is itself called in a task waits for them."""
    from distributed import get_worker, rejoin, secede

    try:
        get_worker()
        inside = True
    except ValueError:
        inside = False
    if inside:
        secede()
    try:
        yield
    finally:
        if inside:
            rejoin()


class LostError(Exception):
    """Results that the cluster no longer has."""


@contextmanager
def clear_errors(when: str, client: Any) -> Iterator[None]:
    """Say what became of the cluster, and when, in the words of this package."""
    try:
        yield
    except Exception as e:
        if client is None:
            raise
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        if isinstance(e, KilledWorker):
            raise MemoryError(
                f"workers died again and again {when}, most likely for lack of memory: give them more "
                "memory, or use smaller chunks of rows (docs/scale-out.md says how much a stage needs)"
            ) from None
        if isinstance(e, (LostError, CancelledError, CommClosedError)) or _is_unreachable(e):
            where = getattr(getattr(client, "scheduler", None), "address", None) or "the scheduler"
            raise ConnectionError(
                f"the connection to the Dask scheduler {where} was lost {when}: nothing was learned or predicted; "
                "connect a new client, and try again"
            ) from None
        raise


def _is_unreachable(error: Exception) -> bool:
    """Return whether a client that is closed, or closing, refused to work."""
    return isinstance(error, (OSError, RuntimeError)) and any(
        word in str(error).lower() for word in ("timed out", "closed", "not running", "cannot schedule new futures")
    )
