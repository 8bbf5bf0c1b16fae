"""The estimator on Dask: the same models as in memory, on any cluster."""

import asyncio
import pickle
import threading
import time
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import chunked
from distributed import Client, LocalCluster

import menet
from menet import L1, AutoRule, Manifold, Nearest, Patch
from menet.dask import ManifoldElasticNet, _fit, _neighbors, progress
from menet.dask._engine import Engine
from menet.datasets import load_leukemia, load_orl

EUCLIDEAN = Nearest(metric="euclidean")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def same(found, expected, X):
    assert found.panel_.tolist() == expected.panel_.tolist()
    assert np.array_equal(found.components_ != 0, expected.components_ != 0)
    largest = np.abs(expected.components_).max()
    assert np.abs(found.components_ - expected.components_).max() <= 1e-10 * largest
    assert np.allclose(found.mean_, expected.mean_, rtol=1e-13)
    assert found.definiteness_ == expected.definiteness_
    assert found.rule_ == expected.rule_
    assert np.array_equal(found.predict(X), expected.predict(X))
    assert np.allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("rows", [1797, 400, (1, 0, 900, 896)])
def test_digits_in_any_chunks_are_fitted_as_in_memory(client, digits, rows):
    X, y = digits
    expected = menet.ManifoldElasticNet(n_nonzeros=10).fit(X, y)
    same(ManifoldElasticNet(n_nonzeros=10).fit(chunked(X, rows), y), expected, X)


@pytest.mark.parametrize(
    "params",
    [
        {"patch": "laplacian", "refit": "panel", "rule": "gaussian"},
        {"patch": "lle", "refit": "axis", "rule": "centroid"},
        {"patch": "ltsa-unsupervised", "panel_size": 12},
        {"target": "centres", "penalty": L1(standardize=False), "ridge": 0.03, "refit": "none", "rule": EUCLIDEAN},
        {"pca_rank": 20, "n_components": 3, "rule": AutoRule(metric="euclidean")},
        {"manifold": Manifold(alpha=0.0), "patch": Patch(k_between=0), "rule": AutoRule(priors="equal")},
    ],
    ids=str,
)
def test_parameters_do_what_they_do_in_memory(digits, params):
    X, y = digits[0][:600], digits[1][:600]
    params = {"n_nonzeros": 8} | params
    same(ManifoldElasticNet(**params).fit(chunked(X, 250), y), menet.ManifoldElasticNet(**params).fit(X, y), X)


def test_single_precision_is_kept(client, digits):
    X, y = digits[0].astype(np.float32), digits[1]
    men = ManifoldElasticNet(n_nonzeros=10).fit(chunked(X, 700), y)
    same(men, menet.ManifoldElasticNet(n_nonzeros=10).fit(X, y), X)
    assert men.transform(chunked(X, 700)).dtype == np.float32


@pytest.mark.parametrize("load", [load_leukemia, load_orl])
def test_few_samples_of_many_variables_have_the_same_bits(client, load):
    X, y = load(return_X_y=True)
    X, y = X[:150], y[:150]
    expected = menet.ManifoldElasticNet(n_nonzeros=20).fit(X, y)
    found = ManifoldElasticNet(n_nonzeros=20).fit(chunked(X, 11), y)
    assert np.array_equal(found.components_, expected.components_)
    small, smaller = found.at(panel_size=5), expected.at(panel_size=5)
    assert np.array_equal(small.components_, smaller.components_)
    assert found.regime_ == expected.regime_


def test_the_bits_depend_on_the_chunks_alone(client, digits):
    X, y = digits
    X = chunked(X, 300)

    def bits(men):
        probabilities = men.predict_proba(X).compute()
        return men.components_.tobytes(), men.mean_.tobytes(), probabilities.tobytes(), men.cg_residual_

    def fitted():
        return ManifoldElasticNet(n_nonzeros=10).fit(X, y)

    on_two = bits(fitted())
    with dask.config.set(scheduler="synchronous"):
        assert bits(fitted()) == on_two
    with dask.config.set(scheduler="threads", num_workers=3):
        assert bits(fitted()) == on_two
    for workers, threads in [(1, 2), (4, 1)]:
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=threads, processes=False, dashboard_address=":0"
            ) as cluster,
            Client(cluster),
        ):
            assert bits(fitted()) == on_two


