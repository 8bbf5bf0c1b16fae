"""The command `python -m menet.dask`: models applied, one line per error, and its clusters."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dask_commands import ROWS, SIZE, agree, frame_of, write_csv, write_model, write_parquet, write_parts
from distributed import KilledWorker
from distributed.comm import CommClosedError

import menet
from menet._settings import described
from menet.dask.command import _cluster
from menet.dask.command._main import main, message_and_code

pytest_plugins = ["dask_commands"]


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
    assert (code, err) == (0, "") and text == f"240 samples projected: {out}\n"
    read = {
        "z.csv": lambda: pd.read_csv(out, float_precision="round_trip"),
        "z.parquet": lambda: pd.read_parquet(out),
        "z.npy": lambda: np.load(out),
        "z": lambda: pd.read_parquet(out),
    }[out]()
    np.testing.assert_array_equal(np.asarray(read), men.transform(X))
    if isinstance(read, pd.DataFrame):
        assert list(read.columns) == ["z1", "z2", "z3"]
    code, _, err = run("transform", *args)
    assert code == 2 and ("exists already" in err and "--overwrite" in err) == os.path.isfile(out)
    code, _, err = run("transform", *args, "--overwrite")
    assert (code, err) == (0, "") if os.path.isfile(out) else code == 2 and "no folder is replaced" in err
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_columns_are_taken_in_the_order_of_the_model(run, fit, data):
    frame = frame_of(data)
    write_parquet(frame, "d.parquet")
    fit("--data", "d.parquet", "--label", "y")
    turned = frame.drop(columns="y")[frame.columns[-2::-1]].assign(other=1.0, note="text")
    write_parquet(turned, "turned.parquet")
    write_csv(turned, "turned.csv")
    for file in ("turned.parquet", "turned.csv"):
        code, _, err = run("transform", "--data", file, "--model", "m.safetensors", "--out", "z.npy", "--overwrite")
        assert (code, err) == (0, "")
        men = menet.ManifoldElasticNet.load("m.safetensors")
        np.testing.assert_array_equal(np.load("z.npy"), men.transform(frame.drop(columns="y")))
    write_parquet(turned[[*men.panel_, "other", "note"]], "panel.parquet")
    code, _, err = run("transform", "--data", "panel.parquet", "--model", "m.safetensors", "--out", "p.npy")
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(np.load("p.npy"), np.load("z.npy"))
    lost = [str(name) for name in men.panel_[:2]]
    write_parquet(turned.drop(columns=lost), "fewer.parquet")
    code, _, err = run("transform", "--data", "fewer.parquet", "--model", "m.safetensors", "--out", "y.npy")
    assert (
        code == 2
        and all(f'"{name}"' in err for name in lost)
        and "lacks a column that the model needs" in err
        and not os.path.exists("y.npy")
    )


def test_predict(run, data):
    X, _ = data
    men = write_model(data)
    write_csv(frame_of(data), "d.csv")
    args = ("--data", "d.csv", "--label", "y", "--model", "m.safetensors", "--rows", ROWS)
    code, text, err = run("predict", *args, "--out", "p.csv", "--probabilities")
    assert (code, text, err) == (0, "240 samples classified: p.csv\n", "")
    found = pd.read_csv("p.csv", float_precision="round_trip")
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
        (("--data", "d.xls"), ("d.xls", "not files of one format", ".csv")),
        (("--data", "[dx].[cn]*"), ("one format", "d.csv", "x.npy")),
        (("--data", "d.csv", "--label", "klass"), ("d.csv", '"klass"', '"a", "b"')),
        (("--data", "d.csv"), ('column "y"', '--label "y"')),
        (("--data", "numbers.csv"), ("numbers.csv", 'no label column "label"', "--label", "--labels")),
        (("--data", "sample.csv", "--labels", "short.txt"), ("sample.csv", "looks like a sample", "add a first line")),
        (("--data", "x.npy"), ("x.npy", "--labels")),
        (("--data", "x.npy", "--label", "y"), ("--label", "--labels FILE")),
        (("--data", "x.npy", "--labels", "short.txt"), ("short.txt", "3 labels for 4 samples")),
        (("--data", "x.npy", "--labels", "none.txt"), ("none.txt", "no such file")),
        (("--data", "d.csv", "--label", "y", "--drop", "q"), ('"q"', "to leave out")),
        (("--data", "text.csv", "--label", "y"), ('column "b"', "string", '--drop "b"')),
        (("--data", "text.parquet", "--label", "y"), ('column "b"', "string", '--drop "b"')),
        (("--data", "late.csv", "--label", "y"), ("late.csv", 'column "b"', "'oops'", "--drop")),
        (("--data", "long.csv", "--label", "y"), ("long.csv", "3 columns")),
        (("--data", "lines.csv", "--label", "y"), ("lines.csv", "quoted field")),
        (("--data", "infinite.csv", "--label", "y"), ("row 2", "variable 'a'", "inf", "finite")),
        (("--data", "unlabelled.csv", "--label", "y"), ("sample 3", "missing")),
        (("--data", "empty.csv", "--label", "y"), ("empty.csv", "Empty")),
        (("--data", "names.csv", "--label", "y"), ("names.csv", "no samples")),
        (("--data", "dates.parquet", "--label", "y"), ("dates.parquet", 'column "y"', "timestamp")),
        (("--data", "cut.parquet", "--label", "y"), ("cut.parquet", "not a whole table")),
        (("--data", "objects.npy", "--labels", "short.txt"), ("objects.npy", "numbers")),
        (("--data", "wide.csv", "--label", "y"), ("appears more than once",)),
        (("--data", "d.csv", "--label", "y", "--always", "c"), ("`penalty.always`", '"c"', "name of a variable")),
        (("--data", "d.csv", "--label", "y", "--feature-graph", "e.csv"), ("e.csv", "no such file", "chain")),
        (("--data", "d.csv", "--label", "y", "--feature-groups", "g"), ("--feature-groups g", "no such file")),
        (("--data", "d.csv", "--label", "y", "--rows", "0"), ("--rows", "1 or more")),
        (("--data", "d.csv", "--label", "y", "--unheard"), ("--unheard", "no such option", "--help")),
        (("--data", "d.csv", "text.csv", "--label", "y"), ("text.csv", "quotes")),
        (("--data", "d.csv", "--label", "y", "--delimiter", "tab"), ("--delimiter", "no such option")),
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
    Path("late.csv").write_text("a,b,y\n" + "0.5,1,u\n0.1,2,v\n" * 400_000 + "1,oops,u\n" + "0.5,1,u\n" * 5)
    Path("lines.csv").write_text(table.replace("u", '"u').replace("v", 'v"') + '1,2,"u\n')
    Path("infinite.csv").write_text(table.replace("0.3", "inf"))
    Path("sample.csv").write_text("0.5,1\n0.1,2\n0.3,3\n0.2,5\n")
    Path("names.csv").write_text("a,b,y\n")
    Path("unlabelled.csv").write_text(table.replace("3,u", "3,NA"))
    Path("empty.csv").touch()
    Path("wide.csv").write_text(table.replace("a,b,y", "a,a,y"))
    Path("short.txt").write_text("u\nv\nu\n")
    np.save("x.npy", np.arange(8.0).reshape(4, 2))
    np.save("objects.npy", np.array([["a", None]], dtype=object), allow_pickle=True)
    pd.DataFrame({"a": [1.0, 2.0], "b": ["high", "low"], "y": ["u", "v"]}).to_parquet("text.parquet")
    dates = pd.to_datetime(["2026-01-01", "2026-01-02"])
    pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0], "y": dates}).to_parquet("dates.parquet")
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


def test_a_local_cluster_of_a_wrong_size_is_refused(run, data):
    write_csv(frame_of(data), "d.csv")
    args = ("fit", "--data", "d.csv", "--label", "y", "--model", "m.safetensors")
    for memory in ("much", "4", "-1GB"):
        refused(run(*args, f"--memory={memory}", scheduler=None), 2, f"--memory {memory}", "such as 2GB")
    refused(run(*args, "--workers", "0", scheduler=None), 2, "--workers", "1 or more")
    refused(run(*args, "--temporary", "none", scheduler=None), 2, "--temporary none", "no such folder")


def test_the_pickle_of_a_stack_is_never_read(run):
    import pickle

    os.mkdir("stack")
    np.save("stack/0.npy", np.arange(8.0).reshape(4, 2))
    with open("stack/info", "wb") as file:
        file.write(b"cos\nsystem\n(S'touch ran'\ntR.")
    with pytest.raises(TypeError), open("stack/info", "rb") as file:
        pickle.load(file)["axis"]
    os.remove("ran")
    np.save("y.npy", [0, 1, 0, 1])
    assert run("fit", "--data", "stack", "--labels", "y.npy", "--model", "m.safetensors")[0] == 0
    assert not os.path.exists("ran")


# Parameters, as `menet fit` takes them

PARAMS = """\
ridge = 2.0
nonzeros = 30

