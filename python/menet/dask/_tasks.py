"""What workers do: one function per kind of task, each a call of the core on chunks.

A task uses as many threads as its worker has. Tasks that run at the same time share them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from menet import _core
from menet._input import Floats, contiguous
from menet._weights import alike

Numbers: TypeAlias = NDArray[np.int64]

# The numbers and squared distances of the neighbours of a chunk's rows.
Lists: TypeAlias = tuple[Numbers, Floats]

# A sparse matrix by rows: where they begin, the columns and the values of their entries.
ByRows: TypeAlias = tuple[Numbers, NDArray[np.uint32], Floats]


def threads() -> int:
    """Return the number of threads of the worker that runs this task, or of Dask's local scheduler."""
    try:
        from distributed import get_worker

        return int(get_worker().state.nthreads)
    except (ImportError, ValueError):
        import dask
        from dask.system import CPU_COUNT

        return int(dask.config.get("num_workers", None) or CPU_COUNT)


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function below with arrays as the core reads them."""
    return function(*(ready(value) for value in args))


def ready(value: Any) -> Any:
    """Return a value with its arrays aligned: those that came over the network may not be."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return contiguous(value)
    if isinstance(value, (tuple, list)):
        return type(value)(ready(part) for part in value)
    return value


def plain(x: Any) -> Any:
    """Return the rows of a chunk as the core reads them."""
    x = np.asarray(x)
    return contiguous(x if x.dtype in (np.float64, np.float32) else x.astype(np.float64))


def codes_of(codes: NDArray[Any]) -> Numbers:
    """Return the classes of rows as the core reads them; they travel in fewer bytes."""
    return codes.astype(np.int64)


def outline(x: Any, start: int, shape: tuple[int, int]) -> tuple[Any, ...]:
    """Look at a chunk for the first time: its sums, and what is wrong with it.

    That is None, the place of a value that is not finite among all rows, or another shape than Dask knows.
    """
    if np.shape(x) != shape:
        return (*(np.zeros(shape[1]) for _ in range(4)), (start, np.shape(x)))
    *sums, bad = _core.outline(plain(x), threads())
    return (*sums, None if bad is None else (bad[0] + start, *bad[1:]))


def marks(x: Any, codes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number per row that equal rows of one class share, and others almost never."""
    of_class = codes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return _core.fingerprints(plain(x), threads()) ^ of_class


def add_outlines(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put two first looks together."""
    bad = a[4] if a[4] is not None else b[4]
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1]), a[2] + b[2], a[3] + b[3], bad


def class_sums(x: Any, codes: NDArray[Any], count: int, about: Floats) -> tuple[Floats, Floats]:
    """Look at a chunk a second time."""
    return _core.class_sums(plain(x), codes_of(codes), count, about, threads())


def add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add sums, one by one."""
    return tuple(None if left is None else left + right for left, right in zip(a, b, strict=True))


def nearest_within(
    x: Any, codes: NDArray[Any], start: int, groups: list[tuple[str, int]], mean: Floats, dropped: Numbers
) -> Lists:
    """Search the neighbours of a chunk's rows among themselves."""
    return _core.nearest_within(plain(x), codes_of(codes), start, groups, mean, dropped, threads())


def nearest_between(
    x: Any,
    x_codes: NDArray[Any],
    x_start: int,
    y: Any,
    y_codes: NDArray[Any],
    y_start: int,
    groups: list[tuple[str, int]],
    mean: Floats,
    dropped: Numbers,
    x_known: Floats,
    y_known: Floats,
) -> tuple[Lists, Lists]:
    """Search the neighbours of two chunks' rows in each other, as far as none that is known is nearer."""
    (x, y), (x_codes, y_codes) = (plain(x), plain(y)), (codes_of(x_codes), codes_of(y_codes))
    left, right = (x, x_codes, x_start), (y, y_codes, y_start)
    return _core.nearest_between(*left, *right, groups, mean, dropped, threads(), x_known, y_known)


def merge_nearest(groups: list[tuple[str, int]], parts: list[Lists]) -> Lists:
    """Keep the nearest of what several chunks have."""
    return _core.merge_nearest(parts, groups, threads())


def side(pair: tuple[Any, Any], at: int) -> Any:
    """Return one of two results."""
    return pair[at]


