"""Classifiers of scikit-learn in a validation: any of them, and three by name.

The engine calls `PythonClassifier.decide` once per fold, from several threads. Calls share nothing but the samples.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController

from menet._input import Floats

# The classes of the test samples, their probabilities, the variables of the model if it does not use all, how many it
# uses, and what was chosen.
Answer = tuple[list[int], "list[list[float]] | None", list[int], int, str]
Folds = list[tuple[list[int], list[int]]]

# What is tried inside the training part.
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SIZES = (5, 10, 20, 50)
TREES = 500


class PythonClassifier:
    """A classifier, with the samples that it learns from and decides on."""

    def __init__(
        self,
        make: Callable[[Folds, int], Any],
        X: Any,
        classes: NDArray[Any],
        groups: NDArray[np.int64] | None,
    ) -> None:
        self.make, self.X, self.classes, self.groups = make, X, classes, groups
        self.codes_of = {label: code for code, label in enumerate(classes.tolist())}
        # Both belong to a thread, and the engine has threads of its own.
        self.config, self.controller = sklearn.get_config(), ThreadpoolController()

    def decide(
        self, train: NDArray[np.int64], test: NDArray[np.int64], codes: NDArray[np.int64], folds: Folds, seed: int
    ) -> Answer:
        """Learn from the training rows, decide on the test rows."""
        with sklearn.config_context(**self.config), self.controller.limit(limits=1):
            estimator = self.make(folds, seed % 2**31)
            y = self.classes[codes[train]]
            estimator.fit(_safe_indexing(self.X, train), y, **self._groups_for(estimator, train))
            X_test = _safe_indexing(self.X, test)
            given = self._given(estimator.predict(X_test), len(test))
            probabilities = self._probabilities(estimator, X_test, y)
        variables = self.X.shape[1]
        panel = panel_of(estimator, variables)
        count = variables if panel is None else len(panel)
        # All variables are no selection.
        places = [] if panel is None or count == variables else panel
        return given, None if probabilities is None else probabilities.tolist(), places, count, choice_of(estimator)

    def _groups_for(self, estimator: Any, train: NDArray[np.int64]) -> dict[str, Any]:
        """Return the groups of the training rows, for an estimator that has a use for them."""
        if self.groups is None:
            return {}
        # Other splitters would warn that they ignore groups.
        grouped = isinstance(estimator, BaseSearchCV) and "Group" in type(estimator.cv).__name__
        return {"groups": self.groups[train]} if grouped or has_fit_parameter(estimator, "groups") else {}

    def _given(self, predicted: Any, count: int) -> list[int]:
        labels = np.asarray(predicted)
        if labels.size != count:
            raise ValueError(f"predict returned {labels.size} labels for {count} samples")
        unknown = [label for label in labels.ravel().tolist() if label not in self.codes_of]
        if unknown:
            raise ValueError(f"predict returned {unknown[0]!r}, which is not one of the classes")
        return [self.codes_of[label] for label in labels.ravel().tolist()]

    def _probabilities(self, estimator: Any, X: Any, y: NDArray[Any]) -> Floats | None:
        if not hasattr(estimator, "predict_proba"):
            return None
        found = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        known = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        if found.ndim != 2 or found.shape[1] != len(known):
            raise ValueError(f"predict_proba returned the shape {found.shape}, but there are {len(known)} classes")
        if not (np.isfinite(found).all() and (found >= 0.0).all()):
            raise ValueError("predict_proba returned values that are not probabilities")
        out = np.zeros((len(found), len(self.classes)))
        out[:, [self.codes_of[label] for label in known.tolist()]] = found
        return out


def copies_of(estimator: Any) -> Callable[[Folds, int], Any]:
    """Return what makes a new estimator for every fold. Random states that are None become the seed of the fold."""

    def make(folds: Folds, seed: int) -> Any:
        copy = clone(estimator)
        params = copy.get_params(deep=True).items()
        seeds = {name: seed for name, value in params if name.split("__")[-1] == "random_state" and value is None}
        return copy.set_params(**seeds) if seeds else copy

    return make


def check_classifier(estimator: Any, called: str) -> None:
    """Refuse what is not a classifier of scikit-learn's kind."""
    if inspect.isclass(estimator):
        raise TypeError(f"{called} is the class {estimator.__name__}, but must be an object: {estimator.__name__}(...)")
    try:
        classifier = is_classifier(estimator)
    except (AttributeError, TypeError):
        classifier = False
    if not classifier or not all(hasattr(estimator, name) for name in ("get_params", "fit", "predict")):
        raise TypeError(f"{called} is {estimator!r}, but must be a classifier of scikit-learn's kind")


