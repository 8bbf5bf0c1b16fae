# Made by scripts/stages from the description in the core: do not edit.
"""The stages of a fit, one class per stage, or per kind of a stage where kinds have their own parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from menet._stage import Stage

if TYPE_CHECKING:
    from menet._groups import Groups

PrepareImpute: TypeAlias = Literal["mean", "median", "knn"]
PrepareScale: TypeAlias = Literal["none", "unit", "pareto", "log1p", "log1p-unit"]
PatchKind: TypeAlias = Literal[
    "dla",
    "laplacian",
    "laplacian-binary",
    "laplacian-unsupervised",
    "laplacian-binary-unsupervised",
    "lle",
    "lle-unsupervised",
    "ltsa",
    "ltsa-unsupervised",
]
PatchSearch: TypeAlias = Literal["exact", "approximate"]
ManifoldDefiniteness: TypeAlias = Literal["shrink", "floor", "error"]
TargetKind: TypeAlias = Literal["centres", "whitened"]
TargetSpread: TypeAlias = Literal["classes", "all"]
PenaltyKind: TypeAlias = Literal["l1", "adaptive", "reweighted", "scad", "mcp", "l0"]
PenaltyGroupAxes: TypeAlias = Literal["each", "together"]
RefitKind: TypeAlias = Literal["none", "axis", "panel", "discriminant"]
RuleKind: TypeAlias = Literal["nearest", "centroid", "gaussian"]
RuleMetric: TypeAlias = Literal["euclidean", "cosine"]
ComputeRoute: TypeAlias = Literal["auto", "dense", "conjugate"]
ComputeGram: TypeAlias = Literal["auto", "full", "columns"]


class Prepare(Stage):
    """What samples need before a fit: missing values, batches, scales.

    Parameters
    ----------
    impute : {"mean", "median", "knn"}, optional
        How missing values are filled. None: they are an error. "mean": by the mean of the variable. "median": by the
        median of the variable. "knn": by the mean over the nearest training samples that have the value. It is
        learned from the training samples, and new samples are filled in the same way.
    max_missing : float, default=0.5
        Variables that a larger fraction of the training samples lacks are left out, from 0 to 1; used with
        ``impute``.
    scale : {"none", "unit", "pareto", "log1p", "log1p-unit"}, default="none"
        How variables are scaled before all else. W and the mean are then in the units of the scaled variables.
        "none": as they are. "unit": divided by the standard deviation: all variables count the same among neighbours
        and in the target. "pareto": divided by the square root of the standard deviation: between "none" and "unit".
        "log1p": the logarithm of 1 + x, for counts. "log1p-unit": the logarithm of 1 + x, divided by its standard
        deviation.
    batch_scale : bool, default=False
        Whether values are also divided by their standard deviation in their batch, besides being centred there; for
        samples with batches.
    """

    _stage = "prepare"

    def __init__(
        self,
        *,
        impute: PrepareImpute | None = None,
        max_missing: float = 0.5,
        scale: PrepareScale = "none",
        batch_scale: bool = False,
    ) -> None:
        self.impute = impute
        self.max_missing = max_missing
        self.scale = scale
        self.batch_scale = batch_scale


class Patch(Stage):
    """The patches, one per sample: which samples are neighbours, and what is kept of them.

    Parameters
    ----------
    kind : {"dla", "laplacian", "laplacian-binary", "laplacian-unsupervised", "laplacian-binary-unsupervised", "lle", \
            "lle-unsupervised", "ltsa", "ltsa-unsupervised"}, default="dla"
        The patch rule. "dla": discriminative locality alignment: near samples of the class together, near ones of
        others apart. "laplacian": graph Laplacian within classes, heat-kernel weights. "laplacian-binary": graph
        Laplacian within classes, weights 0 or 1. "laplacian-unsupervised": graph Laplacian over all samples,
        heat-kernel weights. "laplacian-binary-unsupervised": graph Laplacian over all samples, weights 0 or 1. "lle":
        locally linear reconstruction from the same class. "lle-unsupervised": locally linear reconstruction from all
        samples. "ltsa": local tangent space alignment within classes. "ltsa-unsupervised": local tangent space
        alignment over all samples.
    k_within : int, default=5
        Neighbours of the same class in a patch (of any class for unsupervised rules), at least 1. A smaller class
        uses what it has.
    k_between : int, default=5
        Neighbours of other classes in a patch, at least 0.
    search : {"exact", "approximate"}, default="exact"
        How neighbours are searched for. "exact": all pairs are compared; no neighbour is missed. "approximate": about
        one neighbour in twenty is missed, and the recall is reported. Pays from some 20,000 samples on; where it
        would not, with few samples or small classes, or where near samples cannot be told from the others, all pairs
        are compared. "approximate" looks only where neighbours are likely, and misses about one in twenty. It pays
        from about 50,000 samples on, is exact below 10,000 samples and wherever it would not be faster, and does not
        work on data that stay sparse.
    bandwidth : float, optional
        Width of the heat kernel of the Laplacian patches, more than 0. None: the median distance to the neighbours.
    regularizer : float, default=0.001
        Regularizer of the LLE patch, more than 0, relative to the trace of the local Gram matrix.
    dimension : int, optional
        Tangent dimension of the LTSA patch, at least 1. None: half of the neighbours, at most the number of
        variables.
    """

    _stage = "patch"

    def __init__(
        self,
        *,
        kind: PatchKind = "dla",
        k_within: int = 5,
        k_between: int = 5,
        search: PatchSearch = "exact",
        bandwidth: float | None = None,
        regularizer: float = 0.001,
        dimension: int | None = None,
    ) -> None:
        self.kind = kind
        self.k_within = k_within
        self.k_between = k_between
        self.search = search
        self.bandwidth = bandwidth
        self.regularizer = regularizer
        self.dimension = dimension


class Manifold(Stage):
    """The manifold term: how strongly the patches act on the projection.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the manifold term, at least 0.
    beta : float, default=1.0
        Weight of the distance between the embedding Z and the projection XW, more than 0.
    kappa : float, default=0.1
        How strongly near samples of other classes are pushed apart, at least 0; ``definiteness`` may lower it.
    definiteness : {"shrink", "floor", "error"}, default="shrink"
        What to do where the problem would not be positive definite. "shrink": lower κ to the largest value for which
        it holds. "floor": raise the offending eigenvalues of A to the floor. Needs the dense spectrum. "error":
        refuse, naming the largest admissible κ.
    floor : float, default=0.5
        The smallest eigenvalue that is allowed, in (0, 1].
    """

    _stage = "manifold"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        kappa: float = 0.1,
        definiteness: ManifoldDefiniteness = "shrink",
        floor: float = 0.5,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.kappa = kappa
        self.definiteness = definiteness
        self.floor = floor


class CentresTarget(Stage):
    """The target "centres": as they are: the paper's target."""

    _stage = "target"
    _kind = "centres"


