"""Files to samples in chunks of rows, with their labels and names."""

from __future__ import annotations

import glob
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
from dask.base import compute, persist
from dask.delayed import delayed
from dask.utils import natural_sort_key
from numpy.typing import NDArray

from menet import _core
from menet._labels import from_names
from menet.dask._input import DaskSamples
from menet.dask.command import _tables
from menet.dask.command._errors import CommandError, listed

ENDINGS = (".parquet", ".csv", ".csv.gz", ".npy", ".zarr")


@dataclass
class Source:
    """What was read: lazy samples whose chunk sizes are known, labels, and lazy names of samples."""

    samples: da.Array
    # The names of the variables; None if the format has none.
    variables: list[str] | None = None
    # One text per sample; an empty one is missing.
    labels: NDArray[np.object_] | None = None
    ids: da.Array | None = None
    id_name: str = "id"
    notices: list[str] = field(default_factory=list)

    def given(self) -> DaskSamples:
        """Return the samples for an estimator, with the names of the variables."""
        return DaskSamples(self.samples, None if self.variables is None else np.array(self.variables, dtype=object))


def read(args: Namespace, needed: list[str] | None = None) -> Source:
    """Return the samples of the files that ``--data`` names; `needed` are the variables of a model with names."""
    ending, files = find(args.data)
    source = _of_tables(files, args, needed) if ending in (".parquet", ".csv") else _of_arrays(ending, files, args)
    if args.labels is not None:
        if source.labels is not None:
            source.notices.append(f"the labels come from {args.labels}, not from {args.data}")
        source.labels = _labels_of(args.labels, args.data, source.samples.shape[0])
    return source


def find(data: str) -> tuple[str, list[Path]]:
    """Return the format of data, by its ending, and its files in their order: part-2 comes before part-10."""
    path, allowed = Path(data), f"give files of one format ({' '.join(ENDINGS)}), or a folder of such files"
    if path.suffix == ".zarr" and path.is_dir():
        return ".zarr", [path.absolute()]
    if path.is_dir():
        # An npy stack of Dask has its files described in `info`, a pickle, which could run code: it is not read.
        names = [str(file) for file in path.iterdir() if not (file.name.startswith((".", "_")) or file.name == "info")]
    else:
        # A path that exists is no pattern, whatever signs it has.
        names = [data] if path.exists() else glob.glob(data)
    files = [Path(name).absolute() for name in sorted(names, key=natural_sort_key)]
    if not files:
        raise CommandError(f"--data {data}: there is no such file, and no file matches; {allowed}")
    endings = {next((known for known in ENDINGS if file.name.lower().endswith(known)), None) for file in files}
    if len(endings) > 1 or endings & {None, ".zarr"} or not all(file.is_file() for file in files):
        shown = listed([file.name for file in files])
        raise CommandError(f"--data {data}: {shown} are not files of one format that is read; {allowed}")
    return str(endings.pop()).removesuffix(".gz"), files


def classes(labels: NDArray[np.object_], source: str) -> NDArray[Any]:
    """Return the class of every sample: whole numbers if all labels are, else text."""
    if (missing := np.flatnonzero(labels == "")).size:
        problem = f"the label of sample {missing[0] + 1} (from 1) is missing; fill it in, or leave the sample out"
        raise CommandError(f"{source}: {problem}")
    codes, names = pd.factorize(labels)
    found = from_names(names.tolist(), None)
    every: NDArray[Any] = (found if found.dtype.kind == "i" else names.astype(str))[codes]
    return every


