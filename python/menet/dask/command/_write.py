"""Results to files, chunk by chunk. A target is written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from menet.dask.command._errors import CommandError


def check_target(option: str, target: Path, inputs: Iterable[tuple[str, Path]], *, overwrite: bool) -> None:
    """Refuse a target that exists, that is an input, or that cannot be written. Called before any work."""
    place, folder = target.resolve(), target.absolute().parent
    for name, given in inputs:
        same = place == given.resolve() or (target.exists() and given.samefile(target))
        if same or (given.is_dir() and given.resolve() in place.parents):
            raise CommandError(f"{option} {target} would overwrite {name} {given}, or a part of it; give another name")
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise CommandError(f"{option} {target}: there is no folder {folder} that can be written to; name another")
    if target.is_dir():
        raise CommandError(f"{option} {target}: no folder is replaced; remove it, or name another")
    if target.exists() and not overwrite:
        raise CommandError(f"{option} {target}: this exists already; name another, or give --overwrite to replace it")


def check_ending(target: Path, allowed: tuple[str, ...]) -> str:
    """Return the ending of the target, empty for a folder."""
    if (ending := target.suffix.lower()) not in ("", *allowed):
        problem = f"use {', '.join(allowed)} for one file, or no ending for a folder with Parquet files"
        raise CommandError(f"--out {target}: the ending {ending} is not known here; {problem}")
    return ending


def write(target: Path, ending: str, schema: pa.Schema, lengths: list[int], blocks: Iterator[list[Any]]) -> None:
    """Write blocks of columns: to one file, or to a folder with one Parquet file per block if there is no ending."""
    with _replacing(target) as draft:
        if ending == ".csv":
            _csv(draft, schema, blocks)
        elif ending == ".npy":
            dtype = np.dtype(schema.types[0].to_pandas_dtype())
            shape = (sum(lengths), len(schema))
            about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            with draft.open("wb") as file:
                np.lib.format.write_array_header_1_0(file, about)
                file.writelines(np.column_stack(block).tobytes() for block in blocks)
        elif ending == ".parquet":
            _parquet(draft, schema, blocks)
        else:
            draft.mkdir()
            for k, block in enumerate(blocks):
                _parquet(draft / f"part-{k:0{len(str(len(lengths)))}}.parquet", schema, [block])


def _csv(file: Path, schema: pa.Schema, blocks: Iterable[list[Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(schema.names)
        for block in blocks:
            # As text, single precision has its own shortest digits.
            columns = (column.astype(str) if column.dtype == np.float32 else column for column in block)
            writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def _parquet(file: Path, schema: pa.Schema, blocks: Iterable[list[Any]]) -> None:
    with pq.ParquetWriter(file, schema) as writer:
        for block in blocks:
            arrays = [pa.array(column, kind) for column, kind in zip(block, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Give a path beside the target to write to. It takes the target's place at the end, or nothing is left."""
    where = target.absolute().parent
    with tempfile.TemporaryDirectory(prefix=f".{target.name[:40]}.", dir=where, ignore_cleanup_errors=True) as folder:
        draft = Path(folder) / "new"
        yield draft
        os.replace(draft, target)
