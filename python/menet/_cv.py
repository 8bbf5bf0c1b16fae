"""The Manifold Elastic Net with settings chosen by cross-validation."""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, Samples, sparse_or_dense
from menet._men import ManifoldElasticNet
from menet._running import warn_user
from menet._settings import (
    converted,
    core_name,
    count,
    flag,
    optional,
    parameter_hints,
    python_name,
    settings,
    whole_number,
)

if TYPE_CHECKING:
    from typing_extensions import Self

# What can be searched, in the order in which it is told.
SEARCHED = (
    "n_nonzeros",
    "panel_size",
    "ridge",
    "beta",
    "target_shrinkage",
    "refit",
    "rule",
    "metric",
    "n_neighbors",
    "priors",
)

# The numbers of variables that are tried where nothing is said.
SIZES = (5, 10, 20, 50, 100)

# What can be searched for: the core's name, its place among the core's scores, and the factor between the two.
SCORINGS = {
    "accuracy": ("rate", 0, 0.01),
    "balanced_accuracy": ("balanced", 1, 0.01),
    "neg_log_loss": ("log_loss", 2, -1.0),
    "roc_auc_ovr": ("auc", 3, 1.0),
}


class ManifoldElasticNetCV(Decider):
    """The Manifold Elastic Net with settings chosen by cross-validation.

    All combinations of the values that the parameters below list are tried in every fold, and the best is fitted to
    all samples. What does not change with a setting is computed once per fold: neighbours and alignment for all
    settings, the reduced problem for all ridges, the paths for all sizes, refits, rules and metrics. The scores are
    those that :class:`~sklearn.model_selection.GridSearchCV` finds over the same grid, in a fraction of the time.

    A parameter that is one value is not searched. Settings that differ in nothing but what their rule does not look at
    (``n_neighbors`` and ``metric`` of the rules "centroid" and "gaussian") are tried once.

    Parameters
    ----------
    n_components : int, optional
        Number of axes, from 1 to one less than there are classes. None: as many as the target has.
    n_nonzeros : int or list of int, optional
        Largest number of variables that the path of a component selects. None: 5, 10, 20, 50 and 100 are tried, or the
        number of variables in place of what is more; with ``panel_size``, as many as that needs. None in a list stands
        for the default of :class:`~menet.ManifoldElasticNet`.
    preset : {"default", "paper"}, default="default"
        What the parameters are that are None, or None in a list, as for :class:`~menet.ManifoldElasticNet`.
    panel_size : int or list of int, optional
        Largest number of distinct variables that all axes use together. None: no limit.
    refit : str or list of str, default=("panel", "discriminant")
        How the weights of the selected variables are computed: "none", "axis", "panel" or "discriminant".
    relax : float, default=1.0
        How far the refit "axis" goes from the weights of the path, 0, to those without the ℓ1 penalty, 1.
    ridge : float or list of float, default=(0.03, 0.3, 1.0, 3.0)
        The ridge of the elastic net, at least 0.
    alpha : float, default=1.0
        Weight of the manifold term, at least 0.
    beta : float or list of float, default=1.0
        Weight of the distance between the embedding Z and the projection XW, more than 0.
    kappa : float, default=0.1
        How strongly near samples of other classes are pushed apart, at least 0; ``definiteness`` may lower it.
    k_within : int, default=5
        Neighbours of the same class in a patch, at least 1; a smaller class uses what it has.
    k_between : int, default=5
        Neighbours of other classes in a patch, at least 0.
    neighbors : {"exact", "approximate"}, default="exact"
        How neighbours are searched for.
    patch : str, default="dla"
        The patch rule.
    bandwidth : float, optional
        Width of the heat kernel of the Laplacian patches. None: the median distance to the neighbours.
    lle_regularizer : float, default=0.001
        Regularizer of the LLE patch, more than 0.
    ltsa_dimension : int, optional
        Tangent dimension of the LTSA patch. None: half of the neighbours.
    target : {"centres", "whitened"}, default="whitened"
        Where the samples of a class should land.
    target_shrinkage : float or list of float, default=0.1
        Shrinkage of the within-class covariance of the target "whitened", more than 0.
    definiteness : {"shrink", "floor", "error"}, default="shrink"
        What to do where the problem would not be positive definite: lower kappa, raise eigenvalues, or refuse.
    floor : float, default=0.5
        The smallest eigenvalue that is allowed there, in (0, 1].
    standardize : bool, default=True
        Whether the solver works on columns of length 1; the axes are in the units of the data in any case.
    pca_rank : int, optional
        Rank of the PCA reconstruction that the data are replaced by first. None: no reconstruction.
    penalty_factors : array-like of shape (n_features,), optional
        One factor more than 0 per variable on its penalty; infinity bars it.
    rule : str or list of str, default=("nearest", "centroid", "gaussian")
        How samples are decided on in the projected space.
    n_neighbors : int or list of int, default=1
        How many of the nearest training samples vote in the rule "nearest", at least 1.
    metric : str or list of str, default=("euclidean", "cosine")
        The metric of the rule "nearest".
    priors : {"train", "equal"}, array-like of shape (n_classes,), or list of these, default="train"
        How frequent the classes are where the model is used. A list of numbers is one setting.
    route : {"auto", "dense", "conjugate"}, default="auto"
        How the operator A is applied.
    gram : {"auto", "full", "columns"}, default="auto"
        What is formed of the Gram matrix of the variables.
    n_jobs : int, optional
        Number of threads, as everywhere in scikit-learn: None means 1, or what `joblib.parallel_config` says; -1
        means all. The result does not depend on it.
    cv : int, splitter or iterable, default=5
        The folds: so many, stratified; or a splitter of scikit-learn; or pairs of training and test rows.
    scoring : {"accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr"}, default="balanced_accuracy"
        What the best setting is best at, by the mean over the folds.
    one_standard_error : bool, default=False
        Whether to choose, of the settings no worse than the best by more than its standard error, the one with the
        fewest variables.
    verbose : int, default=0
        Whether to tell on the error stream how far the search is.

    Attributes
    ----------
    best_estimator_ : ManifoldElasticNet
        The best setting fitted to all samples.
    best_params_ : dict
        Its values of the parameters that were searched.
    best_index_ : int
        Its place in ``cv_results_``. Among equals the lower log loss decides, then the fewer variables.
    best_score_ : float
        Its mean score over the folds. It was chosen for being high, so that it flatters a little; for an honest score
        hold samples back, or give this estimator to ``cross_val_score``.
    cv_results_ : dict of ndarray
        As that of :class:`~sklearn.model_selection.GridSearchCV`: ``params`` and ``param_*``, ``split*_test_score``,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``; and ``mean_n_features``, how many distinct
        variables the models of the folds use. Scores of a setting that cannot be fitted are NaN.
    n_splits_ : int
        Number of folds.
    components_ : ndarray of shape (n_components, n_features)
        The axes of the best estimator. Its other attributes are here as well.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    panel_ : ndarray
        The distinct variables that all axes use together.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    See Also
    --------
    menet.ManifoldElasticNet : The estimator of one setting.
    menet.plot.selection : Draws the scores against the number of variables.

    Notes
    -----
    A class that is missing from the training samples of a fold has probability 0 there.

    Examples
    --------
    >>> from menet import ManifoldElasticNetCV
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> search = ManifoldElasticNetCV(panel_size=[5, 10, 20], ridge=0.3, refit="discriminant").fit(X, y)
    >>> len(search.cv_results_["params"]), sorted(search.best_params_)
    (12, ['metric', 'panel_size', 'rule'])
    >>> len(search.panel_) <= search.best_params_["panel_size"]
    True
    """

    best_estimator_: ManifoldElasticNet
    best_params_: dict[str, Any]
    best_index_: int
    best_score_: float
    cv_results_: dict[str, Any]
    n_splits_: int

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | Sequence[int | None] | None = None,
        *,
        preset: str = "default",
        panel_size: int | Sequence[int | None] | None = None,
        refit: str | Sequence[str | None] | None = ("panel", "discriminant"),
        relax: float = 1.0,
        ridge: float | Sequence[float | None] | None = (0.03, 0.3, 1.0, 3.0),
        alpha: float = 1.0,
        beta: float | Sequence[float] = 1.0,
        kappa: float = 0.1,
        k_within: int = 5,
        k_between: int = 5,
        neighbors: str = "exact",
        patch: str = "dla",
        bandwidth: float | None = None,
        lle_regularizer: float = 1e-3,
        ltsa_dimension: int | None = None,
        target: str = "whitened",
        target_shrinkage: float | Sequence[float] = 0.1,
        definiteness: str = "shrink",
        floor: float = 0.5,
        standardize: bool = True,
        pca_rank: int | None = None,
        penalty_factors: ArrayLike | None = None,
        rule: str | Sequence[str | None] | None = ("nearest", "centroid", "gaussian"),
        n_neighbors: int | Sequence[int] = 1,
        metric: str | Sequence[str | None] | None = ("euclidean", "cosine"),
        priors: str | ArrayLike | Sequence[str | ArrayLike] = "train",
        route: str = "auto",
        gram: str = "auto",
        n_jobs: int | None = None,
        cv: Any = 5,
        scoring: str = "balanced_accuracy",
        one_standard_error: bool = False,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
        self.preset = preset
        self.panel_size = panel_size
        self.refit = refit
        self.relax = relax
        self.ridge = ridge
        self.alpha = alpha
        self.beta = beta
        self.kappa = kappa
        self.k_within = k_within
        self.k_between = k_between
        self.neighbors = neighbors
        self.patch = patch
        self.bandwidth = bandwidth
        self.lle_regularizer = lle_regularizer
        self.ltsa_dimension = ltsa_dimension
        self.target = target
        self.target_shrinkage = target_shrinkage
        self.definiteness = definiteness
        self.floor = floor
        self.standardize = standardize
        self.pca_rank = pca_rank
        self.penalty_factors = penalty_factors
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.priors = priors
        self.route = route
        self.gram = gram
        self.n_jobs = n_jobs
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.verbose = verbose

    def fit(self, X: Samples, y: ArrayLike | None = None, *, groups: ArrayLike | None = None) -> Self:
        """Try all settings in all folds, and fit the best to all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples, as for :class:`~menet.ManifoldElasticNet`.
        y : array-like of shape (n_samples,)
            The class of every sample.
        groups : array-like of shape (n_samples,), optional
            What the splitter keeps together, if it asks for that.

        Returns
        -------
        ManifoldElasticNetCV
            The estimator itself.
        """
        self._groups = groups
        try:
            return super().fit(X, y)
        finally:
            self.__dict__.pop("_groups", None)

    def score(self, X: Samples, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the best estimator, as ``scoring`` says.

        A warning tells where most of the samples are those of the fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        _scoring(self.scoring)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        found = float(get_scorer(self.scoring)(self.best_estimator_, X, y, **weights))
        self._warn_of_training(X)
        return found

    def at(
        self, *, n_nonzeros: int | None = None, n_components: int | None = None, panel_size: int | None = None
    ) -> ManifoldElasticNet:
        """Return the best estimator with fewer variables or fewer axes, without fitting again.

        Parameters
        ----------
        n_nonzeros : int, optional
            Largest number of variables that the path of a component selects; at most what was fitted.
        n_components : int, optional
            The paths of how many components to keep.
        panel_size : int, optional
            Largest number of distinct variables over all axes.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator, as :meth:`menet.ManifoldElasticNet.at` gives it.
        """
        check_is_fitted(self)
        return self.best_estimator_.at(n_nonzeros=n_nonzeros, n_components=n_components, panel_size=panel_size)

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        score, place, factor = _scoring(self.scoring)
        one_standard_error = flag("one_standard_error", self.one_standard_error)
        tried = {name: _values(name, getattr(self, name)) for name in SEARCHED}
        for priors in tried["priors"]:
            if not isinstance(priors, str) and len(priors) != len(classes):
                raise ValueError(f"`priors` has {len(priors)} numbers, but there are {len(classes)} classes")
        sized = any(size is not None for size in tried["panel_size"])
        if self.n_nonzeros is None and not sized:
            tried["n_nonzeros"] = list(dict.fromkeys(min(size, X.shape[1]) for size in SIZES))
        listed = [name for name in SEARCHED if _is_list(name, getattr(self, name)) or len(tried[name]) > 1]
        own = set(inspect.signature(ManifoldElasticNet).parameters)
        plain = {name: value for name, value in self.get_params(deep=False).items() if name in own - set(SEARCHED)}
        # A limit per path as well as one on the panel: every such pair, by a search for each of the former.
        limits = tried["n_nonzeros"] if sized else [None]
        bases = [settings(ManifoldElasticNet(**plain, n_nonzeros=limit), without={"n_jobs"}) for limit in limits]
        folds = self._folds(X, codes)
        found, scores, variables, failed, best = _core.search(
            bases,
            {core_name(name): values for name, values in tried.items()},
            sparse_or_dense(X, copies=COPIES_IN_A_FIT * min(threads, len(folds))),
            codes,
            folds,
            score,
            one_standard_error,
            _progress() if whole_number("verbose", self.verbose) > 0 else None,
            threads,
        )
        params = [_in_python(one, listed) for one in found]
        if reasons := [why for why in failed if why is not None]:
            warn_user(
                f"{len(reasons)} of {len(params)} settings could not be fitted in every fold and are left out, the "
                f"first because {reasons[0]}",
                FitFailedWarning,
            )
        if best is None:
            raise ValueError("no setting could be scored in every fold: use other folds (`cv`) or another `scoring`")
        self.n_splits_ = len(folds)
        self.cv_results_ = _results(params, factor * scores[:, :, place], variables)
        self.best_index_ = best
        self.best_params_ = params[best]
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        chosen = _in_python(found[best], list(SEARCHED))
        self._take(ManifoldElasticNet(**{**plain, **chosen}), X, codes, classes, threads)

    def _take(
        self, best: ManifoldElasticNet, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int
    ) -> None:
        """Fit the best estimator to samples that were validated here, and take over what it learned."""
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(best, name, getattr(self, name))
        best._fit_core(X, codes, classes, threads)
        self.best_estimator_ = best
        for name, value in vars(best).items():
            if name == "_model" or (name.endswith("_") and not name.startswith("_")):
                setattr(self, name, value)

    def _folds(self, X: Any, codes: NDArray[np.int64]) -> list[tuple[list[int], list[int]]]:
        """Return the rows to learn from and to test on, fold by fold."""
        rows = np.arange(X.shape[0])
        labels = self.classes_[codes]
        splits = check_cv(self.cv, labels, classifier=True).split(X, labels, self._groups)
        # Masks are welcome as well as rows.
        folds = [(rows[train].tolist(), rows[test].tolist()) for train, test in splits]
        for place, (train, test) in enumerate(folds):
            if not train or not test:
                empty = "no training samples" if not train else "no test samples"
                raise ValueError(f"fold {place} (counted from 0) of `cv` has {empty}")
        if not folds:
            raise ValueError("`cv` has no folds")
        return folds


def _scoring(scoring: Any) -> tuple[str, int, float]:
    """Return what the core calls a score, where it has it, and what it is to be multiplied with."""
    if isinstance(scoring, str) and scoring in SCORINGS:
        return SCORINGS[scoring]
    raise ValueError(f"`scoring` is {scoring!r}, but must be one of {', '.join(SCORINGS)}")


def _is_list(name: str, value: Any) -> bool:
    """Return whether a parameter lists values to try."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    # Numbers are one setting of the priors.
    return name != "priors" or not all(isinstance(one, Number) for one in value)


def _values(name: str, value: Any) -> list[Any]:
    """Return the values of a parameter to try, as Python's own types, each once."""
    hint = parameter_hints(ManifoldElasticNet)[name]
    given = list(value) if _is_list(name, value) else [value]
    if not given:
        raise ValueError(f"`{name}` is an empty list, but must have at least one value to try")
    plain = [None if one is None and optional(hint) else converted(name, one, hint) for one in given]
    if name in ("n_nonzeros", "panel_size", "n_neighbors"):
        plain = [one if one is None else count(name, one, least=1) for one in plain]
    return [one for place, one in enumerate(plain) if one not in plain[:place]]


def _in_python(found: str, names: list[str]) -> dict[str, Any]:
    """Return some parameters of the core, given as JSON, under the names they have here."""
    params = {python_name(name): value for name, value in json.loads(found).items()}
    return {name: params[name] for name in names}


def _results(params: list[dict[str, Any]], scores: NDArray[Any], variables: NDArray[Any]) -> dict[str, Any]:
    """Return scores, settings by folds, as scikit-learn's searches do."""
    results: dict[str, Any] = {}
    for name in params[0]:
        column = np.ma.empty(len(params), dtype=object)
        column[:] = np.ma.masked
        for place, one in enumerate(params):
            column[place] = one[name]
        results[f"param_{name}"] = column
    results["params"] = params
    for fold in range(scores.shape[1]):
        results[f"split{fold}_test_score"] = scores[:, fold]
    mean = scores.mean(axis=1)
    results["mean_test_score"] = mean
    results["std_test_score"] = scores.std(axis=1)
    worst = np.nan_to_num(mean, nan=np.nanmin(mean, initial=np.inf) - 1.0)
    results["rank_test_score"] = rankdata(-worst, method="min").astype(np.int32)
    results["mean_n_features"] = variables
    return results


def _progress() -> Callable[[int, int], None]:
    """Return a function that tells how far a search is, at most twice a second and at its end."""
    start = time.monotonic()
    told = start

    def tell(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if done < total and now - told < 0.5:
            return
        told = now
        print(f"ManifoldElasticNetCV: {done} of {total} paths, {now - start:.1f} s", file=sys.stderr, flush=True)

    return tell
