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
from dask_commands import ROWS, agree, frame_of, write_csv, write_parquet, write_parts

import menet
from menet.dask.command import _classes, _columns, _parquet, _read, _source, _text

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
        source = _read.read(str(tmp_path / name), _read.Options(_columns.ColumnOptions()))
        assert source.samples.dtype == np.float32 == source.samples.compute(scheduler="sync").dtype


def test_whole_numbers_truth_values_and_gaps_of_parquet(tmp_path):
    table = pa.table(
        {"a": [1, 2, None], "b": [True, False, True], "c": pa.array([1, 2, 3], pa.int8()), "id": [1, 2, 3]}
    )
    pq.write_table(table, tmp_path / "d.parquet")
    source = _read.read(str(tmp_path / "d.parquet"), _read.Options(_columns.ColumnOptions()))
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
    source = _read.read(str(tmp_path / "d.parquet"), _read.Options(_columns.ColumnOptions("y"), ROWS))
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


@pytest.mark.parametrize(("write", "ending"), [(write_parquet, ".parquet"), (write_csv, ".csv")])
def test_parts_of_one_table_have_the_same_columns(run, data, write, ending):
    frame = frame_of(data)
    write(frame.iloc[:120], f"part-0{ending}")
    write(frame.iloc[120:].assign(weight=1.0), f"part-1{ending}")
    code, _, err = run("fit", "--data", f"part-*{ending}", "--label", "y", "--model", "m.safetensors")
    assert code == 2 and f"part-1{ending}" in err and 'weight" is a column that' in err and "lacks" in err
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
    for file in ("d.csv", "d.parquet"):
        code, _, err = run("fit", "--data", file, "--label", "y", "--model", "m.safetensors")
        assert code == 2 and 'column "pixel 1" has whole numbers beyond 2^53' in err, err


def test_the_usual_column_of_labels_can_name_the_samples(run, data):
    frame = frame_of(data)
    frame.insert(0, "label", [f"s{k}" for k in range(len(frame))])
    write_csv(frame, "d.csv")
    assert run("fit", "--data", "d.csv", "--id", "label", "--label", "y", "--model", "m.safetensors")[0] == 0
    names = ["--id", "label", "--drop", "y", "--model", "m.safetensors"]
    code, _, err = run("predict", "--data", "d.csv", *names, "--out", "o.csv")
    assert code == 0, err
    assert pd.read_csv("o.csv", index_col=0).index[7] == "s7"
