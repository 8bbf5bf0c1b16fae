"""The pieces of a search: what to try, folds, and the table of scores."""

from __future__ import annotations

import functools
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from menet._settings import Parameter, converted, described, python_name, value_at

Scoring: TypeAlias = Literal["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr"]

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


@functools.cache
def searched() -> dict[str, Parameter]:
    """Return the parameters that a search can choose, by the name that `set_params` takes."""
    return {name_of(parameter): parameter for parameter in described().values() if parameter.searched}


def name_of(parameter: Parameter) -> str:
    """Return the name that `set_params` takes: the kind of a stage is the stage."""
    if parameter.stage and parameter.name == "kind":
        return parameter.stage
    return python_name(parameter.path.replace(".", "__"))


def lists_of(param_grid: Any) -> dict[str, list[Any]]:
    """Return the values to try of every name, as plain Python types, each once."""
    if param_grid is None:
        return {}
    if not isinstance(param_grid, Mapping):
        raise TypeError(f"`param_grid` is {param_grid!r}, but must be a dict from names to lists of values, or None")
    if unknown := [name for name in param_grid if name not in searched()]:
        raise ValueError(f"`param_grid` has {unknown[0]!r}, but a search tries values of {', '.join(searched())} alone")
    return {name: _values(name, given) for name, given in param_grid.items()}


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"`param_grid` has {given!r} for {name!r}, but must have a list of values to try")
    plain = [converted(searched()[name], one) for one in given]
    if not plain:
        raise ValueError(f"`param_grid` has an empty list for {name!r}, but must have at least one value to try")
    for one in plain:
        numbers = one if isinstance(one, list) else [one]
        if not all(math.isfinite(number) for number in numbers if isinstance(number, float)):
            raise ValueError(f"`param_grid` has {one} for {name!r}, but must have finite numbers")
    return [one for place, one in enumerate(plain) if one not in plain[:place]]


def space_of(lists: dict[str, list[Any]]) -> str:
    """Return lists of values by the core's paths, as JSON."""
    return json.dumps({searched()[name].path: values for name, values in lists.items()})


def settings_of(trials: list[dict[str, Any]], lists: Iterable[str]) -> list[dict[str, Any]]:
    """Return what every trial has of the parameters that were searched, without those that its kinds do not use."""
    known = searched()
    varied = {name for name, one in known.items() if len({str(value_at(one.path, trial)) for trial in trials}) > 1}
    names = [name for name in known if name in varied or name in lists]

    def uses(trial: dict[str, Any], parameter: Parameter) -> bool:
        return not parameter.of or value_at(f"{parameter.stage}.kind", trial) in parameter.of

    return [{name: value_at(known[name].path, one) for name in names if uses(one, known[name])} for one in trials]


def results(params: list[dict[str, Any]], scores: NDArray[Any], variables: NDArray[Any]) -> dict[str, Any]:
    """Return the table of scores (settings by folds) as scikit-learn's searches do."""
    table: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in params for name in one):
        column = np.ma.empty(len(params), dtype=object)
        column[:] = np.ma.masked
        for place, one in enumerate(params):
            if name in one:
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
    last = start

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done < total and now - last < 0.5:
            return
        last = now
        print(f"{name}: {done} of {total} {units}, {now - start:.1f} s", file=sys.stderr, flush=True)

    return report
