"""The neighbours of all rows: every pair of chunks is searched, and the answers are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da

from menet import _core
from menet.dask import _tasks
from menet.dask._engine import Engine

if TYPE_CHECKING:
    from menet.dask._fit import Chunks, Moments

# Answers that one task merges.
TOGETHER = 8


def search(
    engine: Engine, chunks: Chunks, X: da.Array, settings: dict[str, Any], moments: Moments
) -> tuple[list[Any], float | None]:
    """Return the neighbours of every chunk's rows, and the recall of a search that is not exact."""
    groups = _core.neighbor_groups(settings)
    return exact(engine, chunks, X, groups, moments), None


def exact(engine: Engine, chunks: Chunks, X: da.Array, groups: list[tuple[str, int]], moments: Moments) -> list[Any]:
    """Search all pairs of chunks."""
    pieces = chunks.pieces(X)
    how = (groups, moments.mean, moments.rounding)
    found: list[list[Any]] = [[] for _ in pieces]
    for i, left in enumerate(pieces):
        found[i].append(engine.task("nearest", _tasks.nearest_within, *left, *how))
        for j, right in enumerate(pieces[:i]):
            pair = engine.task("nearest", _tasks.nearest_between, *left, *right, *how)
            found[i].append(engine.task("side", _tasks.side, pair, 0))
            found[j].append(engine.task("side", _tasks.side, pair, 1))
    return engine.keep([merged(engine, parts, groups) for parts in found])


def merged(engine: Engine, parts: list[Any], groups: list[tuple[str, int]]) -> Any:
    """Return the nearest of several answers about the same rows."""
    while len(parts) > 1:
        bundles = [parts[k : k + TOGETHER] for k in range(0, len(parts), TOGETHER)]
        parts = [
            bundle[0] if len(bundle) == 1 else engine.task("merge", _tasks.merge_nearest, groups, *bundle)
            for bundle in bundles
        ]
    return parts[0]
