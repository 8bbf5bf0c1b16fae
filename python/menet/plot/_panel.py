"""What several figures read off a model and its samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from menet._decisions import Decider
from menet._exact import check_numbers
from menet._input import Floats, Samples
from menet.plot._looks import COLOURS, MARKERS, short


def fitted(model: Any) -> Decider:
    """Return a model of menet, refusing what is none or is not fitted."""
    if not isinstance(model, Decider):
        raise TypeError(f"`model` is a {type(model).__name__}, but must be a fitted ManifoldElasticNet")
    check_is_fitted(model)
    return model


def variable_name(names: Any, position: Any) -> str:
    """Return the name of a variable, cut, or its position if there are no names."""
    return str(position) if names is None else visible(names[position])


def visible(name: Any, most: int = 22) -> str:
    """Return a name cut in the middle, which is never blank."""
    return short(str(name), most) if str(name).strip() else "(no name)"


def columns_of(model: Decider, X: Samples, batch: ArrayLike | None, positions: NDArray[np.int64]) -> Floats:
    """Return some variables of samples as a dense array, as the model sees them."""
    if model._prepares():
        return model.prepared(X, batch=batch)[:, positions]
    variables = model.n_features_in_
    check_numbers("X", X)
    x = check_array(X, accept_sparse="csc", dtype=(np.float64, np.float32))
    if x.shape[1] != variables:
        raise ValueError(f"`X` has {x.shape[1]} variables, but the model has {variables}")
    some = x[:, positions]
    return np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=np.float64)


def codes_of(y: ArrayLike, samples: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in `y` and the class of every sample."""
    labels = np.asarray(y)
    if labels.shape != (samples,):
        raise ValueError(f"`y` has shape {labels.shape}, but there are {samples} samples")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.reshape(-1).astype(np.int64)


def class_look(place: int) -> tuple[str, str]:
    """Return colour and marker of a class, as in the figures of the command."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def literal(ax: Any) -> None:
    """Keep matplotlib from reading names as mathematics, in ticks and legend."""
    texts = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    legend = ax.get_legend()
    for text in [*texts, *(legend.get_texts() if legend is not None else [])]:
        text.set_parse_math(False)
