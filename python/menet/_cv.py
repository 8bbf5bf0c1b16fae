"""The Manifold Elastic Net with settings chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from menet import _choices
from menet._anndata import scored
from menet._groups import Groups
from menet._input import Samples
from menet._men import ManifoldElasticNet
from menet._search import core_score
from menet._searched import Searched

if TYPE_CHECKING:
    from typing_extensions import Self


class ManifoldElasticNetCV(Searched):
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
    penalty : {"l1", "adaptive", "reweighted", "scad", "mcp", "l0"}, default="l1"
        What presses on the coefficients. "l1": the elastic net. "adaptive": with weights from a first fit.
        "reweighted", "scad" and "mcp": less on large coefficients, in rounds of weighted paths. "l0": best subsets, by
        exchange of variables. With all but "l1", a limit on the panel is met by the penalty alone.
    penalty_shape : float, optional
        ``a`` of "scad", more than 2; gamma of "mcp", more than 1, and of "adaptive", more than 0. None: 3.7, 3 and 1.
    penalty_epsilon : float, optional
        Epsilon of "adaptive" and "reweighted", more than 0, relative to the largest coefficient of the first fit. None:
        0.05 and 0.1.
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
    target_spread : {"classes", "all"}, default="classes"
        The covariance that whitens the target: of the labelled samples within their classes, or of all samples, with a
        label or without.
    definiteness : {"shrink", "floor", "error"}, default="shrink"
        What to do if the problem is not positive definite: lower kappa, raise the eigenvalues, or refuse.
    floor : float, default=0.5
        The smallest eigenvalue that is allowed, in (0, 1].
    standardize : bool, default=True
        Whether the solver scales the columns to length 1. The axes are always in the units of the data.
    impute : {"mean", "median", "knn"}, optional
        How missing values (NaN) are filled: with the mean or the median of the variable, or with the mean over the 5
        nearest training samples that have the value. It is learned from the training samples, and new samples are
        filled in the same way. None: missing values are an error.
    max_missing : float, default=0.5
        Variables that a larger fraction of the training samples lacks are left out, from 0 to 1. Used with ``impute``.
    scale : {"none", "unit", "pareto", "log1p", "log1p-unit"}, default="none"
        How variables are scaled before all else. "unit": divided by the standard deviation. "pareto": divided by its
        square root. "log1p": the logarithm of 1 + x, for counts. "log1p-unit": both. ``components_`` and ``mean_`` are
        then in the units of the scaled variables.
    batch_scale : bool, default=False
        Whether values are also divided by their standard deviation in their batch, where ``fit`` gets a `batch`.
    pca_rank : int, optional
        Rank of the PCA reconstruction that replaces the data first. None: no reconstruction.
    penalty_factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. A variable with factor 0 is never penalised: it is in every
        model and does not count towards ``n_nonzeros``. A variable with an infinite factor is never selected.
    always : list of str or int, optional
        Variables that are in every model, by name or by position (counted from 0). They have no penalty, as with a
        factor of 0, and ``n_nonzeros`` and ``panel_size`` do not count them. ``always_`` lists them.
    never : list of str or int, optional
        Variables that are in no model, by name or by position, as with an infinite factor.
    groups : list of lists, sequence or dict, optional
        Must be None: a search reads many sizes off one path, and groups of variables have none. `ManifoldElasticNet`
        takes groups.
    group_axes : str, default="each"
        Must be "each", for the same reason.
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours and should have similar weights. "chain": every variable and the next one.
        "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the same, where the image shape is known, as
        in :func:`menet.validate`. "auto": "grid" where the image shape is known, else "chain". A sparse matrix: the
        symmetric weights of the edges, at least 0. Its diagonal has no effect. None: no graph.
    graph_weight : float, optional
        Weight of the graph, at least 0. At 1 the graph is about as strong as the data. None: 1 with a graph.
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
    class_weight : "balanced" or dict, optional
        Weights of the classes. "balanced": every class has the same sum of weights. A dict gives the factor on the
        weights of every class, by label; classes that it leaves out have 1.
    unlabelled : object, optional
        The label that means none, such as -1. Samples with this label take part in the manifold term, with the nearest
        of all samples as neighbours, but not in the loss, the refit and the rule. None: every label is a class.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it.
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
    >>> search = ManifoldElasticNetCV(panel_size=[5, 10, 20], ridge=0.3, refit="discriminant").fit(X, y)
    >>> len(search.cv_results_["params"]), sorted(search.best_params_)
    (12, ['metric', 'panel_size', 'rule'])
    >>> len(search.panel_) <= search.best_params_["panel_size"]
    True
    """

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
        penalty: _choices.Penalty = "l1",
        penalty_shape: float | None = None,
        penalty_epsilon: float | None = None,
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
        target_spread: _choices.TargetSpread = "classes",
        definiteness: _choices.Definiteness = "shrink",
        floor: float = 0.5,
        standardize: bool = True,
        impute: _choices.Impute | None = None,
        max_missing: float = 0.5,
        scale: _choices.Scale = "none",
        batch_scale: bool = False,
        pca_rank: int | None = None,
        penalty_factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        groups: Groups | None = None,
        group_axes: _choices.GroupAxes = "each",
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
        rule: _choices.Rule | Sequence[_choices.Rule | None] | None = ("nearest", "centroid", "gaussian"),
        n_neighbors: int | Sequence[int] = 1,
        metric: _choices.Metric | Sequence[_choices.Metric | None] | None = ("euclidean", "cosine"),
        priors: _choices.PriorsName | ArrayLike | Sequence[_choices.PriorsName | ArrayLike] = "train",
        route: _choices.Route = "auto",
        gram: _choices.GramForm = "auto",
        class_weight: str | dict[Any, float] | None = None,
        unlabelled: Any = None,
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
        self.penalty = penalty
        self.penalty_shape = penalty_shape
        self.penalty_epsilon = penalty_epsilon
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
        self.target_spread = target_spread
        self.definiteness = definiteness
        self.floor = floor
        self.standardize = standardize
        self.impute = impute
        self.max_missing = max_missing
        self.scale = scale
        self.batch_scale = batch_scale
        self.pca_rank = pca_rank
        self.penalty_factors = penalty_factors
        self.always = always
        self.never = never
        self.groups = groups
        self.group_axes = group_axes
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.priors = priors
        self.route = route
        self.gram = gram
        self.class_weight = class_weight
        self.unlabelled = unlabelled
        self.n_jobs = n_jobs
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
