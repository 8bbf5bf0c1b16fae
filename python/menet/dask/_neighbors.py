"""The neighbours of all rows: every pair of chunks is searched, or buckets of near rows, and the answers are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from menet import _core
from menet._settings import value_at
from menet.dask import _bucket_tasks, _tasks
from menet.dask._engine import Engine

if TYPE_CHECKING:
    from menet.dask._fit import Chunks, Moments

# Answers that one task merges.
TOGETHER = 8

# From so many rows on, an approximate search may pay.
MANY = 10_000

# Rows that cells are made from, at most, and those whose true neighbours are counted.
SAMPLED = 6_000
COUNTED = 100

# Buckets per chunk, and rows of the sample per bucket.
BUCKETS = 4
PER_BUCKET = 64

# An approximate search that compares a larger share of all pairs, or leaves more rows short, is no less work.
LARGEST_SHARE = 0.4
MOST_SHORT = 0.1


def search(
    engine: Engine, chunks: Chunks, X: da.Array, settings: dict[str, Any], moments: Moments
) -> tuple[list[Any], float | None]:
    """Return the neighbours of every chunk's rows, and the recall of a search that is not exact."""
    asked = Search(engine, chunks, X, _core.neighbor_groups(settings), moments)
    if value_at("patch.search", settings) == "exact":
        return asked.exact(), None
    found = asked.approximate() if X.shape[0] >= MANY else None
    return (asked.exact(), 1.0) if found is None else found


class Search:
    """What is searched: the chunks, and the groups of neighbours of every row."""

    def __init__(
        self, engine: Engine, chunks: Chunks, X: da.Array, groups: list[tuple[str, int]], moments: Moments
    ) -> None:
        self.engine, self.groups = engine, groups
        self.pieces, self.counts = chunks.pieces(X), moments.counts
        self.how = (groups, moments.mean, moments.rounding)

    def exact(self) -> list[Any]:
        """Search all pairs of chunks, each once for both sides."""
        engine = self.engine
        found = [[engine.task("nearest", _tasks.nearest_within, *piece, *self.how)] for piece in self.pieces]
        # What a chunk has itself: rows of others that are farther need not be looked at.
        known = [engine.task("known", _tasks.side, own, 1) for [own] in found]
        for i, left in enumerate(self.pieces):
            for j, right in enumerate(self.pieces[:i]):
                both = (*left, *right, *self.how, known[i], known[j])
                pair = engine.task("nearest", _tasks.nearest_between, *both)
                found[i].append(engine.task("side", _tasks.side, pair, 0))
                found[j].append(engine.task("side", _tasks.side, pair, 1))
        return engine.keep([self.merged(parts) for parts in found])

    def approximate(self) -> tuple[list[Any], float] | None:
        """Search only buckets in which neighbours are likely; None where that would be no less work."""
        engine, rows = self.engine, sum(self.counts)
        step = max(rows // SAMPLED, 1)
        sample = [engine.task("sample", _bucket_tasks.every, *piece, step) for piece in self.pieces]
        buckets = max(min(BUCKETS * len(self.pieces), rows // step // PER_BUCKET), 1)
        divided = engine.task("cells", _bucket_tasks.cells, sample, buckets, *self.how)
        [divided] = engine.keep([divided])
        if engine.get(engine.task("share", _tasks.side, divided, 3)) > LARGEST_SHARE:
            return None
        sent = [engine.task("send", _bucket_tasks.send, x, divided, *self.how[1:]) for x, _, _ in self.pieces]
        sent = engine.keep(sent)
        both = list(zip(self.pieces, sent, strict=True))
        found: list[list[Any]] = [[] for _ in self.pieces]
        for bucket in range(buckets):
            parts = [engine.task("take", _bucket_tasks.in_bucket, *piece, to, bucket) for piece, to in both]
            rows_of_bucket = engine.task("bucket", _bucket_tasks.together, parts)
            for i, (piece, to) in enumerate(both):
                near = engine.task(
                    "nearest", _bucket_tasks.nearest_in_bucket, *piece, to, bucket, rows_of_bucket, *self.how
                )
                found[i].append(near)
        lists = engine.keep([engine.task("merge", _bucket_tasks.merge_some, self.groups, parts) for parts in found])
        return self.completed(lists)

    def completed(self, lists: list[Any]) -> tuple[list[Any], float] | None:
        """Search among all rows for those that found too few, and count how many true neighbours were found."""
        engine = self.engine
        short = [
            engine.task("short", _bucket_tasks.short, near, codes, self.counts, self.groups)
            for near, (_, codes, _) in zip(lists, self.pieces, strict=True)
        ]
        places = engine.get_all(short)
        missing = sum(len(place) for place in places)
        if missing > MOST_SHORT * sum(self.counts):
            return None
        if missing:
            numbers, true = self.of_rows(places)
            lists = engine.keep(
                [
                    engine.task("replace", _bucket_tasks.replaced, near, start, numbers, true)
                    for near, (_, _, start) in zip(lists, self.pieces, strict=True)
                ]
            )
        every = max(sum(self.counts) // COUNTED, 1)
        ends = [*(start for _, _, start in self.pieces[1:]), sum(self.counts)]
        places = [
            np.arange(-start % every, end - start, every) for (_, _, start), end in zip(self.pieces, ends, strict=True)
        ]
        numbers, true = self.of_rows(places)
        counted = [
            engine.task("recall", _bucket_tasks.recall, near, start, numbers, true)
            for near, (_, _, start) in zip(lists, self.pieces, strict=True)
        ]
        hits, wanted = engine.get(engine.tree("recalls", counted, _tasks.add))
        return lists, hits / max(wanted, 1)

    def of_rows(self, places: list[Any]) -> tuple[Any, Any]:
        """Return the numbers of the rows at some places of every chunk, and their neighbours among all rows."""
        engine = self.engine
        parts = [
            engine.task("take", _bucket_tasks.at_places, *piece, place)
            for piece, place in zip(self.pieces, places, strict=True)
        ]
        taken = engine.task("taken", _bucket_tasks.together, parts)
        near = [engine.task("nearest", _bucket_tasks.nearest_of, taken, *piece, *self.how) for piece in self.pieces]
        return engine.task("numbers", _tasks.side, taken, 2), self.merged(near)

    def merged(self, parts: list[Any]) -> Any:
        """Return the nearest of several answers about the same rows."""
        while len(parts) > 1:
            bundles = [parts[k : k + TOGETHER] for k in range(0, len(parts), TOGETHER)]
            parts = [
                bundle[0] if len(bundle) == 1 else self.engine.task("merge", _tasks.merge_nearest, self.groups, bundle)
                for bundle in bundles
            ]
        return parts[0]
