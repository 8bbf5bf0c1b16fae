"""The pieces of a search: what to try, folds, and the table of scores."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from menet._men import ManifoldElasticNet
from menet._settings import converted, count, optional, parameter_hints, python_name

# The parameters that can be searched, in the order of the results.
SEARCHED = (
    "n_nonzeros",
    "panel_size",
    "ridge",
    "beta",
    "target_shrinkage",
    "refit",
    "refit_ridge",
    "rule",
    "metric",
    "n_neighbors",
    "priors",
)

# The numbers of variables that are tried by default.
SIZES = (5, 10, 20, 50, 100)

# The scores: the core's name, its place among the core's scores, and the factor between the two.
SCORINGS = {
    "accuracy": ("rate", 0, 0.01),
    "balanced_accuracy": ("balanced", 1, 0.01),
    "neg_log_loss": ("log_loss", 2, -1.0),
    "roc_auc_ovr": ("auc", 3, 1.0),
}


def folds_of(splits: list[tuple[NDArray[Any], NDArray[Any]]]) -> list[tuple[list[int], list[int]]]:
    """Return the training rows and the test rows of every fold, of which none may be empty."""
    folds = [(train.tolist(), test.tolist()) for train, test in splits]
    for place, (train, test) in enumerate(folds):
        if not train or not test:
            empty = "no training samples" if not train else "no test samples"
            raise ValueError(f"fold {place} (counted from 0) of `cv` has {empty}")
    if not folds:
        raise ValueError("`cv` has no folds")
    return folds


def core_score(scoring: Any) -> tuple[str, int, float]:
    """Return the core's name of a score, its place among the core's scores, and the factor between the two."""
    if isinstance(scoring, str) and scoring in SCORINGS:
        return SCORINGS[scoring]
    raise ValueError(f"`scoring` is {scoring!r}, but must be one of {', '.join(SCORINGS)}")


def is_list(name: str, value: Any) -> bool:
    """Return whether a parameter lists values to try."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    # A list of numbers is one setting of the priors.
    return name != "priors" or not all(isinstance(one, Number) for one in value)


def values_to_try(name: str, value: Any) -> list[Any]:
    """Return the values of a parameter to try, as plain Python types, each once."""
    hint = parameter_hints(ManifoldElasticNet)[name]
    given = list(value) if is_list(name, value) else [value]
    if not given:
        raise ValueError(f"`{name}` is an empty list, but must have at least one value to try")
    plain = [None if one is None and optional(hint) else converted(name, one, hint) for one in given]
    if name in ("n_nonzeros", "panel_size", "n_neighbors"):
        plain = [one if one is None else count(name, one, least=1) for one in plain]
    return [one for place, one in enumerate(plain) if one not in plain[:place]]


def in_python(found: str, names: list[str]) -> dict[str, Any]:
    """Return some parameters of the core, given as JSON, under their names in Python."""
    params = {python_name(name): value for name, value in json.loads(found).items()}
    return {name: params[name] for name in names}


def results(params: list[dict[str, Any]], scores: NDArray[Any], variables: NDArray[Any]) -> dict[str, Any]:
    """Return the table of scores (settings by folds) as scikit-learn's searches do."""
    table: dict[str, Any] = {}
    for name in params[0]:
        column = np.ma.empty(len(params), dtype=object)
        column[:] = np.ma.masked
        for place, one in enumerate(params):
            column[place] = one[name]
        table[f"param_{name}"] = column
    table["params"] = params
    for fold in range(scores.shape[1]):
        table[f"split{fold}_test_score"] = scores[:, fold]
    mean = scores.mean(axis=1)
    table["mean_test_score"] = mean
    table["std_test_score"] = scores.std(axis=1)
    worst = np.nan_to_num(mean, nan=np.nanmin(mean, initial=np.inf) - 1.0)
    table["rank_test_score"] = rankdata(-worst, method="min").astype(np.int32)
    table["mean_n_features"] = variables
    return table


def progress(name: str = "ManifoldElasticNetCV", units: str = "paths") -> Callable[[int, int], None]:
    """Return a function that reports progress, at most twice per second and at the end."""
    start = time.monotonic()
    told = start

    def tell(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if done < total and now - told < 0.5:
            return
        told = now
        print(f"{name}: {done} of {total} {units}, {now - start:.1f} s", file=sys.stderr, flush=True)

    return tell
