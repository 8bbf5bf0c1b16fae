"""Manifold Elastic Net: sparse, supervised, linear dimension reduction.

`ManifoldElasticNet` learns a projection in which every axis uses at most so many of the original variables, keeps the
local geometry of each class and pushes classes apart; a rule in the projected space gives classes and probabilities.
`ManifoldElasticNetCV` chooses its settings by cross-validation. `PCA`, `FLDA`, `DLA`, `LPP`, `NPE`, `SparsePCA` and
`SPG` are the methods it is compared with. All are scikit-learn estimators, transformer and classifier in one.

`lars_path` and `lars_path_gram` are the exact lasso and elastic-net path, with a certificate at every knot.

`menet.datasets` has data to try them on, and `menet.plot` draws what they learned (with matplotlib).
"""

from menet import datasets, plot
from menet._core import VERSION as __version__
from menet._cv import ManifoldElasticNetCV
from menet._lars import LarsPath, LarsPaths, lars_path, lars_path_gram
from menet._men import ManifoldElasticNet
from menet._rivals import DLA, FLDA, LPP, NPE, PCA
from menet._sparse_rivals import SPG, SparsePCA

__all__ = [
    "DLA",
    "FLDA",
    "LPP",
    "NPE",
    "PCA",
    "SPG",
    "LarsPath",
    "LarsPaths",
    "ManifoldElasticNet",
    "ManifoldElasticNetCV",
    "SparsePCA",
    "__version__",
    "datasets",
    "lars_path",
    "lars_path_gram",
    "plot",
]
