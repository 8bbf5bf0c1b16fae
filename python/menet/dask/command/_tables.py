"""CSV and Parquet files, as pyarrow reads them: blocks of lines, and row groups."""

from __future__ import annotations

import io
import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from dask.bytes import read_bytes
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray
from pyarrow import dataset

from menet import _core
from menet._exact import EXACT
from menet.dask.command._errors import CommandError, listed

# Text that is parsed at once has about this many bytes, and so has a chunk of samples.
CHUNK = 32_000_000

# Truth values in text are no numbers, as for `menet`.
CONVERT: dict[str, Any] = {"null_values": _core.missing_texts(), "true_values": [], "false_values": []}


class Roles(NamedTuple):
    """Which columns hold the labels, the names of the samples, and the variables."""

    label: str | None
    id: str | None
    id_name: str
    variables: list[str]
    notices: list[str]
    # Whether single precision holds all values.
    single: bool = False


def is_csv(file: Path) -> bool:
    """Return whether a table is text."""
    return not file.name.lower().endswith(".parquet")


def roles(files: list[Path], args: Namespace, needed: list[str] | None) -> Roles:
    """Return the role of every column, as ``menet`` decides it. Files that are not of one table are refused."""
    schemas = [_schema(file) for file in files]
    found = [_roles(file, schema, args, needed) for file, schema in zip(files, schemas, strict=True)]
    first = found[0]._replace(variables=needed or found[0].variables)
    wanted, single = _columns(first), True
    for file, schema, own in zip(files, schemas, found, strict=True):
        columns = _columns(own)
        other = "the model needs" if needed else f"{files[0]} has"
        if names := sorted(wanted ^ columns):
            problem = f"lacks a column that {other}" if wanted - columns else "has another column"
            raise CommandError(f"{file}: it {problem}: {listed(names)}; give files of one table")
        for name in first.variables:
            kind, shown = schema.field(name).type, listed([name])
            if not _is_number(kind):
                raise CommandError(
                    f"{file}: column {shown} is of type {kind}, but variables are numbers; leave it out with --drop "
                    f"{shown}, or say what it is with --label {shown} (the classes) or --id {shown} (names of samples)"
                )
            single = single and (pa.types.is_float32(kind) or pa.types.is_float16(kind))
    return first._replace(single=single)


def _columns(found: Roles) -> set[str]:
    return {name for name in (found.label, found.id, *found.variables) if name is not None}


def _schema(file: Path) -> pa.Schema:
    """Return the names and types of all columns, as a footer or the first lines say."""
    try:
        if not is_csv(file):
            return pq.read_schema(file)
        how = pacsv.ReadOptions(block_size=1 << 22), None, pacsv.ConvertOptions(**CONVERT)
        with pacsv.open_csv(file, *how) as opened:
            return pa.schema([column.with_name(column.name.strip()) for column in opened.schema])
    except (pa.ArrowInvalid, UnicodeDecodeError) as e:
        problem = f"this is not a whole table of Parquet or of UTF-8 text ({e}); write it again"
        raise CommandError(f"{file}: {problem}") from None


def _roles(file: Path, schema: pa.Schema, args: Namespace, needed: list[str] | None) -> Roles:
    index = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]
    texts = [not _is_number(kind) for kind in schema.types]
    how = (index, texts, is_csv(file), args.label, args.id, args.drop, needed)
    return Roles(*_core.column_roles(file, schema.names, *how))


def pieces(file: Path, found: Roles) -> Iterator[Delayed]:
    """Give the pieces of a file as tables. A compressed file of text is one piece."""
    texts = [name for name in (found.label, found.id) if name is not None]
    columns = delayed((_schema(file).names, found.variables, texts), traverse=False)
    if not is_csv(file):
        [fragment] = dataset.dataset(str(file), format="parquet").get_fragments()
        yield from (delayed(_row_group)(part, columns) for part in fragment.split_by_row_group())
        return
    packed = file.name.lower().endswith(".gz")
    how = {"blocksize": None, "compression": "gzip"} if packed else {"blocksize": CHUNK}
    _, [blocks] = read_bytes([str(file)], delimiter=b"\n", sample=False, **how)
    yield from (delayed(_lines)(str(file), block, k == 0, columns) for k, block in enumerate(blocks))


