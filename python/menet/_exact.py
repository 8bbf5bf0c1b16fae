"""Values that a conversion to numbers would change without a word: masked ones, dates, whole numbers beyond 2^53.

The command refuses such values in files. The same holds here, wherever samples, responses, weights or labels come in.
"""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from menet._input import DTYPES, SPARSE

# Double precision holds all whole numbers up to this one.
EXACT = 2**53

DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def validated(estimator: Any, X: Any, *y: Any, reset: bool = True) -> Any:
    """Return samples, and labels if they are given, as the core reads them. Missing values pass."""
    check_numbers("X", X)
    for labels in y:
        check_mask("y", labels)
    return validate_data(estimator, X, *y, accept_sparse=SPARSE, dtype=DTYPES, ensure_all_finite=False, reset=reset)


def numbers(name: str, values: Any, **how: Any) -> Any:
    """Return an array of numbers, as scikit-learn's ``check_array`` makes it. Missing values pass."""
    check_numbers(name, values)
    return check_array(values, ensure_all_finite=False, input_name=name, **how)


def check_mask(name: str, values: Any) -> None:
    """Refuse an array that masks a value."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.getmaskarray(values).any():
        return
    masked = int(np.ma.getmaskarray(values).sum())
    raise ValueError(
        f"`{name}` masks {masked} of its {values.size} values, but a mask is not read: fill in what is masked, for "
        "instance with .filled(numpy.nan), which an estimator with impute reads as missing"
    )


def check_numbers(name: str, values: Any) -> None:
    """Refuse values that a conversion to numbers would change."""
    check_mask(name, values)
    if sparse.issparse(values):
        if values.dtype.kind != "f":
            _check_array(name, values.tocoo().data, "")
    elif isinstance(values, np.ndarray):
        _check_array(name, values, "")
    elif isinstance(values, list | tuple):
        # As objects: whole numbers beside fractions would be rounded here already.
        kind = None if len(values) and isinstance(values[0], np.ndarray) else object
        try:
            array = np.array(values, dtype=kind)
        except ValueError:  # not a table: scikit-learn says so
            return
        _check_array(name, array, "")
    elif hasattr(values, "columns") and hasattr(values, "dtypes"):
        _check_frame(name, values)
    elif hasattr(values, "dtype") and hasattr(values, "to_numpy"):
        _check_array(name, np.asarray(values), "")


def _check_frame(name: str, frame: Any) -> None:
    """Check the columns of a data frame, of pandas or of another library."""
    pandas = hasattr(frame, "iloc")
    kinds = list(frame.dtypes)
    for at, (column, kind) in enumerate(zip(frame.columns, kinds, strict=False)):
        if getattr(kind, "kind", "") == "f" or str(kind).startswith("Float"):
            continue
        values = frame.iloc[:, at] if pandas else frame[column]
        _check_array(name, np.asarray(values), f" in column {column!r}")


def _check_array(name: str, array: Any, where: str) -> None:
    kind = array.dtype.kind
    if kind in "mM":
        _refuse_dates(name, where, str(array.dtype))
    elif kind in "iu" and array.dtype.itemsize == 8 and array.size:
        least, most = int(array.min()), int(array.max())
        if max(most, -least) > EXACT:
            _refuse_whole(name, where, most if most > EXACT else least)
    elif kind == "O":
        for value in array.flat:
            if isinstance(value, DATES):
                _refuse_dates(name, where, type(value).__name__)
            if isinstance(value, int | np.integer) and abs(int(value)) > EXACT:
                _refuse_whole(name, where, int(value))


def _refuse_dates(name: str, where: str, kind: str) -> None:
    raise TypeError(
        f"`{name}` holds dates or times{where} ({kind}), which are no numbers: leave them out, or give the days or "
        "seconds since a date that you choose"
    )


def _refuse_whole(name: str, where: str, value: int) -> None:
    raise ValueError(
        f"`{name}` holds the whole number {value}{where}, which is beyond 2^53 and would be rounded: leave it out if "
        "it is a name, or round it yourself with astype('float64')"
    )
