"""What can be read from a fitted model: its panel, its paths, a file, a pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._base import Reducer
from menet._exact import numbers
from menet._export import Exports, file_path
from menet._input import DTYPES, SPARSE, Floats, Samples, frame_names, frame_part
from menet._paths import LarsPath
from menet._running import warn_user
from menet._settings import flag, whole_number


class FittedReducer(Exports, Reducer):
    """A projection with a model of the core behind it. A subclass fits the model and stores it with ``_set_model``."""

    kkt_violation_: Floats
    levels_: Floats
    selected_features_: list[NDArray[Any]]
    panel_: NDArray[Any]
    always_: NDArray[Any]
    refit_: dict[str, Any]
    rule_: str | None
    neighbor_recall_: float | None
    definiteness_: dict[str, Any]
    regime_: dict[str, Any] | None
    cg_residual_: float | None
    seconds_: dict[str, float]
    missing_fraction_: Floats
    dropped_variables_: NDArray[Any]
    batches_: list[str] | None
    _model: _core.Model

    @property
    def feature_importances_(self) -> Floats:
        """Return the importance of every variable, divided by the sum over the panel."""
        importances: Floats = np.zeros(len(self._model_of_fit().mean()))
        for row in self._model.panel_table():
            importances[row[0]] = row[5]
        return importances / (importances.sum() or 1.0)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which variables are in the panel.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return positions instead of a mask.

        Returns
        -------
        ndarray
            One truth value per variable, or the sorted positions of the variables of the panel.
        """
        positions = np.array(self._model_of_fit().panel(), dtype=np.int64)
        if flag("indices", indices):
            return positions
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[positions] = True
        return mask

    def panel_table(self) -> Any:
        """Return a table of the variables of the panel, the most important first.

        Returns
        -------
        DataFrame or dict of ndarray
            A frame if pandas is installed, else a dict of its columns:

            - ``variable``: its name if the samples had names, else its position;
            - ``axes``: the axes that use it, counted from 0;
            - ``entered``: its rank, from 1, in the order in which variables entered the path of an axis; the smallest
              rank over the paths;
            - ``weight``: its largest weight in size over the axes;
            - ``effect``: that weight times the standard deviation of the variable, NaN if unknown;
            - ``importance``: the length of its weights over all axes times its standard deviation;
              ``feature_importances_`` holds the same numbers, divided by their sum;
            - ``higher_in``: the class with the largest mean of the variable, taken by itself, None if unknown;
            - ``class``: the class that a larger value points to while all other variables stay as they are, None if
              unknown; where variables are correlated, it need not be ``higher_in``;
            - ``class_means``: the mean of the variable in every class of ``classes_``, less the mean of all samples,
              divided by its standard deviation; empty if unknown.
        """
        rows = self._model_of_fit().panel_table()
        names = getattr(self, "feature_names_in_", None)
        variables = np.array([row[0] for row in rows], dtype=np.int64)
        columns: dict[str, NDArray[Any]] = {
            "variable": variables if names is None else names[variables],
            "axes": _objects([tuple(row[1]) for row in rows]),
            "entered": _objects([row[2] for row in rows]),
            "weight": np.array([row[3] for row in rows]),
            "effect": np.array([np.nan if row[4] is None else row[4] for row in rows]),
            "importance": np.array([row[5] for row in rows]),
            "higher_in": _objects([None if row[7] is None else self.classes_[row[7]] for row in rows]),
            "class": _objects([None if row[6] is None else self.classes_[row[6]] for row in rows]),
            "class_means": _objects([tuple(row[8]) for row in rows]),
        }
        if all(row[2] is not None for row in rows):
            columns["entered"] = columns["entered"].astype(np.int64)
        try:
            import pandas as pd
        except ImportError:
            return columns
        return pd.DataFrame(columns)

    def path(self, component: int) -> LarsPath:
        """Return the whole path of an axis: how its weights grow from zero, variable by variable.

        Parameters
        ----------
        component : int
            The axis, counted from 0.

        Returns
        -------
        LarsPath
            Its path, with ``coefs`` in the units of ``components_``. With ``refit="none"`` the last knot is the axis.
            Other refits compute the weights of the axis again.
        """
        model = self._model_of_fit()
        k = whole_number("component", component)
        if not 0 <= k < model.path_count():
            raise IndexError(f"component {k} was asked for, but there are 0 to {model.path_count() - 1}")
        return LarsPath._of(model.path(k), names=getattr(self, "feature_names_in_", None))

    def save(self, file: str | PathLike[str]) -> None:
        """Write the model to a file, which the command ``menet`` can read as well.

        The file is written whole or not at all.

        Parameters
        ----------
        file : path-like
            Path of the file. The usual ending is ``.safetensors``. "-", which is standard output for the command, is
            refused here.
        """
        self._model_of_fit().save(file_path(file))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: plain arrays, which skops reads as well."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = np.frombuffer(state["_model"].to_bytes(), dtype=np.uint8)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what a pickle kept, and build the model of the core again."""
        state = dict(state)
        if isinstance(state.get("_model"), np.ndarray):
            state["_model"] = _core.Model.from_bytes(state["_model"].tobytes())
        super().__setstate__(state)

    def _read(self, X: Samples) -> tuple[Any, Any, Any]:
        """Return the form of the model that these samples are for, the samples, and the names of their variables.

        Of a frame only the variables of the panel are read, which are found by their names.
        """
        given = frame_names(X)
        if given is None or not hasattr(self, "feature_names_in_"):
            return super()._read(X)
        model, wanted = self._form(given)
        self._refuse_lacking(given, wanted)
        return model, self._checked_form(model, frame_part(X, wanted)), wanted

    def _refuse_lacking(self, given: Iterable[str], wanted: NDArray[Any]) -> None:
        """Refuse samples without variables that are wanted, and name all of these."""
        known = set(given)
        if lacking := [name for name in wanted if name not in known]:
            raise ValueError(
                f"X lacks {len(lacking)} of the {len(wanted)} variables that this {type(self).__name__} needs: "
                f"{', '.join(map(repr, lacking))}"
            )

    def _form(self, given: Iterable[str]) -> tuple[_core.Model, NDArray[Any]]:
        """Return the form of the model for samples that have these variables, and the names of those that it needs.

        It needs its panel. Only neighbours that fill missing values are measured on all variables, if all are there.
        """
        model, fitted = self._model_of_fit(), self.feature_names_in_
        panel = model.panel()
        if not panel or (model.fills_from_neighbors() and set(given).issuperset(fitted)):
            return model, fitted
        return model.on_panel(), fitted[panel]

    def _checked_form(self, model: _core.Model, X: Any) -> Any:
        """Return samples for a form of the model as the core reads them."""
        X = numbers("X", X, accept_sparse=SPARSE, dtype=DTYPES, estimator=self)
        values = X.data if sparse.issparse(X) else X
        if model is not self._model and model.fills_from_neighbors() and np.isnan(values).any():
            warn_user(
                f"missing values are filled from training samples that are near on the panel ({X.shape[1]} variables), "
                "since X lacks other variables of the fit",
                UserWarning,
            )
        return X

    def _model_of_fit(self) -> _core.Model:
        check_is_fitted(self)
        return self._model

    def _set_model(self, model: _core.Model) -> None:
        self._model = model
        self._set_axes(model.mean(), model.components())
        self.kkt_violation_ = model.kkt()
        self.levels_ = model.levels()
        self.selected_groups_ = model.selected_groups()
        facts = json.loads(model.facts())
        self.refit_ = facts["refit"]
        self.rule_ = facts["rule"]
        self.neighbor_recall_ = facts["neighbor_recall"]
        self.definiteness_ = facts["definiteness"]
        self.regime_ = facts["regime"]
        self.cg_residual_ = facts["cg_residual"]
        self.seconds_ = dict(facts["seconds"])
        learned = json.loads(model.preparation()) or {
            "missing": [0.0] * len(self.mean_),
            "dropped": [],
            "batches": None,
        }
        self.missing_fraction_ = np.array(learned["missing"], dtype=np.float64)
        self._dropped = np.array(learned["dropped"], dtype=np.int64)
        self.batches_ = learned["batches"]
        self._name_variables()

    def _name_variables(self) -> None:
        names = getattr(self, "feature_names_in_", None)
        model = self._model
        lists = [np.array(chosen, dtype=np.int64) for chosen in (*model.selected(), model.panel(), model.always())]
        *self.selected_features_, self.panel_, self.always_ = (
            chosen if names is None else names[chosen] for chosen in lists
        )
        self.dropped_variables_ = self._dropped if names is None else names[self._dropped]


def _objects(values: list[Any]) -> NDArray[Any]:
    """Return an array of objects, one per value."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
