"""ManifoldElasticNet: what it learned, and what can be read off one fit."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import same
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

import menet
from menet import L1, AutoRule, Manifold, ManifoldElasticNet, Nearest, Patch

# No variable may be used, of six.
BARRED = L1(factors=np.full(6, np.inf))


@pytest.fixture(scope="module")
def men(faces):
    return ManifoldElasticNet.preset("paper", n_components=12, n_nonzeros=40).fit(*faces[:2])


def test_attributes_tell_one_story(men, faces):
    X, y, X_test, y_test = faces
    assert men.components_.shape == (12, 1600)
    assert men._n_features_out == men.n_components_ == 12
    np.testing.assert_array_equal(men.n_nonzeros_, np.count_nonzero(men.components_, axis=1))
    assert men.n_nonzeros_.max() <= 40
    np.testing.assert_allclose(men.mean_, X.mean(axis=0))
    np.testing.assert_array_equal(men.classes_, np.unique(y))
    assert men.kkt_violation_.shape == men.levels_.shape == (12,)
    assert men.kkt_violation_.max() < 1e-9
    np.testing.assert_allclose(men.transform(X), (X - X.mean(axis=0)) @ men.components_.T, atol=1e-9)
    np.testing.assert_array_equal(men.fit_transform(X, y), men.transform(X))
    assert men.definiteness_["policy"] == "shrink"
    assert 0 <= men.definiteness_["kappa_used"] <= men.definiteness_["kappa_requested"] == 0.1
    assert list(men.seconds_) == ["preprocess", "neighbors", "alignment", "target", "reduction", "lars", "refit"]
    with pytest.warns(UserWarning, match=f"{len(X)} of these {len(X)} samples were used in the fit"):
        assert men.score(X, y) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert men.score(X_test, y_test) > 0.85
    by_angle = ManifoldElasticNet.preset("paper", n_components=12, n_nonzeros=40, rule=Nearest(metric="cosine"))
    assert by_angle.fit(X, y).score(X_test, y_test) > 0.85


def test_selected_features_come_in_order_of_entry(men, genes):
    for k, chosen in enumerate(men.selected_features_):
        assert sorted(chosen) == list(np.flatnonzero(men.components_[k]))
        first = men.path(k).entered[0]
        assert list(chosen[: len(first)]) == first
    X, y = genes
    named = ManifoldElasticNet.preset("paper", n_nonzeros=5).fit(X, y)
    for k, chosen in enumerate(named.selected_features_):
        assert set(chosen) == set(X.columns[named.components_[k] != 0])
    assert list(named.get_feature_names_out()) == ["manifoldelasticnet0", "manifoldelasticnet1"]


def test_a_path_ends_at_its_axis(men):
    path = men.path(3)
    np.testing.assert_array_equal(path.coefs[:, -1], men.components_[3])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(path)).coefs, path.coefs)
    np.testing.assert_array_equal(path.at_nonzeros(10), men.at(n_nonzeros=10).components_[3])
    assert path.lambdas[-1] == men.levels_[3]
    assert path.kkt.max() == men.kkt_violation_[3]
    with pytest.raises(IndexError, match="component 12 was asked for, but there are 0 to 11"):
        men.path(12)
    with pytest.raises(IndexError, match="component -1 was asked for"):
        men.path(-1)


@pytest.mark.parametrize("made", ["fitted", "unpickled"])
def test_at_is_a_fit_bit_for_bit(men, faces, made):
    X, y, X_test, _ = faces
    men = pickle.loads(pickle.dumps(men)) if made == "unpickled" else men
    for k, d in [(15, None), (None, 5), (7, 3)]:
        params = {**({"n_nonzeros": k} if k else {}), **({"n_components": d} if d else {})}
        read = men.at(**params)
        fresh = ManifoldElasticNet.preset("paper", **{"n_components": 12, "n_nonzeros": 40, **params}).fit(X, y)
        same(read, fresh, X_test)
        assert read.get_params() == fresh.get_params()
        for a, b in zip(read.selected_features_, fresh.selected_features_, strict=True):
            np.testing.assert_array_equal(a, b)
        same(read.at(n_components=2), fresh.at(n_components=2), X_test)
    assert men.n_components_ == 12
    with pytest.raises(ValueError, match="`n_components` is 13, but must be 1 to 12"):
        men.at(n_components=13)
    with pytest.raises(ValueError, match="was stopped at 40 nonzeros"):
        men.at(n_nonzeros=41)


def test_training_samples_changed_in_place_are_noticed(faces):
    X, y = faces[0].copy(), faces[1]
    men = ManifoldElasticNet(n_components=2, n_nonzeros=10).fit(X, y)
    men.at(n_nonzeros=5)
    # Any variable on a path, though at another sparsity.
    for variable in {j for k in (0, 1) for knot in men.path(k).entered for j in knot}:
        X[7, variable] += 1.0
        with pytest.raises(ValueError, match="changed in place since the fit"):
            men.at(n_nonzeros=5)
        X[7, variable] -= 1.0
    men.at(n_nonzeros=5)
    X += 1.0
    with pytest.raises(ValueError, match="changed in place since the fit"):
        men.at(n_components=1)


@pytest.mark.parametrize("kind", [ManifoldElasticNet, menet.FLDA, menet.PCA])
def test_a_failed_fit_leaves_the_old_one_whole(kind, digits):
    X, y = digits[0][:100], digits[1][:100]
    model = kind(2).fit(X, y)
    before = {name: value for name, value in vars(model).items() if name != "n_components"}
    spoiled = X[:, :30].copy()
    spoiled[0, 0] = np.nan
    with pytest.raises(ValueError, match="is NaN"):
        model.fit(spoiled, np.array(list("abcdefghij"))[y])
    with pytest.raises(ValueError, match="`n_components` is 0"):
        model.set_params(n_components=0).fit(X, y)
    model.set_params(n_components=2)
    assert {name: value for name, value in vars(model).items() if name != "n_components"}.keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert model.score(X, y) == 1.0


def test_parameters_changed_after_a_fit_wait_for_the_next(digits, tmp_path):
    X, y = digits[0][:200], digits[1][:200]
    men = ManifoldElasticNet(3, n_nonzeros=10).fit(X, y)
    found = men.predict(digits[0])
    men.set_params(n_nonzeros=2, ridge=99.0, rule__metric="cosine")
    np.testing.assert_array_equal(men.predict(digits[0]), found)
    read = men.at(n_components=2)
    assert read.get_params() == ManifoldElasticNet(2, n_nonzeros=10).get_params()
    men.save(tmp_path / "m.safetensors")
    loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
    assert loaded.get_params() == ManifoldElasticNet(3, n_nonzeros=10).get_params()
    np.testing.assert_array_equal(loaded.predict(digits[0]), found)


class Renamed(ManifoldElasticNet):
    """As people make subclasses: with parameters of its own, and fewer of ours."""

    def __init__(self, n_components=None, extra=3):
        super().__init__(n_components=n_components, n_nonzeros=10)
        self.extra = extra


def test_subclasses_work(digits, tmp_path):
    X, y = digits[0][:200], digits[1][:200]
    model = Renamed(3, extra=4).fit(X, y)
    same(model, ManifoldElasticNet(3, n_nonzeros=10).fit(X, y), X)
    model.save(tmp_path / "m.safetensors")
    same(Renamed.load(tmp_path / "m.safetensors"), model, X)
    sparser = model.at(n_nonzeros=4)
    assert isinstance(sparser, Renamed)
    assert sparser.extra == 4
    same(pickle.loads(pickle.dumps(sparser)), sparser, X)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"n_components": 3}, ValueError, "`n_components` is 3, but 3 classes give a target of rank 2: use 1 to 2"),
        ({"n_components": 0}, ValueError, "`n_components` is 0"),
        ({"n_nonzeros": -1}, ValueError, "`n_nonzeros` is -1"),
        ({"n_nonzeros": True}, TypeError, "`n_nonzeros` is True, but must be a whole number or None"),
        ({"n_nonzeros": 5.0}, TypeError, "`n_nonzeros` is 5.0"),
        ({"patch": Patch(k_within=0)}, ValueError, "`patch.k_within` is 0"),
        ({"patch": Patch(k_within=None)}, TypeError, "`patch.k_within` is None, but must be a whole number"),
        ({"patch": Patch(k_within="5")}, TypeError, "`patch.k_within` is '5', but must be a whole number"),
        ({"ridge": -0.1}, ValueError, "`ridge` is -0.1"),
        ({"ridge": np.inf}, ValueError, "`ridge` is inf"),
        ({"ridge": 10**400}, ValueError, "`ridge` is inf"),
        ({"ridge": 1e308}, ValueError, "`ridge` is 1e308, but must be a number from 0 to 1e100"),
        ({"patch": np.array(["dla", "lle"])}, TypeError, "`patch` is array"),
        ({"patch": Patch(kind="umap")}, ValueError, "`patch.kind` is 'umap', but must be one of dla, laplacian"),
        ({"penalty": BARRED, "refit": "none", "ridge": 0.03}, ValueError, "axis 1 uses no variable"),
        ({"penalty": BARRED}, ValueError, "no path selects a variable"),
        ({"ridge": np.nan}, ValueError, "`ridge` is NaN"),
        ({"ridge": "much"}, TypeError, "`ridge` is 'much', but must be a number"),
        ({"manifold": Manifold(floor=1.5)}, ValueError, "`manifold.floor` is 1.5"),
        ({"penalty": L1(standardize=1)}, TypeError, "`penalty.standardize` is 1, but must be True or False"),
        ({"penalty": L1(factors=[1.0, 2.0])}, ValueError, "`penalty.factors` has 2 entries, but 6"),
        ({"penalty": L1(factors=[[1.0]])}, ValueError, r"`penalty.factors` has shape \(1, 1\)"),
        ({"penalty": L1(factors="ab")}, TypeError, "`penalty.factors` is 'ab'"),
        ({"manifold": Manifold(definiteness="error", kappa=5.0)}, ValueError, "the largest admissible kappa is"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"n_jobs": "2"}, TypeError, "`n_jobs` is '2', but must be a whole number or None"),
        ({"target": "centers"}, ValueError, "`target` is 'centers', but must be one of None, centres, whitened"),
    ],
)
def test_bad_parameters_are_named(change, kind, message):
    rng = np.random.default_rng(1)
    with pytest.raises(kind, match=message):
        ManifoldElasticNet(**change).fit(rng.standard_normal((30, 6)), np.arange(30) % 3)


def test_numpy_numbers_are_numbers(digits):
    X, y = digits[0][:200], digits[1][:200]
    plain = ManifoldElasticNet(3, n_nonzeros=10, ridge=0.5, patch=Patch(k_within=4), penalty=L1(standardize=False)).fit(
        X, y
    )
    numpy = ManifoldElasticNet(
        np.int64(3),
        n_nonzeros=np.uint8(10),
        ridge=np.float32(0.5),
        patch=Patch(k_within=np.int32(4)),
        penalty=L1(standardize=np.False_),
    ).fit(X, y)
    same(plain, numpy, X)


def test_bad_data_are_named(digits):
    X, y = digits[0][:100].copy(), digits[1][:100]
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"row 7, column 3 \(counted from 0\) of the data is NaN"):
        ManifoldElasticNet().fit(X, y)
    with pytest.raises(ValueError, match="all 4 variables are constant"):
        ManifoldElasticNet().fit(np.ones((6, 4)), [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="1 class found in 6 samples"):
        ManifoldElasticNet().fit(np.eye(6), np.zeros(6))
    with pytest.raises(TypeError, match="`y` mixes labels"):
        ManifoldElasticNet().fit(digits[0][:100], ["a", None] * 50)
    with pytest.raises(NotFittedError):
        ManifoldElasticNet().transform(X)
    men = ManifoldElasticNet().fit(digits[0][:100], y)
    with pytest.raises(ValueError, match="row 7, column 3"):
        men.predict(X)


@pytest.mark.parametrize("estimator", [ManifoldElasticNet, menet.PCA])
def test_values_that_are_not_finite_are_named_by_their_variables(estimator, genes):
    X, y = genes
    model = estimator(n_components=2).fit(X, y)
    # Other variables than those of the panel are not read.
    name = getattr(model, "panel_", X.columns)[0]
    spoiled = X.copy()
    spoiled.loc[spoiled.index[3], name] = np.nan
    message = rf"row 3, variable '{name}' \(rows are counted from 0\) of the data is NaN, but must be finite.*impute="
    for work in (model.transform, model.predict, lambda X: clone(model).fit(X, y)):
        with pytest.raises(ValueError, match=message):
            work(spoiled)
    # A new fit that fails leaves the names of the old one, and arrays have none.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"row 3, column \d+ \(counted from 0\) of the data is NaN"):
            clone(model).fit(spoiled.to_numpy(), y)


def test_numerical_trouble_is_one_warning():
    # Equal columns and no ridge: some paths end where the columns can no longer be told apart.
    rng = np.random.default_rng(5)
    base = rng.standard_normal((30, 4))
    X = np.hstack([base, base @ rng.standard_normal((4, 20)) + 1e-9 * rng.standard_normal((30, 20))])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ManifoldElasticNet(ridge=0.0, manifold=Manifold(alpha=0.0)).fit(X, np.arange(30) % 5)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "axes ended early" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("size", [1.0, 1e12])
def test_a_violation_above_the_bar_is_never_silent(size):
    # Two long columns that say nothing of the classes: their rounding is large beside the largest correlation.
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 10))
    X[:, :4] += y[:, None]
    for c in range(3):
        X[y == c, 8:] -= X[y == c, 8:].mean(axis=0)
    X[:, 8:] *= size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        men = ManifoldElasticNet.preset(
            "paper", ridge=0.0, manifold=Manifold(alpha=0.0), penalty=L1(standardize=False)
        ).fit(X, y)
    assert (men.kkt_violation_.max() > 1e-9) == (size > 1)
    assert [w.category for w in caught] == [ConvergenceWarning] * (size > 1)
    if size > 1:
        assert "ManifoldElasticNet: 2 of 2 paths are not exact: that of axis 1 violates" in str(caught[0].message)
        assert caught[0].filename == __file__
        # Scaled, the same data make no trouble.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ManifoldElasticNet(manifold=Manifold(alpha=0.0)).fit(X, y).kkt_violation_.max() < 1e-9


def test_sparse_samples_give_the_same_model(digits):
    X, y = digits[0][:300], digits[1][:300]
    expected = ManifoldElasticNet(n_nonzeros=10).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        men = ManifoldElasticNet(n_nonzeros=10).fit(kind(X), y)
        np.testing.assert_array_equal(men.components_, expected.components_)
        np.testing.assert_array_equal(men.transform(kind(digits[0])), expected.transform(digits[0]))
        np.testing.assert_array_equal(men.predict(kind(X)), expected.predict(X))
        same(men.at(n_nonzeros=4), expected.at(n_nonzeros=4), X)
        same(pickle.loads(pickle.dumps(men)).at(n_nonzeros=4), expected.at(n_nonzeros=4), X)
    spoiled = sparse.csr_matrix(digits[0])
    spoiled[150, 3] = np.nan  # a variable that no axis need use
    for work in (expected.transform, expected.predict, lambda X: ManifoldElasticNet().fit(X, digits[1])):
        with pytest.raises(ValueError, match=r"row 150, column 3 \(counted from 0\) of the data is NaN"):
            work(spoiled)


def test_approximate_neighbours_tell_their_recall(digits, tmp_path):
    X, y = digits
    exact = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    assert exact.neighbor_recall_ is None
    # So few samples that all are compared.
    few = ManifoldElasticNet(n_nonzeros=5, patch=Patch(search="approximate")).fit(X, y)
    assert few.neighbor_recall_ == 1.0
    np.testing.assert_array_equal(few.components_, exact.components_)

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12_000, 3)), np.repeat([0, 1], 6000)
    many = ManifoldElasticNet(n_nonzeros=3, patch=Patch(search="approximate")).fit(X + y[:, None], y)
    assert 0.9 < many.neighbor_recall_ < 1.0
    assert many.at(n_nonzeros=2).neighbor_recall_ == many.neighbor_recall_
    many.save(tmp_path / "m.safetensors")
    loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
    assert (loaded.patch.search, loaded.neighbor_recall_) == ("approximate", many.neighbor_recall_)


def test_a_tied_axis_is_left_out_with_a_warning():
    # Genes with three levels: many tie. A grid over few variables must give scores, not NaN.
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 20)
    X = rng.integers(-1, 2, size=(60, 12)).astype(float)
    X[:, 0] = y == 0
    X[:, 1:5] = (y == 1)[:, None]
    with pytest.warns(ConvergenceWarning, match="tie for the first place"):
        men = ManifoldElasticNet.preset("paper", n_nonzeros=1).fit(X, y)
    assert men.transform(X).shape == (60, 1)
    assert men.predict(X).shape == (60,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = GridSearchCV(ManifoldElasticNet.preset("paper"), {"n_nonzeros": [1, 2, 3, 6]}, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_cosine_on_one_axis_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="on one axis every cosine is 1 or -1"):
        ManifoldElasticNet(rule=AutoRule(metric="cosine")).fit(X, y)
    assert ManifoldElasticNet(rule="nearest").fit(X, y).score(X, y) > 0.9


def test_free_variables_are_in_every_model(digits):
    X, y = digits
    factors = np.ones(X.shape[1])
    factors[[20, 43]] = 0.0
    for size in (1, 3):
        men = ManifoldElasticNet.preset("paper", n_nonzeros=size, penalty=L1(factors=factors)).fit(X, y)
        used = men.components_ != 0
        assert used[:, [20, 43]].all()
        assert used.sum(axis=1).max() <= size + 2