class WhitenedTarget(Stage):
    """The target "whitened": after whitening by the shrunken within-class covariance.

    Parameters
    ----------
    shrinkage : float, default=0.1
        Shrinkage of the within-class covariance, more than 0.
    spread : {"classes", "all"}, default="classes"
        Which samples' covariance whitens the target. It matters where there are samples without a label. "classes":
        that of labelled samples, within their classes. "all": that of all samples, with a label or without.
    """

    _stage = "target"
    _kind = "whitened"

    def __init__(self, *, shrinkage: float = 0.1, spread: TargetSpread = "classes") -> None:
        self.shrinkage = shrinkage
        self.spread = spread


class L1(Stage):
    """The penalty "l1": the absolute value: the elastic net.

    Parameters
    ----------
    standardize : bool, default=True
        Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. None: all 1. A variable with factor 0 is never penalised:
        it is in every model, and ``n_nonzeros`` and ``panel_size`` do not count it. Infinity bars a variable.
    always : list of str or int, optional
        Variables that are in every model, as with a factor of 0: ``n_nonzeros`` and ``panel_size`` do not count them.
        By name, or by position (counted from 0).
    never : list of str or int, optional
        Variables that are in no model, as with an infinite factor. By name, or by position (counted from 0).
    feature_groups : list of lists, sequence or dict, optional
        Groups of variables that enter together. None: variables enter one by one. With groups, ``n_nonzeros`` counts
        groups, and is 10 by default. The variables of every group (names or positions); or one label per variable; or
        a dict from variables to a label or a list of labels. A variable may be in several groups.
    group_axes : {"each", "together"}, default="each"
        Whether every axis chooses its own groups, or a group is chosen for all axes or for none; without
        ``feature_groups`` every variable is then a group. "each": every axis chooses its own groups. "together": a
        group is chosen for all axes or for none.
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours, and should have similar weights. None: no graph. "chain": every variable and
        the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape of the
        images, where it is known. "auto": the grid for images, else the chain. Or edges with weights. As a sparse
        matrix: the symmetric weights of the edges, at least 0.
    graph_weight : float, optional
        Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    """

    _stage = "penalty"
    _kind = "l1"

    def __init__(
        self,
        *,
        standardize: bool = True,
        factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: Groups | None = None,
        group_axes: PenaltyGroupAxes = "each",
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
    ) -> None:
        self.standardize = standardize
        self.factors = factors
        self.always = always
        self.never = never
        self.feature_groups = feature_groups
        self.group_axes = group_axes
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight


