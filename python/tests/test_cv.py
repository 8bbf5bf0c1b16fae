"""ManifoldElasticNetCV beside GridSearchCV."""

import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from menet import Manifold, ManifoldElasticNet, ManifoldElasticNetCV, Nearest

SCORINGS = ["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr"]

# A small search, for what does not depend on its size.
LISTS = {"n_nonzeros": [5, 10], "rule": ["centroid", "gaussian"]}
SMALL = {"ridge": 0.3, "refit": "discriminant", "param_grid": LISTS, "cv": 3}


def lists(**more):
    """The small search with other lists."""
    return {"param_grid": {**LISTS, **more}}


# The problem is definite at the smaller beta alone.
EDGE = {**SMALL, **lists(manifold__beta=[1e-3, 1e6]), "manifold": Manifold(kappa=0.01, definiteness="error")}


@pytest.fixture(scope="module")
def few_digits(digits):
    return digits[0][:300], digits[1][:300]


@pytest.fixture(scope="module")
def small(few_digits):
    return ManifoldElasticNetCV(**SMALL).fit(*few_digits)


def table(results):
    """The settings, and where each is."""
    return {tuple(sorted((name, str(value)) for name, value in one.items())): i for i, one in enumerate(results)}


def in_full(grid):
    """The grid for a search of scikit-learn: only the rule "nearest" has k and a metric."""
    of_nearest = {name: grid[name] for name in ("rule__k", "rule__metric") if name in grid}
    shared = {name: values for name, values in grid.items() if name not in of_nearest}
    rules = grid.get("rule", [])
    nearest = [{**shared, **of_nearest, "rule": ["nearest"]}] if "nearest" in rules else []
    others = [{**shared, "rule": [rule]} for rule in rules if rule != "nearest"]
    return [*nearest, *others] or [shared]


