"""What workers do in an approximate search for neighbours: rows are sent to buckets of near rows."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from menet import _core
from menet._input import Floats
from menet.dask._tasks import Lists, Numbers, codes_of, plain, threads

# Rows with their classes and their numbers.
Rows: TypeAlias = tuple[Any, Numbers, Numbers]
Groups: TypeAlias = list[tuple[str, int]]

# The bucket that every row belongs to, and those that it looks into.
Sent: TypeAlias = tuple[Numbers, NDArray[np.bool_]]


def at_places(x: Any, codes: NDArray[Any], start: int, places: Numbers) -> Rows:
    """Return some rows of a chunk."""
    return np.asarray(x)[places], codes_of(codes)[places], places.astype(np.int64) + start


def every(x: Any, codes: NDArray[Any], start: int, step: int) -> Rows:
    """Return the rows of a chunk whose number is a multiple of `step`."""
    return at_places(x, codes, start, np.arange(-start % step, len(x), step))


def in_bucket(x: Any, codes: NDArray[Any], start: int, sent: Sent, bucket: int) -> Rows:
    """Return the rows of a chunk that belong to a bucket."""
    return at_places(x, codes, start, np.flatnonzero(sent[0] == bucket))


def together(parts: list[Rows]) -> Rows:
    """Return the rows of several chunks."""
    x, codes, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return x, codes, numbers


def cells(sample: list[Rows], buckets: int, groups: Groups, mean: Floats, dropped: Numbers) -> tuple[Any, ...]:
    """Divide the space by a sample of rows."""
    x, codes, _ = together(sample)
    return _core.cells(plain(x), codes, buckets, groups, mean, dropped, threads())


def send(x: Any, divided: tuple[Any, ...], mean: Floats, dropped: Numbers) -> Sent:
    """Say where the rows of a chunk belong, and where they look for neighbours."""
    centres, bucket_of, probes = divided[:3]
    return _core.home_and_probes(plain(x), centres, bucket_of, probes, mean, dropped, threads())


def nearest_of(
    rows: Rows, x: Any, codes: NDArray[Any], start: int, groups: Groups, mean: Floats, dropped: Numbers
) -> Lists:
    """Search the neighbours of some rows in a chunk."""
    there = (plain(x), codes_of(codes), np.arange(start, start + len(x), dtype=np.int64))
    return _core.nearest_in(plain(rows[0]), *rows[1:], *there, groups, mean, dropped, threads())


def nearest_in_bucket(
    x: Any,
    codes: NDArray[Any],
    start: int,
    sent: Sent,
    bucket: int,
    there: Rows,
    groups: Groups,
    mean: Floats,
    dropped: Numbers,
) -> tuple[Numbers, int, Lists]:
    """Search the neighbours of the rows of a chunk that look into a bucket.

    The result has their places, the number of rows of the chunk, and the neighbours.
    """
    places = np.flatnonzero(sent[1][:, bucket])
    here = at_places(x, codes, start, places)
    near = _core.nearest_in(plain(here[0]), *here[1:], plain(there[0]), *there[1:], groups, mean, dropped, threads())
    return places, len(x), near


def merge_some(groups: Groups, parts: list[tuple[Numbers, int, Lists]]) -> Lists:
    """Keep the nearest of what several buckets have."""
    rows, width = parts[0][1], parts[0][2][0].shape[1]
    indices, squared = np.full((rows, width), -1, dtype=np.int64), np.full((rows, width), np.inf)
    for places, _, near in parts:
        own = (np.ascontiguousarray(indices[places]), np.ascontiguousarray(squared[places]))
        indices[places], squared[places] = _core.merge_nearest([own, near], groups, threads())
    return indices, squared


def short(near: Lists, codes: NDArray[Any], counts: list[int], groups: Groups) -> Numbers:
    """Return the places of rows that have fewer neighbours than there are."""
    own = np.array(counts)[codes_of(codes)]
    there = {"within": own - 1, "between": sum(counts) - own, "all": np.full(len(own), sum(counts) - 1)}
    lacks, first = np.zeros(len(own), dtype=bool), 0
    for name, k in groups:
        found = (near[0][:, first : first + k] >= 0).sum(axis=1)
        lacks |= found < np.minimum(k, there[name])
        first += k
    return np.flatnonzero(lacks)


def replaced(near: Lists, start: int, numbers: Numbers, true: Lists) -> Lists:
    """Return neighbours with those of some rows in the place of what was found."""
    (indices, squared), inside = (near[0].copy(), near[1].copy()), _inside(near, start, numbers)
    indices[numbers[inside] - start], squared[numbers[inside] - start] = true[0][inside], true[1][inside]
    return indices, squared


def recall(near: Lists, start: int, numbers: Numbers, true: Lists) -> tuple[float, float]:
    """Return how many of the true neighbours of some rows were found, and how many there are."""
    inside = _inside(near, start, numbers)
    found, wanted = near[0][numbers[inside] - start], true[0][inside]
    hits = (wanted[:, :, None] == found[:, None, :]).any(axis=2) & (wanted >= 0)
    return float(hits.sum()), float((wanted >= 0).sum())


def _inside(near: Lists, start: int, numbers: Numbers) -> NDArray[np.bool_]:
    """Return which rows are of the chunk that begins at `start`."""
    inside: NDArray[np.bool_] = (numbers >= start) & (numbers < start + len(near[0]))
    return inside
