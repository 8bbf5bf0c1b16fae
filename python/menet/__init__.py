"""Manifold Elastic Net: sparse, supervised, linear dimension reduction.

`ManifoldElasticNet` learns a projection. Every axis uses at most a given number of the original variables. The
projection keeps the local geometry of each class and pushes classes apart. A rule in the projected space gives classes
and probabilities. Its parameters follow the pipeline of a fit, stage by stage: `Prepare`, `Patch`, `Manifold`, targets,
penalties, refits, rules and `Compute`. `ManifoldElasticNetCV` chooses the settings by cross-validation.
`StabilitySelection` keeps the variables that most half-samples select. `PCA`, `FLDA`, `DLA`, `LPP`, `NPE`, `SparsePCA`
and `SPG` are the baselines. All are scikit-learn estimators, and each is a transformer and a classifier.

`validate` says how far a model can be trusted: held-out samples, permuted labels, half-samples.

`lars_path` and `lars_path_gram` compute the exact lasso or elastic-net path, with a certificate at every knot.
`group_lasso` solves for groups of variables that enter together.

`menet.datasets` has data to try them on. `menet.plot` draws what they learned, with matplotlib.
"""

from menet import datasets, plot
from menet._baselines import DLA, FLDA, LPP, NPE, PCA
from menet._core import VERSION as __version__
from menet._cv import ManifoldElasticNetCV
from menet._groups import GroupLasso, group_lasso
from menet._lars import lars_path, lars_path_gram
from menet._men import ManifoldElasticNet
from menet._paths import LarsPath, LarsPaths
from menet._sparse_baselines import SPG, SparsePCA
from menet._stability import StabilitySelection
from menet._stages import (
    L0,
    L1,
    Adaptive,
    AutoRule,
    AxisRefit,
    CentresTarget,
    Centroid,
    Compute,
    DiscriminantRefit,
    Gaussian,
    Manifold,
    Mcp,
    Nearest,
    NoRefit,
    PanelRefit,
    Patch,
    Prepare,
    Reweighted,
    Scad,
    WhitenedTarget,
)
from menet._validate import validate
from menet._validation import Interval, Validation

__all__ = [
    "DLA",
    "FLDA",
    "L0",
    "L1",
    "LPP",
    "NPE",
    "PCA",
    "SPG",
    "Adaptive",
    "AutoRule",
    "AxisRefit",
    "CentresTarget",
    "Centroid",
    "Compute",
    "DiscriminantRefit",
    "Gaussian",
    "GroupLasso",
    "Interval",
    "LarsPath",
    "LarsPaths",
    "Manifold",
    "ManifoldElasticNet",
    "ManifoldElasticNetCV",
    "Mcp",
    "Nearest",
    "NoRefit",
    "PanelRefit",
    "Patch",
    "Prepare",
    "Reweighted",
    "Scad",
    "SparsePCA",
    "StabilitySelection",
    "Validation",
    "WhitenedTarget",
    "__version__",
    "datasets",
    "group_lasso",
    "lars_path",
    "lars_path_gram",
    "plot",
    "validate",
]
