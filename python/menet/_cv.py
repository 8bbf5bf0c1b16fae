"""The Manifold Elastic Net with settings chosen by cross-validation."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from menet import _choices, _core
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, Samples, sparse_or_dense
from menet._men import ManifoldElasticNet
from menet._running import warn_user
from menet._search import SEARCHED, SIZES, core_score, folds_of, in_python, is_list, progress, results, values_to_try
from menet._settings import core_name, flag, settings, whole_number

if TYPE_CHECKING:
    from typing_extensions import Self


class ManifoldElasticNetCV(Decider):
    """The Manifold Elastic Net with settings chosen by cross-validation.

    It tries all combinations of the listed values in every fold, and fits the best setting to all samples. Work that
    settings share is done once per fold: neighbours and alignment for all settings, the reduced problem for all ridges,
    the paths for all sizes, refits, rules and metrics. The scores are those of
    :class:`~sklearn.model_selection.GridSearchCV` over the same grid, in a fraction of the time.

    A parameter with one value is not searched. Settings that give the same model are tried once: the rules "centroid"
    and "gaussian" ignore ``n_neighbors`` and ``metric``, and the refits "none" and "discriminant" ignore
    ``refit_ridge``.

    Parameters
    ----------
    n_components : int, optional
        Number of axes, from 1 to the number of classes minus 1. None: as many as the target has.
    n_nonzeros : int or list of int, optional
        Largest number of variables that the path of an axis selects. None: 5, 10, 20, 50 and 100 are tried, as far as
        there are so many variables. With ``panel_size``: as many as the panel needs. None in a list means the default
        of :class:`~menet.ManifoldElasticNet`.
    preset : {"default", "stable", "paper"}, default="default"
        The values of parameters that are None, or None in a list, as in :class:`~menet.ManifoldElasticNet`.
    panel_size : int or list of int, optional
        Largest number of variables in the panel. None: no limit.
    refit : str or list of str, default=("panel", "discriminant")
        How the weights of the selected variables are computed: "none", "axis", "panel" or "discriminant".
    refit_ridge : float or list of float, optional
        The ridge of the refits "axis" and "panel", at least 0. None, also in a list: the ridge of the path.
    relax : float, default=1.0
        The refit "axis" mixes the weights of the path (0) with the weights without the L1 penalty (1).
    ridge : float or list of float, default=(0.03, 0.3, 1.0, 3.0)
        The ridge of the elastic net, at least 0.
    alpha : float, default=1.0
        Weight of the manifold term, at least 0.
    beta : float or list of float, default=1.0
        Weight of the distance between the embedding Z and the projection XW, more than 0.
    kappa : float, default=0.1
        Weight of the term that pushes near samples of other classes apart, at least 0. ``definiteness`` may lower it.
    k_within : int, default=5
        Neighbours of the same class in a patch, at least 1. A class with fewer samples uses all of them.
    k_between : int, default=5
        Neighbours of other classes in a patch, at least 0.
    neighbors : {"exact", "approximate"}, default="exact"
        How neighbours are searched.
    patch : str, default="dla"
        The patch rule.
    bandwidth : float, optional
        Width of the heat kernel of the Laplacian patches. None: the median distance to the neighbours.
    lle_regularizer : float, default=0.001
        Regularizer of the LLE patch, more than 0.
    ltsa_dimension : int, optional
        Tangent dimension of the LTSA patch. None: half of the neighbours.
    target : {"centres", "whitened"}, default="whitened"
        The target of the samples of a class.
    target_shrinkage : float or list of float, default=0.1
        Shrinkage of the within-class covariance of the target "whitened", more than 0.
    definiteness : {"shrink", "floor", "error"}, default="shrink"
        What to do if the problem is not positive definite: lower kappa, raise the eigenvalues, or refuse.
    floor : float, default=0.5
        The smallest eigenvalue that is allowed, in (0, 1].
    standardize : bool, default=True
        Whether the solver scales the columns to length 1. The axes are always in the units of the data.
    pca_rank : int, optional
        Rank of the PCA reconstruction that replaces the data first. None: no reconstruction.
    penalty_factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. A variable with factor 0 is never penalised: it is in every
        model and does not count towards ``n_nonzeros``. A variable with an infinite factor is never selected.
    rule : str or list of str, default=("nearest", "centroid", "gaussian")
        How the class of a projected sample is decided.
    n_neighbors : int or list of int, default=1
        Number of nearest training samples that vote in the rule "nearest", at least 1.
    metric : str or list of str, default=("euclidean", "cosine")
        The metric of the rule "nearest".
    priors : {"train", "equal"}, array-like of shape (n_classes,), or list of these, default="train"
        How frequent the classes are where the model is used. A list of numbers is one setting.
    route : {"auto", "dense", "conjugate"}, default="auto"
        How the operator A is applied.
    gram : {"auto", "full", "columns"}, default="auto"
        Which part of the Gram matrix of the variables is computed.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.
    cv : int, splitter or iterable, default=5
        The folds: the number of stratified folds, a splitter of scikit-learn, or pairs of training rows and test rows.
    scoring : {"accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr"}, default="balanced_accuracy"
        The score, averaged over the folds, by which the best setting is chosen.
    one_standard_error : bool, default=False
        Whether to choose the setting with the fewest variables among those within one standard error of the best score.
    most_stable : bool, default=False
        Whether to choose, among those, the setting whose panels agree most over the folds (Nogueira's index).
    verbose : int, default=0
        Whether to report progress on standard error.

    Attributes
    ----------
    best_estimator_ : ManifoldElasticNet
        The best setting fitted to all samples.
    best_params_ : dict
        Its values of the searched parameters.
    best_index_ : int
        Its place in ``cv_results_``. Equal scores are decided by the lower log loss, then by fewer variables.
    best_score_ : float
        Its mean score over the folds. It is slightly optimistic, since it is the best of many. For an unbiased score
        hold samples back, or pass this estimator to ``cross_val_score``.
    cv_results_ : dict of ndarray
        As in :class:`~sklearn.model_selection.GridSearchCV`: ``params`` and ``param_*``, ``split*_test_score``,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``. Also ``mean_n_features``, the mean number of
        variables in the panels of the folds. The scores of a setting that cannot be fitted are NaN.
    n_splits_ : int
        Number of folds.
    components_ : ndarray of shape (n_components, n_features)
        The axes of the best estimator. Its other fitted attributes are available here as well.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    panel_ : ndarray
        The distinct variables of all axes together.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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

    @property
    def _model(self) -> _core.Model:  # type: ignore[override]
        return self.best_estimator_._model

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | Sequence[int | None] | None = None,
        *,
        preset: _choices.Preset = "default",
        panel_size: int | Sequence[int | None] | None = None,
        refit: _choices.Refit | Sequence[_choices.Refit | None] | None = ("panel", "discriminant"),
        refit_ridge: float | Sequence[float | None] | None = None,
        relax: float = 1.0,
        ridge: float | Sequence[float | None] | None = (0.03, 0.3, 1.0, 3.0),
        alpha: float = 1.0,
        beta: float | Sequence[float] = 1.0,
        kappa: float = 0.1,
        k_within: int = 5,
        k_between: int = 5,
        neighbors: _choices.NeighborSearch = "exact",
        patch: _choices.Patch = "dla",
        bandwidth: float | None = None,
        lle_regularizer: float = 1e-3,
        ltsa_dimension: int | None = None,
        target: _choices.Target = "whitened",
        target_shrinkage: float | Sequence[float] = 0.1,
        definiteness: _choices.Definiteness = "shrink",
        floor: float = 0.5,
        standardize: bool = True,
        pca_rank: int | None = None,
        penalty_factors: ArrayLike | None = None,
        rule: _choices.Rule | Sequence[_choices.Rule | None] | None = ("nearest", "centroid", "gaussian"),
        n_neighbors: int | Sequence[int] = 1,
        metric: _choices.Metric | Sequence[_choices.Metric | None] | None = ("euclidean", "cosine"),
        priors: _choices.PriorsName | ArrayLike | Sequence[_choices.PriorsName | ArrayLike] = "train",
        route: _choices.Route = "auto",
        gram: _choices.GramForm = "auto",
        n_jobs: int | None = None,
        cv: Any = 5,
        scoring: _choices.Scoring = "balanced_accuracy",
        one_standard_error: bool = False,
        most_stable: bool = False,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
        self.preset = preset
        self.panel_size = panel_size
        self.refit = refit
        self.refit_ridge = refit_ridge
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
        self.most_stable = most_stable
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
            Groups for a splitter that keeps groups together.

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
        """Return the score of the best estimator, by the score that ``scoring`` names.

        It warns if most of the samples were used in the fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        core_score(self.scoring)
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
            Largest number of variables that the path of an axis selects; at most the fitted number.
        n_components : int, optional
            Number of paths to keep.
        panel_size : int, optional
            Largest number of variables in the panel.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator, as from :meth:`menet.ManifoldElasticNet.at`.
        """
        check_is_fitted(self)
        return self.best_estimator_.at(n_nonzeros=n_nonzeros, n_components=n_components, panel_size=panel_size)

    def _choose(self) -> str:
        """Return which of the settings that are good enough is chosen, by the core's name."""
        smallest = flag("one_standard_error", self.one_standard_error)
        stable = flag("most_stable", self.most_stable)
        if smallest and stable:
            raise ValueError("`one_standard_error` and `most_stable` are both True, but only one of them can be")
        return "smallest" if smallest else "most_stable" if stable else "best"

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        score, place, factor = core_score(self.scoring)
        choose = self._choose()
        plain, bases, tried = self._to_try(X.shape[1], len(classes))
        listed = [name for name in SEARCHED if is_list(name, getattr(self, name)) or len(tried[name]) > 1]
        folds = folds_of(self.cv, X, self.classes_[codes], self._groups)
        found, scores, variables, failed, best = _core.search(
            bases,
            {core_name(name): values for name, values in tried.items()},
            sparse_or_dense(X, copies=COPIES_IN_A_FIT * min(threads, len(folds))),
            codes,
            folds,
            score,
            choose,
            progress() if whole_number("verbose", self.verbose) > 0 else None,
            threads,
        )
        params = [in_python(one, listed) for one in found]
        if reasons := [why for why in failed if why is not None]:
            warn_user(
                f"{len(reasons)} of {len(params)} settings could not be fitted in every fold and are left out, the "
                f"first because {reasons[0]}",
                FitFailedWarning,
            )
        if best is None:
            raise ValueError("no setting could be scored in every fold: use other folds (`cv`) or another `scoring`")
        self.n_splits_ = len(folds)
        self.cv_results_ = results(params, factor * scores[:, :, place], variables)
        self.best_index_ = best
        self.best_params_ = params[best]
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        chosen = in_python(found[best], list(SEARCHED))
        self._take(ManifoldElasticNet(**{**plain, **chosen}), X, codes, classes, threads)

    def _to_try(
        self, variables: int, classes: int
    ) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, list[Any]]]:
        """Return the parameters that are not searched, the base settings, and the values to try of every parameter."""
        tried = {name: values_to_try(name, getattr(self, name)) for name in SEARCHED}
        for priors in tried["priors"]:
            if not isinstance(priors, str) and len(priors) != classes:
                raise ValueError(f"`priors` has {len(priors)} numbers, but there are {classes} classes")
        sized = any(size is not None for size in tried["panel_size"])
        if self.n_nonzeros is None and not sized:
            tried["n_nonzeros"] = list(dict.fromkeys(min(size, variables) for size in SIZES))
        own = set(inspect.signature(ManifoldElasticNet).parameters)
        plain = {name: value for name, value in self.get_params(deep=False).items() if name in own - set(SEARCHED)}
        # Limits per path together with limits on the panel: one search per limit per path.
        limits = tried["n_nonzeros"] if sized else [None]
        bases = [settings(ManifoldElasticNet(**plain, n_nonzeros=limit), without={"n_jobs"}) for limit in limits]
        return plain, bases, tried

    def _take(
        self, best: ManifoldElasticNet, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int
    ) -> None:
        """Fit the best estimator to samples that are already validated, and take over its fitted attributes."""
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(best, name, getattr(self, name))
        best._fit_core(X, codes, classes, threads)
        self.best_estimator_ = best
        for name, value in vars(best).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
