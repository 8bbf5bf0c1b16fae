"""What all estimators have in common: the projection, and the conventions of scikit-learn."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from menet._anndata import column, refuse
from menet._batches import batch_names
from menet._exact import validated
from menet._input import Floats, Samples, contiguous, naming_variables
from menet._labels import coded
from menet._running import threads, warn_user

if TYPE_CHECKING:
    from typing_extensions import Self


class CoreModel(Protocol):
    """What a fitted model of the core can do. It stays in the core's memory between calls."""

    def project(self, x: Any, threads: int, single: bool, batches: list[str] | None = None) -> Any:
        """Project samples."""

    def classify(self, z: Floats, threads: int) -> NDArray[np.int64]:
        """Return the place in ``classes_`` of the class of every projected sample."""


class Reducer(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A linear projection, and a decision in the projected space.

    A subclass fits in ``_fit_core``, which sets ``_model``, ``components_`` and ``mean_``.
    """

    # Whether ``fit`` needs ``y``. Without ``y`` there is a projection, but no classifier.
    _supervised = True

    # The fitted model of the core.
    _model: CoreModel

    n_jobs: int | None

    components_: Floats
    mean_: Floats
    classes_: NDArray[Any]
    n_components_: int
    n_nonzeros_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse samples are accepted, float32 is kept, and whether ``y`` is needed."""
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
            Samples: an array of float64 or float32, a data frame, or a SciPy sparse matrix or array. A contiguous array
            of float64 is not copied. `ManifoldElasticNet` makes a sparse matrix dense only if it is small; the
            baselines always make it dense.
        y : array-like of shape (n_samples,)
            The class of every sample. Unsupervised baselines use it for ``predict`` only. They accept ``fit(X)``, and
            ignore a `y` that is no list of classes, such as the target of a regression.

        Returns
        -------
        object
            The estimator itself.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y)
        except BaseException:
            # Keep the old fit whole: half of a new fit beside half of an old one would predict nonsense.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Samples, y: ArrayLike | None) -> None:
        refuse(X, type(self).__name__)
        if self._supervised or (y is not None and _are_classes(y)):
            X, y = self._validated(X, y, reset=True)
            self.classes_, codes = self._coded(y)
            classes = self.classes_
        else:
            X = self._validated(X, reset=True)
            self.__dict__.pop("classes_", None)
            classes, codes = np.array([""]), np.zeros(X.shape[0], dtype=np.int64)
        with naming_variables(getattr(self, "feature_names_in_", None)):
            self._fit_core(X, codes, [str(name) for name in classes.tolist()], self._threads())

    def _validated(self, X: Samples, *y: Any, reset: bool = False) -> Any:
        """Return samples, and labels if they are given, as the core reads them. `reset` where they are fitted."""
        refuse(X, type(self).__name__)
        return validated(self, X, *y, reset=reset)

    def _coded(self, y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return coded(y)

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
            The projected samples, or a frame if ``set_output`` asks for one. The computation is in double precision;
            the result is float32 for float32 samples.
        """
        return self._project(X, single=True)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the class of every sample, by the rule in the projected space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their classes.
        """
        z = self._project(X)
        self._check_classes()
        predicted: NDArray[Any] = self.classes_[self._model.classify(z, self._threads())]
        return predicted

    def _project(self, X: Samples, *, single: bool = False, batch: Any = None, decides: bool = False) -> Any:
        """Return projected samples, in single precision if `single` and the samples are; warn before it `decides`."""
        check_is_fitted(self)
        batch = column(X, "batch", self.__dict__.get("_known_batch") if batch is None else batch)
        model, X, names = self._read(X)
        batches = () if batch is None else (batch_names(batch, X.shape[0]),)
        with naming_variables(names):
            X = contiguous(X)
            z = model.project(X, self._threads(), single and X.dtype == np.float32, *batches)
            # After what is refused.
            if decides:
                for doubt in model.doubts_of(X, self._threads(), *batches):
                    warn_user(doubt, UserWarning)
            return z

    def _read(self, X: Samples) -> tuple[Any, Any, Any]:
        """Return the form of the model that these samples are for, the samples, and the names of their variables."""
        return self._model, self._validated(X), getattr(self, "feature_names_in_", None)

    def _check_classes(self) -> None:
        """Refuse to predict where there are no classes."""

    def _unfitted_copy(self, **params: Any) -> Self:
        """Return an estimator with these parameters changed, that knows the variables and the classes of this one."""
        copy: Self = clone(self).set_params(**params)
        for name in ("classes_", "n_features_in_", "feature_names_in_", "layer_"):
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
        """Warn of numerical trouble, once per fit."""
        warn_user(f"{type(self).__name__}: {summary}")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


def _are_classes(y: Any) -> bool:
    """Return whether `y` is a list of classes, and not the target of a regression or several targets."""
    with warnings.catch_warnings():
        # Many different whole numbers are no reason to warn where `y` may be ignored.
        warnings.simplefilter("ignore")
        try:
            return type_of_target(y, input_name="y") in ("binary", "multiclass")
        except TypeError:  # labels that cannot be compared
            return False
