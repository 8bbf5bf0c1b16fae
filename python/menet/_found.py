"""From what the engine returns to the classes that users see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from menet._validation import (
    Interval,
    PanelEntry,
    PermutationTest,
    SampleResults,
    Scores,
    SelectionStability,
    SizeRow,
    Validation,
)

if TYPE_CHECKING:
    from menet._men import ManifoldElasticNet

# As in `StabilitySelection`.
BOUNDS = ("meinshausen_buhlmann", "unimodal", "r_concave")


def validation_of(
    found: dict[str, Any],
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    samples: list[str] | None,
    names: NDArray[Any] | None,
    fitted: ManifoldElasticNet | None,
) -> Validation:
    """Return the results with the user's labels."""
    first, *others = (_scores(method, classes, codes, samples) for method in found["methods"])
    labels = classes.tolist()
    return Validation(
        **first,
        permutation=None if found["permutation"] is None else _permutation(found["permutation"]),
        stability=None if found["stability"] is None else _stability(found["stability"]),
        sizes=[SizeRow(*row) for row in found["sizes"]],
        panel=[_entry(entry, labels) for entry in found["panel"]],
        comparison={other["name"]: Scores(**other) for other in others},
        estimator_=fitted,
        feature_names=names,
        words=found["words"],
        seconds=found["seconds"],
    )


def _interval(ends: tuple[float, float, float] | None) -> Interval | None:
    return None if ends is None else Interval(*ends)


def _scores(
    method: dict[str, Any], classes: NDArray[Any], codes: NDArray[np.int64], names: list[str] | None
) -> dict[str, Any]:
    columns = zip(
        ("balanced_accuracy", "rate", "auc", "log_loss", "n_variables"),
        zip(*method["repeats"], strict=True),
        strict=True,
    )
    tested, wrong = (np.array(method[name], dtype=np.int64) for name in ("tested", "wrong"))
    probable = method["auc"] is not None or any(method["probabilities"])
    samples = SampleResults(
        names=None if names is None else np.array(names, dtype=object),
        labels=classes[codes],
        tested=tested,
        wrong=wrong,
        given=np.array(method["given"], dtype=np.int64),
        probabilities=_matrix(method["probabilities"], len(classes)) if probable else None,
    )
    return {
        "name": method["name"],
        "balanced_accuracy": Interval(*method["balanced"]),
        "rate": Interval(*method["rate"]),
        "auc": _interval(method["auc"]),
        "log_loss": _interval(method["log_loss"]),
        "recall": dict(zip(classes.tolist(), map(_interval, method["recalls"]), strict=True)),
        "confusion": np.array(method["confusion"], dtype=np.int64),
        "classes": classes,
        "scores": {name: np.array(column) for name, column in columns if None not in column},
        "samples": samples,
        "always_wrong": np.flatnonzero((tested > 0) & (wrong == tested)),
        "n_variables": method["variables"],
        "choices": method["choices"],
    }


def _matrix(rows: list[list[float]], width: int) -> NDArray[np.float64]:
    """Return rows as a matrix, with NaN for a sample that was never held out."""
    return np.array([row or [np.nan] * width for row in rows], dtype=np.float64)


def _permutation(found: dict[str, Any]) -> PermutationTest:
    return PermutationTest(**{**found, "permuted": np.array(found["permuted"]), "p_value": Interval(*found["p_value"])})


def _stability(found: dict[str, Any]) -> SelectionStability:
    return SelectionStability(
        **{
            **found,
            "index": Interval(*found["index"]),
            "by_size": [(size, Interval(*index)) for size, index in found["by_size"]],
            "false_selections": dict(zip(BOUNDS, found["false_selections"], strict=True)),
        }
    )


def _entry(found: dict[str, Any], labels: list[Any]) -> PanelEntry:
    other = ("class", "higher_in", "class_means", "weights")
    plain = {name: value for name, value in found.items() if name not in other}
    cls, higher_in = (None if found[name] is None else labels[found[name]] for name in ("class", "higher_in"))
    weights, means = np.array(found["weights"]), np.array(found["class_means"])
    return PanelEntry(**plain, weights=weights, class_means=means, higher_in=higher_in, cls=cls)
