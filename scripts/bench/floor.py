"""What the machine can do at best, with two threads: matrix products, and reading memory."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np


class Machine(NamedTuple):
    """Operations a second of products in double and in single precision, and bytes read a second."""

    flops: float
    single: float
    bandwidth: float

    def __str__(self):
        return (
            f"matrix products run at {self.flops / 1e9:.0f} GFlop/s ({self.single / 1e9:.0f} in single precision), "
            f"memory is read at {self.bandwidth / 1e9:.0f} GB/s"
        )


def measure(n=4096, numbers=250_000_000, repeats=3):
    """The best of a few products of square matrices, and of sums over an array that no cache holds."""
    a = np.random.default_rng(0).standard_normal((n, n))
    product = fastest(lambda: a @ a, repeats)
    a = a.astype(np.float32)
    single = fastest(lambda: a @ a, repeats)
    halves = np.split(np.ones(numbers), 2)
    with ThreadPoolExecutor(2) as pool:
        read = fastest(lambda: list(pool.map(np.sum, halves)), repeats)
    return Machine(2 * n**3 / product, 2 * n**3 / single, 8 * numbers / read)


def fastest(work, repeats):
    return min(timed(work) for _ in range(repeats))


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
