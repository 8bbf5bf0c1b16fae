"""Threads, signals and memory."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse

import menet
from menet import Manifold, ManifoldElasticNet, _input


def random(n=300, p=900):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)), np.arange(n) % 30


# The second by conjugate gradients.
@pytest.mark.parametrize(("n", "p"), [(300, 900), (2000, 50)])
def test_results_do_not_depend_on_the_number_of_threads(n, p):
    X, y = random(n, p)
    one, two = (ManifoldElasticNet(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    with parallel_config(n_jobs=2):
        np.testing.assert_array_equal(ManifoldElasticNet().fit(X, y).components_, one.components_)


def test_more_threads_than_cores_are_not_started():
    X, y = random(60, 20)
    np.testing.assert_array_equal(
        ManifoldElasticNet(n_jobs=10**6).fit(X, y).components_, ManifoldElasticNet(n_jobs=-1).fit(X, y).components_
    )
    tasks = Path("/proc/self/task")
    if tasks.is_dir():  # threads of the core, which Python does not count
        assert len(list(tasks.iterdir())) < 100


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_only_the_threads_asked_for_are_started():
    """Work outside our own pools would start rayon's global one, whose threads are missing in a process that forks."""
    script = """
        import os, pickle, tempfile
        import numpy as np, menet
        from scipy import sparse
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((120, 40)), np.arange(120) % 3
        X[:, :3] += y[:, None]
        weights = np.ones(120)
        for given in (X, X.astype(np.float32), sparse.csr_array(X)):
            men = menet.ManifoldElasticNet(n_nonzeros=5, n_jobs=1).fit(given, y, weights)
            men = pickle.loads(pickle.dumps(men))
            men.transform(given), men.predict_proba(given), men.path(0), men.panel_table()
            men.at(n_nonzeros=3).predict(given)
        with tempfile.TemporaryDirectory() as folder:
            men.save(folder + "/m.safetensors")
            menet.ManifoldElasticNet.load(folder + "/m.safetensors").predict(X)
        X[::7, 5] = np.nan
        prepare = menet.Prepare(impute="knn", scale="unit")
        men = menet.ManifoldElasticNet(n_nonzeros=5, prepare=prepare, n_jobs=1).fit(X, y, batch=y)
        pickle.dumps(men), men.prepared(X, batch=y)
        X = np.nan_to_num(X)
        pickle.dumps(menet.ManifoldElasticNetCV(cv=2, n_jobs=1).fit(X, y))
        pickle.dumps(menet.StabilitySelection(n_jobs=1).fit(X, y))
        pickle.dumps(menet.DLA(n_jobs=1).fit(X, y)), menet.lars_path(X, X[:, 0], n_jobs=1).coefs
        print(len(os.listdir("/proc/self/task")))
    """
    many = {**os.environ, "RAYON_NUM_THREADS": "50", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], env=many, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 30


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of another kind")
def test_too_little_memory_is_an_error():
    script = """
        import resource
        import numpy as np, menet
        from scipy import sparse
        X = np.random.default_rng(0).standard_normal((30000, 600))
        few = sparse.csr_matrix(X[:, :200])
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 150_000_000, resource.RLIM_INFINITY))
        for given, kind in ((X, MemoryError), (few, ValueError)):
            try:
                off = menet.Manifold(alpha=0.0)
                menet.ManifoldElasticNet(1, n_nonzeros=3, manifold=off).fit(given, np.arange(30000) % 2)
            except kind as e:
                print("memory" in str(e) or "GB are free" in str(e))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "True\nTrue\n"


def test_other_threads_run_during_a_fit():
    X, y = random()
    ticks, running = [], True

    def tick():
        while running:
            ticks.append(None)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    ManifoldElasticNet(n_nonzeros=200).fit(X, y)
    during = len(ticks) - before
    running = False
    thread.join()
    assert during > 5, "the interpreter was held"


@pytest.mark.parametrize(
    "work",
    [
        "menet.lars_path(X, rng.standard_normal((1500, 3000)))",
        "menet.ManifoldElasticNet(n_nonzeros=1900, ridge=0.0, manifold=off).fit(X, np.arange(1500) % 700)",
        "menet.SparsePCA(iterations=10**9, tolerance=1e-300).fit(X)",
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_interrupts(work):
    script = f"""
        import numpy as np, menet
        rng = np.random.default_rng(0)
        X = rng.standard_normal((1500, 2000))
        off = menet.Manifold(alpha=0.0)
        print("begun", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        else:
            print("not interrupted", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n"


@pytest.mark.parametrize("order", ["C", "F"])
def test_double_precision_is_not_copied(order):
    X = np.asarray(random(2000, 500)[0], order=order)
    X.flags.writeable = False
    y = np.arange(2000) % 2
    men = ManifoldElasticNet(n_nonzeros=5, manifold=Manifold(alpha=0.0)).fit(X, y)
    for work in (
        lambda: ManifoldElasticNet(n_nonzeros=5, manifold=Manifold(alpha=0.0)).fit(X, y),
        lambda: men.predict(X),
        lambda: men.at(n_nonzeros=3),
        lambda: menet.lars_path(X, y.astype(float), max_nonzeros=3),
        lambda: menet.PCA(2).fit(X),
    ):
        tracemalloc.start()
        work()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < X.nbytes / 8, f"{peak} bytes beside {X.nbytes}"


def test_any_layout_and_precision_gives_the_same_model():
    X, y = random(120, 60)
    X = X.astype(np.float32).astype(np.float64)
    wide = np.zeros((240, 120))
    wide[::2, ::2] = X
    expected = ManifoldElasticNet(n_nonzeros=10).fit(X, y)
    unaligned = np.frombuffer(b"." + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    for given in (np.asfortranarray(X), wide[::2, ::2], X.astype(np.float32), X.astype(">f8"), X.tolist(), unaligned):
        men = ManifoldElasticNet(n_nonzeros=10).fit(given, y)
        np.testing.assert_array_equal(men.components_, expected.components_)
        single = getattr(given, "dtype", None) == np.float32
        projected = men.transform(given)
        assert projected.dtype == (np.float32 if single else np.float64)
        np.testing.assert_array_equal(projected, expected.transform(X).astype(projected.dtype))
        np.testing.assert_array_equal(men.predict(given), expected.predict(X))


def test_whole_numbers_are_converted(digits):
    X, y = digits[0][:200], digits[1][:200]
    expected = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    np.testing.assert_array_equal(
        ManifoldElasticNet(n_nonzeros=5).fit(X.astype(np.uint8), y).predict(X), expected.predict(X)
    )


def test_sparse_samples_that_would_not_fit_are_refused():
    X = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [5, 7])), shape=(2_000_000, 2_000_000))
    message = (
        r"sparse, 2000000 x 2000000, and have to be made dense: that needs about \d+\.\d GB, and \d+\.\d GB are free"
    )
    with pytest.raises(ValueError, match=message):
        menet.PCA().fit(X)
    with pytest.raises(ValueError, match=message):
        menet.lars_path(X, np.zeros(2_000_000))
    assert 0 < _input.available_memory() < 1e15


def test_sparse_samples_are_projected_without_being_made_dense(digits):
    X, y = digits
    men = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        np.testing.assert_array_equal(men.transform(kind(X)), men.transform(X))
    assert men.transform(sparse.csr_matrix(X)[:1]).shape == (1, 9)
    pca = menet.PCA(3).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(pca.transform(sparse.csr_matrix(X)), pca.transform(X))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_costs_no_more_memory_than_double(order):
    script = """
        import resource, sys
        import numpy as np, menet
        dtype, order = sys.argv[1:]
        X = np.empty((2500, 4000), dtype=dtype, order=order)
        rng = np.random.default_rng(0)
        for row in X:
            row[:] = rng.standard_normal(4000, dtype=np.float32)
        y = np.arange(2500) % 3
        X[:, :3] += np.eye(3)[y]
        before = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        menet.ManifoldElasticNet(n_nonzeros=5, manifold=menet.Manifold(alpha=0.0)).fit(X, y)
        print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """

    def cost(dtype, order):
        command = [sys.executable, "-c", textwrap.dedent(script), dtype, order]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    # Of the data itself single precision takes half; that is not counted here.
    assert cost("float32", order) <= 1.05 * cost("float64", order)
