"""The panel against the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from menet._core import heatmap_chart
from menet._input import Floats, Samples
from menet.plot._bases import DIVERGING
from menet.plot._looks import new_axes
from menet.plot._panel import class_look, codes_of, columns_of, fitted, literal, variable_name, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# How many variables are drawn.
VARIABLES = 60

# With more classes, samples are ordered inside their classes, which share one row of marks.
MIXED = 12

# The standard deviations at which the colours end.
ENDS = 3.0


def heatmap(model: Any, X: Samples, y: ArrayLike, *, batch: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the variables of the panel against the samples, standardized, similar ones side by side.

    Variables and samples are ordered by hierarchical clustering with average linkage. The marks above show the class
    of every sample. With more than 12 classes, the samples are ordered inside their classes. At most 60 variables, the
    most important ones, are drawn, and about 400 samples, the same share of every class.

    Parameters
    ----------
    model : ManifoldElasticNet
        A fitted model.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their classes.
    batch : array-like of shape (n_samples,), optional
        The batch of every sample, if the model was fitted with batches.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure. The marks of the classes are on Axes inside it.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    >>> ax = plot.heatmap(men, X, y)
    >>> ax.images[0].get_array().shape == (len(men.panel_), 38)
    True
    """
    men = fitted(model)
    positions = np.array([row[0] for row in men._model_of_fit().panel_table()[:VARIABLES]], dtype=np.int64)
    if not len(positions):
        raise ValueError("the model uses no variables, so there is nothing to draw")
    values = columns_of(men, X, batch, positions)
    classes, codes = codes_of(y, len(values))
    names = getattr(men, "feature_names_in_", None)
    rows, samples, standardized = heatmap_chart(np.ascontiguousarray(values), codes.tolist(), len(classes))

    ax = new_axes(ax, figsize=(7.5, 1.6 + 0.16 * max(len(rows), 8) + 0.1 * min(len(classes), MIXED)))
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    colours = LinearSegmentedColormap.from_list("menet", DIVERGING, N=257)
    span: dict[str, Any] = {"vmin": -ENDS, "vmax": ENDS, "aspect": "auto", "interpolation": "nearest"}
    image = ax.imshow(np.array(standardized), cmap=colours, **span)
    ax.set_yticks(range(len(rows)), [variable_name(names, positions[k]) for k in rows], fontsize=7)
    ax.set_xticks([])
    ax.set_xlabel("samples" if len(samples) == len(codes) else f"{len(samples):,} of {len(codes):,} samples")
    marks = _marks(codes[samples], len(classes), [to_rgb(class_look(place)[0]) for place in range(len(classes))])
    room = ax.inset_axes((0.0, 1.012, 1.0, 0.05 * min(len(marks), 6)))
    room.imshow(marks, aspect="auto", interpolation="nearest")
    room.set_xticks([])
    room.set_yticks([])
    if len(classes) <= MIXED:
        room.set_yticks(range(len(classes)), [visible(name) for name in classes], fontsize=7)
    literal(room)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, pad=0.02)
    bar.set_label("standard deviations from the mean", fontsize="small")
    literal(ax)
    return ax


def _marks(codes: NDArray[np.int64], classes: int, colours: list[tuple[float, float, float]]) -> Floats:
    """Return the marks above: one row per class, or one row for many classes."""
    colour = np.array(colours)[codes]
    if classes > MIXED:
        return colour[None]
    own = np.arange(classes)[:, None] == codes[None]
    return np.where(own[..., None], colour[None], 0.96)
