"""What a validation found."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from menet._input import Floats

if TYPE_CHECKING:
    from menet._men import ManifoldElasticNet


class Interval(NamedTuple):
    """An estimate with its 95 % confidence interval.

    Parameters
    ----------
    mean : float
        The estimate.
    low : float
        The lower end.
    high : float
        The upper end.
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return the estimate with the ends in brackets."""
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, eq=False)
class SampleResults:
    """How every sample was classified when it was held out. Arrays are in the order of the samples."""

    # The names, or None.
    names: NDArray[Any] | None
    # The true classes.
    labels: NDArray[Any]
    # How many times a sample was held out, and how many times it was wrong then.
    tested: NDArray[np.int64]
    wrong: NDArray[np.int64]
    # How many times it was given each class, of shape (n_samples, n_classes).
    given: NDArray[np.int64]
    # The mean probability of each class, of the same shape; None without probabilities.
    probabilities: Floats | None


@dataclass(frozen=True, eq=False)
class Scores:
    """How good one method is on held-out samples. Rates are fractions from 0 to 1."""

    # The name of the method.
    name: str
    balanced_accuracy: Interval
    rate: Interval
    # None without probabilities.
    auc: Interval | None
    log_loss: Interval | None
    # By class; None for a class that was never held out.
    recall: dict[Any, Interval | None]
    # How many samples of each class (rows) were given each class (columns), over all repeats.
    confusion: NDArray[np.int64]
    # The classes, in the order of the rows and columns of `confusion`.
    classes: NDArray[Any]
    # By the name of the score: one number per repeat.
    scores: dict[str, Floats]
    samples: SampleResults
    # The positions of the samples that were wrong whenever they were held out.
    always_wrong: NDArray[np.int64]
    # How many variables the models use on average.
    n_variables: float
    # What was chosen in every fold of every repeat; empty if nothing was.
    choices: list[str]


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """The whole procedure on permuted labels."""

    # The balanced accuracy in the first repeat, with the true labels and with permuted ones.
    observed: float
    permuted: Floats
    # How many of `permuted` are as good or better.
    as_good: int
    # The p-value, and the 95 % interval of its own uncertainty.
    p_value: Interval
    # How many permutations were asked for, and whether fewer were enough.
    asked: int
    early: bool
    # How many of `permuted` could not be learned from in every fold, and decided at chance there.
    failed: int
    # How many different arrangements of the labels there are, counted up to a million.
    arrangements: int
    # Why p cannot be 0.05 or less; None if it can.
    limit: str | None


@dataclass(frozen=True, eq=False)
class SelectionStability:
    """How stable the selection is over half-samples."""

    half_samples: int
    # The panel size of `index` and `frequencies`: that of the final model. Nogueira's index there.
    size: int
    index: Interval
    # The index at every panel size.
    by_size: list[tuple[int, Interval]]
    # Position and frequency of variables, the most frequent first, without those that are never selected.
    frequencies: list[tuple[int, float]]
    # The panel size of the stable panel, and the frequencies there.
    stable_size: int
    stable_frequencies: list[tuple[int, float]]
    # From which frequency on a variable is stable, and the positions of those that are.
    threshold: float
    stable: list[int]
    # Bounds on the expected number of false selections in the stable panel, by name.
    false_selections: dict[str, float]


class SizeRow(NamedTuple):
    """How good models of one size are in the cross-validation that chose the final model."""

    variables: float
    balanced: float
    standard_error: float
    chosen: bool
    best: bool


@dataclass(frozen=True, eq=False)
class PanelEntry:
    """A variable of the panel of the final model."""

    name: str
    # Its position.
    variable: int
    # The fraction of the half-samples that select it; None without half-samples.
    frequency: float | None
    # The fraction of the folds whose model uses it.
    folds: float
    # Its place, from 1, among the variables that entered a path.
    entered: int | None
    # Its weight on every axis.
    weights: Floats
    # Its largest weight in size times its standard deviation.
    effect: float | None
    # Its mean in every class, less the mean of all samples, divided by its standard deviation.
    class_means: Floats
    # The class with the largest mean of the variable, taken by itself.
    higher_in: Any
    # The class that a larger value speaks for while all other variables stay as they are.
    cls: Any
    # Whether it is in the stable panel.
    stable: bool


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Scores):
    """What `menet.validate` found.

    Rates, recalls and frequencies are fractions from 0 to 1. An interval is an `Interval`: ``mean``, ``low`` and
    ``high``, at 95 %.

    Parameters
    ----------
    name : str
        The name of the method: "men", or the name of the estimator's class.
    balanced_accuracy : Interval
        The mean over classes of the fraction that is right.
    rate : Interval
        The fraction that is right.
    auc : Interval or None
        The area under the ROC curve, one class against the rest, mean over classes. None without probabilities.
    log_loss : Interval or None
        The mean of −log p of the true class. None without probabilities.
    recall : dict
        The fraction of every class that is right, as an interval. None for a class that was never held out.
    confusion : ndarray of shape (n_classes, n_classes)
        How many samples of each class (rows) were given each class (columns), over all repeats.
    classes : ndarray of shape (n_classes,)
        The classes.
    scores : dict of ndarray
        "balanced_accuracy", "rate", "auc", "log_loss" and "n_variables": one number per repeat.
    samples : SampleResults
        How every sample was classified when it was held out, as arrays: ``names``, ``labels``, ``tested`` and ``wrong``
        (numbers of times), ``given`` (numbers of times by class), ``probabilities`` (means by class, or None).
    always_wrong : ndarray
        The positions of the samples that were wrong whenever they were held out.
    n_variables : float
        How many variables the models of the folds use, on average.
    choices : list of str
        What was chosen in every fold of every repeat. Empty if nothing was.
    permutation : PermutationTest or None
        The permutation test: ``observed`` and ``permuted`` balanced accuracies, ``as_good`` (number of permutations
        that are as good), ``p_value`` with the interval of its own uncertainty, ``asked`` (number of permutations),
        ``early`` (whether fewer were enough), ``failed`` (number of permutations that could not be learned from in
        every fold, and decided at chance there), ``arrangements`` (number of different arrangements of the labels,
        counted up to a million), ``limit`` (why p cannot be 0.05 or less, or None). None if there was no test.
    stability : SelectionStability or None
        The stability of the selection: ``half_samples``, ``size``, ``index`` (Nogueira's, at this panel size),
        ``by_size``, ``frequencies``, ``threshold``, ``stable`` (positions), ``stable_size``, ``stable_frequencies``,
        ``false_selections``. None without half-samples and for other estimators.
    sizes : list of SizeRow
        How good models of every size are in the cross-validation that chose the final model: ``variables``,
        ``balanced``, ``standard_error``, ``chosen``, ``best``.
    panel : list of PanelEntry
        The variables of the final model, the most important first: ``name``, ``variable`` (position), ``frequency``,
        ``folds``, ``entered``, ``weights``, ``effect``, ``class_means`` (by class, less the mean of all samples,
        in standard deviations), ``higher_in`` (the class with the largest mean), ``cls`` (the class that a larger value
        speaks for while all other variables stay as they are), ``stable``.
    comparison : dict
        The scores of the other methods by name: objects with the same attributes, from ``balanced_accuracy`` to
        ``choices``.
    estimator_ : ManifoldElasticNet or None
        The final model, chosen and fitted on all samples. None for other estimators.
    feature_names : ndarray of shape (n_features,) or None
        Names of the variables, if the samples had names.
    words : list of str
        What was done and found, in paragraphs for a methods section.
    seconds : float
        Seconds that it took.

    See Also
    --------
    menet.validate : Makes it.
    """

    permutation: PermutationTest | None
    stability: SelectionStability | None
    sizes: list[SizeRow]
    panel: list[PanelEntry]
    comparison: dict[str, Scores]
    estimator_: ManifoldElasticNet | None
    feature_names: NDArray[Any] | None
    words: list[str]
    seconds: float

    @property
    def p_value(self) -> float | None:
        """The p-value of the permutation test; None if there was none."""
        return None if self.permutation is None else self.permutation.p_value.mean

    def to_frame(self, table: Literal["summary", "scores", "samples", "panel"] = "summary") -> Any:
        """Return a part of the results as a pandas frame.

        Parameters
        ----------
        table : {"summary", "scores", "samples", "panel"}, default="summary"
            "summary": one row per method with its scores and their intervals. "scores": one row per method and repeat.
            "samples": one row per sample. "panel": one row per variable of the final model.

        Returns
        -------
        pandas.DataFrame
            The table.
        """
        import pandas as pd

        tables = {"summary": self._summary, "scores": self._repeats, "samples": self._samples, "panel": self._panel}
        if table not in tables:
            raise ValueError(f"`table` is {table!r}, but must be one of {', '.join(tables)}")
        return pd.DataFrame(tables[table]())

    def _methods(self) -> list[Scores]:
        return [self, *self.comparison.values()]

    def _summary(self) -> list[dict[str, Any]]:
        rows = []
        for method in self._methods():
            row: dict[str, Any] = {"method": method.name}
            for score in ("balanced_accuracy", "rate", "auc", "log_loss"):
                found = getattr(method, score) or Interval(np.nan, np.nan, np.nan)
                row |= {score: found.mean, f"{score}_low": found.low, f"{score}_high": found.high}
            rows.append({**row, "n_variables": method.n_variables})
        return rows

    def _repeats(self) -> list[dict[str, Any]]:
        return [
            {
                "method": method.name,
                "repeat": repeat,
                **{name: column[repeat] for name, column in method.scores.items()},
            }
            for method in self._methods()
            for repeat in range(len(method.scores["rate"]))
        ]

    def _samples(self) -> dict[str, Any]:
        samples = self.samples
        table = {} if samples.names is None else {"name": samples.names}
        table |= {"class": samples.labels, "tested": samples.tested, "wrong": samples.wrong}
        if samples.probabilities is not None:
            table |= {f"p({label})": samples.probabilities[:, k] for k, label in enumerate(self.classes.tolist())}
        return table

    def _panel(self) -> list[dict[str, Any]]:
        names = ("name", "variable", "frequency", "folds", "entered", "effect", "higher_in", "cls", "stable")
        return [
            {name.replace("cls", "class"): getattr(entry, name) for name in names}
            | {f"weight_{axis + 1}": weight for axis, weight in enumerate(entry.weights.tolist())}
            | {f"mean:{label}": mean for label, mean in zip(self.classes, entry.class_means.tolist(), strict=False)}
            for entry in self.panel
        ]

    def _chance(self) -> float:
        tested = sum(recall is not None for recall in self.recall.values())
        return 1.0 / max(tested, 1)

    def __repr__(self) -> str:
        """Return the three answers, one per line."""
        lines = [
            f"Validation of {self.name}: balanced accuracy {self.balanced_accuracy} on held-out samples; chance is "
            f"{self._chance():.3f}"
        ]
        if (test := self.permutation) is not None:
            early = ", enough for a clear answer" if test.early else ""
            limit = "" if test.limit is None else f"; {test.limit}"
            lines.append(
                f"p = {test.p_value}: {test.as_good} of {len(test.permuted)} permutations of the labels are as good"
                f"{early}{limit}"
            )
        else:
            lines.append("no permutation test")
        if (found := self.stability) is not None:
            first = ", ".join(entry.name for entry in self.panel[:5]) + (", ..." if len(self.panel) > 5 else "")
            lines.append(
                f"stability of the selection {found.index} over {found.half_samples} half-samples; {len(found.stable)} "
                f"stable; panel of {len(self.panel)}: {first}"
            )
        else:
            lines.append("no half-samples")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the scores of all methods as a table, with the other answers below it."""
        header = ("method", "balanced accuracy", "rate", "AUC", "log loss", "variables")
        rows = [
            (
                method.name,
                *(str(found or "") for found in (method.balanced_accuracy, method.rate, method.auc, method.log_loss)),
                f"{method.n_variables:.1f}",
            )
            for method in self._methods()
        ]
        head = "".join(f"<th>{escape(name)}</th>" for name in header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        answers = "".join(f"<p>{escape(line)}</p>" for line in repr(self).splitlines()[1:])
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{answers}"
