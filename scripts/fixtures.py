"""Makes crates/menet-io/tests/data: one small data set in every format that another program writes.

And files with every type of column.

    python -m venv env && env/bin/pip install numpy pandas pyarrow scipy
    env/bin/python scripts/fixtures.py crates/menet-io/tests/data

The numbers are those of `sample()` in crates/menet-io/tests/common/mod.rs.
"""

import datetime
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse

out = Path(sys.argv[1])
x = np.array([[(i * 7 + j * j * 3 + (i % 12) * (j + 1)) % 23 for j in range(5)] for i in range(36)])
y = np.array([i % 12 + 1 for i in range(36)])

np.savez_compressed(out / "sample.npz", X=x.astype(np.float32), y=y)
np.savez(out / "sample-fortran.npz", X=np.asfortranarray(x.astype(np.float64)), y=y.astype(np.uint8))
np.save(out / "sample.npy", x.astype(np.int16))
scipy.io.savemat(
    out / "sample.mat", {"fea": x.astype(np.uint8), "gnd": y[:, None].astype(np.float64)}, do_compression=True
)
scipy.io.savemat(out / "sample-plain.mat", {"note": "text is passed over", "X": x.astype(np.float32), "Y": y[:, None]})
columns = {
    "a": x[:, 0].astype(np.float64),
    "b": x[:, 1].astype(np.int64),
    "label": y,
    "c": x[:, 2].astype(np.float32),
    "d": x[:, 3].astype(np.int32),
    "e": x[:, 4].astype(np.float64),
}
for codec in ["snappy", "zstd", "gzip"]:
    pq.write_table(pa.table(columns), out / f"sample-{codec}.parquet", compression=codec)
# With a checksum per page, which readers may check.
pq.write_table(pa.table(columns), out / "sample-checksum.parquet", compression="zstd", write_page_checksum=True)
for codec in ["uncompressed", "lz4", "zstd"]:
    pyarrow.feather.write_feather(pa.table(columns), out / f"sample-{codec}.feather", compression=codec)
with pa.ipc.new_stream(out / "sample.arrows", pa.table(columns).schema) as stream:
    stream.write_table(pa.table(columns), max_chunksize=10)

# Sparse samples, and labels as text: rows of characters, and cells.
names = np.array([f"class {label}" for label in y])
scipy.io.savemat(
    out / "sparse.mat", {"X": scipy.sparse.csc_matrix(x.astype(np.float64)), "y": names}, do_compression=True
)
scipy.io.savemat(out / "cells.mat", {"X": x, "y": np.array([str(name) for name in names], dtype=object)[:, None]})
scipy.io.savemat(out / "integers.mat", {"X": x, "y": (y + 2**53).astype(np.int64)[:, None]})

# Every type of column, three rows each.
day = datetime.date(2026, 1, 1)
types = {
    "i8": pa.array([-128, 0, 127], pa.int8()),
    "i16": pa.array([-32768, 0, 32767], pa.int16()),
    "i32": pa.array([-(2**31), 0, 2**31 - 1], pa.int32()),
    "i64": pa.array([-(2**53), 0, 2**53], pa.int64()),
    "u8": pa.array([0, 1, 255], pa.uint8()),
    "u16": pa.array([0, 1, 65535], pa.uint16()),
    "u32": pa.array([0, 1, 4294967295], pa.uint32()),
    "u64": pa.array([0, 1, 2**53], pa.uint64()),
    "f16": pa.array(np.array([0.5, -1.0, 65504.0], np.float16)),
    "f32": pa.array([0.5, None, -1.0], pa.float32()),
    "f64": pa.array([0.1, -1e300, None], pa.float64()),
    "decimal": pa.array([Decimal("0.10"), Decimal("-12345678901.25"), None], pa.decimal128(20, 2)),
    "bool": pa.array([True, False, None], pa.bool_()),
    "category": pa.array([7, 8, 7]).dictionary_encode(),
}
labels = {
    "text": pa.array(["a", None, " b "]),
    "truth": pa.array([True, False, None]),
    "large": pa.array([2**63, 2**63 + 1, 2**63 + 1], pa.uint64()),
    "float": pa.array([1.0, 1.5, float("nan")]),
    "classes": pa.array(["x", "y", "x"]).dictionary_encode(),
}
refused = {
    "date": pa.array([day] * 3),
    "time": pa.array([datetime.datetime(2026, 1, 1)] * 3, pa.timestamp("us")),
    "list": pa.array([[1], [2], [3]]),
    "beyond": pa.array([2**53 + 1, 0, 0], pa.int64()),
    "infinite": pa.array([float("inf"), 0.0, 0.0]),
}
everything = pa.table(types | labels | refused)
pq.write_table(everything, out / "types.parquet")
pyarrow.feather.write_feather(everything.drop_columns("f16"), out / "types.feather")

# What pandas writes beside the data: an index without a name, and one with.
frame = pd.DataFrame({"a": [0.5, 1.5, 2.5], "label": ["x", "y", "x"]}, index=[3, 1, 2])
frame.to_parquet(out / "index.parquet")
frame.set_index(pd.Index(["s1", "s2", "s3"], name="sample")).to_parquet(out / "named-index.parquet")
