"""The Manifold Elastic Net."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from menet import _choices, _core, _labels
from menet._anndata import Annotated
from menet._batches import batch_names
from menet._groups import Groups
from menet._input import COPIES_IN_A_FIT, sparse_or_dense
from menet._kept import Kept
from menet._settings import NOT_OF_THE_CORE, settings
from menet._training import Training
from menet._weights import Counting, Weighted


class ManifoldElasticNet(Annotated, Weighted, Kept):
    """Sparse, supervised, linear dimension reduction by the Manifold Elastic Net.

    The method selects variables that keep the local geometry of each class and push classes apart, at most
    ``n_nonzeros`` per axis. It minimises, over the embedding Z and the projection W,

    ``‖Y − XW‖² + alpha tr(ZᵀLZ) + beta ‖Z − XW‖² + λ1 ‖W‖₁ + ridge ‖W‖²``

    X is centred, Y is the target of every sample, and L aligns one patch per sample. No term has a factor ½ or 1/n. The
    exact path over all λ1 is computed, and read where the support is about to exceed ``n_nonzeros``. The certificate of
    its optimality is in ``kkt_violation_``.

    The selected variables of all axes together are the *panel*. ``refit`` says how their weights are computed. After a
    refit, the scores of ``transform`` have a within-class variance of 1 on every axis.

    The estimator is a transformer and a classifier, like
    :class:`~sklearn.discriminant_analysis.LinearDiscriminantAnalysis`: ``predict`` and ``predict_proba`` decide by
    ``rule`` in the projected space.

    Parameters
    ----------
    n_components : int, optional
        Number of axes, from 1 to the number of classes minus 1. None: as many as the target has.
    n_nonzeros : int, optional
        Largest number of variables that the path of an axis selects. None: twice the number of samples, but at least 50
        and at most 100, or all variables if there are fewer. With ``panel_size``: as many as the panel needs.
    preset : {"default", "stable", "paper"}, default="default"
        The values of parameters that are None. "default": ``ridge=0.3``, ``refit="discriminant"``, ``rule="nearest"``,
        ``metric="cosine"``, which were best on faces and genes. "stable": ``ridge=10.0``, ``refit="discriminant"``,
        ``rule="nearest"``, ``metric="cosine"``, which selects more of the same variables from other samples where there
        are few samples of many variables. "paper": ``ridge=0.03``, ``refit="none"``, ``rule="nearest"``,
        ``metric="euclidean"``, exactly the method of the paper.
    panel_size : int, optional
        Largest number of variables in the panel, at least 1. None: no limit. The refits "panel" and "discriminant"
        first select more candidates, then drop those that contribute least to the separation of the classes.
    refit : {"none", "axis", "panel", "discriminant"}, optional
        How the weights of the selected variables are computed. "none": the weights of the path, as in the paper.
        "axis": each axis is solved again on its own variables, without the L1 penalty. "panel": all axes are solved
        again on the whole panel, without the L1 penalty. "discriminant": linear discriminants of the panel, with a
        shrunken within-class covariance. None: the value of the preset.
    refit_ridge : float, optional
        The ridge of the refits "axis" and "panel", at least 0. None: the ridge of the path.
    relax : float, default=1.0
        The refit "axis" mixes the weights of the path (0) with the weights without the L1 penalty (1).
    ridge : float, optional
        The ridge of the elastic net, at least 0. None: the value of the preset.
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
    beta : float, default=1.0
        Weight of the distance between the embedding Z and the projection XW, more than 0.
    kappa : float, default=0.1
        Weight of the term that pushes near samples of other classes apart, at least 0. ``definiteness`` may lower it.
    k_within : int, default=5
        Neighbours of the same class in a patch, at least 1. A class with fewer samples uses all of them.
    k_between : int, default=5
        Neighbours of other classes in a patch, at least 0.
    neighbors : {"exact", "approximate"}, default="exact"
        How neighbours are searched. "approximate" looks only where neighbours are likely and misses about one in twenty
        (see ``neighbor_recall_``). It takes a third of the time with 60,000 images or 300,000 samples. It is exact
        below 10,000 samples and wherever it would not be faster. It does not work on data that stay sparse.
    patch : {"dla", "laplacian", "laplacian-binary", "laplacian-unsupervised", "laplacian-binary-unsupervised", \
            "lle", "lle-unsupervised", "ltsa", "ltsa-unsupervised"}, default="dla"
        The patch rule.
    bandwidth : float, optional
        Width of the heat kernel of the Laplacian patches. None: the median distance to the neighbours.
    lle_regularizer : float, default=0.001
        Regularizer of the LLE patch, more than 0.
    ltsa_dimension : int, optional
        Tangent dimension of the LTSA patch. None: half of the neighbours.
    target : {"centres", "whitened"}, default="whitened"
        The target of the samples of a class.
    target_shrinkage : float, default=0.1
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
        Groups of variables that enter together: the variables of every group (names or positions); or one label per
        variable; or a dict from variables to a label or a list of labels. A variable may be in several groups, and
        variables in none are groups of one. With groups, ``n_nonzeros`` counts groups (None: 10), and ``panel_size``
        must be None. None: variables enter one by one.
    group_axes : {"each", "together"}, default="each"
        Whether every axis chooses its own groups, or a group is chosen for all axes or for none. "together" without
        ``groups`` makes every variable a group: it is used by all axes or by none.
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours and should have similar weights. "chain": every variable and the next one.
        "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the same, where the image shape is known, as
        in :func:`menet.validate`. "auto": "grid" where the image shape is known, else "chain". A sparse matrix: the
        symmetric weights of the edges, at least 0. Its diagonal has no effect. None: no graph.
    graph_weight : float, optional
        Weight of the graph, at least 0. At 1 the graph is about as strong as the data. None: 1 with a graph.
    rule : {"nearest", "centroid", "gaussian"}, optional
        How the class of a projected sample is decided: by the nearest training samples, by the nearest class mean, or
        by class means with a shared covariance. None: the value of the preset.
    n_neighbors : int, default=1
        Number of nearest training samples that vote in the rule "nearest", at least 1.
    metric : {"euclidean", "cosine"}, optional
        The metric of the rule "nearest". None: the value of the preset.
    priors : {"train", "equal"} or array-like of shape (n_classes,), default="train"
        How frequent the classes are where the model is used: as in the training samples, equally frequent, or
        proportional to positive numbers in the order of ``classes_``.
    route : {"auto", "dense", "conjugate"}, default="auto"
        How the operator A is applied: as a matrix of samples by samples, or by conjugate gradients. The result is the
        same. ``regime_`` says which route was taken, and why.
    gram : {"auto", "full", "columns"}, default="auto"
        Which part of the Gram matrix of the variables is computed: all of it, or only the columns that are needed.
    class_weight : "balanced" or dict, optional
        Weights of the classes. "balanced": every class has the same sum of weights. A dict gives the factor on the
        weights of every class, by label; classes that it leaves out have 1.
    unlabelled : object, optional
        The label that means none, such as -1. Samples with this label take part in the manifold term, with the nearest
        of all samples as neighbours, but not in the loss, the refit and the rule. NaN: labels that are missing. None:
        every label is a class.
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
    kkt_violation_ : ndarray of shape (n_paths,)
        How far the path of every axis is from optimal: the largest violation of the optimality conditions at any knot,
        relative to the largest correlation. ``fit`` warns if it is above 1e-9.
    n_nonzeros_ : ndarray of shape (n_components,)
        Number of variables that every axis uses.
    levels_ : ndarray of shape (n_paths,)
        The level λ = λ1/2 at which the path of every axis ends.
    selected_features_ : list of ndarray
        The variables of every axis: those that are always in, then the others in the order in which they entered its
        path. If axes share a panel: in the order in which they first entered any path. Names if the samples had names,
        else positions.
    panel_ : ndarray
        The distinct variables of all axes together, sorted by position. Names if the samples had names, else positions.
    always_ : ndarray
        The variables of the panel that are in every model, which no limit counts: those of ``always``, and those with a
        penalty factor of 0. Names if the samples had names, else positions.
    selected_groups_ : list of list of str or None
        The names of the groups that the path of every axis uses; a variable that is in no group by its name or
        position. None without groups.
    feature_importances_ : ndarray of shape (n_features,)
        The length of a variable's weights over all axes times its standard deviation, divided by the sum over the
        panel. 0 outside the panel.
    refit_ : dict
        What the refit did: ``"refit"``, its name; ``"candidates"``, the number of variables that the panel was chosen
        from; ``"residual"``, the residual of the equations of the weights, relative to the right-hand side (None for
        "none"); ``"shrinkage"``, the shrinkage intensity of the covariance (None if it was not shrunken).
    rule_ : str or None
        The rule that decides. None for a model that was made smaller without its training samples.
    neighbor_recall_ : float or None
        The share of true neighbours that the approximate search found, measured on 100 samples. None for "exact".
    definiteness_ : dict
        What the definiteness policy found and did.
    regime_ : dict or None
        Which route the fit took, and why: ``"route"``, ``"gram"`` and ``"why"``. None if the model file does not say.
    cg_residual_ : float or None
        The largest relative residual of the conjugate gradients, which adds to ``kkt_violation_``. None if they were
        not used.
    seconds_ : dict
        Seconds that every stage of the fit took.
    missing_fraction_ : ndarray of shape (n_features,)
        The fraction of the training samples that lack every variable.
    dropped_variables_ : ndarray
        The variables that were left out because more than ``max_missing`` of the training samples lack them. Names if
        the samples had names, else positions.
    batches_ : list of str or None
        The names of the batches of the training samples. None without batches.
    n_components_ : int
        Number of axes.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.
    layer_ : str or None
        The layer of the AnnData object that the fit read, None for its ``X``. Only if the fit read an AnnData object.

    See Also
    --------
    menet.ManifoldElasticNetCV : The same method with settings chosen by cross-validation.
    menet.StabilitySelection : Variables that this method selects on most half-samples.
    menet.SPG : First a graph embedding, then the elastic net. This method solves both at once.
    menet.lars_path : The solver by itself.

    Notes
    -----
    After T. Zhou, D. Tao and X. Wu, "Manifold Elastic Net: A Unified Framework for Sparse Dimension Reduction".

    A fitted estimator keeps a reference to its training samples, as nearest-neighbour estimators do. ``at`` computes
    the weights and the rule of a smaller model from them. A pickle keeps only the variables that paths reach. A model
    file keeps no training samples.

    Examples
    --------
    >>> from menet import ManifoldElasticNet
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = ManifoldElasticNet(panel_size=10).fit(X, y)
    >>> men.transform(X).shape
    (38, 2)
    >>> bool(men.kkt_violation_.max() < 1e-9)
    True
    >>> print(*men.at(panel_size=3).panel_)
    M55150_at X03934_at U50136_rna1_at
    """

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | None = None,
        *,
        preset: _choices.Preset = "default",
        panel_size: int | None = None,
        refit: _choices.Refit | None = None,
        refit_ridge: float | None = None,
        relax: float = 1.0,
        ridge: float | None = None,
        penalty: _choices.Penalty = "l1",
        penalty_shape: float | None = None,
        penalty_epsilon: float | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        kappa: float = 0.1,
        k_within: int = 5,
        k_between: int = 5,
        neighbors: _choices.NeighborSearch = "exact",
        patch: _choices.Patch = "dla",
        bandwidth: float | None = None,
        lle_regularizer: float = 1e-3,
        ltsa_dimension: int | None = None,
        target: _choices.Target = "whitened",
        target_shrinkage: float = 0.1,
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
        rule: _choices.Rule | None = None,
        n_neighbors: int = 1,
        metric: _choices.Metric | None = None,
        priors: _choices.PriorsName | ArrayLike = "train",
        route: _choices.Route = "auto",
        gram: _choices.GramForm = "auto",
        class_weight: str | dict[Any, float] | None = None,
        unlabelled: Any = None,
        n_jobs: int | None = None,
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

    def _fit_core(
        self,
        X: Any,
        codes: NDArray[np.int64],
        classes: list[str],
        threads: int,
        variables: list[int] | None = None,
        counting: Counting | None = None,
    ) -> None:
        counting = counting or self._counting(X, codes)
        names = getattr(self, "feature_names_in_", None)
        batches = batch_names(self.__dict__.get("_batch"), X.shape[0])
        self._set_model(
            _core.Model.fit(
                settings(self, without=NOT_OF_THE_CORE),
                sparse_or_dense(X, copies=COPIES_IN_A_FIT),
                codes,
                counting,
                classes,
                _labels.kind_of(self.classes_),
                None if names is None else names.tolist(),
                threads,
                variables,
                batches,
            )
        )
        if variables is not None:
            self._set_params_of(self._model)
        self._training = Training.of_model(self._model, X, codes, counting, batches, threads)
        if warnings := self._model.warnings():
            self._warn("; ".join(warnings))