class Adaptive(Stage):
    """The penalty "adaptive": ℓ1 with weights from a first fit.

    Parameters
    ----------
    gamma : float, optional
        Shape of the penalty: a of "scad", more than 2; γ of "mcp", more than 1, and of "adaptive", more than 0. None:
        3.7, 3 and 1.
    epsilon : float, optional
        Offset ε, more than 0, relative to the largest coefficient of the first fit. None: 0.05 with "adaptive" and
        0.1 with "reweighted".
    standardize : bool, default=True
        Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. None: all 1. A variable with factor 0 is never penalised:
        it is in every model, and ``n_nonzeros`` and ``panel_size`` do not count it. Infinity bars a variable.
    always : list of str or int, optional
        Variables that are in every model, as with a factor of 0: ``n_nonzeros`` and ``panel_size`` do not count them.
        By name, or by position (counted from 0).
    never : list of str or int, optional
        Variables that are in no model, as with an infinite factor. By name, or by position (counted from 0).
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours, and should have similar weights. None: no graph. "chain": every variable and
        the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape of the
        images, where it is known. "auto": the grid for images, else the chain. Or edges with weights. As a sparse
        matrix: the symmetric weights of the edges, at least 0.
    graph_weight : float, optional
        Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    """

    _stage = "penalty"
    _kind = "adaptive"

    def __init__(
        self,
        *,
        gamma: float | None = None,
        epsilon: float | None = None,
        standardize: bool = True,
        factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
    ) -> None:
        self.gamma = gamma
        self.epsilon = epsilon
        self.standardize = standardize
        self.factors = factors
        self.always = always
        self.never = never
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight


class Reweighted(Stage):
    """The penalty "reweighted": the logarithm, by ℓ1 with weights from the round before.

    Parameters
    ----------
    epsilon : float, optional
        Offset ε, more than 0, relative to the largest coefficient of the first fit. None: 0.05 with "adaptive" and
        0.1 with "reweighted".
    standardize : bool, default=True
        Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. None: all 1. A variable with factor 0 is never penalised:
        it is in every model, and ``n_nonzeros`` and ``panel_size`` do not count it. Infinity bars a variable.
    always : list of str or int, optional
        Variables that are in every model, as with a factor of 0: ``n_nonzeros`` and ``panel_size`` do not count them.
        By name, or by position (counted from 0).
    never : list of str or int, optional
        Variables that are in no model, as with an infinite factor. By name, or by position (counted from 0).
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours, and should have similar weights. None: no graph. "chain": every variable and
        the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape of the
        images, where it is known. "auto": the grid for images, else the chain. Or edges with weights. As a sparse
        matrix: the symmetric weights of the edges, at least 0.
    graph_weight : float, optional
        Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    """

    _stage = "penalty"
    _kind = "reweighted"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        standardize: bool = True,
        factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.standardize = standardize
        self.factors = factors
        self.always = always
        self.never = never
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight


class Scad(Stage):
    """The penalty "scad": the smoothly clipped absolute deviation.

    Parameters
    ----------
    gamma : float, optional
        Shape of the penalty: a of "scad", more than 2; γ of "mcp", more than 1, and of "adaptive", more than 0. None:
        3.7, 3 and 1.
    standardize : bool, default=True
        Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. None: all 1. A variable with factor 0 is never penalised:
        it is in every model, and ``n_nonzeros`` and ``panel_size`` do not count it. Infinity bars a variable.
    always : list of str or int, optional
        Variables that are in every model, as with a factor of 0: ``n_nonzeros`` and ``panel_size`` do not count them.
        By name, or by position (counted from 0).
    never : list of str or int, optional
        Variables that are in no model, as with an infinite factor. By name, or by position (counted from 0).
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours, and should have similar weights. None: no graph. "chain": every variable and
        the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape of the
        images, where it is known. "auto": the grid for images, else the chain. Or edges with weights. As a sparse
        matrix: the symmetric weights of the edges, at least 0.
    graph_weight : float, optional
        Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    """

    _stage = "penalty"
    _kind = "scad"

    def __init__(
        self,
        *,
        gamma: float | None = None,
        standardize: bool = True,
        factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
    ) -> None:
        self.gamma = gamma
        self.standardize = standardize
        self.factors = factors
        self.always = always
        self.never = never
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight


