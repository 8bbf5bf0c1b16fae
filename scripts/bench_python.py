"""What a fit from Python costs beside the same fit in Rust: seconds, and memory at its peak.

    make bench-python

Fresh processes of both kinds take turns, two threads each, on the ORL faces (400 x 1600, 39 axes, 200 pixels each).
Their medians are compared. Memory is the peak of the resident set during the fits less what was there before, in runs
of their own in which the allocator keeps nothing back: one arena, and whatever is larger than 64 kB is mapped, and
unmapped when it is freed. What it keeps otherwise differs by tens of megabytes from one run to the next.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THREADS = {"RAYON_NUM_THREADS": "2"}
LEAN = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

SAMPLES, VARIABLES, PER_CLASS, COMPONENTS, NONZEROS = 400, 1600, 10, 39, 200


def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def fit_here(repeats):
    """The Python side, in a process of its own."""
    import numpy as np

    from menet import ManifoldElasticNet
    from menet.datasets import load_orl

    X = load_orl().data
    y = np.repeat(np.arange(SAMPLES // PER_CLASS), PER_CLASS)
    model = ManifoldElasticNet.preset("paper", n_components=COMPONENTS, n_nonzeros=NONZEROS, n_jobs=2)
    ManifoldElasticNet.preset("paper", n_components=1, n_nonzeros=1, n_jobs=2).fit(X, y)
    seconds = []
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
        del model._model, model.components_  # as the other side drops its model
    print(json.dumps({"seconds": seconds, "bytes": status("VmHWM") - before}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rust", default="target/release/examples/one_fit", help="the Rust side")
    parser.add_argument("--rounds", type=int, default=7, help="processes of each kind")
    parser.add_argument("--repeats", type=int, default=5, help="fits in a process")
    parser.add_argument("--here", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        fit_here(options.here)
        return
    from menet.datasets import load_orl

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "orl.bin"
        file.write_bytes(load_orl().data.astype("<f8").tobytes())
        sizes = [SAMPLES, VARIABLES, PER_CLASS, COMPONENTS, NONZEROS, options.repeats]
        commands = {
            "Rust": [options.rust, str(file), *map(str, sizes)],
            "Python": [sys.executable, __file__, "--here", str(options.repeats)],
        }
        runs = {kind: [] for kind in commands}
        for _ in range(options.rounds):
            for kind, command in commands.items():
                timed, weighed = (
                    json.loads(subprocess.run(command, capture_output=True, check=True, env=env).stdout)
                    for env in (THREADS, THREADS | LEAN)
                )
                runs[kind].append((timed["seconds"], weighed["bytes"]))
    median = {
        kind: (
            1e3 * statistics.median(second for seconds, _ in found for second in seconds),
            statistics.median(size for _, size in found) / 1e6,
        )
        for kind, found in runs.items()
    }
    print(f"{SAMPLES} x {VARIABLES}, {COMPONENTS} axes of {NONZEROS} pixels, two threads")
    print(f"medians of {options.rounds} x {options.repeats} fits")
    for kind, (milliseconds, megabytes) in median.items():
        print(f"{kind:<8} {milliseconds:8.1f} ms {megabytes:8.2f} MB at the peak")
    ratio = median["Python"][0] / median["Rust"][0]
    extra = median["Python"][1] - median["Rust"][1]
    print(f"Python costs {100 * (ratio - 1):+.1f}% time and {extra:+.2f} MB")


if __name__ == "__main__":
    main()
