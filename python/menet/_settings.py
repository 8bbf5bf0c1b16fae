"""An estimator's parameters on their way to the core: types are seen to here, ranges there."""

from __future__ import annotations

import operator
from typing import Any, get_args, get_type_hints

import numpy as np

from menet import _core

# Parameters that every estimator has and the core's methods have not.
OUTSIDE = {"n_components", "n_jobs", "metric"}

# What the core calls the parameters that scikit-learn's habits name otherwise.
CORE_NAMES = {"n_components": "components", "n_nonzeros": "nonzeros"}


def core_name(name: str) -> str:
    """Return what the core calls a parameter."""
    return CORE_NAMES.get(name, name)


def python_name(name: str) -> str:
    """Return what Python calls a parameter of the core."""
    return {core: python for python, core in CORE_NAMES.items()}.get(name, name)


def settings(estimator: Any, *, without: set[str]) -> dict[str, Any]:
    """Return an estimator's parameters under the core's names, as Python's own types; none are left out."""
    hints = get_type_hints(type(estimator).__init__)
    given = {name: value for name, value in estimator.get_params(deep=False).items() if name not in without}
    return {
        core_name(name): converted(name, value, hints[name])
        for name, value in given.items()
        if not (value is None and optional(hints[name]))
    }


def optional(hint: Any) -> bool:
    """Return whether an annotation allows None."""
    return type(None) in get_args(hint)


def converted(name: str, value: Any, hint: Any) -> Any:
    """Return a value as the plain type that its annotation asks for."""
    kinds = set(get_args(hint)) - {type(None)} or {hint}
    if kinds == {bool}:
        return flag(name, value)
    if kinds == {int}:
        return count(name, value, or_none=optional(hint))
    if kinds == {float}:
        return number(name, value)
    if kinds == {str}:
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
    if value in names:
        return str(value)
    raise ValueError(f"`{name}` is {value!r}, but must be one of {', '.join(names)}")


def count(name: str, value: Any, *, or_none: bool = False) -> int:
    """Return a whole number that is not negative."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        whole = operator.index(value)
    except TypeError:
        wanted = "a whole number or None" if or_none else "a whole number"
        raise TypeError(f"`{name}` is {value!r}, but must be {wanted}") from None
    if not 0 <= whole < 2**63:
        raise ValueError(f"`{name}` is {whole}, but must not be {'negative' if whole < 0 else 'so large'}")
    return whole


def number(name: str, value: Any) -> float:
    """Return a number."""
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is {value!r}, but must be a number") from None


def factors(name: str, value: Any) -> list[float]:
    """Return one number a variable."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is {value!r}, but must be one number a variable") from None
    if array.ndim != 1:
        raise ValueError(f"`{name}` has shape {array.shape}, but must be one number a variable")
    values: list[float] = array.tolist()
    return values
