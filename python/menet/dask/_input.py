"""Dask collections on their way to a fit: what can be told without computing is told at once."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from numpy.typing import NDArray

from menet._exact import check_mask, check_numbers
from menet.dask._engine import clear_errors, current_client


class DaskSamples(NamedTuple):
    """Samples of a fit or a projection: rows in chunks, all columns in each."""

    X: da.Array
    names: NDArray[Any] | None


def is_frame(X: Any) -> bool:
    """Return whether these are the samples of a Dask data frame."""
    return is_dask_collection(X) and hasattr(type(X), "to_dask_array") and X.ndim == 2


def is_dask(X: Any) -> bool:
    """Return whether these are samples of Dask, or a Dask collection of another kind, which is refused."""
    return isinstance(X, DaskSamples) or is_dask_collection(X) or _is_future(X)


def _is_future(X: Any) -> bool:
    return type(X).__module__.startswith("distributed.") and hasattr(X, "key")


def samples(X: Any, what: str) -> DaskSamples:
    """Return samples as an array of numbers in chunks of rows. `what` is what they are for."""
    names = None
    if isinstance(X, DaskSamples):
        X, names = X
    elif is_frame(X):
        _check_columns(X)
        check_futures(X)
        if all(isinstance(name, str) for name in X.columns):
            names = np.array(list(X.columns), dtype=object)
        with clear_errors("while the lengths of the partitions were counted", current_client()):
            X = _exact_frame(X).to_dask_array(lengths=True)
    elif not isinstance(X, da.Array):
        raise TypeError(
            f"`X` is of Dask's type {type(X).__name__}, but must be a Dask array or data frame: for instance, use "
            "dask.array.from_delayed for delayed arrays, to_frame() for a series, or client.persist instead of "
            "client.compute"
        )
    check_futures(X)
    if X.ndim != 2:
        raise ValueError(f"`X` has shape {X.shape}, but {what} needs rows of samples and columns of variables")
    if any(math.isnan(size) for sizes in X.chunks for size in sizes):
        raise ValueError(
            "the sizes of the chunks of `X` are not known: call X.compute_chunk_sizes() first, or make the array with "
            "to_dask_array(lengths=True)"
        )
    if len(X.chunks[1]) > 1:
        raise ValueError(
            f"`X` has {len(X.chunks[1])} chunks along its columns, but {what} needs every row in one piece: use "
            "X.rechunk({1: -1})"
        )
    if 0 in X.shape:
        raise ValueError(f"`X` is empty: it has {X.shape[0]} rows and {X.shape[1]} columns")
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"`X` has the type {X.dtype}, but must hold numbers: convert it, for instance with X.astype('float64')"
        )
    if isinstance(X._meta, np.ma.MaskedArray):
        raise TypeError(
            "the chunks of `X` are masked arrays, but must be plain ones: fill in what is masked with "
            "dask.array.ma.filled(X, value)"
        )
    if type(X._meta) is not np.ndarray:
        raise TypeError(
            f"the chunks of `X` are of the type {type(X._meta).__module__}.{type(X._meta).__qualname__}, but must be "
            "NumPy arrays: use X.map_blocks(numpy.asarray), or X.map_blocks(lambda x: x.toarray()) for sparse chunks"
        )
    if X.dtype not in (np.float64, np.float32):
        if _may_round(X.dtype):
            X = X.map_blocks(_exact, dtype=X.dtype, meta=X._meta)
        X = X.astype(np.float64)
    if 0 in X.chunks[0]:
        # Partitions that a filter left empty.
        X = X.rechunk((tuple(size for size in X.chunks[0] if size), X.chunks[1]))
    return DaskSamples(X, names)


def _may_round(dtype: Any) -> bool:
    """Return whether whole numbers of this type can be beyond what double precision holds."""
    return dtype.kind in "iu" and dtype.itemsize == 8


def _exact(part: Any) -> Any:
    """Return a part of the samples, none of whose whole numbers will be rounded."""
    check_numbers("X", part)
    return part


def _exact_frame(X: Any) -> Any:
    """Return a data frame that refuses whole numbers which would be rounded, when it is computed."""
    if not any(_may_round(dtype) for dtype in X.dtypes):
        return X
    return X.map_partitions(_exact, meta=X._meta)


def labels(given: Any, rows: int) -> NDArray[Any]:
    """Return the labels of all rows, here: one per row takes little memory."""
    if given is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if is_dask_collection(given):
        check_futures(given, "y")
    if is_dask_collection(given):
        with clear_errors("while the labels were read", current_client()):
            given = given.compute()
    check_mask("y", given)
    y: NDArray[Any] = np.asarray(given)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"`y` has shape {y.shape}, but must be one label per row")
    if len(y) != rows:
        raise ValueError(f"`y` has {len(y)} labels, but `X` has {rows} rows: there must be one label per row")
    missing = np.flatnonzero(pd.isna(y))
    if missing.size:
        raise ValueError(f"`y` has no label at row {missing[0]} (counted from 0): drop rows without a label")
    return y


def _check_columns(X: Any) -> None:
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise ValueError(f"two columns of `X` are called {twice[0]!r}: variables need names of their own")
    for name, dtype in X.dtypes.items():
        if not isinstance(dtype, np.dtype) or dtype.kind not in "fiub":
            raise ValueError(
                f"column {str(name)!r} of `X` has the type {dtype}, but variables must be numbers: convert it, "
                f"for instance with X.astype({{{name!r}: 'float64'}}), or leave it out with X.drop(columns={name!r})"
            )


def check_futures(X: Any, what: str = "X") -> None:
    """Refuse a collection that is on a cluster which is gone, or not the current one."""
    try:
        from distributed import futures_of
    except ImportError:
        return
    futures = futures_of(X)
    current = current_client() if futures else None
    for future in futures:
        client = future.client
        if client is None or client.status != "running" or future.status in ("cancelled", "lost"):
            raise ConnectionError(
                f"`{what}` was computed on a Dask cluster whose client is closed: connect a new client, and make "
                f"`{what}` again from its source"
            )
        if client is not current:
            raise ValueError(
                f"`{what}` was computed by another Dask client than the current one: use `with client.as_current():`, "
                f"or make `{what}` again from its source"
            )
