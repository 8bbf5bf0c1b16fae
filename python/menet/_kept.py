"""What a fitted `ManifoldElasticNet` keeps: its model and training samples, for smaller models, files and pickles."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from menet import _core, _labels
from menet._decisions import Decider
from menet._settings import count
from menet._training import Training

if TYPE_CHECKING:
    from typing_extensions import Self


class SavableEstimator(Decider):
    """A model of the core that can be made smaller, read from a file, and pickled with its training samples.

    A subclass defines the parameters and fits the model.
    """

    _training: Training | None

    def at(
        self, *, n_nonzeros: int | None = None, n_components: int | None = None, panel_size: int | None = None
    ) -> Self:
        """Return the same fit with fewer variables or fewer axes.

        Its axes and decisions are bit for bit those of a fit with these parameters. They are read off the paths of this
        fit. Where its paths do not hold them, the training samples are fitted again: with groups and the penalties
        "reweighted", "scad" and "mcp", which are solved for one size; and with a ``panel_size`` that this fit did not
        have, or a smaller `n_components` beside a ``panel_size``, if longer paths are needed.

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
            `n_components` was given, the rule is "nearest", and the samples had no weights. A pickled estimator, and
            one that prepares its samples or was fitted to samples without a label too, keeps what its paths reach: it
            refuses what it would have to fit again.
        """
        check_is_fitted(self)
        k = None if n_nonzeros is None else count("n_nonzeros", n_nonzeros)
        d = None if n_components is None else count("n_components", n_components)
        size = None if panel_size is None else count("panel_size", panel_size)
        threads = self._threads()
        training = None if self._training is None else self._training.samples(self._model.mean(), threads)
        try:
            whole = self._training is not None and self._training.whole
            model = self._model.at(k, d, size, training, whole, threads)
        except ValueError as e:
            if training is None and self.refit_["refit"] != "none" and "training samples" in str(e):
                raise ValueError(
                    f"this model comes from a file, which holds no training samples, and its refit "
                    f'"{self.refit_["refit"]}" needs them to make it smaller: fit again with the size you want, or '
                    "keep the model by pickle"
                ) from None
            if training is not None and "training samples" in str(e):
                asked = {"n_nonzeros": k, "n_components": d, "panel_size": size}
                given = ", ".join(f"`{name}`={value}" for name, value in asked.items() if value is not None)
                raise ValueError(
                    f"the paths of this fit do not hold the model with {given}, and this estimator has not kept all "
                    "that it was fitted to (a pickle, and a fit with prepared or unlabelled samples, keep what the "
                    "paths reach): fit again with the size you want"
                ) from None
            raise
        out = self._unfitted_copy()
        out._set_params_of(model)
        out._set_model(model)
        out._training = self._training
        return out

    def panel_model(self) -> Self:
        """Return the same model for samples that have the variables of the panel alone.

        Its ``n_features_in_`` is the size of the panel, so that arrays need these columns only, in the order of
        `panel_model().feature_names_in_`. It projects and decides bit for bit like this estimator. One thing differs:
        with ``Prepare(impute="knn")``, missing values are filled from training samples that are near on the panel.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator without training samples and paths: it can be kept and exported, but not made smaller.
        """
        model = self._model_of_fit().on_panel()
        out = self._unfitted_copy()
        out.n_features_in_ = len(model.mean())
        names = model.feature_names()
        out.__dict__.pop("feature_names_in_", None)
        if names is not None:
            out.feature_names_in_ = np.array(names, dtype=object)
        out._set_params_of(model)
        out._set_model(model)
        out._training = None
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
        if not path.is_fifo():
            # What Python raises for a file that cannot be opened.
            path.open("rb").close()
        model = _core.Model.load(path)
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
