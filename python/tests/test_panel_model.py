"""A panel that is a panel: new samples need its variables, by name, and nothing else."""

import pickle
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from menet import L1, ManifoldElasticNet, ManifoldElasticNetCV, Prepare, datasets

METHODS = ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function")


@pytest.fixture(scope="module")
def genes():
    X, y = datasets.load_leukemia(return_X_y=True, as_frame=True)
    return X.iloc[:, :400].assign(age=np.arange(len(X)) % 7.0), y


def holes(X, seed):
    """Return a copy in which a tenth of the values is missing."""
    return X.mask(np.random.default_rng(seed).random(X.shape) < 0.1)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"rule": "gaussian", "prepare": Prepare(scale="unit")},
        {"rule": "centroid", "prepare": Prepare(impute="median", scale="pareto")},
        {"refit": "none", "panel_size": None, "n_nonzeros": 6, "prepare": Prepare(impute="mean")},
        {"prepare": Prepare(impute="knn"), "penalty": L1(always=["age"])},
    ],
)
def test_a_panel_model_decides_alike(genes, params):
    X, y = genes
    impute = getattr(params.get("prepare"), "impute", None)
    fills = impute is not None
    men = ManifoldElasticNet(**{"panel_size": 8} | params).fit(holes(X, 0) if fills else X, y)
    panel = men.panel_model()
    assert panel.n_features_in_ == len(men.panel_) < 20
    assert list(panel.feature_names_in_) == [name for name in X.columns if name in set(men.panel_)]
    assert set(panel.always_) == set(men.always_) and set(panel.panel_) == set(men.panel_)
    assert list(panel.get_feature_names_out()) == list(men.get_feature_names_out())
    assert panel.get_support().all()
    assert clone(panel).get_params().keys() == men.get_params().keys()
    # Neighbours are near on all variables, where all are there.
    new = holes(X, 1) if fills and impute != "knn" else X
    few = new[panel.feature_names_in_]
    again = pickle.loads(pickle.dumps(panel))
    nameless = clone(men).set_params(penalty__always=[400] if "penalty" in params else None)
    nameless.fit((holes(X, 0) if fills else X).to_numpy(), y)
    for method in METHODS:
        whole = getattr(men, method)(new)
        for model, samples in ((panel, few), (again, few), (panel, new), (men, few)):
            np.testing.assert_array_equal(getattr(model, method)(samples), whole)
        np.testing.assert_array_equal(getattr(nameless.panel_model(), method)(few.to_numpy()), whole)


