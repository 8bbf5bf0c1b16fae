"""Models in other programs: ONNX, SQL, JSON, MLflow. Each gives what menet gives."""

import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import same
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from menet import Gaussian, ManifoldElasticNet, Nearest, Prepare, datasets

SETS = {
    "orl": datasets.load_orl,
    "leukemia": datasets.load_leukemia,
    "digits": datasets.load_digits,
}

RULES = {
    "nearest": "nearest",
    "nearest by distance": Nearest(metric="euclidean"),
    "five nearest": Nearest(k=5),
    "nearest with priors": Nearest(priors="equal"),
    "centroid": "centroid",
    "gaussian": Gaussian(priors="equal"),
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
    men = ManifoldElasticNet(n_nonzeros=20, rule=RULES[rule]).fit(X[::2], y[::2])
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
        men = ManifoldElasticNet(n_nonzeros=10, prepare=Prepare(scale=scale, impute="median")).fit(holes, y)
        label, probabilities, _ = run(men.to_onnx("float64"), holes)
        assert np.array_equal(label, men.predict(holes))
        assert np.abs(probabilities - men.predict_proba(holes)).max() <= 1e-12
    men = ManifoldElasticNet(n_nonzeros=10, prepare=Prepare(impute="knn")).fit(holes, y)
    with pytest.raises(ValueError, match="neighbours"):
        men.to_onnx()


@pytest.mark.filterwarnings("ignore:without any value")
@pytest.mark.parametrize("rule", RULES)
def test_a_sample_without_the_panel_is_unknown_everywhere(genes, rule):
    X, y = genes
    men = ManifoldElasticNet(panel_size=6, prepare=Prepare(impute="median"), rule=RULES[rule]).fit(X, y)
    new = X.iloc[:6].copy()
    new.iloc[[1, 4], :] = np.nan
    new.loc[new.index[2], men.panel_[:5]] = np.nan
    for model, given in ((men, new), (men.panel_model(), new[men.panel_model().feature_names_in_])):
        label, probabilities, scores = run(model.to_onnx("float64"), given)
        assert np.array_equal(label, men.predict(new))
        assert np.abs(probabilities - men.predict_proba(new)).max() <= 1e-12
        assert np.array_equal(np.isnan(scores).any(axis=1), [False, True, False, False, True, False])
    table, sql = new[men.panel_], labels(men.to_sql("my table"))
    sql = sql.replace("SELECT label", "SELECT nearest_centroid", 1) if men.rule_ == "nearest" else sql
    for rows in (duckdb_rows, sqlite_rows):
        found = rows(table.astype(object).where(table.notna(), None), sql)["found"]
        assert found.isna().tolist() == [False, True, False, False, True, False]


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
    men = ManifoldElasticNet(n_nonzeros=3, rule="gaussian", prepare=Prepare(impute="mean", scale="log1p")).fit(X, y)
    for rows in (duckdb_rows, sqlite_rows):
        found = rows(X, men.to_sql("my table"))
        assert found["label"].tolist() == men.predict(X).tolist()
    bare = ManifoldElasticNet(n_nonzeros=2).fit(X.fillna(0).to_numpy(), y)
    with pytest.raises(ValueError, match="have no names"):
        bare.to_sql("t")


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    """Return a function that runs a statement on a table in PostgreSQL, if this machine has it."""
    programs = [shutil.which(name) for name in ("initdb", "pg_ctl", "psql")]
    if None in programs:
        pytest.skip("PostgreSQL is not installed")
    initdb, pg_ctl, psql = programs
    folder = Path(tempfile.mkdtemp(prefix="menet-pg-"))  # the path of a socket must be short
    before = []
    if os.name == "posix" and os.geteuid() == 0:
        try:
            shutil.chown(folder, "postgres")
        except LookupError:
            pytest.skip("PostgreSQL does not run as root")
        before = ["runuser", "-u", "postgres", "--"]

    def run(*command, **how):
        done = subprocess.run([*before, *command], capture_output=True, text=True, cwd=folder, check=False, **how)
        if done.returncode:
            raise ValueError(done.stderr)
        return done.stdout

    run(initdb, "-D", folder / "data", "-A", "trust")
    run(pg_ctl, "-D", folder / "data", "-w", "-l", folder / "log", "-o", f"-k {folder} -c listen_addresses=''", "start")

    def rows(frame, sql):
        types = {"f": "double precision", "i": "bigint", "O": "text"}
        columns = ", ".join(
            '"{}" {}'.format(name.replace('"', '""'), types.get(frame[name].dtype.kind, "text")) for name in frame
        )
        table = frame.to_csv(index=False, header=False, na_rep="NaN")
        script = (
            f'CREATE TEMPORARY TABLE "my table" ({columns});\nCOPY "my table" FROM STDIN (FORMAT csv);\n{table}\\.\n'
        )
        script += f"COPY ({sql.rstrip().removesuffix(';')}) TO STDOUT (FORMAT csv, HEADER, NULL 'NA');\n"
        return pd.read_csv(
            io.StringIO(run(psql, "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "postgres", input=script))
        )

    yield rows
    run(pg_ctl, "-D", folder / "data", "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def database(request):
    return {"sqlite": sqlite_rows, "duckdb": duckdb_rows}.get(request.param) or request.getfixturevalue("postgres")


@pytest.fixture(scope="module")
def small(genes):
    """Return a model of few variables, the table it is for, and its labels."""
    X, y = genes
    men = ManifoldElasticNet(panel_size=5, n_nonzeros=5, rule="gaussian").fit(X, y)
    return men, X[men.panel_].reset_index(drop=True), men.predict(X)


def labels(sql):
    """Return how the documentation selects the labels, and nothing else, in all three databases."""
    return f"SELECT label AS found FROM ({sql.rstrip().rstrip(';')}) AS model"


def test_columns_of_the_table_do_not_change_labels(small, database):
    men, table, expected = small
    sql = men.to_sql("my table")
    assert database(table, labels(sql))["found"].tolist() == expected.tolist()
    for name in (
        "label",
        "LABEL",
        "value_1",
        "axis_1",
        "value_2",
        "axis_2",
        "menet_row",
        "menet_range",
        "least",
        "most",
    ):
        other = table.assign(**{name: np.arange(len(table), dtype=float)})
        select = labels(sql)
        if name in ("label", "value_1", "axis_1", "value_2", "axis_2"):
            try:
                found = database(other, select)
            except ValueError as e:
                # PostgreSQL says that it does not know which column is meant.
                assert "ambiguous" in str(e)
                if name != "label":
                    continue
                found = database(other, f"SELECT found FROM ({sql.rstrip().rstrip(';')}) AS model(found)")
        else:
            found = database(other, select)
        assert found["found"].tolist() == expected.tolist(), name


def test_a_table_may_be_called_as_parts_of_the_statement(small):
    men, table, expected = small
    for name in ("menet_scores", "MENET_VALUES", "menet_row", "menet_range", "label"):
        with sqlite3.connect(":memory:") as connection:
            table.to_sql(name, connection, index=False)
            found = pd.read_sql_query(labels(men.to_sql(name)), connection)
        assert found["found"].tolist() == expected.tolist(), name


def test_a_missing_column_is_an_error(small, database):
    men, table, _ = small
    for name in table.columns:
        with pytest.raises(Exception, match=f"(?i){re.escape(name)}"):
            database(table.drop(columns=name), men.to_sql("my table"))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
def test_what_menet_cannot_use_gives_no_label(small, database, value):
    men, table, expected = small
    for place, name in enumerate(table.columns):
        other = table.copy()
        other.loc[place, name] = value
        found = database(other, labels(men.to_sql("my table")))["found"]
        assert found.isna().tolist() == [row == place for row in range(len(table))]
        assert found.drop(place).tolist() == np.delete(expected, place).tolist()


def test_texts_in_sqlite_are_numbers_or_no_label(small):
    men, table, expected = small
    texts = table.map(lambda value: f"{value:.17g}0" if "." in f"{value:.17g}" else f"{value:.17g}")
    texts.iloc[0, 0], texts.iloc[1, 1] = "NA", ""
    found = sqlite_rows(texts, labels(men.to_sql("my table")))["found"]
    assert found[:2].isna().all()
    assert found[2:].tolist() == expected[2:].tolist()


@pytest.mark.parametrize("scale", ["none", "log1p", "unit"])
def test_missing_values_are_filled_in_every_database(database, scale):
    rng = np.random.default_rng(3)
    y = np.tile(["a", "b", "c"], 20)
    X = pd.DataFrame(rng.normal(size=(60, 4)) ** 2, columns=list("pqrs"))
    X["q"] += (y == "b") * 3
    X["r"] += (y == "c") * 3
    X.iloc[::7, 1] = np.nan
    men = ManifoldElasticNet(n_nonzeros=3, rule="gaussian", prepare=Prepare(impute="median", scale=scale)).fit(X, y)
    found = database(X, labels(men.to_sql("my table")))["found"]
    assert found.tolist() == men.predict(X).tolist()
    # What is not missing but cannot be used is not filled.
    X.loc[0, "q"] = np.inf
    X.loc[1, "q"] = -1.0 if scale == "log1p" else -1e300
    assert database(X, labels(men.to_sql("my table")))["found"].isna().tolist() == [row < 2 for row in range(60)]


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_labels_have_their_own_type(database, kind):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    y = (np.arange(40) % 2).astype(bool if kind is bool else int) if kind is not str else np.tile(["x'y", 'a"; --'], 20)
    y = y.astype(kind) if kind is not str else y
    X["b"] += (np.arange(40) % 2) * 4
    men = ManifoldElasticNet(n_nonzeros=2, rule="centroid").fit(X, y)
    found = database(X, labels(men.to_sql("my table")))["found"]
    expected = men.predict(X)
    texts = {"t": "True", "f": "False"}
    assert [
        kind(texts.get(value, value) == "True") if kind is bool and value in texts else kind(value) for value in found
    ] == [kind(value) for value in expected]


@pytest.mark.parametrize("names", [["a", "A", "c"], ["a", "a", "c"], ["a", "RowId", "c"], ["a", "b\0", "c"]])
def test_names_that_a_database_does_not_tell_apart_are_refused(names):
    X = np.random.default_rng(0).normal(size=(40, 3)) + np.arange(40)[:, None] % 2 * 3
    men = ManifoldElasticNet(n_nonzeros=3).fit(pd.DataFrame(X, columns=["x", "y", "z"]), np.arange(40) % 2)
    model = ManifoldElasticNet(n_nonzeros=3)
    try:
        model.fit(pd.DataFrame(X, columns=names), np.arange(40) % 2)
    except ValueError:
        pytest.skip("such a frame cannot be fitted")
    with pytest.raises(ValueError, match="rename"):
        model.to_sql("t")
    with pytest.raises(ValueError, match="rename"):
        men.to_sql("a\0b")


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
        assert (tmp_path / "model.onnx").read_bytes() == men.panel_model().to_onnx(dtype)
        done = menet("--onnx", tmp_path / "model.onnx", "--precision", precision, "--all-variables")
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
