"""Arrays, frames and sparse matrices on their way to the core."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from menet import _core

Floats: TypeAlias = NDArray[np.float64]

# An array, a nested list, a data frame or a sparse matrix. No type says what scikit-learn accepts.
Samples: TypeAlias = Any

# The types that the core reads without a conversion in Python, and the sparse formats with fast rows or columns.
DTYPES = [np.float64, np.float32]
SPARSE = ("csr", "csc")

# The core refuses larger values.
LARGEST = 1e100

# A fit holds the samples as given, centred, by columns, and scaled.
COPIES_IN_A_FIT = 4


def frame_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a data frame that are text; None if it is no frame, or has no such names."""
    # pandas and polars; others go by position.
    if not (hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "select"))):
        return None
    return [str(name) for name in X.columns if isinstance(name, str)] or None


def frame_part(X: Any, names: Any) -> Any:
    """Return some columns of a data frame."""
    part = X[list(names)]
    if part.shape[1] != len(names):
        columns = list(part.columns)
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise ValueError(f"X has columns more than once: {', '.join(map(repr, twice))}; they need names of their own")
    return part


def contiguous(x: Any) -> Any:
    """Return samples as the core can borrow them: aligned, by rows or by columns; sparse ones as they are."""
    if sparse.issparse(x):
        return x
    return x if x.flags.forc and x.flags.aligned else np.require(x, requirements=["C", "A"])


def dense(x: Any, *, copies: int) -> Any:
    """Return samples as an array, sparse ones made dense, if `copies` of them fit in memory."""
    if not sparse.issparse(x):
        return contiguous(x)
    check_memory(x, copies)
    check_sparse(x)
    return x.toarray()


def sparse_or_dense(x: Any, *, copies: int) -> Any:
    """Return samples for a core that makes small sparse ones dense, if `copies` of those fit in memory."""
    if sparse.issparse(x) and 8 * x.shape[0] * x.shape[1] <= _core.DENSE_BYTES:
        check_memory(x, copies)
    return contiguous(x)


def check_memory(x: Any, copies: int) -> None:
    """Refuse a sparse matrix of which `copies` would not fit in memory."""
    rows, columns = x.shape
    needed, free = 8 * rows * columns * copies, available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"the samples are sparse, {rows} x {columns}, and have to be made dense: that needs about "
            f"{needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free; use fewer variables (for instance with "
            "sklearn.feature_selection) or fewer samples"
        )


def check_sparse(x: Any) -> None:
    """Refuse a value that is not finite or too large, as the core does. The core sees only a part of the samples."""
    # Both are NaN if there is one, and then neither is in bounds.
    if float(x.data.max(initial=0.0)) <= LARGEST and float(x.data.min(initial=0.0)) >= -LARGEST:
        return
    entries = x.tocoo()
    _, row, column, value = min(
        (column, row, column, value)
        for row, column, value in zip(entries.row, entries.col, entries.data, strict=True)
        if not abs(float(value)) <= LARGEST
    )
    error = ValueError(
        f"row {row}, column {column} (counted from 0) of the data is {value}, but must be finite and at most "
        f"{LARGEST:g} in size"
    )
    error.place = (int(row), int(column))  # type: ignore[attr-defined]
    raise error


@contextmanager
def naming_variables(names: Any) -> Iterator[None]:
    """Give the name of the variable, if it has one, in an error about a value of the samples."""
    try:
        yield
    except ValueError as e:
        place = getattr(e, "place", None)
        if place is None or names is None:
            raise
        row, column = place
        named_place = f"row {row}, variable {str(names[column])!r} (rows are counted from 0)"
        said = str(e).replace(f"row {row}, column {column} (counted from 0)", named_place)
        if " is NaN, " in said:
            said += '; fill missing values, or leave that to an estimator with impute="median"'
        raise ValueError(said) from None


def available_memory() -> int | None:
    """Return how many bytes are free, if the system says so."""
    limits = [limit for limit in (_system_memory(), _process_limit(), _group_limit()) if limit is not None]
    return max(min(limits), 0) if limits else None


def _system_memory() -> int | None:
    lines = _read("/proc/meminfo").splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _process_limit() -> int | None:
    """Return how many bytes the limit of `ulimit -v` leaves."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    pages = _read("/proc/self/statm").split()
    return limit - resource.getpagesize() * int(pages[0]) if pages else limit


def _group_limit() -> int | None:
    """Return how many bytes the limit of a container leaves."""
    limit, used = (_read(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    return int(limit) - int(used) if limit.isdecimal() and used.isdecimal() else None


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""
