"""The Manifold Elastic Net with settings chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from menet._anndata import scored
from menet._input import Samples
from menet._men import ManifoldElasticNet
from menet._parameters import with_shared
from menet._search import Scoring, core_score
from menet._searched import Searched

if TYPE_CHECKING:
    from typing_extensions import Self


class ManifoldElasticNetCV(Searched):
    """The Manifold Elastic Net with settings chosen by cross-validation.

    It tries all combinations of the values in ``param_grid`` in every fold, and fits the best setting to all samples.
    Work that settings share is done once per fold: neighbours and alignment for all settings, the reduced problem for
    all ridges, the paths for all sizes, refits, rules and metrics. The scores are those of
    :class:`~sklearn.model_selection.GridSearchCV` over the same grid, in a fraction of the time.

    What neither ``param_grid`` nor the other parameters say is searched as well: 5, 10, 20, 50 and 100 variables per
    axis, as far as there are so many and no ``panel_size`` is given; the ridges 0.03, 0.3, 1.0 and 3.0; the refits
    "panel" and "discriminant"; all rules; both metrics if there are several axes. Settings that give the same model are
    tried once: only the rule "nearest" has ``k`` and ``metric``, and only the refits "axis" and "panel" have ``ridge``.
    ``menet tune`` and `menet.validate` search in the same way.

    Parameters
    ----------
    n_components : int, optional
        Number of axes d, from 1 to the number of classes minus 1. None: as many as the target has.
    n_nonzeros : int, optional
        Largest number K of variables that the path of an axis selects, at least 1. None: twice the number of samples,
        but at least 50 and at most 100; with ``panel_size``, as many as the panel needs.
    panel_size : int, optional
        Largest number of distinct variables that all axes use together, at least 1. None: no limit. The refits
        "panel" and "discriminant" first select more candidates, then drop those that contribute least to the
        separation of the classes.
    ridge : float, optional
        Ridge λ2 of the elastic net, at least 0. None: 0.3.
    pca_rank : int, optional
        Rank of the PCA reconstruction that replaces the data first, at least 1. None: no reconstruction.
    prepare : Prepare, optional
        What samples need before a fit: missing values, batches, scales.
    patch : {"dla", "laplacian", "laplacian-binary", "laplacian-unsupervised", "laplacian-binary-unsupervised", "lle", \
            "lle-unsupervised", "ltsa", "ltsa-unsupervised"}, Patch, default="dla"
        The patches, one per sample: which samples are neighbours, and what is kept of them. The patch rule. "dla":
        discriminative locality alignment: near samples of the class together, near ones of others apart. "laplacian":
        graph Laplacian within classes, heat-kernel weights. "laplacian-binary": graph Laplacian within classes,
        weights 0 or 1. "laplacian-unsupervised": graph Laplacian over all samples, heat-kernel weights.
        "laplacian-binary-unsupervised": graph Laplacian over all samples, weights 0 or 1. "lle": locally linear
        reconstruction from the same class. "lle-unsupervised": locally linear reconstruction from all samples.
        "ltsa": local tangent space alignment within classes. "ltsa-unsupervised": local tangent space alignment over
        all samples.
    manifold : Manifold, optional
        The manifold term: how strongly the patches act on the projection.
    target : {"centres", "whitened"}, WhitenedTarget or CentresTarget, default="whitened"
        The target: where the samples of a class should be projected. How the class centres are placed. "centres": as
        they are: the paper's target. "whitened": after whitening by the shrunken within-class covariance.
    penalty : {"l1", "adaptive", "reweighted", "scad", "mcp", "l0"}, L1, Adaptive, Reweighted, Scad, Mcp or L0, \
            default="l1"
        The penalty: which coefficients are pressed down, and which variables enter together. What presses on the
        coefficients. With all but "l1", a limit on the panel is met by the penalty alone. "l1": the absolute value:
        the elastic net. "adaptive": ℓ1 with weights from a first fit. "reweighted": the logarithm, by ℓ1 with weights
        from the round before. "scad": the smoothly clipped absolute deviation. "mcp": the minimax concave penalty.
        "l0": the number of variables: best subsets.
    refit : {"none", "axis", "panel", "discriminant"}, DiscriminantRefit, NoRefit, AxisRefit or PanelRefit, optional
        The refit: how the weights of the selected variables are computed. On which variables, and with which
        objective. None: "discriminant". "none": they are the paper's. "axis": on every axis's own support, without
        the ℓ1 penalty. "panel": on the panel for all axes, without the ℓ1 penalty. "discriminant": the discriminants
        of the panel.
    rule : {"nearest", "centroid", "gaussian"}, AutoRule, Nearest, Centroid or Gaussian, optional
        The rule: how the class of a projected sample is decided. Which rule. None: "nearest", but "gaussian" on a
        single axis. "nearest": the class of the nearest samples, the paper's rule. "centroid": the class whose mean
        is nearest. "gaussian": the most probable class if all are normal with one covariance: linear discriminant
        analysis.
    class_weight : "balanced" or dict, optional
        Weights of the classes. "balanced": every class has the same sum of weights. A dict gives the factor on the
        weights of every class, by label; classes that it leaves out have 1.
    unlabelled : object, optional
        The label that means none, such as -1. Samples with this label take part in the manifold term, with the nearest
        of all samples as neighbours, but not in the loss, the refit and the rule. NaN: labels that are missing. None:
        every label is a class.
    compute : Compute, optional
        How a fit is computed. Only time and memory depend on it, never the result.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.
    param_grid : dict, optional
        Lists of values to try, by the name of their parameter: "n_nonzeros", "panel_size", "ridge", "manifold__beta",
        "target__shrinkage", "refit", "refit__ridge", "rule", "rule__metric", "rule__k", "rule__priors". A list goes
        before the value of the parameter. None in a list leaves the parameter open. Penalties with groups of variables
        cannot be searched.
    cv : int, splitter or iterable, default=5
        The folds: the number of stratified folds, a splitter of scikit-learn, or pairs of training rows and test rows.
        Copies of a sample stay together in stratified folds, and in those of a splitter with groups. Groups that
        share copies are one. A warning says how many copies there are, and if other folds put them on both sides.
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
    reason_ : str
        Why this setting was chosen, and what else is within one standard error.
    n_splits_ : int
        Number of folds.
    components_ : ndarray of shape (n_components, n_features)
        The axes of the best estimator. Its other fitted attributes are available here as well.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    panel_ : ndarray
        The distinct variables of all axes together.
    always_ : ndarray
        The variables of the panel that are in every model, which no limit counts.
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
    >>> search = ManifoldElasticNetCV(ridge=0.3, refit="discriminant", param_grid={"panel_size": [5, 10, 20]})
    >>> search = search.fit(X, y)
    >>> len(search.cv_results_["params"]), sorted(search.best_params_)
    (12, ['panel_size', 'rule', 'rule__metric'])
    >>> len(search.panel_) <= search.best_params_["panel_size"]
    True
    """

    @with_shared
    def __init__(
        self,
        *,
        param_grid: Mapping[str, Sequence[Any]] | None = None,
        cv: Any = 5,
        scoring: Scoring = "balanced_accuracy",
        one_standard_error: bool = False,
        most_stable: bool = False,
        verbose: int = 0,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.most_stable = most_stable
        self.verbose = verbose

    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        batch: ArrayLike | None = None,
        layer: str | None = None,
    ) -> Self:
        """Try all settings in all folds, and fit the best to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples, as for :class:`~menet.ManifoldElasticNet`.
        y : array-like of shape (n_samples,) or str
            The class of every sample, or ``unlabelled`` for a sample without one. These take part in every fold's
            training, and are not scored.
        sample_weight : array-like of shape (n_samples,) or str, optional
            How much every sample counts, in the fits and in the scores.
        groups : array-like of shape (n_samples,) or str, optional
            Groups for a splitter that keeps groups together.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, as for :class:`~menet.ManifoldElasticNet`.
        layer : str, optional
            The layer of the AnnData object to read. None: ``X``.

        Returns
        -------
        ManifoldElasticNetCV
            The estimator itself.
        """
        self._groups = groups
        try:
            return super().fit(X, y, sample_weight, batch=batch, layer=layer)
        finally:
            self.__dict__.pop("_groups", None)

    def score(self, X: Samples, y: Any, sample_weight: Any = None, *, batch: ArrayLike | None = None) -> float:
        """Return the score of the best estimator, by the score that ``scoring`` names.

        It warns if most of the samples were used in the fit.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or str
            Their classes.
        sample_weight : array-like of shape (n_samples,) or str, optional
            Weights of the samples.
        batch : array-like of shape (n_samples,) or str, optional
            The batch of every sample, if the model was fitted with batches.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        core_score(self.scoring)
        y, sample_weight = scored(X, y, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        judged = self.best_estimator_
        if batch is not None:
            # Scorers know nothing of batches.
            judged = ManifoldElasticNet()
            judged.__dict__.update(self.best_estimator_.__dict__, _known_batch=batch)
        found = float(get_scorer(self.scoring)(judged, X, y, **weights))
        self._warn_of_training(X)
        return found
