"""menet beside scikit-learn, SPAMS and faiss on the same seeded problems, and beside what the machine could do at best.

    make bench-peers

Every solver runs in processes of its own, taking turns; a process does its work once to warm up and then as often as
`--repeats` says (once in all, if it takes long). The table has median seconds, the ratio to menet, the worst violation
of optimality, computed here from the data (for whole fits, the fit's own certificate), support sizes, the peak of
memory, and the floor: operations at the measured speed of matrix products, or bytes at the measured bandwidth.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

FASHION = Path("/usr/share/datasets/fashion-mnist")


def image_like(n, side, seed):
    """Smooth random pictures, centred, with columns of length 1."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    X = np.array([gaussian_filter(rng.standard_normal((side, side)), 2).ravel() for _ in range(n)])
    X -= X.mean(axis=0)
    return np.asfortranarray(X / np.linalg.norm(X, axis=0))


def responses(X, d, seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((X.shape[1], d)) * (rng.random((X.shape[1], d)) < 0.02)
    return np.asfortranarray(5 * X @ W + rng.standard_normal((len(X), d)))


def violation(X, Y, W, ridge):
    """The worst violation of optimality of each column at its own level, relative to the largest correlation."""
    c = X.T @ (Y - X @ W) - ridge * W
    level = np.where(W != 0, np.abs(c), 0).max(axis=0)
    broken = np.where(W != 0, np.abs(c - level * np.sign(W)), np.maximum(np.abs(c) - level, 0))
    return float((broken.max(axis=0) / np.abs(X.T @ Y).max(axis=0)).max())


class Faces:
    """The LARS stage of the paper's size, Gram matrix included: 400 x 1600, 40 responses, 200 variables, ridge 0.3."""

    title = "LARS, n = 400, p = 1600, d = 40, K = 200, ridge 0.3"
    solvers = ("menet", "spams", "scikit-learn")

    def __init__(self):
        self.X = image_like(400, 40, 0)
        self.Y = responses(self.X, 40, 1)

    def menet(self):
        import menet

        return menet.lars_path(self.X, self.Y, ridge=0.3, max_nonzeros=200, n_jobs=2).at_nonzeros(200)

    def spams(self):
        import spams

        return spams.lasso(self.Y, D=self.X, L=200, lambda1=0.0, lambda2=0.3, mode=2, numThreads=2).toarray()

    def scikit_learn(self):
        from sklearn.linear_model import lars_path_gram

        G = self.X.T @ self.X + 0.3 * np.eye(1600)
        # It counts steps, not variables: near enough for a time.
        paths = (
            lars_path_gram(b, G, n_samples=1, max_iter=200, method="lasso", return_path=False)[2]
            for b in (self.X.T @ self.Y).T
        )
        return np.array(list(paths)).T

    def check(self, W):
        return violation(self.X, self.Y, W, 0.3), f"{np.count_nonzero(W, axis=0).mean():.0f}"

    def floor(self, gflops, bandwidth):
        # Half of the Gram matrix, and the check of all variables at every knot.
        return (400 * 1600**2 + 40 * 200 * 1600 * 200) / gflops / 1e9


class Wide(Faces):
    """Many more variables than samples."""

    title = "LARS, n = 300, p = 20,000, d = 9, K = 100, ridge 0.3"
    solvers = ("menet",)

    def __init__(self):
        rng = np.random.default_rng(2)
        X = rng.standard_normal((300, 20_000))
        X -= X.mean(axis=0)
        self.X = np.asfortranarray(X / np.linalg.norm(X, axis=0))
        self.Y = responses(self.X, 9, 3)

    def menet(self):
        import menet

        return menet.lars_path(self.X, self.Y, ridge=0.3, max_nonzeros=100, n_jobs=2).at_nonzeros(100)

    def floor(self, gflops, bandwidth):
        # The bar rather than the floor: the matrix read once a step.
        return 100 * self.X.nbytes / bandwidth / 1e9


class Genome:
    """A whole fit with 200,000 variables."""

    title = "fit, n = 200, p = 200,000, d = 4, K = 50"
    solvers = ("menet",)

    def __init__(self):
        rng = np.random.default_rng(4)
        self.y = np.arange(200) % 5
        self.X = rng.standard_normal((200, 200_000))
        self.X[:, :200] += rng.standard_normal((5, 200))[self.y]

    def menet(self):
        from menet import ManifoldElasticNet

        return ManifoldElasticNet(n_nonzeros=50, n_jobs=2).fit(self.X, self.y)

    def check(self, model):
        return float(model.kkt_violation_.max()), f"{model.n_nonzeros_.mean():.0f}"

    def floor(self, gflops, bandwidth):
        return None


class Fashion(Genome):
    """Fashion-MNIST: a whole fit, beside an exact search for as many neighbours by faiss."""

    title = "fit, Fashion-MNIST, n = 60,000, p = 784, d = 9, K = 60 (faiss: its 10 neighbours alone)"
    solvers = ("menet", "pca", "flda", "faiss")

    def __init__(self):
        self.X, self.y = self.part("train")

    def part(self, name):
        X = gzip.decompress((FASHION / f"{name}-images-idx3-ubyte.gz").read_bytes())[16:]
        y = gzip.decompress((FASHION / f"{name}-labels-idx1-ubyte.gz").read_bytes())[8:]
        return np.frombuffer(X, np.uint8).reshape(-1, 784).astype(np.float64), np.frombuffer(y, np.uint8)

    def menet(self):
        from menet import ManifoldElasticNet

        return ManifoldElasticNet(n_nonzeros=60, n_jobs=2).fit(self.X, self.y)

    def pca(self):
        from menet import PCA

        return PCA(9, n_jobs=2).fit(self.X, self.y)

    def flda(self):
        from menet import FLDA

        return FLDA(9, n_jobs=2).fit(self.X, self.y)

    def faiss(self):
        import faiss

        faiss.omp_set_num_threads(2)
        X = self.X.astype(np.float32)
        index = faiss.IndexFlatL2(784)
        index.add(X)
        return index.search(X, 11)[1]

    def check(self, model):
        if isinstance(model, np.ndarray):
            return None, ""
        rate = model.score(*self.part("t10k"))
        violation = getattr(model, "kkt_violation_", None)
        support = f"{model.n_nonzeros_.mean():.0f} ({rate:.1%} of test)"
        return None if violation is None else float(violation.max()), support


class Transform:
    """A million rows of single precision on nine axes of 60 variables."""

    title = "transform, 1,000,000 x 784 float32, d = 9, 60 nonzeros"
    solvers = ("menet", "numpy")

    def __init__(self):
        rng = np.random.default_rng(5)
        self.X = rng.random((1_000_000, 784), dtype=np.float32)
        y = np.arange(2000) % 10
        from menet import ManifoldElasticNet

        signal = 0.2 * rng.standard_normal((10, 784))[y]
        self.model = ManifoldElasticNet(9, 60, n_jobs=2).fit(self.X[:2000] + signal, y)
        self.W = np.ascontiguousarray(self.model.components_.T.astype(np.float32))

    def menet(self):
        return self.model.transform(self.X)

    def numpy(self):
        return self.X @ self.W

    def check(self, Z):
        return None, ""

    def floor(self, gflops, bandwidth):
        return self.X.nbytes / bandwidth / 1e9


CASES = {case.__name__.lower(): case for case in (Faces, Wide, Genome, Fashion, Transform)}


def run_here(case, solver, repeats):
    """One solver on one problem, in a process of its own."""
    problem = CASES[case]()
    work = getattr(problem, solver.replace("-", "_"))
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What takes long needs no warming up.
        start = time.perf_counter()
        out = work()
        first = time.perf_counter() - start
        for _ in range(repeats if first < 5 else 0):
            start = time.perf_counter()
            out = work()
            seconds.append(time.perf_counter() - start)
    peak = peak_memory()
    kkt, support = problem.check(out)
    print(json.dumps({"seconds": seconds or [first], "kkt": kkt, "support": support, "peak": peak}))


def peak_memory():
    """The largest resident set of this process so far, in GB, the problem itself included."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e6 for line in lines if line.startswith("VmHWM:"))


def machine():
    """The speed of matrix products in GFlop/s and the bandwidth in GB/s, with two threads."""
    from concurrent.futures import ThreadPoolExecutor

    a = np.random.default_rng(0).standard_normal((2000, 2000))
    product = min(timed(lambda: a @ a) for _ in range(5))
    halves = np.split(np.ones(100_000_000), 2)
    with ThreadPoolExecutor(2) as pool:
        read = min(timed(lambda: list(pool.map(np.sum, halves))) for _ in range(5))
    return 2 * 2000**3 / product / 1e9, 0.8 / read


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each kind")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs in a process")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        run_here(*options.here, options.repeats)
        return
    os.environ |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    gflops, bandwidth = machine()
    print(f"matrix products {gflops:.0f} GFlop/s, bandwidth {bandwidth:.0f} GB/s, two threads\n")
    print("| problem | solver | seconds | x menet | violation | support | peak GB | floor s |")
    print("|---|---|---|---|---|---|---|---|")
    for case in options.cases:
        kind = CASES[case]
        if kind is Fashion and not FASHION.exists():
            print(f"| {kind.title} | Debian's dataset-fashion-mnist is not installed | | | | | | |")
            continue
        runs = {solver: [] for solver in kind.solvers}
        for _ in range(options.rounds):
            for solver in kind.solvers:
                command = [sys.executable, __file__, "--here", case, solver, "--repeats", str(options.repeats)]
                done = subprocess.run(command, capture_output=True, text=True)
                runs[solver].append(json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None)
        ours = None
        for solver, found in runs.items():
            if None in found:
                print(f"| {kind.title} | {solver} | failed | | | | | |")
                continue
            seconds = statistics.median(second for run in found for second in run["seconds"])
            ours = ours or seconds
            worst = found[0]["kkt"]
            floor = kind().floor(gflops, bandwidth) if solver == "menet" and kind is not Fashion else None
            print(
                f"| {kind.title} | {solver} | {seconds:.3f} | {seconds / ours:.2f} | "
                f"{'' if worst is None else f'{worst:.0e}'} | {found[0]['support']} | "
                f"{max(run['peak'] for run in found):.2f} | {'' if floor is None else f'{floor:.3f}'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
