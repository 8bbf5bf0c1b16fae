"""The path of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from menet._cv import ManifoldElasticNetCV
from menet._decisions import Decider
from menet._input import Floats
from menet._men import ManifoldElasticNet
from menet._paths import LarsPath
from menet._settings import count
from menet.plot._looks import line_looks, line_style, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def path(
    model: ManifoldElasticNet | ManifoldElasticNetCV | LarsPath,
    component: int = 0,
    *,
    ax: Axes | None = None,
    labels: int = 8,
    **kwargs: Any,
) -> Axes:
    """Draw the path of an axis: its weights against the level, which decreases to the right.

    A path is straight between its knots, so the scale of levels is linear; it also includes level 0. Variables that are
    zero everywhere have no line. Weights are in the units of ``components_``. Standardise variables of different scales
    to compare their weights.

    Parameters
    ----------
    model : ManifoldElasticNet, ManifoldElasticNetCV or LarsPath
        A fitted estimator, or a path itself.
    component : int, default=0
        The axis, counted from 0. A LarsPath has only one.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.
    labels : int, default=8
        Number of variables that have a colour and a name at the right margin: those with the largest weights at the end
        of the path. The others are grey.
    **kwargs : dict
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = ManifoldElasticNet.preset("paper", n_nonzeros=5).fit(X, y)
    >>> ax = plot.path(men, 1, labels=3)
    >>> print(*(text.get_text() for text in ax.texts))
    U05259_rna1_at M55150_at U82759_at
    """
    if not isinstance(model, LarsPath | Decider):
        raise TypeError(f"`model` is a {type(model).__name__}, but must be a fitted ManifoldElasticNet or a LarsPath")
    whole = model if isinstance(model, LarsPath) else model.path(component)
    levels, coefs, names = whole.lambdas, whole.coefs, whole.feature_names
    used = np.flatnonzero(coefs.any(axis=1))
    # The largest at the end first.
    order = used[np.argsort(-np.abs(coefs[used, -1]), kind="stable")]
    named = [j for j in order[: count("labels", labels)] if coefs[j, -1] != 0]

    ax = new_axes(ax, figsize=(7, 4.2))
    given = line_style(kwargs)
    ax.axhline(0, color="#808080", linewidth=0.8, zorder=1)
    looks = {j: {"color": colour, "linestyle": dash} for j, (colour, dash, _) in zip(named, line_looks(), strict=False)}
    # The largest last, above the others.
    for j in order[::-1]:
        # Start where it leaves zero: before that it would only thicken the axis.
        start = max(int(np.flatnonzero(coefs[j])[0]) - 1, 0)
        look = {"linewidth": 1.8, **looks[j]} if j in looks else {"linewidth": 0.8, "color": "#b8b8b8"}
        ax.plot(levels[start:], coefs[j, start:], **{**look, **given})
    # A path of one knot has no width.
    width = levels[0] - levels[-1] or 1.0
    ax.set_xlim(levels[-1] + 1.02 * width, levels[-1])
    ax.set_xlabel("level λ")
    ax.set_ylabel("coefficient")
    texts = [str(j) if names is None else short(str(names[j])) for j in named]
    _name_at_margin(ax, coefs[named, -1], texts, [looks[j]["color"] for j in named])
    return ax


def _name_at_margin(ax: Axes, heights: Floats, texts: list[str], colours: list[str]) -> None:
    """Write names beside the ends of lines, as near to them as possible without overlap."""
    if not texts:
        return
    low, high = ax.get_ylim()
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    # A little more than a line of text, and small enough for all names.
    size = min(8.0, points / (1.3 * len(texts)))
    step = 1.3 * size / points * (high - low)
    order = np.argsort(heights, kind="stable")
    ranks = step * np.arange(len(texts))
    # The nearest heights, by least squares, that are at least one step apart.
    spread = isotonic_regression(heights[order] - ranks) + ranks
    spread = spread.clip(low + ranks, high - ranks[::-1])
    end = ax.get_xlim()[1]
    for height, i in zip(spread, order, strict=True):
        ax.annotate(
            texts[i],
            (end, heights[i]),
            xytext=(1.05, float(height)),
            textcoords=("axes fraction", "data"),
            fontsize=size,
            color=colours[i],
            va="center",
            annotation_clip=False,
            parse_math=False,
            arrowprops={"arrowstyle": "-", "color": colours[i], "linewidth": 0.6, "relpos": (0, 0.5), "shrinkB": 0},
        )