def _row_group(part: Any, columns: tuple[list[str], list[str], list[str]]) -> pa.Table:
    _, variables, texts = columns
    return part.to_table(columns=[*variables, *texts], use_threads=False)


def _lines(file: str, lines: bytes, first: bool, columns: tuple[list[str], list[str], list[str]]) -> pa.Table:
    """Return lines of text as a table. The first one holds the names of the columns."""
    names, variables, texts = columns
    lines = lines.partition(b"\n")[2] if first else lines
    kinds = {**dict.fromkeys(variables, pa.float64()), **dict.fromkeys(texts, pa.string())}
    table = _parsed(file, lines, names, kinds)
    for name in variables:
        # Whole numbers may have been rounded: only the text says so.
        if (pc.max(pc.abs(table.column(name))).as_py() or 0) >= EXACT:
            for text in _parsed(file, lines, names, {name: pa.string()}).column(name).to_pylist():
                if text.strip().lstrip("+-").isdecimal():
                    _refuse_rounded(file, name, int(text))
    return table


def _parsed(file: str, lines: bytes, names: list[str], kinds: dict[str, pa.DataType]) -> pa.Table:
    """Return the columns of lines of text that have a type."""
    if not lines.strip():
        return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
    if lines.count(b'"') % 2:
        raise ValueError(f'{file}: a quoted field spans lines, or a " is not closed; write every sample on one line')
    read = pacsv.ReadOptions(column_names=names, use_threads=False, block_size=min(len(lines) + 1, 1 << 30))
    convert = pacsv.ConvertOptions(include_columns=list(kinds), column_types=kinds, **CONVERT)
    try:
        return pacsv.read_csv(io.BytesIO(lines), read, convert_options=convert)
    except pa.ArrowInvalid as e:
        problem = re.sub(r"CSV column #(\d+)", lambda found: f"column {listed([names[int(found[1])]])}", str(e))
        hint = f"leave a column of text out with --drop, and write lines of {len(names)} fields in UTF-8"
        raise ValueError(f"{file}: {problem}; {hint}") from None


def numbers(table: pa.Table, file: str, variables: list[str], dtype: str) -> NDArray[Any]:
    """Return the variables of a piece as a matrix, NaN where values are missing."""
    out: NDArray[Any] = np.empty((table.num_rows, len(variables)), dtype)
    for k, name in enumerate(variables):
        column = _plain(table.column(name))
        if pa.types.is_integer(column.type):
            for end in pc.min_max(column).as_py().values():
                _refuse_rounded(file, name, end or 0)
        out[:, k] = column.cast(pa.float64()).to_numpy()
    return out


def texts(table: pa.Table, file: str, name: str, *, labels: bool) -> NDArray[np.object_]:
    """Return a column of texts, empty where they are missing; labels in the form that they have in all files."""
    column = _plain(table.column(name))
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not (is_text or _is_number(column.type)):
        problem = f"is of type {column.type}, but must be text, numbers or truth values; convert it"
        raise ValueError(f"{file}: column {listed([name])} {problem}")
    found = column.fill_null("").to_pylist() if is_text else column.to_pylist()
    return np.array(_core.label_texts(found) if labels or not is_text else found, dtype=object)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_number(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    known = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(is_of(kind) for is_of in known)


def _refuse_rounded(file: str, name: str, value: int) -> None:
    if abs(value) > EXACT:
        problem = f"holds the whole number {value} beyond 2^53, which would be rounded"
        raise ValueError(f"{file}: column {listed([name])} {problem}; use --drop, or --id if it names the samples")
