"""The parameters of a fit as the core describes them, and their types. The core checks ranges."""

from __future__ import annotations

import functools
import json
import math
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from menet import _core

# The core's names of parameters that have another name in scikit-learn.
CORE_NAMES = {"n_components": "components", "n_nonzeros": "nonzeros"}


@dataclass(frozen=True)
class Choice:
    """One of the names that a parameter can take."""

    name: str
    about: str


@dataclass(frozen=True)
class Parameter:
    """A parameter. Those of a baseline have no words."""

    path: str
    kind: str
    optional: bool
    choices: tuple[Choice, ...] = ()
    default: Any = None
    stage: str = ""
    name: str = ""
    about: str = ""
    more: str = ""
    # The kinds of the stage that have it. Empty: all of them.
    of: tuple[str, ...] = ()
    # Whether most users meet it.
    common: bool = False
    # Whether a search can try values of it.
    searched: bool = False

    @property
    def names(self) -> list[str]:
        """Return the names that it can take."""
        return [choice.name for choice in self.choices]


@functools.cache
def described() -> dict[str, Parameter]:
    """Return the parameters of a fit, by path."""
    entries = json.loads(_core.describe())["parameters"]
    return {
        entry["path"]: Parameter(**{**entry, "choices": tuple(Choice(**choice) for choice in entry["choices"])})
        for entry in entries
    }


def core_name(name: str) -> str:
    """Return the core's name of a parameter."""
    return CORE_NAMES.get(name, name)


def python_name(name: str) -> str:
    """Return Python's name of a parameter of the core."""
    return {core: python for python, core in CORE_NAMES.items()}.get(name, name)


def value_at(path: str, params: dict[str, Any]) -> Any:
    """Return the value at a path of parameters of the core, or its default."""
    parameter = described()[path]
    table = params.get(parameter.stage, {}) if parameter.stage else params
    return table.get(parameter.name, parameter.default)


def converted(parameter: Parameter, value: Any) -> Any:
    """Return a value as the plain type of its parameter. Groups stay as they are until the variables are known."""
    name = python_name(parameter.path)
    if value is None and parameter.optional:
        return None
    if parameter.kind == "whole":
        return count(name, value, or_none=parameter.optional)
    if parameter.kind == "choice":
        return choice(name, value, parameter.names)
    return CONVERTERS[parameter.kind](name, value)


def flag(name: str, value: Any) -> bool:
    """Return a truth value."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TypeError(f"`{name}` is {value!r}, but must be True or False")


def choice(name: str, value: Any, names: Iterable[str]) -> str:
    """Return one of some names."""
    if isinstance(value, str) and value in names:
        return str(value)
    raise ValueError(f"`{name}` is {value!r}, but must be one of {', '.join(names)}")


def priors(name: str, value: Any) -> str | list[float]:
    """Return a name, or one number per class."""
    wanted = '"train", "equal" or one number per class, in the order of classes_'
    if isinstance(value, str):
        if value in ("train", "equal"):
            return str(value)
        raise ValueError(f"`{name}` is {value!r}, but must be {wanted}")
    try:
        if value is None:
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is {value!r}, but must be {wanted}") from None
    if array.ndim != 1:
        raise ValueError(f"`{name}` has shape {array.shape}, but must be {wanted}")
    values: list[float] = array.tolist()
    return values


def whole_number(name: str, value: Any, *, or_none: bool = False) -> int:
    """Return a whole number."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        wanted = "a whole number or None" if or_none else "a whole number"
        raise TypeError(f"`{name}` is {value!r}, but must be {wanted}") from None


def count(name: str, value: Any, *, or_none: bool = False, least: int = 0) -> int:
    """Return a whole number that is not negative."""
    whole = whole_number(name, value, or_none=or_none)
    if whole < least:
        allowed = f"be at least {least}" if least > 0 else "not be negative"
        raise ValueError(f"`{name}` is {whole}, but must {allowed}")
    # More than there can be variables or samples.
    return min(whole, 2**62)


def number(name: str, value: Any) -> float:
    """Return a number."""
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is {value!r}, but must be a number") from None
    except OverflowError:
        return math.inf


def variables(name: str, value: Any) -> list[str | int]:
    """Return names and positions of variables."""
    wanted = "a list of names or positions of variables"
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"`{name}` is {value!r}, but must be {wanted}")
    found: list[str | int] = []
    for one in value:
        if isinstance(one, str):
            found.append(str(one))
            continue
        try:
            found.append(count(name, one))
        except (TypeError, ValueError):
            raise type_of(one)(f"`{name}` has {one!r}, but must be {wanted}, counted from 0") from None
    return found


def graph(name: str, value: Any) -> str | dict[str, Any]:
    """Return the name of a graph, or its edges."""
    wanted = '"auto", "chain", "grid", "grid:HEIGHTxWIDTH" or a symmetric sparse matrix'
    if isinstance(value, str):
        if value in ("auto", "chain", "grid") or re.fullmatch(r"grid:[1-9]\d*x[1-9]\d*", value):
            return str(value)
        raise ValueError(f"`{name}` is {value!r}, but must be {wanted}")
    if isinstance(value, dict):
        raise ValueError(
            f"`{name}` is {value!r}, all that a model file stores of a matrix: give the matrix again, or None"
        )
    if not sparse.issparse(value):
        raise TypeError(f"`{name}` is {value!r}, but must be {wanted}")
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise ValueError(f"`{name}` has shape {value.shape}, but must have one row and one column per variable")
    matrix = sparse.csr_array(value, dtype=np.float64)
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise ValueError(f"`{name}` has weights that are negative or not finite, but must have weights >= 0")
    if (matrix != matrix.T).nnz > 0:
        raise ValueError(f"`{name}` is not symmetric, but must have the same weight in both directions")
    edges = sparse.triu(matrix, k=1, format="coo")
    kept = edges.data > 0
    rows, columns = edges.coords if hasattr(edges, "coords") else (edges.row, edges.col)
    return {
        "source": "a matrix",
        "variables": value.shape[0],
        "edges": int(kept.sum()),
        "from": rows[kept].tolist(),
        "to": columns[kept].tolist(),
        "weight": edges.data[kept].tolist(),
    }


def type_of(value: Any) -> type[Exception]:
    """Return the error for a value that is no position: a number that is out of range, or no number at all."""
    return ValueError if isinstance(value, Integral) and not isinstance(value, bool) else TypeError


def factors(name: str, value: Any) -> list[float]:
    """Return one number per variable."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is {value!r}, but must be one number per variable") from None
    if array.ndim != 1:
        raise ValueError(f"`{name}` has shape {array.shape}, but must be one number per variable")
    values: list[float] = array.tolist()
    return values


# By kind of parameter.
CONVERTERS = {
    "factors": factors,
    "flag": flag,
    "graph": graph,
    "groups": lambda _, value: value,
    "number": number,
    "priors": priors,
    "variables": variables,
}
