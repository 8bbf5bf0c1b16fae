"""The exact lasso and elastic-net path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array

from menet import _core
from menet._input import DTYPES, SPARSE, Floats, Samples, check_sparse, contiguous, dense
from menet._running import threads, warn_user
from menet._settings import count, factors, flag, number, whole_number

if TYPE_CHECKING:
    from typing_extensions import Self


class _Read:
    """What one path and many have in common."""

    _paths: _core.Paths
    _response: int

    @classmethod
    def _of(cls, paths: _core.Paths, response: int = 0) -> Self:
        out = cls()
        out._paths, out._response = paths, response
        return out


class LarsPath(_Read):
    """The path of one response: knots, and straight lines between them.

    Attributes
    ----------
    lambdas : ndarray of shape (n_knots,)
        The level at every knot, falling: the largest absolute correlation (over its penalty factor).
    coefs : ndarray of shape (n_features, n_knots)
        The coefficients at every knot; those of the elastic net are the naive ones.
    entered : list of list of int
        The variables that begin to move at every knot, so that they are nonzero just below it; several if they tie.
    left : list of list of int
        The variables that have come back to zero at every knot.
    kkt : ndarray of shape (n_knots,)
        How far the coefficients are from optimal at every knot: the largest violation of the optimality conditions,
        recomputed from the Gram matrix, relative to the largest correlation.
    ended : str
        Why the path ended, in words.
    """

    @property
    def lambdas(self) -> Floats:
        """The level at every knot."""
        return self._paths.lambdas(self._response)

    @property
    def coefs(self) -> Floats:
        """The coefficients at every knot."""
        return self._paths.coefs(self._response)

    @property
    def entered(self) -> list[list[int]]:
        """The variables that begin to move at every knot."""
        return self._paths.entered(self._response)

    @property
    def left(self) -> list[list[int]]:
        """The variables that have come back to zero at every knot."""
        return self._paths.left(self._response)

    @property
    def kkt(self) -> Floats:
        """The largest violation of the optimality conditions at every knot."""
        return self._paths.kkt(self._response)

    @property
    def ended(self) -> str:
        """Why the path ended."""
        return self._paths.ended(self._response)

    def at_lambda(self, level: float) -> Floats:
        """Return the coefficients at a level.

        Parameters
        ----------
        level : float
            At least that at which the path ended.

        Returns
        -------
        ndarray of shape (n_features,)
            The coefficients.
        """
        return self._paths.at_lambda(_level(level), self._response)[:, 0]

    def at_nonzeros(self, k: int) -> Floats:
        """Return the coefficients where the support is about to exceed `k`.

        Parameters
        ----------
        k : int
            The largest number of nonzeros. Where variables tie there may be fewer.

        Returns
        -------
        ndarray of shape (n_features,)
            The coefficients.
        """
        return self._paths.at_nonzeros(count("k", k, least=1), self._response)[:, 0]

    def __repr__(self) -> str:
        """Say how long it is and how exact."""
        knots = self.lambdas
        return f"LarsPath({len(knots)} knots from level {knots[0]:.4g} to {knots[-1]:.4g}, kkt {self.kkt.max():.1e})"


class LarsPaths(_Read):
    """The paths of many responses: what `LarsPath` has, in lists, each built when it is asked for.

    Attributes
    ----------
    lambdas : list of ndarray of shape (n_knots,)
        The level at every knot.
    coefs : list of ndarray of shape (n_features, n_knots)
        The coefficients at every knot.
    entered : list of list of list of int
        The variables that begin to move at every knot.
    left : list of list of list of int
        The variables that have come back to zero at every knot.
    kkt : list of ndarray of shape (n_knots,)
        The largest violation of the optimality conditions at every knot.
    ended : list of str
        Why the paths ended.
    """

    def __len__(self) -> int:
        """Return the number of responses."""
        return len(self._paths)

    def __iter__(self) -> Iterator[LarsPath]:
        """Go through the paths."""
        return (self[k] for k in range(len(self)))

    def __getitem__(self, response: int) -> LarsPath:
        """Return the path of one response."""
        k = whole_number("response", response)
        if not -len(self) <= k < len(self):
            raise IndexError(f"response {k} was asked for, but there are 0 to {len(self) - 1}")
        return LarsPath._of(self._paths, k % len(self))

    @property
    def lambdas(self) -> list[Floats]:
        """The level at every knot."""
        return [self._paths.lambdas(k) for k in range(len(self))]

    @property
    def coefs(self) -> list[Floats]:
        """The coefficients at every knot."""
        return [self._paths.coefs(k) for k in range(len(self))]

    @property
    def entered(self) -> list[list[list[int]]]:
        """The variables that begin to move at every knot."""
        return [self._paths.entered(k) for k in range(len(self))]

    @property
    def left(self) -> list[list[list[int]]]:
        """The variables that have come back to zero at every knot."""
        return [self._paths.left(k) for k in range(len(self))]

    @property
    def kkt(self) -> list[Floats]:
        """The largest violation of the optimality conditions at every knot."""
        return [self._paths.kkt(k) for k in range(len(self))]

    @property
    def ended(self) -> list[str]:
        """Why the paths ended."""
        return [self._paths.ended(k) for k in range(len(self))]

    def at_lambda(self, level: float) -> Floats:
        """Return the coefficients at a level.

        Parameters
        ----------
        level : float
            At least that at which the paths ended.

        Returns
        -------
        ndarray of shape (n_features, n_responses)
            The coefficients.
        """
        return self._paths.at_lambda(_level(level), None)

    def at_nonzeros(self, k: int) -> Floats:
        """Return the coefficients where the support of each response is about to exceed `k`.

        Parameters
        ----------
        k : int
            The largest number of nonzeros. Where variables tie there may be fewer.

        Returns
        -------
        ndarray of shape (n_features, n_responses)
            The coefficients.
        """
        return self._paths.at_nonzeros(count("k", k, least=1), None)

    def __repr__(self) -> str:
        """Say how many they are and how exact."""
        worst = max(float(kkt.max()) for kkt in self.kkt)
        return f"LarsPaths({len(self)} responses, kkt {worst:.1e})"


def lars_path(
    X: Samples,
    y: ArrayLike,
    *,
    ridge: float = 0.0,
    max_nonzeros: int | None = None,
    lambda_min: float = 0.0,
    penalty_factors: ArrayLike | None = None,
    positive: bool = False,
    method: str = "lasso",
    n_jobs: int | None = None,
) -> LarsPath | LarsPaths:
    """Compute the exact lasso or elastic-net path of a regression, with a certificate at every knot.

    For every level λ it is the minimiser w of ``½‖y − Xw‖² + ½ ridge ‖w‖² + λ Σ vⱼ|wⱼ|``, with the penalty factors v.
    Nothing is centred, scaled or divided by the number of samples: scikit-learn's ``alpha`` is λ over the latter.
    Variables that tie, as discrete data make them do, are treated exactly.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The variables.
    y : array-like of shape (n_samples,) or (n_samples, n_responses)
        The response, or many of them, which share the Gram matrix.
    ridge : float, default=0.0
        Added to the diagonal of the Gram matrix, at least 0.
    max_nonzeros : int, optional
        Stop before more coefficients than this are nonzero.
    lambda_min : float, default=0.0
        Stop at this level.
    penalty_factors : array-like of shape (n_features,), optional
        One factor more than 0 a variable on its penalty; infinity bars it.
    positive : bool, default=False
        Whether coefficients must not be negative.
    method : {"lasso", "lars"}, default="lasso"
        Whether variables leave when their coefficient reaches zero (the lasso) or stay.
    n_jobs : int, optional
        Number of threads over the responses: None means 1, or what `joblib.parallel_config` says; -1 means all.

    Returns
    -------
    LarsPath or LarsPaths
        The path, or for two-dimensional `y` the paths.

    See Also
    --------
    lars_path_gram : The same from a Gram matrix.

    Examples
    --------
    Two variables that are equal enter together, and share.

    >>> import menet
    >>> X = [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    >>> path = menet.lars_path(X, [2.0, 3.0, 0.5], ridge=0.1)
    >>> path.entered
    [[0, 1], [2], []]
    >>> path.at_lambda(3.5).round(3)
    array([0.366, 0.366, 0.   ])
    >>> bool(path.kkt.max() < 1e-12)
    True
    """
    jobs = threads(n_jobs)
    X = check_array(X, accept_sparse=SPARSE, dtype=DTYPES, ensure_all_finite=False)
    responses, single = _responses("y", y, rows=X.shape[0], of="X")
    options = _options(ridge, max_nonzeros, lambda_min, penalty_factors, positive, method)
    if sparse.issparse(X) and X.shape[1] <= _core.GRAM_LIMIT:
        check_sparse(X)
        X = X.astype(np.float64)
        gram, b = np.ascontiguousarray((X.T @ X).toarray()), contiguous(np.asarray(X.T @ responses))
        return _finished(_core.gram_paths(gram, b, options, jobs), single)
    # By columns, as the path reads them, and as given.
    X = dense(X, copies=2)
    return _finished(_core.regression_paths(X, responses, options, jobs), single)


def lars_path_gram(
    G: Samples,
    b: ArrayLike,
    *,
    ridge: float = 0.0,
    max_nonzeros: int | None = None,
    lambda_min: float = 0.0,
    penalty_factors: ArrayLike | None = None,
    positive: bool = False,
    method: str = "lasso",
    n_jobs: int | None = None,
) -> LarsPath | LarsPaths:
    """Compute the exact lasso or elastic-net path for a Gram matrix, with a certificate at every knot.

    For every level λ it is the minimiser w of ``½ wᵀ(G + ridge I)w − bᵀw + λ Σ vⱼ|wⱼ|``. With ``G = XᵀX`` and
    ``b = Xᵀy`` that is what `lars_path` computes.

    Parameters
    ----------
    G : array-like of shape (n_features, n_features)
        The Gram matrix, symmetric and positive semidefinite; its columns are read.
    b : array-like of shape (n_features,) or (n_features, n_responses)
        The correlations with the response, or with many.
    ridge : float, default=0.0
        Added to the diagonal of the Gram matrix, at least 0.
    max_nonzeros : int, optional
        Stop before more coefficients than this are nonzero.
    lambda_min : float, default=0.0
        Stop at this level.
    penalty_factors : array-like of shape (n_features,), optional
        One factor more than 0 a variable on its penalty; infinity bars it.
    positive : bool, default=False
        Whether coefficients must not be negative.
    method : {"lasso", "lars"}, default="lasso"
        Whether variables leave when their coefficient reaches zero (the lasso) or stay.
    n_jobs : int, optional
        Number of threads over the responses: None means 1, or what `joblib.parallel_config` says; -1 means all.

    Returns
    -------
    LarsPath or LarsPaths
        The path, or for two-dimensional `b` the paths.

    See Also
    --------
    lars_path : The same from data.

    Examples
    --------
    >>> import menet
    >>> path = menet.lars_path_gram([[2.0, 0.0], [0.0, 1.0]], [3.0, 0.5])
    >>> path.lambdas
    array([3. , 0.5, 0. ])
    >>> path.coefs
    array([[0.  , 1.25, 1.5 ],
           [0.  , 0.  , 0.5 ]])
    """
    jobs = threads(n_jobs)
    G = contiguous(check_array(G, dtype=np.float64, ensure_all_finite=False))
    responses, single = _responses("b", b, rows=G.shape[1], of="G")
    options = _options(ridge, max_nonzeros, lambda_min, penalty_factors, positive, method)
    return _finished(_core.gram_paths(G, responses, options, jobs), single)


def _level(value: float) -> float:
    level = number("level", value)
    if not level >= 0:
        raise ValueError(f"`level` is {level}, but must be at least 0")
    return level


def _responses(name: str, y: ArrayLike, *, rows: int, of: str) -> tuple[Floats, bool]:
    """Return responses in columns, and whether there was but one, given as a vector."""
    array: Any = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name=name)
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise ValueError(
            f"`{name}` has shape {array.shape}, but must be ({rows},) or ({rows}, responses): `{of}` has "
            f"{rows} {'rows' if of == 'X' else 'columns'}"
        )
    return contiguous(array.reshape(rows, -1)), array.ndim == 1


def _options(
    ridge: float,
    max_nonzeros: int | None,
    lambda_min: float,
    penalty_factors: ArrayLike | None,
    positive: bool,
    method: str,
) -> tuple[float, int | None, float, Floats | None, bool, str]:
    return (
        number("ridge", ridge),
        None if max_nonzeros is None else count("max_nonzeros", max_nonzeros, or_none=True),
        number("lambda_min", lambda_min),
        None if penalty_factors is None else np.array(factors("penalty_factors", penalty_factors)),
        flag("positive", positive),
        str(method),
    )


def _finished(paths: _core.Paths, single: bool) -> LarsPath | LarsPaths:
    """Return the result, and tell of numerical trouble once."""
    if troubles := paths.troubles():
        k, why = troubles[0]
        which = "the path" if single else f"{len(troubles)} of {len(paths)} paths, the first that of response {k},"
        warn_user(f"{which} {why}")
    return LarsPath._of(paths) if single else LarsPaths._of(paths)
