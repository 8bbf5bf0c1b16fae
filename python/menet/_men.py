"""The Manifold Elastic Net."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from menet import _choices, _core, _labels
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, sparse_or_dense
from menet._settings import count, python_name, settings
from menet._training import Training

if TYPE_CHECKING:
    from typing_extensions import Self


class ManifoldElasticNet(Decider):
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
        The variables of every axis, in the order in which they entered its path. If axes share a panel: in the order in
        which they first entered any path. Names if the samples had names, else positions.
    panel_ : ndarray
        The distinct variables of all axes together, sorted by position. Names if the samples had names, else positions.
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
    n_components_ : int
        Number of axes.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the variables, if the samples had names.

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

    _training: Training | None

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
        definiteness: _choices.Definiteness = "shrink",
        floor: float = 0.5,
        standardize: bool = True,
        pca_rank: int | None = None,
        penalty_factors: ArrayLike | None = None,
        rule: _choices.Rule | None = None,
        n_neighbors: int = 1,
        metric: _choices.Metric | None = None,
        priors: _choices.PriorsName | ArrayLike = "train",
        route: _choices.Route = "auto",
        gram: _choices.GramForm = "auto",
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

    def _fit_core(
        self,
        X: Any,
        codes: NDArray[np.int64],
        classes: list[str],
        threads: int,
        variables: list[int] | None = None,
    ) -> None:
        names = getattr(self, "feature_names_in_", None)
        self._set_model(
            _core.Model.fit(
                settings(self, without={"n_jobs"}),
                sparse_or_dense(X, copies=COPIES_IN_A_FIT),
                codes,
                classes,
                _labels.kind_of(self.classes_),
                None if names is None else names.tolist(),
                threads,
                variables,
            )
        )
        if variables is not None:
            self._set_params_of(self._model)
        self._training = Training.of(X, codes, np.array(self._model.reachable(), dtype=np.int64), self.mean_, threads)
        if warnings := self._model.warnings():
            self._warn("; ".join(warnings))

    def at(
        self, *, n_nonzeros: int | None = None, n_components: int | None = None, panel_size: int | None = None
    ) -> Self:
        """Return the same fit with fewer variables or fewer axes, without fitting again.

        Its axes and decisions are bit for bit those of a fit with these parameters. With ``panel_size`` this holds if
        the fit itself had a ``panel_size`` at least as large.

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
            A fitted estimator. This one does not change. A model from a file, which holds no training samples, can be
            made smaller only with ``refit="none"``. The smaller model can transform. It can predict only if just
            `n_components` was given and the rule is "nearest".
        """
        check_is_fitted(self)
        k = None if n_nonzeros is None else count("n_nonzeros", n_nonzeros)
        d = None if n_components is None else count("n_components", n_components)
        size = None if panel_size is None else count("panel_size", panel_size)
        threads = self._threads()
        training = None if self._training is None else self._training.samples(self._model.mean(), threads)
        try:
            model = self._model.at(k, d, size, training, threads)
        except ValueError as e:
            if training is None and self.refit_["refit"] != "none" and "training samples" in str(e):
                raise ValueError(
                    f"this model comes from a file, which holds no training samples, and its refit "
                    f'"{self.refit_["refit"]}" needs them to make it smaller: fit again with the size you want, or '
                    "keep the model by pickle"
                ) from None
            raise
        out = self._unfitted_copy()
        out._set_params_of(model)
        out._set_model(model)
        out._training = self._training
        return out

    @classmethod
    def load(cls, file: str | PathLike[str]) -> Self:
        """Read a model from a file, whether Python or the command ``menet`` wrote it.

        Parameters
        ----------
        file : path-like
            The model file.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator. Classes have the type that they had in Python: whole numbers, numbers, truth values or
            text. In a file of the command they are whole numbers if all of them are, else text.
        """
        path = Path(os.fsdecode(file))
        try:
            model = _core.Model.from_bytes(path.read_bytes())
        except ValueError as e:
            raise ValueError(f"{path}: {e}") from None
        out = cls()
        out._set_params_of(model)
        out.classes_ = _labels.from_names(model.classes(), model.label_kind())
        out._set_model(model)
        out.n_features_in_ = len(out.mean_)
        names = model.feature_names()
        if names is not None:
            out.feature_names_in_ = np.array(names, dtype=object)
            out._name_variables()
        out._training = None
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: of the training samples only the variables that some axis can use."""
        state = super().__getstate__()
        if state.get("_training") is not None:
            state["_training"] = state["_training"].state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what a pickle kept."""
        super().__setstate__(state)
        if isinstance(self.__dict__.get("_training"), dict):
            self._training = Training(**state["_training"])

    def _set_params_of(self, model: _core.Model) -> None:
        """Take over the parameters that a model was fitted with. Ours may have changed since."""
        for name, value in json.loads(model.params()).items():
            setattr(self, python_name(name), value)
        self.penalty_factors = model.penalty_factors()
