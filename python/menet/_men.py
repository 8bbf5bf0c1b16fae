"""Manifold Elastic Net."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, Floats, contiguous, project, sparse_or_dense
from menet._settings import count, python_name, settings

if TYPE_CHECKING:
    from typing_extensions import Self

# What the classes are, by NumPy's kind of their type, for the model file.
LABEL_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


class ManifoldElasticNet(Decider):
    """Sparse, supervised, linear dimension reduction by the Manifold Elastic Net.

    Paths select variables that keep the local geometry of each class and push classes apart, at most ``n_nonzeros``
    per component. They minimise, over the embedding Z and the projection W,

    ``‖Y − XW‖² + alpha tr(ZᵀLZ) + beta ‖Z − XW‖² + λ1 ‖W‖₁ + ridge ‖W‖²``

    where X is centred, Y says where the samples of a class should land and L aligns one patch per sample. Nothing
    carries a ½ or a 1/n. The exact path over all λ1 is computed and read where the support is about to exceed
    ``n_nonzeros``; the certificate of its optimality is in ``kkt_violation_``.

    The selected variables of all components are the *panel*, and ``refit`` says how their weights are computed. After a
    refit, the scores that ``transform`` gives have a within-class variance of 1 on every axis.

    Like :class:`~sklearn.discriminant_analysis.LinearDiscriminantAnalysis` it is transformer and classifier in one:
    ``predict`` and ``predict_proba`` decide by ``rule`` in the projected space.

    Parameters
    ----------
    n_components : int, optional
        Number of axes, from 1 to one less than there are classes. None: as many as the target has.
    n_nonzeros : int, optional
        Largest number of variables that the path of a component selects. None: twice the number of samples, at least
        50, at most 100, or all if there are fewer; with ``panel_size``, as many as that needs.
    preset : {"default", "paper"}, default="default"
        What the parameters are that are None. "default": ``ridge=0.3``, ``refit="discriminant"``, ``rule="nearest"``,
        ``metric="cosine"``, which served best on faces and genes. "paper": ``ridge=0.03``, ``refit="none"``,
        ``rule="nearest"``, ``metric="euclidean"``, the paper's method to the letter.
    panel_size : int, optional
        Largest number of distinct variables that all axes use together, at least 1. None: no limit. For the refits
        "panel" and "discriminant" more candidates are selected, and those that the classes can best be told apart
        without are dropped.
    refit : {"none", "axis", "panel", "discriminant"}, optional
        How the weights of the selected variables are computed. "none": they are those of the path, as in the paper.
        "axis": each axis anew on its own variables, without the ℓ1 penalty. "panel": all axes anew on the whole panel,
        without the ℓ1 penalty. "discriminant": the discriminants of the panel, with a shrunken within-class covariance.
        None: that of the preset.
    relax : float, default=1.0
        How far the refit "axis" goes from the weights of the path, 0, to those without the ℓ1 penalty, 1.
    ridge : float, optional
        The ridge of the elastic net, at least 0. None: that of the preset.
    alpha : float, default=1.0
        Weight of the manifold term, at least 0.
    beta : float, default=1.0
        Weight of the distance between the embedding Z and the projection XW, more than 0.
    kappa : float, default=0.1
        How strongly near samples of other classes are pushed apart, at least 0; ``definiteness`` may lower it.
    k_within : int, default=5
        Neighbours of the same class in a patch, at least 1; a smaller class uses what it has.
    k_between : int, default=5
        Neighbours of other classes in a patch, at least 0.
    neighbors : {"exact", "approximate"}, default="exact"
        How neighbours are searched for: "approximate" looks only where they are likely to be and misses about one in
        twenty (see ``neighbor_recall_``). It takes a third of the time with 60,000 images or 300,000 samples; below
        10,000 samples, and where it would not pay, it is exact. Not for data that stay sparse.
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
        Where the samples of a class should land.
    target_shrinkage : float, default=0.1
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
    rule : {"nearest", "centroid", "gaussian"}, optional
        How samples are decided on in the projected space: by the nearest training samples, by the nearest class mean,
        or by class means with a shared covariance. None: that of the preset.
    n_neighbors : int, default=1
        How many of the nearest training samples vote in the rule "nearest", at least 1.
    metric : {"euclidean", "cosine"}, optional
        The metric of the rule "nearest". None: that of the preset.
    priors : {"train", "equal"} or array-like of shape (n_classes,), default="train"
        How frequent the classes are where the model is used: as in the training samples, all alike, or in proportion to
        numbers more than 0, in the order of ``classes_``.
    route : {"auto", "dense", "conjugate"}, default="auto"
        How the operator A is applied: as a matrix of samples by samples, or by conjugate gradients. The answer is the
        same; ``regime_`` tells which way was taken, and why.
    gram : {"auto", "full", "columns"}, default="auto"
        What is formed of the Gram matrix of the variables: all of it, or the columns that are asked for.
    n_jobs : int, optional
        Number of threads, as everywhere in scikit-learn: None means 1, or what `joblib.parallel_config` says; -1
        means all. The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, in the units of the data.
    mean_ : ndarray of shape (n_features,)
        The mean that is taken off before projecting.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    kkt_violation_ : ndarray of shape (n_paths,)
        How far the path of every component is from optimal: the largest violation of the optimality conditions at any
        of its knots, relative to the largest correlation.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    levels_ : ndarray of shape (n_paths,)
        The level λ1/2 at which the path of every component ends.
    selected_features_ : list of ndarray
        The variables of every axis, in the order in which they entered its path, or the first of all paths where axes
        share a panel: names if the samples had any, positions otherwise.
    panel_ : ndarray
        The distinct variables that all axes use together, by position: names if the samples had any, positions
        otherwise.
    feature_importances_ : ndarray of shape (n_features,)
        The length of a variable's weights over all axes times its standard deviation, as a share of the sum over the
        panel; 0 outside the panel.
    refit_ : dict
        What the refit did: ``"refit"``, its name; ``"candidates"``, how many variables the panel was chosen from;
        ``"residual"``, how far the weights are from solving their equations, relative to the right-hand side (None for
        "none"); ``"shrinkage"``, the intensity with which the covariance was shrunken (None if it was not).
    rule_ : str or None
        The rule that decides; None for a model that was made smaller without its training samples.
    neighbor_recall_ : float or None
        The share of true neighbours that the approximate search found, counted on 100 samples; None for "exact".
    definiteness_ : dict
        What the definiteness policy found and did.
    regime_ : dict or None
        Which way the fit went, and why: ``"route"``, ``"gram"`` and ``"why"``. None for a model file that does not say.
    cg_residual_ : float or None
        The worst relative residual of the conjugate gradients, to be read beside the certificate; None if there were
        none.
    seconds_ : dict
        How long every stage of the fit took.
    n_components_ : int
        Number of axes.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the samples had any.

    See Also
    --------
    menet.ManifoldElasticNetCV : The same with settings chosen by cross-validation.
    menet.SPG : A graph embedding first, then the elastic net: the two steps that this method joins.
    menet.lars_path : The solver alone.

    Notes
    -----
    After T. Zhou, D. Tao and X. Wu, "Manifold Elastic Net: A Unified Framework for Sparse Dimension Reduction".

    A fitted estimator keeps a reference to its training samples (as nearest-neighbour estimators do), from which ``at``
    computes the weights and the rule of a smaller model; a pickle keeps the variables that paths reach, a model file
    none.

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

    _training: _Training | None

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | None = None,
        *,
        preset: str = "default",
        panel_size: int | None = None,
        refit: str | None = None,
        relax: float = 1.0,
        ridge: float | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        kappa: float = 0.1,
        k_within: int = 5,
        k_between: int = 5,
        neighbors: str = "exact",
        patch: str = "dla",
        bandwidth: float | None = None,
        lle_regularizer: float = 1e-3,
        ltsa_dimension: int | None = None,
        target: str = "whitened",
        target_shrinkage: float = 0.1,
        definiteness: str = "shrink",
        floor: float = 0.5,
        standardize: bool = True,
        pca_rank: int | None = None,
        penalty_factors: ArrayLike | None = None,
        rule: str | None = None,
        n_neighbors: int = 1,
        metric: str | None = None,
        priors: str | ArrayLike = "train",
        route: str = "auto",
        gram: str = "auto",
        n_jobs: int | None = None,
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

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        names = getattr(self, "feature_names_in_", None)
        self._set_model(
            _core.Model.fit(
                settings(self, without={"n_jobs"}),
                sparse_or_dense(X, copies=COPIES_IN_A_FIT),
                codes,
                classes,
                LABEL_KINDS.get(self.classes_.dtype.kind, "text"),
                None if names is None else names.tolist(),
                threads,
            )
        )
        self._training = _Training.of(X, codes, np.array(self._model.reachable(), dtype=np.int64), self.mean_, threads)
        if summary := self._troubles():
            self._warn(summary)

    def at(
        self, *, n_nonzeros: int | None = None, n_components: int | None = None, panel_size: int | None = None
    ) -> Self:
        """Return the same fit with fewer variables or fewer axes, without fitting again.

        Its axes and its decisions are, bit for bit, what a fit with these parameters gives; with ``panel_size``, if the
        fit itself had a ``panel_size`` at least as large.

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
            A fitted estimator; this one is left as it is. From a model file, which holds no training samples, only
            ``refit="none"`` can be read again; that model can transform, and predict only where just axes were left
            out and the rule is "nearest".
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
            A fitted estimator. Classes that were whole numbers, numbers, truth values or text in Python are so again;
            from a file of the command they are whole numbers if all of them are, and text otherwise.
        """
        path = Path(os.fsdecode(file))
        try:
            model = _core.Model.from_bytes(path.read_bytes())
        except ValueError as e:
            raise ValueError(f"{path}: {e}") from None
        out = cls()
        out._set_params_of(model)
        out.classes_ = _classes(model.classes(), model.label_kind())
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
        state: dict[str, Any] = dict(super().__getstate__())
        if state.get("_training") is not None:
            state["_training"] = self._training.reachable()  # type: ignore[union-attr]
        return state

    def _set_params_of(self, model: _core.Model) -> None:
        """Take over the parameters that a model was fitted with, whatever became of ours since."""
        for name, value in json.loads(model.params()).items():
            setattr(self, python_name(name), value)
        self.penalty_factors = model.penalty_factors()

    def _troubles(self) -> str | None:
        """Return what numerical trouble there was, in one sentence."""
        ended, residual = self._model.troubles(), self._model.cg_residual()
        if ended:
            k, why = ended[0]
            return (
                f"the paths of {len(ended)} of {self._model.path_count()} components ended early, "
                f"that of component {k} because it {why}"
            )
        if residual is not None and residual > 1e-9:
            return f"the conjugate gradients left a relative residual of {residual:.1e}"
        return None


