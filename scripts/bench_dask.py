"""A fit on Dask beside the fit in memory: the same model, and what it costs as samples and workers grow.

    python scripts/bench_dask.py same      ORL, leukemia, digits, Fashion-MNIST: the model of memory, on 1, 2, 4 workers
    python scripts/bench_dask.py cost      60,000 x 784: two workers of one thread beside one process of two threads
    python scripts/bench_dask.py growth    seconds per stage for more samples and more workers, and seconds in tasks
    python scripts/bench_dask.py one       on one core: the alignment, and columns of more and more rows
    python scripts/bench_dask.py predict   from these rates: how long 10,000,000 x 1,000 would take; nothing is run
    python scripts/bench_dask.py large     200,000 x 1,500 in single precision (1.2 GB) on two workers of 1 GB each

Nothing else should run meanwhile. docs/scale-out.md has the results.
"""

import argparse
import gzip
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import menet
from menet import Patch, _core
from menet._settings import settings
from menet.dask import ManifoldElasticNet, _fit, _tasks
from menet.datasets import load_digits, load_leukemia, load_orl

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


# What one core did per second in the stages and tasks of `growth`, at 60,000 x 784 with two workers. Work is counted in
# multiplications, values (rows x columns) or rows.
RATES = {
    "preprocess, values": 60_000 * 784 / (2 * 0.9),
    "exact neighbors, multiplications": 60_000**2 * 784 / 2 / (2 * 21.9),
    # In buckets, a share of 0.114 of all pairs was compared, each from one side.
    "approximate neighbors, multiplications": 0.114 * 60_000**2 * 784 / (2 * 13.5),
    "alignment, rows": 60_000 / 3.2,
    "target, multiplications": 60_000 * 784**2 / 2 / (2 * 1.2),
    "conjugate gradients, values": 60_000 * 784 / 25.2,
    "products, multiplications": 60_000 * 784**2 / 2.2,
    "rows to columns and back, values": 60_000 * 784 / (2 * 16.3 - 25.2 - 2.2),
    "refit, values": 60_000 * 784 / (2 * 1.4 - 0.4),
    "rule, rows": 60_000 / 0.4,
    "tasks": 1_000.0,
}

# How much longer the conjugate gradients take per value where the rows are more, by `one`: fewer columns go together,
# and they leave the processor's cache.
SLOWER = {60_000: 1.0, 200_000: 1.2, 1_000_000: 4.3}

# The share of all pairs that an approximate search compares, with as many buckets as it makes from 10,000,000 rows.
SHARE = 0.105


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


def sets():
    """The sets of `same`: samples, labels, and chunkings. The first two also with fewer variables than samples."""
    orl, leukemia, digits = (load(return_X_y=True) for load in (load_orl, load_leukemia, load_digits))
    yield "ORL", *orl, [400, 90, (1, 250, 149)]
    yield "ORL, every 8th pixel", orl[0][:, ::8], orl[1], [400, 90, (1, 250, 149)]
    yield "leukemia", *leukemia, [38, 7, (1, 30, 7)]
    yield "leukemia, 30 genes", leukemia[0][:, :30], leukemia[1], [38, 7, (1, 30, 7)]
    yield "digits", *digits, [1797, 300, (1, 0, 900, 896)]
    yield "Fashion-MNIST, 20,000", *images(20_000), [10_000, 2_500, (1, 7_000, 9_999, 3_000)]


def same():
    """Compare fits on 1, 2 and 4 workers with those in memory, and with each other. Return whether all agree.

    The difference of W is the largest of all weights, also relative to the largest weight.
    """
    whole, bits, agree = {}, {}, True
    print("| set | samples x variables | chunks of | workers | supports | difference of W | relative | bits |")
    print("|---|---|---|---|---|---|---|---|")
    for workers in (1, 2, 4):
        with cluster(workers) as client:
            client.wait_for_workers(workers)
            for name, x, y, chunkings in sets():
                if name not in whole:
                    whole[name] = menet.ManifoldElasticNet(n_jobs=2).fit(x, y)
                memory = whole[name].components_
                for rows in chunkings:
                    lazy = client.persist(da.from_array(x, chunks=(rows, -1)))
                    men = ManifoldElasticNet().fit(lazy, y)
                    found = men.components_
                    support = np.array_equal(found != 0, memory != 0)
                    off, largest = np.abs(found - memory).max(), np.abs(memory).max()
                    parts = (found, men.mean_, men.transform(x), men.predict_proba(x))
                    own = tuple(part.tobytes() for part in parts)
                    first = bits.setdefault((name, rows), own)
                    agree &= support and off <= 1e-10 * min(largest, 1.0) and own == first
                    told = (name, f"{x.shape[0]:,} x {x.shape[1]:,}", str(rows), str(workers))
                    found = ("same" if support else "other", f"{off:.1e}", f"{off / largest:.1e}")
                    print("|", " | ".join((*told, *found, "same" if own == first else "other")), "|", flush=True)
    return agree


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
            close, about = timed(lambda kept=kept: ManifoldElasticNet(patch=Patch(search="approximate")).fit(kept, y))
            row(f"the same, approximate neighbours (recall {close.neighbor_recall_:.3f})", about, close)
        off = np.abs(spread.components_ - whole.components_).max()
        same = np.array_equal(spread.components_ != 0, whole.components_ != 0)
        print(f"ratio {together / alone:.2f}; same supports: {same}; largest difference of W: {off:.1e}\n")


