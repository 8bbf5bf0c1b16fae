"""The exact lasso and elastic-net path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import _get_feature_names

from menet import _core
from menet._exact import numbers
from menet._input import DTYPES, SPARSE, Floats, Samples, check_sparse, contiguous, dense, naming_variables
from menet._paths import LarsPath, LarsPaths
from menet._running import threads, warn_user
from menet._settings import choice, count, described, factors, flag, number
from menet._stages import PenaltyKind

PathMethod: TypeAlias = Literal["lasso", "lars"]

# One response, and several in columns, where the type tells them apart. An array of unknown shape may be either.
OneResponse: TypeAlias = Sequence[float] | np.ndarray[tuple[int], np.dtype[Any]]
Responses: TypeAlias = Sequence[Sequence[float]] | np.ndarray[tuple[int, int], np.dtype[Any]]


@overload
def lars_path(
    X: Samples,
    y: OneResponse,
    *,
    ridge: float = ...,
    max_nonzeros: int | None = ...,
    lambda_min: float = ...,
    penalty_factors: ArrayLike | None = ...,
    positive: bool = ...,
    method: PathMethod = ...,
    penalty: PenaltyKind = ...,
    gamma: float | None = ...,
    epsilon: float | None = ...,
    n_jobs: int | None = ...,
) -> LarsPath: ...
@overload
def lars_path(
    X: Samples,
    y: Responses,
    *,
    ridge: float = ...,
    max_nonzeros: int | None = ...,
    lambda_min: float = ...,
    penalty_factors: ArrayLike | None = ...,
    positive: bool = ...,
    method: PathMethod = ...,
    penalty: PenaltyKind = ...,
    gamma: float | None = ...,
    epsilon: float | None = ...,
    n_jobs: int | None = ...,
) -> LarsPaths: ...
@overload
def lars_path(
    X: Samples,
    y: ArrayLike,
    *,
    ridge: float = ...,
    max_nonzeros: int | None = ...,
    lambda_min: float = ...,
    penalty_factors: ArrayLike | None = ...,
    positive: bool = ...,
    method: PathMethod = ...,
    penalty: PenaltyKind = ...,
    gamma: float | None = ...,
    epsilon: float | None = ...,
    n_jobs: int | None = ...,
) -> LarsPath | LarsPaths: ...
def lars_path(
    X: Samples,
    y: ArrayLike,
    *,
    ridge: float = 0.0,
    max_nonzeros: int | None = None,
    lambda_min: float = 0.0,
    penalty_factors: ArrayLike | None = None,
    positive: bool = False,
    method: PathMethod = "lasso",
    penalty: PenaltyKind = "l1",
    gamma: float | None = None,
    epsilon: float | None = None,
    n_jobs: int | None = None,
) -> LarsPath | LarsPaths:
    """Compute the exact lasso or elastic-net path of a regression, with a certificate at every knot.

    At every level λ the coefficients w minimise ``½‖y − Xw‖² + ½ ridge ‖w‖² + λ Σ vⱼ|wⱼ|``, with the penalty factors v.
    The data are not centred or scaled, and nothing is divided by the number of samples: scikit-learn's ``alpha`` is λ
    divided by the number of samples. Ties between variables, which are common in discrete data, are resolved exactly.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The variables. The names of a data frame are kept in ``feature_names``.
    y : array-like of shape (n_samples,) or (n_samples, n_responses)
        The response, or several responses, which share the Gram matrix.
    ridge : float, default=0.0
        Number that is added to the diagonal of the Gram matrix, at least 0.
    max_nonzeros : int, optional
        Stop before more coefficients than this are nonzero.
    lambda_min : float, default=0.0
        Stop at this level.
    penalty_factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. A variable with factor 0 is never penalised: it is in every
        model and does not count towards `max_nonzeros`. A variable with an infinite factor is never selected.
    positive : bool, default=False
        Whether coefficients must not be negative.
    method : {"lasso", "lars"}, default="lasso"
        Whether a variable leaves when its coefficient reaches zero ("lasso") or stays ("lars").
    penalty : {"l1", "adaptive", "reweighted", "scad", "mcp", "l0"}, default="l1"
        What presses on the coefficients, in units in which every variable has length 1. All but "l1" need
        `max_nonzeros`, or, where there are rounds, `lambda_min`, and have no `positive` and no `method`. The path of
        "adaptive" is the second one, with weights from the first. The path of "reweighted", "scad" and "mcp" is that of
        the last round, and only its end is the answer. The path of "l0" has the best subset of every number of
        variables.
    gamma : float, optional
        ``a`` of "scad", more than 2; gamma of "mcp", more than 1, and of "adaptive", more than 0. None: 3.7, 3 and 1.
    epsilon : float, optional
        Epsilon of "adaptive" and "reweighted", more than 0, relative to the largest coefficient of the first path.
        None: 0.05 and 0.1.
    n_jobs : int, optional
        Number of threads for the responses. None: 1, unless `joblib.parallel_config` sets another number. -1: all
        cores.

    Returns
    -------
    LarsPath or LarsPaths
        The path, or the paths if `y` is two-dimensional.

    See Also
    --------
    lars_path_gram : The same path from a Gram matrix.

    Examples
    --------
    Two equal variables enter together, with equal coefficients.

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
    names = _get_feature_names(X)
    X = numbers("X", X, accept_sparse=SPARSE, dtype=DTYPES)
    responses, single = _responses("y", y, rows=X.shape[0], of="X")
    options = _options(ridge, max_nonzeros, lambda_min, penalty_factors, positive, method)
    chosen = _penalty(penalty, gamma, epsilon)
    with naming_variables(names):
        if sparse.issparse(X) and X.shape[1] <= _core.GRAM_LIMIT:
            check_sparse(X)
            X = X.astype(np.float64)
            gram, b = np.ascontiguousarray((X.T @ X).toarray()), contiguous(np.asarray(X.T @ responses))
            paths = _core.gram_paths(gram, b, options, chosen, jobs, "XᵀX")
        else:
            # One copy by columns, as the path reads them, and the samples as given.
            paths = _core.regression_paths(dense(X, copies=2), responses, options, chosen, jobs)
    return _finished(paths, single, names)