def needs_frames(estimator: Any) -> bool:
    """Return whether a classifier may look at the names or the types of columns.

    Others get arrays: scikit-learn looks at every column of a frame at every call, which takes longer than most fits.
    """
    curious = ("ColumnTransformer", "FunctionTransformer", "HistGradientBoosting")
    return any(
        type(part).__module__.split(".")[0] not in ("sklearn", "menet") or type(part).__name__.startswith(curious)
        for part in _parts(estimator)
    )


def _parts(value: Any) -> Iterator[Any]:
    """Yield an estimator and all estimators in its parameters."""
    if hasattr(value, "get_params") and not inspect.isclass(value):
        yield value
        value = value.get_params(deep=False)
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for one in inner:
        yield from _parts(one)


def named(name: str, variables: int) -> Callable[[Folds, int], Any]:
    """Return what makes one of the comparisons that have a name."""
    return lambda folds, seed: NAMED[name](folds, seed, variables)


def _l1_logistic(folds: Folds, seed: int, variables: int) -> Any:
    # scikit-learn 1.8 renamed the L1 penalty.
    parameter = inspect.signature(LogisticRegression).parameters.get("penalty")
    old = parameter is not None and parameter.default == "l2"
    penalty: dict[str, Any] = {"penalty": "l1"} if old else {"l1_ratio": 1.0}
    one = LogisticRegression(solver="liblinear", max_iter=1000, random_state=seed, **penalty)
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(one, n_jobs=1))
    return _searched(model, {"onevsrestclassifier__estimator__C": STRENGTHS}, folds)


