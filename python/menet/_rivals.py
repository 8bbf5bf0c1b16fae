"""The methods that the Manifold Elastic Net is compared with, and of them those whose axes use all variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._base import Reducer
from menet._input import COPIES_IN_A_FIT, Floats, dense, project
from menet._settings import OUTSIDE, choice, count, settings

if TYPE_CHECKING:
    from typing_extensions import Self


class Rival(Reducer):
    """A method that is its projection: what it learned is in ``components_`` and ``mean_``.

    It decides by the nearest training sample in the projected space.
    """

    _core_name: ClassVar[str]

    n_components: int | None
    metric: str

    @property
    def _supervised(self) -> bool:  # type: ignore[override]
        return bool(getattr(self, "supervised", True))

    _train: Floats
    _codes: NDArray[np.int64]

    # The metric of the fit, whatever became of the parameter since.
    _metric: str

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        self._metric = choice("metric", self.metric)
        asked = None if self.n_components is None else count("n_components", self.n_components, or_none=True)
        params = settings(self, without=OUTSIDE)
        mean, components, unsettled = _core.fit_rival(
            self._core_name, params, dense(X, copies=COPIES_IN_A_FIT), codes, classes, asked, threads
        )
        if asked is not None and asked > len(components):
            raise ValueError(
                f"`n_components` is {asked}, but {type(self).__name__} finds only {len(components)} axes in these data"
            )
        self._set_axes(mean, components)
        self._train, self._codes = project(X, mean, components, threads), codes
        if unsettled is not None:
            self._warn(unsettled)

    def at(self, *, n_components: int | None = None) -> Self:
        """Return the same fit with only the first axes, without fitting again.

        Parameters
        ----------
        n_components : int, optional
            How many axes to keep.

        Returns
        -------
        object
            A fitted estimator; this one is left as it is.
        """
        check_is_fitted(self)
        d = self.n_components_ if n_components is None else count("n_components", n_components)
        if not 1 <= d <= self.n_components_:
            allowed = f"1 to {self.n_components_}, the number that was fitted"
            raise ValueError(f"`n_components` is {d}, but must be {allowed}")
        out = self._unfitted_copy(n_components=d)
        out._set_axes(self.mean_, self.components_[:d])
        out._train, out._codes = np.ascontiguousarray(self._train[:, :d]), self._codes
        out._metric = self._metric
        return out

    def _decide(self, z: Floats) -> NDArray[np.int64]:
        if not hasattr(self, "classes_"):
            raise NotFittedError(
                f"this {type(self).__name__} was fitted without `y`, so that it knows no classes to predict"
            )
        return _core.nearest(self._train, self._codes, z, self._metric, self._threads())


class PCA(Rival):
    """Principal component analysis: the directions of largest variance.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: the rank of the centred data.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads: None means 1, or what `joblib.parallel_config` says; -1 means all. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, orthonormal.
    mean_ : ndarray of shape (n_features,)
        The mean that is taken off before projecting.
    classes_ : ndarray of shape (n_classes,)
        The classes; not there if `y` was left out.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    Examples
    --------
    >>> from menet import PCA
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PCA(n_components=5).fit(X[:500], y[:500])
    >>> model.transform(X[500:]).shape
    (1297, 5)
    """

    _core_name = "pca"
    _supervised = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_jobs = n_jobs


class FLDA(Rival):
    """Fisher's linear discriminant analysis: classes far apart for their width, after PCA.

    A singular within-class scatter (more variables than samples, or duplicates) needs no ridge here.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: one less than there are classes.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are sought. None: the number of samples less that of classes, as in
        the paper.
    ridge : float, default=0.0
        The ridge on the within-class scatter relative to its mean eigenvalue, at least 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads: None means 1, or what `joblib.parallel_config` says; -1 means all. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, of length 1.
    mean_ : ndarray of shape (n_features,)
        The mean that is taken off before projecting.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    Examples
    --------
    >>> from menet import FLDA
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FLDA(n_components=5).fit(X[:500], y[:500])
    >>> model.transform(X[500:]).shape
    (1297, 5)
    """

    _core_name = "flda"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        pca_rank: int | None = None,
        ridge: float = 0.0,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.pca_rank = pca_rank
        self.ridge = ridge
        self.metric = metric
        self.n_jobs = n_jobs


class DLA(Rival):
    """Discriminative locality alignment: the manifold part of the Manifold Elastic Net alone, dense.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: the dimension of the PCA space.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are sought. None: one less than there are samples, as in the paper.
    k_within : int, default=5
        Neighbours of the same class, at least 1; a smaller class uses what it has.
    k_between : int, default=5
        Neighbours of other classes, at least 0.
    kappa : float, default=0.1
        How strongly near samples of other classes are pushed apart, at least 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads: None means 1, or what `joblib.parallel_config` says; -1 means all. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, orthonormal.
    mean_ : ndarray of shape (n_features,)
        The mean that is taken off before projecting.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    Examples
    --------
    >>> from menet import DLA
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DLA(n_components=5).fit(X[:500], y[:500])
    >>> model.transform(X[500:]).shape
    (1297, 5)
    """

    _core_name = "dla"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        pca_rank: int | None = None,
        k_within: int = 5,
        k_between: int = 5,
        kappa: float = 0.1,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.pca_rank = pca_rank
        self.k_within = k_within
        self.k_between = k_between
        self.kappa = kappa
        self.metric = metric
        self.n_jobs = n_jobs


class LPP(Rival):
    """Locality preserving projections, supervised (SLPP) or not: neighbours stay near.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: the dimension of the PCA space.
    supervised : bool, default=True
        Whether neighbours come from the same class only; if not, `y` may be left out.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are sought. None: one less than there are samples, as in the paper.
    k : int, default=5
        Neighbours, at least 1; a smaller class uses what it has.
    bandwidth : float, optional
        Width of the heat kernel. None: the median distance to the neighbours.
    binary : bool, default=False
        Whether all neighbours weigh 1 in place of the heat kernel.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads: None means 1, or what `joblib.parallel_config` says; -1 means all. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, of length 1.
    mean_ : ndarray of shape (n_features,)
        The mean that is taken off before projecting.
    classes_ : ndarray of shape (n_classes,)
        The classes; not there if `y` was left out.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    Examples
    --------
    >>> from menet import LPP
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LPP(n_components=5).fit(X[:500], y[:500])
    >>> model.transform(X[500:]).shape
    (1297, 5)
    """

    _core_name = "slpp"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        supervised: bool = True,
        pca_rank: int | None = None,
        k: int = 5,
        bandwidth: float | None = None,
        binary: bool = False,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.supervised = supervised
        self.pca_rank = pca_rank
        self.k = k
        self.bandwidth = bandwidth
        self.binary = binary
        self.metric = metric
        self.n_jobs = n_jobs


class NPE(Rival):
    """Neighbourhood preserving embedding, supervised or not: samples are made of their neighbours.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: the dimension of the PCA space.
    supervised : bool, default=True
        Whether neighbours come from the same class only; if not, `y` may be left out.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are sought. None: one less than there are samples, as in the paper.
    k : int, default=5
        Neighbours, at least 1; a smaller class uses what it has.
    regularizer : float, default=0.001
        Regularizer of the reconstruction, more than 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads: None means 1, or what `joblib.parallel_config` says; -1 means all. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, of length 1.
    mean_ : ndarray of shape (n_features,)
        The mean that is taken off before projecting.
    classes_ : ndarray of shape (n_classes,)
        The classes; not there if `y` was left out.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    Examples
    --------
    >>> from menet import NPE
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NPE(n_components=5).fit(X[:500], y[:500])
    >>> model.transform(X[500:]).shape
    (1297, 5)
    """

    _core_name = "npe"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        supervised: bool = True,
        pca_rank: int | None = None,
        k: int = 5,
        regularizer: float = 1e-3,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.supervised = supervised
        self.pca_rank = pca_rank
        self.k = k
        self.regularizer = regularizer
        self.metric = metric
        self.n_jobs = n_jobs
