"""Estimators on their way to the engine of `validate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from menet import _core
from menet._comparisons import (
    CHOOSING,
    NAMED,
    WORDS,
    PythonClassifier,
    check_classifier,
    copies_of,
    identity,
    named,
    needs_frames,
    version,
)
from menet._cv import ManifoldElasticNetCV
from menet._input import Samples, dense
from menet._men import ManifoldElasticNet
from menet._parameters import settings
from menet._settings import count

# The engine's limit on its counts.
MOST = 1_000_000

# What methods sections say of our own methods.
OURS = "menet, settings chosen inside the training part"


class Procedures:
    """Describes estimators to the engine."""

    def __init__(
        self, given: Samples, X: Any, classes: NDArray[Any], groups: NDArray[np.int64] | None, folds: int
    ) -> None:
        # Frames, for estimators that need them; lists become arrays.
        self.frame = given if hasattr(given, "columns") else X
        self.X, self.classes, self.groups, self.folds = X, classes, groups, folds
        self.dense: Any = None
        self.brought = False
        # How the first method prepares samples, which named methods do as well.
        self.prepare: dict[str, Any] = {}

    def first(self, estimator: Any) -> dict[str, Any]:
        if estimator is None:
            return {"registered": "men", "folds": self.folds, "prepare": {}}
        if type(estimator) in (ManifoldElasticNet, ManifoldElasticNetCV):
            described = self._men("men", estimator)
            self.prepare = {"prepare": described["settings"]["prepare"]}
            return described
        check_classifier(estimator, "`estimator`")
        return self._bring_own(type(estimator).__name__, estimator)

    def other(self, name: str, estimator: Any) -> dict[str, Any]:
        if isinstance(estimator, str):
            if estimator not in NAMED:
                return {"registered": estimator, "folds": self.folds, "prepare": self.prepare}
            make = named(estimator, self.X.shape[1])
            folds = self.folds if estimator in CHOOSING else None
            # Several of them share one dense matrix.
            self.dense = dense(self.X, copies=3) if self.dense is None else self.dense
            return self._bring(name, make, f"{WORDS[estimator]}: {identity(make([], 0))}", self.dense, folds)
        if type(estimator) in (ManifoldElasticNet, ManifoldElasticNetCV):
            return self._men(name, estimator)
        check_classifier(estimator, f"{name!r} in `compare`")
        return self._bring_own(name, estimator)

    def _bring_own(self, name: str, estimator: Any) -> dict[str, Any]:
        X = self.frame if needs_frames(estimator) else self.X
        return self._bring(name, copies_of(estimator), identity(estimator), X)

    def _bring(
        self, name: str, make: Callable[..., Any], identity: str, X: Any, folds: int | None = None
    ) -> dict[str, Any]:
        self.brought = True
        decide = PythonClassifier(make, X, self.classes, self.groups).decide
        return {"name": name, "identity": identity, "folds": folds, "decide": decide}

    def _men(self, name: str, estimator: Any) -> dict[str, Any]:
        described = {"name": name, "settings": settings(estimator), "options": None, "folds": self.folds}
        if type(estimator) is ManifoldElasticNetCV:
            described |= {"options": estimator._options(), "folds": inner_folds(estimator)}
        return described

    def words(self, estimator: Any, others: list[tuple[str, Any]]) -> list[str]:
        """Return what a methods section says about methods that the engine does not know."""
        paragraphs = []
        if estimator is not None and type(estimator) not in (ManifoldElasticNet, ManifoldElasticNetCV):
            paragraphs.append(f"The classifier is {_described(estimator)}.")
        if others:
            comparisons = (
                f"{name} ({WORDS.get(one, OURS) if isinstance(one, str) else _described(one)})" for name, one in others
            )
            paragraphs.append(f"The same folds were used for comparison with {'; '.join(comparisons)}.")
        return paragraphs


def _described(estimator: Any) -> str:
    package = type(estimator).__module__.split(".")[0]
    known = f" of {package} {version(package)}" if hasattr(sys.modules.get(package), "__version__") else ""
    return f"{short(estimator)}{known}"


def short(estimator: Any) -> str:
    return " ".join(repr(estimator).split())


def inner_folds(estimator: Any) -> int:
    """Return the number of folds by which settings are chosen inside a training part."""
    if type(estimator) is not ManifoldElasticNetCV:
        return _core.INNER_FOLDS
    if estimator.cv is None:
        return 5  # scikit-learn's
    if isinstance(estimator.cv, Integral) and not isinstance(estimator.cv, bool):
        return at_least("cv", estimator.cv, 2)
    raise TypeError(
        f"`cv` of ManifoldElasticNetCV is {estimator.cv!r}, but must be a number of folds or None: validate draws the "
        "folds inside every training part, and keeps groups together"
    )


def pairs_of(compare: Any) -> list[tuple[str, Any]]:
    """Return names with estimators; a method that goes by its name is its own."""
    if isinstance(compare, str):
        compare = [compare]
    entries = list(compare.items()) if isinstance(compare, Mapping) else list(compare)
    methods = {"men", *_methods()}
    pairs: list[tuple[str, Any]] = []
    for entry in entries:
        name, one = (entry, entry) if isinstance(entry, str) else _pair(entry)
        if isinstance(one, str) and one not in NAMED and one not in methods:
            raise ValueError(f"`compare` names {one!r}, but must name one of {', '.join((*NAMED, *sorted(methods)))}")
        if isinstance(one, str) and one != name and one not in NAMED:
            raise ValueError(f"`compare` calls {one!r} by another name, {name!r}: give the name alone")
        pairs.append((name, one))
    return pairs


def _pair(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        return entry[0], entry[1]
    if isinstance(entry, BaseEstimator):
        raise TypeError(f"`compare` has {entry!r} without a name: give pairs of a name and an estimator")
    raise TypeError(f"`compare` has {entry!r}, but must have names, or pairs of a name and an estimator")


def _methods() -> list[str]:
    return list(json.loads(_core.defaults()))


def at_least(name: str, value: Any, least: int) -> int:
    """Return a whole number that the engine accepts."""
    whole = count(name, value, least=least)
    if whole > MOST:
        raise ValueError(f"`{name}` is {whole}, but must be at most {MOST}")
    return whole
