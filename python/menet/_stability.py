"""Stability selection: the variables that most half-samples select."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._anndata import refuse
from menet._batches import batch_names
from menet._copies import tell_of_copies
from menet._exact import validated
from menet._input import COPIES_IN_A_FIT, Floats, Samples, naming_variables, sparse_or_dense
from menet._labels import coded
from menet._men import ManifoldElasticNet
from menet._parameters import settings
from menet._running import threads, warn_user
from menet._search import progress
from menet._settings import count, number, whole_number
from menet._stable_panel import StablePanelDecisions
from menet._weights import counting

if TYPE_CHECKING:
    from typing_extensions import Self


class StabilityIndex(NamedTuple):
    """Nogueira's stability index with its asymptotic 95 % confidence interval."""

    value: float
    low: float
    high: float


class StabilitySelection(SelectorMixin, StablePanelDecisions, BaseEstimator):  # type: ignore[misc]
    """Select the variables that most half-samples agree on.

    The samples are divided at random into two halves of every class, many times. On every half-sample the paths of the
    Manifold Elastic Net select panels of all sizes up to ``max_panel_size``. The *stable panel* has the variables that
    at least a fraction ``threshold`` of the half-samples select at one panel size. That size is chosen so that the
    expected number of false selections in the stable panel is at most ``false_selections``.

    The estimator is a selector: ``transform`` keeps the columns of the stable panel. It is a classifier as well: a
    model on the stable panel, fitted to all samples, decides.

    Parameters
    ----------
    estimator : ManifoldElasticNet, optional
        The estimator whose parameters are used. None: ``ManifoldElasticNet()``. Its penalty must be one whose paths
        hold models of all sizes ("l1", "adaptive" or "l0"), and it has no groups of variables. The panel of a
        half-sample has the variables that enter first; its ``n_nonzeros`` has no effect. If its ``panel_size`` is set
        and its refit is "panel" or "discriminant", half-samples drop candidates one by one, as its fits do; the number
        has no effect.
        Variables with penalty factor 0 are in every model: they are not selected, but ``estimator_`` uses them.
    n_pairs : int, default=50
        Number of complementary pairs of half-samples, at least 1.
    max_panel_size : int, default=100
        Largest panel size that is computed, at least 1.
    panel_size : int, optional
        The panel size at which the stable panel is chosen, from 1 to ``max_panel_size``. None: the largest for which
        the bound on false selections for unimodal distributions is at most ``false_selections``.
    threshold : float, default=0.75
        The fraction of half-samples that must select a variable, above 0.5 and at most 1.
    false_selections : float, default=1.0
        The expected number of false selections that is acceptable, more than 0. It has no effect with ``panel_size``.
    random_state : int, RandomState instance or None, default=0
        The seed of the half-samples.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.
    verbose : int, default=0
        Whether to report progress on standard error.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,)
        The fraction of half-samples that select each variable at ``panel_size_``.
    panel_size_ : int
        The panel size at which the stable panel was chosen.
    stable_ : ndarray of int
        The positions of the variables of the stable panel, the most frequent first.
    stability_ : StabilityIndex
        How much the panels of the half-samples agree at ``panel_size_``: Nogueira's index, ``value``, with the ends
        ``low`` and ``high`` of its asymptotic 95 % confidence interval. 1: all panels are equal. About 0: as if
        drawn at random.
    false_selections_ : dict
        Three bounds on the expected number of false selections: ``"meinshausen_buhlmann"``, without assumptions on
        distributions; ``"unimodal"`` and ``"r_concave"``, with the assumptions of Shah and Samworth.
    estimator_ : ManifoldElasticNet or None
        The model on the stable panel, fitted to all samples. It takes samples of all variables. None if no variable is
        stable.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

    See Also
    --------
    menet.ManifoldElasticNet : The method that selects on every half-sample.

    Notes
    -----
    A class needs at least four samples, two per half-sample. If no variable is stable, ``fit`` warns, ``transform``
    returns no columns, and ``predict`` refuses.

    N. Meinshausen and P. Bühlmann, "Stability selection", JRSS B 72 (2010). R. Shah and R. Samworth, "Variable
    selection with error control: another look at stability selection", JRSS B 75 (2013). S. Nogueira, K. Sechidis and
    G. Brown, "On the stability of feature selection algorithms", JMLR 18 (2018).

    Examples
    --------
    >>> from menet import StabilitySelection
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> selection = StabilitySelection(n_pairs=20).fit(X, y)
    >>> selection.panel_size_
    67
    >>> bool(selection.frequencies_[selection.stable_].min() >= 0.75)
    True
    >>> selection.transform(X).shape == (38, len(selection.stable_))
    True
    """

    frequencies_: Floats
    panel_size_: int
    stable_: NDArray[np.int64]
    stability_: StabilityIndex
    false_selections_: dict[str, float]
    estimator_: ManifoldElasticNet | None
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    # The variables of every half-sample in the order of entry, one row each, -1 after the last.
    _orders: NDArray[np.int64]
    # How many variables can be selected.
    _selectable: int

    def __init__(
        self,
        estimator: ManifoldElasticNet | None = None,
        *,
        n_pairs: int = 50,
        max_panel_size: int = 100,
        panel_size: int | None = None,
        threshold: float = 0.75,
        false_selections: float = 1.0,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_pairs = n_pairs
        self.max_panel_size = max_panel_size
        self.panel_size = panel_size
        self.threshold = threshold
        self.false_selections = false_selections
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse samples are accepted, float32 is kept, and ``y`` is needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.input_tags.allow_nan = getattr(getattr(self.estimator, "prepare", None), "impute", None) is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        batch: ArrayLike | None = None,
    ) -> Self:
        """Select on half-samples, and fit a model on the stable panel.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples, as for :class:`~menet.ManifoldElasticNet`.
        y : array-like of shape (n_samples,)
            The class of every sample.
        groups : array-like of shape (n_samples,), optional
            The group of every sample, such as the patient. Samples of one group stay in one half, and so do copies of a
            sample.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, as for :class:`~menet.ManifoldElasticNet`.

        Returns
        -------
        StabilitySelection
            The estimator itself.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y, groups, batch)
        except BaseException:
            # Keep the old fit whole.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(
        self,
        X: Samples,
        y: ArrayLike | None,
        groups: ArrayLike | None,
        batch: ArrayLike | None,
    ) -> None:
        base = ManifoldElasticNet() if self.estimator is None else self.estimator
        if not isinstance(base, ManifoldElasticNet):
            raise TypeError(f"`estimator` is {base!r}, but must be a ManifoldElasticNet or None")
        how = self._how()
        refuse(X, type(self).__name__)
        X, y = validated(self, X, y)
        self.classes_, codes = coded(y)
        counts = counting(X, codes, self.classes_, None, base.class_weight)
        if groups is not None:
            check_consistent_length(X, groups)
            how["groups"] = np.unique(column_or_1d(groups), return_inverse=True)[1].tolist()
        classes = [str(name) for name in self.classes_.tolist()]
        workers = threads(self.n_jobs)
        half_fits = COPIES_IN_A_FIT * workers // 2
        names = getattr(self, "feature_names_in_", None)
        with naming_variables(names):
            tell_of_copies(type(self).__name__, X, codes, how["groups"], workers)
            orders, size, stable, index, bounds, self._selectable = _core.stable_selection(
                settings(base),
                how,
                sparse_or_dense(X, copies=max(COPIES_IN_A_FIT, 1 + half_fits)),
                codes,
                counts,
                classes,
                None if names is None else names.tolist(),
                progress(type(self).__name__, "half-samples") if whole_number("verbose", self.verbose) > 0 else None,
                workers,
                batch_names(batch, X.shape[0]),
            )
        longest = max(map(len, orders))
        self._orders = np.array([order + [-1] * (longest - len(order)) for order in orders], dtype=np.int64)
        self.panel_size_ = size
        self.stable_ = np.array(stable, dtype=np.int64)
        self.stability_ = StabilityIndex(*index)
        self.false_selections_ = dict(zip(("meinshausen_buhlmann", "unimodal", "r_concave"), bounds, strict=True))
        self.frequencies_ = self._frequencies(size)
        self.estimator_ = None
        if stable:
            self.estimator_ = clone(base)
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    setattr(self.estimator_, name, getattr(self, name))
            self.estimator_._batch = batch
            self.estimator_._fit_core(X, codes, classes, workers, stable, counts)
            del self.estimator_._batch
        else:
            warn_user(
                f"{type(self).__name__}: no variable is stable, the most frequent one is selected by "
                f"{self.frequencies_.max():.0%} of the half-samples: there may be nothing to find, or too few samples",
                UserWarning,
            )

    def _how(self) -> dict[str, Any]:
        """Return the parameters of the core, with the names that it has for them."""
        most = count("max_panel_size", self.max_panel_size, least=1)
        size = None if self.panel_size is None else count("panel_size", self.panel_size, or_none=True, least=1)
        if size is not None and size > most:
            raise ValueError(f"`panel_size` is {size}, but must be at most `max_panel_size`, which is {most}")
        if isinstance(self.random_state, Integral):
            seed = count("random_state", self.random_state)
        else:
            seed = int(check_random_state(self.random_state).randint(2**31))
        return {
            "pairs": count("n_pairs", self.n_pairs, least=1),
            "most": most,
            "size": size,
            "threshold": number("threshold", self.threshold),
            "false_selections": number("false_selections", self.false_selections),
            "seed": seed,
            "groups": None,
        }

    def frequencies(self, size: int) -> Floats:
        """Return how often each variable is selected at another panel size.

        Parameters
        ----------
        size : int
            The panel size, from 1 to the ``max_panel_size`` of the fit.

        Returns
        -------
        ndarray of shape (n_features,)
            The fraction of half-samples whose panel of this size has the variable. It grows with the size.
        """
        return self._frequencies(self._checked(size))

    def stability(self, size: int) -> StabilityIndex:
        """Return how much the panels agree at another panel size.

        Parameters
        ----------
        size : int
            The panel size, from 1 to the ``max_panel_size`` of the fit.

        Returns
        -------
        StabilityIndex
            Nogueira's index: ``value``, with the ends ``low`` and ``high`` of its 95 % confidence interval.
        """
        k = self._checked(size)
        orders = [[variable for variable in order if variable >= 0] for order in self._orders.tolist()]
        return StabilityIndex(*_core.stability_index(self.n_features_in_, self._selectable, orders, k))

    def _checked(self, size: int) -> int:
        check_is_fitted(self)
        k, longest = count("size", size, least=1), self._orders.shape[1]
        if k > longest:
            raise ValueError(f"`size` is {k}, but the panels have at most {longest} variables")
        return k

    def _frequencies(self, size: int) -> Floats:
        chosen = self._orders[:, :size]
        counts = np.bincount(chosen[chosen >= 0], minlength=self.n_features_in_)
        frequencies: Floats = counts / len(self._orders)
        return frequencies

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.stable_] = True
        return mask
