"""Which classes samples were given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from menet._core import confusion_chart
from menet.plot._looks import new_axes
from menet.plot._panel import literal, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Cells of more classes are too small for numbers.
NUMBERS = 16


def confusion(result_or_matrix: Any, *, normalize: bool = True, ax: Axes | None = None) -> Axes:
    """Draw which classes the samples of every class were given.

    Parameters
    ----------
    result_or_matrix : Validation or array-like of shape (n_classes, n_classes)
        The result of a validation, or a matrix of counts as from ``sklearn.metrics.confusion_matrix``: rows are true
        classes, columns are given classes.
    normalize : bool, default=True
        Whether to write percentages of every class. False: counts.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from menet import plot
    >>> ax = plot.confusion([[9, 1], [0, 10]])
    >>> [text.get_text() for text in ax.texts]
    ['90', '10', '100']
    """
    matrix = getattr(result_or_matrix, "confusion", result_or_matrix)
    counts = np.asarray(matrix, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise ValueError(f"the confusion matrix has shape {counts.shape}, but must be square")
    if not np.isfinite(counts).all() or counts.min() < 0:
        raise ValueError("the confusion matrix must hold counts, which are not negative")
    n = len(counts)
    names = getattr(result_or_matrix, "classes", None)
    labels = [str(place) for place in range(n)] if names is None else [visible(name, 18) for name in names]
    if len(labels) != n:
        raise ValueError(f"there are {len(labels)} classes, but the confusion matrix has {n} rows")
    cells = json.loads(confusion_chart(counts.tolist(), labels))["cells"]
    # A class that was never tested stays white.
    shares = np.zeros_like(counts)
    for cell in cells:
        shares[cell["class"], cell["given"]] = cell["share"]

    side = float(np.clip(0.62 * n, 2.4, 7))
    ax = new_axes(ax, figsize=(side + 1.4, side + 0.9))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("menet", ("#ffffff", "#00528c"))
    ax.imshow(shares, cmap=colours, vmin=0, vmax=1)
    size = "small" if n <= 10 else 6
    for cell in cells if n <= NUMBERS else ():
        text = cell["percent"] if normalize else f"{cell['count']:,.0f}"
        ink = "#ffffff" if cell["share"] > 0.5 else "#222222"
        ax.text(cell["given"], cell["class"], text, ha="center", va="center", color=ink, fontsize=size)
    # Names that are wider than a cell, at about a twelfth of an inch per letter.
    turned = max(map(len, labels)) / 12 > side / n
    ax.set_xticks(range(n), labels, fontsize=size, rotation=90 if turned else 0)
    ax.set_yticks(range(n), labels, fontsize=size)
    ax.set_xlabel("given class")
    ax.set_ylabel("true class")
    if normalize:
        ax.set_title("percent of every true class", fontsize="medium")
    literal(ax)
    return ax
