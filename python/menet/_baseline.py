"""What all baselines have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from menet import _core
from menet._base import Reducer
from menet._input import COPIES_IN_A_FIT, dense
from menet._settings import Parameter, choice, converted, core_name, count, described
from menet._stages import RuleMetric

if TYPE_CHECKING:
    from typing_extensions import Self


# Parameters that the core's methods do not have, and the constructor's result.
OUTSIDE = {"n_components", "n_jobs", "metric", "return"}

# By annotation.
KINDS = {"int": "whole", "float": "number", "bool": "flag", "PatchKind": "choice"}


class Baseline(Reducer):
    """A projection, and the nearest training sample in the projected space."""

    # The core's name of the method.
    _core_name: ClassVar[str]

    n_components: int | None
    metric: RuleMetric

    _model: _core.Baseline  # type: ignore[assignment]  # a baseline has no batches

    @property
    def _supervised(self) -> bool:  # type: ignore[override]
        return bool(getattr(self, "supervised", True))

    def _fit_core(self, X: Any, codes: NDArray[np.int64], classes: list[str], threads: int) -> None:
        metric = choice("metric", self.metric, described()["rule.metric"].names)
        asked = None if self.n_components is None else count("n_components", self.n_components, or_none=True)
        params = self._settings()
        samples = dense(X, copies=COPIES_IN_A_FIT)
        model = _core.Baseline.fit(self._core_name, params, samples, codes, classes, asked, metric, threads)
        self._set_model(model)
        if asked is not None and asked > self.n_components_:
            raise ValueError(
                f"`n_components` is {asked}, but {type(self).__name__} finds only {self.n_components_} axes in these "
                "data"
            )
        unsettled = model.unsettled()
        if unsettled is not None:
            self._warn(unsettled)

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that the core's method has, under its names, without those that are None."""
        # Our class: a subclass may have parameters of its own, and ours as attributes.
        ours = next(kind for kind in type(self).__mro__ if kind.__module__.startswith("menet."))
        hints = {name: hint for name, hint in vars(ours)["__init__"].__annotations__.items() if name not in OUTSIDE}
        given = {name: converted(_parameter(name, hint), getattr(self, name)) for name, hint in hints.items()}
        return {core_name(name): value for name, value in given.items() if value is not None}

    def at(self, *, n_components: int | None = None) -> Self:
        """Return the same fit with only the first axes, without fitting again.

        Parameters
        ----------
        n_components : int, optional
            How many axes to keep.

        Returns
        -------
        object
            A fitted estimator. This one does not change.
        """
        check_is_fitted(self)
        d = self.n_components_ if n_components is None else count("n_components", n_components)
        if not 1 <= d <= self.n_components_:
            allowed = f"1 to {self.n_components_}, the number that was fitted"
            raise ValueError(f"`n_components` is {d}, but must be {allowed}")
        out = self._unfitted_copy(n_components=d)
        out._set_model(self._model.first(d))
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: plain arrays, which skops reads as well."""
        state: dict[str, Any] = dict(super().__getstate__())
        model = state.pop("_model", None)
        if model is not None:
            state.update(_train=model.gallery(), _codes=model.codes(), _metric=model.metric())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what a pickle kept, and build the model of the core again."""
        state = dict(state)
        train, codes, metric = (state.pop(name, None) for name in ("_train", "_codes", "_metric"))
        super().__setstate__(state)
        if train is not None:
            self._model = _core.Baseline.from_parts(self.mean_, self.components_, train, codes, metric)

    def _set_model(self, model: _core.Baseline) -> None:
        self._model = model
        self._set_axes(model.mean(), model.components())

    def _check_classes(self) -> None:
        if not hasattr(self, "classes_"):
            raise NotFittedError(
                f"this {type(self).__name__} was fitted without `y`, or with a `y` that holds no classes, so it cannot "
                "predict"
            )


def _parameter(name: str, hint: str) -> Parameter:
    kind, _, optional = hint.partition(" | ")
    choices = described()["patch.kind"].choices if kind == "PatchKind" else ()
    return Parameter(name, KINDS[kind], bool(optional), choices)
