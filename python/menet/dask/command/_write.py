"""Results to files, chunk by chunk. A target is written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from menet.dask.command._errors import CommandError

ENDINGS = (".csv", ".npy", ".parquet")
ALLOWED = "use .csv, .npy or .parquet for one file, or a name without an ending for a folder with one file per chunk"


@dataclass(frozen=True)
class Block:
    """The results of a chunk: texts and numbers, column by column, in the order of the header."""

    columns: list[NDArray[Any]]


@dataclass(frozen=True)
class Header:
    """What the columns of a result are called."""

    # Columns before the numbers that hold text.
    texts: list[str]
    numbers: list[str]
    # The lengths of the chunks, and the type of the numbers.
    lengths: list[int]
    dtype: np.dtype[Any]


def check_target(option: str, target: Path, inputs: Iterable[tuple[str, Path]], *, overwrite: bool) -> None:
    """Refuse a target that exists, that is an input, or that cannot be written. Called before any work."""
    for name, given in inputs:
        same = _place(target) == _place(given) or (given.exists() and target.exists() and given.samefile(target))
        if same or (given.is_dir() and given.resolve() in _place(target).parents):
            raise CommandError(
                f"{option} {target} would overwrite {name} {given}, or a part of it; give {option} another name"
            )
    if not target.absolute().parent.is_dir():
        raise CommandError(
            f"{option} {target}: there is no folder {target.absolute().parent}; make it, or name another"
        )
    if not os.access(target.absolute().parent, os.W_OK):
        raise CommandError(
            f"{option} {target}: the folder {target.absolute().parent} cannot be written to; name another", code=1
        )
    if target.exists() and not overwrite:
        raise CommandError(f"{option} {target}: this exists already; name another, or give --overwrite to replace it")


def check_ending(target: Path, *, texts: bool) -> str:
    """Return the ending of the target, empty for a folder."""
    ending = target.suffix.lower()
    if ending not in ("", *ENDINGS):
        raise CommandError(f"--out {target}: the ending {ending} is not known; {ALLOWED}")
    if texts and ending == ".npy":
        raise CommandError(f"--out {target}: .npy holds numbers, but labels are text; use .csv or .parquet")
    return ending


def write(target: Path, ending: str, header: Header, blocks: Iterator[Block], *, table: bool) -> None:
    """Write blocks. Of a folder, `table` says whether its files are Parquet files or an npy stack."""
    with _replacing(target) as draft:
        if ending == ".csv":
            _csv(draft, header, blocks)
        elif ending == ".npy":
            _npy(draft, header, blocks)
        elif ending == ".parquet":
            _parquet(draft, header, blocks)
        elif table:
            draft.mkdir()
            digits = len(str(len(header.lengths)))
            for k, block in enumerate(blocks):
                _parquet(draft / f"part-{k:0{digits}}.parquet", header, iter([block]))
        else:
            draft.mkdir()
            _stack(draft, header, blocks)


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Give a path beside the target to write to. It takes the target's place at the end, or nothing is left."""
    target = target.absolute()
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent))
    try:
        draft, old = folder / "new", folder / "old"
        yield draft
        if target.is_dir() or draft.is_dir():
            # A folder cannot take the place of another in one step: the old one goes back if the second step fails.
            if target.exists():
                target.rename(old)
            try:
                draft.rename(target)
            except BaseException:
                if old.exists():
                    old.rename(target)
                raise
        else:
            os.replace(draft, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _csv(file: Path, header: Header, blocks: Iterator[Block]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow([*header.texts, *header.numbers])
        for block in blocks:
            writer.writerows(zip(*(column.tolist() for column in _shortest(block)), strict=True))


def _shortest(block: Block) -> list[NDArray[Any]]:
    """Return the columns so that single precision is written with its own shortest digits."""
    return [column.astype(str) if column.dtype == np.float32 else column for column in block.columns]


def _numbers(block: Block, header: Header) -> NDArray[Any]:
    return np.column_stack(block.columns[len(header.texts) :]).astype(header.dtype, copy=False)


def _npy(file: Path, header: Header, blocks: Iterator[Block]) -> None:
    shape = (sum(header.lengths), len(header.numbers))
    with file.open("wb") as opened:
        described = {"descr": np.lib.format.dtype_to_descr(header.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(opened, described)
        for block in blocks:
            opened.write(np.ascontiguousarray(_numbers(block, header)).tobytes())


def _stack(folder: Path, header: Header, blocks: Iterator[Block]) -> None:
    """Write a stack that ``dask.array.from_npy_stack`` reads."""
    chunks = (tuple(header.lengths), (len(header.numbers),))
    with (folder / "info").open("wb") as opened:
        pickle.dump({"chunks": chunks, "dtype": header.dtype, "axis": 0}, opened)
    for k, block in enumerate(blocks):
        np.save(folder / f"{k}.npy", _numbers(block, header))


def _parquet(file: Path, header: Header, blocks: Iterator[Block]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = pa.from_numpy_dtype(header.dtype)
    schema = pa.schema([*((name, pa.string()) for name in header.texts), *((name, number) for name in header.numbers)])
    with pq.ParquetWriter(file, schema) as writer:
        for block in blocks:
            columns = [pa.array(column, type=kind) for column, kind in zip(block.columns, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _place(path: Path) -> Path:
    return path.resolve()
