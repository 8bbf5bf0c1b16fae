"""Variables that are always in a model, and never."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from menet import L1, ManifoldElasticNet, ManifoldElasticNetCV, StabilitySelection, validate

pd = pytest.importorskip("pandas")

P = 20


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, P))
    X[:, :6] += 1.5 * (np.arange(6)[None, :] % 3 == y[:, None])
    names = [*(f"x{j}" for j in range(P - 2)), "age", "sex"]
    return pd.DataFrame(X, columns=names), y


@pytest.mark.parametrize("refit", ["none", "axis", "panel", "discriminant"])
def test_names_and_positions_are_the_same_and_are_not_counted(samples, refit):
    X, y = samples

    def fitted(penalty, X):
        return ManifoldElasticNet(panel_size=3, refit=refit, penalty=penalty).fit(X, y)

    men = fitted(L1(always=["age", "sex"], never=["x0"]), X)
    assert list(men.always_) == ["age", "sex"]
    assert {"age", "sex"} <= set(men.panel_) and "x0" not in men.panel_
    assert 1 <= len(men.panel_) - 2 <= 3
    for chosen in men.selected_features_:
        assert set(chosen[:2]) == {"age", "sex"}
    plain = fitted(L1(always=[P - 2, np.int64(P - 1)], never=np.array([0])), X.to_numpy())
    np.testing.assert_array_equal(plain.components_, men.components_)
    assert list(plain.always_) == [P - 2, P - 1]
    mixed = fitted(L1(always=["age", P - 1], never=pd.Index(["x0"])), X)
    np.testing.assert_array_equal(mixed.components_, men.components_)
    factors = np.ones(P)
    factors[[0, P - 2, P - 1]] = np.inf, 0, 0
    by_factor = fitted(L1(factors=factors), X)
    np.testing.assert_array_equal(by_factor.components_, men.components_)
    assert list(by_factor.always_) == ["age", "sex"]


def test_without_them_nothing_is_always_in(samples):
    X, y = samples
    assert len(ManifoldElasticNet().fit(X, y).always_) == 0
    empty = ManifoldElasticNet(penalty=L1(always=[], never=[])).fit(X, y)
    np.testing.assert_array_equal(empty.components_, ManifoldElasticNet().fit(X, y).components_)


def test_they_survive_clone_pickle_file_and_smaller_models(samples, tmp_path):
    X, y = samples
    men = ManifoldElasticNet(n_nonzeros=6, refit="panel", penalty=L1(always=["age", P - 1], never=["x1"]))
    assert clone(men).get_params()["penalty__always"] == ["age", P - 1]
    men.fit(X, y)
    small = men.at(n_nonzeros=2)
    again = clone(men).set_params(n_nonzeros=2).fit(X, y)
    np.testing.assert_array_equal(small.components_, again.components_)
    assert (small.penalty.always, small.penalty.never) == (["age", P - 1], ["x1"])
    kept = pickle.loads(pickle.dumps(men))
    np.testing.assert_array_equal(kept.at(n_nonzeros=2).components_, small.components_)
    men.save(tmp_path / "m.safetensors")
    loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
    assert (loaded.penalty.always, loaded.penalty.never) == (["age", P - 1], ["x1"])
    assert list(loaded.always_) == ["age", "sex"]


def test_searches_stability_and_validation_honour_them(samples):
    X, y = samples
    forced = L1(always=["age"], never=["x0"])
    fixed = ManifoldElasticNetCV(penalty=forced, ridge=0.3, refit="discriminant", rule="centroid", cv=3)
    search = fixed.set_params(param_grid={"panel_size": [2, 4]}).fit(X, y)
    assert list(search.always_) == ["age"] and "x0" not in search.panel_
    assert len(search.panel_) == search.best_params_["panel_size"] + 1
    stable = StabilitySelection(ManifoldElasticNet(penalty=forced), n_pairs=4, max_panel_size=5, panel_size=5).fit(X, y)
    assert not {0, P - 2} & set(stable.stable_)
    assert stable.estimator_ is None or list(stable.estimator_.always_) == ["age"]
    found = validate(
        ManifoldElasticNet(n_nonzeros=2, penalty=forced), X, y, n_splits=2, n_repeats=1, n_permutations=0, n_pairs=2
    )
    assert found is not None


@pytest.mark.parametrize(
    ("params", "error", "expected"),
    [
        (
            {"always": ["Age"]},
            ValueError,
            '`penalty.always` is "Age", but must be the name of a variable: near matches',
        ),
        ({"never": [P]}, ValueError, f"`penalty.never` is {P}, but must be a position from 0 to {P - 1}"),
        ({"always": ["age"], "never": [P - 2]}, ValueError, "which `penalty.always` has as well"),
        ({"always": "age"}, TypeError, "`penalty.always` is 'age', but must be a list of names or positions"),
        ({"never": 3}, TypeError, "`penalty.never` is 3, but must be a list of names or positions"),
        ({"always": [-1]}, ValueError, "`penalty.always` has -1, but must be a list"),
        ({"always": [1.5]}, TypeError, "`penalty.always` has 1.5, but must be a list"),
        ({"never": [True]}, TypeError, "`penalty.never` has True, but must be a list"),
    ],
)
def test_what_is_refused(samples, params, error, expected):
    X, y = samples
    for estimator in (ManifoldElasticNet, ManifoldElasticNetCV):
        with pytest.raises(error, match=expected):
            estimator(penalty=L1(**params)).fit(X, y)
    with pytest.raises(error, match=expected):
        StabilitySelection(ManifoldElasticNet(penalty=L1(**params)), n_pairs=1).fit(X, y)


def test_arrays_have_no_names(samples):
    X, y = samples
    for estimator in (
        ManifoldElasticNet(penalty=L1(always=["3"])),
        ManifoldElasticNetCV(penalty=L1(always=["3"])),
        StabilitySelection(ManifoldElasticNet(penalty=L1(always=["3"])), n_pairs=1),
    ):
        with pytest.raises(ValueError, match=r'`penalty.always` is a list with "3", but must be a list of positions'):
            estimator.fit(X.to_numpy(), y)


def test_a_constant_variable_is_left_out_with_a_warning(samples):
    X, y = samples
    with pytest.warns(UserWarning, match="always in, but left out .*: sex"):
        men = ManifoldElasticNet(penalty=L1(always=["age", "sex"])).fit(X.assign(sex=1.0), y)
    assert list(men.always_) == ["age"]