def test_smaller_models_are_those_of_memory(client, digits):
    X, y = digits
    found = ManifoldElasticNet(n_nonzeros=12, panel_size=30).fit(chunked(X, 600), y)
    expected = menet.ManifoldElasticNet(n_nonzeros=12, panel_size=30).fit(X, y)
    for sizes in [{"panel_size": 9}, {"n_nonzeros": 5}, {"n_components": 2}, {"n_components": 4, "panel_size": 20}]:
        same(found.at(**sizes), expected.at(**sizes), X)
    assert found.at(panel_size=9).at(panel_size=4).n_features_in_ == 64
    with pytest.raises(ValueError, match="components"):
        found.at(n_components=10)


def test_the_fitted_object_is_the_ordinary_one(client, digits, tmp_path):
    X, y = digits
    labels = np.array([f"digit {label}" for label in y])
    lazy = chunked(X, 500)
    men = ManifoldElasticNet(n_nonzeros=10).fit(lazy, da.from_array(labels, chunks=800))
    assert men.classes_[0] == "digit 0"
    assert set(men.seconds_) >= {"preprocess", "neighbors", "alignment", "target", "reduction", "lars", "refit"}
    assert "pieces" in men.regime_["why"]
    assert men.kkt_violation_.max() < 1e-9
    assert men.path(0).coefs.shape[0] == 64
    assert len(men.panel_table()) == len(men.panel_)
    men.save(tmp_path / "men.safetensors")
    loaded = menet.ManifoldElasticNet.load(tmp_path / "men.safetensors")
    kept = pickle.loads(pickle.dumps(men))
    for other in (loaded, kept):
        assert np.array_equal(other.predict(X), men.predict(lazy).compute())
    with pytest.raises(ValueError, match="training samples of this model are not known"):
        kept.at(n_nonzeros=3)
    with pytest.warns(UserWarning, match="1797 of these 1797 samples were used in the fit"):
        assert men.score(lazy, labels) == (men.predict(X) == labels).mean()


def test_results_are_lazy_and_their_sizes_known(client, digits):
    X, y = digits
    lazy = chunked(X, 500)
    men = ManifoldElasticNet(n_nonzeros=10).fit(lazy, y)
    rows = lazy.chunks[0]
    for result, chunks, dtype in [
        (men.transform(lazy), (rows, (9,)), float),
        (men.predict(lazy), (rows,), y.dtype),
        (men.predict_proba(lazy), (rows, (10,)), float),
        (men.predict_log_proba(lazy), (rows, (10,)), float),
        (men.decision_function(lazy), (rows, (10,)), float),
    ]:
        assert isinstance(result, da.Array)
        assert (result.chunks, result.dtype) == (chunks, dtype)
    assert np.array_equal(men.transform(lazy).compute(), men.transform(X))
    assert np.array_equal(men.decision_function(lazy).compute(), men.decision_function(X))
    two = ManifoldElasticNet(n_nonzeros=5).fit(lazy[y < 2].compute_chunk_sizes(), y[y < 2])
    assert np.array_equal(two.decision_function(lazy).compute(), two.decision_function(X))
    assert ManifoldElasticNet(n_nonzeros=5).fit(X, y).transform(X).shape == (1797, 9), "in memory as well"


