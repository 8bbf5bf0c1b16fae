"""Fixtures and files for the tests of the command `python -m menet.dask`."""

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

import menet
from menet.dask.command._main import main

ROWS, SIZE = 60, 8


@pytest.fixture(scope="module")
def data(digits):
    """240 digits of four classes, in an order that mixes them: (X, y)."""
    X, y = digits
    keep = np.flatnonzero(y < 4)[:240]
    return np.ascontiguousarray(X[keep]), y[keep]


@pytest.fixture(scope="module")
def reference(data):
    """The model without Dask."""
    X, y = data
    return menet.ManifoldElasticNet(panel_size=SIZE, rule="centroid").fit(X, y)


@pytest.fixture(scope="module")
def address():
    """A scheduler in this process, so that most tests start no others."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def run(address, tmp_path, monkeypatch, capsys):
    """Run the command in `tmp_path` on the scheduler: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(command, *args, scheduler=address):
        where = [] if scheduler is None else ["--scheduler", scheduler]
        code = main([command, *where, *map(str, args)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def fit(run):
    """Fit with the parameters of `reference`, without a complaint, and load the model without Dask."""

    def fit(*args, notes=False):
        code, out, err = run(
            "fit", "--panel-size", SIZE, "--rule", "centroid", "--rows", ROWS, "--model", "m.safetensors", *args
        )
        assert code == 0 and (notes or err == ""), err
        assert "saved to m.safetensors" in out
        return menet.ManifoldElasticNet.load("m.safetensors")

    return fit


def frame_of(data, label="y"):
    X, y = data
    frame = pd.DataFrame(X.copy(), columns=[f"pixel {k}" for k in range(X.shape[1])])
    frame[label] = y
    return frame


def write_parts(frame, write, ending, count=3):
    """Write a frame as several files, of which number 10 comes last."""
    for number, part in zip((1, 2, 10), np.array_split(np.arange(len(frame)), count), strict=True):
        write(frame.iloc[part], f"part-{number}{ending}")


def write_parquet(frame, file):
    frame.to_parquet(file, index=False, row_group_size=25)


def write_csv(frame, file):
    frame.to_csv(file, index=False)


def write_model(data, file="m.safetensors", **params):
    X, y = data
    men = menet.ManifoldElasticNet(panel_size=SIZE, rule="centroid", **params).fit(X, y)
    men.save(file)
    return men


def agree(found, expected):
    """Two models are the same up to the order of sums."""
    np.testing.assert_array_equal(np.flatnonzero(found.components_.any(0)), np.flatnonzero(expected.components_.any(0)))
    np.testing.assert_allclose(found.components_, expected.components_, rtol=0, atol=1e-9)
