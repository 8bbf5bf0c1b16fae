"""Axes as images."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from menet._input import Floats
from menet.plot._looks import new_axes, positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Negative, zero and positive weights. No common colour blindness confuses these colours.
DIVERGING = ("#004488", "#ffffff", "#b34700")

# The height of a heading, and the space between images, relative to the side of a square of the same area as an image.
HEADING, SPACE = 0.18, 0.08

# The inches of such a side, and of the widest figure. A page would shrink a wider figure, and its numbers with it.
INCHES, WIDEST = 1.2, 9.0


def bases(
    model: Any,
    shape: tuple[int, int] | None = None,
    *,
    ax: Axes | None = None,
    n_components: int = 10,
    columns: int | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw the first axes as images, numbered as in ``components_``.

    Blue pixels have negative weights, orange pixels positive weights, and white pixels are not used. Every axis is
    scaled by its own largest weight. The colour is the signed square root of the scaled weight, which keeps small
    weights visible.

    Parameters
    ----------
    model : estimator
        Any fitted estimator with ``components_``.
    shape : tuple of int, optional
        Height and width of the images; the variables are their pixels, row by row. None: square images.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.
    n_components : int, default=10
        How many axes to draw, or all if there are fewer.
    columns : int, optional
        Number of images per row. None: five, or fewer if the images are wide.
    **kwargs : dict
        Passed to ``Axes.imshow`` for every axis.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> men = ManifoldElasticNet(n_nonzeros=10).fit(X[:500], y[:500])
    >>> ax = plot.bases(men, (8, 8), n_components=6, columns=3)
    >>> len(ax.images)
    6
    """
    check_is_fitted(model, "components_")
    weights = np.asarray(model.components_, dtype=np.float64)
    height, width = _image_shape(shape, weights.shape[1])
    n = min(positive("n_components", n_components), len(weights))
    side = math.sqrt(height * width)
    heading, space = HEADING * side, SPACE * side
    across, down = width + space, height + heading + space
    if columns is None:
        columns = min(5, max(1, int(WIDEST / INCHES * side / across)))
    columns = min(positive("columns", columns), n)
    rows = -(-n // columns)
    size = np.array([columns * across, rows * down])

    ax = new_axes(ax, figsize=size * min(INCHES / side, WIDEST / size[0]))
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    ax.set_axis_off()
    ax.set(xlim=(0, size[0]), ylim=(size[1], 0), aspect="equal")
    ax.apply_aspect()
    points = heading / down * ax.get_window_extent().height / rows * 72 / ax.figure.dpi
    colours = LinearSegmentedColormap.from_list("menet", DIVERGING, N=257)  # odd, so that zero is quite white
    style = {"cmap": colours, "vmin": -1, "vmax": 1, "interpolation": "nearest", **kwargs}
    for k in range(n):
        left, top = space / 2 + k % columns * across, heading + k // columns * down
        right, bottom = left + width, top + height
        ax.imshow(_strengths(weights[k]).reshape(height, width), extent=(left, right, bottom, top), **style)
        ax.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor="#808080", linewidth=0.8))
        ax.text((left + right) / 2, top - heading / 2, str(k), ha="center", va="center", fontsize=min(9, points))
    # Every image sets its own limits.
    ax.set(xlim=(0, size[0]), ylim=(size[1], 0))
    return ax


def _image_shape(shape: tuple[int, int] | None, variables: int) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(variables)
        if side * side != variables:
            raise ValueError(f"{variables} variables make no square: give `shape`, the height and width of the images")
        return side, side
    if np.shape(shape) != (2,):
        raise ValueError(f"`shape` is {shape!r}, but must be the height and width of the images")
    height, width = (positive("shape", side) for side in shape)
    if height * width != variables:
        raise ValueError(
            f"`shape` is {height} x {width}, {height * width} pixels, but the axes have {variables} variables"
        )
    return height, width


def _strengths(weights: Floats) -> Floats:
    """Return the colour of every weight, from −1 to 1."""
    largest = np.abs(weights).max()
    strengths: Floats = np.sign(weights) * np.sqrt(np.abs(weights) / largest) if largest > 0 else weights
    return strengths
