"""The baselines."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import menet

UNSUPERVISED = [
    menet.PCA(3),
    menet.LPP(3, supervised=False),
    menet.NPE(3, supervised=False),
    menet.SparsePCA(3, 8),
]


def test_baselines_keep_their_promises(faces):
    X, y, X_test, y_test = faces
    rates = {}
    for kind in (menet.PCA, menet.FLDA, menet.DLA, menet.LPP, menet.NPE, menet.SPG):
        model = kind(n_components=20).fit(X, y)
        rates[kind.__name__] = model.score(X_test, y_test)
        cut = model.at(n_components=5)
        np.testing.assert_allclose(cut.components_, kind(n_components=5).fit(X, y).components_, atol=1e-12)
        assert cut.score(X_test, y_test) == kind(n_components=5).fit(X, y).score(X_test, y_test)
        assert model.n_components_ == 20
        with pytest.raises(ValueError, match="`n_components` is 21, but must be 1 to 20"):
            model.at(n_components=21)
    assert min(rates.values()) > 0.85, rates
    with pytest.raises(ValueError, match="`n_components` is 40, but FLDA finds only 39 axes"):
        menet.FLDA(n_components=40).fit(X, y)


@pytest.mark.parametrize("model", UNSUPERVISED)
def test_methods_that_do_not_look_at_classes_need_none(model, digits):
    X, y = digits[0][:300], digits[1][:300]
    alone = model.fit(X).transform(X)
    with pytest.raises(NotFittedError, match="was fitted without `y`"):
        model.predict(X)
    np.testing.assert_array_equal(model.fit(X, y).transform(X), alone)
    assert model.score(X, y) == 1.0
    model.fit(X)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    "fit",
    [lambda model, X: model.fit(X), lambda model, X: model.fit_transform(X), lambda m, X: make_pipeline(m).fit(X)],
)
def test_sparse_pca_says_once_that_it_has_not_settled(digits, fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(menet.SparsePCA(5, 8, iterations=2), digits[0])
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "SparsePCA: not settled after 2 turns" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("model", UNSUPERVISED)
def test_unsupervised_baselines_ignore_the_target_of_a_regression(model, digits):
    X, y = digits[0][:300], digits[1][:300]
    alone = model.fit(X).transform(X)
    rng = np.random.default_rng(0)
    targets = {
        "numbers": y + rng.uniform(0.1, 0.9, len(y)),
        "two columns": rng.standard_normal((len(y), 2)),
        "two columns of classes": np.c_[y, y],
        "a list": list(rng.standard_normal(len(y))),
        "objects": np.array([None, "a"] * 150, dtype=object),
    }
    for name, target in targets.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(model.fit(X, target).transform(X), alone, err_msg=name)
            np.testing.assert_array_equal(model.fit_transform(X, target), alone, err_msg=name)
        assert not hasattr(model, "classes_")
        with pytest.raises(NotFittedError, match="a `y` that holds no classes"):
            model.predict(X)
    both = targets["two columns"] + X[:, 20:22]
    rates = cross_val_score(make_pipeline(model, LinearRegression()), X, both, cv=3)
    assert np.isfinite(rates).all()


@pytest.mark.parametrize("model", [menet.FLDA(3), menet.LPP(3), menet.NPE(3), menet.DLA(3), menet.SPG(3)])
def test_supervised_baselines_refuse_the_target_of_a_regression(model, digits):
    X = digits[0][:300]
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 20] + 0.5 * X[:, 21] + 0.1)


def test_galleries_that_make_no_sense_are_refused():
    from menet import _core

    mean, axes, gallery = np.zeros(3), np.eye(2, 3), np.zeros((4, 2))
    made = _core.Baseline.from_parts(mean, axes, gallery, np.array([0, 1, 0, 1]), "euclidean")
    np.testing.assert_array_equal(made.components(), axes)
    for codes in ([0, 1, -1, 0], [0, 1, 9, 0], [0, 0, 2, 2], [0, 1]):
        with pytest.raises(ValueError):
            _core.Baseline.from_parts(mean, axes, gallery, np.array(codes), "euclidean")