def test_data_frames_bring_their_names(client):
    X, y = load_leukemia(return_X_y=True, as_frame=True)
    X = pd.concat([X.iloc[:, :20]] * 2, ignore_index=True) + np.arange(76)[:, None] % 5 / 100
    y = pd.concat([y] * 2, ignore_index=True)
    frame, labels = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=3)
    frame, kept = frame[frame.iloc[:, 0] > -1e9], labels
    men = ManifoldElasticNet(n_nonzeros=4).fit(frame, kept)
    expected = menet.ManifoldElasticNet(n_nonzeros=4).fit(X, y)
    assert men.feature_names_in_.tolist() == X.columns.tolist()
    assert men.panel_.tolist() == expected.panel_.tolist()
    assert np.allclose(men.transform(frame).compute(), expected.transform(X), atol=1e-9)
    turned = men.transform(frame[frame.columns[::-1]]).compute()
    assert np.array_equal(turned, men.transform(frame).compute())
    with pytest.raises(ValueError, match="X lacks 1 of the"):
        men.transform(frame.drop(columns=men.panel_[0]))
    with pytest.raises(ValueError, match=r"'sex' .*leave it out"):
        ManifoldElasticNet().fit(frame.assign(sex="f"), labels)


def test_means_far_from_zero_cost_no_digits(digits):
    X, y = digits[0][:600, 10:40], digits[1][:600]
    plain = menet.ManifoldElasticNet(n_nonzeros=8).fit(X, y)
    far = ManifoldElasticNet(n_nonzeros=8).fit(chunked(X + 2.0**24, 150), y)
    assert far.panel_.tolist() == plain.panel_.tolist()
    assert np.abs(far.components_ - plain.components_).max() < 1e-12 * np.abs(plain.components_).max()


def test_a_class_may_sit_in_one_chunk(digits):
    X, y = digits
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    same(ManifoldElasticNet(n_nonzeros=6).fit(chunked(X, 170), y), menet.ManifoldElasticNet(n_nonzeros=6).fit(X, y), X)


class TestApproximate:
    """Neighbours in buckets of near rows."""

    @pytest.fixture(autouse=True)
    def pays(self, monkeypatch):
        monkeypatch.setattr(_neighbors, "MANY", 0)
        monkeypatch.setattr(_neighbors, "LARGEST_SHARE", 1.0)

    def fitted(self, X, y, **patch):
        return ManifoldElasticNet(n_nonzeros=6, patch=Patch(search="approximate", **patch)).fit(X, y)

    def test_most_neighbours_are_found(self, client, digits):
        X, y = chunked(digits[0], 300), digits[1]
        men = self.fitted(X, y)
        assert 0.85 < men.neighbor_recall_ <= 1.0
        with dask.config.set(scheduler="synchronous"):
            again = self.fitted(X, y)
        assert np.array_equal(men.components_, again.components_)
        assert men.neighbor_recall_ == again.neighbor_recall_

    def test_rows_that_find_too_few_are_searched_again(self):
        random = np.random.default_rng(0)
        places = random.integers(0, 8, 1200)
        X = random.standard_normal((8, 5))[places] * 50 + random.standard_normal((1200, 5))
        # Four samples of a class, each in another cluster: no bucket has two of them.
        y = places % 2
        y[[int(np.flatnonzero(places == k)[0]) for k in range(4)]] = 2
        men = self.fitted(chunked(X, 200), y, k_within=3)
        # Neighbours of other classes are in other clusters, far away.
        assert men.neighbor_recall_ > 0.7
        exact = menet.ManifoldElasticNet(n_nonzeros=6, patch=Patch(k_within=3)).fit(X, y)
        assert men.panel_.tolist() == exact.panel_.tolist()

    def test_where_it_would_not_pay_it_is_exact(self, digits, monkeypatch):
        X, y = digits
        for name, value in [("MANY", 10_000), ("LARGEST_SHARE", 0.0), ("MOST_SHORT", -1.0)]:
            with monkeypatch.context() as patched:
                patched.setattr(_neighbors, name, value)
                men = self.fitted(chunked(X, 300), y)
            assert men.neighbor_recall_ == 1.0
            same(men, menet.ManifoldElasticNet(n_nonzeros=6).fit(X, y), X)


def test_copies_are_told(client, digits):
    X, y = digits
    again = np.concatenate([y, y[:3], [(y[3] + 1) % 10]])  # three copies, and one of another class
    with pytest.warns(UserWarning, match="3 of 1801 samples are copies of others of the same class"):
        ManifoldElasticNet(n_nonzeros=3).fit(chunked(np.concatenate([X, X[:4]]), 500), again)