def compare(X, y, grid, cv, **fixed):
    """Scores of both searches over the same grid are equal, for every scoring."""
    plain = GridSearchCV(ManifoldElasticNet(**fixed), in_full(grid), cv=cv, scoring=SCORINGS, refit=False).fit(X, y)
    expected = table(plain.cv_results_["params"])
    for scoring in SCORINGS:
        search = ManifoldElasticNetCV(**fixed, param_grid=grid, cv=cv, scoring=scoring).fit(X, y)
        assert set(search.best_params_) <= set(grid) <= {name for one in search.cv_results_["params"] for name in one}
        places = [expected[key] for key in table(search.cv_results_["params"])]
        assert len(places) == len(search.cv_results_["params"])
        for fold in range(search.n_splits_):
            np.testing.assert_allclose(
                search.cv_results_[f"split{fold}_test_score"],
                plain.cv_results_[f"split{fold}_test_{scoring}"][places],
                rtol=0,
                atol=1e-12,
            )
        for what in ("mean", "std"):
            np.testing.assert_allclose(
                search.cv_results_[f"{what}_test_score"],
                plain.cv_results_[f"{what}_test_{scoring}"][places],
                rtol=0,
                atol=1e-12,
            )
        assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
        np.testing.assert_allclose(
            search.best_score_, np.nanmax(plain.cv_results_[f"mean_test_{scoring}"]), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize(
    "grid",
    [
        {
            "n_nonzeros": [5, 20],
            "ridge": [0.03, 1.0],
            "refit": ["none", "axis", "panel", "discriminant"],
            "rule": ["nearest", "centroid", "gaussian"],
            "rule__metric": ["euclidean", "cosine"],
        },
        {
            "panel_size": [5, 20],
            "refit": ["none", "panel", "discriminant"],
            "rule": ["nearest", "gaussian"],
            "rule__metric": ["euclidean"],
            "ridge": [0.3],
        },
        {
            "n_nonzeros": [10, None],
            "rule__k": [1, 3],
            "rule__priors": ["train", "equal"],
            "manifold__beta": [1.0, 10.0],
            "target__shrinkage": [0.1, 1.0],
            "refit": ["panel"],
            "rule": ["nearest"],
            "rule__metric": ["cosine"],
            "ridge": [0.3],
        },
    ],
    ids=["nonzeros", "panels", "others"],
)
@pytest.mark.parametrize("name", ["leukemia", "digits"])
def test_scores_are_those_of_grid_search(name, grid, genes, few_digits):
    X, y = genes if name == "leukemia" else few_digits
    compare(X, y, grid, StratifiedKFold(3, shuffle=True, random_state=0))


def test_sizes_of_both_kinds_are_combined(genes):
    X, y = genes
    grid = {"n_nonzeros": [5, None], "panel_size": [4, None]}
    compare(X, y, grid, StratifiedKFold(3), refit="discriminant", rule="gaussian", ridge=0.3)


def test_a_class_may_be_missing_from_a_training_fold(few_digits):
    X, y = few_digits
    lonely = y == 7
    rows = np.arange(len(y))
    # All sevens are tested in the first fold.
    folds = [(rows[~lonely & (rows % 2 == 0)], rows[lonely | (rows % 2 == 1)]), (rows[rows % 2 == 1], rows[::2])]
    grid = {"n_nonzeros": [5, 10], "rule": ["centroid", "nearest"], "refit": ["panel"], "rule__metric": ["cosine"]}
    fixed = {"ridge": 0.3}
    plain = GridSearchCV(ManifoldElasticNet(**fixed), in_full(grid), cv=folds, refit=False).fit(X, y)
    for scoring in SCORINGS:
        search = ManifoldElasticNetCV(**fixed, param_grid=grid, cv=folds, scoring=scoring).fit(X, y)
        places = [table(plain.cv_results_["params"])[key] for key in table(search.cv_results_["params"])]
        if scoring == "accuracy":
            np.testing.assert_allclose(
                search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"][places], atol=1e-12
            )
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert 7 in search.classes_
        assert search.predict_proba(X).shape == (300, 10)


def test_defaults_are_all_tried(genes):
    X, y = genes
    search = ManifoldElasticNetCV(n_jobs=2).fit(X, y)
    # Sizes, ridges, refits, and nearest neighbour with both metrics beside two rules.
    assert len(search.cv_results_["params"]) == 5 * 4 * 2 * (2 + 2)
    assert {"n_nonzeros", "ridge", "refit", "rule"} <= set(search.best_params_)
    assert search.best_score_ > 0.85
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    words = " ".join(ManifoldElasticNetCV.__doc__.split())
    for name in ("n_nonzeros", "ridge"):
        *values, last = map(str, sorted(set(search.cv_results_[f"param_{name}"])))
        assert f"{', '.join(values)} and {last}" in words, name
    few = ManifoldElasticNetCV(cv=3).fit(X.iloc[:, :7], y)
    assert sorted(set(few.cv_results_["param_n_nonzeros"])) == [5, 7]


def test_it_is_its_best_estimator(small, few_digits, tmp_path):
    X, y = few_digits
    best = ManifoldElasticNet(ridge=0.3, refit="discriminant").set_params(**small.best_params_).fit(X, y)
    for model in (small, small.best_estimator_, pickle.loads(pickle.dumps(small))):
        for what in ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function"):
            np.testing.assert_array_equal(getattr(model, what)(X), getattr(best, what)(X))
        np.testing.assert_array_equal(model.components_, best.components_)
        np.testing.assert_array_equal(model.get_support(), best.get_support())
        assert model.panel_table().equals(best.panel_table())
        assert list(model.panel_) == list(best.panel_)
        assert model.refit_ == best.refit_
        np.testing.assert_array_equal(model.at(n_nonzeros=3).predict(X), best.at(n_nonzeros=3).predict(X))
        np.testing.assert_array_equal(model.path(1).coefs, best.path(1).coefs)
        model.save(tmp_path / "m")
        np.testing.assert_array_equal(ManifoldElasticNet.load(tmp_path / "m").predict(X), best.predict(X))
    assert small.get_feature_names_out()[0] == "manifoldelasticnetcv0"


def test_results_are_like_grid_search(small):
    found = small.cv_results_
    assert set(found) == {
        *("params", "param_n_nonzeros", "param_rule"),
        *(f"split{fold}_test_score" for fold in range(3)),
        *("mean_test_score", "std_test_score", "rank_test_score", "mean_n_features"),
    }
    assert [one["rule"] for one in found["params"]] == list(found["param_rule"])
    order = np.argsort(-found["mean_test_score"], kind="stable")
    assert (np.diff(found["rank_test_score"][order]) >= 0).all()
    assert found["mean_n_features"].min() > 5
    assert small.best_params_ == found["params"][small.best_index_]


def test_results_do_not_depend_on_the_number_of_threads(small, few_digits):
    two = clone(small).set_params(n_jobs=2).fit(*few_digits)
    np.testing.assert_array_equal(two.cv_results_["mean_test_score"], small.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(two.components_, small.components_)


def test_one_standard_error_chooses_fewer_variables(few_digits):
    search = ManifoldElasticNetCV(rule="gaussian", refit="discriminant", ridge=0.3)
    search.set_params(param_grid={"n_nonzeros": [2, 3, 5, 10, 20, 40]})
    best, small = (clone(search).set_params(one_standard_error=flag).fit(*few_digits) for flag in (False, True))
    found = best.cv_results_
    folds = np.stack([found[f"split{fold}_test_score"] for fold in range(5)])
    error = folds[:, best.best_index_].std(ddof=1) / np.sqrt(5)
    close = found["mean_test_score"] >= best.best_score_ - error
    assert found["mean_n_features"][small.best_index_] == found["mean_n_features"][close].min()
    assert close[small.best_index_]


def test_any_folds_of_scikit_learn(few_digits):
    X, y = few_digits
    rows = np.arange(300)
    masks = [(rows % 3 != k, rows % 3 == k) for k in range(3)]
    pairs = [(rows[train], rows[test]) for train, test in masks]
    by_mask, by_rows, by_generator = (
        ManifoldElasticNetCV(**{**SMALL, "cv": cv}).fit(X, y) for cv in (masks, pairs, (pair for pair in pairs))
    )
    for other in (by_mask, by_generator):
        np.testing.assert_array_equal(other.cv_results_["mean_test_score"], by_rows.cv_results_["mean_test_score"])
    shuffled = ManifoldElasticNetCV(**{**SMALL, "cv": ShuffleSplit(2, random_state=0)}).fit(X, y)
    assert shuffled.n_splits_ == 2
    grouped = ManifoldElasticNetCV(**{**SMALL, "cv": GroupKFold(3)}).fit(X, y, groups=rows % 3)
    assert grouped.n_splits_ == 3
    with pytest.raises(ValueError, match=r"fold 1 \(counted from 0\) of `cv` has no test samples"):
        ManifoldElasticNetCV(**{**SMALL, "cv": [pairs[0], (rows, [])]}).fit(X, y)
    with pytest.raises(ValueError, match="groups"):
        ManifoldElasticNetCV(**{**SMALL, "cv": GroupKFold(3)}).fit(X, y)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (
            {"scoring": "f1_macro"},
            ValueError,
            "`scoring` is 'f1_macro', but must be one of accuracy, balanced_accuracy, neg_log_loss, roc_auc_ovr",
        ),
        (lists(ridge=[]), ValueError, "`param_grid` has an empty list for 'ridge', but must have at least one value"),
        (lists(ridge=[0.1, "much"]), TypeError, "`ridge` is 'much', but must be a number"),
        (lists(ridge=[-1.0]), ValueError, "`ridge` is -1"),
        (lists(ridge=[np.inf]), ValueError, "`param_grid` has inf for 'ridge', but must have finite numbers"),
        (lists(rule__priors=[[1.0, np.inf]]), ValueError, r"has \[1.0, inf\] for 'rule__priors', but must have finite"),
        (lists(ridge=0.1), TypeError, "`param_grid` has 0.1 for 'ridge', but must have a list of values to try"),
        (lists(rule=["nearest", "best"]), ValueError, "`rule.kind` is 'best', but must be one of"),
        (lists(n_nonzeros=[0]), ValueError, "`n_nonzeros` is 0"),
        (lists(n_nonzeros=[1.5]), TypeError, "`n_nonzeros` is 1.5"),
        (lists(manifold__alpha=[0.1]), ValueError, "`param_grid` has 'manifold__alpha', but a search tries values of"),
        ({"param_grid": [1]}, TypeError, r"`param_grid` is \[1\], but must be a dict"),
        ({"manifold": Manifold(alpha=[0.1])}, TypeError, r"`manifold.alpha` is \[0.1\], but must be a number"),
        ({"one_standard_error": 1}, TypeError, "`one_standard_error` is 1, but must be True or False"),
        ({"cv": 1}, ValueError, "1"),
        ({"cv": []}, ValueError, "`cv` has no folds"),
        (
            lists(rule__priors=["train", [1.0, 2.0]]),
            ValueError,
            "`rule.priors` has 2 entries, but 10 are needed: there are 10 classes",
        ),
    ],
)
def test_bad_parameters_are_named(change, kind, message, few_digits):
    with pytest.raises(kind, match=message):
        ManifoldElasticNetCV(**{**SMALL, **change}).fit(*few_digits)


