"""Groups of variables that enter together, and the group lasso by itself."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _get_feature_names

from menet import _core
from menet._exact import numbers
from menet._input import DTYPES, Floats, Samples, contiguous, dense, naming_variables
from menet._running import threads, warn_user
from menet._settings import choice, count, described, number

if TYPE_CHECKING:
    from menet._stages import PenaltyGroupAxes

# The variables of every group, one label per variable, or the label or labels of some variables.
Groups: TypeAlias = Sequence[Iterable[Any]] | Sequence[Any] | NDArray[Any] | Mapping[Any, Any]


def resolved(parameter: str, value: Any, names: NDArray[Any] | None, variables: int | None) -> list[dict[str, Any]]:
    """Return the groups of a parameter as the core takes them: a name and the positions of the variables for each."""
    places = {} if names is None else {str(name): place for place, name in enumerate(names.tolist())}

    def place(variable: Any) -> int:
        if isinstance(variable, str):
            if variable in places:
                return places[variable]
            known = f"the samples have {', '.join(list(places)[:3])}, ..." if places else "the samples have no names"
            raise ValueError(f"`{parameter}` has the variable {variable!r}, but {known}")
        if isinstance(variable, int | np.integer) and not isinstance(variable, bool) and variable >= 0:
            return int(variable)
        raise TypeError(f"`{parameter}` has the variable {variable!r}, but variables are names or positions from 0 on")

    if isinstance(value, Mapping):
        pairs = [(place(variable), label) for variable, labels in value.items() for label in _labels(labels)]
    elif isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise TypeError(
            f"`{parameter}` is {value!r}, but must be a list of groups, one label per variable, or a dict from "
            "variables to labels"
        )
    elif len(value) > 0 and all(_is_list(group) for group in value):
        return [{"name": str(g), "variables": [place(j) for j in group]} for g, group in enumerate(value)]
    else:
        if variables is not None and len(value) not in (0, variables):
            raise ValueError(f"`{parameter}` has {len(value)} labels, but there are {variables} variables")
        pairs = [(j, label) for j, label in enumerate(value) if not _missing(label)]
    groups: dict[str, list[int]] = {}
    for j, label in pairs:
        groups.setdefault(str(label), []).append(j)
    return [{"name": name, "variables": members} for name, members in groups.items()]


def mapping(groups: list[dict[str, Any]] | None) -> Groups | None:
    """Return groups of the core as a parameter of an estimator."""
    if groups is None:
        return None
    if all(group["name"] == str(g) for g, group in enumerate(groups)):
        return [group["variables"] for group in groups]
    labels: dict[int, list[str]] = {}
    for group in groups:
        for j in group["variables"]:
            labels.setdefault(j, []).append(group["name"])
    return labels


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset | range | np.ndarray)


def _labels(labels: Any) -> list[Any]:
    return list(labels) if _is_list(labels) else [labels]


def _missing(label: Any) -> bool:
    return label is None or label == "" or (isinstance(label, float) and np.isnan(label))


@dataclass(frozen=True)
class GroupLasso:
    """A solution of the group lasso.

    Parameters
    ----------
    level : ndarray of shape (n_responses,)
        The level λ of every response.
    coef : ndarray of shape (n_features, n_responses)
        The coefficients.
    kkt : ndarray of shape (n_responses,)
        How far the solution is from optimal: the largest violation of the group optimality conditions, relative to the
        largest correlation of a group.
    groups : list of list of str
        The names of the groups that every response uses. Groups without a name are called by their number, and
        variables that are in no group by their name or position.
    exact : bool
        Whether every response has as many groups as were asked for. Fewer are possible where several groups enter at
        once. True if a level was asked for.
    """

    level: Floats
    coef: Floats
    kkt: Floats
    groups: list[list[str]]
    exact: bool


def group_lasso(
    X: Samples,
    Y: ArrayLike,
    *,
    groups: Groups | None = None,
    n_groups: int | None = None,
    levels: float | Sequence[float] | NDArray[Any] | None = None,
    ridge: float = 0.0,
    group_axes: PenaltyGroupAxes = "each",
    n_jobs: int | None = None,
) -> GroupLasso | list[GroupLasso]:
    """Solve the group lasso, with overlapping groups allowed, for one response or for several together.

    At the level λ the coefficients W minimise ``½‖Y − XW‖² + ½ ridge ‖W‖² + λ Σ √size(g) ‖U_g‖``, where ``U_g`` are the
    rows of W in the group g. A variable of several groups has a coefficient in each of them, and W is their sum. The
    data are not centred or scaled, and nothing is divided by the number of samples: scikit-learn's ``alpha`` is λ
    divided by the number of samples.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The variables. The names of a data frame can be used in `groups`.
    Y : array-like of shape (n_samples,) or (n_samples, n_responses)
        The responses.
    groups : list of lists, sequence or dict, optional
        The variables of every group (names or positions); or one label per variable; or a dict from variables to a
        label or a list of labels. Variables in no group are groups of one. None: all variables are.
    n_groups : int, optional
        Find the smallest level at which so many groups are used.
    levels : float or sequence of float, optional
        Solve at this level, or at all of these levels, one after the other. Falling levels are fastest.
    ridge : float, default=0.0
        Number that is added to the diagonal of the Gram matrix, at least 0.
    group_axes : {"each", "together"}, default="each"
        Whether every response has its own groups, or a group is used for all responses or for none. "together"
        without `groups` is the ℓ2,1 penalty of scikit-learn's `MultiTaskLasso`.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.

    Returns
    -------
    GroupLasso or list of GroupLasso
        The solution; a list if `levels` is a sequence.

    See Also
    --------
    menet.ManifoldElasticNet : Axes that use groups of variables.

    Examples
    --------
    >>> import menet
    >>> X = [[1.0, 0.9, 0.0], [2.0, 2.1, 1.0], [0.0, 0.1, 1.0], [1.0, 1.2, 0.0]]
    >>> found = menet.group_lasso(X, [2.0, 4.0, 0.5, 2.0], groups=[[0, 1]], n_groups=1)
    >>> found.groups
    [['0']]
    >>> bool(found.kkt.max() < 1e-9)
    True
    """
    jobs = threads(n_jobs)
    names = _get_feature_names(X)
    X = numbers("X", X, dtype=DTYPES)
    array: Any = numbers("Y", Y, dtype=np.float64, ensure_2d=False)
    if array.ndim not in (1, 2) or array.shape[0] != X.shape[0]:
        rows = X.shape[0]
        raise ValueError(f"`Y` has shape {array.shape}, but must be ({rows},) or ({rows}, responses)")
    if (n_groups is None) == (levels is None):
        raise ValueError("give one of `n_groups` and `levels`")
    one = levels is None or np.ndim(levels) == 0
    asked = [] if levels is None else [number("levels", level) for level in np.atleast_1d(np.asarray(levels))]
    given = resolved("groups", [] if groups is None else groups, names, X.shape[1])
    with naming_variables(names):
        found = _core.group_lasso(
            dense(X, copies=2),
            contiguous(array.reshape(X.shape[0], -1)),
            [(group["name"], group["variables"]) for group in given],
            number("ridge", ridge),
            choice("group_axes", group_axes, described()["penalty.group_axes"].names),
            None if n_groups is None else count("n_groups", n_groups, least=1),
            asked,
            jobs,
        )

    members = {j for group in given for j in group["variables"]}
    singles = [j for j in range(X.shape[1]) if j not in members] if members else range(X.shape[1])

    @functools.cache
    def name(g: int) -> str:
        if g < len(given):
            return str(given[g]["name"])
        return str(singles[g - len(given)] if names is None else names[singles[g - len(given)]])

    out = [
        GroupLasso(level, coef, kkt, [[name(g) for g in chosen] for chosen in used], exact)
        for level, coef, kkt, used, exact in found
    ]
    worst = max(float(solution.kkt.max()) for solution in out)
    if not worst <= 1e-9:
        warn_user(f"the group lasso violates the optimality conditions by {worst:.1e}: use a larger ridge")
    return out[0] if one else out