def test_little_memory_is_told(client):
    X = da.zeros((20_000, 500), chunks=(5_000, -1))
    with pytest.warns(UserWarning, match=r"may need 0\.4 GB, and a thread of a worker has 0\.3 GB.*5000"):
        _fit.warn_of_memory(3e8, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _fit.warn_of_memory(1e9, X)
    assert 0 < Engine().memory(per_thread=True) <= Engine().memory() < np.inf


def test_bands_of_columns_change_no_bit(client, monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=700)
    X = rng.normal(size=(700, 300)) + np.eye(3, 300)[y]
    one = ManifoldElasticNet(n_nonzeros=10).fit(chunked(X, 200), y)
    for share, bands in ((1e-9, 3), (256 * 700 * 24 / Engine().memory_together(), 2)):
        monkeypatch.setattr(_fit, "BAND_SHARE", share)
        assert -(-300 // _fit.band_of(X.shape, 8, Engine().memory_together())) == bands
        banded = ManifoldElasticNet(n_nonzeros=10).fit(chunked(X, 200), y)
        assert banded.components_.tobytes() == one.components_.tobytes()
    same(one, menet.ManifoldElasticNet(n_nonzeros=10).fit(X, y), X)


@pytest.mark.parametrize(
    ("memory", "columns"), [(np.inf, 1_000), (0.0, 128), (4 * 300 * 100 * 24, 256), (4 * 1_000 * 100 * 24, 1_000)]
)
def test_a_band_is_as_wide_as_memory_allows(memory, columns):
    assert _fit.band_of((100, 1_000), 8, memory) == columns


def test_a_failed_fit_keeps_the_old_one(client, digits):
    X, y = digits
    men = ManifoldElasticNet(n_nonzeros=5).fit(chunked(X, 600), y)
    before = men.components_
    with pytest.raises(ValueError):
        men.fit(chunked(X * np.nan, 600), y)
    assert men.components_ is before
    assert men.predict(X).shape == (1797,)


def awaited(coroutine):
    """Return the names of the coroutines that one waits for, each for the next."""
    names = []
    while coroutine is not None:
        names.append(getattr(coroutine, "__qualname__", ""))
        coroutine = getattr(coroutine, "cr_await", None)
    return names


def test_progress_shows_every_stage(client, digits):
    import io

    X, y = digits
    for cluster in (True, False):
        shown = io.StringIO()
        with progress(shown), dask.config.set(scheduler=None if cluster else "threads"):
            ManifoldElasticNet(n_nonzeros=5).fit(chunked(X, 600), y)
        lines = shown.getvalue().strip().split("\n")
        stages = [line.split("\r")[-1].split()[0] for line in lines]
        assert stages == ["preprocess", "neighbors", "alignment", "target", "reduction", "lars", "refit"]
        assert all("100 %" in line for line in lines)

    # Nothing on the scheduler still waits for tasks that are gone.
    def counting():
        return [name for task in asyncio.all_tasks() for name in awaited(task.get_coro()) if name == "Progress.setup"]

    until = time.monotonic() + 20
    while client.run_on_scheduler(counting) and time.monotonic() < until:
        time.sleep(0.1)
    assert not client.run_on_scheduler(counting)


def test_a_fit_may_be_a_task(digits):
    X, y = digits

    def fit(k):
        return ManifoldElasticNet(n_nonzeros=k).fit(chunked(X, 600), y)

    # One thread: the tasks of a fit that kept it would wait for ever. Two fits at once share it.
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        fits = {k: client.submit(fit, k) for k in (4, 7)}
        for k, future in fits.items():
            same(future.result(timeout=60), menet.ManifoldElasticNet(n_nonzeros=k).fit(X, y), X)


def test_fits_in_threads_do_not_mix(client, digits):
    X, y = digits
    found = {}

    def fit(k):
        found[k] = ManifoldElasticNet(n_nonzeros=k).fit(chunked(X, 600), y)

    threads = [threading.Thread(target=fit, args=(k,)) for k in (4, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, men in found.items():
        same(men, menet.ManifoldElasticNet(n_nonzeros=k).fit(X, y), X)
