"""The fit, stage by stage.

========== ==================================== ===================================================
stage      tasks                                what is left
========== ==================================== ===================================================
preprocess two per chunk, and trees of sums     means, norms and class centres, here
neighbors  one per pair of chunks, and merges   the nearest rows of every row, on the workers
alignment  one                                  L, on one worker, which sends it to the others
target     one per chunk, and a tree of sums    the place of every class, here
reduction  per band of columns: one per block,  the Gram matrix, on one worker
           one per chunk, and a tree of sums
lars       one                                  the paths, here
refit      two per chunk, and a tree of sums    the model, here
========== ==================================== ===================================================

Sums are added in trees whose shape depends on the chunks alone. The result does not depend on the workers, nor on the
order in which they finish.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from menet import _core
from menet._input import Floats
from menet._running import warn_user
from menet._settings import value_at
from menet.dask import _neighbors, _tasks
from menet.dask._engine import Engine

# Bytes of the columns that a task of the reduction holds, in double precision; the fewest and the most columns.
COLUMN_BYTES = 1 << 25
COLUMNS = (8, 64)

# What tasks need beside their chunks, about: a worker without tasks; a search of two chunks; and, per row, to align
# patches, and for L with the conjugate gradients of eight columns.
WORKER_BYTES = 250_000_000
SEARCH_BYTES = 64_000_000
ALIGNMENT_BYTES = 1_200
L_BYTES = 700

# The share of the workers' memory that a band of columns and its images may take; X, L and the tasks take the rest.
BAND_SHARE = 0.25

# Above so many bytes, rows become columns by Dask's peer-to-peer rechunk, which is made for large arrays. It keeps up
# to 1 GiB per worker in buffers, and so needs workers with this much memory.
ON_DISK = 1 << 28
BUFFERED = 4_000_000_000


@dataclass(frozen=True)
class Moments:
    """Means, norms and class centres of all samples."""

    counts: list[int]
    mean: Floats
    norms: Floats
    centres: Floats
    # Variables that are constant but for rounding.
    rounding: NDArray[np.int64]
    # Variables that are constant because their squares are too small.
    too_small: list[int] = field(default_factory=list)
    # The smallest and the largest value of every variable.
    ranges: list[tuple[float, float]] = field(default_factory=list)

    def parts(self) -> tuple[list[int], Floats, Floats, Floats]:
        """Return what the core asks for."""
        return self.counts, self.mean, self.norms, self.centres

    def varying(self) -> Floats:
        """Return 1 for every variable that varies, else 0."""
        return (self.norms > 0).astype(np.float64)

    def factor(self, standardize: bool) -> Floats:
        """Return what the solver multiplies every centred variable by."""
        ones = np.ones_like(self.norms)
        return np.divide(1.0, self.norms, out=ones * 0, where=self.norms > 0) if standardize else self.varying()


class Chunks:
    """Samples in chunks of rows, with the class of every row."""

    def __init__(self, engine: Engine, X: da.Array, codes: NDArray[np.int64], classes: int) -> None:
        self.engine, self.classes = engine, classes
        [self.X] = engine.keep([X])
        self.sizes = [int(size) for size in X.chunks[0]]
        self.starts = [0, *accumulate(self.sizes)][:-1]
        self.count = np.bincount(codes, minlength=classes).tolist()
        # As few bytes as the number of classes allows: they travel with the tasks.
        codes = codes.astype(np.min_scalar_type(max(classes - 1, 1)))
        ends = zip(self.starts, self.sizes, strict=True)
        parts = [engine.task("codes", _same, codes[start : start + size]) for start, size in ends]
        self.codes: list[Any] = engine.keep(parts)

    def look(self, X: da.Array | None = None) -> tuple[Floats, Floats, Floats, Floats]:
        """Look at every chunk for the first time: the least and largest values, sums and squares of all variables."""
        engine, columns = self.engine, self.X.shape[1]
        parts = [
            engine.task("outline", _tasks.outline, x, start, (size, columns))
            for (x, _, start), size in zip(self.pieces(X), self.sizes, strict=True)
        ]
        low, high, total, squares, bad = engine.get(engine.tree("outlines", parts, _tasks.add_outlines))
        if bad is None:
            return low, high, total, squares
        if len(bad) == 2:
            start, shape = bad
            chunk = self.starts.index(start)
            raise ValueError(
                f"chunk {chunk} of `X` (counted from 0) has the shape {shape}, but Dask expects "
                f"{(self.sizes[chunk], columns)}: if a function made it, tell Dask the sizes, for instance by "
                "X.compute_chunk_sizes()"
            )
        row, column, value = bad
        error = ValueError(
            f"row {row}, column {column} (counted from 0) of the data is {as_in_memory(value)}, but must be finite "
            "and at most 1e100 in size"
        )
        error.place = (row, column)  # type: ignore[attr-defined]
        raise error

    def warn_of_copies(self) -> None:
        """Warn where a fit in memory would be another: it counts equal samples of one class as one."""
        parts = [self.engine.task("marks", _tasks.marks, x, codes) for x, codes, _ in self.pieces()]
        marks = np.concatenate(self.engine.get_all(parts))
        if copies := len(marks) - len(np.unique(marks)):
            warn_user(
                f"{copies} of {len(marks)} samples are copies of others of the same class: a fit on Dask counts them "
                "as samples of their own, and as neighbours, while a fit in memory counts a sample and its copies as "
                "one with a larger weight; to leave them out, use drop_duplicates() of a data frame",
                UserWarning,
            )

    def blocks(self, X: da.Array | None = None) -> list[Any]:
        """Return the chunks, as tasks."""
        return list((self.X if X is None else X).to_delayed().ravel())

    def pieces(self, X: da.Array | None = None) -> list[tuple[Any, Any, int]]:
        """Return chunks, the classes of their rows, and the number of the first."""
        return list(zip(self.blocks(X), self.codes, self.starts, strict=True))


def _same(value: Any) -> Any:
    return value


class Fit:
    """One fit of samples in chunks."""

    chunks: Chunks

    def __init__(self, engine: Engine, settings: dict[str, Any], facts: dict[str, Any]) -> None:
        self.engine, self.settings, self.facts = engine, settings, facts

    def run(self, X: da.Array, codes: NDArray[np.int64]) -> tuple[_core.Model, Moments]:
        """Return the model, and what smaller ones are read with."""
        engine = self.engine
        warn_of_memory(engine.memory(per_thread=True), X)
        with engine.stage("preprocess"):
            self.chunks = chunks = Chunks(engine, X, codes, len(self.facts["classes"]))
            moments = self.moments(chunks.X)
            chunks.warn_of_copies()
            X, centred = self.reconstruct(moments)
        with engine.stage("neighbors"):
            lists, recall = _neighbors.search(engine, chunks, X, self.settings, centred)
        with engine.stage("alignment"):
            laplacian, definiteness = self.align(X, lists)
        with engine.stage("target"):
            target = self.target(X, centred)
        with engine.stage("reduction"):
            gram, residual = self.reduce(X, centred, laplacian)
        with engine.stage("lars"):
            report = {
                "definiteness": json.loads(definiteness),
                "cg_residual": residual if np.isfinite(residual) else None,
                "neighbor_recall": recall,
                "too_small": moments.too_small,
                "seconds": dict(engine.so_far()),
            }
            facts = self.facts | {"report": json.dumps(report)}
            # The mean of the samples as given: what is projected later is not reconstructed.
            parts = (centred.counts, moments.mean, centred.norms, centred.centres)
            model = engine.get(engine.task("lars", _tasks.solve, self.settings, gram, parts, target, facts))
        del gram, laplacian, lists, X
        return read(engine, chunks, model, moments, (None, None, None)), moments

    def moments(self, X: da.Array) -> Moments:
        """Compute the moments, in two looks at every chunk."""
        engine, pieces = self.engine, self.chunks.pieces(X)
        low, high, total, squares = self.chunks.look(X)
        about = np.clip(total / X.shape[0], low, high)
        parts = [
            engine.task("sums", _tasks.class_sums, x, codes, self.chunks.classes, about) for x, codes, start in pieces
        ]
        sums, squares_about = engine.get(engine.tree("class-sums", parts, _tasks.add))
        low, high, total, squares, about = (look.tolist() for look in (low, high, total, squares, about))
        counts = self.chunks.count
        found = _core.moments(counts, low, high, total, squares, about, sums, squares_about.tolist())
        return Moments(counts, *found, list(zip(low, high, strict=True)))

    def reconstruct(self, moments: Moments) -> tuple[da.Array, Moments]:
        """Return the samples that the stages see, with their moments: as they are, or of lower rank."""
        engine, X = self.engine, self.chunks.X
        rank = value_at("pca_rank", self.settings)
        if rank is None:
            return X, moments
        units = (moments.mean, moments.varying())
        axes = engine.task("axes", _tasks.basis, self.triangle(X, units), rank)
        parts = [
            da.from_delayed(engine.task("pca", _tasks.reconstructed, x, *units, axes), (size, X.shape[1]), float)
            for x, start, size in zip(self.chunks.blocks(), self.chunks.starts, self.chunks.sizes, strict=True)
        ]
        [X] = engine.keep([da.concatenate(parts)])
        found = self.moments(X)
        # They are centred, but for rounding.
        centred = (np.zeros_like(found.mean), found.norms, found.centres)
        return X, Moments(found.counts, *centred, moments.rounding, moments.too_small)

    def triangle(self, X: da.Array, units: tuple[Floats, Floats]) -> Any:
        """Return the triangle of the QR decomposition of all rows."""
        engine = self.engine
        parts = [engine.task("triangle", _tasks.triangle, x, *units) for x, _, start in self.chunks.pieces(X)]
        return engine.tree("triangles", parts, _tasks.stacked)

    def align(self, X: da.Array, lists: list[Any]) -> tuple[Any, str]:
        """Align the patches, on one worker."""
        engine, chunks = self.engine, self.chunks
        entries: list[Any] = []
        if _core.needs_samples(self.settings):
            pieces = chunks.pieces(X)
            for i, (own, start) in enumerate(zip(lists, chunks.starts, strict=True)):
                rows = [
                    engine.task("rows", _tasks.rows_of, x, first, own, i == j) for j, (x, _, first) in enumerate(pieces)
                ]
                entries.append(engine.task("patches", _tasks.patches, self.settings, own, start, *rows))
        aligned = engine.task("align", _tasks.align, self.settings, lists, entries)
        [aligned] = engine.keep([aligned])
        return aligned, engine.get(engine.task("definiteness", _tasks.side, aligned, 3))

    def target(self, X: da.Array, moments: Moments) -> Floats:
        """Compute the target of every class."""
        engine = self.engine
        scatter = None
        if value_at("target.kind", self.settings) == "whitened" and self.chunks.classes > 2:
            every = np.arange(X.shape[1], dtype=np.int64)
            how = (every, moments.mean, moments.centres, moments.varying(), False)
            parts = [engine.task("scatter", _tasks.spread, x, codes, *how) for x, codes, start in self.chunks.pieces(X)]
            [scatter] = engine.keep([engine.tree("scatters", parts, _tasks.add)])
        known = moments.parts()
        found = engine.get(engine.task("target", _tasks.target, self.settings, known, scatter, None))
        if found is None:
            triangle = self.triangle(X, (moments.mean, moments.varying()))
            rank = engine.task("rank", _tasks.triangle_rank, triangle)
            found = engine.get(engine.task("target", _tasks.target, self.settings, known, scatter, rank))
        target: Floats = found
        return target

    def reduce(self, X: da.Array, moments: Moments, laplacian: Any) -> tuple[Any, float]:
        """Compute the Gram matrix: A X by columns, then its products by rows.

        Where memory is short, that is done for one band of columns after the other. Bits do not depend on the bands.
        """
        engine = self.engine
        by_disk = engine.client is not None and X.nbytes > ON_DISK and engine.memory() >= BUFFERED
        size = X.shape[1] if by_disk else band_of(X.shape, X.dtype.itemsize, engine.memory_together())
        grams, worst = [], []
        for first in range(0, X.shape[1], size):
            band = slice(first, min(first + size, X.shape[1]))
            parts = self.band(X, moments, laplacian, band, by_disk)
            gram, residual = engine.keep(list(parts))
            grams.append(gram)
            worst.append(residual)
        [gram] = engine.keep([engine.task("bands", _tasks.beside, grams)])
        return gram, engine.get(engine.task("residuals", _tasks.largest, worst))

    def band(self, X: da.Array, moments: Moments, laplacian: Any, band: slice, by_disk: bool) -> tuple[Any, Any]:
        """Return a band of the Gram matrix, from its first row on, and the largest residual of its columns."""
        engine = self.engine
        mean, factor = moments.mean, moments.factor(value_at("penalty.standardize", self.settings))
        alpha, beta = (value_at(path, self.settings) for path in ("manifold.alpha", "manifold.beta"))
        width = columns_of(X.shape)
        places = [slice(first, min(first + width, band.stop)) for first in range(band.start, band.stop, width)]
        if by_disk:
            # Not optimized: Dask would fuse our tasks with its own, and compute images once more for their residuals.
            blocks = X.rechunk((-1, width), method="p2p").to_delayed(optimize_graph=False).ravel()
        else:
            chunks = self.chunks.blocks(X)
            if band.stop - band.start < X.shape[1]:
                # A chunk that lies on disk is read once per band, not once per block.
                chunks = [engine.task("band", _tasks.cut, chunk, band, 1) for chunk in chunks]
            inside = [slice(at.start - band.start, at.stop - band.start) for at in places]
            blocks = self.turned(chunks, inside, 1)
        parts = [
            engine.task("images", _tasks.images, x, mean[at], factor[at], laplacian, alpha, beta)
            for x, at in zip(blocks, places, strict=True)
        ]
        images = [engine.task("image", _tasks.side, part, 0) for part in parts]
        residuals = [engine.task("residual", _tasks.side, part, 1) for part in parts]
        if by_disk:
            arrays = [
                da.from_delayed(image, (X.shape[0], at.stop - at.start), float)
                for image, at in zip(images, places, strict=True)
            ]
            rows = da.concatenate(arrays, axis=1).rechunk(X.chunks, method="p2p")
            rows = rows.to_delayed(optimize_graph=False).ravel()
        else:
            sizes = zip(self.chunks.starts, self.chunks.sizes, strict=True)
            rows = self.turned(images, [slice(start, start + size) for start, size in sizes], 0)
        products = [
            engine.task("gram", _tasks.gram, x, mean, factor, image, band.start)
            for (x, _, start), image in zip(self.chunks.pieces(X), rows, strict=True)
        ]
        return engine.tree("grams", products, _tasks.add), engine.task("residuals", _tasks.largest, residuals)

    def turned(self, blocks: list[Any], places: list[slice], axis: int) -> list[Any]:
        """Cut every block at places of an axis, and join what has the same place: rows become columns, or columns rows.

        Dask's own rechunk by tasks cuts views, which keep their blocks in memory unseen: each worker would hold its
        share of X and of A X, whatever its limit.
        """
        engine = self.engine
        pieces = [[engine.task("cut", _tasks.cut, block, at, axis) for at in places] for block in blocks]
        return [engine.task("join", _tasks.join, list(parts), 1 - axis) for parts in zip(*pieces, strict=True)]


def as_in_memory(value: float) -> str:
    """Return a number as the core writes it in the error of a fit in memory."""
    return repr(float(value)).replace("nan", "NaN").replace("e+", "e")


def warn_of_memory(has: float, X: da.Array) -> None:
    """Warn where a task may need more memory than a thread of a worker has."""
    (rows, columns), chunk = X.shape, max(X.chunks[0]) * X.shape[1]
    search = 2 * chunk * X.dtype.itemsize + SEARCH_BYTES
    alignment = ALIGNMENT_BYTES * rows
    reduction = (L_BYTES + 16 * columns_of(X.shape)) * rows
    products = chunk * (X.dtype.itemsize + 8) + 16 * columns**2
    needs = WORKER_BYTES + max(search, alignment, reduction, products)
    if needs > 0.9 * has:
        warn_user(
            f"a task of this fit may need {needs / 1e9:.1f} GB, and a thread of a worker has {has / 1e9:.1f} GB: if "
            "workers die, give them more memory or fewer threads, or use chunks of fewer rows (now "
            f"{max(X.chunks[0])})",
            UserWarning,
        )


def columns_of(shape: tuple[int, int]) -> int:
    """Return how many columns a task of the reduction takes, a power of 2: by the size of the samples alone."""
    rows, columns = shape
    fewest, most = COLUMNS
    width = max(fewest, min(most, COLUMN_BYTES // (8 * max(rows, 1)), columns // 24))
    return 1 << (width.bit_length() - 1)


def band_of(shape: tuple[int, int], itemsize: int, memory: float) -> int:
    """Return how many columns the reduction takes at a time, so that they fit in the workers' memory together."""
    rows, columns = shape
    # The columns, their images, and these by rows.
    fit = BAND_SHARE * memory / (max(rows, 1) * (itemsize + 16))
    return columns if fit >= columns else max(_core.BAND, int(fit) // _core.BAND * _core.BAND)


def read(
    engine: Engine, chunks: Chunks, model: _core.Model, moments: Moments, reading: tuple[Any, Any, Any]
) -> _core.Model:
    """Return the model of a reading: its axes from sums over the samples, its rule from the projected samples."""
    with engine.stage("refit"):
        wanted = np.array(model.wanted(*reading), dtype=np.int64)
        norms, samples = moments.norms[wanted], sum(moments.counts)
        # Over the standard deviation, so that fourth powers stay in range.
        units = np.where(norms > 0, norms, 1.0) / np.sqrt(samples)
        centres = moments.centres[:, wanted]
        how = (wanted, moments.mean[wanted], centres, 1.0 / units, True)
        parts = [engine.task("spread", _tasks.spread, x, codes, *how) for x, codes, start in chunks.pieces()]
        products = engine.tree("spreads", parts, _tasks.add)
        ranges = [moments.ranges[j] for j in wanted]
        given = (wanted, moments.counts, centres, norms.tolist(), units.tolist(), ranges)
        [sums] = engine.keep([engine.task("panel-sums", _tasks.joined, given, products)])
        projection = engine.get(engine.task("panel", _tasks.axes, model, reading, sums))
        projected = [engine.task("project", _tasks.project, x, projection) for x, _, start in chunks.pieces()]
        projected = engine.keep(projected)
        seconds = engine.so_far()
        learned: _core.Model = engine.get(
            engine.task("rule", _tasks.learn, model, reading, sums, projected, chunks.codes, seconds)
        )
    return learned
