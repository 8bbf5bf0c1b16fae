"""Stability selection."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import menet
from menet import L1, ManifoldElasticNet, StabilitySelection

TRUE = [3, 17, 40, 80]


@pytest.fixture(scope="module")
def drawn():
    """Three classes that differ in four of 120 variables."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 120))
    for k, j in enumerate(TRUE):
        X[:, j] += 2.5 * (y == k % 3)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def fitted(drawn):
    return StabilitySelection(n_pairs=10).fit(*drawn)


def test_true_variables_are_stable_and_a_model_uses_them(drawn, fitted):
    X, y = drawn
    assert set(TRUE) <= set(fitted.stable_.tolist())
    assert len(fitted.stable_) <= 6
    assert fitted.get_support(indices=True).tolist() == sorted(fitted.stable_.tolist())
    np.testing.assert_array_equal(fitted.transform(X), X[:, np.sort(fitted.stable_)])
    assert sorted(fitted.estimator_.panel_.tolist()) == sorted(fitted.stable_.tolist())
    assert np.mean(fitted.predict(X) == y) > 0.9
    np.testing.assert_array_equal(fitted.predict(X), fitted.estimator_.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X), fitted.estimator_.predict_proba(X))
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X))
    with pytest.warns(UserWarning, match="used in the fit"):
        assert fitted.score(X, y) == np.mean(fitted.predict(X) == y)
    # The refitted estimator has the parameters that give it.
    again = clone(fitted.estimator_).fit(X, y)
    np.testing.assert_array_equal(again.components_, fitted.estimator_.components_)


def test_frequencies_and_index_are_counted_from_panels(fitted):
    size = fitted.panel_size_
    np.testing.assert_array_equal(fitted.frequencies(size), fitted.frequencies_)
    assert fitted.frequencies_.sum() == pytest.approx(size)
    order = sorted(np.flatnonzero(fitted.frequencies_ >= 0.75), key=lambda j: (-fitted.frequencies_[j], j))
    assert fitted.stable_.tolist() == order
    assert (fitted.frequencies(5) <= fitted.frequencies(20)).all()
    assert fitted.stability(size) == fitted.stability_
    # The formula of the paper.
    for k in (1, 4, 30):
        p, panels = 120, 20
        f = fitted.frequencies(k)
        expected = 1 - np.mean(panels / (panels - 1) * f * (1 - f)) / (k / p * (1 - k / p))
        found = fitted.stability(k)
        assert found.value == pytest.approx(expected)
        assert found.low <= found.value <= found.high
    bounds = fitted.false_selections_
    assert bounds["meinshausen_buhlmann"] == pytest.approx(size**2 / (0.5 * 120))
    assert 0 < bounds["r_concave"] <= bounds["unimodal"] <= 1 < bounds["meinshausen_buhlmann"]
    for wrong in (0, 101):
        with pytest.raises(ValueError, match="`size`"):
            fitted.frequencies(wrong)


def test_sparse_samples_threads_and_pickles_give_the_same(drawn, fitted):
    X, y = drawn
    for other in (
        StabilitySelection(n_pairs=10, n_jobs=2).fit(X, y),
        StabilitySelection(n_pairs=10).fit(sparse.csr_array(X), y),
        StabilitySelection(ManifoldElasticNet(n_nonzeros=2), n_pairs=10).fit(X, y),
        pickle.loads(pickle.dumps(fitted)),
    ):
        np.testing.assert_array_equal(other.frequencies_, fitted.frequencies_)
        np.testing.assert_array_equal(other.frequencies(7), fitted.frequencies(7))
        np.testing.assert_array_equal(other.stable_, fitted.stable_)
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
        assert other.stability_ == fitted.stability_
    kept = fitted.transform(sparse.csr_array(X))
    assert sparse.issparse(kept)
    np.testing.assert_array_equal(kept.toarray(), fitted.transform(X))


