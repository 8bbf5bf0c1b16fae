"""Rules, probabilities and panels."""

import builtins
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay, log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from menet import FLDA, AxisRefit, Gaussian, ManifoldElasticNet, Nearest
from menet._settings import described

REFITS = ["none", "axis", "panel", "discriminant"]
RULES = ["nearest", "centroid", "gaussian"]

# By rule.
EUCLIDEAN = {"nearest": Nearest(metric="euclidean"), "centroid": "centroid", "gaussian": "gaussian"}


@pytest.fixture(scope="module")
def halves(digits):
    X, y = digits
    return X[:700], y[:700], X[700:1200], y[700:1200]


def same(a, b, X):
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.predict_log_proba(X), b.predict_log_proba(X))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    np.testing.assert_array_equal(a.panel_, b.panel_)
    pd.testing.assert_frame_equal(a.panel_table(), b.panel_table())
    assert a.refit_ == b.refit_
    assert a.rule_ == b.rule_


def test_every_refit_and_rule_is_tried_here():
    assert described()["refit.kind"].names == REFITS
    assert described()["rule.kind"].names == RULES


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("refit", REFITS)
def test_decisions_follow_scikit_learns_conventions(halves, refit, rule):
    X, y, X_test, y_test = halves
    for labels, shape in ((y, (10,)), (np.where(y > 4, "large", "small"), ())):
        men = ManifoldElasticNet(n_nonzeros=10, refit=refit, rule=EUCLIDEAN[rule]).fit(X, labels)
        proba, logs, values = men.predict_proba(X_test), men.predict_log_proba(X_test), men.decision_function(X_test)
        assert proba.shape == logs.shape == (500, len(men.classes_))
        assert values.shape == (500, *shape)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(np.exp(logs), proba, rtol=1e-12)
        predicted = men.predict(X_test)
        np.testing.assert_array_equal(men.classes_[proba.argmax(axis=1)], predicted)
        if shape:
            np.testing.assert_array_equal(men.classes_[values.argmax(axis=1)], predicted)
        else:
            np.testing.assert_array_equal(men.classes_[(values > 0).astype(int)], predicted)
            np.testing.assert_allclose(values, logs[:, 1] - logs[:, 0], atol=1e-9)
        truth = y_test if shape else np.where(y_test > 4, "large", "small")
        constant = np.tile(np.unique(labels, return_counts=True)[1] / len(labels), (500, 1))
        assert log_loss(truth, proba, labels=men.classes_) < log_loss(truth, constant, labels=men.classes_)
        assert men.rule_ == rule
        assert men.refit_["refit"] == refit


def test_results_do_not_depend_on_the_number_of_threads(halves):
    X, y, X_test, _ = halves
    for rule in RULES:
        one, two = (ManifoldElasticNet(n_nonzeros=10, rule=rule, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
        same(one, two, X_test)


def test_priors_shift_decisions(halves):
    X, y, X_test, _ = halves
    for rule in RULES:
        plain = ManifoldElasticNet(n_nonzeros=5, rule=rule).fit(X, y)
        weights = np.ones(10)
        weights[3] = 1e4
        shifted = clone(plain).set_params(rule__priors=weights).fit(X, y)
        assert (shifted.predict_proba(X_test)[:, 3] >= plain.predict_proba(X_test)[:, 3] - 1e-12).all()
        assert (shifted.predict(X_test) == 3).sum() > (plain.predict(X_test) == 3).sum()
        assert clone(plain).set_params(rule__priors="equal").fit(X, y).rule_ == rule


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"rule": Gaussian(priors=[0.5, 0.5])}, ValueError, "`rule.priors` has 2 entries, but 3"),
        ({"rule": Gaussian(priors=[0.5, -0.5, 1.0])}, ValueError, "`rule.priors` is -0.5"),
        (
            {"rule": Gaussian(priors="even")},
            ValueError,
            '`rule.priors` is \'even\', but must be "train", "equal" or one number per class',
        ),
        ({"rule": Nearest(priors=[[1.0]])}, ValueError, r"`rule.priors` has shape \(1, 1\)"),
        ({"rule": Nearest(priors=None)}, TypeError, "`rule.priors` is None"),
        ({"rule": Nearest(k=0)}, ValueError, "`rule.k` is 0"),
        ({"panel_size": 0}, ValueError, "`panel_size` is 0"),
        ({"refit": AxisRefit(relax=1.5)}, ValueError, "`refit.relax` is 1.5"),
        ({"refit": "all"}, ValueError, "`refit` is 'all', but must be one of None, none, axis, panel, discriminant, D"),
        ({"rule": 1}, TypeError, "`rule` is 1, but must be one of None, nearest, centroid, gaussian, AutoRule"),
        ({"rule": AxisRefit()}, TypeError, r"`rule` is AxisRefit\(\), but must be one of None, nearest, centroid"),
        ({"manifold": "strong"}, TypeError, r"`manifold` is 'strong', but must be one of None, Manifold\(\)"),
    ],
)
def test_bad_parameters_are_named(change, kind, message):
    rng = np.random.default_rng(1)
    with pytest.raises(kind, match=message):
        ManifoldElasticNet(**change).fit(rng.standard_normal((30, 6)), np.arange(30) % 3)


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="`name` is 'best', but must be one of default, paper, stable"):
        ManifoldElasticNet.preset("best")


