"""How much every sample counts: weights of samples and classes, and samples without a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from menet._input import Samples
from menet._labels import coded

if TYPE_CHECKING:
    from typing_extensions import Self


class Counting(TypedDict):
    """What the core is told about the labelled samples."""

    weights: NDArray[np.float64] | None
    balanced: bool
    distinct: bool


def alike() -> Counting:
    """Return that all samples count alike."""
    return {"weights": None, "balanced": False, "distinct": False}


def counting(
    X: Any, codes: NDArray[np.int64], classes: NDArray[Any], sample_weight: Any, class_weight: Any
) -> Counting:
    """Return how much every sample with a label counts. `codes` has -1 for a sample without one."""
    weights = None
    if sample_weight is not None:
        weights = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64)[codes >= 0])
    if class_weight is None or isinstance(class_weight, str):
        if class_weight not in (None, "balanced"):
            raise ValueError(f'`class_weight` is {class_weight!r}, but must be "balanced", a dict or None')
        return {"weights": weights, "balanced": class_weight is not None, "distinct": False}
    if not isinstance(class_weight, dict):
        raise TypeError(f'`class_weight` is {class_weight!r}, but must be "balanced", a dict or None')
    known = classes.tolist()
    if unknown := [label for label in class_weight if label not in known]:
        raise ValueError(f"`class_weight` names the class {unknown[0]!r}, but the classes are {known}")
    of_class = np.array([float(class_weight.get(label, 1.0)) for label in known])
    by_class = of_class[codes[codes >= 0]]
    return {"weights": by_class if weights is None else weights * by_class, "balanced": False, "distinct": False}


def partly_coded(y: Any, unlabelled: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in order, and the place of the class of every sample; -1 where the label is `unlabelled`."""
    if unlabelled is None:
        return coded(y)
    y = np.asarray(y)
    without = y == unlabelled
    if not isinstance(without, np.ndarray):  # labels that cannot be compared with it
        without = np.zeros(len(y), dtype=bool)
    if without.all():
        raise ValueError(
            f"every sample has the label {unlabelled!r}, which means none: at least two classes are needed"
        )
    classes, of_labelled = coded(y[~without])
    codes = np.full(len(y), -1, dtype=np.int64)
    codes[~without] = of_labelled
    return classes, codes


class Weighted:
    """An estimator whose samples may have weights, or no label. It stands before the class that fits."""

    class_weight: str | dict[Any, float] | None
    unlabelled: Any
    classes_: NDArray[Any]
    _sample_weight: Any

    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        batch: ArrayLike | None = None,
    ) -> Self:
        """Learn the axes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples: an array of float64 or float32, a data frame, or a SciPy sparse matrix or array. A contiguous array
            of float64 is not copied. A sparse matrix is made dense only if it is small.
        y : array-like of shape (n_samples,)
            The class of every sample, or ``unlabelled`` for a sample without one.
        sample_weight : array-like of shape (n_samples,), optional
            How much every sample counts, at least 0. Only ratios matter: a weight of 2 means the same as the sample
            twice, and 0 the same as leaving it out. Weights of samples without a label are not used.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, such as a plate or a study. The mean of every batch is subtracted first, and new
            samples need their batch. A batch needs at least two samples.

        Returns
        -------
        object
            The estimator itself.
        """
        self._sample_weight = sample_weight
        try:
            fitted: Self = super().fit(X, y, batch=batch)  # type: ignore[misc]
            return fitted
        finally:
            self.__dict__.pop("_sample_weight", None)

    def _coded(self, y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return partly_coded(y, self.unlabelled)

    def _counting(self, X: Any, codes: NDArray[np.int64]) -> Counting:
        """Return how much every sample of the fit counts."""
        return counting(X, codes, self.classes_, self.__dict__.get("_sample_weight"), self.class_weight)
