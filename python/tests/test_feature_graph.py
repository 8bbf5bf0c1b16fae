"""A graph over the variables."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.image import grid_to_graph

from menet import L1, ManifoldElasticNet, ManifoldElasticNetCV, StabilitySelection, validate
from menet.datasets import load_digits

X, y = load_digits(return_X_y=True)
X, y = X[::6], y[::6]
GRID = grid_to_graph(8, 8)


def fitted(**penalty):
    return ManifoldElasticNet(n_nonzeros=10, refit="none", penalty=L1(**penalty)).fit(X, y)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_a_matrix_is_the_graph_that_has_its_name(kind):
    named = fitted(feature_graph="grid:8x8")
    given = fitted(feature_graph=kind(GRID))
    np.testing.assert_array_equal(given.components_, named.components_)
    assert given.kkt_violation_.max() < 1e-9
    chain = sparse.diags_array([np.ones(63), np.ones(63)], offsets=[1, -1])
    np.testing.assert_array_equal(
        fitted(feature_graph=4.0 * chain).components_, fitted(feature_graph="chain").components_
    )
    assert not np.array_equal(fitted(feature_graph="chain").components_, named.components_)


def test_weight_zero_is_no_graph_and_one_is_the_default():
    np.testing.assert_array_equal(fitted(feature_graph="chain", graph_weight=0).components_, fitted().components_)
    np.testing.assert_array_equal(
        fitted(feature_graph="chain", graph_weight=1.0).components_, fitted(feature_graph="chain").components_
    )
    np.testing.assert_array_equal(fitted(feature_graph="auto").components_, fitted(feature_graph="chain").components_)


def test_it_survives_clone_pickle_and_smaller_models(tmp_path):
    men = fitted(feature_graph=GRID, graph_weight=2.0)
    copy = clone(men)
    assert (copy.penalty.feature_graph != GRID).nnz == 0
    np.testing.assert_array_equal(copy.fit(X, y).components_, men.components_)
    small = men.at(n_nonzeros=3)
    assert sparse.issparse(small.penalty.feature_graph)
    again = clone(men).set_params(n_nonzeros=3).fit(X, y)
    np.testing.assert_array_equal(small.components_, again.components_)
    kept = pickle.loads(pickle.dumps(men))
    np.testing.assert_array_equal(kept.at(n_nonzeros=3).components_, small.components_)
    men.save(tmp_path / "m.safetensors")
    loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
    assert loaded.penalty.feature_graph == {"source": "a matrix", "edges": 112, "variables": 64}
    assert loaded.penalty.graph_weight == 2.0
    np.testing.assert_array_equal(loaded.at(n_nonzeros=3).components_, small.components_)
    with pytest.raises(ValueError, match="all that a model file stores of a matrix"):
        clone(loaded).fit(X, y)
    named = fitted(feature_graph="grid:8x8")
    named.save(tmp_path / "n.safetensors")
    assert ManifoldElasticNet.load(tmp_path / "n.safetensors").penalty.feature_graph == "grid:8x8"


def test_searches_stability_and_validation_honour_it():
    fixed = {"ridge": 0.3, "penalty": L1(feature_graph=GRID), "refit": "none", "rule": "centroid"}
    search = ManifoldElasticNetCV(**fixed, param_grid={"n_nonzeros": [3, 5]}, cv=3).fit(X, y)
    alone = ManifoldElasticNet(n_nonzeros=search.best_params_["n_nonzeros"], **fixed).fit(X, y)
    np.testing.assert_array_equal(search.components_, alone.components_)
    orders = [
        StabilitySelection(
            ManifoldElasticNet(penalty=L1(feature_graph=graph)), n_pairs=2, max_panel_size=5, panel_size=5
        )
        .fit(X, y)
        .frequencies_
        for graph in (None, GRID)
    ]
    assert not np.array_equal(*orders)
    fast = {"n_splits": 2, "n_repeats": 1, "n_permutations": 0, "n_pairs": 2, "largest_panel": 5}
    found = validate(
        ManifoldElasticNet(n_nonzeros=3, penalty=L1(feature_graph="grid")), X, y, image_shape=(8, 8), **fast
    )
    assert found is not None


@pytest.mark.parametrize(
    ("params", "error", "expected"),
    [
        ({"feature_graph": "gird"}, ValueError, '`penalty.feature_graph` is \'gird\', but must be "auto", "chain"'),
        ({"feature_graph": "grid"}, ValueError, "the data have no image shape"),
        ({"feature_graph": "grid:3x3"}, ValueError, "a grid of 3 x 3"),
        ({"feature_graph": np.eye(64)}, TypeError, 'but must be "auto", .* or a symmetric sparse matrix'),
        ({"feature_graph": grid_to_graph(3, 3)}, ValueError, "a matrix of 9 variables, but must be a matrix of 64"),
        ({"feature_graph": sparse.csr_array((64, 3))}, ValueError, "one row and one column per variable"),
        ({"feature_graph": -GRID}, ValueError, "negative or not finite"),
        ({"feature_graph": sparse.triu(GRID)}, ValueError, "not symmetric"),
        ({"feature_graph": sparse.eye_array(64)}, ValueError, "which has no edge"),
        ({"graph_weight": 1.0}, ValueError, "`penalty.graph_weight` is 1, but must be left out"),
        ({"feature_graph": "chain", "graph_weight": -1.0}, ValueError, "`penalty.graph_weight` is -1"),
    ],
)
def test_what_is_refused(params, error, expected):
    with pytest.raises(error, match=expected):
        ManifoldElasticNet(penalty=L1(**params)).fit(X, y)
