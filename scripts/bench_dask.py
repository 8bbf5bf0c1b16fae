"""What a fit on Dask costs: beside the fit in memory, as samples and workers grow, and with little memory.

    python scripts/bench_dask.py cost      60,000 x 784: two workers of one thread beside one process of two threads
    python scripts/bench_dask.py growth    seconds per stage for more samples and more workers
    python scripts/bench_dask.py large     200,000 x 1,500 in single precision (1.2 GB) on two workers of 1 GB each

Nothing else should run meanwhile. docs/scale-out.md has the results.
"""

import argparse
import gzip
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import menet
from menet.dask import ManifoldElasticNet

FASHION = Path("/usr/share/datasets/fashion-mnist")
STAGES = ["preprocess", "neighbors", "alignment", "target", "reduction", "lars", "refit"]


def images(rows):
    """Fashion-MNIST, if Debian's package is installed, else made-up samples of the same size."""
    if not FASHION.is_dir():
        random = np.random.default_rng(0)
        y = random.integers(0, 10, rows)
        centres, mixed = random.standard_normal((10, 784)), random.standard_normal((40, 784))
        x = centres[y] * 0.2 + random.standard_normal((rows, 40)) @ mixed / 6 + random.standard_normal((rows, 784)) / 3
        return x.astype(np.float32), y

    def read(name, skip):
        return np.frombuffer(gzip.decompress((FASHION / name).read_bytes()), np.uint8)[skip:]

    x = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:rows]
    return x.astype(np.float32), read("train-labels-idx1-ubyte.gz", 8)[:rows].astype(int)


@contextmanager
def cluster(workers, threads=1, **how):
    with (
        LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=":0", **how) as local,
        Client(local) as client,
    ):
        yield client


def timed(fit):
    start = time.perf_counter()
    men = fit()
    return men, time.perf_counter() - start


def row(name, seconds, men):
    stages = " | ".join(f"{men.seconds_.get(stage, 0.0):.1f}" for stage in STAGES)
    print(f"| {name} | {seconds:.1f} | {stages} |", flush=True)


def head():
    print("| | seconds | " + " | ".join(STAGES) + " |\n|---|" + "---|" * (1 + len(STAGES)), flush=True)


def cost(repeats):
    x, y = images(60_000)
    lazy = da.from_array(x, chunks=(5_000, -1))
    head()
    for _ in range(repeats):
        whole, alone = timed(lambda: menet.ManifoldElasticNet(n_jobs=2).fit(x, y))
        row("in memory, 2 threads", alone, whole)
        with cluster(2) as client:
            kept = client.persist(lazy)
            client.wait_for_workers(2)
            spread, together = timed(lambda kept=kept: ManifoldElasticNet().fit(kept, y))
            row("2 workers of 1 thread", together, spread)
            close, about = timed(lambda kept=kept: ManifoldElasticNet(neighbors="approximate").fit(kept, y))
            row(f"the same, approximate neighbours (recall {close.neighbor_recall_:.3f})", about, close)
        off = np.abs(spread.components_ - whole.components_).max()
        same = np.array_equal(spread.components_ != 0, whole.components_ != 0)
        print(f"ratio {together / alone:.2f}; same supports: {same}; largest difference of W: {off:.1e}\n")


def growth():
    head()
    for workers in (1, 2):
        with cluster(workers) as client:
            for rows in (15_000, 30_000, 60_000):
                x, y = images(rows)
                kept = client.persist(da.from_array(x, chunks=(5_000, -1)))
                men, seconds = timed(lambda kept=kept, y=y: ManifoldElasticNet().fit(kept, y))
                row(f"{rows:,} samples, {workers} workers", seconds, men)


def large(rows, columns, per_chunk, memory):
    with tempfile.TemporaryDirectory(prefix="menet-bench-") as folder:
        samples, y = written(Path(folder) / "samples", rows, columns, per_chunk)
        with cluster(2, memory_limit=memory, local_directory=folder) as client:
            before = client.run(os.getpid)
            men, seconds = timed(lambda: ManifoldElasticNet().fit(samples, y))
            head()
            row(f"{rows:,} x {columns:,}, 2 workers of {memory}", seconds, men)
            print("peak of each worker, MB:", [int(peak) // 1000 for peak in client.run(peak_kb).values()])
            print("peak of the client, MB:", int(peak_kb()) // 1000)
            print("written to disk by spilling, MB:", [int(b) // 10**6 for b in client.run(spilled).values()])
            print("workers restarted:", client.run(os.getpid) != before)
            print(f"panel of {len(men.panel_)}, certificate {men.kkt_violation_.max():.1e}")


def written(folder, rows, columns, per_chunk):
    """Made-up samples on disk, as an npy stack."""
    random = np.random.default_rng(0)
    y = random.integers(0, 10, rows)
    centres, mixed = random.standard_normal((10, 20)) * 1.2, random.standard_normal((30, columns)) / 5

    def chunk(block_info=None):
        first, last = block_info[None]["array-location"][0]
        noise = np.random.default_rng(first)
        x = noise.standard_normal((last - first, 30)) @ mixed + noise.standard_normal((last - first, columns))
        x[:, :20] += centres[y[first:last]]
        return x.astype(np.float32)

    sizes = tuple(min(per_chunk, rows - start) for start in range(0, rows, per_chunk))
    made = da.map_blocks(chunk, chunks=(sizes, (columns,)), dtype=np.float32, meta=np.empty((0, 0), np.float32))
    da.to_npy_stack(folder, made, axis=0)
    return da.from_npy_stack(folder, mmap_mode=None), y


def peak_kb():
    status = Path("/proc/self/status").read_text()
    return next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))


def spilled(dask_worker):
    metrics = getattr(dask_worker.data, "cumulative_metrics", {})
    return sum(value for key, value in metrics.items() if "disk-write" in str(key) and "bytes" in str(key))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cost", "growth", "large"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=1_500)
    parser.add_argument("--chunk", type=int, default=5_000)
    parser.add_argument("--memory", default="1GB")
    args = parser.parse_args()
    if args.what == "cost":
        cost(args.repeats)
    elif args.what == "growth":
        growth()
    else:
        large(args.rows, args.columns, args.chunk, args.memory)