def test_a_frame_may_have_more_and_less(genes):
    X, y = genes
    men = ManifoldElasticNet(panel_size=8).fit(X, y)
    other = next(name for name in X.columns if name not in set(men.panel_))
    frames = {
        "another order": X[X.columns[::-1]],
        "the panel": X[men.panel_],
        "more": X[men.panel_].assign(patient="Mary", born="1950-01-02"),
        "text outside the panel": X.assign(**{other: "unknown"}),
        "gaps outside the panel": X.assign(**{other: np.nan}),
        "numbers as names": X[men.panel_].assign(**{"x": 1.0}).rename(columns={"x": 7}),
    }
    for kind, frame in frames.items():
        for method in METHODS:
            np.testing.assert_array_equal(getattr(men, method)(frame), getattr(men, method)(X), err_msg=kind)
    # Samples of the fit are recognised by all their values.
    with pytest.warns(UserWarning, match="used in the fit"):
        rate = men.score(frames["another order"], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert men.score(frames["text outside the panel"], y) == men.score(frames["more"], y) == rate
    first, second = sorted(men.panel_[:2], key=list(X.columns).index)
    for method in METHODS:
        with pytest.raises(ValueError, match=f"lacks 2 of the 8 variables .* needs: '{first}', '{second}'$"):
            getattr(men, method)(X.drop(columns=[first, second]))
    with pytest.raises(ValueError, match=f"more than once: '{first}'"):
        men.predict(X[[*men.panel_, first]])
    with pytest.raises(ValueError, match="could not convert string to float"):
        men.predict(X.assign(**{first: "high"}))
    # Positions say nothing of which variables they are.
    with pytest.raises(ValueError, match="8 features, but ManifoldElasticNet is expecting 401"):
        men.predict(X[men.panel_].to_numpy())
    assert men.set_output(transform="pandas").transform(X[men.panel_]).index.equals(X.index)


def test_neighbours_are_near_on_the_panel_where_the_rest_is_not_known(genes):
    X, y = genes
    men = ManifoldElasticNet(panel_size=8, prepare=Prepare(impute="knn")).fit(holes(X, 0), y)
    gaps = holes(X, 1)
    panel = men.panel_model()
    few = gaps[panel.feature_names_in_]
    assert few.isna().any(axis=None)
    with pytest.warns(UserWarning, match=r"near on the panel \(8 variables\)"):
        found = men.transform(few)
    np.testing.assert_array_equal(found, panel.transform(few))
    np.testing.assert_array_equal(men.transform(gaps), men.transform(gaps[gaps.columns[::-1]]))


def test_batches_work_from_the_panel(genes):
    X, y = genes
    site = np.array(["north", "south"])[np.arange(len(X)) // 2 % 2]
    men = ManifoldElasticNet(panel_size=8, prepare=Prepare(batch_scale=True)).fit(X, y, batch=site)
    panel = men.panel_model()
    assert panel.batches_ == ["north", "south"]
    other = np.where(site == "north", "east", site)
    for batch in (site, other):
        found = panel.transform(X[panel.feature_names_in_], batch=batch)
        np.testing.assert_array_equal(found, men.transform(X, batch=batch))


def test_it_is_kept_and_searched(genes, tmp_path):
    X, y = genes
    search = ManifoldElasticNetCV(ridge=0.3, refit="discriminant", param_grid={"panel_size": [4, 8]}, cv=3).fit(X, y)
    panel = search.panel_model()
    assert panel.n_features_in_ == len(search.panel_)
    np.testing.assert_array_equal(search.predict_proba(X[search.panel_]), search.predict_proba(X))
    panel.save(tmp_path / "panel.safetensors")
    loaded = ManifoldElasticNet.load(tmp_path / "panel.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(X), search.predict_proba(X))
    assert loaded.n_features_in_ == len(search.panel_)
    assert panel.to_json() != "" and list(panel.panel_table()["variable"]) == list(search.panel_table()["variable"])
    with pytest.raises(ValueError, match="left out of this model"):
        panel.at(panel_size=2)


def test_its_onnx_file_takes_the_panel(genes):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    X, y = genes
    men = ManifoldElasticNet(panel_size=8, rule="gaussian").fit(X, y)
    panel = men.panel_model()
    session = runtime.InferenceSession(panel.to_onnx("float64"), providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape[1] == 8
    label, _, _ = session.run(None, {"X": X[panel.feature_names_in_].to_numpy(dtype=np.float64)})
    np.testing.assert_array_equal(label, men.predict(X))


def test_the_command_reads_the_panel_of_a_parquet_file(command, genes, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y = genes
    men = ManifoldElasticNet(panel_size=8).fit(X, y)
    men.save(tmp_path / "m.safetensors")
    outside = next(name for name in X.columns if name not in set(men.panel_))
    born = pd.Series(pd.date_range("1950-01-01", periods=len(X)), index=X.index)
    lists = pd.Series([[1, 2]] * len(X), index=X.index)
    frames = {
        "whole": X,
        "few": X[men.panel_[::-1]].assign(name="Mary", born=born, many=lists),
        "dates": X.assign(**{outside: born}),
        "text": X.assign(**{outside: "unknown"}),
    }
    found = {}
    for kind, frame in frames.items():
        frame.to_parquet(tmp_path / f"{kind}.parquet", index=False)
        call = [command, "predict", "--model", "m.safetensors", "--data", f"{kind}.parquet", "--out", "-"]
        done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found[kind] = done.stdout
    assert set(found.values()) == {found["whole"]}
