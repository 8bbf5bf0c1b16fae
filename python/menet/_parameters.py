"""The parameters that the estimators of the Manifold Elastic Net share, on their way to the core and back."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, clone

from menet import _core
from menet._groups import mapping, resolved
from menet._settings import converted, described, python_name
from menet._stage import Stage
from menet._stages import CLASSES, PatchKind, PenaltyKind, RefitKind, RuleKind, TargetKind

if TYPE_CHECKING:
    from typing_extensions import Self


class Parameters(BaseEstimator):  # type: ignore[misc]
    """The constructor, and stages that may be given as an object, by the name of a kind, or not at all."""

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_nonzeros: int | None = None,
        panel_size: int | None = None,
        ridge: float | None = None,
        pca_rank: int | None = None,
        prepare: Stage | None = None,
        patch: PatchKind | Stage | None = "dla",
        manifold: Stage | None = None,
        target: TargetKind | Stage | None = "whitened",
        penalty: PenaltyKind | Stage | None = "l1",
        refit: RefitKind | Stage | None = None,
        rule: RuleKind | Stage | None = None,
        class_weight: str | dict[Any, float] | None = None,
        unlabelled: Any = None,
        compute: Stage | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
        self.panel_size = panel_size
        self.ridge = ridge
        self.pca_rank = pca_rank
        self.prepare = prepare
        self.patch = patch
        self.manifold = manifold
        self.target = target
        self.penalty = penalty
        self.refit = refit
        self.rule = rule
        self.class_weight = class_weight
        self.unlabelled = unlabelled
        self.compute = compute
        self.n_jobs = n_jobs

    @classmethod
    def preset(cls, name: str, **params: Any) -> Self:
        """Return an estimator with the values of a preset.

        Parameters
        ----------
        name : {"default", "paper", "stable"}
            "default": what was best on faces and genes: axes refitted on the panel, and a rule to match. "stable": a
            larger ridge, for few samples of many variables: correlated variables are then selected together, and other
            samples select more of the same ones (``ridge=10.0``). "paper": the paper's weights and rule: the axes as
            their paths leave them, and the nearest neighbour (``ridge=0.03``, ``refit="none"``, ``rule="nearest"``,
            ``rule__metric="euclidean"``).
        **params : object
            Other parameters, as for `set_params`. They go first.

        Returns
        -------
        object
            The estimator.
        """
        presets = json.loads(_core.presets())
        if name not in presets:
            raise ValueError(f"`name` is {name!r}, but must be one of {', '.join(presets)}")
        made: Self = cls()
        made._take_params(presets[name])
        return made.set_params(**params)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and parameters of stages as in ``penalty__gamma=2.0``.

        A stage that goes by the name of its kind, or is None, becomes an object first. Objects that were given do not
        change: the estimator gets a copy.

        Parameters
        ----------
        **params : object
            The parameters.

        Returns
        -------
        object
            The estimator itself.
        """
        for name in {name.split("__")[0] for name in params if "__" in name} & set(CLASSES):
            params[name] = clone(stage_of(name, params.get(name, getattr(self, name))))
        changed: Self = super().set_params(**params)
        return changed

    def _take_params(self, params: dict[str, Any]) -> None:
        """Take over parameters of the core."""
        for name, value in params.items():
            setattr(self, python_name(name), shortest(name, value) if name in CLASSES else value)

    def _set_params_of(self, model: _core.Model) -> None:
        """Take over the parameters that a model was fitted with. Ours may have changed since."""
        params = json.loads(model.params())
        penalty, graph = params["penalty"], getattr(self.penalty, "feature_graph", None)
        penalty["factors"] = model.penalty_factors()
        penalty["feature_groups"] = mapping(penalty["feature_groups"])
        if isinstance(penalty["feature_graph"], dict) and graph is not None:
            # A model stores only how many edges there are.
            penalty["feature_graph"] = graph
        self._take_params(params)


def with_shared(init: Callable[..., None]) -> Callable[..., None]:
    """Let the signature of a constructor name the shared parameters, which it takes as ``**params``, before its own."""
    shared = inspect.signature(Parameters.__init__).parameters
    given = inspect.signature(init).parameters.items()
    own = [one for name, one in given if name not in shared and one.kind is one.KEYWORD_ONLY]
    init.__signature__ = inspect.Signature([*shared.values(), *own])  # type: ignore[attr-defined]
    return init


def stage_of(name: str, value: Any) -> Stage:
    """Return the object that a parameter stands for: itself, one by the name of its kind, or that of None."""
    classes, kind = CLASSES[name], described().get(f"{name}.kind")
    if value is None:
        return classes[None]()
    if isinstance(value, Stage) and value._stage == name:
        return value
    names = [] if kind is None else kind.names
    if isinstance(value, str) and value in names:
        return classes[value]() if value in classes else classes[None](kind=value)
    objects = dict.fromkeys(f"{known.__name__}()" for known in classes.values())
    error = ValueError if isinstance(value, str) and names else TypeError
    raise error(f"`{name}` is {value!r}, but must be one of {', '.join(['None', *names, *objects])}")


def shortest(name: str, table: dict[str, Any]) -> Any:
    """Return what stands for a table of the core: None or the name of a kind if that says it all, else an object."""
    kind, classes = table.get("kind"), CLASSES[name]
    known = classes.get(kind, classes[None])
    own = set(known._get_param_names())
    stage = known(**{name: value for name, value in table.items() if name in own})
    return kind if stage == stage_of(name, kind) else stage


def settings(estimator: Parameters) -> dict[str, Any]:
    """Return the parameters as tables of the core, without those that are None."""
    outside = [one for one in described().values() if not one.stage]
    found = _without_none({one.name: converted(one, getattr(estimator, python_name(one.name))) for one in outside})
    found.update({name: table_of(name, getattr(estimator, name)) for name in CLASSES})
    if (groups := found["penalty"].get("feature_groups")) is not None:
        known = (getattr(estimator, name, None) for name in ("feature_names_in_", "n_features_in_"))
        found["penalty"]["feature_groups"] = resolved("penalty.feature_groups", groups, *known)
    return found


def table_of(name: str, value: Any) -> dict[str, Any]:
    """Return a stage as a table of the core, without parameters that are None."""
    if value is None:
        return {}
    stage = stage_of(name, value)
    given = stage.get_params(deep=False)
    table = {own: converted(described()[f"{name}.{own}"], one) for own, one in given.items()}
    return _without_none({"kind": stage._kind} | table)


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value is not None}
