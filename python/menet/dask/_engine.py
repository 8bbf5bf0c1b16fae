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
        return _synchronous(scheduler)
    if scheduler not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return _synchronous(get_client())
    except ValueError:
        return None


def _synchronous(client: Any) -> Any:
    """Refuse a client whose calls would have to be awaited."""
    if client.asynchronous:
        raise TypeError(
            "the current Dask client is asynchronous, which a fit cannot wait for: use Client(asynchronous=False), or "
            "call the estimator in a thread with a client of its own"
        )
    return client


class Engine:
    """The stages of one fit. Tasks have the name of their stage, which Dask's dashboard shows."""

    def __init__(self) -> None:
        self.client = current_client()
        self.seconds: dict[str, float] = {}
        self._token, self._numbers = uuid.uuid4().hex, count()
        self._bar = _progress.Bar("")
        self._tell: Callable[[], None] = lambda: None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Name what is computed from now on, and add up its seconds."""
        before, start = self.seconds.get(name, 0.0), time.perf_counter()
        self._bar = _progress.Bar(name)
        self._tell = lambda: self.seconds.update({name: before + time.perf_counter() - start})
        with _clear_errors(name, self.client):
            yield
        self._tell()
        self._bar.end()

    def so_far(self) -> list[tuple[str, float]]:
        """Return the seconds of every stage, that of the present one included."""
        self._tell()
        return list(self.seconds.items())

    def memory(self, *, per_thread: bool = False) -> float:
        """Return the least memory that a worker has, or a thread of one, in bytes; infinity if it is not limited."""
        if self.client is None:
            return math.inf
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [
            worker["memory_limit"] / (worker["nthreads"] if per_thread else 1)
            for worker in workers
            if worker["memory_limit"]
        ]
        return min(limits, default=math.inf)

    def task(self, step: str, function: Callable[..., Any], *args: Any) -> Delayed:
        """Return a task of this fit: `function` of values and of other tasks."""
        key = f"menet-{step}-{self._token}-{next(self._numbers)}"
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
        futures = self.client.compute(collections)
        self._wait(futures)
        return [_tasks.ready(value) for value in self.client.gather(futures)]

    def _wait(self, collections: list[Any]) -> None:
        from distributed import as_completed, futures_of

        futures = futures_of(collections)
        try:
            _progress.of_futures(self._bar, futures, self.client)
            for future in as_completed(futures):
                if future.status == "error":
                    future.result()  # raises
                if future.status == "cancelled":
                    raise LostError
        except BaseException:
            # Ctrl-C, or one of them failed: the others are of no use.
            self._cancel(futures)
            raise

    def _cancel(self, futures: list[Any]) -> None:
        if self.client.status == "running":
            self.client.cancel(futures, force=True)


class LostError(Exception):
    """Results that the cluster no longer has."""


@contextmanager
def _clear_errors(stage: str, client: Any) -> Iterator[None]:
    """Say what became of the cluster, in the words of this package."""
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
                f"workers died again and again in the stage {stage}, most likely for lack of memory: give them more "
                "memory, or use smaller chunks of rows (docs/scale-out.md says how much a stage needs)"
            ) from None
        if isinstance(e, (LostError, CancelledError, CommClosedError)) or _is_unreachable(e):
            where = getattr(getattr(client, "scheduler", None), "address", None) or "the scheduler"
            raise ConnectionError(
                f"the connection to the Dask scheduler {where} was lost in the stage {stage}: nothing was learned; "
                "connect a new client and fit again"
            ) from None
        raise


def _is_unreachable(error: Exception) -> bool:
    """Return whether a client that is closed, or closing, refused to work."""
    return isinstance(error, (OSError, RuntimeError)) and any(
        word in str(error).lower() for word in ("timed out", "closed", "not running", "cannot schedule new futures")
    )
