"""`at` gives what a fit of that size gives, bit for bit, or refuses."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from menet import ManifoldElasticNet, Prepare

RNG = np.random.default_rng(8)
Y = np.arange(60) % 4
X = RNG.normal(size=(60, 90)) + 1.5 * (np.arange(90) // 3 % 4 == Y[:, None]) * (np.arange(90) % 3 == 0)


def fitted(**params):
    return ManifoldElasticNet(**params).fit(X, Y)


def same(a, b):
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert a.refit_ == b.refit_


@pytest.mark.parametrize("refit", ["none", "axis", "panel", "discriminant"])
@pytest.mark.parametrize("penalty", ["l1", "adaptive", "reweighted", "scad", "mcp", "l0"])
def test_a_panel_on_fewer_axes_is_that_of_a_fit(penalty, refit):
    params = {"penalty": penalty, "refit": refit}
    large = fitted(**params, panel_size=40)
    for smaller in ({"n_components": 1}, {"panel_size": 12, "n_components": 2}, {"panel_size": 1}):
        same(large.at(**smaller), fitted(**{**params, "panel_size": 40, **smaller}))


@pytest.mark.parametrize("penalty", ["scad", "mcp", "reweighted"])
def test_what_must_be_fitted_again_needs_all_samples(penalty):
    params = {"penalty": penalty, "n_nonzeros": 12}
    men = fitted(**params)
    same(men.at(n_nonzeros=3), fitted(**{**params, "n_nonzeros": 3}))
    # A pickle, prepared samples and samples without a label: only what the paths reach is kept.
    partly = np.where(np.arange(60) % 7 == 3, -1, Y)
    kept = [
        pickle.loads(pickle.dumps(men)),
        fitted(**params, prepare=Prepare(scale="unit")),
        ManifoldElasticNet(**params, unlabelled=-1).fit(X, partly),
    ]
    for model in kept:
        with pytest.raises(ValueError, match=r"`n_nonzeros`=3.*fit again"):
            model.at(n_nonzeros=3)
        assert model.at(n_components=1).n_components_ == 1


def test_a_pickle_refuses_a_panel_that_needs_longer_paths():
    men = fitted(panel_size=20, refit="none")
    same(men.at(n_components=1), fitted(panel_size=20, refit="none", n_components=1))
    with pytest.raises(ValueError, match=r"`n_components`=1.*fit again"):
        pickle.loads(pickle.dumps(men)).at(n_components=1)
    same(pickle.loads(pickle.dumps(men)).at(panel_size=5), fitted(panel_size=5, refit="none"))
    same(fitted(n_nonzeros=4).at(panel_size=5), fitted(n_nonzeros=4, panel_size=5))


def test_a_file_keeps_the_rule_only_where_it_is_that_of_a_fit(tmp_path):
    for preset in ("paper", "default"):
        for params in ({}, {"rule": "centroid"}, {"rule": "gaussian"}, {"rule__k": 3}):
            men = ManifoldElasticNet.preset(preset, refit="none", n_nonzeros=9, **params).fit(X, Y)
            men.save(tmp_path / "m.safetensors")
            loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
            for d in (1, 2):
                read, own = loaded.at(n_components=d), clone(men).set_params(n_components=d).fit(X, Y)
                np.testing.assert_array_equal(read.components_, own.components_)
                if read.rule_ is None:
                    # Only the rule `nearest` stores what it was learned from.
                    assert own.rule_ != "nearest"
                else:
                    same(read, own)
    weights = 1.0 + np.arange(60) % 3
    men = ManifoldElasticNet.preset("paper", n_nonzeros=9).fit(X, Y, sample_weight=weights)
    men.save(tmp_path / "m.safetensors")
    assert ManifoldElasticNet.load(tmp_path / "m.safetensors").at(n_components=2).rule_ is None


def test_weights_keep_their_bits():
    weights = RNG.uniform(0.2, 3.0, size=60)
    batch = np.arange(60) % 3

    def fit(n_nonzeros, **params):
        return ManifoldElasticNet(n_nonzeros=n_nonzeros, **params)

    unit, median = {"prepare": Prepare(scale="unit")}, {"prepare": Prepare(impute="median")}
    for params, more in [({}, {}), (unit, {}), (median, {}), ({}, {"batch": batch})]:
        for refit in ("none", "axis", "panel", "discriminant"):
            large = fit(9, refit=refit, **params).fit(X, Y, sample_weight=weights, **more)
            small = fit(3, refit=refit, **params).fit(X, Y, sample_weight=weights, **more)
            for read in (large.at(n_nonzeros=3), pickle.loads(pickle.dumps(large)).at(n_nonzeros=3)):
                np.testing.assert_array_equal(read.components_, small.components_)
                new = {name: value for name, value in more.items()}
                np.testing.assert_array_equal(read.predict_proba(X, **new), small.predict_proba(X, **new))
