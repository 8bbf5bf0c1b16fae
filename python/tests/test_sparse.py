"""Sparse samples that are too large to be made dense."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils._testing import assert_allclose

from menet import ManifoldElasticNet, _core


@pytest.fixture(scope="module")
def large():
    """Return 400 samples, each with 30 of 100,000 variables, in three classes that some variables tell apart."""
    rng = np.random.default_rng(0)
    n, p = 400, 100_000
    y = np.arange(n) % 3
    common = rng.integers(0, p, (n, 20))
    telling = 100 * y[:, np.newaxis] + rng.integers(0, 40, (n, 10))
    columns = np.hstack([common, telling]).ravel()
    values = rng.uniform(0.5, 2.0, columns.size)
    X = sparse.csr_array((values, (np.repeat(np.arange(n), 30), columns)), shape=(n, p))
    assert 8 * n * p > _core.DENSE_BYTES
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def men(large):
    return ManifoldElasticNet(n_nonzeros=20).fit(*large)


def test_a_fit_is_optimal_and_recognises(men, large):
    X, y = large
    assert men.components_.shape == (2, 100_000)
    assert men.kkt_violation_.max() < 1e-9
    assert men.cg_residual_ < 1e-9
    assert men.score(X, y) > 0.9
    assert_allclose(men.mean_, X.mean(axis=0), atol=1e-15)
    assert_allclose(men.transform(X), X @ men.components_.T - men.mean_ @ men.components_.T, atol=1e-10)
    few = X[:7]
    np.testing.assert_array_equal(men.transform(few), men.transform(few.toarray()))
    np.testing.assert_array_equal(men.predict(few), men.predict(few.toarray()))


def test_every_format_gives_the_same_model(men, large):
    X, y = large
    shuffled = X.copy()
    for i in range(shuffled.shape[0]):
        row = slice(shuffled.indptr[i], shuffled.indptr[i + 1])
        shuffled.indices[row], shuffled.data[row] = shuffled.indices[row][::-1].copy(), shuffled.data[row][::-1].copy()
    shuffled.has_sorted_indices = False
    split = sparse.csr_array(
        (
            np.repeat(X.data / 2, 2),
            np.repeat(X.indices, 2).astype(np.int64),
            (2 * X.indptr).astype(np.int64),
        ),
        shape=X.shape,
    )
    places = sparse.coo_array(X)
    zero = (np.append(places.data, 0.0), (np.append(places.row, 0), np.append(places.col, 5)))
    explicit = sparse.coo_array(zero, shape=X.shape).tocsr()
    assert explicit.nnz == X.nnz + 1
    for given in (sparse.csc_matrix(X), sparse.coo_array(X), shuffled, split, explicit):
        found = ManifoldElasticNet(n_nonzeros=20, n_jobs=2).fit(given, y)
        np.testing.assert_array_equal(found.components_, men.components_)
        np.testing.assert_array_equal(found.transform(given), men.transform(X))
    single = ManifoldElasticNet(n_nonzeros=20).fit(X.astype(np.float32), y)
    as_double = ManifoldElasticNet(n_nonzeros=20).fit(X.astype(np.float32).astype(np.float64), y)
    np.testing.assert_array_equal(single.components_, as_double.components_)
    projected, exact = (single.transform(X.astype(dtype)) for dtype in (np.float32, np.float64))
    assert (projected.dtype, exact.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(projected, exact, rtol=1e-5, atol=1e-5 * np.abs(exact).max())


def test_it_is_kept_and_made_sparser(men, large, tmp_path):
    X, y = large
    sparser = men.at(n_nonzeros=5)
    np.testing.assert_array_equal(sparser.components_, ManifoldElasticNet(n_nonzeros=5).fit(X, y).components_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(men)).at(n_nonzeros=5).predict(X), sparser.predict(X))
    men.save(tmp_path / "m")
    np.testing.assert_array_equal(ManifoldElasticNet.load(tmp_path / "m").predict(X), men.predict(X))


def test_what_cannot_be_is_said(large):
    X, y = large
    with pytest.raises(ValueError, match="`pca_rank` is 3 with sparse samples, 400 x 100000"):
        ManifoldElasticNet(pca_rank=3).fit(X, y)
    for value in (np.nan, np.inf, 1e101):
        spoiled = X.copy()
        spoiled.data[0] = value
        place = rf"row 0, column {spoiled.indices[0]} \(counted from 0\) of the data"
        with pytest.raises(ValueError, match=place):
            ManifoldElasticNet().fit(spoiled, y)
    broken = X.copy()
    broken.indices[3] = 100_000
    with pytest.raises(ValueError, match="`indices` is 100000 at position 3, but must be from 0, and below 100000"):
        ManifoldElasticNet().fit(broken, y)
    with pytest.raises(ValueError, match="1 class"):
        ManifoldElasticNet().fit(X, np.zeros(400))
