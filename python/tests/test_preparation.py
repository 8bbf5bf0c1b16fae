"""Missing values, batches and scales: as scikit-learn does it, inside the model, in folds and in files."""

import pickle
import subprocess

import numpy as np
import pytest
from conftest import same
from scipy import sparse
from sklearn import config_context
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import menet
from menet import AutoRule, ManifoldElasticNet, ManifoldElasticNetCV, Prepare, StabilitySelection

IMPUTERS = {
    "mean": SimpleImputer(),
    "median": SimpleImputer(strategy="median"),
    "knn": KNNImputer(n_neighbors=5),
}
MEAN = Prepare(impute="mean")
BATCH = np.arange(60) // 3 % 3


@pytest.fixture(scope="module")
def gaps():
    """Samples of three classes with a tenth of the values missing, and complete new ones: (X, y, X_new)."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.gamma(2.0, size=(60, 12)) + 1.5 * (np.arange(12) % 3 == y[:, None]) * (np.arange(12) < 9)
    new = rng.gamma(2.0, size=(20, 12))
    X[rng.random(X.shape) < 0.1] = np.nan
    new[rng.random(new.shape) < 0.2] = np.nan
    return X, y, new


@pytest.mark.parametrize("impute", IMPUTERS)
def test_missing_values_are_filled_as_scikit_learn_fills_them(impute, gaps):
    X, y, new = gaps
    men = ManifoldElasticNet(n_nonzeros=4, prepare=Prepare(impute=impute)).fit(X, y)
    imputer = IMPUTERS[impute].fit(X)
    for samples in (X, new):
        np.testing.assert_allclose(men.prepared(samples), imputer.transform(samples), rtol=1e-12)
        np.testing.assert_allclose(
            men.transform(samples), (men.prepared(samples) - men.mean_) @ men.components_.T, atol=1e-12
        )
    expected = ManifoldElasticNet(n_nonzeros=4).fit(men.prepared(X), y)
    np.testing.assert_array_equal(men.components_, expected.components_)
    np.testing.assert_array_equal(men.predict_proba(new), expected.predict_proba(men.prepared(new)))
    np.testing.assert_allclose(men.missing_fraction_, np.isnan(X).mean(axis=0))


@pytest.mark.parametrize("scale", ["unit", "pareto", "log1p", "log1p-unit"])
def test_scales_are_those_of_scikit_learn(scale, gaps):
    X = np.nan_to_num(gaps[0], nan=1.0)
    men = ManifoldElasticNet(n_nonzeros=4, prepare=Prepare(scale=scale)).fit(X, gaps[1])
    logs = np.log1p(X) if scale.startswith("log1p") else X
    expected = logs
    if scale != "log1p":
        scaler = StandardScaler(with_mean=False).fit(logs)
        expected = logs / (np.sqrt(scaler.scale_) if scale == "pareto" else scaler.scale_)
    np.testing.assert_allclose(men.prepared(X), expected, rtol=1e-12)
    kept = sparse.csr_array(X)
    np.testing.assert_allclose(men.transform(kept), men.transform(X), atol=1e-12)


def test_variables_that_are_missing_too_often_are_named(gaps):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(gaps[0].copy(), columns=[f"g{j}" for j in range(12)])
    X.loc[10:, "g3"] = np.nan
    with pytest.warns(UserWarning, match="left out, because more than 50 % of the samples lack them.*g3"):
        men = ManifoldElasticNet(n_nonzeros=4, prepare=MEAN).fit(X, gaps[1])
    assert men.dropped_variables_.tolist() == ["g3"]
    assert not men.components_[:, 3].any()
    assert men.batches_ is None
    X["g5"] = np.nan
    with pytest.raises(ValueError, match=r'`prepare.max_missing` is 1 with variable "g5", which every sample lacks'):
        ManifoldElasticNet(prepare=Prepare(impute="knn", max_missing=1.0)).fit(X, gaps[1])


def test_what_is_kept_prepares_as_well(gaps, tmp_path):
    X, y, new = gaps
    for impute in IMPUTERS:
        prepare = Prepare(impute=impute, scale="unit", batch_scale=True)
        men = ManifoldElasticNet(n_nonzeros=6, prepare=prepare).fit(X, y, batch=BATCH)
        men.save(tmp_path / "m.safetensors")
        known = np.arange(20) % 3
        for kept in (ManifoldElasticNet.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(men))):
            np.testing.assert_array_equal(kept.transform(new, batch=known), men.transform(new, batch=known))
            np.testing.assert_array_equal(kept.predict_proba(new, batch=known), men.predict_proba(new, batch=known))
            np.testing.assert_array_equal(kept.missing_fraction_, men.missing_fraction_)
            assert kept.batches_ == ["0", "1", "2"]
            assert kept.prepare == prepare
        smaller = ManifoldElasticNet(n_nonzeros=3, prepare=prepare)
        smaller.fit(X, y, batch=BATCH)
        for made in (men.at(n_nonzeros=3), pickle.loads(pickle.dumps(men)).at(n_nonzeros=3)):
            np.testing.assert_array_equal(made.components_, smaller.components_)
            np.testing.assert_array_equal(made.predict_proba(new, batch=known), smaller.predict_proba(new, batch=known))


def test_a_model_without_preparation_is_as_before(gaps):
    X = np.nan_to_num(gaps[0])
    men = ManifoldElasticNet(n_nonzeros=4).fit(X, gaps[1])
    same(men, ManifoldElasticNet(n_nonzeros=4, prepare=Prepare(impute="median")).fit(X, gaps[1]), X)
    np.testing.assert_array_equal(men.prepared(X), X)
    assert not men.missing_fraction_.any()
    assert men.dropped_variables_.size == 0


def test_the_command_gives_the_same_bits(gaps, command, tmp_path):
    X, y, new = gaps
    header = "run,label," + ",".join(f"g{j}" for j in range(12))

    def write(name, X, y, batch):
        lines = (
            f"{run},{label}," + ",".join("" if np.isnan(x) else repr(float(x)) for x in row)
            for row, label, run in zip(X, y, batch, strict=True)
        )
        (tmp_path / name).write_text("\n".join([header, *lines]) + "\n")

    def run(*arguments):
        subprocess.run([command, *arguments], cwd=tmp_path, check=True, capture_output=True)

    known = np.arange(20) % 3
    write("train.csv", X, y, BATCH)
    write("new.csv", new, np.zeros(20, dtype=int), known)
    for impute in IMPUTERS:
        how = ("--set", f"prepare.impute={impute}", "--set", "prepare.scale=log1p-unit")
        how = (*how, "--set", "prepare.batch_scale=true", "--nonzeros", "5")
        run("fit", "--data", "train.csv", "--batch", "run", *how, "--model", "m.safetensors")
        run("transform", "--model", "m.safetensors", "--data", "new.csv", "--batch", "run", "--out", "z.npy")
        men = ManifoldElasticNet(n_nonzeros=5, prepare=Prepare(impute=impute, scale="log1p-unit", batch_scale=True))
        men.fit(X, y, batch=BATCH)
        np.testing.assert_array_equal(men.transform(new, batch=known), np.load(tmp_path / "z.npy"))
        loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(loaded.components_, men.components_)
        men.save(tmp_path / "p.safetensors")
        run("transform", "--model", "p.safetensors", "--data", "new.csv", "--batch", "run", "--out", "p.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), np.load(tmp_path / "z.npy"))


@pytest.mark.parametrize("impute", IMPUTERS)
def test_a_search_learns_inside_its_folds(impute, gaps):
    X, y, _ = gaps
    grid = {"n_nonzeros": [2, 5], "rule": ["nearest", "gaussian"]}
    fixed = {"ridge": 0.3, "refit": "discriminant", "prepare": Prepare(impute=impute, scale="unit")}
    search = ManifoldElasticNetCV(**fixed, rule=AutoRule(metric="cosine"), param_grid=grid, cv=3).fit(X, y)
    plain = GridSearchCV(ManifoldElasticNet(**fixed), grid, cv=3, scoring="balanced_accuracy").fit(X, y)
    found = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    ours = {tuple(sorted(params.items())): score for params, score in found}
    for params, score in zip(plain.cv_results_["params"], plain.cv_results_["mean_test_score"], strict=True):
        assert ours[tuple(sorted(params.items()))] == pytest.approx(score, abs=1e-12)


def test_batches_are_routed(gaps):
    X, y, new = gaps
    shifted = X + 30.0 * BATCH[:, None]
    with config_context(enable_metadata_routing=True):
        men = ManifoldElasticNet(n_nonzeros=4, prepare=MEAN)
        men.set_fit_request(batch=True).set_score_request(batch=True)
        routed = cross_val_score(men, shifted, y, cv=3, params={"batch": BATCH})
    plain = cross_val_score(ManifoldElasticNet(n_nonzeros=4, prepare=MEAN), shifted, y, cv=3)
    assert routed.mean() > plain.mean() + 0.1
    fitted = ManifoldElasticNet(n_nonzeros=4, prepare=MEAN).fit(shifted, y, batch=BATCH)
    z = fitted.transform(shifted, batch=BATCH)
    np.testing.assert_array_equal(
        ManifoldElasticNet(n_nonzeros=4, prepare=MEAN).fit_transform(shifted, y, batch=BATCH), z
    )
    # A batch under another name has the same centre, if all of its samples are there.
    np.testing.assert_allclose(fitted.transform(shifted, batch=BATCH + 10), z, atol=1e-12)
    with pytest.raises(ValueError, match="`batch` is left out, but must be given for every sample"):
        fitted.predict(new)
    with pytest.raises(ValueError, match='"9", which the model does not know, for 1 sample'):
        fitted.predict(new, batch=[0] * 19 + [9])
    with pytest.raises(ValueError, match="`batch` has 3 entries for 20 samples"):
        fitted.predict(new, batch=[0, 1, 2])
    with pytest.raises(ValueError, match="`batch` has no value for sample 1"):
        fitted.predict(new, batch=[0, None, *[1] * 18])
    with pytest.raises(ValueError, match='"1" for 1 of the training samples'):
        ManifoldElasticNet(prepare=MEAN).fit(X, y, batch=[0] * 59 + [1])
    assert fitted.score(shifted, y, batch=BATCH) > 0.5


def test_searches_and_selections_take_batches(gaps):
    X, y, _ = gaps
    shifted = X + 30.0 * BATCH[:, None]
    search = ManifoldElasticNetCV(ridge=0.3, prepare=MEAN, param_grid={"n_nonzeros": [2, 5]}, cv=GroupKFold(3))
    search.fit(shifted, y, groups=BATCH, batch=BATCH)
    assert search.best_estimator_.batches_ == ["0", "1", "2"]
    assert "_batch" not in vars(search) and "_batch" not in vars(search.best_estimator_)
    with pytest.warns(UserWarning, match="were used in the fit"):
        assert 0.3 < search.score(shifted, y, batch=BATCH) <= 1
    folds = LeaveOneGroupOut().split(X, y, BATCH)
    train, test = next(iter(folds))
    fold = ManifoldElasticNet(ridge=0.3, n_nonzeros=5, prepare=MEAN, refit="discriminant")
    fold.fit(shifted[train], y[train], batch=BATCH[train])
    assert fold.score(shifted[test], y[test], batch=BATCH[test]) > 0.3
    selection = StabilitySelection(ManifoldElasticNet(prepare=MEAN), n_pairs=3, panel_size=3, threshold=0.6)
    selection.fit(shifted, y, batch=BATCH)
    if selection.estimator_ is not None:
        assert selection.predict(shifted, batch=BATCH).shape == (60,)


def test_validation_takes_gaps_and_batches(gaps, tmp_path):
    X, y, _ = gaps
    shifted = X + 30.0 * BATCH[:, None]
    men = ManifoldElasticNet(n_nonzeros=4, prepare=Prepare(impute="knn", scale="unit"))
    how = {"n_repeats": 1, "n_permutations": 19, "n_pairs": 2, "n_splits": 3}
    found = menet.validate(men, shifted, y, batch=BATCH, compare=["pca"], out=tmp_path / "v", **how)
    assert found.balanced_accuracy.mean > menet.validate(men, shifted, y, **how).balanced_accuracy.mean
    assert found.estimator_.batches_ == ["0", "1", "2"]
    assert (tmp_path / "v/figures/batches.svg").exists()
    found.estimator_.at(n_nonzeros=2)
    with pytest.raises(ValueError, match="row 1, column 0"):
        X = np.nan_to_num(X)
        X[1, 0] = np.nan
        menet.validate(ManifoldElasticNet(), X, y, **how)


def test_bad_input_is_told(gaps):
    X, y, _ = gaps
    for impute in (None, "mean"):
        bad = np.nan_to_num(X)
        bad[2, 7] = np.inf
        with pytest.raises(ValueError, match="row 2, column 7"):
            ManifoldElasticNet(prepare=Prepare(impute=impute)).fit(bad, y)
    with pytest.raises(ValueError, match=r"`prepare.impute` is 'zero', but must be one of mean, median, knn"):
        ManifoldElasticNet(prepare=Prepare(impute="zero")).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        ManifoldElasticNet().fit(X, y)
    with pytest.raises(ValueError, match="logarithm of 1"):
        ManifoldElasticNet(prepare=Prepare(scale="log1p")).fit(np.nan_to_num(X) - 5.0, y)
    assert ManifoldElasticNet(prepare=Prepare(impute="knn")).__sklearn_tags__().input_tags.allow_nan
    assert not ManifoldElasticNet().__sklearn_tags__().input_tags.allow_nan


def test_sparse_samples_may_lack_stored_values(gaps):
    X, y, _ = gaps
    X = np.where(X < 1.0, 0.0, X)
    prepare = Prepare(impute="mean", scale="log1p")
    for kind in (sparse.csr_array, sparse.csc_array):
        men = ManifoldElasticNet(n_nonzeros=4, prepare=prepare).fit(kind(X), y)
        same(men, ManifoldElasticNet(n_nonzeros=4, prepare=prepare).fit(X, y), X)
        with pytest.raises(ValueError, match="NaN"):
            ManifoldElasticNet().fit(kind(X), y)
        plain = ManifoldElasticNet(n_nonzeros=4).fit(kind(np.nan_to_num(X)), y)
        with pytest.raises(ValueError, match="NaN"):
            plain.transform(kind(X))


def test_samples_are_drawn_by_batch(gaps):
    plot = pytest.importorskip("menet.plot")
    pytest.importorskip("matplotlib")
    X, y, _ = gaps
    shifted = X + 30.0 * BATCH[:, None]
    men = ManifoldElasticNet(n_nonzeros=4, prepare=MEAN).fit(shifted, y, batch=BATCH)
    before, after = plot.batches(men, shifted, BATCH).child_axes

    def spread(panel):
        """Return how far apart the batches are, relative to the deviation in them."""
        points = [np.asarray(dots.get_offsets()) for dots in panel.collections]
        assert [len(of) for of in points] == np.bincount(BATCH).tolist()
        centres = np.array([of.mean(axis=0) for of in points])
        return np.ptp(centres, axis=0).max() / np.mean([of.std() for of in points])

    assert spread(before) > 5
    assert spread(after) < 1e-9


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [
        ManifoldElasticNet(prepare=Prepare(impute="mean", scale="unit")),
        ManifoldElasticNet(prepare=Prepare(impute="knn")),
        ManifoldElasticNetCV(cv=2, ridge=0.3, prepare=Prepare(impute="median"), param_grid={"n_nonzeros": [2, 5]}),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
