"""The Manifold Elastic Net."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from menet import _core, _labels
from menet._anndata import Annotated
from menet._batches import batch_names
from menet._input import COPIES_IN_A_FIT, sparse_or_dense
from menet._kept import SavableEstimator
from menet._parameters import settings
from menet._training import Training
from menet._weights import SampleWeighting, Weighted


class ManifoldElasticNet(Annotated, Weighted, SavableEstimator):
    """Sparse, supervised, linear dimension reduction by the Manifold Elastic Net.

    The method selects variables that keep the local geometry of each class and push classes apart, at most
    ``n_nonzeros`` per axis. It minimises, over the embedding Z and the projection W,

    ``‖Y − XW‖² + alpha tr(ZᵀLZ) + beta ‖Z − XW‖² + λ1 ‖W‖₁ + ridge ‖W‖²``

    X is centred, Y is the target of every sample, and L aligns one patch per sample. No term has a factor ½ or 1/n. The
    exact path over all λ1 is computed, and read where the support is about to exceed ``n_nonzeros``. The certificate of
    its optimality is in ``kkt_violation_``.

    The parameters follow the pipeline of a fit. A stage is None (its defaults), the name of its kind, or an object with
    its parameters, as in ``penalty=Mcp(gamma=2.0)`` or ``manifold=Manifold(alpha=0.5)``. ``set_params`` and searches
    reach them as ``penalty__gamma``. :meth:`preset` gives values that go well together.

    The selected variables of all axes together are the *panel*. ``refit`` says how their weights are computed. After a
    refit, the scores of ``transform`` have a within-class variance of 1 on every axis.

    The estimator is a transformer and a classifier, like
    :class:`~sklearn.discriminant_analysis.LinearDiscriminantAnalysis`: ``predict`` and ``predict_proba`` decide by
    ``rule`` in the projected space.

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
        The variables of the panel that are in every model, which no limit counts: those of the penalty's ``always``,
        and those with a penalty factor of 0. Names if the samples had names, else positions.
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
        The variables that were left out because too many of the training samples lack them. Names if
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

    def _fit_core(
        self,
        X: Any,
        codes: NDArray[np.int64],
        classes: list[str],
        threads: int,
        variables: list[int] | None = None,
        counting: SampleWeighting | None = None,
    ) -> None:
        counting = counting or self._counting(X, codes)
        names = getattr(self, "feature_names_in_", None)
        batches = batch_names(self.__dict__.get("_batch"), X.shape[0])
        model = _core.Model.fit(
            settings(self),
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
        if variables is not None:
            self._set_params_of(model)
        self._take_model(model, X, codes, counting, batches, threads)

    def _take_model(
        self,
        model: _core.Model,
        X: Any,
        codes: NDArray[np.int64],
        counting: SampleWeighting,
        batches: list[str] | None,
        threads: int,
    ) -> None:
        """Take over a fitted model and its training samples."""
        self._set_model(model)
        self._training = Training.of_model(model, X, codes, counting, batches, threads)
        if warnings := model.warnings():
            self._warn("; ".join(warnings))