class Mcp(Stage):
    """The penalty "mcp": the minimax concave penalty.

    Parameters
    ----------
    gamma : float, optional
        Shape of the penalty: a of "scad", more than 2; γ of "mcp", more than 1, and of "adaptive", more than 0. None:
        3.7, 3 and 1.
    standardize : bool, default=True
        Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. None: all 1. A variable with factor 0 is never penalised:
        it is in every model, and ``n_nonzeros`` and ``panel_size`` do not count it. Infinity bars a variable.
    always : list of str or int, optional
        Variables that are in every model, as with a factor of 0: ``n_nonzeros`` and ``panel_size`` do not count them.
        By name, or by position (counted from 0).
    never : list of str or int, optional
        Variables that are in no model, as with an infinite factor. By name, or by position (counted from 0).
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours, and should have similar weights. None: no graph. "chain": every variable and
        the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape of the
        images, where it is known. "auto": the grid for images, else the chain. Or edges with weights. As a sparse
        matrix: the symmetric weights of the edges, at least 0.
    graph_weight : float, optional
        Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    """

    _stage = "penalty"
    _kind = "mcp"

    def __init__(
        self,
        *,
        gamma: float | None = None,
        standardize: bool = True,
        factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
    ) -> None:
        self.gamma = gamma
        self.standardize = standardize
        self.factors = factors
        self.always = always
        self.never = never
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight


class L0(Stage):
    """The penalty "l0": the number of variables: best subsets.

    Parameters
    ----------
    standardize : bool, default=True
        Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    factors : array-like of shape (n_features,), optional
        One factor per variable on its penalty, at least 0. None: all 1. A variable with factor 0 is never penalised:
        it is in every model, and ``n_nonzeros`` and ``panel_size`` do not count it. Infinity bars a variable.
    always : list of str or int, optional
        Variables that are in every model, as with a factor of 0: ``n_nonzeros`` and ``panel_size`` do not count them.
        By name, or by position (counted from 0).
    never : list of str or int, optional
        Variables that are in no model, as with an infinite factor. By name, or by position (counted from 0).
    feature_graph : str or sparse matrix of shape (n_features, n_features), optional
        Which variables are neighbours, and should have similar weights. None: no graph. "chain": every variable and
        the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape of the
        images, where it is known. "auto": the grid for images, else the chain. Or edges with weights. As a sparse
        matrix: the symmetric weights of the edges, at least 0.
    graph_weight : float, optional
        Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    """

    _stage = "penalty"
    _kind = "l0"

    def __init__(
        self,
        *,
        standardize: bool = True,
        factors: ArrayLike | None = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_graph: str | Any | None = None,
        graph_weight: float | None = None,
    ) -> None:
        self.standardize = standardize
        self.factors = factors
        self.always = always
        self.never = never
        self.feature_graph = feature_graph
        self.graph_weight = graph_weight


class NoRefit(Stage):
    """The refit "none": they are the paper's."""

    _stage = "refit"
    _kind = "none"


class AxisRefit(Stage):
    """The refit "axis": on every axis's own support, without the ℓ1 penalty.

    Parameters
    ----------
    ridge : float, optional
        Ridge of the refit, at least 0. None: the ridge of the path.
    relax : float, default=1.0
        How far the refit goes, from 0 (the weights of the path) to 1 (those without the ℓ1 penalty).
    """

    _stage = "refit"
    _kind = "axis"

    def __init__(self, *, ridge: float | None = None, relax: float = 1.0) -> None:
        self.ridge = ridge
        self.relax = relax


class PanelRefit(Stage):
    """The refit "panel": on the panel for all axes, without the ℓ1 penalty.

    Parameters
    ----------
    ridge : float, optional
        Ridge of the refit, at least 0. None: the ridge of the path.
    """

    _stage = "refit"
    _kind = "panel"

    def __init__(self, *, ridge: float | None = None) -> None:
        self.ridge = ridge


class DiscriminantRefit(Stage):
    """The refit "discriminant": the discriminants of the panel."""

    _stage = "refit"
    _kind = "discriminant"


