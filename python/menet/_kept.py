"""What a fitted `ManifoldElasticNet` keeps: its model and training samples, for smaller models, files and pickles."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from menet import _core, _labels
from menet._decisions import Decider
from menet._groups import mapping
from menet._settings import count, python_name
from menet._training import Training

if TYPE_CHECKING:
    from typing_extensions import Self


class Kept(Decider):
    """A model of the core that can be made smaller, read from a file, and pickled with its training samples.

    A subclass defines the parameters and fits the model.
    """

    _training: Training | None
    feature_graph: Any
    penalty_factors: Any
    groups: Any

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
        params = json.loads(model.params())
        if isinstance(params["feature_graph"], dict) and self.feature_graph is not None:
            # A model stores only how many edges there are.
            del params["feature_graph"]
        for name, value in params.items():
            setattr(self, python_name(name), value)
        self.penalty_factors = model.penalty_factors()
        self.groups = mapping(params["groups"])
