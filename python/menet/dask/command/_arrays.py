"""Arrays in files: npy stacks, npy files and zarr."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from menet.dask.command._errors import CommandError
from menet.dask.command._source import Source, in_chunks, rows_of_chunk, split


def read_npy(name: str, files: list[Path], rows: int | None) -> Source:
    """Return the rows of npy files, one file after the other."""
    headers = [_header(file) for file in files]
    columns, dtype = headers[0][0][1], np.result_type(*(dtype for _, dtype in headers))
    for file, (shape, _) in zip(files, headers, strict=True):
        if shape[1] != columns:
            raise CommandError(
                f"{file}: it has {shape[1]} columns, but {files[0]} has {columns}; all files must have the same columns"
            )
    dtype = _of_samples(name, dtype)
    wanted = rows_of_chunk(columns, dtype, rows)
    parts = [
        (str(file), start, stop, dtype.str)
        for file, (shape, _) in zip(files, headers, strict=True)
        for start, stop in split(shape[0], wanted)
    ]
    if not parts:
        raise CommandError(f"{name}: there are no samples, only {columns} columns; give a file with rows")
    lengths = [stop - start for _, start, stop, _ in parts]
    return Source(name, in_chunks("read-npy", _rows, parts, lengths, dtype=dtype, columns=columns))


def stack_files(folder: Path) -> list[Path]:
    """Return the files of a stack that ``dask.array.to_npy_stack`` wrote, in order."""
    try:
        with (folder / "info").open("rb") as file:
            info = _PlainUnpickler(file).load()
        count, axis = len(info["chunks"][info["axis"]]), info["axis"]
    except (pickle.UnpicklingError, EOFError, KeyError, IndexError, TypeError, AttributeError) as e:
        raise CommandError(f"{folder}: its file info is not one of an npy stack ({e}); write the stack again") from None
    if axis != 0:
        raise CommandError(
            f"{folder}: the stack is cut along axis {axis}, but must be cut along the samples; write it with "
            "dask.array.to_npy_stack(folder, x, axis=0)"
        )
    files = [folder / f"{k}.npy" for k in range(count)]
    if missing := next((file for file in files if not file.is_file()), None):
        raise CommandError(
            f"{missing}: there is no such file, but the stack {folder} has {count}; write the stack again"
        )
    return files


class _PlainUnpickler(pickle.Unpickler):
    """Reads the description of a stack: tuples, numbers and a type. A pickle of anything else could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        raise pickle.UnpicklingError(f"it names {module}.{name}")


def read_zarr(name: str, folder: Path, rows: int | None) -> Source:
    """Return the samples of a zarr array."""
    try:
        import zarr
    except ImportError:
        raise CommandError(f"{name}: reading zarr needs the package zarr; install it (pip install zarr)") from None
    try:
        array = zarr.open_array(str(folder), mode="r")
    except Exception as e:  # every version of zarr has its own errors
        raise CommandError(
            f"{name}: this is not a zarr array ({e}); give the folder of one array, not of a group"
        ) from None
    if array.ndim != 2:
        raise CommandError(f"{name}: the array has {array.ndim} dimensions, but must have 2: samples and variables")
    dtype = _of_samples(name, array.dtype)
    wanted = rows_of_chunk(array.shape[1], dtype, rows)
    # A chunk of ours is whole chunks of the file, so that none is read twice.
    step = array.chunks[0] * max(1, wanted // array.chunks[0])
    samples = da.from_zarr(str(folder), chunks=(step if rows is None else rows, array.shape[1]))
    if not samples.shape[0]:
        raise CommandError(f"{name}: there are no samples; give an array with rows")
    return Source(name, samples.astype(dtype))


def _of_samples(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which samples are computed: single precision stays, other numbers become double."""
    if dtype.kind not in "fiub":
        raise CommandError(
            f"{name}: the array is of type {dtype}, but must hold numbers; convert it to float64 or float32"
        )
    return np.dtype(np.float32 if dtype in (np.float32, np.float16) else np.float64)


def _header(file: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as e:
        # An empty array cannot be mapped.
        try:
            array = np.load(file, allow_pickle=False)
        except (ValueError, EOFError):
            why = "it holds objects, which could run code" if "allow_pickle" in str(e) or "object" in str(e) else str(e)
            raise CommandError(
                f"{file}: this is not an npy file of numbers: {why}; save it as float64 or float32"
            ) from None
    if array.ndim != 2:
        raise CommandError(
            f"{file}: the array has {array.ndim} dimensions, but must have 2: samples and variables; reshape it"
        )
    return array.shape, array.dtype


def _rows(file: str, start: int, stop: int, dtype: str) -> NDArray[Any]:
    """Read some rows. Mapped, so that only these are read; copied, so that a chunk is memory that Dask can count."""
    return np.array(np.load(file, mmap_mode="r", allow_pickle=False)[start:stop], dtype=dtype, order="C")
