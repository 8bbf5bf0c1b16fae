"""Classes as the core and a model file name them, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from menet._exact import DATES

# What the classes are, by NumPy's kind of their type.
KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


def coded(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in order, and the place among them of the class of every sample."""
    _check_kind(np.asarray(y))
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        raise TypeError("`y` mixes labels of kinds that cannot be ordered, such as text and None") from None
    return classes, codes.astype(np.int64, copy=False)


def _check_kind(y: NDArray[Any]) -> None:
    """Refuse labels that a model file could not give back as they were."""
    values = y.flat[:] if y.dtype == object else y.flat[:1]
    for value in values:
        if isinstance(value, bytes):
            raise TypeError(
                f"`y` holds bytes, such as {bytes(value)!r}, but labels are text, numbers or truth values: make them "
                "text, for instance with numpy.char.decode(y)"
            )
        if isinstance(value, DATES):
            kind = type(value).__name__ if y.dtype == object else y.dtype
            raise TypeError(
                f"`y` holds dates or times ({kind}), but labels are text, numbers or truth values: make them text, for "
                "instance with y.astype(str)"
            )


def kind_of(classes: NDArray[Any]) -> str:
    """Return what the classes are: text, numbers or truth values."""
    return KINDS.get(classes.dtype.kind, "text")


def from_names(names: list[str], kind: str | None) -> NDArray[Any]:
    """Return the classes for the names in a model file."""
    if kind is None:
        kind = "integer" if all(_is_integer(name) for name in names) else "text"
    if kind == "integer":
        return np.array([int(name) for name in names])
    if kind == "number":
        return np.array([float(name) for name in names])
    if kind == "boolean":
        return np.array([name == "True" for name in names])
    return np.array(names)


def _is_integer(name: str) -> bool:
    return name.removeprefix("-").isdecimal() and str(int(name)) == name