class Nearest(Stage):
    """The rule "nearest": the class of the nearest samples, the paper's rule.

    Parameters
    ----------
    k : int, default=1
        How many of the nearest training samples vote, at least 1.
    metric : {"euclidean", "cosine"}, optional
        How samples are compared. None: by the cosine, but by the Euclidean distance on a single axis, where the angle
        between samples says no more than their sign. "euclidean": the Euclidean distance, the paper's. "cosine": one
        minus the cosine of the angle between them.
    priors : {"train", "equal"} or array-like of shape (n_classes,), default="train"
        How frequent the classes are where the model is used: "train" (as in the training samples), "equal", or one
        number per class. Numbers are in the order of ``classes_``.
    """

    _stage = "rule"
    _kind = "nearest"

    def __init__(
        self, *, k: int = 1, metric: RuleMetric | None = None, priors: Literal["train", "equal"] | ArrayLike = "train"
    ) -> None:
        self.k = k
        self.metric = metric
        self.priors = priors


class Centroid(Stage):
    """The rule "centroid": the class whose mean is nearest.

    Parameters
    ----------
    priors : {"train", "equal"} or array-like of shape (n_classes,), default="train"
        How frequent the classes are where the model is used: "train" (as in the training samples), "equal", or one
        number per class. Numbers are in the order of ``classes_``.
    """

    _stage = "rule"
    _kind = "centroid"

    def __init__(self, *, priors: Literal["train", "equal"] | ArrayLike = "train") -> None:
        self.priors = priors


class Gaussian(Stage):
    """The rule "gaussian": the most probable class if all are normal with one covariance: linear discriminant analysis.

    Parameters
    ----------
    priors : {"train", "equal"} or array-like of shape (n_classes,), default="train"
        How frequent the classes are where the model is used: "train" (as in the training samples), "equal", or one
        number per class. Numbers are in the order of ``classes_``.
    """

    _stage = "rule"
    _kind = "gaussian"

    def __init__(self, *, priors: Literal["train", "equal"] | ArrayLike = "train") -> None:
        self.priors = priors


class AutoRule(Stage):
    """The rule left open: "nearest", but "gaussian" on a single axis.

    Parameters
    ----------
    k : int, default=1
        How many of the nearest training samples vote, at least 1.
    metric : {"euclidean", "cosine"}, optional
        How samples are compared. None: by the cosine, but by the Euclidean distance on a single axis, where the angle
        between samples says no more than their sign. "euclidean": the Euclidean distance, the paper's. "cosine": one
        minus the cosine of the angle between them.
    priors : {"train", "equal"} or array-like of shape (n_classes,), default="train"
        How frequent the classes are where the model is used: "train" (as in the training samples), "equal", or one
        number per class. Numbers are in the order of ``classes_``.
    """

    _stage = "rule"

    def __init__(
        self, *, k: int = 1, metric: RuleMetric | None = None, priors: Literal["train", "equal"] | ArrayLike = "train"
    ) -> None:
        self.k = k
        self.metric = metric
        self.priors = priors


class Compute(Stage):
    """How a fit is computed. Only time and memory depend on it, never the result.

    Parameters
    ----------
    route : {"auto", "dense", "conjugate"}, default="auto"
        How the operator A is applied: as a matrix of samples by samples, or by conjugate gradients. "auto": whichever
        is cheaper, but conjugate gradients beyond 5,000 samples. "dense": as a dense n×n matrix. "conjugate": by
        conjugate gradients.
    gram : {"auto", "full", "columns"}, default="auto"
        Which part of the Gram matrix of the variables is computed: all of it, or only the columns that are needed.
        "auto": whichever is cheaper, but columns beyond 6,000 variables. "full": all of it. "columns": the columns
        that are asked for.
    """

    _stage = "compute"

    def __init__(self, *, route: ComputeRoute = "auto", gram: ComputeGram = "auto") -> None:
        self.route = route
        self.gram = gram


# The classes of every stage by kind; that of None is what a parameter left None stands for.
CLASSES: dict[str, dict[str | None, type[Stage]]] = {
    "prepare": {None: Prepare},
    "patch": {None: Patch},
    "manifold": {None: Manifold},
    "target": {None: WhitenedTarget, "centres": CentresTarget, "whitened": WhitenedTarget},
    "penalty": {None: L1, "l1": L1, "adaptive": Adaptive, "reweighted": Reweighted, "scad": Scad, "mcp": Mcp, "l0": L0},
    "refit": {
        None: DiscriminantRefit,
        "none": NoRefit,
        "axis": AxisRefit,
        "panel": PanelRefit,
        "discriminant": DiscriminantRefit,
    },
    "rule": {None: AutoRule, "nearest": Nearest, "centroid": Centroid, "gaussian": Gaussian},
    "compute": {None: Compute},
}
