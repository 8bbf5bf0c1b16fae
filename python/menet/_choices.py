"""The names that parameters may take, as types. The tests compare them with what the core lists."""

from __future__ import annotations

from typing import Literal, TypeAlias

Definiteness: TypeAlias = Literal["shrink", "floor", "error"]
GramForm: TypeAlias = Literal["auto", "full", "columns"]
GroupAxes: TypeAlias = Literal["each", "together"]
Impute: TypeAlias = Literal["mean", "median", "knn"]
Metric: TypeAlias = Literal["euclidean", "cosine"]
NeighborSearch: TypeAlias = Literal["exact", "approximate"]
Patch: TypeAlias = Literal[
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
PathMethod: TypeAlias = Literal["lasso", "lars"]
Penalty: TypeAlias = Literal["l1", "adaptive", "reweighted", "scad", "mcp", "l0"]
Preset: TypeAlias = Literal["default", "stable", "paper"]
PriorsName: TypeAlias = Literal["train", "equal"]
Refit: TypeAlias = Literal["none", "axis", "panel", "discriminant"]
Route: TypeAlias = Literal["auto", "dense", "conjugate"]
Rule: TypeAlias = Literal["nearest", "centroid", "gaussian"]
Scale: TypeAlias = Literal["none", "unit", "pareto", "log1p", "log1p-unit"]
Scoring: TypeAlias = Literal["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr"]
Target: TypeAlias = Literal["centres", "whitened"]
TargetSpread: TypeAlias = Literal["classes", "all"]

# By parameter. `scoring` and `priors` are names of this package; all others are the core's.
BY_PARAMETER = {
    "definiteness": Definiteness,
    "gram": GramForm,
    "group_axes": GroupAxes,
    "impute": Impute,
    "method": PathMethod,
    "metric": Metric,
    "neighbors": NeighborSearch,
    "patch": Patch,
    "penalty": Penalty,
    "preset": Preset,
    "refit": Refit,
    "route": Route,
    "rule": Rule,
    "scale": Scale,
    "target": Target,
    "target_spread": TargetSpread,
}
