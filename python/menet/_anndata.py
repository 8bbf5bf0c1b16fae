"""AnnData objects, which hold samples with the names of their variables, their labels and results.

``fit`` reads the samples and the labels, and writes what it found. Other methods match variables by name. The package
anndata is never imported here: an AnnData object exists only if somebody else has imported it.
"""

from __future__ import annotations

import difflib
import json
import math
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from menet import _core
from menet._batches import missing
from menet._exact import numbers
from menet._input import DTYPES, SPARSE, Samples, frame_names, frame_part
from menet._stage import Stage

# Where the results are written.
OBSM, VARM, UNS = "X_menet", "menet", "menet"

# Arguments of ``fit`` that may name a column of ``obs``, and that a fit holds under this name after an underscore.
COLUMNS = ("sample_weight", "batch", "groups")

# So many names are listed in an error.
LISTED = 5


class NamedSamples(NamedTuple):
    """Samples with the names of their variables. SciPy's sparse matrices have none."""

    X: Any
    names: NDArray[Any]


def is_anndata(X: Any) -> bool:
    """Return whether this is an AnnData object."""
    kind = getattr(sys.modules.get("anndata"), "AnnData", None)
    return kind is not None and isinstance(X, kind)


def refuse(X: Any, who: str) -> None:
    """Refuse an AnnData object where nothing reads it."""
    if is_anndata(X):
        raise TypeError(
            f"`X` is an AnnData object, but {who} does not read these: give it adata.X (or adata.to_df(), which has "
            "the names of the variables) and, as labels, a column of adata.obs"
        )


def check_layer(X: Any, layer: Any) -> None:
    """Refuse a layer of samples that have none."""
    if layer is not None and not is_anndata(X):
        raise ValueError(
            f"`layer` is {layer!r}, but `X` is of the type {type(X).__name__}: only AnnData objects have layers, leave "
            "`layer` out"
        )


def means_missing(unlabelled: Any) -> bool:
    """Return whether a missing label means none."""
    return unlabelled is not None and missing(unlabelled)


