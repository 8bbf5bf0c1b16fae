"""The command `python -m menet.dask`: every format, the same models as without Dask, and one line per error."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import KilledWorker, LocalCluster
from distributed.comm import CommClosedError

import menet
from menet._settings import core_name, parameter_hints
from menet.dask.command import _classes, _cluster, _columns, _parquet, _read, _source, _text
from menet.dask.command._main import _told, main

ROWS, SIZE = 60, 8


@pytest.fixture(scope="module")
def data(digits):
    """240 digits of four classes, in an order that mixes them: (X, y)."""
    X, y = digits
    keep = np.flatnonzero(y < 4)[:240]
    return np.ascontiguousarray(X[keep]), y[keep]


@pytest.fixture(scope="module")
def reference(data):
    """The model without Dask."""
    X, y = data
    return menet.ManifoldElasticNet(panel_size=SIZE, rule="centroid").fit(X, y)


@pytest.fixture(scope="module")
def address():
    """A scheduler in this process, so that most tests start no others."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def run(address, tmp_path, monkeypatch, capsys):
    """Run the command in `tmp_path` on the scheduler: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(command, *args, scheduler=address):
        where = [] if scheduler is None else ["--scheduler", scheduler]
        code = main([command, *where, *map(str, args)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def fit(run):
    """Fit with the parameters of `reference`, without a complaint, and load the model without Dask."""

    def fit(*args, notes=False):
        code, out, err = run(
            "fit", "--panel-size", SIZE, "--rule", "centroid", "--rows", ROWS, "--model", "m.safetensors", *args
        )
        assert code == 0 and (notes or err == ""), err
        assert "saved to m.safetensors" in out
        return menet.ManifoldElasticNet.load("m.safetensors")

    return fit


def frame_of(data, label="y"):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(X.shape[1])])
    frame[label] = y
    return frame


def write_parts(frame, write, ending, count=3):
    """Write a frame as several files, of which number 10 comes last."""
    for number, part in zip((1, 2, 10), np.array_split(np.arange(len(frame)), count), strict=True):
        write(frame.iloc[part], f"part-{number}{ending}")


def write_parquet(frame, file):
    frame.to_parquet(file, index=False, row_group_size=25)


def write_csv(frame, file):
    frame.to_csv(file, index=False)


def write_model(data, file="m.safetensors", **params):
    X, y = data
    men = menet.ManifoldElasticNet(panel_size=SIZE, rule="centroid", **params).fit(X, y)
    men.save(file)
    return men


def agree(found, expected):
    """Two models are the same up to the order of sums."""
    np.testing.assert_array_equal(np.flatnonzero(found.components_.any(0)), np.flatnonzero(expected.components_.any(0)))
    np.testing.assert_allclose(found.components_, expected.components_, rtol=0, atol=1e-9)


# Every format


@pytest.mark.parametrize(
    ("write", "ending"), [(write_parquet, ".parquet"), (write_csv, ".csv"), (write_csv, ".csv.gz")]
)
def test_tables(fit, data, reference, write, ending):
    write_parts(frame_of(data), write, ending)
    found = fit("--data", f"part-*{ending}", "--label", "y")
    agree(found, reference)
    np.testing.assert_array_equal(found.classes_, [0, 1, 2, 3])
    np.testing.assert_array_equal(found.feature_names_in_, [f"pixel {k}" for k in range(64)])
    assert list(found.panel_) == [f"pixel {k}" for k in reference.panel_]


def test_tab_separated_text_with_decimal_commas(fit, data, reference):
    frame_of(data).to_csv("d.tsv", sep="\t", decimal=",", index=False)
    agree(fit("--data", "d.tsv", "--label", "y", "--decimal", ","), reference)
    frame_of(data).to_csv("d.csv", sep=";", index=False)
    agree(fit("--data", "d.csv", "--label", "y", "--delimiter", "semicolon", "--overwrite"), reference)


def test_text_without_a_header(fit, run, data, reference):
    frame_of(data).to_csv("d.csv", index=False, header=False)
    code, _, err = run("fit", "--data", "d.csv", "--label", "y", "--model", "x.safetensors")
    assert code == 2 and "--no-header" in err and "--label 65" in err
    found = fit("--data", "d.csv", "--no-header", "--label", "65")
    agree(found, reference)
    assert not hasattr(found, "feature_names_in_")


def test_npy_stack(fit, data, reference):
    X, y = data
    da.to_npy_stack("stack", da.from_array(X, chunks=(70, -1)))
    np.save("y.npy", y)
    agree(fit("--data", "stack", "--labels", "y.npy"), reference)


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files(fit, data, reference, order):
    X, y = data
    np.save("x-2.npy", np.asarray(X[:200], order=order))
    np.save("x-10.npy", np.asarray(X[200:], order=order))
    np.save("x-11.npy", X[:0])
    Path("labels.txt").write_text("".join(f"{label}\n" for label in y))
    agree(fit("--data", "x-*.npy", "--labels", "labels.txt"), reference)


def test_zarr_if_it_is_installed(run, fit, data, reference):
    X, y = data
    np.save("y.npy", y)
    try:
        import zarr
    except ImportError:
        os.mkdir("x.zarr")
        code, _, err = run("fit", "--data", "x.zarr", "--labels", "y.npy", "--model", "m.safetensors")
        assert code == 2 and "pip install zarr" in err
        return
    array = zarr.open_array("x.zarr", mode="w", shape=X.shape, chunks=(50, 20), dtype="f8")
    array[:] = X
    agree(fit("--data", "x.zarr", "--labels", "y.npy"), reference)


def test_a_folder_of_parquet_files(fit, data, reference):
    os.mkdir("table")
    frame = frame_of(data)
    for k in range(3):
        write_parquet(frame.iloc[80 * k : 80 * (k + 1)], f"table/part.{k}.parquet")
    agree(fit("--data", "table", "--label", "y"), reference)


# Labels, names and types


def test_labels_as_text(fit, data, reference):
    frame = frame_of(data)
    frame["y"] = [f"digit {label}" for label in frame["y"]]
    write_parquet(frame, "d.parquet")
    found = fit("--data", "d.parquet", "--label", "y")
    agree(found, reference)
    assert found.classes_.tolist() == [f"digit {k}" for k in range(4)]


def test_labels_have_the_form_that_the_command_gives_them(command, tmp_path):
    """One class per row of the table in docs/data.md, read by `menet` and by us."""
    given = [" x ", "+1", "1.50", "TRUE", "007", "1E3", ".5", "None", "-0.0", "1.000e+02", "9007199254740993", "00.5"]
    rng = np.random.default_rng(0)
    lines = ["a,b,label"]
    lines += [f"{k + rng.normal():.3f},{rng.normal():.3f},{text}" for k, text in enumerate(given) for _ in range(4)]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    model = tmp_path / "m.safetensors"
    subprocess.run([command, "fit", "--data", tmp_path / "d.csv", "--model", model, "--quiet"], check=True)
    expected = menet.ManifoldElasticNet.load(model).classes_.tolist()
    assert sorted(_classes.texts(np.array(given, dtype=object))) == sorted(expected)
    assert _classes.texts([1.0, 0.1, float("nan"), 1e300]).tolist() == ["1", "0.1", "", "1e300"]
    assert _classes.texts(np.array([True, None, 2**60], dtype=object)).tolist() == ["true", "", str(2**60)]
    assert _classes.texts(_classes.MISSING).tolist() == [""] * len(_classes.MISSING)


def test_a_column_that_names_samples_is_no_variable(run, fit, data, reference):
    frame = frame_of(data)
    frame.insert(0, "sample_id", [f"s{k}" for k in range(len(frame))])
    write_csv(frame, "d.csv")
    write_parquet(frame, "d.parquet")
    for file in ("d.csv", "d.parquet"):
        code, _, err = run("fit", "--data", file, "--label", "y", "--model", "n.safetensors", "--overwrite")
        assert code == 0 and 'note: column 1 ("sample_id") names the samples' in err
        agree(fit("--data", file, "--label", "y", "--id", "sample_id", "--overwrite"), reference)
        code, _, _ = run(
            "transform", "--data", file, "--label", "y", "--model", "m.safetensors", "--out", f"{file}.csv"
        )
        assert code == 0
        assert pd.read_csv(f"{file}.csv")["sample_id"].tolist() == frame["sample_id"].tolist()


def test_single_precision_stays(address, tmp_path, data):
    X, _ = data
    pd.DataFrame(X, columns=[str(k) for k in range(64)]).astype(np.float32).to_parquet(tmp_path / "d.parquet")
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    for name in ("d.parquet", "x.npy"):
        source = _read.read(str(tmp_path / name), _read.Options(_columns.Wanted()))
        assert source.samples.dtype == np.float32 == source.samples.compute(scheduler="sync").dtype


def test_whole_numbers_truth_values_and_gaps_of_parquet(tmp_path):
    table = pa.table(
        {"a": [1, 2, None], "b": [True, False, True], "c": pa.array([1, 2, 3], pa.int8()), "id": [1, 2, 3]}
    )
    pq.write_table(table, tmp_path / "d.parquet")
    source = _read.read(str(tmp_path / "d.parquet"), _read.Options(_columns.Wanted()))
    expected = [[1, 1, 1], [2, 0, 2], [np.nan, 1, 3]]
    np.testing.assert_array_equal(source.samples.compute(scheduler="sync"), expected)
    assert source.variables == ["a", "b", "c"] and source.ids.compute(scheduler="sync").tolist() == ["1", "2", "3"]


def test_chunks_have_about_the_rows_that_were_asked_for():
    assert _parquet.chunks_of([25] * 10, 50) == [((k, k + 1, k + 2), 0, 75) for k in (0, 3, 6)] + [((9,), 0, 25)]
    assert _parquet.chunks_of([0, 200, 10], 50) == [((1,), 50 * k, 50 * (k + 1)) for k in range(4)] + [((2,), 0, 10)]
    assert _source.split(0, 50) == [] and _source.split(74, 50) == [(0, 74)]
    assert _source.split(101, 50) == [(0, 33), (33, 67), (67, 101)]
    assert _source.rows_of_chunk(1000, np.dtype(np.float32), None) == 8000


def test_rows_are_not_counted_again(tmp_path, data):
    write_parquet(frame_of(data), tmp_path / "d.parquet")
    source = _read.read(str(tmp_path / "d.parquet"), _read.Options(_columns.Wanted("y"), ROWS))
    assert source.samples.chunks == ((75, 75, 90), (64,))
    given = source.given()
    assert given.X is source.samples
    np.testing.assert_array_equal(given.X.compute(scheduler="sync"), data[0])


def test_blocks_of_text_have_every_line_once(tmp_path):
    lines = [f"{'x' * (k % 7)},{k}\n".encode() for k in range(50)]
    file = tmp_path / "d.csv"
    file.write_bytes(b"".join(lines).removesuffix(b"\n"))
    for block in (1, 3, 10, 64, 1000):
        cuts = _text._cuts(file, _text.Dialect(",", header=True), block)
        found = b"".join(_text._lines(str(file), *cut) for cut in cuts)
        assert found == b"".join(lines[1:]).removesuffix(b"\n")


# Applying a model


@pytest.mark.parametrize(
    ("out", "table"), [("z.csv", True), ("z.parquet", True), ("z.npy", True), ("z", True), ("z", False)]
)
def test_transform(run, data, out, table):
    X, _ = data
    men = write_model(data)
    write_parts(frame_of(data), write_parquet, ".parquet")
    np.save("x.npy", X)
    which = ("part-*.parquet", "--label", "y") if table else ("x.npy",)
    args = ("--rows", ROWS, "--model", "m.safetensors", "--out", out, "--data", *which)
    code, text, err = run("transform", *args)
    assert (code, err) == (0, "") and text == f"240 samples on 3 axes: {out}\n"
    read = {
        "z.csv": lambda: pd.read_csv(out),
        "z.parquet": lambda: pd.read_parquet(out),
        "z.npy": lambda: np.load(out),
        "z": lambda: pd.read_parquet(out) if table else da.from_npy_stack(out).compute(scheduler="sync"),
    }[out]()
    np.testing.assert_array_equal(np.asarray(read), men.transform(X))
    if isinstance(read, pd.DataFrame):
        assert list(read.columns) == ["z1", "z2", "z3"]
    code, _, err = run("transform", *args)
    assert code == 2 and "exists already" in err and "--overwrite" in err
    code, _, err = run("transform", *args, "--overwrite")
    assert (code, err) == (0, "")
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_columns_are_taken_in_the_order_of_the_model(run, fit, data):
    frame = frame_of(data)
    write_parquet(frame, "d.parquet")
    fit("--data", "d.parquet", "--label", "y")
    turned = frame.drop(columns="y")[frame.columns[-2::-1]].assign(other=1.0)
    write_parquet(turned, "turned.parquet")
    write_csv(turned, "turned.csv")
    for file in ("turned.parquet", "turned.csv"):
        code, _, err = run("transform", "--data", file, "--model", "m.safetensors", "--out", "z.npy", "--overwrite")
        assert code == 0 and '"other" is not a variable of the model' in err
        men = menet.ManifoldElasticNet.load("m.safetensors")
        np.testing.assert_array_equal(np.load("z.npy"), men.transform(frame.drop(columns="y")))
    write_parquet(turned.drop(columns="pixel 7"), "fewer.parquet")
    code, _, err = run("transform", "--data", "fewer.parquet", "--model", "m.safetensors", "--out", "y.npy")
    assert code == 2 and '"pixel 7"' in err and not os.path.exists("y.npy")


def test_predict(run, data):
    X, _ = data
    men = write_model(data)
    write_csv(frame_of(data), "d.csv")
    args = ("--data", "d.csv", "--label", "y", "--model", "m.safetensors", "--rows", ROWS)
    code, text, err = run("predict", *args, "--out", "p.csv", "--probabilities")
    assert (code, text, err) == (0, "240 samples classified: p.csv\n", "")
    found = pd.read_csv("p.csv")
    assert list(found.columns) == ["label", "probability", *(f"probability:{k}" for k in range(4))]
    np.testing.assert_array_equal(found["label"], men.predict(X))
    np.testing.assert_allclose(found.iloc[:, 2:], men.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(found["probability"], found.iloc[:, 2:].max(axis=1))
    code, _, _ = run("predict", *args, "--out", "p")
    assert code == 0 and list(pd.read_parquet("p").columns) == ["label", "probability"]


# Errors: one line each, and nothing is written


def refused(answer, code, *words):
    found, out, err = answer
    assert (found, out) == (code, ""), (found, out, err)
    assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err, err
    assert all(word in err for word in words), err
    assert not [name for name in os.listdir() if "m.safetensors" in name or name.startswith(".")]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--data", "none.csv"), ("none.csv", "no such file", ".parquet")),
        (("--data", "none-*.csv"), ("none-*.csv", "no file matches")),
        (("--data", "d.xls"), ("d.xls", "not known", ".csv")),
        (("--data", "[dx].[cn]*"), ("different formats", "d.csv", "x.npy")),
        (("--data", "d.csv", "--label", "klass"), ("d.csv", '"klass"', '"a", "b"')),
        (("--data", "d.csv"), ('column "y"', '--label "y"')),
        (("--data", "numbers.csv"), ("numbers.csv", 'no label column "label"', "--label", "--labels")),
        (("--data", "x.npy"), ("x.npy", "--labels")),
        (("--data", "x.npy", "--label", "y"), ("--label", "--labels FILE")),
        (("--data", "x.npy", "--labels", "short.txt"), ("short.txt", "3 labels for 4 samples")),
        (("--data", "x.npy", "--labels", "none.txt"), ("none.txt", "no such file")),
        (("--data", "d.csv", "--label", "y", "--drop", "q"), ('"q"', "to leave out")),
        (("--data", "text.csv", "--label", "y"), ('column "b"', '"high"', '--drop "b"')),
        (("--data", "text.parquet", "--label", "y"), ('column "b"', "string", '--drop "b"')),
        (("--data", "late.csv", "--label", "y"), ("line 40002", 'column "b"', '"oops"', '--drop "b"')),
        (("--data", "long.csv", "--label", "y"), ("long.csv", "3 fields")),
        (("--data", "unlabelled.csv", "--label", "y"), ("sample 3", "missing")),
        (("--data", "empty.csv", "--label", "y"), ("empty.csv", "empty")),
        (("--data", "cut.parquet", "--label", "y"), ("cut.parquet", "not a whole Parquet file")),
        (("--data", "objects.npy", "--labels", "short.txt"), ("objects.npy", "numbers")),
        (("--data", "wide.csv", "--label", "y"), ("appears more than once",)),
        (("--data", "d.csv", "--label", "y", "--nonzeros", "many"), ("--nonzeros", "'many'", "whole number")),
        (("--data", "d.csv", "--label", "y", "--nonzeros", "-1"), ("--nonzeros", "-1")),
        (("--data", "d.csv", "--label", "y", "--beta", "0"), ("beta", "0")),
        (("--data", "d.csv", "--label", "y", "--rule", "dice"), ("--rule", "'dice'", "nearest, centroid, gaussian")),
        (("--data", "d.csv", "--label", "y", "--rows", "0"), ("--rows", "1 or more")),
        (("--data", "d.csv", "--label", "y", "--unheard"), ("--unheard", "--help")),
        (("--data", "d.csv", "--label", "y", "--workers", "2"), ("--workers", "--scheduler")),
    ],
)
def test_bad_input(run, given, words):
    table = "a,b,y\n0.5,1,u\n0.1,2,v\n0.3,3,u\n0.2,5,v\n"
    Path("d.csv").write_text(table)
    Path("d.xls").write_text(table)
    Path("numbers.csv").write_text("a,b\n0.5,1\n0.25,2\n")
    Path("text.csv").write_text(table.replace("2,v", "high,v"))
    Path("long.csv").write_text(table + "1,2,u,4\n")
    Path("late.csv").write_text("a,b,y\n" + "0.5,1,u\n0.1,2,v\n" * 20000 + "1,oops,u\n" + "0.5,1,u\n" * 5)
    Path("unlabelled.csv").write_text(table.replace("3,u", "3,NA"))
    Path("empty.csv").touch()
    Path("wide.csv").write_text(table.replace("a,b,y", "a,a,y"))
    Path("short.txt").write_text("u\nv\nu\n")
    np.save("x.npy", np.arange(8.0).reshape(4, 2))
    np.save("objects.npy", np.array([["a", None]], dtype=object), allow_pickle=True)
    pd.DataFrame({"a": [1.0, 2.0], "b": ["high", "low"], "y": ["u", "v"]}).to_parquet("text.parquet")
    Path("cut.parquet").write_bytes(Path("text.parquet").read_bytes()[:-9])
    refused(run("fit", *given, "--model", "m.safetensors"), 2, *words)


def test_a_value_that_is_missing_is_named(run, data):
    frame = frame_of(data)
    frame.iloc[200, 7] = np.nan
    write_parquet(frame, "d.parquet")
    answer = run("fit", "--data", "d.parquet", "--label", "y", "--rows", ROWS, "--model", "m.safetensors")
    refused(answer, 2, "row 200", "pixel 7")
    write_model(data, "n.safetensors")
    args = ("--data", "d.parquet", "--label", "y", "--rows", ROWS, "--model", "n.safetensors", "--out", "z.csv")
    refused(run("transform", *args), 2, "row 200", "pixel 7")
    assert not os.path.exists("z.csv")


def test_a_model_is_not_replaced_unasked_and_inputs_never_are(run, data):
    write_csv(frame_of(data), "d.csv")
    Path("old").write_text("mine")
    fit = ("fit", "--data", "d.csv", "--label", "y", "--overwrite", "--model")
    refused(run(*(word for word in fit if word != "--overwrite"), "old"), 2, "old", "exists already", "--overwrite")
    refused(run(*fit, "d.csv"), 2, "--model d.csv", "--data")
    refused(run(*fit, "none/m"), 2, "none", "no folder")
    assert Path("old").read_text() == "mine"
    write_model(data, "n")
    transform = ("transform", "--data", "d.csv", "--label", "y", "--model", "n", "--overwrite", "--out")
    refused(run(*transform, "n"), 2, "--out n", "--model")
    refused(run(*transform, "z.xyz"), 2, "z.xyz", ".parquet")
    refused(run("transform", "--data", "d.csv", "--model", "none", "--out", "z"), 2, "--model none", "no such file")


def test_a_scheduler_that_cannot_be_reached(run, data, monkeypatch):
    assert _cluster.PATIENCE <= 10
    monkeypatch.setattr(_cluster, "PATIENCE", 0.5)
    write_csv(frame_of(data), "d.csv")
    args = ("--data", "d.csv", "--label", "y", "--model", "m.safetensors")
    refused(run("fit", *args, scheduler="tcp://127.0.0.1:1"), 1, "tcp://127.0.0.1:1", "no scheduler answers")
    refused(run("fit", *args, scheduler="nonsense://x"), 1, "nonsense://x")


def test_a_stack_that_could_run_code_is_refused(run):
    import pickle

    os.mkdir("stack")
    np.save("stack/0.npy", np.zeros((2, 2)))
    with open("stack/info", "wb") as file:
        pickle.dump({"chunks": ((2,), (2,)), "dtype": os.system, "axis": 0}, file)
    np.save("y.npy", [0, 1])
    refused(run("fit", "--data", "stack", "--labels", "y.npy", "--model", "m.safetensors"), 2, "stack", "system")


# The command as a whole


def test_flags_are_the_parameters(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit", "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and "examples:" in shown and "None" not in shown and "`" not in shown
    for name in parameter_hints(menet.ManifoldElasticNet):
        flag = f"  --{core_name(name).replace('_', '-')} "
        assert (flag in shown) == (name != "n_jobs"), name
    for command in ("transform", "predict"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "examples:" in capsys.readouterr().out


def test_report_as_json(run, data):
    write_csv(frame_of(data), "d.csv")
    code, out, err = run("fit", "--data", "d.csv", "--label", "y", "--model", "m.safetensors", "--json")
    report = json.loads(out)
    assert (code, err) == (0, "") and (report["n"], report["p"], report["classes"]) == (240, 64, 4)
    code, out, err = run("fit", "--data", "d.csv", "--label", "y", "--model", "m.safetensors", "--quiet", "--overwrite")
    assert (code, out, err) == (0, "", "")


def test_what_goes_wrong_later_is_told_in_one_line():
    for error, code, words in (
        (KilledWorker("task", None, 3), 1, ("workers died", "--memory", "--rows")),
        (MemoryError("workers died in the stage lars"), 1, ("stage lars", "--memory")),
        (CommClosedError("gone"), 1, ("scheduler went away", "nothing was written")),
        (ConnectionError("the connection to tcp://a:1 was lost"), 1, ("tcp://a:1",)),
        (FileNotFoundError(2, "none", "x.npy"), 2, ("x.npy", "a worker")),
        (PermissionError(13, "Permission denied", "z.csv"), 1, ("z.csv", "Permission denied")),
        (ValueError("`n_nonzeros` is 0, but `kappa` and `other` matter"), 2, ("--nonzeros", "--kappa", "`other`")),
        (RuntimeError("odd"), 1, ("RuntimeError: odd",)),
    ):
        message, found = _told(error)
        assert found == code and all(word in message for word in words), message


def test_sizes_of_a_local_cluster(monkeypatch):
    monkeypatch.setattr(_cluster, "available_memory", lambda: 10_000_000_000)
    monkeypatch.setattr(_cluster, "CPU_COUNT", 8)
    assert _cluster.sizes(_cluster.Where()) == _cluster.Sizes(4, 2, 2_000_000_000)
    assert _cluster.sizes(_cluster.Where(workers=2)) == _cluster.Sizes(2, 4, 4_000_000_000)
    assert _cluster.sizes(_cluster.Where(threads=1)) == _cluster.Sizes(8, 1, 1_000_000_000)
    assert _cluster.sizes(_cluster.Where(memory="4GB")) == _cluster.Sizes(2, 4, 4_000_000_000)
    for memory, told in (("4", "at least"), ("much", "not a size"), ("-1GB", "not a size")):
        with pytest.raises(_cluster.CommandError, match=told):
            _cluster.sizes(_cluster.Where(memory=memory))


def started(folder, *args):
    """Start the command as a user does, in a process group of its own."""
    command = [sys.executable, "-m", "menet.dask", *args, "--workers", "1", "--memory", "1GB"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, text=True, **pipes)


def group(process):
    """The processes of a group that still run."""
    found = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in found.splitlines()]
    return [row for row in rows if row[0] == str(process.pid) and not row[1].startswith("Z")]


def gone(process):
    """Wait until no process of the group runs: some end a moment after the command."""
    for _ in range(100):
        if not group(process):
            return True
        time.sleep(0.1)
    return False


def test_a_local_cluster_leaves_nothing(tmp_path, data, reference):
    write_parquet(frame_of(data), tmp_path / "d.parquet")
    args = ("--data", "d.parquet", "--label", "y", "--panel-size", str(SIZE), "--rule", "centroid")
    process = started(tmp_path, "fit", *args, "--model", "m.safetensors")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "") and "saved to m.safetensors" in out
    assert sorted(os.listdir(tmp_path)) == ["d.parquet", "m.safetensors"]
    assert gone(process)
    agree(menet.ManifoldElasticNet.load(tmp_path / "m.safetensors"), reference)


def test_ctrl_c_leaves_nothing(tmp_path):
    with gzip.open(tmp_path / "d.csv.gz", "wt") as file:
        file.write("a,b,y\n" + "0.25,1.5,u\n0.75,2.5,v\n" * 2_500_000)
    process = started(tmp_path, "fit", "--data", "d.csv.gz", "--label", "y", "--model", "m.safetensors")
    # The worker has its folder: the command is past its start, and has seconds of work before it.
    for _ in range(600):
        if list(tmp_path.glob(".menet-dask-*/dask-scratch-space/worker-*")):
            break
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "") and err == "stopped by SIGINT; nothing was written\n"
    assert os.listdir(tmp_path) == ["d.csv.gz"]
    assert gone(process)
