"""What all stages of a fit have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator


class Stage(BaseEstimator):  # type: ignore[misc]
    """The parameters of a stage. Stages with equal parameters are equal."""

    # The parameter of an estimator that takes it.
    _stage: ClassVar[str]

    # The kind of the stage that it stands for. None: the kind is a parameter, or left open, or there are no kinds.
    _kind: ClassVar[str | None] = None

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Return whether the other one is of the same class and has the same parameters."""
        if type(self) is not type(other):
            return NotImplemented
        own, others = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(value, others[name]) for name, value in own.items())


def _same(one: Any, other: Any) -> bool:
    if sparse.issparse(one) or sparse.issparse(other):
        both = sparse.issparse(one) and sparse.issparse(other)
        return bool(both and one.shape == other.shape and (one != other).nnz == 0)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
