"""The estimator for Dask arrays and data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

import menet
from menet import _anndata, _core, _labels
from menet._input import naming_variables
from menet._parameters import settings
from menet._settings import count
from menet.dask import _lazy, _tasks
from menet.dask._engine import Engine, clear_errors, current_client
from menet.dask._fit import Chunks, Fit, Moments, read
from menet.dask._input import DaskSamples, check_futures, is_dask, is_frame, labels, samples

if TYPE_CHECKING:
    from typing_extensions import Self


class ManifoldElasticNet(menet.ManifoldElasticNet):
    """Sparse, supervised, linear dimension reduction of samples that no process holds at once.

    The parameters and the attributes are those of `menet.ManifoldElasticNet`, and so is the model: the same variables,
    and weights that agree to about ten digits. ``fit`` takes a Dask array or data frame and computes at once, on the
    cluster of the current `distributed.Client`, or on Dask's local scheduler if there is none. For the same chunks the
    result is the same to the last bit, whatever the number of workers and threads.

    ``transform``, ``predict``, ``predict_proba``, ``predict_log_proba`` and ``decision_function`` of Dask samples are
    lazy Dask arrays. Samples in memory are treated as in `menet.ManifoldElasticNet`.

    The number of variables is limited to 6,000, since one worker holds the Gram matrix. If there are no more samples
    than variables, one worker holds the samples, which are smaller than that matrix, and fits as usual.

    Parameters
    ----------
    n_components, n_nonzeros, panel_size, ridge, pca_rank, prepare, patch, manifold, target, penalty, refit, rule : \
            object
        As in `menet.ManifoldElasticNet`. With more samples than variables, these are refused:
        ``Manifold(definiteness="floor")`` and what prepares samples.
    class_weight, unlabelled : object
        Not used on Dask: a fit counts all samples alike, and refuses them.
    compute : Compute, optional
        As in `menet.ManifoldElasticNet`. With more samples than variables, ``Compute(route="dense")`` and
        ``Compute(gram="columns")`` are refused.
    n_jobs : int, optional
        Number of threads for samples in memory. Workers use the threads that they have.

    See Also
    --------
    menet.ManifoldElasticNet : The same for samples in memory, with a description of every parameter and attribute.
    menet.dask.progress : Shows how far a fit is.

    Notes
    -----
    A fitted estimator keeps a reference to its training samples, which ``at`` computes with again. A pickle and a model
    file keep none.

    Examples
    --------
    >>> import dask.array as da
    >>> from menet.dask import ManifoldElasticNet
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = da.from_array(X, chunks=(500, -1))
    >>> men = ManifoldElasticNet(n_nonzeros=10).fit(X, y)
    >>> men.transform(X)
    dask.array<project, shape=(1797, 9), dtype=float64, chunksize=(500, 9), chunktype=numpy.ndarray>
    >>> float((men.predict(X) == y).mean().compute()) > 0.9
    True
    """

    # The training samples as they were given, with what smaller models are read with.
    _spread: tuple[DaskSamples, NDArray[np.int64], Moments | None] | None = None

    def _fit(self, X: Any, y: ArrayLike | None) -> None:
        _anndata.refuse(X, "menet.dask")
        if not is_dask(X):
            self._spread = None
            super()._fit(X, y)
            return
        _refuse(self._batch)
        self._threads()  # refuses what `n_jobs` must not be, as in memory
        engine = Engine()
        given = samples(X, "a fit")
        rows, columns = given.X.shape
        self.classes_, codes = _labels.coded(labels(y, rows))
        if len(self.classes_) < 2:
            raise ValueError(f"1 class found in {rows} samples, but at least 2 are needed")
        self.n_features_in_ = columns
        self.__dict__.pop("feature_names_in_", None)
        if given.names is not None:
            self.feature_names_in_ = given.names
        self._refuse_weights()
        chosen = settings(self)
        _core.check_variables(chosen, columns, None if given.names is None else given.names.tolist())
        engine.warn_of_no_workers()
        with naming_variables(given.names):
            model, moments = _fitted(engine, chosen, given, codes, self.classes_)
        self._set_model(model)
        self._training = None
        self._spread = (given, codes, moments)
        if warnings := model.warnings():
            self._warn("; ".join(warnings))

    def _refuse_weights(self) -> None:
        """Refuse what only a fit in memory can do."""
        given = {"sample_weight": self.__dict__.get("_sample_weight"), "class_weight": self.class_weight}
        for name, value in {**given, "unlabelled": self.unlabelled}.items():
            if value is not None:
                raise ValueError(f"`{name}` is given, but a fit on Dask counts all samples alike: leave it out")

    def at(
        self, *, n_nonzeros: int | None = None, n_components: int | None = None, panel_size: int | None = None
    ) -> Self:
        """Return the same fit with fewer variables or fewer axes.

        The training samples are read once more, by the workers. Where the paths of this fit do not hold the smaller
        model, the samples are fitted again: with groups and the penalties "reweighted", "scad" and "mcp", which are
        solved for one size; and with a ``panel_size``, or a smaller `n_components` beside one, that needs longer paths.

        Parameters
        ----------
        n_nonzeros : int, optional
            Largest number of variables that the path of an axis selects; at most the fitted number.
        n_components : int, optional
            Number of paths to keep.
        panel_size : int, optional
            Largest number of variables in the panel.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator. This one does not change.
        """
        check_is_fitted(self)
        if self._spread is None and self._training is None and self.refit_["refit"] != "none":
            raise ValueError(
                "the training samples of this model are not known: a copy, a pickle and a model file of a fit on Dask "
                "keep none; fit again with the size you want"
            )
        if self._spread is None:
            return super().at(n_nonzeros=n_nonzeros, n_components=n_components, panel_size=panel_size)
        asked = {"n_nonzeros": n_nonzeros, "n_components": n_components, "panel_size": panel_size}
        k, d, size = (None if value is None else count(name, value) for name, value in asked.items())
        (given, codes, moments), engine = self._spread, Engine()
        # What can be refused is refused before the samples are read.
        check_futures(given.X)
        try:
            self._model.wanted(k, d, size)
        except ValueError as e:
            if "training samples" not in str(e):
                raise
            if moments is not None:
                changed = {name: value for name, value in asked.items() if value is not None}
                return self._unfitted_copy(**changed).fit(given, self.classes_[codes])
        with engine.stage("preprocess"):
            chunks = Chunks(engine, given.X, codes, len(self.classes_))
        if moments is None:
            with engine.stage("refit"):
                task = engine.task("at", _tasks.at_whole, self._model, (k, d, size), chunks.blocks(), chunks.codes)
                model = engine.get(task)
        else:
            model = read(engine, chunks, self._model, moments, (k, d, size))
        out = self._unfitted_copy()
        out._set_params_of(model)
        out._set_model(model)
        out._training, out._spread = None, self._spread
        return out

    def transform(self, X: Any, *, batch: ArrayLike | None = None) -> Any:
        """Project samples on the axes.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_components)
            The projected samples, lazy for Dask samples. The computation is in double precision; the result is float32
            for float32 samples.
        """
        if not is_dask(X):
            return super().transform(X, batch=batch)
        _refuse(batch)
        self._check_lazy()
        return _lazy.transform(*self._checked(X))

    def predict(self, X: Any, *, batch: ArrayLike | None = None) -> Any:
        """Predict the class of every sample, by the rule in the projected space.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            Their classes, lazy for Dask samples.
        """
        if not is_dask(X):
            return super().predict(X, batch=batch)
        _refuse(batch)
        model, given = self._checked(X)
        return _lazy.predict(model, self.classes_, given)

    def predict_log_proba(self, X: Any, *, batch: ArrayLike | None = None) -> Any:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            The log-probabilities, one column per class in the order of ``classes_``, lazy for Dask samples.
        """
        if not is_dask(X):
            return super().predict_log_proba(X, batch=batch)
        _refuse(batch)
        model, given = self._checked(X)
        return _lazy.log_probabilities(model, self.classes_, given)

    def predict_proba(self, X: Any, *, batch: ArrayLike | None = None) -> Any:
        """Return the probability of every class.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            The probabilities, one column per class in the order of ``classes_``, lazy for Dask samples.
        """
        logs = self.predict_log_proba(X, batch=batch)
        return da.exp(logs) if isinstance(logs, da.Array) else np.exp(logs)

    def decision_function(self, X: Any, *, batch: ArrayLike | None = None) -> Any:
        """Return the decision value of every class.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,) or (n_samples, n_classes)
            As in `menet.ManifoldElasticNet`, lazy for Dask samples.
        """
        if not is_dask(X):
            return super().decision_function(X, batch=batch)
        _refuse(batch)
        check_is_fitted(self)
        if len(self.classes_) == 2:
            logs = self.predict_log_proba(X)
            return logs[:, 1] - logs[:, 0]
        model, given = self._checked(X)
        return _lazy.decision_values(model, self.classes_, given)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, batch: ArrayLike | None = None) -> float:
        """Return the mean accuracy on samples.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        y : array-like or Dask array of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.

        Returns
        -------
        float
            The mean accuracy. It is computed at once.
        """
        if not is_dask(X):
            return super().score(X, y, sample_weight, batch=batch)
        _refuse(batch)
        model, given = self._checked(X)
        true = labels(y, given.X.shape[0])
        # Only by all their values are samples recognised.
        whole = self._whole(X)
        seen = 0 if whole is None else _lazy.seen(self._model, whole).sum()
        with clear_errors("while samples were scored", current_client()):
            predicted, seen = dask.compute(_lazy.predict(model, self.classes_, given), seen)
        rate = float(accuracy_score(true, predicted, sample_weight=sample_weight))
        self._warn_of_seen(int(seen), given.X.shape[0])
        return rate

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: everything but the training samples, which are on a cluster."""
        state = super().__getstate__()
        state.pop("_spread", None)
        return state

    def fit_transform(self, X: Any, y: Any = None, *, batch: ArrayLike | None = None, **fit_params: Any) -> Any:
        """Fit, and project the samples on the axes.

        Parameters
        ----------
        X : Dask array or data frame, or array-like of shape (n_samples, n_features)
            Samples.
        y : array-like or Dask array of shape (n_samples,)
            Their classes.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample; for samples in memory.
        **fit_params : object
            None is known.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_components)
            The projected samples, lazy for Dask samples.
        """
        if is_dask(X):
            self._check_lazy()
        return super().fit_transform(X, y, batch=batch, **fit_params)

    def _check_lazy(self) -> None:
        """Refuse to make frames of Dask samples: scikit-learn would compute all of them here."""
        chosen = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if chosen != "default":
            raise ValueError(
                f"set_output asks for {chosen!r}, but the projection of Dask samples is a lazy Dask array: use "
                'set_output(transform="default"), or project samples in memory'
            )

    def _checked(self, X: Any) -> tuple[_core.Model, DaskSamples]:
        """Return the form of the model that samples are for, and the samples: of a frame, the columns that it needs."""
        check_is_fitted(self)
        model = self._model
        if is_frame(X) and hasattr(self, "feature_names_in_"):
            named = [name for name in X.columns if isinstance(name, str)]
            model, wanted = self._form(named)
            self._refuse_lacking(named, wanted)
            return model, samples(X[list(wanted)], "a projection")
        given = samples(X, "a projection")
        columns, name = given.X.shape[1], type(self).__name__
        if columns != self.n_features_in_:
            raise ValueError(
                f"X has {columns} features, but {name} is expecting {self.n_features_in_} features as input"
            )
        return model, given

    def _whole(self, X: Any) -> DaskSamples | None:
        """Return samples with all variables of the fit; None if they lack some, or some hold text."""
        if not (is_frame(X) and hasattr(self, "feature_names_in_")):
            return samples(X, "a score")
        if not set(X.columns).issuperset(self.feature_names_in_):
            return None
        try:
            return samples(X[list(self.feature_names_in_)], "a score")
        except ValueError:
            return None


def _fitted(
    engine: Engine, chosen: dict[str, Any], given: DaskSamples, codes: NDArray[np.int64], classes: NDArray[Any]
) -> tuple[_core.Model, Moments | None]:
    """Fit samples in chunks, or on one worker if there are no more rows than columns."""
    rows, columns = given.X.shape
    facts = {
        "classes": [str(name) for name in classes.tolist()],
        "label_kind": _labels.kind_of(classes),
        "feature_names": None if given.names is None else given.names.tolist(),
    }
    if columns > _core.GRAM_LIMIT:
        raise ValueError(
            f"`X` has {columns} variables, but at most {_core.GRAM_LIMIT} can be fitted on Dask, since one worker "
            "holds a matrix of variables by variables: select variables first, or use menet.ManifoldElasticNet if the "
            "samples fit in memory"
        )
    if rows <= columns:
        with engine.stage("preprocess"):
            chunks = Chunks(engine, given.X, codes, len(classes))
            chunks.look()
        with engine.stage("fit"):
            parts = (chosen, chunks.blocks(), chunks.codes, *facts.values())
            return engine.get(engine.task("fit", _tasks.fit_whole, *parts)), None
    _core.check_pieces(chosen, rows, columns, len(classes))
    return Fit(engine, chosen, facts).run(given.X, codes)


def _refuse(batch: Any) -> None:
    """Refuse batches of Dask samples."""
    if batch is not None:
        raise ValueError("`batch` works for samples in memory only: centre Dask samples by batch before the fit")
