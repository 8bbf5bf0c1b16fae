"""How much every sample counts: weights of samples and classes, and samples without a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from menet._anndata import check_layer, means_missing
from menet._batches import missing
from menet._exact import check_numbers
from menet._input import LARGEST, Samples
from menet._labels import coded
from menet._settings import number

if TYPE_CHECKING:
    from typing_extensions import Self


class SampleWeighting(TypedDict):
    """The weights of the labelled samples, as the core takes them."""

    weights: NDArray[np.float64] | None
    balanced: bool
    distinct: bool


def alike() -> SampleWeighting:
    """Return that all samples count alike."""
    return {"weights": None, "balanced": False, "distinct": False}


def counting(
    X: Any, codes: NDArray[np.int64], classes: NDArray[Any], sample_weight: Any, class_weight: Any
) -> SampleWeighting:
    """Return how much every sample with a label counts. `codes` has -1 for a sample without one."""
    weights = None
    if sample_weight is not None:
        check_numbers("sample_weight", sample_weight)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        _check_range(weights, codes)
        weights = np.ascontiguousarray(weights[codes >= 0])
    if class_weight is None or isinstance(class_weight, str):
        if class_weight not in (None, "balanced"):
            raise ValueError(f'`class_weight` is {class_weight!r}, but must be "balanced", a dict or None')
        return {"weights": weights, "balanced": class_weight is not None, "distinct": False}
    if not isinstance(class_weight, dict):
        raise TypeError(f'`class_weight` is {class_weight!r}, but must be "balanced", a dict or None')
    known = classes.tolist()
    if unknown := [label for label in class_weight if label not in known]:
        raise ValueError(f"`class_weight` names the class {unknown[0]!r}, but the classes are {known}")
    for label, value in class_weight.items():
        if not 0.0 <= number("class_weight", value) <= LARGEST:
            raise ValueError(f"`class_weight` is {value!r} for the class {label!r}, but must be from 0 to {LARGEST:g}")
    of_class = np.array([float(class_weight.get(label, 1.0)) for label in known])
    by_class = of_class[codes[codes >= 0]]
    return {"weights": by_class if weights is None else weights * by_class, "balanced": False, "distinct": False}


def _check_range(weights: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
    """Refuse a weight that cannot be one; those of samples without a label are not used."""
    wrong = np.flatnonzero((codes >= 0) & ~((weights >= 0.0) & (weights <= LARGEST)))
    if wrong.size:
        sample = int(wrong[0])
        raise ValueError(
            f"`sample_weight` is {float(weights[sample])!r} for sample {sample} (counted from 0), but must be from 0 "
            f"to {LARGEST:g}"
        )


def partly_coded(y: Any, unlabelled: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in order, and the place of the class of every sample; -1 where the label is `unlabelled`."""
    if unlabelled is None:
        return coded(y)
    y = np.asarray(y)
    without = _lacking(y) if means_missing(unlabelled) else y == unlabelled
    if not isinstance(without, np.ndarray):  # labels that cannot be compared with it
        without = np.zeros(len(y), dtype=bool)
    if without.all():
        raise ValueError(
            f"every sample has the label {unlabelled!r}, which means none: at least two classes are needed"
        )
    classes, of_labelled = coded(_numbers(y[~without]) if means_missing(unlabelled) else y[~without])
    codes = np.full(len(y), -1, dtype=np.int64)
    codes[~without] = of_labelled
    return classes, codes


def _lacking(y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([missing(label) for label in y.tolist()], dtype=bool)


def _numbers(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels as numbers if all are numbers: missing ones beside them make an array of objects."""
    numbers = np.array(y.tolist())
    return numbers if y.dtype == object and numbers.dtype.kind in "biuf" else y


class Weighted:
    """An estimator whose samples may have weights, or no label. It stands before the class that fits."""

    class_weight: str | dict[Any, float] | None
    unlabelled: Any
    classes_: NDArray[Any]
    _sample_weight: Any
    _layer: str | None

    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        batch: ArrayLike | None = None,
        layer: str | None = None,
    ) -> Self:
        """Learn the axes.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples: an array of float64 or float32, a data frame, or a SciPy sparse matrix or array. A contiguous array
            of float64 is not copied. A sparse matrix is made dense only if it is small. From an AnnData object, the
            fit reads ``X`` or a layer, and ``var_names``. It writes the projected samples to ``obsm["X_menet"]``, the
            weights to ``varm["menet"]`` and a summary to ``uns["menet"]``, and replaces what was there.
        y : array-like of shape (n_samples,) or str
            The class of every sample, or ``unlabelled`` for a sample without one. For an AnnData object: the name of a
            column of ``obs``.
        sample_weight : array-like of shape (n_samples,) or str, optional
            How much every sample counts, at least 0. Only ratios matter: a weight of 2 means the same as the sample
            twice, and 0 the same as leaving it out. Weights of samples without a label are not used. For an AnnData
            object it may be the name of a column of ``obs``.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, such as a plate or a study. The mean of every batch is subtracted first, and new
            samples need their batch. A batch needs at least two samples. For an AnnData object it may be the name of a
            column of ``obs``.
        layer : str, optional
            The layer of the AnnData object to read. None: ``X``. All other methods read the same layer.

        Returns
        -------
        object
            The estimator itself.
        """
        check_layer(X, layer)
        self._sample_weight, self._layer = sample_weight, layer
        try:
            fitted: Self = super().fit(X, y, batch=batch)  # type: ignore[misc]
            return fitted
        finally:
            for name in ("_sample_weight", "_layer"):
                self.__dict__.pop(name, None)

    def _validated(self, X: Samples, *y: Any, reset: bool = False) -> Any:
        if not y or y[0] is None or not means_missing(self.unlabelled):
            return super()._validated(X, *y, reset=reset)  # type: ignore[misc]
        # scikit-learn refuses missing labels.
        X, labels = super()._validated(X, reset=reset), column_or_1d(y[0])  # type: ignore[misc]
        check_consistent_length(X, labels)
        return X, labels

    def _coded(self, y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return partly_coded(y, self.unlabelled)

    def _counting(self, X: Any, codes: NDArray[np.int64]) -> SampleWeighting:
        """Return how much every sample of the fit counts."""
        return counting(X, codes, self.classes_, self.__dict__.get("_sample_weight"), self.class_weight)
