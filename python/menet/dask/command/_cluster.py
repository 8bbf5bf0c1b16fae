"""Where the work runs: on a cluster that is there, or on one that is started here and closed at the end."""

from __future__ import annotations

import contextlib
import logging
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING

import dask
from dask.system import CPU_COUNT
from dask.utils import format_bytes, parse_bytes

from menet._input import available_memory
from menet.dask.command._errors import CommandError

if TYPE_CHECKING:
    from distributed import Client

# Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 8.0

# The share of the free memory that the workers may use. The rest is for this process and for the system.
SHARE = 0.8

# Python, NumPy, Dask and a few chunks need this much.
LEAST = 400_000_000


@dataclass(frozen=True)
class ClusterOptions:
    """What the options say about the cluster. None: not given."""

    scheduler: str | None = None
    workers: int | None = None
    threads: int | None = None
    memory: str | None = None
    temporary: Path | None = None


@dataclass(frozen=True)
class ClusterSizes:
    """A local cluster: its workers, and the threads and bytes of each."""

    workers: int
    threads: int
    memory: int


def sizes(where: ClusterOptions) -> ClusterSizes:
    """Return the sizes of a local cluster: all cores, and most of the free memory."""
    from distributed.deploy.utils import nprocesses_nthreads

    free = available_memory()
    given = None if where.memory is None else _bytes(where.memory)
    workers, threads = where.workers, where.threads
    if workers is None and threads is None:
        workers, threads = nprocesses_nthreads(CPU_COUNT)
        if free is not None:
            # Fewer workers with more threads, rather than workers without room.
            fit = max(1, int(SHARE * free) // (given or LEAST))
            if fit < workers:
                workers, threads = fit, max(1, CPU_COUNT // fit)
    elif workers is None:
        assert threads is not None
        workers = max(1, CPU_COUNT // threads)
    elif threads is None:
        threads = max(1, CPU_COUNT // workers)
    assert workers is not None and threads is not None
    memory = given or (LEAST if free is None else int(SHARE * free) // workers)
    if memory < LEAST:
        each = f"--memory {where.memory}" if where.memory else f"{format_bytes(memory)} of memory per worker"
        raise CommandError(
            f"{each}: a worker needs at least {LEAST // 10**6} MB; give more memory, or fewer --workers (now {workers})"
        )
    return ClusterSizes(workers, threads, memory)


# Shares of a worker's memory above which chunks are spilled to disk: below Dask's defaults (0.6 and 0.7), since
# tasks need memory of their own.
MEMORY = {"distributed.worker.memory.target": 0.45, "distributed.worker.memory.spill": 0.6}


@contextlib.contextmanager
def connected(where: ClusterOptions, beside: Path) -> Iterator[Client]:
    """Give a client. What is started here ends with it, and its files go too.

    `beside` is the folder of the output; a local cluster keeps there what does not fit in memory, unless `where` names
    another folder.
    """
    if where.scheduler is not None:
        with _existing(where) as client:
            yield client
    else:
        with _local(where, beside) as client:
            yield client


@contextlib.contextmanager
def _existing(where: ClusterOptions) -> Iterator[Client]:
    from distributed import Client

    for option in ("workers", "threads", "memory", "temporary"):
        if getattr(where, option) is not None:
            raise CommandError(f"--{option}: this option is for a local cluster; remove it, or remove --scheduler")
    address = where.scheduler
    with _quiet():
        try:
            client = Client(address, timeout=PATIENCE, set_as_default=True)
        except (OSError, TimeoutError, ValueError) as e:
            raise CommandError(
                f"--scheduler {address}: no scheduler answers there ({_first_line(e)}); give an address such as "
                "tcp://host:8786, as `dask scheduler` prints it",
                code=1,
            ) from None
        try:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise CommandError(
                    f"--scheduler {address}: the scheduler has no workers; start some with `dask worker {address}`",
                    code=1,
                ) from None
            yield client
        finally:
            client.close()


@contextlib.contextmanager
def _local(where: ClusterOptions, beside: Path) -> Iterator[Client]:
    from distributed import Client, LocalCluster

    found = sizes(where)
    parent = where.temporary or beside
    if not parent.is_dir():
        raise CommandError(f"--temporary {parent}: there is no such folder; make it, or name another")
    try:
        folder = Path(tempfile.mkdtemp(prefix=".menet-dask-", dir=parent)).absolute()
    except OSError as e:
        raise CommandError(
            f"{parent}: no folder for temporary files can be made there ({e.strerror})", code=1
        ) from None
    try:
        # Workers start with this configuration too.
        with contextlib.ExitStack() as stack:
            stack.enter_context(dask.config.set({"temporary-directory": str(folder), **MEMORY}))
            stack.enter_context(_quiet())
            release = stack.enter_context(_deaf())
            cluster = LocalCluster(
                n_workers=found.workers,
                threads_per_worker=found.threads,
                memory_limit=found.memory,
                processes=True,
                # No dashboard; the scheduler's own server takes any port, so that two commands can run at a time.
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                worker_dashboard_address=None,
                local_directory=str(folder),
                silence_logs=logging.CRITICAL,
            )
            stack.callback(cluster.close)
            client = stack.enter_context(Client(cluster))
            release()
            yield client
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _deaf() -> Iterator[Callable[[], object]]:
    """Start threads and processes that do not hear Ctrl-C, and give what makes this thread hear it again.

    A terminal sends Ctrl-C to all processes. This one closes the cluster in order; a worker would only print a
    traceback. Blocked signals stay blocked in what a thread starts, so workers that are started anew are deaf too.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield lambda: None
        return
    # Where multiprocessing starts this process, it unblocks signals.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})

    def release() -> object:
        return signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        yield release
    finally:
        release()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's log off the terminal: what matters reaches the user as an error of the command."""
    # Dask gives some loggers of its modules levels of their own.
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado", "asyncio", "bokeh")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            # Sending a large graph once is cheaper than what the warning recommends.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _bytes(text: str) -> int:
    try:
        size = int(parse_bytes(text))
    except ValueError:
        size = 0
    if size <= 0:
        raise CommandError(f"--memory {text}: this is not a size; give one such as 2GB or 800MB")
    return size


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
