"""The command `python -m menet.dask` reads every format: the same models as without Dask."""

import os
import subprocess
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask_commands import agree, frame_of, write_csv, write_parquet, write_parts

import menet
from menet import _core
from menet.dask.command import _read, _tables
from menet.dask.command._main import _parser

pytest_plugins = ["dask_commands"]


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


def test_labels_have_the_form_that_the_command_gives_them(run, command, tmp_path):
    """One class per row of the table in docs/data.md, read by `menet` and by us."""
    given = [" x ", "+1", "1.50", "TRUE", "007", "1E3", ".5", "None", "-0.0", "1.000e+02", "9007199254740993", "00.5"]
    rng = np.random.default_rng(0)
    lines = ["a,b,label"]
    lines += [f"{k + rng.normal():.3f},{rng.normal():.3f},{text}" for k, text in enumerate(given) for _ in range(4)]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    model = tmp_path / "m.safetensors"
    subprocess.run([command, "fit", "--data", tmp_path / "d.csv", "--model", model, "--quiet"], check=True)
    expected = menet.ManifoldElasticNet.load(model).classes_.tolist()
    code, _, err = run("fit", "--data", "d.csv", "--model", "ours.safetensors")
    assert code == 0, err
    assert menet.ManifoldElasticNet.load("ours.safetensors").classes_.tolist() == expected
    assert _core.label_texts([1.0, 0.1, float("nan"), 1e300]) == ["1", "0.1", "", "1e300"]
    assert _core.label_texts([True, None, 2**60]) == ["true", "", str(2**60)]
    assert _core.label_texts(_core.missing_texts()) == [""] * len(_core.missing_texts())


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


def source_of(data, *options):
    """What the command reads, on no cluster."""
    return _read.read(_parser().parse_args(["fit", "--data", str(data), "--model", "m", *options]))


def test_single_precision_stays(tmp_path, data):
    X, _ = data
    pd.DataFrame(X, columns=[f"x{k}" for k in range(64)]).astype(np.float32).to_parquet(tmp_path / "d.parquet")
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    for name in ("d.parquet", "x.npy"):
        source = source_of(tmp_path / name)
        assert source.samples.dtype == np.float32 == source.samples.compute(scheduler="sync").dtype


def test_whole_numbers_truth_values_categories_and_gaps_of_parquet(tmp_path):
    columns = {"a": [1, 2, None], "b": [True, False, True], "c": pa.array([1, 2, 3], pa.int8()), "id": [1, 2, 3]}
    table = pa.table({**columns, "d": pa.array([0.5, 1.5, 0.5]).dictionary_encode(), "e": pa.nulls(3)})
    pq.write_table(table, tmp_path / "d.parquet")
    source = source_of(tmp_path / "d.parquet")
    expected = [[1, 1, 1, 0.5, np.nan], [2, 0, 2, 1.5, np.nan], [np.nan, 1, 3, 0.5, np.nan]]
    np.testing.assert_array_equal(source.samples.compute(scheduler="sync"), expected)
    assert source.variables == ["a", "b", "c", "d", "e"]
    assert source.ids.compute(scheduler="sync").tolist() == ["1", "2", "3"]


def test_chunks_have_the_rows_that_were_asked_for(tmp_path, data):
    write_parquet(frame_of(data), tmp_path / "d.parquet")
    write_csv(frame_of(data), tmp_path / "d.csv")
    for name in ("d.parquet", "d.csv"):
        source = source_of(tmp_path / name, "--label", "y", "--rows", "100")
        assert source.samples.chunks == ((100, 100, 40), (64,))
        given = source.given()
        # The rows are not counted again.
        assert given.X is source.samples
        np.testing.assert_array_equal(given.X.compute(scheduler="sync"), data[0])
        assert source.labels.tolist() == [str(label) for label in data[1]]
    assert len(source_of(tmp_path / "d.parquet", "--label", "y").samples.chunks[0]) == 1


def test_blocks_of_text_have_every_line_once(tmp_path, monkeypatch):
    lines = [f"{'x' * (k % 7)},{k},{k / 7}\n" for k in range(50)]
    (tmp_path / "d.csv").write_text("name,a,b\n" + "".join(lines).removesuffix("\n"))
    for block in (30, 64, 1000):
        monkeypatch.setattr(_tables, "CHUNK", block)
        source = source_of(tmp_path / "d.csv", "--id", "name")
        np.testing.assert_array_equal(source.samples.compute(scheduler="sync")[:, 1], np.arange(50) / 7)
        assert source.ids.compute(scheduler="sync").tolist() == ["x" * (k % 7) for k in range(50)]


@pytest.mark.parametrize(("write", "ending"), [(write_parquet, ".parquet"), (write_csv, ".csv")])
def test_parts_of_one_table_have_the_same_columns(run, data, write, ending):
    frame = frame_of(data)
    write(frame.iloc[:120], f"part-0{ending}")
    write(frame.iloc[120:].assign(weight=1.0), f"part-1{ending}")
    code, _, err = run("fit", "--data", f"part-*{ending}", "--label", "y", "--model", "m.safetensors")
    assert code == 2 and f"part-1{ending}" in err and 'has another column: "weight"' in err
    # A model knows its variables.
    write(frame.iloc[120:], f"good-0{ending}")
    assert run("fit", "--data", f"good-*{ending}", "--label", "y", "--model", "m.safetensors")[0] == 0
    out = f"out{ending}.csv"
    code, _, err = run("predict", "--data", f"part-*{ending}", "--label", "y", "--model", "m.safetensors", "--out", out)
    assert code == 0, err
    assert len(pd.read_csv(out)) == len(frame)
    if ending == ".csv":
        Path("part-1.csv").write_text((Path("part-1.csv").read_text()).replace("weight", "pixel 3", 1))
        code, _, err = run("fit", "--data", "part-*.csv", "--label", "y", "--model", "n.safetensors")
        assert code == 2 and "appears more than once" in err


def test_a_whole_number_that_would_be_rounded_is_refused(run, data):
    frame = frame_of(data).astype({"pixel 1": np.int64})
    frame.loc[200, "pixel 1"] = 2**53 + 1
    write_csv(frame, "d.csv")
    write_parquet(frame, "d.parquet")
    mixed = frame.astype({"pixel 1": object})
    mixed.loc[0, "pixel 1"] = 0.5
    write_csv(mixed, "mixed.csv")
    for file in ("d.csv", "d.parquet", "mixed.csv"):
        code, _, err = run("fit", "--data", file, "--label", "y", "--model", "m.safetensors")
        assert code == 2 and 'column "pixel 1" holds the whole number 9007199254740993 beyond 2^53' in err, err


def test_the_usual_column_of_labels_can_name_the_samples(run, data):
    frame = frame_of(data)
    frame.insert(0, "label", [f"s{k}" for k in range(len(frame))])
    write_csv(frame, "d.csv")
    assert run("fit", "--data", "d.csv", "--id", "label", "--label", "y", "--model", "m.safetensors")[0] == 0
    names = ["--id", "label", "--drop", "y", "--model", "m.safetensors"]
    code, _, err = run("predict", "--data", "d.csv", *names, "--out", "o.csv")
    assert code == 0, err
    assert pd.read_csv("o.csv", index_col=0).index[7] == "s7"
