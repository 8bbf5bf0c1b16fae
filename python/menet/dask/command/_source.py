"""Samples in chunks of rows, with what belongs to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
from dask.base import compute, tokenize
from dask.delayed import delayed

from menet.dask._input import DaskSamples
from menet.dask.command import _classes
from menet.dask.command._errors import CommandError

# A chunk of samples has about this many bytes.
CHUNK = 32_000_000


@dataclass
class Source:
    """What was read: lazy arrays whose chunk sizes are known."""

    # What the user named, for messages.
    name: str
    # One row per sample, one chunk of columns.
    samples: da.Array
    # The names of the variables; None if the format has none.
    variables: list[str] | None = None
    # One text per sample; an empty one is missing.
    labels: da.Array | None = None
    ids: da.Array | None = None
    id_name: str = "id"
    notices: list[str] = field(default_factory=list)

    def given(self) -> DaskSamples:
        """Return the samples for an estimator, with the names of the variables."""
        names = None if self.variables is None else np.array(self.variables, dtype=object)
        return DaskSamples(self.samples, names)

    def classes(self, where: str) -> da.Array:
        """Return the class of every sample: whole numbers if all labels are, else text.

        `where` says what to do if there are no labels.
        """
        if self.labels is None:
            raise CommandError(f"{self.name}: {where}")
        blocks = self.labels.to_delayed().ravel()
        found = compute(*(delayed(_classes.names_of)(block) for block in blocks))
        starts = np.cumsum([0, *self.labels.chunks[0]])
        for start, (_, missing) in zip(starts, found, strict=False):
            if missing is not None:
                raise CommandError(
                    f"{self.name}: the label of sample {start + missing + 1} (counted from 1) is missing; fill it "
                    "in, or leave the sample out"
                )
        dtype = _classes.dtype_of(sorted({name for names, _ in found for name in names}))
        classes: da.Array = da.map_blocks(_typed, self.labels, dtype.str, dtype=dtype)
        return classes


def _typed(labels: Any, dtype: str) -> Any:
    whole = np.dtype(dtype).kind == "i"
    return np.array([int(label) for label in labels.tolist()] if whole else labels.tolist(), dtype=dtype)


def rows_of_chunk(columns: int, dtype: np.dtype[Any], rows: int | None) -> int:
    """Return how many rows a chunk has: as asked for, or as many as make a chunk of the usual size."""
    return rows or max(1, CHUNK // (max(columns, 1) * dtype.itemsize))


def split(length: int, rows: int) -> list[tuple[int, int]]:
    """Return the ranges of chunks of `rows` rows. What is not much larger stays whole, so that no chunk is tiny."""
    if length <= rows + rows // 2:
        return [(0, length)] if length else []
    count = -(-length // rows)
    ends = [length * k // count for k in range(count + 1)]
    return list(pairwise(ends))


def in_chunks(
    name: str,
    read: Callable[..., Any],
    parts: Sequence[tuple[Any, ...]],
    lengths: Sequence[float],
    *,
    dtype: Any,
    columns: int | None = None,
) -> da.Array:
    """Return an array with one task per chunk, ``read(*part)``. Without `columns` it has one dimension."""
    key = f"{name}-{tokenize(name, parts, columns)}"
    tail = () if columns is None else (0,)
    tasks = {(key, k, *tail): (read, *part) for k, part in enumerate(parts)}
    chunks: tuple[tuple[float, ...], ...] = (tuple(lengths),) if columns is None else (tuple(lengths), (columns,))
    return da.Array(tasks, key, chunks, dtype=dtype)
