"""Models in other programs: ONNX, SQL, JSON, MLflow. Each gives what menet gives."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import same
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from menet import ManifoldElasticNet, datasets

SETS = {
    "orl": datasets.load_orl,
    "leukemia": datasets.load_leukemia,
    "digits": datasets.load_digits,
}

RULES = {
    "nearest": {"rule": "nearest"},
    "nearest by distance": {"rule": "nearest", "metric": "euclidean"},
    "five nearest": {"rule": "nearest", "n_neighbors": 5},
    "nearest with priors": {"rule": "nearest", "priors": "equal"},
    "centroid": {"rule": "centroid"},
    "gaussian": {"rule": "gaussian", "priors": "equal"},
}


def session(model):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    return runtime.InferenceSession(model, providers=["CPUExecutionProvider"])


def run(model, X):
    return session(model).run(["label", "probabilities", "scores"], {"X": np.asarray(X)})


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SETS)
def test_onnx_decides_as_menet_does(name, rule):
    X, y = SETS[name](return_X_y=True)
    X = np.asarray(X, dtype=np.float64)
    men = ManifoldElasticNet(n_nonzeros=20, **RULES[rule]).fit(X[::2], y[::2])
    label, probabilities, scores = run(men.to_onnx("float64"), X)
    assert np.array_equal(label, men.predict(X))
    assert np.abs(probabilities - men.predict_proba(X)).max() <= 1e-12
    assert np.allclose(scores, men.transform(X), rtol=1e-12, atol=1e-12 * np.abs(scores).max())

    # In single precision, menet gets the same rounded samples.
    X = X.astype(np.float32)
    label, probabilities, scores = run(men.to_onnx(), X)
    assert probabilities.dtype == scores.dtype == np.float32
    assert np.array_equal(label, men.predict(X.astype(np.float64)))
    assert np.abs(probabilities - men.predict_proba(X.astype(np.float64))).max() <= 1e-6


def test_onnx_prepares_samples(genes):
    X, y = genes
    X = np.abs(X.to_numpy())
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    for scale in ("log1p", "log1p-unit", "unit", "none"):
        men = ManifoldElasticNet(n_nonzeros=10, scale=scale, impute="median").fit(holes, y)
        label, probabilities, _ = run(men.to_onnx("float64"), holes)
        assert np.array_equal(label, men.predict(holes))
        assert np.abs(probabilities - men.predict_proba(holes)).max() <= 1e-12
    men = ManifoldElasticNet(n_nonzeros=10, impute="knn").fit(holes, y)
    with pytest.raises(ValueError, match="neighbours"):
        men.to_onnx()


@pytest.mark.parametrize("y", [[True, False], ["été", 'a"b'], [1.0, 2.0], [-3, 7]])
def test_onnx_keeps_the_type_of_labels(y):
    X = np.random.default_rng(0).normal(size=(40, 6)) + np.arange(40)[:, None] % 2 * 3
    y = np.tile(y, 20)
    men = ManifoldElasticNet(n_nonzeros=3).fit(X, y)
    label, _, _ = run(men.to_onnx("float64"), X)
    assert label.tolist() == men.predict(X).tolist()


def test_an_onnx_file_is_small(genes):
    X, y = genes
    men = ManifoldElasticNet(panel_size=100, n_nonzeros=100).fit(X, y)
    assert len(men.panel_) == 100
    assert len(men.to_onnx()) < 100_000
    with pytest.raises(ValueError, match="'float32' or 'float64'"):
        men.to_onnx("int8")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_skl2onnx_converts_pipelines(digits, dtype):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    import menet.onnx  # noqa: F401

    X, y = digits
    X = X.astype(dtype)
    for names in (y, np.array([f"digit {digit}" for digit in y])):
        pipeline = make_pipeline(StandardScaler(), ManifoldElasticNet(n_nonzeros=10)).fit(X[:600], names[:600])
        model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False}, target_opset=17)
        label, probabilities = session(model.SerializeToString()).run(None, {"X": X})
        # The scaler rounds otherwise in single precision.
        bound = 1e-10 if dtype == np.float64 else 1e-4
        assert np.mean(label == pipeline.predict(X)) >= (1.0 if dtype == np.float64 else 0.999)
        assert np.abs(probabilities - pipeline.predict_proba(X)).max() <= bound


def duckdb_rows(frame, sql):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        connection.register("my table", frame)
        return connection.execute(sql).fetch_df()


def sqlite_rows(frame, sql):
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("my table", connection, index=False)
        return pd.read_sql_query(sql, connection)


@pytest.mark.parametrize("rows", [duckdb_rows, sqlite_rows])
@pytest.mark.parametrize("rule", ["gaussian", "centroid", "nearest"])
def test_sql_gives_axes_and_labels(genes, rows, rule):
    X, y = genes
    men = ManifoldElasticNet(panel_size=120, n_nonzeros=120, rule=rule).fit(X, y)
    found = rows(X[men.panel_], men.to_sql("my table"))
    z = men.transform(X)
    axes = found[[f"axis_{k + 1}" for k in range(z.shape[1])]].to_numpy()
    assert np.abs(axes - z).max() <= 1e-9 * np.abs(z).max()
    values = found[[f"value_{c + 1}" for c in range(len(men.classes_))]].to_numpy()
    if rule == "nearest":
        centroids = np.array([z[y == c].mean(axis=0) for c in men.classes_])
        expected = -0.5 * ((z[:, None] - centroids) ** 2).sum(axis=2)
        labels, given = men.classes_[expected.argmax(axis=1)], found["nearest_centroid"]
    else:
        expected, labels, given = np.log(men.predict_proba(X)), men.predict(X), found["label"]
    apart = (values - values[:, :1]) - (expected - expected[:, :1])
    assert np.abs(apart).max() <= 1e-9 * max(1.0, np.abs(expected).max())
    assert given.tolist() == labels.tolist()


def test_sql_quotes_names_and_fills_what_is_missing():
    rng = np.random.default_rng(1)
    y = np.tile(["it's", "other", "third"], 20)
    X = pd.DataFrame(rng.normal(size=(60, 4)) ** 2, columns=['a "b"', "select", "c d", "é"])
    X["select"] += (y == "other") * 3
    X["c d"] += (y == "third") * 3
    X.iloc[::7, 1] = np.nan
    men = ManifoldElasticNet(n_nonzeros=3, rule="gaussian", impute="mean", scale="log1p").fit(X, y)
    for rows in (duckdb_rows, sqlite_rows):
        found = rows(X, men.to_sql("my table"))
        assert found["label"].tolist() == men.predict(X).tolist()
    bare = ManifoldElasticNet(n_nonzeros=2).fit(X.fillna(0).to_numpy(), y)
    with pytest.raises(ValueError, match="have no names"):
        bare.to_sql("t")


@pytest.mark.parametrize("rule", ["gaussian", "nearest"])
def test_json_has_all_that_the_projection_needs(genes, rule):
    X, y = genes
    men = ManifoldElasticNet(n_nonzeros=15, rule=rule).fit(X, y)
    model = json.loads(men.to_json())
    used = model["variables"]
    values = X[[one["name"] for one in used]].to_numpy() - [one["mean"] for one in used]
    z = men.transform(X)
    assert np.allclose(values @ np.array([one["weights"] for one in used]), z, atol=1e-12 * np.abs(z).max())
    assert [one["name"] for one in used] == X.columns[[one["index"] for one in used]].tolist()
    assert model["classes"] == list(men.classes_)
    assert model["rule"]["kind"] == rule


def test_the_command_writes_the_same(command, genes, tmp_path):
    X, y = genes
    men = ManifoldElasticNet(n_nonzeros=15, rule="gaussian").fit(X, y)
    file = tmp_path / "model.safetensors"
    men.save(file)

    def menet(*arguments):
        return subprocess.run([command, "export", "--model", file, *arguments], capture_output=True, check=False)

    assert menet("--json").stdout.decode() == men.to_json()
    assert menet("--sql", "t").stdout.decode() == men.to_sql("t")
    for precision, dtype in (("single", "float32"), ("double", "float64")):
        done = menet("--onnx", tmp_path / "model.onnx", "--precision", precision)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "model.onnx").read_bytes() == men.to_onnx(dtype)
    assert menet("--sql", "t", "--out", tmp_path / "t.sql").returncode == 0
    assert (tmp_path / "t.sql").read_text() == men.to_sql("t")
    for arguments, said in (
        ([], "--onnx FILE, --json, or --sql TABLE"),
        (["--onnx", file], "overwrite"),
        (["--onnx", "m.onnx", "--json"], "cannot be used with"),
    ):
        done = menet(*arguments)
        assert done.returncode == 2 and said in done.stderr.decode(), done.stderr


def test_python_m_menet_is_the_command(command, monkeypatch):
    monkeypatch.setenv("MENET_COMMAND", command)
    done = subprocess.run([sys.executable, "-m", "menet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("menet ")
    monkeypatch.delenv("MENET_COMMAND")
    monkeypatch.setenv("PATH", "")
    done = subprocess.run([sys.executable, "-m", "menet"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "cargo install" in done.stderr


def test_mlflow_keeps_estimators(digits, tmp_path):
    sklearn_flavour = pytest.importorskip("mlflow.sklearn", reason="mlflow is not installed")
    X, y = digits
    men = ManifoldElasticNet(n_nonzeros=10).fit(X[:400], y[:400])
    # Without a list of packages, MLflow would ask pip for one.
    how = {"pip_requirements": ["menet"]}
    sklearn_flavour.save_model(men, str(tmp_path / "model"), serialization_format="cloudpickle", **how)
    kept = sklearn_flavour.load_model(str(tmp_path / "model"))
    same(kept, men, X)