def test_settings_that_cannot_be_fitted_are_told_and_left_out(few_digits):
    X, y = few_digits
    with pytest.warns(FitFailedWarning, match=r"\d+ of 8 settings could not be fitted in every fold"):
        search = ManifoldElasticNetCV(**EDGE).fit(X, y)
    failed = np.isnan(search.cv_results_["mean_test_score"])
    assert 0 < failed.sum() < 8
    assert not failed[search.best_index_]
    assert search.cv_results_["rank_test_score"][failed].min() > search.cv_results_["rank_test_score"][~failed].max()


def test_scores_are_by_the_scoring_and_tell_of_training_samples(small, digits, few_digits):
    X, y = digits
    found = small.score(X[300:], y[300:])
    expected = np.mean([(small.predict(X[300:][y[300:] == c]) == c).mean() for c in range(10)])
    np.testing.assert_allclose(found, expected)
    with pytest.warns(UserWarning, match="300 of these 300 samples were used in the fit"):
        small.score(*few_digits)
    with pytest.raises(NotFittedError):
        ManifoldElasticNetCV().score(X, y)


def test_it_works_in_pipelines_and_is_scored_honestly(genes):
    X, y = genes
    model = make_pipeline(
        StandardScaler(), ManifoldElasticNetCV(**SMALL, panel_size=10).set_params(param_grid={"rule": LISTS["rule"]})
    )
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    chosen = SelectFromModel(model[-1], threshold=1e-12).fit(X, y)
    assert chosen.get_support().sum() <= 10
    assert list(model.fit(X, y)[-1].panel_)


