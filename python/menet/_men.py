"""Manifold Elastic Net."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from menet import _core
from menet._base import Reducer
from menet._input import COPIES_IN_A_FIT, DTYPES, SPARSE, Floats, Samples, contiguous, project, sparse_or_dense
from menet._lars import LarsPath
from menet._running import warn_user
from menet._settings import count, python_name, settings, whole_number

if TYPE_CHECKING:
    from typing_extensions import Self

# What the classes are, by NumPy's kind of their type, for the model file.
LABEL_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


class ManifoldElasticNet(Reducer):
    """Sparse, supervised, linear dimension reduction by the Manifold Elastic Net.

    Every axis uses at most ``n_nonzeros`` of the variables, keeps the local geometry of each class and pushes classes
    apart. It minimises, over the embedding Z and the projection W,

    ``‖Y − XW‖² + alpha tr(ZᵀLZ) + beta ‖Z − XW‖² + λ1 ‖W‖₁ + ridge ‖W‖²``

    where X is centred, Y says where the samples of a class should land and L aligns one patch a sample. Nothing
    carries a ½ or a 1/n. The exact path over all λ1 is computed and read where the support is about to exceed
    ``n_nonzeros``; the certificate of its optimality is in ``kkt_violation_``.

    Like :class:`~sklearn.discriminant_analysis.LinearDiscriminantAnalysis` it is transformer and classifier in one:
    ``predict`` gives the class of the nearest training sample in the projected space.

    Parameters
    ----------
    n_components : int, optional
        Number of axes, from 1 to one less than there are classes. None: as many as the target has.
    n_nonzeros : int, optional
        Largest number of variables an axis uses. None: twice the number of samples, at least 50, at most 100, or
        all if there are fewer.
    ridge : float, default=0.03
        The ridge of the elastic net, at least 0.
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
        One factor more than 0 a variable on its penalty; infinity bars it.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The metric of the nearest-neighbour rule.
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
    kkt_violation_ : ndarray of shape (n_components,)
        How far the path of every axis is from optimal: the largest violation of the optimality conditions at any of
        its knots, relative to the largest correlation.
    n_nonzeros_ : ndarray of shape (n_components,)
        How many variables every axis uses.
    levels_ : ndarray of shape (n_components,)
        The level λ1/2 at which the path of every axis was read.
    selected_features_ : list of ndarray
        The variables of every axis, in the order in which they entered its path: names if the samples had any,
        positions otherwise.
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
    menet.SPG : A graph embedding first, then the elastic net: the two steps that this method joins.
    menet.lars_path : The solver alone.

    Notes
    -----
    After T. Zhou, D. Tao and X. Wu, "Manifold Elastic Net: A Unified Framework for Sparse Dimension Reduction".

    A fitted estimator keeps a reference to its training samples (as nearest-neighbour estimators do), from which ``at``
    computes what a sparser model recognises by; a pickle keeps the variables that some axis can use, a model file none.

    Examples
    --------
    >>> from menet import ManifoldElasticNet
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    >>> men.transform(X).shape
    (38, 2)
    >>> bool(men.kkt_violation_.max() < 1e-9)
    True
    >>> print(*men.at(n_nonzeros=3).selected_features_[0])
    X03934_at U23852_s_at X00437_s_at
    """

    kkt_violation_: Floats
    levels_: Floats
    selected_features_: list[NDArray[Any]]
    neighbor_recall_: float | None
    definiteness_: dict[str, Any]
    regime_: dict[str, Any] | None
    cg_residual_: float | None
    seconds_: dict[str, float]
    _model: _core.Model
    _training: _Training | None

    def __init__(
        self,
        n_components: int | None = None,
        n_nonzeros: int | None = None,
        *,
        ridge: float = 0.03,
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
        metric: str = "euclidean",
        route: str = "auto",
        gram: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
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
        self.metric = metric
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
        self._training = _Training.of(X, self._reachable(), self.mean_, threads)
        if summary := self._troubles():
            self._warn(summary)

    def score(self, X: Samples, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples that are given their class.

        A warning tells where most of them are those of the fit: nearest neighbour finds such a sample in itself, so
        that their score is near 1 whatever was learned.

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
            The mean accuracy.
        """
        rate = float(super().score(X, y, sample_weight))
        X = validate_data(self, X, accept_sparse=SPARSE, dtype=DTYPES, ensure_all_finite=False, reset=False)
        seen = self._model.seen(contiguous(X), self._threads())
        if 2 * seen > X.shape[0]:
            warn_user(
                f"{seen} of these {X.shape[0]} samples are those of the fit: their score says nothing about new ones; "
                "hold some back with train_test_split, or use cross_val_score",
                UserWarning,
            )
        return rate

    def path(self, component: int) -> LarsPath:
        """Return the whole path of an axis: how its weights grow from nothing, variable by variable.

        Parameters
        ----------
        component : int
            The axis, counted from 0.

        Returns
        -------
        LarsPath
            Its path, with ``coefs`` in the units of ``components_``: the last knot is the axis.
        """
        check_is_fitted(self)
        k = whole_number("component", component)
        if not 0 <= k < self.n_components_:
            raise IndexError(f"component {k} was asked for, but there are 0 to {self.n_components_ - 1}")
        return LarsPath._of(self._model.path(k))

    def at(self, *, n_nonzeros: int | None = None, n_components: int | None = None) -> Self:
        """Return the same fit with fewer variables an axis or fewer axes, without fitting again.

        It is, bit for bit, what a fit with these parameters gives.

        Parameters
        ----------
        n_nonzeros : int, optional
            Largest number of variables an axis uses; at most what was fitted.
        n_components : int, optional
            How many axes to keep.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator; this one is left as it is.
        """
        check_is_fitted(self)
        k = None if n_nonzeros is None else count("n_nonzeros", n_nonzeros)
        d = None if n_components is None else count("n_components", n_components)
        model = self._model.at(k, d)
        if k is not None and self._training is not None:
            model = model.with_gallery(self._training.project(model, self._threads()))
        out = self._unfitted_copy()
        out._set_params_of(model)
        out._set_model(model)
        out._training = self._training
        return out

    def save(self, file: str | PathLike[str]) -> None:
        """Write the model to a file that the command ``menet`` reads as well, whole or not at all.

        Parameters
        ----------
        file : path-like
            Where to; the usual ending is ``.safetensors``.
        """
        check_is_fitted(self)
        path = Path(os.fsdecode(file))
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
        self._model.save(path)

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
            model = _core.Model.from_bytes(path.read_bytes(), True)
        except ValueError as e:
            raise ValueError(f"{path}: {e}") from None
        out = cls()
        out._set_params_of(model)
        out._metric = out.metric
        out.classes_ = _classes(model.classes(), model.label_kind())
        out._set_model(model)
        out.n_features_in_ = len(out.mean_)
        names = model.feature_names()
        if names is not None:
            out.feature_names_in_ = np.array(names, dtype=object)
            out._name_selected()
        out._training = None
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: of the training samples only the variables that some axis can use."""
        state: dict[str, Any] = dict(super().__getstate__())
        if state.get("_training") is not None:
            state["_training"] = self._training.reachable()  # type: ignore[union-attr]
        return state

    def _gallery(self) -> tuple[Floats, NDArray[np.int64]]:
        return self._model.gallery()

    def _set_model(self, model: _core.Model) -> None:
        self._model = model
        self._set_axes(model.mean(), model.components())
        self.kkt_violation_ = model.kkt()
        self.levels_ = model.levels()
        self.neighbor_recall_ = model.neighbor_recall()
        self.definiteness_ = json.loads(model.definiteness())
        self.regime_ = json.loads(model.regime())
        self.cg_residual_ = model.cg_residual()
        self.seconds_ = dict(model.seconds())
        self._name_selected()

    def _name_selected(self) -> None:
        names = getattr(self, "feature_names_in_", None)
        positions = [np.array(chosen, dtype=np.int64) for chosen in self._model.selected()]
        self.selected_features_ = [chosen if names is None else names[chosen] for chosen in positions]

    def _set_params_of(self, model: _core.Model) -> None:
        """Take over the parameters that a model was fitted with, whatever became of ours since."""
        for name, value in json.loads(model.params()).items():
            setattr(self, python_name(name), value)
        self.penalty_factors = model.penalty_factors()

    def _reachable(self) -> NDArray[np.int64]:
        """Return the variables that some axis uses somewhere on its path."""
        paths = (self._model.path(k) for k in range(self.n_components_))
        return np.unique([j for path in paths for knot in path.entered(0) for j in knot]).astype(np.int64)

    def _troubles(self) -> str | None:
        """Return what numerical trouble there was, in one sentence."""
        ended, residual = self._model.troubles(), self._model.cg_residual()
        if ended:
            k, why = ended[0]
            return (
                f"the paths of {len(ended)} of {self.n_components_} components ended early, that of component {k} "
                f"because it {why}"
            )
        if residual is not None and residual > 1e-9:
            return f"the conjugate gradients left a relative residual of {residual:.1e}"
        return None


@dataclass(frozen=True)
class _Training:
    """The training samples: what a sparser model recognises by is projected from them."""

    X: Any
    # The variables that some path reaches, and whether `X` has but these.
    variables: NDArray[np.int64]
    alone: bool
    # A projection of them on one fixed axis of no meaning, by which a change in place is noticed.
    trace: Floats

    @classmethod
    def of(cls, X: Any, variables: NDArray[np.int64], mean: Floats, threads: int) -> _Training:
        """Remember samples as they are now."""
        bare = cls(X, variables, alone=False, trace=np.empty(0))
        return replace(bare, trace=bare._projected(mean, bare._probe(mean), threads))

    def project(self, model: _core.Model, threads: int) -> Floats:
        """Return the samples as `model` projects them."""
        mean = model.mean()
        if not np.array_equal(self._projected(mean, self._probe(mean), threads), self.trace):
            raise ValueError(
                "the training samples were changed in place since the fit: fit again, or keep them as they were, "
                "to make the model sparser"
            )
        return self._projected(mean, model.components(), threads)

    def reachable(self) -> _Training:
        """Return the same with only the variables that some path reaches."""
        if self.alone:
            return self
        kept = self.X[:, self.variables]
        return replace(self, X=kept if sparse.issparse(kept) else np.ascontiguousarray(kept), alone=True)

    def _probe(self, mean: Floats) -> Floats:
        axis = np.zeros((1, len(mean)))
        axis[0, self.variables] = np.random.default_rng(0).standard_normal(len(self.variables))
        return axis

    def _projected(self, mean: Floats, axes: Floats, threads: int) -> Floats:
        if self.alone:
            mean, axes = mean[self.variables], np.ascontiguousarray(axes[:, self.variables])
        projected: Floats = project(self.X, mean, axes, threads)
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
