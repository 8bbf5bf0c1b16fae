"""Weights of samples and classes, and samples without a label."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

import menet
from menet import L1, Manifold, ManifoldElasticNet, ManifoldElasticNetCV, Nearest, Prepare, StabilitySelection
from menet.datasets import load_digits, load_leukemia


def some(seed=0, n=60, p=12, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    X[:, :classes] += 2.0 * (y[:, None] == np.arange(classes))
    return X, y


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"refit": "none", "ridge": 0.03, "rule": Nearest(metric="euclidean")},
        {"rule": "gaussian"},
        {"panel_size": 4},
    ],
)
def test_scikit_learn_finds_weights_and_copies_alike(params):
    estimator = ManifoldElasticNet(**params)
    check_sample_weight_equivalence_on_dense_data("ManifoldElasticNet", estimator)
    check_sample_weight_equivalence_on_sparse_data("ManifoldElasticNet", estimator)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_weights_are_copies(container):
    X, y = some()
    w = np.arange(60) % 4
    rows = np.repeat(np.arange(60), w)
    weighted = ManifoldElasticNet(n_nonzeros=5).fit(container(X), y, sample_weight=w)
    copied = ManifoldElasticNet(n_nonzeros=5).fit(container(X[rows]), y[rows])
    assert np.array_equal(weighted.components_ != 0, copied.components_ != 0)
    assert np.abs(weighted.components_ - copied.components_).max() < 1e-10
    assert np.allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-8)
    for men in (weighted, pickle.loads(pickle.dumps(weighted))):
        smaller = men.at(n_nonzeros=3)
        again = ManifoldElasticNet(n_nonzeros=3).fit(container(X), y, sample_weight=w)
        assert np.array_equal(smaller.components_, again.components_)
        assert np.array_equal(smaller.predict_proba(X), again.predict_proba(X))


def test_a_pickle_does_not_merge_samples_that_only_look_alike():
    # Three levels and few variables: many samples are equal in the variables that a small model reaches.
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(80, 30)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=80) > 2).astype(int)
    men = ManifoldElasticNet(n_nonzeros=4).fit(X, y)
    assert len(np.unique(X[:, men.panel_.astype(int)], axis=0)) < 80
    kept = pickle.loads(pickle.dumps(men))
    assert np.array_equal(kept.at(n_nonzeros=2).components_, men.at(n_nonzeros=2).components_)


def test_balanced_classes_find_the_rare_one():
    X, y = make_classification(4000, 20, n_informative=5, weights=[0.97], class_sep=0.7, flip_y=0.0, random_state=0)
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    recall = {}
    for weight in (None, "balanced"):
        men = ManifoldElasticNet(class_weight=weight).fit(X, y)
        recall[weight] = (men.predict(X_new)[y_new == 1] == 1).mean()
    assert recall["balanced"] > recall[None] + 0.2
    as_dict = ManifoldElasticNet(class_weight={0: 1.0, 1: (y == 0).sum() / (y == 1).sum()}).fit(X, y)
    assert np.allclose(
        as_dict.components_, ManifoldElasticNet(class_weight="balanced").fit(X, y).components_, atol=1e-9
    )


def test_searches_and_selections_take_weights():
    X, y = some()
    w = 1.0 + np.arange(60) % 3
    settings = {"rule": "gaussian", "refit": "discriminant", "n_nonzeros": 4}
    plain = ManifoldElasticNetCV(**settings, param_grid={"ridge": [0.1, 1.0]}, cv=3).fit(X, y)
    search = clone(plain).fit(X, y, sample_weight=w)
    assert not np.array_equal(search.components_, plain.components_)
    best = ManifoldElasticNet(**settings).set_params(**search.best_params_)
    assert np.array_equal(best.fit(X, y, sample_weight=w).components_, search.components_)
    chosen = StabilitySelection(ManifoldElasticNet(class_weight="balanced"), n_pairs=5, panel_size=3).fit(X, y)
    assert chosen.panel_size_ == 3
    found = menet.validate(
        ManifoldElasticNet(n_nonzeros=4), X, y, sample_weight=w, n_repeats=1, n_permutations=0, n_pairs=0
    )
    expected = ManifoldElasticNet(n_nonzeros=4).fit(X, y, sample_weight=w)
    assert np.array_equal(found.estimator_.components_, expected.components_)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.full(60, -1.0), "`sample_weight` is -1.0 for sample 0"),
        (np.full(60, np.nan), "NaN"),
        (np.zeros(60), "weight"),
        (np.ones(59), "sample_weight"),
        (np.arange(60) % 3, "class"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weights, words):
    X, y = some()
    with pytest.raises(ValueError, match=words):
        ManifoldElasticNet().fit(X, y, sample_weight=weights)


def test_class_weights_that_cannot_be_used_are_refused():
    X, y = some()
    with pytest.raises(ValueError, match="balanced"):
        ManifoldElasticNet(class_weight="equal").fit(X, y)
    with pytest.raises(ValueError, match="names the class 7"):
        ManifoldElasticNet(class_weight={7: 2.0}).fit(X, y)
    with pytest.raises(TypeError, match="dict"):
        ManifoldElasticNet(class_weight=3).fit(X, y)


@pytest.mark.parametrize("none", [-1, "none"])
def test_samples_without_a_label_take_part(none):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    rng = np.random.default_rng(0)
    labelled = np.concatenate([rng.choice(np.flatnonzero(y == c), 5, replace=False) for c in range(10)])
    given = np.full(600, -1)
    given[labelled] = y[labelled]
    if none == "none":
        given = np.array(["none" if c < 0 else str(c) for c in given])
    men = ManifoldElasticNet(unlabelled=none, n_nonzeros=20).fit(X, given)
    assert len(men.classes_) == 10
    alone = ManifoldElasticNet(n_nonzeros=20).fit(X[labelled], given[labelled])
    assert not np.array_equal(men.components_, alone.components_)
    assert men.kkt_violation_.max() < 1e-9
    assert men.at(n_nonzeros=10).transform(X).shape == men.transform(X).shape
    plain = {"n_nonzeros": 20, "manifold": Manifold(alpha=0.0), "penalty": L1(standardize=False)}
    off = ManifoldElasticNet(unlabelled=none, **plain).fit(X, given)
    same = ManifoldElasticNet(**plain).fit(X[labelled], given[labelled])
    assert np.allclose(off.components_, same.components_, atol=1e-10)


def test_a_search_scores_labelled_samples_alone():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500].copy()
    y[200:] = -1
    search = ManifoldElasticNetCV(
        unlabelled=-1, n_nonzeros=20, rule=Nearest(metric="cosine"), param_grid={"manifold__beta": [0.01, 1.0]}, cv=3
    )
    search.fit(X, y)
    assert search.classes_.tolist() == list(range(10))
    assert 0.5 < search.best_score_ <= 1.0
    with pytest.raises(ValueError, match="means none"):
        ManifoldElasticNet(unlabelled=-1).fit(X[200:], y[200:])


def test_missing_values_of_samples_without_a_label_are_filled():
    X, y = load_leukemia(return_X_y=True)
    X, codes = X[:, :50].copy(), np.unique(y, return_inverse=True)[1]
    codes[::4] = -1
    X[::5, 3] = np.nan
    men = ManifoldElasticNet(unlabelled=-1, prepare=Prepare(impute="mean"), n_nonzeros=5).fit(X, codes)
    assert np.isfinite(men.transform(X)).all()
