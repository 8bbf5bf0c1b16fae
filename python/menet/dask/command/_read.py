"""Files to Dask collections: one reader per format, chosen by the ending."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path

import dask.array as da
import numpy as np
from dask.utils import natural_sort_key

from menet.dask.command import _arrays, _classes
from menet.dask.command._columns import ColumnOptions
from menet.dask.command._errors import CommandError, quoted
from menet.dask.command._source import Source

# The delimiter of a text file by its ending.
TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
PARQUET = ".parquet"
NPY = ".npy"
ZARR = ".zarr"
ENDINGS = (PARQUET, *TEXT, *(f"{ending}.gz" for ending in TEXT), NPY, ZARR)

ALLOWED = f"give files that end in {' '.join(ENDINGS)}, a folder of such files, or an npy stack of Dask"


@dataclass(frozen=True)
class Options:
    """How data are read."""

    wanted: ColumnOptions
    # Rows per chunk; None: as many as make a chunk of the usual size.
    rows: int | None = None
    # A file with one label per sample.
    labels: Path | None = None
    # None: by the ending of the file.
    delimiter: str | None = None
    decimal: str = "."
    header: bool | None = None


def read(data: str, options: Options) -> Source:
    """Return the samples of the files that `data` names: a path, or a pattern such as ``part-*.parquet``."""
    ending, files = find(data)
    if ending in TEXT:
        from menet.dask.command import _text

        delimiter = options.delimiter or TEXT[ending]
        dialect = _text.Dialect(DELIMITERS.get(delimiter, delimiter), options.decimal, options.header)
        source = _text.read(data, files, options.wanted, options.rows, dialect)
    else:
        _refuse_text_options(data, options)
        if ending == PARQUET:
            from menet.dask.command import _parquet

            source = _parquet.read(data, files, options.wanted, options.rows)
        else:
            _refuse_column_options(data, options.wanted)
            reader = _arrays.read_npy if ending == NPY else _read_zarr
            source = reader(data, files, options.rows)
    if options.labels is not None:
        if source.labels is not None:
            source.notices.append(f"the labels come from {options.labels}, not from {data}")
        source.labels = _labels_of(options.labels, source)
    return source


def find(data: str) -> tuple[str, list[Path]]:
    """Return the format of data, by its ending, and its files in their order: part-2 comes before part-10."""
    path = Path(data)
    if path.is_dir():
        return _in_folder(path)
    # A path that exists is no pattern, whatever signs it has.
    found = [data] if path.exists() else glob.glob(data)
    if not found:
        pattern = any(sign in data for sign in "*?[")
        what = "no file matches this pattern" if pattern else "there is no such file or folder"
        raise CommandError(f"--data {data}: {what}; {ALLOWED}")
    files = [Path(name).absolute() for name in sorted(found, key=natural_sort_key)]
    endings = {_ending(file): file for file in reversed(files)}
    if None in endings:
        raise CommandError(f"--data {data}: the format of {endings[None]} is not known; {ALLOWED}")
    if len(endings) > 1:
        one, other = list(endings.values())[:2]
        raise CommandError(
            f"--data {data}: {one.name} and {other.name} have different formats; give files of one format"
        )
    ending = next(iter(endings))
    if ending == ZARR and len(files) > 1:
        raise CommandError(f"--data {data}: {len(files)} zarr arrays match, but only one can be read; name one")
    if folder := next((file for file in files if file.is_dir() and ending != ZARR), None):
        raise CommandError(f"--data {data}: {folder.name} is a folder, but must be a file; give a pattern of its files")
    assert ending is not None
    return ending, files


def _in_folder(folder: Path) -> tuple[str, list[Path]]:
    """Return what a folder holds: a zarr array, an npy stack, or files of one format."""
    folder = folder.absolute()
    if _ending(folder) == ZARR or any((folder / name).is_file() for name in ("zarr.json", ".zarray")):
        return ZARR, [folder]
    if (folder / "info").is_file() and (folder / "0.npy").is_file():
        return NPY, _arrays.stack_files(folder)
    names = [str(file) for file in folder.iterdir() if file.is_file() and not file.name.startswith((".", "_"))]
    files = [Path(name) for name in sorted(names, key=natural_sort_key)]
    endings = {_ending(file) for file in files}
    if len(endings) != 1 or None in endings:
        what = "has no files" if not files else "has files of several formats or of none that is known"
        raise CommandError(f"--data {folder}: the folder {what}; {ALLOWED}")
    return str(endings.pop()), files


def _ending(file: Path) -> str | None:
    """Return the ending that says the format, without the one of the compression."""
    name = file.name.lower()
    found = next((ending for ending in ENDINGS if name.endswith(ending)), None)
    return None if found is None else found.removesuffix(".gz")


def _read_zarr(name: str, files: list[Path], rows: int | None) -> Source:
    return _arrays.read_zarr(name, files[0], rows)


def _refuse_text_options(data: str, options: Options) -> None:
    given = [
        option
        for option, set_ in (
            ("--delimiter", options.delimiter is not None),
            ("--decimal", options.decimal != "."),
            ("--header", options.header is True),
            ("--no-header", options.header is False),
        )
        if set_
    ]
    if given:
        raise CommandError(f"{given[0]}: this option is for text files, but --data is {data}; remove it")


def _refuse_column_options(data: str, wanted: ColumnOptions) -> None:
    given = [("--id", wanted.id), ("--drop", wanted.drop), ("--label", wanted.label != ColumnOptions.label)]
    if option := next((option for option, set_ in given if set_), None):
        hint = "give --labels FILE" if option == "--label" else "remove it"
        raise CommandError(f"{option}: an array has no columns with names, and --data is {data}; {hint}")


def _labels_of(file: Path, source: Source) -> da.Array:
    """Return the labels of an npy file, or of a text file with one label per line."""
    if not file.is_file():
        raise CommandError(
            f"--labels {file}: there is no such file; give an npy file, or a text file with one label per line"
        )
    if file.suffix.lower() == NPY:
        try:
            values = np.load(file, allow_pickle=False)
        except (ValueError, EOFError) as e:
            raise CommandError(f"--labels {file}: {e}; save the labels as text or numbers") from None
        if values.ndim != 1:
            raise CommandError(f"--labels {file}: the array has {values.ndim} dimensions, but must have 1; reshape it")
        labels = _classes.texts(values)
    else:
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise CommandError(f"--labels {file}: the text is not UTF-8; convert it (iconv -t UTF-8)") from None
        if several := next((line for line in lines if "," in line or "\t" in line), None):
            raise CommandError(f"--labels {file}: {quoted(several)} has several fields; give one label per line")
        labels = _classes.texts(np.array([line.strip('"') for line in lines], dtype=object))
    count = source.samples.shape[0]
    if len(labels) != count:
        hint = "; does the file have a header? remove it" if len(labels) == count + 1 else "; give one label per sample"
        raise CommandError(f"--labels {file}: {len(labels)} labels for {count} samples of {source.name}{hint}")
    out: da.Array = da.from_array(labels, chunks=(source.samples.chunks[0],))
    return out
