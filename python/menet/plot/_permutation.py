"""What permuted labels reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from menet._core import histogram
from menet.plot._looks import COLOURS, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def permutation(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the balanced accuracies that permuted labels reach, and that of the true labels.

    The title has the p-value with the 95 % interval of its own uncertainty.

    Parameters
    ----------
    result : Validation
        The result of a validation with a permutation test.
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
    >>> p = SimpleNamespace(mean=0.25, low=0.01, high=0.6)
    >>> test = SimpleNamespace(observed=0.8, permuted=[0.5, 0.4, 0.6], p_value=p)
    >>> plot.permutation(SimpleNamespace(permutation=test)).get_title()
    'p = 0.25 (0.01 to 0.6)'
    """
    if not hasattr(result, "permutation"):
        raise TypeError(f"`result` is a {type(result).__name__}, but must be the result of a validation")
    test = result.permutation
    if test is None or not len(test.permuted):
        raise ValueError("the validation was made without a permutation test")
    permuted = 100 * np.asarray(test.permuted, dtype=np.float64)
    # What could not be learned from has no value.
    permuted = permuted[np.isfinite(permuted)]
    observed = 100 * float(test.observed)
    edges, counts = np.transpose(histogram(permuted.tolist(), [observed]))

    ax = new_axes(ax, figsize=(6, 3.8))
    label = f"permuted labels ({len(permuted):,})"
    ax.bar(edges[:-1], counts[:-1], np.diff(edges), align="edge", color="#b8b8b8", label=label)
    ax.axvline(observed, color=COLOURS[1], linewidth=2, label=f"true labels: {observed:.1f} %")
    p = test.p_value
    ax.set_title(f"p = {p.mean:.2g} ({p.low:.2g} to {p.high:.2g})")
    ax.set_xlabel("balanced accuracy (%)")
    ax.set_ylabel("permutations")
    ax.legend(loc="best", fontsize="small")
    return ax
