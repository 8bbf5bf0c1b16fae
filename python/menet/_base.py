"""What every estimator here has in common: projection, and scikit-learn's manners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from menet._input import DTYPES, SPARSE, Floats, Samples, project
from menet._running import threads, warn_user

if TYPE_CHECKING:
    from typing_extensions import Self


class Reducer(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A linear projection, and a decision in the projected space.

    A subclass fits in ``_fit_core``, sets ``components_`` and ``mean_``, and decides in ``_decide``.
    """

    # Whether ``fit`` needs ``y``; without it there is a projection and no classifier.
    _supervised = True

    n_jobs: int | None

    components_: Floats
    mean_: Floats
    classes_: NDArray[Any]
    n_components_: int
    n_nonzeros_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse samples are welcome, float32 stays so, and whether ``y`` is needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._supervised
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Samples, y: ArrayLike | None = None) -> Self:
        """Learn the axes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples: an array of float64 (not copied if it is contiguous, by rows or by columns) or float32, a
            data frame, or a SciPy sparse matrix or array, which MEN does not make dense unless it is small, and the
            other methods do.
        y : array-like of shape (n_samples,)
            The class of every sample. Methods that do not look at classes need it for ``predict`` alone, and take
            ``fit(X)`` without.

        Returns
        -------
        object
            The estimator itself.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y)
        except BaseException:
            # Half of a new fit beside half of an old one would predict nonsense: all of the old one, or none.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Samples, y: ArrayLike | None) -> None:
        how = {"accept_sparse": SPARSE, "dtype": DTYPES, "ensure_all_finite": False}
        if self._supervised or y is not None:
            X, y = validate_data(self, X, y, **how)
            try:
                check_classification_targets(y)
                self.classes_, codes = np.unique(y, return_inverse=True)
            except TypeError:
                raise TypeError("`y` mixes labels of kinds that cannot be ordered, such as text and None") from None
            classes, codes = self.classes_, codes.astype(np.int64, copy=False)
        else:
            X = validate_data(self, X, **how)
            self.__dict__.pop("classes_", None)
            classes, codes = np.array([""]), np.zeros(X.shape[0], dtype=np.int64)
        self._fit_core(X, codes, [str(name) for name in classes.tolist()], self._threads())

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        raise NotImplementedError

    def transform(self, X: Samples) -> Any:
        """Project samples on the axes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples. Sparse ones are not made dense.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The projected samples, or a frame if ``set_output`` asked for one. They are computed in double precision;
            those of float32 samples are given as float32.
        """
        return self._project(X, single=True)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Give every sample a class, by the rule in the projected space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their classes.
        """
        found = self._decide(self._project(X))
        predicted: NDArray[Any] = self.classes_[found]
        return predicted

    def _project(self, X: Samples, *, single: bool = False) -> Any:
        """Return projected samples, in single precision if that is asked for and theirs."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=SPARSE, dtype=DTYPES, ensure_all_finite=False, reset=False)
        axes = np.ascontiguousarray(self.components_, dtype=np.float64)
        mean = np.ascontiguousarray(self.mean_, dtype=np.float64)
        return project(X, mean, axes, self._threads(), single=single and X.dtype == np.float32)

    def _decide(self, z: Floats) -> NDArray[np.int64]:
        """Return the place in ``classes_`` of the class of every projected sample."""
        raise NotImplementedError

    def _unfitted_copy(self, **params: Any) -> Self:
        """Return an estimator with these parameters changed, and what was learned of the input and the classes."""
        copy: Self = clone(self).set_params(**params)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    def _set_axes(self, mean: Floats, components: Floats) -> None:
        self.mean_, self.components_ = mean, components
        self.n_components_ = len(components)
        self.n_nonzeros_ = np.count_nonzero(components, axis=1)

    def _threads(self) -> int:
        return threads(self.n_jobs)

    def _warn(self, summary: str) -> None:
        """Tell of numerical trouble, once a fit."""
        warn_user(f"{type(self).__name__}: {summary}")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