def test_progress_is_told_if_asked_for(few_digits, capfd):
    ManifoldElasticNetCV(**SMALL).fit(*few_digits)
    assert capfd.readouterr().err == ""
    ManifoldElasticNetCV(**SMALL, verbose=1).fit(*few_digits)
    assert "ManifoldElasticNetCV: 3 of 3 paths" in capfd.readouterr().err


def test_a_failed_fit_leaves_the_old_one_whole(few_digits):
    X, y = few_digits
    model = ManifoldElasticNetCV(**SMALL).fit(X, y)
    before = dict(vars(model))
    spoiled = X.copy()
    spoiled[0, 0] = np.nan
    with pytest.raises(ValueError, match="is NaN"):
        model.fit(spoiled, y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_warnings_of_a_search_point_here(few_digits):
    X, y = few_digits
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ManifoldElasticNetCV(**EDGE).fit(X, y)
    assert {w.filename for w in caught} == {__file__}


def test_copies_are_on_one_side_of_every_fold():
    rng = np.random.default_rng(0)
    noise, classes = rng.standard_normal((40, 10)), rng.integers(2, size=40)
    X, y = np.vstack([noise, noise]), np.concatenate([classes, classes])
    small = {"n_nonzeros": 5, "refit": "none", "rule": Nearest(metric="euclidean")}
    with pytest.warns(UserWarning, match="ManifoldElasticNetCV: 40 of 80 samples are copies of others; copies stay on"):
        honest = ManifoldElasticNetCV(**small, cv=5).fit(X, y)
    shuffled = StratifiedKFold(5, shuffle=True, random_state=0)
    with pytest.warns(UserWarning, match="`cv` puts some of them on both sides of a fold"):
        leaking = ManifoldElasticNetCV(**small, cv=shuffled).fit(X, y)
    assert honest.best_score_ < 0.65 < 0.75 < leaking.best_score_
    # Groups 2k and 2k + 1 share copies.
    groups = np.concatenate([np.arange(40) // 2 * 2, np.arange(40) // 2 * 2 + 1])
    with pytest.warns(UserWarning, match="so 20 of 40 groups are left"):
        grouped = ManifoldElasticNetCV(**small, cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert grouped.best_score_ < 0.65


def test_every_way_in_makes_the_same_choice(command, tmp_path):
    """On the same samples, folds and lists, `tune`, `validate` and this class choose the same setting."""
    rng = np.random.default_rng(4)
    y, groups = np.arange(72) % 3, np.arange(72) // 3 % 3
    X = rng.standard_normal((72, 30)) + 1.2 * (np.arange(30) % 3 == y[:, None]) * (np.arange(30) < 12)
    header = "site,label," + ",".join(f"v{j}" for j in range(30))
    lines = (f"{g},{c}," + ",".join(map(repr, row.tolist())) for g, c, row in zip(groups, y, X, strict=True))
    (tmp_path / "d.csv").write_text("\n".join([header, *lines]) + "\n")

    def run(*arguments):
        told = subprocess.run([command, *arguments, "--json"], cwd=tmp_path, check=True, capture_output=True, text=True)
        return json.loads(told.stdout)

    data = ("--data", "d.csv", "--groups", "site", "--nonzeros", "2,5,12", "--score", "log_loss")
    tuned = run("tune", *data, "--leave-one-group-out", "--out", "tuned", "--model", "a")
    few = ("--permutations", "0", "--pairs", "0", "--inner-folds", "3")
    run("validate", *data, *few, "--leave-one-group-out", "--out", "trust", "--model", "b")
    search = ManifoldElasticNetCV(cv=LeaveOneGroupOut(), scoring="neg_log_loss")
    search.set_params(param_grid={"n_nonzeros": [2, 5, 12]}).fit(X, y, groups=groups)
    assert tuned["reason"] == search.reason_
    assert len(search.cv_results_["params"]) == tuned["trials"] == 3 * 4 * 2 * 4
    np.testing.assert_allclose(-search.best_score_, tuned["scores"]["log_loss"], rtol=1e-12)
    for name in ("a", "b"):
        model = ManifoldElasticNet.load(tmp_path / name)
        np.testing.assert_array_equal(model.components_, search.components_)
        np.testing.assert_array_equal(model.predict_proba(X), search.predict_proba(X))