def _anova_lda(folds: Folds, seed: int, variables: int) -> Any:
    model = make_pipeline(SelectKBest(anova_f), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"))
    return _searched(model, {"selectkbest__k": sorted({min(size, variables) for size in SIZES})}, folds)


def _random_forest(folds: Folds, seed: int, variables: int) -> Any:
    return RandomForestClassifier(n_estimators=TREES, random_state=seed, n_jobs=1)


def _searched(model: Any, grid: Mapping[str, Sequence[Any]], folds: Folds) -> Any:
    grid = {name: list(values) for name, values in grid.items()}
    return GridSearchCV(model, grid, cv=folds, scoring="balanced_accuracy", error_score="raise", n_jobs=1)


# The comparisons that have a name, and what methods sections call them.
NAMED: dict[str, Callable[[Folds, int, int], Any]] = {
    "l1-logistic": _l1_logistic,
    "anova-lda": _anova_lda,
    "random-forest": _random_forest,
}
WORDS = {
    "l1-logistic": "logistic regression with an L1 penalty on standardized variables, one class against the rest, its "
    f"strength chosen from {len(STRENGTHS)} values inside the training part",
    "anova-lda": "linear discriminant analysis with a shrunken covariance on the variables with the largest ANOVA F, "
    f"their number chosen from {', '.join(map(str, SIZES))} inside the training part",
    "random-forest": f"a random forest of {TREES} trees",
}
CHOOSING = ("l1-logistic", "anova-lda")


def anova_f(X: Floats, y: NDArray[Any]) -> Floats:
    """Return the F statistic of every variable; 0 for constant ones, which scikit-learn warns of."""
    moving = X.max(axis=0) > X.min(axis=0)
    scores = np.zeros(X.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        scores[moving] = f_classif(X[:, moving], y)[0]
    return scores


def panel_of(estimator: Any, variables: int) -> list[int] | None:
    """Return the variables that a fitted estimator uses; None if that cannot be told."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    places = np.arange(variables)
    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    for step in steps:
        if step is None or step == "passthrough":
            continue
        if hasattr(step, "get_support"):
            support = np.asarray(step.get_support())
        elif step is steps[-1]:
            support = _nonzeros(step, len(places))
        elif isinstance(step, OneToOneFeatureMixin):
            continue
        else:
            return None
        if len(support) != len(places):
            return None
        places = places[support]
    return [int(place) for place in places]


def _nonzeros(classifier: Any, variables: int) -> NDArray[np.bool_]:
    """Return which variables have a coefficient in a linear classifier; all for any other."""
    parts = getattr(classifier, "estimators_", None)
    parts = parts if isinstance(classifier, OneVsRestClassifier) and parts is not None else [classifier]
    found = [part.coef_ for part in parts if hasattr(part, "coef_")]
    dense = [one.toarray() if sparse.issparse(one) else np.atleast_2d(one) for one in found]
    used = [np.any(one != 0.0, axis=0) for one in dense if one.shape[1] == variables]
    return np.any(used, axis=0) if used else np.ones(variables, dtype=bool)


def choice_of(estimator: Any) -> str:
    """Return what a search chose, as one line."""
    best = getattr(estimator, "best_params_", None)
    if not isinstance(best, Mapping):
        return ""
    plain = {
        name.split("__")[-1]: value.item() if isinstance(value, np.generic) else value for name, value in best.items()
    }
    return ", ".join(f"{name} = {value!r}" for name, value in plain.items())


def identity(estimator: Any) -> str:
    """Return a text that differs between estimators that may decide differently: class, parameters and versions."""
    packages = {"sklearn", "numpy", "scipy"}
    text = _described(estimator, packages)
    versions = ", ".join(f"{name} {version(name)}" for name in sorted(packages))
    return f"{text} with {versions}"


def version(package: str) -> str:
    """Return the version of a package that is loaded."""
    return str(getattr(sys.modules.get(package), "__version__", "of unknown version"))


def _described(value: Any, packages: set[str], inside: tuple[Any, ...] = ()) -> str:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    if inspect.isfunction(value):
        # What it does, since names may be given again: its code, and the values that it holds.
        name = f"{value.__module__}.{value.__qualname__}"
        if any(value is one for one in inside):
            return name
        inside = (*inside, value)
        described = [_described(one, packages, inside) for one in _held(value)]
        return f"{name}:{_code(value.__code__)}({', '.join(described)})"
    if inspect.ismethod(value):
        return f"{_described(value.__func__, packages, inside)} of {_described(value.__self__, packages, inside)}"
    if inspect.isclass(value) or inspect.isroutine(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
    if isinstance(value, functools.partial):
        return f"partial({_described([value.func, value.args, value.keywords], packages, inside)})"
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "get_params"):
        packages.add(type(value).__module__.split(".")[0])
        params = sorted(value.get_params(deep=False).items())
        return f"{name}({', '.join(f'{key}={_described(one, packages, inside)}' for key, one in params)})"
    if isinstance(value, Mapping):
        items = [f"{_described(k, packages, inside)}: {_described(v, packages, inside)}" for k, v in value.items()]
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"{name}({', '.join(_described(one, packages, inside) for one in value)})"
    try:
        content = pickle.dumps(value)
    except Exception:  # whatever a class of somebody's raises when it cannot be pickled
        # Without addresses, which differ between processes.
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return f"{name}:{hashlib.sha256(content).hexdigest()[:16]}"


def _held(function: Any) -> list[Any]:
    """Return the values that a function works with: defaults, what it encloses, and what it reads from its module."""
    held: list[Any] = [function.__defaults__, function.__kwdefaults__]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # it has no value yet
            held.append(cell.cell_contents)
    # Modules, and functions of other packages, go by the versions of these.
    known = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    own = [value for value in known.values() if not inspect.ismodule(value) and not inspect.isclass(value)]
    return held + [value for value in own if getattr(value, "__module__", function.__module__) == function.__module__]


def _code(code: CodeType) -> str:
    """Return a mark of what a function does, without the places of its lines."""
    constants = [
        _code(one) if isinstance(one, CodeType) else repr(sorted(one, key=repr) if isinstance(one, frozenset) else one)
        for one in code.co_consts
    ]
    content = repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))
    return hashlib.sha256(content.encode()).hexdigest()[:16]