@dataclass(frozen=True)
class _Training:
    """The training samples: what a smaller model decides by is computed from them."""

    X: Any
    codes: NDArray[np.int64]
    # The variables that some path reaches, and whether `X` has but these.
    variables: NDArray[np.int64]
    alone: bool
    # A projection of them on one fixed axis of no meaning, by which a change in place is noticed.
    trace: Floats

    @classmethod
    def of(
        cls, X: Any, codes: NDArray[np.int64], variables: NDArray[np.int64], mean: Floats, threads: int
    ) -> _Training:
        """Remember samples as they are now."""
        bare = cls(X, codes, variables, alone=False, trace=np.empty(0))
        return replace(bare, trace=bare._traced(mean, threads))

    def samples(self, mean: Floats, threads: int) -> tuple[Any, NDArray[np.int64]]:
        """Return the samples, with zeros for the variables that were not kept, and their classes."""
        if not np.array_equal(self._traced(mean, threads), self.trace):
            raise ValueError(
                "the training samples were changed in place since the fit: fit again, or keep them as they were, "
                "to make the model smaller"
            )
        if not self.alone:
            return contiguous(self.X), self.codes
        kept = sparse.csc_array(self.X)
        counts = np.zeros(len(mean), dtype=np.int64)
        counts[self.variables] = np.diff(kept.indptr)
        starts = np.concatenate([[0], np.cumsum(counts)])
        whole = (kept.data, kept.indices.astype(np.int64), starts)
        return sparse.csc_array(whole, shape=(kept.shape[0], len(mean))), self.codes

    def reachable(self) -> _Training:
        """Return the same with only the variables that some path reaches."""
        if self.alone:
            return self
        kept = self.X[:, self.variables]
        return replace(self, X=kept if sparse.issparse(kept) else np.ascontiguousarray(kept), alone=True)

    def _traced(self, mean: Floats, threads: int) -> Floats:
        axis = np.random.default_rng(0).standard_normal((1, len(self.variables)))
        if self.alone:
            mean = mean[self.variables]
        else:
            whole = np.zeros((1, len(mean)))
            whole[0, self.variables] = axis
            axis = whole
        projected: Floats = project(self.X, mean, axis, threads)
        return projected


def _classes(names: list[str], kind: str | None) -> NDArray[Any]:
    """Return the classes that the names in a model file stand for."""
    if kind is None:
        kind = "integer" if all(_is_integer(name) for name in names) else "text"
    if kind == "integer":
        return np.array([int(name) for name in names])
    if kind == "number":
        return np.array([float(name) for name in names])
    if kind == "boolean":
        return np.array([name == "True" for name in names])
    return np.array(names)


def _is_integer(name: str) -> bool:
    return name.removeprefix("-").isdecimal() and str(int(name)) == name
