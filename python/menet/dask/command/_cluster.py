"""Where the work runs: on a cluster that is there, or on one that is started here and closed at the end."""

from __future__ import annotations

import contextlib
import logging
import signal
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING

import dask
from dask.utils import parse_bytes

from menet.dask.command._errors import CommandError

if TYPE_CHECKING:
    from distributed import Client

# Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 8.0

# Python, NumPy, Dask and a few chunks need this much.
LEAST = 400_000_000

# Chunks are spilled to disk earlier than by Dask's defaults (0.6 and 0.7), since tasks need memory of their own.
SPILL = {"distributed.worker.memory.target": 0.45, "distributed.worker.memory.spill": 0.6}


@contextlib.contextmanager
def connected(args: Namespace, beside: Path) -> Iterator[Client]:
    """Give a client. What is started here ends with it; `beside` has what does not fit in memory until then."""
    # What matters of Dask's log reaches the user as an error of the command.
    logging.disable(logging.CRITICAL)
    try:
        with _existing(args) if args.scheduler is not None else _local(args, beside) as client:
            yield client
    finally:
        logging.disable(logging.NOTSET)


@contextlib.contextmanager
def _existing(args: Namespace) -> Iterator[Client]:
    from distributed import Client

    if given := [name for name in ("workers", "threads", "memory", "temporary") if getattr(args, name) is not None]:
        raise CommandError(f"--{given[0]}: this is for a local cluster; remove it, or remove --scheduler")
    try:
        client = Client(args.scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as e:
        problem = f"no scheduler answers there ({e}); give an address that `dask scheduler` prints"
        raise CommandError(f"--scheduler {args.scheduler}: {problem}", code=1) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            problem = f"the scheduler has no workers; start some with `dask worker {args.scheduler}`"
            raise CommandError(f"--scheduler {args.scheduler}: {problem}", code=1) from None
        yield client


@contextlib.contextmanager
def _local(args: Namespace, beside: Path) -> Iterator[Client]:
    from distributed import Client, LocalCluster

    parent = args.temporary or beside
    try:
        enough = args.memory is None or parse_bytes(args.memory) >= LEAST
    except ValueError:
        enough = False
    if not enough:
        problem = f"this is no size of at least {LEAST // 10**6} MB, which a worker needs; give one such as 2GB"
        raise CommandError(f"--memory {args.memory}: {problem}")
    if not parent.is_dir():
        raise CommandError(f"--temporary {parent}: there is no such folder; make it, or name another")
    with contextlib.ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix=".menet-dask-", dir=parent, ignore_cleanup_errors=True)
        place = str(Path(stack.enter_context(folder)).absolute())
        # Workers start with this configuration too.
        stack.enter_context(dask.config.set({"temporary-directory": place, **SPILL}))
        with _without_interrupts():
            cluster = LocalCluster(
                n_workers=args.workers,
                threads_per_worker=args.threads,
                memory_limit=args.memory or "auto",
                processes=True,
                # No dashboard; the scheduler's own server takes any port, so that two commands can run at a time.
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                worker_dashboard_address=None,
                local_directory=place,
                silence_logs=logging.CRITICAL,
            )
            stack.callback(cluster.close)
            client = stack.enter_context(Client(cluster))
        yield client


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start threads and processes that do not hear Ctrl-C, nor does what these start later.

    A terminal sends Ctrl-C to all processes. This one closes the cluster in order; workers would only print tracebacks.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Where multiprocessing starts this process, it unblocks signals.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
