"""The baselines whose axes use few variables."""

from __future__ import annotations

from menet._baseline import Baseline
from menet._stages import PatchKind, RuleMetric


class SparsePCA(Baseline):
    """Sparse principal component analysis: axes of few variables that together reconstruct the data.

    This is the method of Zou, Hastie and Tibshirani. Every iteration computes the exact elastic-net path. The axes are
    ordered by adjusted variance.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: 10, or the rank of the data if that
        is smaller.
    n_nonzeros : int, optional
        Largest number of variables an axis uses. None: 100, or all if there are fewer.
    ridge : float, default=0.1
        The ridge, relative to the mean squared length of the columns, at least 0.
    soft : bool, default=False
        Whether to use a soft threshold (an infinite ridge) instead of the elastic net. Useful for many variables.
    iterations : int, default=200
        Largest number of iterations, at least 1.
    tolerance : float, default=0.0001
        The iteration stops when no entry of an axis changes by more than this.
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
    >>> from menet import SparsePCA
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparsePCA(n_components=5, n_nonzeros=8, tolerance=1e-3).fit(X)
    >>> print(model.n_nonzeros_)
    [8 8 8 8 8]
    """

    _core_name = "spca"
    _supervised = False

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | None = None,
        *,
        ridge: float = 0.1,
        soft: bool = False,
        iterations: int = 200,
        tolerance: float = 1e-4,
        metric: RuleMetric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
        self.ridge = ridge
        self.soft = soft
        self.iterations = iterations
        self.tolerance = tolerance
        self.metric = metric
        self.n_jobs = n_jobs


class SPG(Baseline):
    """Sparse projection over a graph: first a graph embedding, then an elastic-net regression on it.

    The embedding ignores the variables, and the regression ignores the graph. `ManifoldElasticNet` solves both problems
    at once. The graph is stored as a matrix, so at most 5,000 samples are allowed.

    Parameters
    ----------
    n_components : int, optional
        Number of axes. It is an error to ask for more than the method finds. None: the number of classes minus 1.
    n_nonzeros : int, optional
        Largest number of variables an axis uses. None: 100, or all if there are fewer.
    ridge : float, default=0.03
        The ridge of the elastic net, at least 0.
    patch : {"dla", "laplacian", "laplacian-binary", "laplacian-unsupervised", "laplacian-binary-unsupervised", \
            "lle", "lle-unsupervised", "ltsa", "ltsa-unsupervised"}, default="laplacian"
        The patch rule of the graph, as in `ManifoldElasticNet`.
    k_within : int, default=5
        Neighbours of the same class, at least 1. A class with fewer samples uses all of them.
    k_between : int, default=5
        Neighbours of other classes, at least 0, for patch rules that push classes apart.
    kappa : float, default=0.1
        Weight of that push, at least 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, in the units of the data.
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
    >>> from menet import SPG
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SPG(n_components=5, n_nonzeros=8).fit(X[:500], y[:500])
    >>> model.transform(X[500:]).shape
    (1297, 5)
    """

    _core_name = "spg"

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | None = None,
        *,
        ridge: float = 0.03,
        patch: PatchKind = "laplacian",
        k_within: int = 5,
        k_between: int = 5,
        kappa: float = 0.1,
        metric: RuleMetric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
        self.ridge = ridge
        self.patch = patch
        self.k_within = k_within
        self.k_between = k_between
        self.kappa = kappa
        self.metric = metric
        self.n_jobs = n_jobs
