"""An estimator's parameters on their way to the core. This module checks types; the core checks ranges."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from scipy import sparse

from menet import _core
from menet._choices import PriorsName

# Parameters that every estimator has and the core's methods do not have.
OUTSIDE = {"n_components", "n_jobs", "metric"}

# Parameters of `ManifoldElasticNet` that the core is told in another way.
NOT_OF_THE_CORE = {"class_weight", "n_jobs", "unlabelled"}

# The core's names of parameters that have another name in scikit-learn.
CORE_NAMES = {"n_components": "components", "n_nonzeros": "nonzeros", "n_neighbors": "voters"}


def core_name(name: str) -> str:
    """Return the core's name of a parameter."""
    return CORE_NAMES.get(name, name)


def python_name(name: str) -> str:
    """Return Python's name of a parameter of the core."""
    return {core: python for python, core in CORE_NAMES.items()}.get(name, name)


def settings(estimator: Any, *, without: set[str]) -> dict[str, Any]:
    """Return an estimator's parameters under the core's names, as plain Python types, without those that are None."""
    # Our class: a subclass may have parameters of its own, and ours as attributes.
    ours = next(
        kind for kind in type(estimator).__mro__ if kind.__module__.startswith("menet.") and "__init__" in vars(kind)
    )
    hints = {name: hint for name, hint in parameter_hints(ours).items() if name not in without}
    given = {name: getattr(estimator, name) for name in hints}
    if given.get("groups") is not None:
        from menet._groups import resolved

        known = (getattr(estimator, name, None) for name in ("feature_names_in_", "n_features_in_"))
        given["groups"] = resolved(given["groups"], *known)
    return {
        core_name(name): converted(name, given[name], hint)
        for name, hint in hints.items()
        if not (given[name] is None and optional(hint))
    }


def parameter_hints(kind: type) -> dict[str, Any]:
    """Return the annotations of an estimator's parameters."""
    hints = get_type_hints(vars(kind)["__init__"])
    return {name: hint for name, hint in hints.items() if name != "return"}


def optional(hint: Any) -> bool:
    """Return whether an annotation allows None."""
    return type(None) in get_args(hint)


def converted(name: str, value: Any, hint: Any) -> Any:
    """Return a value as the plain type that its annotation asks for."""
    if name == "priors":
        return priors(value)
    if name in ("always", "never"):
        return variables(name, value)
    if name == "groups":
        return value
    if name == "feature_graph":
        return graph(value)
    kinds = {hint} if get_origin(hint) is Literal else set(get_args(hint)) - {type(None)} or {hint}
    if kinds == {bool}:
        return flag(name, value)
    if kinds == {int}:
        return count(name, value, or_none=optional(hint))
    if kinds == {float}:
        return number(name, value)
    if all(get_origin(kind) is Literal for kind in kinds):
        return choice(name, value)
    return factors(name, value)


def flag(name: str, value: Any) -> bool:
    """Return a truth value."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TypeError(f"`{name}` is {value!r}, but must be True or False")


def choice(name: str, value: Any) -> str:
    """Return one of the names that a parameter can take."""
    names = _core.choices()[name]
    if isinstance(value, str) and value in names:
        return str(value)
    raise ValueError(f"`{name}` is {value!r}, but must be one of {', '.join(names)}")


def priors(value: Any) -> str | list[float]:
    """Return a name, or one number per class."""
    wanted = '"train", "equal" or one number per class, in the order of classes_'
    if isinstance(value, str):
        if value in get_args(PriorsName):
            return str(value)
        raise ValueError(f"`priors` is {value!r}, but must be {wanted}")
    try:
        if value is None:
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`priors` is {value!r}, but must be {wanted}") from None
    if array.ndim != 1:
        raise ValueError(f"`priors` has shape {array.shape}, but must be {wanted}")
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


def graph(value: Any) -> str | dict[str, Any]:
    """Return the name of a graph, or its edges."""
    wanted = '"auto", "chain", "grid", "grid:HEIGHTxWIDTH" or a symmetric sparse matrix'
    if isinstance(value, str):
        if value in ("auto", "chain", "grid") or re.fullmatch(r"grid:[1-9]\d*x[1-9]\d*", value):
            return str(value)
        raise ValueError(f"`feature_graph` is {value!r}, but must be {wanted}")
    if isinstance(value, dict):
        raise ValueError(
            f"`feature_graph` is {value!r}, all that a model file stores of a matrix: give the matrix again, or set "
            "`feature_graph` to None"
        )
    if not sparse.issparse(value):
        raise TypeError(f"`feature_graph` is {value!r}, but must be {wanted}")
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise ValueError(f"`feature_graph` has shape {value.shape}, but must have one row and one column per variable")
    matrix = sparse.csr_array(value, dtype=np.float64)
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise ValueError("`feature_graph` has weights that are negative or not finite, but must have weights >= 0")
    if (matrix != matrix.T).nnz > 0:
        raise ValueError("`feature_graph` is not symmetric, but must have the same weight in both directions")
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
