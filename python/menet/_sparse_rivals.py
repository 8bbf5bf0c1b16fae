"""The methods that the Manifold Elastic Net is compared with whose axes use few variables."""

from __future__ import annotations

from menet._rivals import Rival


class SparsePCA(Rival):
    """Sparse principal component analysis: axes of few variables that together rebuild the data.

    The method of Zou, Hastie and Tibshirani, with the exact elastic-net path in every turn. The axes are ordered by
    adjusted variance.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: 10, or as many as the data have.
    n_nonzeros : int, optional
        Largest number of variables an axis uses. None: 100, or all if there are fewer.
    ridge : float, default=0.1
        The ridge, relative to the mean squared length of the columns, at least 0.
    soft : bool, default=False
        Whether a soft threshold takes the place of the elastic net (an infinite ridge), for many variables.
    iterations : int, default=200
        Largest number of turns, at least 1.
    tolerance : float, default=0.0001
        The largest change of an entry of an axis at which the iteration has settled.
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
        metric: str = "euclidean",
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


class SPG(Rival):
    """Sparse projection over a graph: a graph embedding first, then the elastic net on it.

    The embedding knows nothing of the variables, and the regression nothing of the graph; `ManifoldElasticNet` asks
    for both at once. Needs the graph as a matrix: at most 5,000 samples.

    Parameters
    ----------
    n_components : int, optional
        Number of axes; more than the method finds is an error. None: one less than there are classes.
    n_nonzeros : int, optional
        Largest number of variables an axis uses. None: 100, or all if there are fewer.
    ridge : float, default=0.03
        The ridge of the elastic net, at least 0.
    patch : str, default="laplacian"
        The patch rule of the graph, as in `ManifoldElasticNet`.
    k_within : int, default=5
        Neighbours of the same class, at least 1; a smaller class uses what it has.
    k_between : int, default=5
        Neighbours of other classes, at least 0, for rules that push apart.
    kappa : float, default=0.1
        How strongly rules that push apart do so, at least 0.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
    n_jobs : int, optional
        Number of threads: None means 1, or what `joblib.parallel_config` says; -1 means all. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, in the units of the data.
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
        patch: str = "laplacian",
        k_within: int = 5,
        k_between: int = 5,
        kappa: float = 0.1,
        metric: str = "euclidean",
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
