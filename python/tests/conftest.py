"""Data and helpers that several tests share."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from menet import datasets

# Before a test imports it, or its assertions would tell less.
pytest.register_assert_rewrite("dask_commands")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def no_lost_cluster():
    """Forget a cluster whose scheduler went away in an earlier test: Dask would go on to ask for it."""
    if "distributed" in sys.modules:
        import dask
        from distributed import get_client

        try:
            get_client()
        except ValueError:
            dask.config.config.pop("scheduler", None)


@pytest.fixture(scope="session")
def faces():
    """ORL, every second photograph to learn from: (X, y, X_test, y_test)."""
    X, y = datasets.load_orl(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="session")
def digits():
    return datasets.load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def genes():
    """Leukaemia as a frame with the genes' names."""
    return datasets.load_leukemia(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def command():
    """The command `menet`, which `make test` builds first."""
    found = os.environ.get("MENET_COMMAND") or ROOT / "target/release/menet"
    if not Path(found).exists():
        found = shutil.which("menet")
    if not found:
        pytest.skip("the command menet is not built: cargo build --release")
    return str(found)


def chunked(X, rows):
    """Return X as a Dask array with chunks of so many rows."""
    import dask.array as da

    return da.from_array(X, chunks=(rows, -1))


def same(a, b, X):
    """Two models are the same, bit for bit."""
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