def test_the_seed_decides(drawn, fitted):
    X, y = drawn
    other = StabilitySelection(n_pairs=10, random_state=1).fit(X, y)
    assert not np.array_equal(other.frequencies_, fitted.frequencies_)
    first, second = (StabilitySelection(n_pairs=3, random_state=np.random.RandomState(5)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.frequencies_, second.frequencies_)
    StabilitySelection(n_pairs=2, random_state=None).fit(X, y)


def test_groups_stay_together(drawn):
    X, y = drawn
    # Nearly every sample twice: apart, they would make half-samples agree more.
    twice, classes, names = np.vstack([X, X + 1e-9]), np.concatenate([y, y]), [f"patient {i}" for i in range(60)] * 2
    apart = StabilitySelection(n_pairs=10).fit(twice, classes)
    together = StabilitySelection(n_pairs=10).fit(twice, classes, groups=names)
    assert together.stability_.value < apart.stability_.value
    with pytest.raises(ValueError, match="inconsistent numbers"):
        StabilitySelection().fit(X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="`groups` is 3 groups of which no two halves have two classes in both"):
        StabilitySelection().fit(X, y, groups=y)


def test_copies_stay_together_like_groups(drawn):
    X, y = drawn
    twice, classes = np.vstack([X, X]), np.concatenate([y, y])
    with pytest.warns(
        UserWarning, match="StabilitySelection: 60 of 120 samples are copies of others; copies stay on one"
    ):
        alone = StabilitySelection(n_pairs=5).fit(twice, classes)
    with pytest.warns(UserWarning, match="60 of 120"):
        grouped = StabilitySelection(n_pairs=5).fit(twice, classes, groups=list(range(60)) * 2)
    np.testing.assert_array_equal(alone.frequencies_, grouped.frequencies_)
    shared = [*range(60), *range(1, 60), 0]
    with (
        pytest.raises(ValueError, match="no two halves"),
        pytest.warns(UserWarning, match="so 1 of 60 groups are left"),
    ):
        StabilitySelection(n_pairs=5).fit(twice, classes, groups=shared)


def test_fits_without_an_order_of_entry_are_refused(drawn):
    X, y = drawn
    for base, message in (
        (
            ManifoldElasticNet(penalty=L1(feature_groups=[[0, 1], [2, 3]])),
            "`penalty.feature_groups` is 2 groups with stability selection",
        ),
        (
            ManifoldElasticNet(penalty=L1(group_axes="together")),
            '`penalty.group_axes` is "together" with stability selection',
        ),
        (
            ManifoldElasticNet(penalty="scad"),
            "`penalty.kind` is scad, but must be one of l1, adaptive, l0 in stability",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            StabilitySelection(base, n_pairs=2).fit(X, y)
        with pytest.raises(ValueError, match=f"{message}.* n_pairs=0"):
            menet.validate(base, X, y, n_repeats=1, n_permutations=0, n_pairs=2)
    found = StabilitySelection(ManifoldElasticNet(penalty="adaptive"), n_pairs=5).fit(X, y)
    assert set(TRUE) <= set(found.stable_.tolist())


def test_variables_that_cannot_be_selected_do_not_count(drawn):
    X, y = drawn
    noise = np.random.default_rng(0).standard_normal(X.shape)
    few = ManifoldElasticNet(penalty=L1(never=list(range(100))))
    with pytest.warns(UserWarning, match="no variable is stable"):
        found = StabilitySelection(few, n_pairs=20, panel_size=5).fit(noise, y)
    assert found.stability_.value < 0.3
    assert found.stability(5) == found.stability_


def test_parameters_of_the_estimator_are_used(drawn, fitted):
    X, y = drawn
    factors = np.ones(120)
    factors[3], factors[17] = 0, np.inf
    base = ManifoldElasticNet(ridge=3.0, penalty=L1(factors=factors), rule="centroid")
    found = StabilitySelection(base, n_pairs=10, panel_size=8, threshold=0.6).fit(X, y)
    assert found.panel_size_ == 8
    assert found.frequencies_[[3, 17]].tolist() == [0, 0]
    assert 3 in found.estimator_.panel_
    assert 17 not in found.estimator_.panel_
    assert (found.estimator_.ridge, found.estimator_.rule_) == (3.0, "centroid")
    assert base.n_nonzeros is None, "the estimator that was given does not change"
    for wrong in (StandardScaler(), menet.ManifoldElasticNetCV(), ManifoldElasticNet):
        with pytest.raises(TypeError, match="must be a ManifoldElasticNet or None"):
            StabilitySelection(wrong).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 0.5}, "`threshold` is 0.5, but must be above 0.5, at most 1"),
        ({"false_selections": 0}, "`false_selections`"),
        ({"n_pairs": 0}, "`n_pairs` is 0"),
        ({"max_panel_size": 0}, "`max_panel_size` is 0"),
        ({"panel_size": 101}, "`panel_size` is 101, but must be at most `max_panel_size`, which is 100"),
        ({"random_state": -1}, "`random_state`"),
    ],
)
def test_wrong_parameters_are_told_and_the_old_fit_stays(drawn, parameters, message):
    X, y = drawn
    selection = StabilitySelection(n_pairs=2).fit(X, y)
    before = selection.frequencies_
    with pytest.raises(ValueError, match=message):
        selection.set_params(**parameters).fit(X, y)
    np.testing.assert_array_equal(selection.frequencies_, before)


def test_small_classes_are_divided_as_far_as_they_can_be(drawn):
    X, y = drawn
    y = y.copy()
    y[:3] = "r"
    assert StabilitySelection(n_pairs=5).fit(X, y).frequencies_.max() > 0.5
    with pytest.raises(ValueError, match="`samples` is 1 of 3 classes with at least 2 samples"):
        StabilitySelection().fit(X[:5], ["a", "a", "a", "b", "c"])


def test_nothing_stable_is_an_answer(drawn):
    y = drawn[1]
    noise = np.random.default_rng(1).standard_normal((60, 300))
    with pytest.warns(UserWarning, match="no variable is stable"):
        found = StabilitySelection(n_pairs=10).fit(noise, y)
    assert found.estimator_ is None
    assert len(found.stable_) == 0
    assert 0 < found.frequencies_.max() < 0.75
    with pytest.warns(UserWarning, match="No features were selected"):
        assert found.transform(noise).shape == (60, 0)
    with pytest.raises(ValueError, match="no stable variable"):
        found.predict(noise)


def test_names_pipelines_and_progress(genes, drawn, capsys):
    X, y = genes
    selection = StabilitySelection(n_pairs=5, verbose=1).fit(X, y)
    assert set(selection.get_feature_names_out()) == set(X.columns[selection.stable_])
    assert set(selection.estimator_.panel_) == set(selection.get_feature_names_out())
    assert "StabilitySelection: 10 of 10 half-samples" in capsys.readouterr().err
    pipeline = make_pipeline(StabilitySelection(n_pairs=5), ManifoldElasticNet(rule="gaussian"))
    assert cross_val_score(pipeline, *drawn, cv=3).mean() > 0.8