[penalty]
kind = "mcp"
always = ["pixel 20"]

[manifold]
kappa = 0.05
"""


@pytest.mark.parametrize(
    "given",
    [
        ("--params", "p.toml"),
        ("--params", "p.toml", "--ridge", "1", "--set", "penalty.gamma=4", "--set", "rule=centroid"),
        ("--preset", "paper", "--nonzeros", "9"),
        ("--set", "preset=stable", "--set", "penalty.factors=" + ",".join(["inf", *["1"] * 63])),
        ("--never", "pixel 20,pixel 21", "--feature-graph", "edges.csv", "--set", "penalty.graph_weight=0.5"),
        ("--feature-groups", "groups.csv", "--nonzeros", "4", "--set", "rule.priors=0.1,0.2,0.3,0.4"),
    ],
)
def test_parameters_make_the_model_of_menet_fit(run, command, data, given):
    frame = frame_of(data)
    write_csv(frame, "d.csv")
    Path("p.toml").write_text(PARAMS)
    Path("edges.csv").write_text("".join(f"pixel {k},pixel {k + 1},{k % 3 + 1}\n" for k in range(63)))
    Path("groups.csv").write_text("".join(f"pixel {k},row {k // 8}\n" for k in range(64)))
    data = ("--data", "d.csv", "--label", "y")
    subprocess.run([command, "fit", *data, *given, "--model", "theirs.safetensors", "--quiet"], check=True)
    code, _, err = run("fit", *data, *given, "--model", "ours.safetensors")
    assert code == 0, err
    ours, theirs = (menet.ManifoldElasticNet.load(f"{whose}.safetensors") for whose in ("ours", "theirs"))
    agree(ours, theirs)
    params = ours.get_params()
    for name, value in theirs.get_params().items():
        # A model file keeps how many edges there are, not where they are from.
        assert name.endswith("feature_graph") or name == "penalty" or params[name] == value, name


def test_variables_without_names_go_by_their_number(run, command, data):
    X, y = data
    np.save("x.npy", X)
    np.save("y.npy", y)
    Path("y.txt").write_text("".join(f"{label}\n" for label in y))
    given = ("--always", "21", "--never", "22,23", "--nonzeros", "9")
    args = ("--data", "x.npy", *given, "--model")
    subprocess.run([command, "fit", *args, "theirs.safetensors", "--labels", "y.txt", "--quiet"], check=True)
    assert run("fit", *args, "ours.safetensors", "--labels", "y.npy")[0] == 0
    ours, theirs = (menet.ManifoldElasticNet.load(f"{whose}.safetensors") for whose in ("ours", "theirs"))
    agree(ours, theirs)
    assert ours.always_.tolist() == [20] and not ours.components_[:, [21, 22]].any()


@pytest.mark.parametrize(
    "given",
    [
        ("--penalty", "l7"),
        ("--preset", "papers"),
        ("--nonzeros", "many"),
        ("--nonzeros", "-1"),
        ("--nonzeros", "0"),
        ("--set", "components=0"),
        ("--set", "ridge"),
        ("--set", "penalty.gama=3"),
        ("--set", "kappa=3"),
        ("--set", "manifold.beta=0"),
        ("--always", "age,,sex"),
        ("--always", "pixel 99"),
        ("--params", "wrong.toml"),
        ("--params", "none.toml"),
    ],
)
def test_a_wrong_parameter_is_refused_in_the_words_of_menet_fit(run, command, data, given):
    write_csv(frame_of(data), "d.csv")
    Path("wrong.toml").write_text("[penalty]\ngama = 3\n")
    args = ("fit", "--data", "d.csv", "--label", "y", *given, "--model", "m.safetensors")
    theirs = subprocess.run([command, *args], capture_output=True, text=True)
    assert theirs.returncode == 2 and theirs.stderr.startswith("menet: ")
    answer = run(*args)
    refused(answer, 2)
    assert answer[2].removeprefix("error: ") == theirs.stderr.removeprefix("menet: ")


# The command as a whole


def test_flags_are_the_parameters(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit", "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and "example:" in shown
    for one in described().values():
        flag = (one.stage if one.name == "kind" else one.name).replace("_", "-")
        assert not one.common or f"  --{flag} " in shown, one.path
    assert all(f"  --{flag} " in shown for flag in ("preset", "set", "params", "feature-groups"))
    for command in ("transform", "predict"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "example:" in capsys.readouterr().out


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
        (ValueError("`n_nonzeros` is 0, but `other` matters"), 2, ("`nonzeros`", "`other`")),
        (RuntimeError("odd"), 1, ("RuntimeError: odd",)),
    ):
        message, found = message_and_code(error)
        assert found == code and all(word in message for word in words), message


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
