"""Penalties other than L1, in fits and in paths."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import menet
from menet._settings import described
from menet._stages import CLASSES
from menet.datasets import load_digits, load_leukemia

PENALTIES = described()["penalty.kind"].names
ROUNDS = ["reweighted", "scad", "mcp"]


@pytest.fixture(scope="module")
def genes():
    X, y = load_leukemia(return_X_y=True)
    return X[:, :400], y


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 90))
    y = X[:, [3, 17, 40]] @ [2.0, -3.0, 1.5] + 0.3 * rng.normal(size=60)
    return X, y


def test_every_penalty_has_a_class():
    assert {kind for kind in CLASSES["penalty"] if kind is not None} == set(PENALTIES)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_fit_keeps_its_limit_and_its_smaller_models(genes, penalty):
    X, y = genes
    men = menet.ManifoldElasticNet(penalty=penalty, n_nonzeros=8, refit="none").fit(X, y)
    assert men.n_nonzeros_.max() <= 8
    assert men.kkt_violation_.max() < 1e-9
    small = menet.ManifoldElasticNet(penalty=penalty, n_nonzeros=3, refit="none").fit(X, y)
    assert_array_equal(men.at(n_nonzeros=3).components_, small.components_)
    again = pickle.loads(pickle.dumps(men))
    if penalty in ("reweighted", "scad", "mcp"):
        # Solved for one size: the variables that a pickle keeps are too few to fit again.
        with pytest.raises(ValueError, match=r"`n_nonzeros`=3.*fit again"):
            again.at(n_nonzeros=3)
    else:
        assert_array_equal(again.at(n_nonzeros=3).components_, small.components_)
    assert again.path(0).rounds == men.path(0).rounds
    assert_array_equal(again.predict(X), men.predict(X))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_model_file_keeps_what_is_known_of_the_penalty(genes, penalty, tmp_path):
    X, y = genes
    men = menet.ManifoldElasticNet(penalty=penalty, n_nonzeros=5).fit(X, y)
    men.save(tmp_path / "model.safetensors")
    back = menet.ManifoldElasticNet.load(tmp_path / "model.safetensors")
    assert back.penalty == penalty
    for name in ("ended", "rounds", "settled", "stationarity", "local"):
        assert getattr(back.path(0), name) == getattr(men.path(0), name)


@pytest.mark.parametrize("penalty", ROUNDS)
def test_rounds_end_where_the_penalty_is_stationary(regression, penalty):
    X, y = regression
    path = menet.lars_path(X, y, max_nonzeros=6, penalty=penalty)
    w, level = path.coefs[:, -1], path.lambdas[-1]
    assert path.settled and path.rounds >= 1 and path.stationarity < 1e-9
    assert {3, 17, 40} <= set(np.flatnonzero(w)) and np.count_nonzero(w) <= 6
    if penalty == "reweighted":
        return
    size = (X**2).sum(axis=0) * abs(w)
    weight = np.where(size <= level, 1, np.maximum(3.7 * level - size, 0) / (2.7 * level))
    if penalty == "mcp":
        weight = np.maximum(1 - size / (3 * level), 0)
    c = X.T @ (y - X @ w)
    assert_allclose(c[w != 0], (level * weight * np.sign(w))[w != 0], atol=1e-8 * abs(X.T @ y).max())
    assert abs(c[w == 0]).max() <= level * (1 + 1e-9)


def test_a_level_may_be_given_instead_of_a_size(regression):
    X, y = regression
    level = 0.2 * abs(X.T @ y).max()
    path = menet.lars_path(X, y, lambda_min=level, penalty="mcp")
    assert path.lambdas[-1] == pytest.approx(level) and path.stationarity < 1e-9


def test_best_subsets_have_every_size(regression):
    X, y = regression
    path = menet.lars_path(X, y, max_nonzeros=5, penalty="l0")
    assert [np.count_nonzero(path.at_nonzeros(k)) for k in range(1, 6)] == [1, 2, 3, 4, 5]
    assert set(np.flatnonzero(path.at_nonzeros(3))) == {3, 17, 40}
    assert path.local == [True] * 5 and path.rounds is None
    chosen = np.flatnonzero(path.at_nonzeros(4))
    assert_allclose(path.at_nonzeros(4)[chosen], np.linalg.lstsq(X[:, chosen], y, rcond=None)[0], rtol=1e-9)


def test_several_responses_and_a_gram_matrix_agree(regression):
    X, y = regression
    Y = np.column_stack([y, X[:, 5] - X[:, 6]])
    for penalty in PENALTIES[1:]:
        both = menet.lars_path(X, Y, max_nonzeros=4, penalty=penalty)
        alone = menet.lars_path_gram(X.T @ X, X.T @ y, max_nonzeros=4, penalty=penalty)
        assert_allclose(both.coefs[0][:, -1], alone.coefs[:, -1], rtol=1e-8, atol=1e-12)
        assert both.rounds[0] == alone.rounds


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_search_tries_sizes_with_any_penalty(penalty):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    search = menet.ManifoldElasticNetCV(
        penalty=penalty, param_grid={"panel_size": [6, 12]}, ridge=0.3, rule="gaussian", refit="panel", cv=3
    )
    search.fit(X, y)
    assert len(search.best_estimator_.panel_) <= search.best_params_.get("panel_size", 12)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 2 and scores.max() > 0.4


def test_what_is_out_of_range_is_named(regression, genes):
    X, y = regression
    with pytest.raises(ValueError, match="lambda_min"):
        menet.lars_path(X, y, penalty="scad")
    with pytest.raises(ValueError, match="max_nonzeros"):
        menet.lars_path(X, y, penalty="l0")
    with pytest.raises(ValueError, match="penalty"):
        menet.lars_path(X, y, max_nonzeros=3, penalty="l2")
    with pytest.raises(ValueError, match="positive"):
        menet.lars_path(X, y, max_nonzeros=3, penalty="mcp", positive=True)
    with pytest.raises(ValueError, match="> 2"):
        menet.ManifoldElasticNet(penalty=menet.Scad(gamma=1.5)).fit(*genes)
    with pytest.raises(ValueError, match="left out"):
        menet.lars_path(X, y, max_nonzeros=3, epsilon=0.1)


def test_rounds_without_training_samples_are_refused(genes, tmp_path):
    men = menet.ManifoldElasticNet(penalty="scad", n_nonzeros=6, refit="none").fit(*genes)
    men.save(tmp_path / "model.safetensors")
    back = menet.ManifoldElasticNet.load(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="training samples"):
        back.at(n_nonzeros=3)


def test_copies_of_a_variable_end_the_rounds_with_a_warning_or_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    X[:, 5] = X[:, 0]
    y = 5 * X[:, 0] + 0.1 * rng.normal(size=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for penalty in PENALTIES[1:]:
            path = menet.lars_path(X, y, max_nonzeros=3, penalty=penalty)
            assert np.isfinite(path.coefs).all() and np.count_nonzero(path.coefs[:, -1]) <= 3