def growth():
    head()
    tasks = {}
    for workers in (1, 2):
        with cluster(workers) as client:
            for rows, neighbors in [(15_000, "exact"), (30_000, "exact"), (60_000, "exact"), (60_000, "approximate")]:
                x, y = images(rows)
                kept = client.persist(da.from_array(x, chunks=(5_000, -1)))
                before = in_tasks(client)
                men, seconds = timed(
                    lambda kept=kept, y=y, how=neighbors: ManifoldElasticNet(patch=Patch(search=how)).fit(kept, y)
                )
                name = f"{rows:,} samples, {workers} workers, {neighbors}"
                row(name, seconds, men)
                tasks[name] = {kind: spent - before.get(kind, 0.0) for kind, spent in in_tasks(client).items()}
                del kept
    print("\nseconds in tasks, of all workers together:")
    for name, spent in tasks.items():
        print(name, {kind: round(value, 2) for kind, value in sorted(spent.items()) if value >= 0.05}, sep=": ")


def in_tasks(client):
    """Return how long the tasks of every kind took so far: to compute, and to fetch what they need."""

    def spent(dask_scheduler):
        return {
            f"{name} ({action})": seconds
            for name, prefix in dask_scheduler.task_prefixes.items()
            for action, seconds in prefix.all_durations.items()
        }

    return client.run_on_scheduler(spent)


def one():
    """Align patches with made-up neighbours, and solve for as many columns as a task takes, on one core."""
    random, chosen = np.random.default_rng(0), settings(ManifoldElasticNet(), without={"n_jobs"})
    groups = _core.neighbor_groups(chosen)
    for rows in SLOWER:
        others = random.integers(1, rows, (rows, sum(k for _, k in groups)))
        numbers = (np.arange(rows)[:, None] + others) % rows
        squared = np.concatenate([np.sort(random.uniform(1, 2, (rows, k)), axis=1) for _, k in groups], axis=1)
        with dask.config.set(num_workers=1):
            aligned, align = timed(lambda lists=(numbers, squared): _tasks.align(chosen, [lists], []))
            width = _fit.columns_of((rows, 1_000))
            x = random.standard_normal((rows, width), dtype=np.float32)
            how = (np.zeros(width), np.ones(width), aligned, chosen["manifold"]["alpha"], chosen["manifold"]["beta"])
            _, solve = timed(lambda x=x, how=how: _tasks.images(x, *how))
        print(f"{rows:,} rows: alignment {1e6 * align / rows:.1f} us per row, ", end="")
        print(f"{width} columns at a time, {1e9 * solve / rows / width:.0f} ns per value", flush=True)


def predict(rows, columns, workers, per_chunk=50_000, approximate=False):
    """Return how long the stages would take on workers of one core, by the rates measured here, in seconds."""
    values, chunks, width = rows * columns, -(-rows // per_chunk), _fit.columns_of((rows, columns))
    slower = np.interp(np.log(rows), np.log(list(SLOWER)), list(SLOWER.values()))

    def seconds(rate, work, workers=workers):
        return work / RATES[rate] / workers

    if approximate:
        neighbors = seconds("approximate neighbors, multiplications", SHARE * rows * values)
        tasks = 2 * 93 * chunks
    else:
        neighbors = seconds("exact neighbors, multiplications", rows * values / 2)
        tasks = 3 * chunks**2 / 2
    return {
        "preprocess": seconds("preprocess, values", values),
        "neighbors": neighbors,
        "alignment (one worker)": seconds("alignment, rows", rows, 1),
        "target": seconds("target, multiplications", values * columns / 2),
        "reduction": seconds("conjugate gradients, values", slower * values)
        + seconds("products, multiplications", values * columns)
        + seconds("rows to columns and back, values", values),
        "refit": seconds("refit, values", values) + seconds("rule, rows", rows, 1),
        # Two transposes of chunks by blocks of columns, each split and merged, and some twenty tasks per chunk.
        "scheduler": seconds("tasks", tasks + 4 * chunks * columns / width + 20 * chunks, 1),
    }


def predicted(rows, columns):
    asked = [(approximate, workers) for approximate in (False, True) for workers in (4, 16, 64)]
    found = [predict(rows, columns, workers, approximate=approximate) for approximate, workers in asked]
    print(f"{rows:,} x {columns:,}, minutes; a prediction")
    print("| | " + " | ".join(f"{workers}, {'approximate' if close else 'exact'}" for close, workers in asked) + " |")
    print("|---|" + "---|" * len(asked))
    for stage in found[0]:
        print(f"| {stage} | " + " | ".join(f"{times[stage] / 60:,.1f}" for times in found) + " |")
    print("| all | " + " | ".join(f"{sum(times.values()) / 60:,.0f}" for times in found) + " |")


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
    parser.add_argument("what", choices=["same", "cost", "growth", "one", "predict", "large"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rows", type=int, help="200,000, and 10,000,000 to predict")
    parser.add_argument("--columns", type=int, help="1,500, and 1,000 to predict")
    parser.add_argument("--chunk", type=int, default=5_000)
    parser.add_argument("--memory", default="1GB")
    args = parser.parse_args()
    if args.what == "same":
        sys.exit(0 if same() else "the fits differ")
    elif args.what == "cost":
        cost(args.repeats)
    elif args.what == "growth":
        growth()
    elif args.what == "one":
        one()
    elif args.what == "predict":
        predicted(args.rows or 10_000_000, args.columns or 1_000)
    else:
        large(args.rows or 200_000, args.columns or 1_500, args.chunk, args.memory)
