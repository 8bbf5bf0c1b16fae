"""Text tables: comma- and tab-separated files, also compressed by gzip.

A file is cut at lines near multiples of a block size. Every block is parsed once. Its numbers stay with the workers,
who write to disk what does not fit in memory: parsing text costs far more than reading it back.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
from dask.base import compute, persist, tokenize
from dask.delayed import delayed
from numpy.typing import NDArray
from packaging.version import Version

from menet.dask.command import _classes
from menet.dask.command._columns import EXACT, ColumnOptions, check_alike, roles, text_column, whole_number
from menet.dask.command._errors import CommandError
from menet.dask.command._source import Source, in_chunks, rows_of_chunk

# Bytes of the beginning of a file that say what its columns hold.
SAMPLE = 1 << 18

# With at least this many increasing or decreasing numbers, a first line is taken for names such as wavelengths.
SCALE = 8

# The number nearest to the digits, as the command reads it. pandas does so by itself since 3.1, and warns if asked.
NEAREST: dict[str, Any] = {} if Version(pd.__version__) >= Version("3.1") else {"float_precision": "round_trip"}


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    delimiter: str
    decimal: str = "."
    # Whether the first line holds names: True, False, or None if the line itself says it.
    header: bool | None = None


def read(name: str, files: list[Path], wanted: ColumnOptions, rows: int | None, dialect: Dialect) -> Source:
    """Return the samples of text files, one file after the other."""
    first, notices = _header(files[0], dialect)
    sample = _sample(files[0], first, dialect)
    found = roles(name, first, wanted, index=[], is_text=lambda column: _text_in(sample[column], dialect) is not None)
    for column in found.variables:
        if (text := _text_in(sample[column], dialect)) is not None:
            raise CommandError(text_column(str(files[0]), column, text))
    chosen = {role: column for role, column in (("labels", found.label), ("ids", found.id)) if column is not None}
    target = rows_of_chunk(len(found.variables), np.dtype(np.float64), rows)
    block = max(1, math.ceil(target * _bytes_per_row(files[0], len(sample), dialect)))
    parts: list[tuple[Any, ...]] = []
    for file in files:
        own = first if file == files[0] else _header(file, dialect)[0]
        if own != first:
            check_alike(str(file), own, str(files[0]), first, found, wanted)
        # By place, which is short: the names can be many.
        at = {column: k for k, column in enumerate(own)}
        places = [at[column] for column in found.variables]
        ranges = _ranges(places)
        texts = tuple((role, at[column]) for role, column in chosen.items())
        parts.extend((str(file), *cut, ranges, texts, dialect) for cut in _cuts(file, dialect, block))
    arrays = _arrays(parts, len(found.variables), list(chosen))
    samples, *others = persist(*arrays)
    lengths = compute(*(delayed(len)(part) for part in samples.to_delayed().ravel()))
    if not sum(lengths):
        raise CommandError(f"{name}: there are no samples after the header; give a file with rows")
    whole = [_known(array, lengths, target) for array in (samples, *others)]
    named = found.variables if dialect.header is not False else None
    source = Source(name, whole[0], named, id_name=found.id_name, notices=[*notices, *found.notices])
    for role, array in zip(chosen, whole[1:], strict=True):
        setattr(source, role, array)
    return source


def _arrays(parts: list[tuple[Any, ...]], columns: int, roles: list[str]) -> list[da.Array]:
    """Return the samples, then the texts of every role. All come from one parse of a block."""
    lengths = [math.nan] * len(parts)
    parsed = f"parse-text-{tokenize(parts)}"
    blocks = {(parsed, k): (_parse, *part) for k, part in enumerate(parts)}
    out = []
    for role in ("numbers", *roles):
        of_block = [((parsed, k), role) for k in range(len(parts))]
        array = in_chunks(
            f"{role}-of-{parsed}",
            _taken,
            of_block,
            lengths,
            dtype=np.float64 if role == "numbers" else object,
            columns=columns if role == "numbers" else None,
        )
        graph = {**dict(array.dask), **blocks}
        out.append(da.Array(graph, array.name, array.chunks, dtype=array.dtype))
    return out


def _taken(block: dict[str, Any], role: str) -> Any:
    return block[role]


def _known(array: da.Array, lengths: tuple[int, ...], rows: int) -> da.Array:
    """Return an array with the lengths of its chunks, without empty ones, and with large ones cut."""
    array._chunks = (tuple(lengths), *array.chunks[1:])
    if not all(lengths):
        array = array.blocks[[k for k, length in enumerate(lengths) if length]]
    # A compressed file is one block, however long.
    return array.rechunk({0: rows}) if max(lengths) > 2 * rows else array


def _open(file: str | Path) -> Any:
    return gzip.open(file, "rb") if str(file).lower().endswith(".gz") else open(file, "rb")


def _beginning(file: Path, size: int = SAMPLE) -> tuple[bytes, list[bytes]]:
    """Return the first line of a file, and lines after it."""
    try:
        with _open(file) as opened:
            first = opened.readline().removeprefix(b"\xef\xbb\xbf")
            return first, opened.readlines(size)
    except (gzip.BadGzipFile, EOFError) as e:
        raise CommandError(f"{file}: this is not a whole gzip file ({e}); compress it again") from None


def _fields(file: Path, line: bytes, dialect: Dialect) -> list[str]:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise CommandError(f"{file}: the first line is not UTF-8; convert the file (iconv -t UTF-8)") from None
    rows = list(csv.reader([text], delimiter=dialect.delimiter))
    return [field.strip() for field in rows[0]] if rows else []


def _header(file: Path, dialect: Dialect) -> tuple[list[str], list[str]]:
    """Return the names of the columns, or their numbers from 1, and notices."""
    line, _ = _beginning(file, 1)
    fields = _fields(file, line, dialect)
    if not fields:
        raise CommandError(f"{file}: the file is empty; give a file with a header and samples")
    if dialect.header is False:
        return [str(k + 1) for k in range(len(fields))], []
    return fields, [] if dialect.header else _doubts(file, fields, dialect)


def _doubts(file: Path, names: list[str], dialect: Dialect) -> list[str]:
    """Refuse a first line that looks like a sample; return a notice if it may be one."""
    numbers = [value for value in (_number(name, dialect) for name in names) if value is not None]
    # Whole numbers are often names; other numbers rarely are.
    fractions = any(value != math.floor(value) for value in numbers)
    if not numbers or (2 * len(numbers) < len(names) and not fractions):
        return []
    shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    steps = list(pairwise(numbers))
    counted = numbers[0] in (0.0, 1.0) and all(b == a + 1 for a, b in steps)
    scale = len(numbers) >= SCALE and (all(a < b for a, b in steps) or all(a > b for a, b in steps))
    if counted or scale:
        return [f"the first line ({shown}) is read as the names of the columns; if it is a sample, give --no-header"]
    label = max((k for k, name in enumerate(names) if _number(name, dialect) is None), default=len(names) - 1) + 1
    raise CommandError(
        f"{file}: the first line ({shown}) looks like a sample, not like a header: {len(numbers)} of its {len(names)} "
        f"fields are numbers; give --no-header if there is no header (columns are then named by number, as in --label "
        f"{label}), or --header if these are names"
    )


def _number(text: str, dialect: Dialect) -> float | None:
    try:
        value = float(text.replace(dialect.decimal, ".") if dialect.decimal != "." else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _sample(file: Path, names: list[str], dialect: Dialect) -> pd.DataFrame:
    """Return the first lines as text, to see what the columns hold."""
    first, lines = _beginning(file)
    if dialect.header is False:
        lines.insert(0, first)
    try:
        return _frame(b"".join(lines), len(names), dialect, dtype=str).set_axis(names, axis=1)
    except _TextError as e:
        raise CommandError(f"{file}: {e}") from None


def _text_in(column: pd.Series, dialect: Dialect) -> str | None:
    """Return the first value that is not a number."""
    for text in column.dropna():
        value = text.strip()
        if value not in _classes.MISSING and _number(value, dialect) is None and value.lower().lstrip("+-") != "inf":
            return str(text)
    return None


def _bytes_per_row(file: Path, rows: int, dialect: Dialect) -> float:
    _, lines = _beginning(file)
    return sum(map(len, lines)) / max(rows, 1) or 1.0


def _cuts(file: Path, dialect: Dialect, block: int) -> list[tuple[int, int | None]]:
    """Return where blocks begin and end; None is the end of a compressed file, whose length is not known."""
    with open(file, "rb") as opened:
        start = 0 if dialect.header is False else len(opened.readline())
    if str(file).lower().endswith(".gz"):
        return [(0 if dialect.header is False else 1, None)]
    size = file.stat().st_size
    count = max(1, round((size - start) / block))
    ends = [start + (size - start) * k // count for k in range(count + 1)]
    return list(pairwise(ends))


def _ranges(places: list[int]) -> tuple[tuple[int, int], ...]:
    """Return places as ranges: nearly always a few, so that the graph stays small."""
    out: list[tuple[int, int]] = []
    for place in places:
        if out and out[-1][1] == place:
            out[-1] = (out[-1][0], place + 1)
        else:
            out.append((place, place + 1))
    return tuple(out)


def _lines(file: str, start: int, stop: int | None) -> bytes:
    """Read the lines that begin in a block. Of a compressed file all lines, without the header if `start` is 1."""
    with _open(file) as opened:
        if stop is None:
            if start:
                opened.readline()
            return bytes(opened.read())
        ends = []
        for end in (start, stop):
            if end:
                # The end of the line to which the byte before belongs.
                opened.seek(end - 1)
                opened.readline()
            ends.append(opened.tell() if end else 0)
        opened.seek(ends[0])
        return bytes(opened.read(ends[1] - ends[0]))


def _parse(
    file: str,
    start: int,
    stop: int | None,
    ranges: tuple[tuple[int, int], ...],
    texts: tuple[tuple[str, int], ...],
    dialect: Dialect,
) -> dict[str, NDArray[Any]]:
    """Parse a block: its numbers, and the texts of every role."""
    with _open(file) as opened:
        names = _fields(Path(file), opened.readline().removeprefix(b"\xef\xbb\xbf"), dialect)
    lines = _lines(file, start, stop)
    places = [place for low, high in ranges for place in range(low, high)]
    kinds = {**dict.fromkeys(range(len(names)), str), **dict.fromkeys(places, np.float64)}
    try:
        frame = _frame(lines, len(names), dialect, dtype=kinds)
    except _TextError as e:
        raise ValueError(f"{file}: {_found(file, start, lines, names, places, dialect) or e}") from None
    values = np.ascontiguousarray(frame[places].to_numpy(np.float64))
    beyond = np.flatnonzero((np.abs(values) >= EXACT).any(axis=0))
    if beyond.size and (column := _rounded(lines, len(names), [places[k] for k in beyond], dialect)) is not None:
        name = str(column + 1) if dialect.header is False else names[column]
        raise ValueError(whole_number(file, name))
    out: dict[str, NDArray[Any]] = {"numbers": values}
    for role, place in texts:
        column = frame[place].to_numpy(object, na_value="")
        out[role] = _classes.texts(column) if role == "labels" else column
    return out


def _rounded(lines: bytes, columns: int, places: list[int], dialect: Dialect) -> int | None:
    """Return the place of the first column with a whole number that double precision does not hold."""
    frame = _frame(lines, columns, dialect, dtype=str)
    for place in places:
        digits = (text.strip() for text in frame[place].dropna())
        if any(text.lstrip("+-").isdecimal() and int(text) != int(float(text)) for text in digits):
            return place
    return None


class _TextError(Exception):
    """The text is not a table of numbers."""


def _frame(lines: bytes, columns: int, dialect: Dialect, *, dtype: Any) -> pd.DataFrame:
    if lines.count(b'"') % 2:
        raise _TextError('a quoted field spans lines, or a " is not closed; write every sample on one line')
    if not lines.strip():
        return pd.DataFrame(
            {k: pd.Series(dtype=dtype[k] if isinstance(dtype, dict) else dtype) for k in range(columns)}
        )
    try:
        with warnings.catch_warnings():
            # pandas would cut lines that are too long, with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.BytesIO(lines),
                sep=dialect.delimiter,
                decimal=dialect.decimal,
                header=None,
                names=range(columns),
                index_col=False,
                dtype=dtype,
                na_values=_classes.MISSING,
                keep_default_na=False,
                **NEAREST,
                encoding="utf-8",
            )
    except UnicodeDecodeError as e:
        raise _TextError(f"the text is not UTF-8 ({e.reason}); convert the file (iconv -t UTF-8)") from None
    except (ValueError, pd.errors.ParserError, pd.errors.ParserWarning) as e:
        raise _TextError(f"{str(e).strip()}; every line must have {columns} fields") from None


def _found(file: str, start: int, lines: bytes, names: list[str], places: list[int], dialect: Dialect) -> str | None:
    """Return which field is not a number, and on which line. Only called after a failure, so it may be slow."""
    try:
        frame = _frame(lines, len(names), dialect, dtype=str)
    except _TextError:
        return None
    for place in places:
        if (text := _text_in(frame[place], dialect)) is not None:
            row = int(np.flatnonzero(frame[place] == text)[0])
            before = 0 if start <= 1 else _lines(file, 0, start).count(b"\n")
            if start == 1:
                before = 1
            name = str(place + 1) if dialect.header is False else names[place]
            return text_column(file, name, text, f"line {before + row + 1}, ").removeprefix(f"{file}: ")
    return None