@pytest.mark.parametrize("made", ["fitted", "unpickled"])
@pytest.mark.parametrize("rule", ["nearest", "gaussian"])
@pytest.mark.parametrize("refit", REFITS)
def test_at_is_a_fit_bit_for_bit(genes, refit, rule, made):
    X, y = genes
    fixed = {"refit": refit, "rule": EUCLIDEAN[rule]}

    def fit(**params):
        men = ManifoldElasticNet(**fixed, **params).fit(X, y)
        return pickle.loads(pickle.dumps(men)) if made == "unpickled" else men

    whole = fit(n_nonzeros=12)
    for asked in ({"n_nonzeros": 5}, {"n_components": 1}, {"n_nonzeros": 3, "n_components": 1}):
        read, fresh = whole.at(**asked), ManifoldElasticNet(**fixed, **{"n_nonzeros": 12, **asked}).fit(X, y)
        same(read, fresh, X)
        assert read.get_params() == fresh.get_params()
    panels = fit(panel_size=30)
    for size in (1, 4, 10, 30):
        read, fresh = panels.at(panel_size=size), ManifoldElasticNet(**fixed, panel_size=size).fit(X, y)
        np.testing.assert_array_equal(read.components_, fresh.components_)
        np.testing.assert_array_equal(read.predict_log_proba(X), fresh.predict_log_proba(X))
        assert len(read.panel_) <= size
        assert read.get_params() == fresh.get_params()
    # Once more from what was read.
    again = pickle.loads(pickle.dumps(panels.at(panel_size=10)))
    same(again.at(panel_size=4), panels.at(panel_size=4), X)


def test_a_model_file_can_be_made_smaller_as_far_as_it_can(genes, tmp_path):
    X, y = genes
    for refit in REFITS:
        men = ManifoldElasticNet(n_nonzeros=8, refit=refit, rule="gaussian").fit(X, y)
        men.save(tmp_path / "m.safetensors")
        loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
        same(loaded, men, X)
        if refit == "none":
            smaller = loaded.at(n_nonzeros=4)
            np.testing.assert_array_equal(smaller.transform(X), men.at(n_nonzeros=4).transform(X))
            assert smaller.rule_ is None
            for decide in (smaller.predict, smaller.predict_proba, smaller.decision_function):
                with pytest.raises(ValueError, match="made smaller without its training samples"):
                    decide(X)
        else:
            with pytest.raises(ValueError, match=f'its refit "{refit}" needs them to make it smaller: fit again'):
                loaded.at(n_nonzeros=4)


def test_the_panel_tells_one_story(genes):
    X, y = genes
    for refit in REFITS:
        men = ManifoldElasticNet(panel_size=12, refit=refit).fit(X, y)
        used = np.flatnonzero(men.components_.any(axis=0))
        assert 1 <= len(used) <= 12
        np.testing.assert_array_equal(men.panel_, X.columns[used])
        np.testing.assert_array_equal(men.get_support(indices=True), used)
        np.testing.assert_array_equal(np.flatnonzero(men.get_support()), used)
        table = men.panel_table()
        ours = ["variable", "axes", "entered", "weight", "effect", "importance", "higher_in", "class", "class_means"]
        assert list(table) == ours
        assert sorted(table["variable"]) == sorted(men.panel_)
        assert table["importance"].is_monotonic_decreasing
        assert set(table["class"]) <= set(men.classes_)
        means = ((X.groupby(y.to_numpy()).mean() - X.mean()) / X.std())[table["variable"]].T
        np.testing.assert_allclose(np.array(list(table["class_means"])), means, rtol=1e-9, atol=1e-12)
        assert list(table["higher_in"]) == list(means.idxmax(axis=1))
        assert (table["entered"] >= 1).all()
        deviations = X.std()
        for row in table.itertuples():
            weights = men.components_[:, X.columns.get_loc(row.variable)]
            assert row.axes == tuple(np.flatnonzero(weights))
            assert row.weight == weights[np.argmax(np.abs(weights))]
            np.testing.assert_allclose(row.effect, row.weight * deviations[row.variable], rtol=1e-9)
            importance = np.linalg.norm(weights) * deviations[row.variable]
            np.testing.assert_allclose(row.importance, importance, rtol=1e-9)
        importances = pd.Series(men.feature_importances_, X.columns)
        np.testing.assert_allclose(importances.sum(), 1)
        assert list(importances[importances > 0].index) == list(men.panel_)
        table = table.set_index("variable")["importance"]
        np.testing.assert_allclose(importances[table.index], table / table.sum(), rtol=1e-12)
        for k, chosen in enumerate(men.selected_features_):
            assert set(chosen) == set(X.columns[men.components_[k] != 0])


