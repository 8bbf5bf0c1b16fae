"""Decisions by the model on a stable panel."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from menet._input import Floats, Samples
from menet._men import ManifoldElasticNet


class StablePanelDecisions(ClassifierMixin):  # type: ignore[misc]
    """Classes and probabilities from ``estimator_``, which a subclass fits on the variables that it selects."""

    estimator_: ManifoldElasticNet | None

    def predict(self, X: Samples, *, batch: ArrayLike | None = None) -> NDArray[Any]:
        """Predict the class of every sample by the model on the stable panel.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples of all variables.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, if the model was fitted with batches.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their classes.
        """
        return self._model().predict(X, batch=batch)

    def predict_proba(self, X: Samples, *, batch: ArrayLike | None = None) -> Floats:
        """Return the probability of every class by the model on the stable panel.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples of all variables.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, if the model was fitted with batches.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, one column per class in the order of ``classes_``.
        """
        return self._model().predict_proba(X, batch=batch)

    def predict_log_proba(self, X: Samples, *, batch: ArrayLike | None = None) -> Floats:
        """Return the logarithm of the probability of every class by the model on the stable panel.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples of all variables.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, if the model was fitted with batches.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The log-probabilities, one column per class in the order of ``classes_``.
        """
        return self._model().predict_log_proba(X, batch=batch)

    def score(self, X: Samples, y: Any, sample_weight: Any = None, *, batch: ArrayLike | None = None) -> float:
        """Return the mean accuracy of the model on the stable panel.

        It warns if most of the samples were used in the fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples of all variables.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, if the model was fitted with batches.

        Returns
        -------
        float
            The mean accuracy.
        """
        return self._model().score(X, y, sample_weight, batch=batch)

    def _model(self) -> ManifoldElasticNet:
        check_is_fitted(self)
        if self.estimator_ is None:
            raise ValueError(
                f"this {type(self).__name__} found no stable variable, so there is no model to predict with: lower "
                "`threshold`, raise `false_selections`, or use more samples"
            )
        return self.estimator_