def joined(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of both."""
    return (*a, *b)


def rows_of(x: Any, start: int, lists: Lists, own: bool) -> tuple[Numbers, Any]:
    """Return the rows of a chunk that are neighbours in `lists`, or all of its `own`, and their numbers."""
    if own:
        return np.arange(start, start + len(x), dtype=np.int64), np.asarray(x)
    numbers = np.unique(lists[0])
    numbers = numbers[(numbers >= start) & (numbers < start + len(x))]
    return numbers, np.asarray(x)[numbers - start]


def patches(
    settings: dict[str, Any], lists: Lists, start: int, *parts: tuple[Numbers, Any]
) -> tuple[Numbers, Numbers, Floats]:
    """Return the entries that the patches of a chunk's rows add to L."""
    numbers = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    order = np.argsort(numbers)
    return _core.patches(settings, lists, start, plain(rows[order]), numbers[order], threads())


def align(settings: dict[str, Any], lists: list[Lists], entries: list[Any]) -> tuple[Any, ...]:
    """Align all patches: L, and what the definiteness policy found and did."""
    return _core.align(settings, lists, entries, threads())


def spread(
    x: Any, codes: NDArray[Any], variables: Numbers, mean: Floats, centres: Floats, factor: Floats, fourths: bool
) -> tuple[Floats, Floats | None]:
    """Return the products of some variables within classes."""
    return _core.spread(plain(x), codes_of(codes), variables, mean, centres, factor, fourths, threads())


def target(settings: dict[str, Any], moments: Any, scatter: tuple[Floats, None] | None, rank: int | None) -> Any:
    """Return the target of every class, or None where the rank must be given."""
    counts, mean, norms, centres = moments
    return _core.target(
        settings, counts, mean, norms, centres, None if scatter is None else scatter[0], rank, threads()
    )


def triangle(x: Any, mean: Floats, factor: Floats) -> Floats:
    """Return the triangle of a chunk's QR decomposition."""
    return _core.triangle(plain(x), mean, factor, threads())


def stacked(a: Floats, b: Floats) -> Floats:
    """Return the triangle of two triangles."""
    return _core.stacked(a, b, threads())


def triangle_rank(r: Floats) -> int:
    """Return the rank of all samples."""
    return _core.triangle_rank(r, threads())


def basis(r: Floats, rank: int) -> Floats:
    """Return the first principal axes of all samples."""
    return _core.basis(r, rank, threads())


def reconstructed(x: Any, mean: Floats, factor: Floats, axes: Floats) -> Floats:
    """Return a chunk's rows, centred, projected on principal axes and mapped back."""
    return _core.reconstructed(plain(x), mean, factor, axes, threads())


def images(x: Any, mean: Floats, factor: Floats, laplacian: ByRows, alpha: float, beta: float) -> tuple[Floats, float]:
    """Return A X for a few columns, and the residual of the conjugate gradients."""
    return _core.images(plain(x), mean, factor, *laplacian[:3], alpha, beta, threads())


def cut(x: Any, at: slice, axis: int) -> Any:
    """Return some columns or rows of a block: a copy, since a view would keep all of it in memory."""
    x = np.asarray(x)
    return (x[:, at] if axis else x[at]).copy()


def join(parts: list[Any], axis: int) -> Any:
    """Return the pieces of several blocks as one."""
    return np.concatenate(parts, axis=axis)


def gram(x: Any, mean: Floats, factor: Floats, image: Floats, first: int) -> tuple[Floats]:
    """Return the part of a band of the Gram matrix that a chunk's rows make: its columns and rows from `first` on."""
    return (_core.gram(plain(x), mean, factor, plain(image), first, threads()),)


def beside(bands: list[tuple[Floats]]) -> tuple[Floats]:
    """Return the lower half of the Gram matrix from its bands."""
    if len(bands) == 1:
        return bands[0]
    size = len(bands[0][0])
    whole = np.zeros((size, size), order="F")
    for (band,) in bands:
        first = size - len(band)
        whole[first:, first : first + band.shape[1]] = band
    return (whole,)


def largest(values: list[float]) -> float:
    """Return the largest value."""
    return max(values)


def solve(settings: dict[str, Any], lower: tuple[Floats], moments: Any, target: Floats, facts: Any) -> _core.Model:
    """Compute the paths."""
    counts, mean, norms, centres = moments
    return _core.solve(settings, lower[0], counts, mean, norms, centres, target, facts, threads())


def axes(model: _core.Model, reading: tuple[Any, Any, Any], sums: Any) -> tuple[Floats, list[tuple[Numbers, Floats]]]:
    """Read the axes off the paths."""
    return model.axes_at(*reading, sums, threads()).axes()


def project(x: Any, projection: tuple[Floats, list[tuple[Numbers, Floats]]]) -> tuple[Floats, NDArray[np.uint64]]:
    """Project a chunk's rows, and return what they are recognised by."""
    x = plain(x)
    return _core.project_all(x, *projection, threads()), _core.fingerprints(x, threads())


def learn(
    model: _core.Model,
    reading: tuple[Any, Any, Any],
    sums: Any,
    projected: list[tuple[Floats, NDArray[np.uint64]]],
    codes: list[NDArray[Any]],
    seconds: list[tuple[str, float]],
) -> _core.Model:
    """Learn the rule from the projected rows of all chunks."""
    z = np.concatenate([part[0] for part in projected])
    fingerprints = np.concatenate([part[1] for part in projected])
    undecided = model.axes_at(*reading, sums, threads())
    return undecided.learn(z, codes_of(np.concatenate(codes)), fingerprints, seconds, threads())


def fit_whole(
    settings: dict[str, Any],
    chunks: list[Any],
    codes: list[NDArray[Any]],
    classes: list[str],
    label_kind: str,
    names: list[str] | None,
) -> _core.Model:
    """Fit rows that are few enough for one worker."""
    x = plain(np.concatenate([np.asarray(chunk) for chunk in chunks]))
    return _core.Model.fit(settings, x, codes_of(np.concatenate(codes)), alike(), classes, label_kind, names, threads())


def at_whole(
    model: _core.Model, reading: tuple[Any, Any, Any], chunks: list[Any], codes: list[NDArray[Any]]
) -> _core.Model:
    """Read another model off such a fit."""
    x = plain(np.concatenate([np.asarray(chunk) for chunk in chunks]))
    return model.at(*reading, (x, codes_of(np.concatenate(codes)), alike()), True, threads())
