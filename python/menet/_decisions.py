"""What `ManifoldElasticNet` and `ManifoldElasticNetCV` have in common: decisions by a learned rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import accuracy_score

from menet._anndata import all_of_the_fit, column, scored
from menet._batches import batch_names
from menet._fitted import FittedReducer
from menet._input import Floats, Samples, check_memory, contiguous, naming_variables
from menet._parameters import Parameters
from menet._running import warn_user

if TYPE_CHECKING:
    from typing_extensions import Self


class Decider(Parameters, FittedReducer):
    """A projection with a rule that gives classes and probabilities.

    A subclass fits a model of the core in ``_fit_core`` and stores it with ``_set_model``.
    """

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values are accepted where they are filled."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self.prepare, "impute", None) is not None
        return tags

    def fit(self, X: Samples, y: ArrayLike | None = None, *, batch: ArrayLike | None = None) -> Self:
        """Learn the axes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples: an array of float64 or float32, a data frame, or a SciPy sparse matrix or array. A contiguous array
            of float64 is not copied. A sparse matrix is made dense only if it is small. NaN stands for a missing value
            if ``prepare`` fills them, as in ``Prepare(impute="median")``.
        y : array-like of shape (n_samples,)
            The class of every sample.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, such as a plate or a study. The mean of every batch is subtracted first, and new
            samples need their batch. A batch needs at least two samples.

        Returns
        -------
        object
            The estimator itself.
        """
        self._batch = batch
        try:
            return super().fit(X, y)
        finally:
            self.__dict__.pop("_batch", None)

    def fit_transform(
        self, X: Samples, y: ArrayLike | None = None, *, batch: ArrayLike | None = None, **fit_params: Any
    ) -> Any:
        """Learn the axes, and project the same samples on them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            The class of every sample.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample.
        **fit_params : dict
            Other arguments of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The projected samples.
        """
        return self.fit(X, y, batch=batch, **fit_params).transform(X, batch=batch)

    def transform(self, X: Samples, *, batch: ArrayLike | None = None) -> Any:
        """Project samples on the axes.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples. Sparse ones are not made dense. Variables of an AnnData object are matched by name; other variables
            are not read.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches. A batch that the model does not know is
            centred by its own samples, of which there must be at least two.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The projected samples, or a frame if ``set_output`` asks for one. The computation is in double precision;
            the result is float32 for float32 samples.
        """
        return self._project(X, single=True, batch=batch)

    def predict(self, X: Samples, *, batch: ArrayLike | None = None) -> NDArray[Any]:
        """Predict the class of every sample, by the rule in the projected space.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches. A batch that the model does not know is
            centred by its own samples, of which there must be at least two.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their classes.
        """
        z = self._project(X, batch=batch, decides=True)
        predicted: NDArray[Any] = self.classes_[self._model.classify(z, self._threads())]
        return predicted

    def prepared(self, X: Samples, *, batch: ArrayLike | None = None) -> Floats:
        """Return samples as the fit sees them: scaled, centred by batch, missing values filled.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples. Sparse ones are made dense.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches. A batch that the model does not know is
            centred by its own samples, of which there must be at least two.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The prepared samples: ``transform`` is ``(prepared(X) - mean_) @ components_.T``. A variable that was left
            out is 0.
        """
        model = self._model_of_fit()
        batch, X = column(X, "batch", batch), self._validated(X)
        if sparse.issparse(X):
            check_memory(X, 2)
        with naming_variables(getattr(self, "feature_names_in_", None)):
            return model.prepared(contiguous(X), self._threads(), batch_names(batch, X.shape[0]))

    def predict_proba(self, X: Samples, *, batch: ArrayLike | None = None) -> Floats:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches. A batch that the model does not know is
            centred by its own samples, of which there must be at least two.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, one column per class in the order of ``classes_``; each row sums to 1.
        """
        probabilities: Floats = np.exp(self.predict_log_proba(X, batch=batch))
        return probabilities

    def predict_log_proba(self, X: Samples, *, batch: ArrayLike | None = None) -> Floats:
        """Return the logarithm of the probability of every class.

        It is computed directly, so it is finite even where the probability is too small for a floating-point number.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches. A batch that the model does not know is
            centred by its own samples, of which there must be at least two.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The log-probabilities, one column per class in the order of ``classes_``.
        """
        return self._model_of_fit().log_probabilities(self._project(X, batch=batch, decides=True), self._threads())

    def decision_function(self, X: Samples, *, batch: ArrayLike | None = None) -> Floats:
        """Return the decision value of every class.

        The values are the log-probabilities before normalisation.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches. A batch that the model does not know is
            centred by its own samples, of which there must be at least two.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, one number per sample: the log-odds of ``classes_[1]``, which is predicted where they are
            positive. With more classes, one column per class in the order of ``classes_``. The class with the largest
            value is predicted.
        """
        z = self._project(X, batch=batch, decides=True)
        if len(self.classes_) == 2:
            # From log-probabilities: the term that both values share may be so large that their difference is lost.
            logs = self._model.log_probabilities(z, self._threads())
            odds: Floats = logs[:, 1] - logs[:, 0]
            return odds
        return self._model.decision_values(z, self._threads())

    def score(self, X: Samples, y: Any, sample_weight: Any = None, *, batch: ArrayLike | None = None) -> float:
        """Return the mean accuracy on samples.

        It warns if most of the samples were used in the fit: the score of those is near 1 whatever was learned.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or str
            Their classes.
        sample_weight : array-like of shape (n_samples,) or str, optional
            Weights of the samples.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches.

        Returns
        -------
        float
            The mean accuracy.
        """
        y, sample_weight = scored(X, y, sample_weight)
        rate = float(accuracy_score(y, self.predict(X, batch=batch), sample_weight=sample_weight))
        self._warn_of_training(X)
        return rate

    def _prepares(self) -> bool:
        """Return whether the model changes samples before it projects them."""
        return json.loads(self._model_of_fit().preparation()) is not None

    def _warn_of_training(self, X: Samples) -> None:
        # Only by all their values are samples recognised.
        X = all_of_the_fit(self, X)
        if X is None:
            return
        try:
            X = self._validated(X)
        except ValueError:
            # Of a frame, the panel was read before: a variable outside it holds text.
            return
        self._warn_of_seen(self._model.seen(contiguous(X), self._threads()), X.shape[0])

    def _warn_of_seen(self, seen: int, samples: int) -> None:
        if 2 * seen > samples:
            warn_user(
                f"{seen} of these {samples} samples were used in the fit: their score says nothing about new "
                "samples; hold some back with train_test_split, or use cross_val_score",
                UserWarning,
            )
