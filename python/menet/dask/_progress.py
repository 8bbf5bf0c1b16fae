"""A bar per stage of a fit, on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TextIO

WIDTH = 30

# Seconds to wait until the scheduler counts.
PATIENCE = 5.0

# Where bars are drawn, while `progress` is active.
_output: TextIO | None = None


@contextmanager
def progress(output: TextIO | None = None) -> Iterator[None]:
    """Show a bar for every stage of the fits inside this context.

    Parameters
    ----------
    output : file, optional
        Where the bars are drawn. None: standard error, if it is a terminal.

    Yields
    ------
    None
        Nothing.

    Examples
    --------
    >>> import dask.array as da
    >>> from menet.dask import ManifoldElasticNet, progress
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> with progress():
    ...     men = ManifoldElasticNet(n_nonzeros=10).fit(da.from_array(X, chunks=(300, -1)), y)
    """
    global _output
    before = _output
    _output = output if output is not None else (sys.stderr if sys.stderr.isatty() else None)
    try:
        yield
    finally:
        _output = before


class Bar:
    """One line per stage: how far it is, and the time left. Its parts are done one after the other."""

    def __init__(self, stage: str) -> None:
        self.stage, self.output = stage, _output
        self.start = self.part = self.drawn = time.monotonic()

    def begin(self) -> None:
        """Begin the next part."""
        self.part = time.monotonic()

    def draw(self, done: int, total: int) -> None:
        """Draw how far the part is, a few times per second at most."""
        now = time.monotonic()
        output = self.output
        if output is not None and now - self.drawn > 0.1:
            share = done / max(total, 1)
            took = now - self.part
            remark = f"{took / share - took:.0f} s left" if share > 0.02 else f"{now - self.start:.0f} s"
            self._write(output, share, remark)
            self.drawn = now

    def end(self) -> None:
        """Draw the whole bar, and go to the next line."""
        # None from now on: Dask may still count, and would draw on the next line.
        output, self.output = self.output, None
        if output is not None:
            self._write(output, 1.0, f"{time.monotonic() - self.start:.1f} s")
            output.write("\n")
            output.flush()

    def _write(self, output: TextIO, share: float, remark: str) -> None:
        filled = int(WIDTH * share)
        bar = "#" * filled + "-" * (WIDTH - filled)
        output.write(f"\r{self.stage:<10} [{bar}] {100 * share:3.0f} %  {remark:<12}")
        output.flush()


def of_callbacks(bar: Bar) -> Any:
    """Return a context that shows what Dask's local scheduler does."""
    if bar.output is None:
        return nullcontext()
    from dask.callbacks import Callback

    def count(key: Any, result: Any, dsk: Any, state: Any, worker: Any) -> None:
        total = sum(len(state[kind]) for kind in ("ready", "waiting", "running", "finished"))
        bar.draw(len(state["finished"]), total)

    bar.begin()
    return Callback(posttask=count)


def of_futures(bar: Bar, futures: list[Any], client: Any) -> Callable[[], Any]:
    """Show what the cluster does for some futures, by Dask's own counts.

    Call what this returns before the futures are released: the scheduler would wait for them for ever if it had not yet
    begun to count.
    """
    if bar.output is None or not futures:
        return lambda: None
    from distributed.diagnostics.progressbar import ProgressBar

    begun = threading.Event()

    class Part(ProgressBar):  # type: ignore[misc]
        def _draw_bar(self, remaining: int, all: int, **_: Any) -> None:
            begun.set()
            bar.draw(all - remaining, all)

    part = Part(futures, scheduler=client.scheduler.address, interval="200ms")

    async def listen() -> None:
        try:
            # A scheduler that is gone is told about by the fit.
            with suppress(OSError):
                await part.listen()
        finally:
            begun.set()

    bar.begin()
    client.loop.add_callback(listen)
    return lambda: begun.wait(PATIENCE)
