"""No process holds all samples: workers that may not allocate that much fit them nevertheless."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from menet import Manifold, Patch
from menet.dask import ManifoldElasticNet

ROWS, COLUMNS, CHUNK = 16_000, 600, 1_000
CLASSES, TELLING = 3, 9
# All samples, in bytes of double precision. What a process may allocate beyond what it has before the fit, and what it
# must stay below: Dask waits for ever for a worker that has no memory to receive a chunk, so the limit leaves some.
SIZE = 8 * ROWS * COLUMNS
ALLOWED = SIZE * 95 // 100
EXPECTED = SIZE * 2 // 3
# Few steps of the conjugate gradients, and few neighbours.
QUICK = {"n_nonzeros": 3, "patch": Patch(k_within=2, k_between=2), "manifold": Manifold(alpha=0.05)}

# The kernel's count of memory that is a process's own, and its high-water mark, are those of Linux.
pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")


def rows_of(first, last):
    """Return samples near a plane, whose first variables tell their classes."""
    random, plane = np.random.default_rng(first), np.random.default_rng(0).standard_normal((4, COLUMNS))
    x = random.standard_normal((last - first, 4)) @ plane + random.standard_normal((last - first, COLUMNS)) / 4
    x[:, :TELLING] += (np.arange(first, last) % CLASSES)[:, None]
    return x


def chunk(block_info=None):
    return rows_of(*block_info[None]["array-location"][0])


def status(name):
    """Return a line of this process's status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def limit(more):
    """Let this process allocate so much more than now, and return what is in memory; a mark of its peak begins here."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (status("VmData") + more, resource.RLIM_INFINITY))
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def allocate_all():
    """Return whether this process may hold all samples."""
    try:
        return bool(np.ones((ROWS, COLUMNS)).all())
    except MemoryError:
        return False


@contextmanager
def given_up_after(seconds):
    """Fail after some time: a worker that lacks memory to send its results is asked for them for ever."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        pytest.fail(f"no end after {seconds} s")
    finally:
        timer.cancel()


def test_no_process_holds_all_samples(tmp_path):
    X = da.map_blocks(chunk, chunks=((CHUNK,) * (ROWS // CHUNK), (COLUMNS,)), dtype=float, meta=np.empty((0, 0)))
    y = np.arange(ROWS) % CLASSES
    # What workers keep and receive at a time is small; nothing else ends or pauses them.
    keep = {"target": 0.01, "transfer": 0.01, "spill": False, "pause": False, "terminate": False}
    with (
        dask.config.set({f"distributed.worker.memory.{name}": value for name, value in keep.items()}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit="1GB",
            local_directory=str(tmp_path),
        ) as cluster,
        Client(cluster) as client,
    ):
        # What is needed once: libraries, threads, and the connections between workers.
        ManifoldElasticNet(n_nonzeros=3).fit(X[: 3 * CHUNK, :50], y[: 3 * CHUNK])
        assert all(client.run(allocate_all).values()), "without a limit"
        pids = set(client.run(os.getpid).values())
        before = client.run(limit, ALLOWED)
        assert not any(client.run(allocate_all).values()), "with one"
        Path("/proc/self/clear_refs").write_text("5")
        own = status("VmRSS")
        with given_up_after(300):
            men = ManifoldElasticNet(**QUICK).fit(X, y)
        grown = [peak - before[worker] for worker, peak in client.run(status, "VmHWM").items()]
        grown.append(status("VmHWM") - own)
        assert set(client.run(os.getpid).values()) == pids, "no worker died"
    assert max(grown) < EXPECTED, grown
    assert set(men.panel_) & set(range(TELLING))


def test_a_fit_in_memory_fails_with_that_limit(tmp_path):
    """So the limit above would be noticed. The samples are a file that is mapped, which does not count."""
    np.save(tmp_path / "x.npy", np.concatenate([rows_of(k, k + CHUNK) for k in range(0, ROWS, CHUNK)]))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, menet\n"
        "from test_dask_memory import ALLOWED, CHUNK, CLASSES, QUICK, ROWS, limit\n"
        "X, y = np.load(sys.argv[2], mmap_mode='r'), np.arange(ROWS) % CLASSES\n"
        "menet.ManifoldElasticNet(n_nonzeros=3).fit(X[:CHUNK, :50], y[:CHUNK])\n"
        "limit(ALLOWED)\n"
        "print('begins', flush=True)\n"
        "menet.ManifoldElasticNet(**QUICK).fit(X, y)\n"
        "print('fitted', flush=True)\n"
    )
    arguments = [str(Path(__file__).parent), str(tmp_path / "x.npy")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.stdout == "begins\n", done.stdout + done.stderr
    assert done.returncode != 0
    assert "memory allocation" in done.stderr or "MemoryError" in done.stderr, done.stderr
