"""How often half-samples select variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from menet.plot._looks import COLOURS, new_axes, positive
from menet.plot._panel import literal, variable_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def stability(result_or_selection: Any, *, top: int = 30, ax: Axes | None = None) -> Axes:
    """Draw how often half-samples select a variable, as bars, with the threshold of the stable panel.

    Variables of the stable panel are blue, the others grey.

    Parameters
    ----------
    result_or_selection : StabilitySelection or Validation
        A fitted selection, or the result of a validation with half-samples.
    top : int, default=30
        How many variables to draw at most, the most frequent first.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from menet import plot
    >>> found = SimpleNamespace(frequencies=[(2, 0.9), (0, 0.4)], threshold=0.6, size=1, index=None)
    >>> ax = plot.stability(SimpleNamespace(stability=found, feature_names=["a", "b", "c"]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['c', 'a']
    """
    given = result_or_selection
    most = positive("top", top)
    if hasattr(given, "threshold"):
        check_is_fitted(given, "frequencies_")
        frequencies = np.asarray(given.frequencies_, dtype=np.float64)
        pairs = [(j, float(frequencies[j])) for j in np.argsort(-frequencies, kind="stable") if frequencies[j] > 0]
        names, threshold = getattr(given, "feature_names_in_", None), float(given.threshold)
        stable = {int(j) for j in given.stable_}
        size = getattr(given, "panel_size_", None)
    elif hasattr(given, "stability"):
        found = given.stability
        if found is None:
            raise ValueError("the validation was made without half-samples, so there are no frequencies to draw")
        # The threshold is about the panels that the stable panel was chosen at.
        chosen = getattr(found, "stable_frequencies", None) or found.frequencies
        pairs = [(int(j), float(frequency)) for j, frequency in chosen]
        names, threshold = getattr(given, "feature_names", None), float(found.threshold)
        known = getattr(found, "stable", None)
        stable = {j for j, frequency in pairs if frequency >= threshold} if known is None else {int(j) for j in known}
        size = getattr(found, "stable_size", None) or found.size
    else:
        raise TypeError(
            f"`result_or_selection` is a {type(given).__name__}, but must be a fitted StabilitySelection or the result "
            "of a validation"
        )
    if not pairs:
        raise ValueError("no half-sample selects a variable, so there is nothing to draw")
    shown = pairs[:most]

    ax = new_axes(ax, figsize=(5.6, 1.2 + 0.19 * max(len(shown), 4)))
    colours = [COLOURS[0] if j in stable else "#b8b8b8" for j, _ in shown]
    ax.barh(range(len(shown)), [frequency for _, frequency in shown], color=colours, height=0.75)
    label = f"threshold {threshold:.0%}".replace("%", " %")
    ax.axvline(threshold, color="#000000", linewidth=1.2, label=label)
    ax.set_yticks(range(len(shown)), [variable_name(names, j) for j, _ in shown], fontsize="small")
    ax.set(xlim=(0, 1), ylim=(len(shown) - 0.4, -0.6))
    panels = "" if size is None else f", panels of {size}"
    ax.set_xlabel(f"share of half-samples that select the variable{panels}")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(axis="x", color="#e0e0e0", linewidth=0.6)
    ax.set_axisbelow(True)
    literal(ax)
    return ax
