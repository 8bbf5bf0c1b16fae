"""Makes crates/menet-io/tests/data: one small data set in every format that another program writes.

    python -m venv env && env/bin/pip install numpy scipy pyarrow
    env/bin/python scripts/fixtures.py crates/menet-io/tests/data

The numbers are those of `sample()` in crates/menet-io/tests/round_trip.rs.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io

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