@overload
def lars_path_gram(
    G: Samples,
    b: OneResponse,
    *,
    ridge: float = ...,
    max_nonzeros: int | None = ...,
    lambda_min: float = ...,
    penalty_factors: ArrayLike | None = ...,
    positive: bool = ...,
    method: PathMethod = ...,
    penalty: PenaltyKind = ...,
    gamma: float | None = ...,
    epsilon: float | None = ...,
    n_jobs: int | None = ...,
) -> LarsPath: ...
@overload
def lars_path_gram(
    G: Samples,
    b: Responses,
    *,
    ridge: float = ...,
    max_nonzeros: int | None = ...,
    lambda_min: float = ...,
    penalty_factors: ArrayLike | None = ...,
    positive: bool = ...,
    method: PathMethod = ...,
    penalty: PenaltyKind = ...,
    gamma: float | None = ...,
    epsilon: float | None = ...,
    n_jobs: int | None = ...,
) -> LarsPaths: ...
@overload
def lars_path_gram(
    G: Samples,
    b: ArrayLike,
    *,
    ridge: float = ...,
    max_nonzeros: int | None = ...,
    lambda_min: float = ...,
    penalty_factors: ArrayLike | None = ...,
    positive: bool = ...,
    method: PathMethod = ...,
    penalty: PenaltyKind = ...,
    gamma: float | None = ...,
    epsilon: float | None = ...,
    n_jobs: int | None = ...,
) -> LarsPath | LarsPaths: ...
def lars_path_gram(
    G: Samples,
    b: ArrayLike,
    *,
    ridge: float = 0.0,
    max_nonzeros: int | None = None,
    lambda_min: float = 0.0,
    penalty_factors: ArrayLike | None = None,
    positive: bool = False,
    method: PathMethod = "lasso",
    penalty: PenaltyKind = "l1",
    gamma: float | None = None,
    epsilon: float | None = None,
    n_jobs: int | None = None,
) -> LarsPath | LarsPaths:
    """Compute the exact lasso or elastic-net path for a Gram matrix, with a certificate at every knot.

    At every level λ the coefficients w minimise ``½ wᵀ(G + ridge I)w − bᵀw + λ Σ vⱼ|wⱼ|``. With ``G = XᵀX`` and ``b =
    Xᵀy`` this is the path of `lars_path`.

    Parameters
    ----------
    G : array-like of shape (n_features, n_features)
        The Gram matrix, symmetric and positive semidefinite. Only its columns are read. The names of a data frame are
        kept in ``feature_names``.
    b : array-like of shape (n_features,) or (n_features, n_responses)
        The correlations with the response, or with several responses.
    ridge : float, default=0.0
        Number that is added to the diagonal of the Gram matrix, at least 0.
    max_nonzeros : int, optional
        Stop before more coefficients than this are nonzero.
    lambda_min : float, default=0.0
        Stop at this level.
    penalty_factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. A variable with factor 0 is never penalised: it is in every
        model and does not count towards `max_nonzeros`. A variable with an infinite factor is never selected.
    positive : bool, default=False
        Whether coefficients must not be negative.
    method : {"lasso", "lars"}, default="lasso"
        Whether a variable leaves when its coefficient reaches zero ("lasso") or stays ("lars").
    penalty : {"l1", "adaptive", "reweighted", "scad", "mcp", "l0"}, default="l1"
        What presses on the coefficients, in units in which every variable has length 1. All but "l1" need
        `max_nonzeros`, or, where there are rounds, `lambda_min`, and have no `positive` and no `method`. The path of
        "adaptive" is the second one, with weights from the first. The path of "reweighted", "scad" and "mcp" is that of
        the last round, and only its end is the answer. The path of "l0" has the best subset of every number of
        variables.
    gamma : float, optional
        ``a`` of "scad", more than 2; gamma of "mcp", more than 1, and of "adaptive", more than 0. None: 3.7, 3 and 1.
    epsilon : float, optional
        Epsilon of "adaptive" and "reweighted", more than 0, relative to the largest coefficient of the first path.
        None: 0.05 and 0.1.
    n_jobs : int, optional
        Number of threads for the responses. None: 1, unless `joblib.parallel_config` sets another number. -1: all
        cores.

    Returns
    -------
    LarsPath or LarsPaths
        The path, or the paths if `b` is two-dimensional.

    See Also
    --------
    lars_path : The same path from data.

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
    names = _get_feature_names(G)
    G = contiguous(numbers("G", G, dtype=np.float64))
    responses, single = _responses("b", b, rows=G.shape[1], of="G")
    options = _options(ridge, max_nonzeros, lambda_min, penalty_factors, positive, method)
    chosen = _penalty(penalty, gamma, epsilon)
    return _finished(_core.gram_paths(G, responses, options, chosen, jobs, "G"), single, names)


def _responses(name: str, y: ArrayLike, *, rows: int, of: str) -> tuple[Floats, bool]:
    """Return responses in columns, and whether there was only one, given as a vector."""
    array: Any = numbers(name, y, dtype=np.float64, ensure_2d=False)
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
    method: PathMethod,
) -> tuple[float, int | None, float, Floats | None, bool, str]:
    return (
        number("ridge", ridge),
        None if max_nonzeros is None else count("max_nonzeros", max_nonzeros, or_none=True),
        number("lambda_min", lambda_min),
        None if penalty_factors is None else np.array(factors("penalty_factors", penalty_factors)),
        flag("positive", positive),
        choice("method", method, get_args(PathMethod)),
    )


def _penalty(
    penalty: PenaltyKind, gamma: float | None, epsilon: float | None
) -> tuple[str, float | None, float | None]:
    return (
        choice("penalty", penalty, described()["penalty.kind"].names),
        None if gamma is None else number("gamma", gamma),
        None if epsilon is None else number("epsilon", epsilon),
    )


def _finished(paths: _core.Paths, single: bool, names: NDArray[Any] | None) -> LarsPath | LarsPaths:
    """Return the result, and warn once of numerical trouble."""
    if troubles := paths.troubles():
        k, why = troubles[0]
        many = f"{len(troubles)} of {len(paths)} paths had numerical trouble: that of response {k}"
        which = "the path" if single else many
        warn_user(f"{which} {why}")
    return LarsPath._of(paths, names=names) if single else LarsPaths._of(paths, names=names)