def column(X: Any, argument: str, value: Any) -> Any:
    """Return the values of an argument: a column of ``obs`` if it names one, else what was given."""
    if not (isinstance(value, str) and is_anndata(X)):
        return value
    if value not in X.obs.columns:
        raise ValueError(f"`{argument}` is {value!r}, but " + _none_such("adata.obs", "column", value, X.obs.columns))
    values = X.obs[value]
    if argument != "sample_weight":
        return np.asarray(values)
    if values.dtype.kind not in "iufb":
        raise TypeError(
            f"`sample_weight` is {value!r}, but this column of adata.obs has the type {values.dtype}: weights must be "
            "numbers"
        )
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def scored(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return the labels and the weights of samples whose predictions are scored."""
    if not is_anndata(X):
        return y, sample_weight
    return _labels(X, y, "leave them out"), column(X, "sample_weight", sample_weight)


class Annotated:
    """An estimator that reads AnnData objects. It stands before the class that fits."""

    unlabelled: Any
    feature_names_in_: NDArray[Any]
    # What the fit read: a layer, or None for ``X``. Not set where the fit read no AnnData object.
    layer_: str | None

    def _fit(self, X: Samples, y: ArrayLike | None) -> None:
        layer = self.__dict__.get("_layer")
        if not is_anndata(X):
            self.__dict__.pop("layer_", None)
            super()._fit(X, y)  # type: ignore[misc]
            return
        samples = NamedSamples(_matrix(X, layer), _names(X))
        advice = "leave them out, or use unlabelled=numpy.nan to keep them as samples without a label"
        labels = _labels(X, y, None if means_missing(self.unlabelled) else advice)
        named = {name: self.__dict__.get(f"_{name}") for name in COLUMNS}
        self.__dict__.update({f"_{name}": column(X, name, value) for name, value in named.items() if value is not None})
        # Before the fit: a search hands it on to its best estimator.
        self.layer_ = layer
        super()._fit(samples, labels)  # type: ignore[misc]
        settings = {"label": y, "layer": layer} | {
            name: value for name, value in named.items() if isinstance(value, str)
        }
        _write(self, X, samples, settings)

    def _read(self, X: Samples) -> tuple[Any, Any, Any]:
        if not is_anndata(X):
            return super()._read(X)  # type: ignore[misc,no-any-return]
        # It tells what is missing in the object or the estimator before names are compared.
        fitted = getattr(self, "feature_names_in_", None)
        model, wanted = (None, None) if fitted is None else self._form(_names(X))  # type: ignore[attr-defined]
        samples = _matched(self, X, wanted)
        return model, self._checked_form(model, samples.X), samples.names  # type: ignore[attr-defined]

    def _validated(self, X: Samples, *y: Any, reset: bool = False) -> Any:
        if is_anndata(X):
            X = _matched(self, X)
        if not isinstance(X, NamedSamples):
            return super()._validated(X, *y, reset=reset)  # type: ignore[misc]
        if not reset:
            # They have the names of the fit; scikit-learn would warn that they have none.
            return numbers("X", X.X, accept_sparse=SPARSE, dtype=DTYPES, estimator=self)
        checked = super()._validated(X.X, *y, reset=True)  # type: ignore[misc]
        self.feature_names_in_ = X.names
        return checked


def all_of_the_fit(estimator: Any, X: Any) -> Any:
    """Return samples in memory with all variables of the fit, by name where they have names; None if they lack some."""
    fitted = getattr(estimator, "feature_names_in_", None)
    given = frame_names(X)
    if is_anndata(X) and fitted is not None:
        given = list(X.var_names)
    if given is None or fitted is None:
        return X
    if not set(given).issuperset(fitted):
        return None
    return X if is_anndata(X) else frame_part(X, fitted)


def _matched(estimator: Any, adata: Any, wanted: Any = None) -> NamedSamples:
    """Return the samples with these variables of the fit, in their order; None: with all of them."""
    name, fitted = type(estimator).__name__, getattr(estimator, "feature_names_in_", None)
    if fitted is None:
        raise ValueError(
            f"this {name} was fitted to samples without names of variables, so those of the AnnData object cannot "
            "be matched: give it adata.X, or fit it to an AnnData object or a data frame"
        )
    layers = _layers(adata)
    if layers and not hasattr(estimator, "layer_"):
        raise ValueError(
            f"this {name} was not fitted to an AnnData object, or comes from a model file, so it does not know "
            f"whether to read adata.X or a layer ({_listed(layers)}): set its attribute `layer_` to None for "
            "adata.X, or to the name of a layer"
        )
    X, names = _matrix(adata, getattr(estimator, "layer_", None)), _names(adata)
    what = "of the fit" if wanted is None else "that the model needs"
    wanted = fitted if wanted is None else wanted
    if np.array_equal(names, wanted):
        return NamedSamples(X, wanted)
    places = adata.var_names.get_indexer(wanted)
    if (places < 0).any():
        lacking = wanted[places < 0].tolist()
        raise ValueError(
            f"adata.var_names lacks {len(lacking)} of the {len(wanted)} variables {what}: "
            f"{', '.join(map(repr, lacking))}; add them, or fit {name} to the variables that both have"
        )
    return NamedSamples(X[:, places], wanted)


def _write(estimator: Any, adata: Any, samples: NamedSamples, settings: dict[str, Any]) -> None:
    """Write what the fit found. All of it is computed before the first key is set."""
    projected = estimator._project(samples, single=True, batch=estimator.__dict__.get("_batch"))
    weights = np.ascontiguousarray(estimator.components_.T)
    # What anndata writes to a file: numbers, text and arrays of these. None, only since 0.12, is left out.
    fitted = vars(estimator)
    found = settings | {
        "estimator": type(estimator).__name__,
        "version": _core.VERSION,
        "params": json.dumps(_plain(estimator.get_params(deep=False))),
        "best_params": json.dumps(_plain(fitted["best_params_"])) if "best_params_" in fitted else None,
        "classes": estimator.classes_,
        "panel": fitted["panel_"].astype(str),
        "n_nonzeros": estimator.n_nonzeros_,
        "rule": fitted["rule_"],
        "kkt_violation": fitted["kkt_violation_"],
    }
    adata.obsm[OBSM] = projected
    adata.varm[VARM] = weights
    adata.uns[UNS] = {name: value for name, value in found.items() if value is not None}


def _matrix(adata: Any, layer: Any) -> Any:
    """Return ``X`` or a layer, an array or a sparse matrix in memory."""
    if adata.isbacked:
        raise ValueError(
            f"the AnnData object is backed by the file {str(adata.filename)!r}, but the samples must be in memory: use "
            "adata.to_memory()"
        )
    if 0 in adata.shape:
        raise ValueError(f"the AnnData object is empty: it has {adata.n_obs} samples and {adata.n_vars} variables")
    if layer is None:
        what, X = "adata.X", adata.X
        if X is None:
            raise ValueError(f"adata.X is None: name one of its layers with `layer` ({_listed(_layers(adata))})")
    else:
        if layer not in _layers(adata):
            raise ValueError(f"`layer` is {layer!r}, but " + _none_such("adata.layers", "layer", layer, _layers(adata)))
        what, X = f"adata.layers[{layer!r}]", adata.layers[layer]
    if sparse.issparse(X):
        # A part of an AnnData object has sparse matrices of anndata's own types, which hold on to the whole object.
        plain = next(kind for kind in type(X).__mro__ if kind.__module__.startswith("scipy."))
        return X if type(X) is plain else plain(X)
    if isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray):
        return np.asarray(X)
    raise TypeError(
        f"{what} is of the type {type(X).__module__}.{type(X).__qualname__}, but must be a NumPy array or a SciPy "
        "sparse matrix: use adata.to_memory(), or convert it"
    )


def _layers(adata: Any) -> list[str]:
    return [name for name in adata.layers if name is not None]


def _names(adata: Any) -> NDArray[Any]:
    """Return the names of the variables, which must differ."""
    names = adata.var_names
    if not names.is_unique:
        twice = names[names.duplicated()].unique().tolist()
        raise ValueError(
            f"adata.var_names has {len(twice)} names more than once: {_listed(twice)}; variables need names of their "
            "own, use adata.var_names_make_unique()"
        )
    return np.array([str(name) for name in names], dtype=object)


def _labels(adata: Any, name: Any, advice: str | None) -> NDArray[Any]:
    """Return the label of every sample. Missing ones are refused with this advice; None: they may be missing."""
    if not isinstance(name, str):
        raise TypeError(
            f"`y` is of the type {type(name).__name__}, but `X` is an AnnData object: `y` must be the name of a column "
            f"of adata.obs ({_listed(adata.obs.columns)})"
        )
    values: NDArray[Any] = column(adata, "y", name)
    lacking = int(adata.obs[name].isna().sum())
    if lacking and advice is not None:
        raise ValueError(
            f"adata.obs[{name!r}] has no label for {lacking} of {adata.n_obs} samples: {advice} "
            f"(adata[adata.obs[{name!r}].notna()] has those with a label)"
        )
    # As objects: whole numbers would become others beside a missing one.
    return adata.obs[name].astype(object).to_numpy() if lacking else values


def _none_such(where: str, what: str, name: Any, known: Any) -> str:
    """Return that there is no such name, with those that are near it or, if none is, with those that there are."""
    if near := difflib.get_close_matches(str(name), [str(one) for one in known], n=LISTED):
        return f"{where} has no such {what}; did you mean {' or '.join(map(repr, near))}?"
    return f"{where} has no such {what}; it has {_listed(known)}"


def _listed(names: Any) -> str:
    shown = [repr(name) for name in list(names)[:LISTED]]
    return ", ".join(shown) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "") or "none"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what JSON cannot hold, as text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Stage):
        value = {"class": type(value).__name__, **value.get_params(deep=False)}
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
