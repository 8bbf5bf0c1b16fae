"""Parquet files. Their footers say how many rows there are, so nothing is read before it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from menet.dask.command import _classes
from menet.dask.command._columns import EXACT, ColumnOptions, ColumnRoles, check_alike, roles, whole_number
from menet.dask.command._errors import CommandError, quoted
from menet.dask.command._source import CHUNK, Source, in_chunks, rows_of_chunk, split


def read(name: str, files: list[Path], wanted: ColumnOptions, rows: int | None) -> Source:
    """Return the samples of Parquet files, one file after the other."""
    footers = [_footer(file) for file in files]
    schema = footers[0][0]
    found = roles(
        name,
        schema.names,
        wanted,
        index=_index(schema),
        is_text=lambda column: not _is_number(schema.field(column).type),
    )
    for file, (own, _) in zip(files, footers, strict=True):
        if own.names != schema.names:
            check_alike(str(file), own.names, str(files[0]), schema.names, found, wanted)
        _check_schema(file, own, found)
    single = all(_is_single(own.field(column).type) for own, _ in footers for column in found.variables)
    dtype = np.dtype(np.float32 if single else np.float64)
    target = rows_of_chunk(len(found.variables), dtype, rows)
    places = [
        (str(file), *place)
        for file, (_, groups) in zip(files, footers, strict=True)
        for place in chunks_of(groups, target)
    ]
    if not places:
        raise CommandError(f"{name}: there are no samples; give a file with rows")
    lengths = [stop - start for *_, start, stop in places]
    left_out = tuple(column for column in schema.names if column not in set(found.variables))
    # The graph holds the names only where the order of the columns is not that of the file: they can be many.
    plain = {
        str(file): _variables(own, left_out) == found.variables for file, (own, _) in zip(files, footers, strict=True)
    }
    names = tuple(found.variables)
    parts = [(*place, left_out, None if plain[place[0]] else names, dtype.str) for place in places]
    source = Source(
        name,
        in_chunks("read-parquet", _numbers, parts, lengths, dtype=dtype, columns=len(found.variables)),
        found.variables,
        id_name=found.id_name,
        notices=[*found.notices, *_large_groups(name, footers, target)],
    )
    for role, column, read in (("labels", found.label, _labels), ("ids", found.id, _ids)):
        if column is not None:
            of_column = [(*place, column) for place in places]
            setattr(source, role, in_chunks(f"read-{role}", read, of_column, lengths, dtype=object))
    return source


def chunks_of(groups: list[int], rows: int) -> list[tuple[tuple[int, ...], int, int]]:
    """Return row groups, and which of their rows, for every chunk: small groups together, large ones in parts."""
    out: list[tuple[tuple[int, ...], int, int]] = []
    open_groups: list[int] = []
    length = 0
    for group, size in enumerate(groups):
        if open_groups and length + size > rows + rows // 2:
            out.append((tuple(open_groups), 0, length))
            open_groups, length = [], 0
        parts = split(size, rows)
        if len(parts) > 1:
            out.extend(((group,), start, stop) for start, stop in parts)
        elif size:
            open_groups.append(group)
            length += size
    if length:
        out.append((tuple(open_groups), 0, length))
    return out


def _footer(file: Path) -> tuple[pa.Schema, list[int]]:
    try:
        with pq.ParquetFile(file) as opened:
            meta = opened.metadata
            return opened.schema_arrow, [meta.row_group(k).num_rows for k in range(meta.num_row_groups)]
    except pa.ArrowInvalid as e:
        raise CommandError(
            f"{file}: this is not a whole Parquet file ({str(e).splitlines()[0]}); write it again"
        ) from None


def _index(schema: pa.Schema) -> list[str]:
    """Return the columns that pandas wrote as the index."""
    columns = (schema.pandas_metadata or {}).get("index_columns", [])
    return [column for column in columns if isinstance(column, str)]


def _variables(schema: pa.Schema, left_out: tuple[str, ...]) -> list[str]:
    return [column for column in schema.names if column not in left_out]


def _check_schema(file: Path, schema: pa.Schema, found: ColumnRoles) -> None:
    """Refuse a file whose variables are no numbers."""
    for column in found.variables:
        kind = schema.field(column).type
        if not _is_number(kind):
            shown = quoted(column)
            raise CommandError(
                f"{file}: column {shown} is of type {kind}, but variables are numbers; leave it out with --drop "
                f"{shown}, or say what it is with --label {shown} (the classes) or --id {shown} (names of the samples)"
            )


def _is_number(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_floating(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def _is_single(kind: pa.DataType) -> bool:
    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))


def _large_groups(name: str, footers: list[tuple[pa.Schema, list[int]]], rows: int) -> list[str]:
    """Tell that every part of a row group costs the decoding of all of it."""
    largest = max((size for _, groups in footers for size in groups), default=0)
    if largest <= 8 * rows:
        return []
    return [
        f"{name} has row groups of {largest} rows, a chunk {rows}: each chunk decodes a whole group; "
        f"files with row groups of about {rows} rows are read faster (pyarrow: row_group_size={rows})"
    ]


def _numbers(
    file: str,
    groups: tuple[int, ...],
    start: int,
    stop: int,
    left_out: tuple[str, ...],
    names: tuple[str, ...] | None,
    dtype: str,
) -> NDArray[Any]:
    """Read the variables of a chunk."""
    if names is None:
        names = tuple(_variables(pq.read_schema(file), left_out))
    out: NDArray[Any] = np.empty((stop - start, len(names)), dtype=dtype)
    with pq.ParquetFile(file) as opened:
        # A few columns at a time: a row group can be much longer than a chunk.
        size = sum(opened.metadata.row_group(group).num_rows for group in groups)
        step = max(1, CHUNK // (8 * size))
        for first in range(0, len(names), step):
            some = names[first : first + step]
            table = opened.read_row_groups(list(groups), columns=list(some), use_threads=False)
            for k, name in enumerate(some):
                out[:, first + k] = _column(file, name, table.column(name).slice(start, stop - start))
    return out


def _column(file: str, name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_integer(column.type) and column.type.bit_width == 64:
        values = column.drop_null().to_numpy()
        if values.size and max(int(values.max()), -int(values.min())) > EXACT:
            raise ValueError(whole_number(file, name))
    return np.asarray(column.to_numpy())


def _labels(file: str, groups: tuple[int, ...], start: int, stop: int, column: str) -> NDArray[np.object_]:
    return _classes.texts(_objects(file, groups, start, stop, column))


def _ids(file: str, groups: tuple[int, ...], start: int, stop: int, column: str) -> NDArray[np.object_]:
    values = _objects(file, groups, start, stop, column)
    out = np.empty(len(values), dtype=object)
    out[:] = [value if isinstance(value, str) else _classes.of_value(value) for value in values]
    return out


def _objects(file: str, groups: tuple[int, ...], start: int, stop: int, column: str) -> NDArray[np.object_]:
    """Read one column as Python's objects, so that whole numbers with gaps stay whole."""
    with pq.ParquetFile(file) as opened:
        table = opened.read_row_groups(list(groups), columns=[column], use_threads=False)
    values = table.column(column).slice(start, stop - start).to_pylist()
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
