"""Copies of samples, which stay on one side of every split."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from menet import _core
from menet._input import contiguous
from menet._running import warn_user


def tell_of_copies(who: str, X: Any, codes: NDArray[np.int64], groups: list[int] | None, threads: int) -> None:
    """Warn if some samples are copies of others."""
    _, words = _core.together(contiguous(X), codes, groups, threads)
    if words is not None:
        warn_user(f"{who}: {words}", UserWarning)


def splits_of(
    who: str, cv: Any, X: Any, labels: NDArray[Any], codes: NDArray[np.int64], groups: ArrayLike | None, threads: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the training rows and the test rows of the folds that `cv` stands for, and keep copies together.

    Folds that are only counted, and those of splitters that know groups, keep copies together. Other splitters and
    lists of folds are the user's own: a warning says if they do not.
    """
    ours = cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool))
    numbers = None if groups is None or ours else np.unique(np.asarray(groups), return_inverse=True)[1].tolist()
    units, words = _core.together(contiguous(X), codes, numbers, threads)
    splitter = check_cv(cv, labels, classifier=True)
    if words is not None and ours:
        splitter, groups = StratifiedGroupKFold(splitter.get_n_splits()), units
    elif words is not None and numbers is not None and units != numbers:
        groups = units
    rows = np.arange(X.shape[0])
    # Masks are allowed as well as rows.
    splits = [(rows[train], rows[test]) for train, test in splitter.split(X, labels, groups)]
    if words is not None:
        kinds = np.array(_core.together(contiguous(X), codes, None, threads)[0])
        apart = any(np.intersect1d(kinds[train], kinds[test]).size for train, test in splits)
        words = words.split(";")[0] + "; `cv` puts some of them on both sides of a fold" if apart else words
        warn_user(f"{who}: {words}", UserWarning)
    return splits
