"""The search of `ManifoldElasticNetCV`: settings to try, their scores, and the fit of the best one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._anndata import Annotated
from menet._batches import batch_names
from menet._copies import splits_of
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, sparse_or_dense
from menet._men import ManifoldElasticNet
from menet._parameters import Parameters, settings
from menet._running import warn_user
from menet._search import (
    LISTS,
    SEARCHED,
    SIZES,
    Scoring,
    core_score,
    folds_of,
    lists_of,
    parameter_of,
    progress,
    results,
    value_of,
)
from menet._settings import flag, whole_number
from menet._weights import SampleWeighting, Weighted


class Searched(Annotated, Weighted, Decider):
    """A fit that tries settings in folds and keeps the best.

    A subclass defines the parameters. Its ``fit`` sets the groups of samples for the folds.
    """

    best_estimator_: ManifoldElasticNet
    best_params_: dict[str, Any]
    best_index_: int
    best_score_: float
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

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        score, place, factor = core_score(self.scoring)
        choose = self._choose()
        bases, tried = self._to_try(X.shape[1], len(classes))
        listed = [name for name in SEARCHED if name in (self.param_grid or {}) or len(tried[name]) > 1]
        labelled = codes >= 0
        counting = self._counting(X, codes)
        known, groups = X, self._groups
        if not labelled.all():
            known, groups = X[labelled], None if groups is None else np.asarray(groups)[labelled]
        own = codes[labelled]
        folds = folds_of(splits_of(type(self).__name__, self.cv, known, self.classes_[own], own, groups, threads))
        names = getattr(self, "feature_names_in_", None)
        found, scores, variables, failed, best = _core.search(
            bases,
            of_core(tried),
            sparse_or_dense(X, copies=COPIES_IN_A_FIT * min(threads, len(folds))),
            codes,
            counting,
            folds,
            score,
            choose,
            None if names is None else names.tolist(),
            progress() if whole_number("verbose", self.verbose) > 0 else None,
            threads,
            batch_names(self._batch, X.shape[0]),
        )
        settled = [json.loads(one) for one in found]
        params = [{name: value_of(name, one) for name in listed} for one in settled]
        if reasons := [why for why in failed if why is not None]:
            warn_user(
                f"{len(reasons)} of {len(params)} settings could not be fitted in every fold and are left out, the "
                f"first because {reasons[0]}",
                FitFailedWarning,
            )
        if best is None:
            raise ValueError("no setting could be scored in every fold: use other folds (`cv`) or another `scoring`")
        self.n_splits_ = len(folds)
        self.cv_results_ = results(params, factor * scores[:, :, place], variables)
        self.best_index_ = best
        self.best_params_ = params[best]
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        # Stages that no search touches stay as they were given.
        own = clone(self).get_params(deep=False)
        chosen = ManifoldElasticNet(**{name: own[name] for name in Parameters._get_param_names()})
        touched = {parameter_of(name).stage or parameter_of(name).name for name in SEARCHED}
        chosen._take_params({name: value for name, value in settled[best].items() if name in touched})
        self._take(chosen, X, codes, classes, threads, counting)

    def _to_try(self, variables: int, classes: int) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
        """Return the base settings, and the values to try of every parameter that can be searched."""
        own, grid = settings(self), lists_of(self.param_grid)
        penalty = own["penalty"]
        if penalty.get("feature_groups") is not None or penalty.get("group_axes", "each") != "each":
            raise ValueError("a search over settings does not take groups of variables: use ManifoldElasticNet")
        tried = {name: grid.get(name, [value_of(name, own)]) for name in SEARCHED}
        tried |= {name: values for name, values in LISTS.items() if tried[name] == [None] and name not in grid}
        for priors in tried["rule__priors"]:
            if not isinstance(priors, str) and len(priors) != classes:
                raise ValueError(f"`rule.priors` has {len(priors)} numbers, but there are {classes} classes")
        sized = any(size is not None for size in tried["panel_size"])
        if tried["n_nonzeros"] == [None] and "n_nonzeros" not in grid and not sized:
            tried["n_nonzeros"] = list(dict.fromkeys(min(size, variables) for size in SIZES))
        for name in SEARCHED:
            parameter = parameter_of(name)
            (own[parameter.stage] if parameter.stage else own).pop(parameter.name, None)
        # Limits per path together with limits on the panel: one search per limit per path.
        limits = tried["n_nonzeros"] if sized else [None]
        return [own if limit is None else {**own, "nonzeros": limit} for limit in limits], tried

    def _take(
        self,
        best: ManifoldElasticNet,
        X: Any,
        codes: NDArray[np.int64],
        classes: list[str],
        threads: int,
        counting: SampleWeighting,
    ) -> None:
        """Fit the best estimator to samples that are already validated, and take over its fitted attributes."""
        for name in ("classes_", "n_features_in_", "feature_names_in_", "layer_"):
            if hasattr(self, name):
                setattr(best, name, getattr(self, name))
        best._batch = self._batch
        best._fit_core(X, codes, classes, threads, counting=counting)
        del best._batch
        self.best_estimator_ = best
        for name, value in vars(best).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)


def of_core(tried: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the values to try under the core's names."""
    return {SEARCHED[name]: values for name, values in tried.items()}
