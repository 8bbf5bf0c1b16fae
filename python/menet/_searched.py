"""The search of `ManifoldElasticNetCV`: settings to try, their scores, and the fit of the best one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.validation import check_is_fitted

from menet import _choices, _core
from menet._anndata import Annotated
from menet._batches import batch_names
from menet._copies import splits_of
from menet._decisions import Decider
from menet._input import COPIES_IN_A_FIT, sparse_or_dense
from menet._men import ManifoldElasticNet
from menet._running import warn_user
from menet._search import SEARCHED, SIZES, core_score, folds_of, in_python, is_list, progress, results, values_to_try
from menet._settings import NOT_OF_THE_CORE, core_name, flag, settings, whole_number
from menet._weights import Counting, Weighted


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
    n_nonzeros: Any
    groups: Any
    group_axes: str
    cv: Any
    scoring: _choices.Scoring
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
        plain, bases, tried = self._to_try(X.shape[1], len(classes))
        listed = [name for name in SEARCHED if is_list(name, getattr(self, name)) or len(tried[name]) > 1]
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
            {core_name(name): values for name, values in tried.items()},
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
        params = [in_python(one, listed) for one in found]
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
        chosen = in_python(found[best], list(SEARCHED))
        self._take(ManifoldElasticNet(**{**plain, **chosen}), X, codes, classes, threads, counting)

    def _to_try(
        self, variables: int, classes: int
    ) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, list[Any]]]:
        """Return the parameters that are not searched, the base settings, and the values to try of every parameter."""
        if self.groups is not None or self.group_axes != "each":
            raise ValueError("a search over settings does not take groups of variables: use ManifoldElasticNet")
        tried = {name: values_to_try(name, getattr(self, name)) for name in SEARCHED}
        for priors in tried["priors"]:
            if not isinstance(priors, str) and len(priors) != classes:
                raise ValueError(f"`priors` has {len(priors)} numbers, but there are {classes} classes")
        sized = any(size is not None for size in tried["panel_size"])
        if self.n_nonzeros is None and not sized:
            tried["n_nonzeros"] = list(dict.fromkeys(min(size, variables) for size in SIZES))
        own = set(inspect.signature(ManifoldElasticNet).parameters)
        plain = {name: value for name, value in self.get_params(deep=False).items() if name in own - set(SEARCHED)}
        # Limits per path together with limits on the panel: one search per limit per path.
        limits = tried["n_nonzeros"] if sized else [None]
        bases = [settings(ManifoldElasticNet(**plain, n_nonzeros=limit), without=NOT_OF_THE_CORE) for limit in limits]
        return plain, bases, tried

    def _take(
        self,
        best: ManifoldElasticNet,
        X: Any,
        codes: NDArray[np.int64],
        classes: list[str],
        threads: int,
        counting: Counting,
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
