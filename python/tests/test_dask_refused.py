"""What the estimator on Dask refuses: one clear error each."""

import asyncio
import re

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import chunked
from distributed import Client, LocalCluster
from sklearn import config_context
from sklearn.exceptions import NotFittedError

import menet
from menet import Compute, Manifold
from menet.dask import ManifoldElasticNet
from menet.dask._engine import Engine


class TestRefused:
    """One clear error, and the estimator stays as it was."""

    def refused(self, X, y, match, error=ValueError, **params):
        men = ManifoldElasticNet(**params)
        with pytest.raises(error, match=match):
            men.fit(X, y)
        assert not hasattr(men, "components_")

    def test_shapes_and_types(self, digits):
        X, y = digits
        lazy = chunked(X, 500)
        self.refused(da.from_array(X, chunks=(500, 32)), y, r"2 chunks along its columns.*rechunk\(\{1: -1\}\)")
        self.refused(lazy[lazy[:, 20] > 3], y, r"compute_chunk_sizes\(\)")
        self.refused(lazy.astype(object), y, "type object.*astype")
        self.refused(lazy[:, 0], y, "shape")
        self.refused(lazy[:0], y[:0], "empty")
        self.refused(lazy, y[:-1], "1796 labels, but `X` has 1797 rows")
        self.refused(lazy, None, "requires y")
        self.refused(lazy, np.where(y == 3, np.nan, y), "no label at row 3")
        self.refused(lazy, np.zeros(1797), "class")
        self.refused(da.zeros((20, 6001), chunks=(10, -1)), np.arange(20) % 2, "6001 variables.*at most 6000")

    def test_values(self, digits):
        X, y = digits[0].copy(), digits[1]
        X[1700, 33] = np.nan
        X[1701, 2] = np.inf
        self.refused(chunked(X, 200), y, "row 1700, column 33 .*is NaN")
        frame = dd.from_pandas(pd.DataFrame(X).rename(columns=lambda j: f"pixel {j}"), npartitions=9)
        self.refused(frame, y, "row 1700, variable 'pixel 33'")
        self.refused(da.ones((50, 3), chunks=(20, -1)), np.arange(50) % 2, "constant")
        for value in (np.nan, np.inf, -np.inf, 1e101, -2.5e300):
            X[1700:1702] = value
            with pytest.raises(ValueError) as in_memory:
                menet.ManifoldElasticNet().fit(X, y)
            self.refused(chunked(X, 200), y, f"^{re.escape(str(in_memory.value))}$")

    def test_parameters(self, digits):
        X, y = chunked(digits[0], 500), digits[1]
        self.refused(X, y, "manifold.definiteness", manifold=Manifold(definiteness="floor"))
        self.refused(X, y, "compute.route", compute=Compute(route="dense"))
        self.refused(X, y, "compute.gram", compute=Compute(gram="columns"))
        self.refused(X, y, "10.*9", n_components=10)
        self.refused(X, y, "ridge", ridge=-1.0)
        self.refused(X, y, "n_jobs", n_jobs=0)

    def test_sparse_chunks(self, digits):
        from scipy import sparse

        X = chunked(digits[0], 500).map_blocks(sparse.csr_array)
        self.refused(X, digits[1], "toarray", TypeError)

    def test_labels_and_names(self, digits):
        X, y = digits
        text = pd.Series(y.astype(str))
        text[7] = None
        self.refused(chunked(X, 500), dd.from_pandas(text, npartitions=2), "no label at row 7")
        frame = dd.from_pandas(pd.DataFrame(X[:, :3], columns=["a", "b", "a"]), npartitions=2)
        self.refused(frame, y, "two columns of `X` are called 'a'")
        frame = dd.from_pandas(pd.DataFrame({"a": X[:, 20], "b": pd.array(X[:, 30], dtype="Float64")}), npartitions=2)
        self.refused(frame, y, "column 'b' of `X` has the type Float64.*astype")

    def test_new_samples(self, digits):
        X, y = digits
        men = ManifoldElasticNet(n_nonzeros=5).fit(chunked(X, 500), y)
        broken = X.copy()
        broken[1333, 0] = np.nan
        for method in (men.transform, men.predict, men.predict_proba, men.decision_function):
            with pytest.raises(ValueError, match="row 1333, column 0"):
                method(chunked(broken, 500)).compute()
        with pytest.raises(ValueError, match="32 features"):
            men.transform(chunked(X, 500)[:, :32])
        with pytest.raises(NotFittedError):
            ManifoldElasticNet().decision_function(chunked(X, 500))

    def test_frames_of_lazy_results(self, digits):
        X, y = digits
        lazy = chunked(X, 500)
        men = ManifoldElasticNet(n_nonzeros=5).set_output(transform="pandas")
        with pytest.raises(ValueError, match=r"set_output asks for 'pandas'.*lazy"):
            men.fit_transform(lazy, y)
        assert not hasattr(men, "components_"), "told before the fit"
        men.fit(lazy, y)
        with pytest.raises(ValueError, match=r"set_output asks for 'pandas'.*lazy"):
            men.transform(lazy)
        assert isinstance(men.transform(X), pd.DataFrame)
        men.set_output(transform="default")
        assert isinstance(men.transform(lazy), da.Array)
        with config_context(transform_output="pandas"), pytest.raises(ValueError, match="'pandas'"):
            ManifoldElasticNet(n_nonzeros=5).fit(lazy, y).transform(lazy)

    def test_other_clients(self, digits):
        X, y = chunked(digits[0], 500), digits[1]
        how = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
        with Client(**how) as first:
            kept = first.persist(X)
            with Client(**how):
                self.refused(kept, y, "another Dask client")
            men = None
            with first.as_current():
                men = ManifoldElasticNet(n_nonzeros=5).fit(kept, y)
        with pytest.raises(ConnectionError, match="client is closed"):
            men.at(n_nonzeros=3)

        async def fit():
            async with Client(asynchronous=True, **how):
                ManifoldElasticNet().fit(X, y)

        with pytest.raises(TypeError, match="asynchronous"):
            asyncio.run(fit())

    def test_a_closed_client(self, digits):
        X, y = digits
        with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
            kept = client.persist(chunked(X, 500))
        self.refused(kept, y, "client is closed", ConnectionError)

    def test_a_client_that_is_current_and_closed(self, digits):
        X, y = chunked(digits[0], 500), digits[1]
        client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
        client.close()
        with client.as_current():
            self.refused(X, y, "Dask client is closed", ConnectionError)

    def test_a_client_that_is_gone(self, digits):
        # As Dask leaves it behind if the scheduler went away.
        with dask.config.set(scheduler="dask.distributed"):
            self.refused(chunked(digits[0], 500), digits[1], "no client is connected", ConnectionError)

    def test_other_collections(self, digits):
        X, y = digits
        self.refused(dask.delayed(X), y, "type Delayed.*, but must be a Dask array or data frame", TypeError)
        with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
            self.refused(client.compute(chunked(X, 500)), y, "type Future.*client.persist", TypeError)
        self.refused(dask.bag.from_sequence(X), y, "type Bag", TypeError)
        self.refused(dd.from_pandas(pd.Series(X[:, 20]), npartitions=2), y, r"type Series.*to_frame\(\)", TypeError)
        self.refused(da.ma.masked_equal(chunked(X, 500), 0), y, "masked.*filled", TypeError)

    @pytest.mark.parametrize("rows", [1797, 40], ids=["in chunks", "on one worker"])
    def test_chunks_are_looked_at_first(self, digits, rows, caplog):
        X, y = digits[0][:rows], digits[1][:rows]
        lazy, size = chunked(X, rows // 4), rows // 4
        less = lazy.map_blocks(lambda x: x[:-1], dtype=float, meta=np.empty((0, 0)))
        self.refused(less, y, rf"chunk 0 of `X` .*shape \({size - 1}, 64\), but Dask expects \({size}, 64\)")
        broken = X.copy()
        broken[rows - 2, 33] = np.nan
        self.refused(chunked(broken, rows // 4), y, f"row {rows - 2}, column 33 .*is NaN")
        self.refused(lazy, y * 0, "1 class found")
        # Dask writes a traceback to its log for a task that fails.
        assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_cluster_without_workers_is_told():
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
        pytest.warns(UserWarning, match="has no workers: the fit waits"),
    ):
        Engine().warn_of_no_workers()
