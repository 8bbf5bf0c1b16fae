"""Labels in the one form that they have in every file, as the page "Data" of the docs defines it.

The command ``menet`` does the same in ``crates/menet-io/src/labels.rs``; a test compares the two.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# Texts that stand for a missing value or label.
MISSING = "|NA|N/A|n/a|#N/A|<NA>|NaN|nan|NAN|-nan|-NaN|NaT|null|NULL|?".split("|")

TRUTHS = {"True": "true", "TRUE": "true", "true": "true", "False": "false", "FALSE": "false", "false": "false"}

WHOLE = re.compile(r"([+-]?)(0|[1-9][0-9]*)(?:\.0*)?")
DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)?\.[0-9]*)(?:[eE][+-]?[0-9]+)?")


def normal(text: str) -> str:
    """Return the form of a label; empty if it is missing."""
    text = text.strip()
    if text in MISSING:
        return ""
    if text in TRUTHS:
        return TRUTHS[text]
    if whole := WHOLE.fullmatch(text):
        sign = "-" if whole[1] == "-" and whole[2] != "0" else ""
        return sign + whole[2]
    if DECIMAL.fullmatch(text) and any(digit in text for digit in "0123456789") and math.isfinite(float(text)):
        return of_number(float(text))
    return text


def of_number(value: float) -> str:
    """Return the label that a number is; empty if it is NaN."""
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    # A value that single precision holds is printed in single precision: 0.1, not 0.10000000149011612.
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if value != int(value) and float(single) == value:
        return np.format_float_positional(single, trim="-")
    # Larger numbers would show digits that double precision does not have.
    if abs(value) < 1e21:
        return np.format_float_positional(value, trim="-")
    return np.format_float_scientific(value, trim="-", exp_digits=1).replace("e+", "e")


def of_value(value: Any) -> str:
    """Return the label that a cell of any type is."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, float | np.floating):
        return of_number(float(value))
    if isinstance(value, bytes):
        value = value.decode()
    return normal(str(value))


def texts(column: Any) -> NDArray[np.object_]:
    """Return the labels of a column, each as text. Only distinct values are converted."""
    codes, values = pd.factorize(np.asarray(column), use_na_sentinel=True)
    labels = np.array([*(of_value(value) for value in values), ""], dtype=object)
    chosen: NDArray[np.object_] = labels[codes]
    return chosen


def names_of(labels: NDArray[np.object_]) -> tuple[list[str], int | None]:
    """Return the distinct labels of a chunk, and the place of the first sample that has none."""
    missing = np.flatnonzero(labels == "")
    return sorted(set(labels.tolist()) - {""}), int(missing[0]) if missing.size else None


def dtype_of(names: list[str]) -> np.dtype[Any]:
    """Return the type of labels with these names: whole numbers if all of them are, else text."""
    whole = [WHOLE.fullmatch(name) for name in names]
    if all(whole) and all(-(2**63) <= int(name) < 2**63 for name in names):
        return np.dtype(np.int64)
    return np.dtype(f"<U{max(map(len, names), default=1)}")