def _of_tables(files: list[Path], args: Namespace, needed: list[str] | None) -> Source:
    found = _tables.roles(files, args, needed)
    dtype = np.dtype(np.float32 if found.single else np.float64)
    variables = delayed(found.variables, traverse=False)
    values: list[Any] = []
    labels: list[Any] = []
    ids: list[Any] = []
    for file in files:
        for table in _tables.pieces(file, found):
            values.append(delayed(_tables.numbers)(table, str(file), variables, dtype.str))
            for texts, name in ((labels, found.label), (ids, found.id)):
                if name is not None:
                    texts.append(delayed(_tables.texts)(table, str(file), name, labels=texts is labels))
    # Files are read once. What does not fit in memory, workers keep on disk.
    values, labels, ids = persist(values, labels, ids)
    lengths = compute(*(delayed(len)(part) for part in values))
    if not sum(lengths):
        raise CommandError(f"{args.data}: there are no samples, only the names of columns; give a file with rows")
    samples = _joined(values, lengths, dtype, len(found.variables))
    rows = args.rows or max(1, _tables.CHUNK // (dtype.itemsize * len(found.variables)))
    if args.rows or not rows / 4 < np.mean(lengths) < 2 * rows:
        samples = samples.rechunk({0: rows})
    named = _joined(ids, lengths, np.dtype(object)).rechunk((samples.chunks[0],)) if ids else None
    known = np.concatenate(compute(*labels)) if labels else None
    return Source(samples, found.variables, known, named, found.id_name, found.notices)


def _joined(parts: list[Any], lengths: Sequence[int], dtype: np.dtype[Any], *columns: int) -> da.Array:
    known = zip(parts, lengths, strict=True)
    return da.concatenate([da.from_delayed(part, (length, *columns), dtype) for part, length in known if length])


def _of_arrays(ending: str, files: list[Path], args: Namespace) -> Source:
    for option, given in (("--id", args.id), ("--drop", args.drop), ("--label", args.label != "label")):
        if given:
            raise CommandError(
                f"{option}: an array has no columns with names; remove it, and give labels by --labels FILE"
            )
    try:
        samples = da.from_zarr(str(files[0])) if ending == ".zarr" else _npy(files, args.rows)
    except ImportError as e:
        raise CommandError(f"{args.data}: reading zarr needs the package zarr ({e}); pip install zarr") from None
    except Exception as e:  # every version of zarr has its own errors
        raise CommandError(
            f"{args.data}: this is not a table of numbers ({e}); save it as float64 or float32"
        ) from None
    if ending == ".zarr" and samples.ndim == 2:
        samples = samples.rechunk({0: args.rows or "auto", 1: -1})
    return Source(samples)


def _npy(files: list[Path], rows: int | None) -> da.Array:
    """Return the rows of npy files, one file after the other. Only headers are read here."""
    parts = []
    for file in files:
        array = np.load(file, mmap_mode="r")
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise ValueError(f"{file.name} has the shape {array.shape} and the type {array.dtype}")
        step = rows or max(1, _tables.CHUNK // max(array.itemsize * array.shape[1], 1))
        for start in range(0, len(array), step):
            part = (min(step, len(array) - start), array.shape[1])
            parts.append(da.from_delayed(delayed(_rows)(str(file), start, start + step), part, array.dtype))
    return da.concatenate(parts)


def _rows(file: str, start: int, stop: int) -> NDArray[Any]:
    """Read some rows. Mapped, so that only these are read; copied, so that a chunk is memory that Dask can count."""
    return np.array(np.load(file, mmap_mode="r")[start:stop])


def _labels_of(file: Path, data: str, count: int) -> NDArray[np.object_]:
    """Return the labels of an npy file, or of a text file with one label per line."""
    try:
        if file.suffix.lower() == ".npy":
            values = np.load(file).tolist()
        else:
            values = file.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
        labels = np.array(_core.label_texts(values), dtype=object)
    except (ValueError, TypeError, EOFError) as e:
        problem = f"these are not labels ({e}); give UTF-8 text with one label per line, or an npy file"
        raise CommandError(f"--labels {file}: {problem}") from None
    if len(labels) != count:
        problem = f"{len(labels)} labels for {count} samples of {data}; give one label per sample, without a header"
        raise CommandError(f"--labels {file}: {problem}")
    return labels
