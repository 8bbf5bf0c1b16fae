"""The search of `ManifoldElasticNetCV`: settings to try, their scores, and the fit of the best one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.validation import check_is_fitted

from menet import _core, _labels
from menet._anndata import Annotated
from menet._batches import batch_names
from menet._copies import splits_of
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, sparse_or_dense
from menet._men import ManifoldElasticNet
from menet._parameters import Parameters, settings
from menet._running import warn_user
from menet._search import (
    Scoring,
    core_score,
    folds_of,
    lists_of,
    progress,
    results,
    searched,
    settings_of,
    space_of,
)
from menet._settings import flag, whole_number
from menet._weights import Weighted


class Searched(Annotated, Weighted, Decider):
    """A fit that tries settings in folds and keeps the best.

    A subclass defines the parameters. Its ``fit`` sets the groups of samples for the folds.
    """

    best_estimator_: ManifoldElasticNet
    best_params_: dict[str, Any]
    best_index_: int
    best_score_: float
    reason_: str
    cv_results_: dict[str, Any]
    n_splits_: int
    param_grid: Any
    cv: Any
    scoring: Scoring
    one_standard_error: bool
    most_stable: bool
    verbose: int
    _groups: ArrayLike | None
    _batch: ArrayLike | None

    @property
    def _model(self) -> _core.Model:  # type: ignore[override]
        return self.best_estimator_._model

    def at(
        self, *, n_nonzeros: int | None = None, n_components: int | None = None, panel_size: int | None = None
    ) -> ManifoldElasticNet:
        """Return the best estimator with fewer variables or fewer axes.

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
            A fitted estimator, as from :meth:`menet.ManifoldElasticNet.at`.
        """
        check_is_fitted(self)
        return self.best_estimator_.at(n_nonzeros=n_nonzeros, n_components=n_components, panel_size=panel_size)

    def panel_model(self) -> ManifoldElasticNet:
        """Return the best estimator for samples that have the variables of the panel alone.

        Returns
        -------
        ManifoldElasticNet
            A fitted estimator, as from :meth:`menet.ManifoldElasticNet.panel_model`.
        """
        check_is_fitted(self)
        return self.best_estimator_.panel_model()

    def _choose(self) -> str:
        """Return which of the settings that are good enough is chosen, by the core's name."""
        smallest = flag("one_standard_error", self.one_standard_error)
        stable = flag("most_stable", self.most_stable)
        if smallest and stable:
            raise ValueError("`one_standard_error` and `most_stable` are both True, but only one of them can be")
        return "smallest" if smallest else "most_stable" if stable else "best"

    def _options(self) -> dict[str, str]:
        """Return how settings are chosen, for the core."""
        lists = lists_of(self.param_grid)
        return {"space": space_of(lists), "score": core_score(self.scoring)[0], "choose": self._choose()}

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        _, place, factor = core_score(self.scoring)
        options = self._options()
        labelled = codes >= 0
        counting = self._counting(X, codes)
        known, groups = X, self._groups
        if not labelled.all():
            known, groups = X[labelled], None if groups is None else np.asarray(groups)[labelled]
        own = codes[labelled]
        folds = folds_of(splits_of(type(self).__name__, self.cv, known, self.classes_[own], own, groups, threads))
        names = getattr(self, "feature_names_in_", None)
        batches = batch_names(self._batch, X.shape[0])
        found, scores, variables, failed, best, reason, model = _core.search(
            settings(self),
            options,
            sparse_or_dense(X, copies=COPIES_IN_A_FIT * min(threads, len(folds))),
            codes,
            counting,
            classes,
            _labels.kind_of(self.classes_),
            folds,
            None if names is None else names.tolist(),
            progress() if whole_number("verbose", self.verbose) > 0 else None,
            threads,
            batches,
        )
        trials = [json.loads(one) for one in found]
        params = settings_of(trials, self.param_grid or ())
        if reasons := [why for why in failed if why is not None]:
            warn_user(
                f"{len(reasons)} of {len(params)} settings could not be fitted in every fold and are left out, the "
                f"first because {reasons[0]}",
                FitFailedWarning,
            )
        self.n_splits_ = len(folds)
        self.cv_results_ = results(params, factor * scores[:, :, place], variables)
        self.best_index_ = best
        self.best_params_ = params[best]
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        self.reason_ = reason
        chosen = self._chosen(trials[best], params[best])
        chosen._take_model(model, X, codes, counting, batches, threads)
        self.best_estimator_ = chosen
        for name, value in vars(chosen).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)

    def _chosen(self, trial: dict[str, Any], params: dict[str, Any]) -> ManifoldElasticNet:
        """Return an estimator with the choice. Stages of which nothing was chosen stay as they were given."""
        own = {name: clone(getattr(self, name), safe=False) for name in Parameters._get_param_names()}
        chosen = ManifoldElasticNet(**own)
        touched = {searched()[name].stage or searched()[name].name for name in params}
        chosen._take_params({name: value for name, value in trial.items() if name in touched})
        for name in ("classes_", "n_features_in_", "feature_names_in_", "layer_"):
            if hasattr(self, name):
                setattr(chosen, name, getattr(self, name))
        return chosen