def test_a_panel_of_positions_and_without_pandas(halves, monkeypatch):
    X, y, _, _ = halves
    men = ManifoldElasticNet(panel_size=6).fit(X, y)
    assert men.panel_.dtype == np.int64
    assert list(men.panel_) == sorted(men.panel_)
    assert len(men.panel_) == 6, "fewer variables than classes do"
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("pandas"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    frame = {name: list(column) for name, column in men.panel_table().items()}
    monkeypatch.setattr(builtins, "__import__", without)
    table = men.panel_table()
    assert isinstance(table, dict)
    assert list(table) == list(frame)
    assert all(list(table[name]) == frame[name] for name in table)
    with pytest.raises(TypeError, match="`indices` is 1, but must be True or False"):
        men.get_support(1)


def test_a_fit_tells_what_its_refit_did(genes):
    X, y = genes
    found = {refit: ManifoldElasticNet(panel_size=10, refit=refit).fit(X, y).refit_ for refit in REFITS}
    assert found["none"]["residual"] is None
    assert all(0 <= found[refit]["residual"] < 1e-8 for refit in REFITS[1:])
    assert 0 < found["discriminant"]["shrinkage"] <= 1
    assert found["panel"]["shrinkage"] is None
    assert found["discriminant"]["candidates"] >= 300
    with pytest.raises(AttributeError):
        _ = ManifoldElasticNet().panel_


def test_scores_have_unit_variance_within_classes_after_a_refit(halves):
    X, y, _, _ = halves
    for refit in ("axis", "panel"):
        z = ManifoldElasticNet(n_nonzeros=10, refit=refit).fit_transform(X, y)
        within = sum((z[y == c] - z[y == c].mean(axis=0)).T @ (z[y == c] - z[y == c].mean(axis=0)) for c in range(10))
        np.testing.assert_allclose(np.diag(within).mean() / (len(y) - 10), 1, rtol=1e-9)


def test_scikit_learns_tools_take_probabilities_and_panels(genes, halves):
    X, y = genes
    selector = SelectFromModel(ManifoldElasticNet(panel_size=20), threshold=1e-12).fit(X, y)
    np.testing.assert_array_equal(selector.get_feature_names_out(), selector.estimator_.panel_)
    assert SelectFromModel(ManifoldElasticNet(panel_size=20), max_features=5, threshold=-np.inf).fit_transform(
        X, y
    ).shape == (38, 5)
    model = make_pipeline(StandardScaler(), SelectFromModel(ManifoldElasticNet(n_nonzeros=10)), LogisticRegression())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8

    X, y, X_test, y_test = halves
    men = ManifoldElasticNet(n_nonzeros=10, rule="gaussian")
    for scoring in ("neg_log_loss", "roc_auc_ovr", "roc_auc_ovo", "top_k_accuracy"):
        assert np.isfinite(cross_val_score(men, X, y, cv=3, scoring=scoring)).all()
    assert roc_auc_score(y_test, men.fit(X, y).predict_proba(X_test), multi_class="ovr") > 0.97
    calibrated = CalibratedClassifierCV(men, cv=3).fit(X, y)
    assert calibrated.score(X_test, y_test) > 0.85
    stacked = StackingClassifier([("men", men), ("flda", FLDA())], LogisticRegression(max_iter=1000), cv=3).fit(X, y)
    assert stacked.score(X_test, y_test) > 0.85
    odd = men.fit(X, y % 2)
    display = RocCurveDisplay.from_estimator(odd, X_test, y_test % 2)
    assert display.roc_auc > 0.85
    np.testing.assert_allclose(display.roc_auc, roc_auc_score(y_test % 2, odd.decision_function(X_test)))


def test_the_others_give_no_probabilities():
    assert not hasattr(FLDA(), "predict_proba")
    assert not hasattr(FLDA(), "decision_function")


def test_extreme_samples_have_finite_probabilities(halves):
    X, y, _, _ = halves
    far = np.vstack([X[:3] * 1e90, np.zeros((1, 64)), X[:1]])
    for rule in RULES:
        men = ManifoldElasticNet(n_nonzeros=10, rule=rule).fit(X, y)
        logs = men.predict_log_proba(far)
        assert np.isfinite(logs).all()
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, atol=1e-12)


def test_a_class_of_one_sample_is_learned(halves):
    X, y, _, _ = halves
    kept = np.r_[np.flatnonzero(y < 3), np.flatnonzero(y == 7)[:1]]
    for rule in RULES:
        for refit in REFITS:
            men = ManifoldElasticNet(n_nonzeros=10, rule=rule, refit=refit).fit(X[kept], y[kept])
            assert np.isfinite(men.predict_log_proba(X)).all()
