"""The baselines whose axes use all variables."""

from __future__ import annotations

from menet._baseline import Baseline
from menet._stages import RuleMetric


class PCA(Baseline):
    """Principal component analysis: the directions of largest variance.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: the rank of the centred data.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, orthonormal.
    mean_ : ndarray of shape (n_features,)
        The mean of the training samples, which is subtracted before the projection.
    classes_ : ndarray of shape (n_classes,)
        The classes. Missing if `fit` had no `y` with classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        Number of variables that every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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
        metric: RuleMetric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_jobs = n_jobs


class FLDA(Baseline):
    """Fisher's linear discriminant analysis after PCA: the largest between-class scatter for the within-class scatter.

    A singular within-class scatter (more variables than samples, or duplicates) is allowed without a ridge.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: the number of classes minus 1.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are computed. None: the number of samples minus the number of
        classes, as in the paper.
    ridge : float, default=0.0
        The ridge on the within-class scatter, relative to its mean eigenvalue, at least 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, of length 1.
    mean_ : ndarray of shape (n_features,)
        The mean of the training samples, which is subtracted before the projection.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        Number of variables that every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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
        metric: RuleMetric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.pca_rank = pca_rank
        self.ridge = ridge
        self.metric = metric
        self.n_jobs = n_jobs


class DLA(Baseline):
    """Discriminative locality alignment: the manifold term of the Manifold Elastic Net, with dense axes.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: the dimension of the PCA space.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are computed. None: the number of samples minus 1, as in the paper.
    k_within : int, default=5
        Neighbours of the same class, at least 1. A class with fewer samples uses all of them.
    k_between : int, default=5
        Neighbours of other classes, at least 0.
    kappa : float, default=0.1
        Weight of the term that pushes near samples of other classes apart, at least 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, orthonormal.
    mean_ : ndarray of shape (n_features,)
        The mean of the training samples, which is subtracted before the projection.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        Number of variables that every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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
        metric: RuleMetric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.pca_rank = pca_rank
        self.k_within = k_within
        self.k_between = k_between
        self.kappa = kappa
        self.metric = metric
        self.n_jobs = n_jobs


class LPP(Baseline):
    """Locality preserving projections, supervised (SLPP) or not: neighbours stay close.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: the dimension of the PCA space.
    supervised : bool, default=True
        Whether neighbours come from the same class only. If not, `fit` needs no `y`.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are computed. None: the number of samples minus 1, as in the paper.
    k : int, default=5
        Neighbours, at least 1. A class with fewer samples uses all of them.
    bandwidth : float, optional
        Width of the heat kernel. None: the median distance to the neighbours.
    binary : bool, default=False
        Whether all neighbours have weight 1 instead of the heat kernel.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, of length 1.
    mean_ : ndarray of shape (n_features,)
        The mean of the training samples, which is subtracted before the projection.
    classes_ : ndarray of shape (n_classes,)
        The classes. Missing if `fit` had no `y` with classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        Number of variables that every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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
        metric: RuleMetric = "euclidean",
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


class NPE(Baseline):
    """Neighbourhood preserving embedding, supervised or not: neighbours reconstruct each sample.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: the dimension of the PCA space.
    supervised : bool, default=True
        Whether neighbours come from the same class only. If not, `fit` needs no `y`.
    pca_rank : int, optional
        Dimension of the PCA space in which the axes are computed. None: the number of samples minus 1, as in the paper.
    k : int, default=5
        Neighbours, at least 1. A class with fewer samples uses all of them.
    regularizer : float, default=0.001
        Regularizer of the reconstruction, more than 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, of length 1.
    mean_ : ndarray of shape (n_features,)
        The mean of the training samples, which is subtracted before the projection.
    classes_ : ndarray of shape (n_classes,)
        The classes. Missing if `fit` had no `y` with classes.
    n_components_ : int
        Number of axes.
    n_nonzeros_ : ndarray of shape (n_components,)
        Number of variables that every axis uses.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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
        metric: RuleMetric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.supervised = supervised
        self.pca_rank = pca_rank
        self.k = k
        self.regularizer = regularizer
        self.metric = metric
        self.n_jobs = n_jobs
