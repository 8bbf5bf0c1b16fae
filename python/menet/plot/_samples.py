"""Samples on the axes of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from menet._decisions import Decider
from menet._input import Floats, Samples
from menet._settings import whole_number
from menet.plot._looks import new_axes
from menet.plot._panel import class_look, codes_of, literal, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A sample of a normal class lies in its ellipse with this probability.
INSIDE = 0.95

# A legend of more classes is longer than the figure; names at the centres replace it.
LEGEND = 14

# The points of the plane, per side, at which regions are computed, and how many numbers they may take at once.
GRID, BATCH = 120, 4_000_000


def samples(
    model: Any,
    X: Samples,
    y: ArrayLike,
    *,
    axes: tuple[int, ...] = (0, 1),
    held_out: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ellipses: bool = True,
    regions: bool = False,
    batch: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw samples on two axes of a model, coloured by class.

    More than 14 classes have their names at the medians of their samples instead of a legend. With a model of one
    axis, or one number in `axes`, the samples lie along that axis, one line per class.

    Parameters
    ----------
    model : estimator
        Any fitted estimator with ``transform``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their classes.
    axes : tuple of int, default=(0, 1)
        The axes to draw, counted from 0: one or two.
    held_out : array-like, optional
        The samples that the model has not seen: a mask or their positions. They are drawn in full colour, the others
        pale. None: all in full colour.
    names : sequence of str, optional
        The names of the samples, to write beside them.
    ellipses : bool, default=True
        Whether to draw the ellipse of every class of three samples or more that holds 95 % of a normal distribution
        with the mean and covariance of these samples. Held-out samples do not count if there are others.
    regions : bool, default=False
        Whether to colour the plane by the predicted class. The coordinates on other axes are those of the mean of the
        training samples. Needs a model of menet with two axes to draw.
    batch : array-like of shape (n_samples,), optional
        The batch of every sample, if the model was fitted with batches.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True)
    >>> men = ManifoldElasticNet(n_nonzeros=5).fit(X[::2], y[::2])
    >>> ax = plot.samples(men, X, y, held_out=range(1, 38, 2))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ALL-B', 'ALL-T', 'AML', 'held out: full colour']
    """
    check_is_fitted(model)
    if not hasattr(model, "transform"):
        raise TypeError(f"`model` is a {type(model).__name__}, which has no transform")
    batches: dict[str, Any] = {} if batch is None else {"batch": batch}
    z = np.asarray(model.transform(X, **batches), dtype=np.float64)
    classes, codes = codes_of(y, len(z))
    shown = _chosen_axes(axes, z.shape[1])
    held = _mask(held_out, len(z))
    if names is not None and len(names) != len(z):
        raise ValueError(f"`names` has {len(names)} names, but there are {len(z)} samples")
    if regions and (len(shown) < 2 or not hasattr(model, "components_") or not hasattr(model, "predict")):
        raise ValueError("`regions` needs a model with `components_` and `predict`, and two axes to draw")

    ax = new_axes(ax, figsize=(6, 4.8))
    if len(shown) == 2:
        points = z[:, shown]
    else:
        # The first class at the top, and samples of a class a little apart.
        apart = (np.arange(1, len(z) + 1) * (math.sqrt(5) - 1) / 2) % 1 * 0.5 - 0.25
        points = np.column_stack([z[:, shown[0]], len(classes) - 1 - codes + apart])
    full = np.ones(len(z), dtype=bool) if held is None else held
    for place, name in enumerate(classes):
        colour, marker = class_look(place)
        look: dict[str, Any] = {"color": colour, "marker": marker, "linewidth": 0 if marker in "os^Dv*" else 1.4}
        for some, alpha in ((~full, 0.22), (full, 0.9)):
            chosen = points[some & (codes == place)]
            label = visible(name) if some is full else None
            ax.scatter(chosen[:, 0], chosen[:, 1], s=26, alpha=alpha, label=label, zorder=3, **look)
        learned = (codes == place) & (~full if held is not None and not held.all() else True)
        if ellipses and len(shown) == 2 and learned.sum() > 2:
            _draw_ellipse(ax, points[learned], colour)
    if names is not None:
        for point, name in zip(points, names, strict=True):
            label = visible(name, 16)
            offset: dict[str, Any] = {"xytext": (3, 3), "textcoords": "offset points", "fontsize": 6}
            ax.annotate(label, tuple(point), parse_math=False, color="#555555", **offset)
    ax.set_xlabel(f"axis {shown[0]}")
    if len(shown) == 2:
        ax.set_ylabel(f"axis {shown[1]}")
        if regions:
            _draw_regions(ax, model, shown, classes)
        if len(classes) <= LEGEND:
            if held is not None:
                ax.plot([], [], " ", label="held out: full colour")
            ax.legend(loc="best", fontsize="small")
        else:
            for place, name in enumerate(classes):
                centre = np.median(points[codes == place], axis=0)
                look = {"ha": "center", "va": "center", "fontsize": 7, "zorder": 4, "parse_math": False}
                ax.text(centre[0], centre[1], visible(name, 12), **look)
    else:
        ax.set_yticks(range(len(classes)), [visible(name) for name in classes[::-1]])
        ax.set_ylim(-0.6, len(classes) - 0.4)
    literal(ax)
    return ax


def _chosen_axes(axes: tuple[int, ...], there: int) -> list[int]:
    if np.ndim(axes) != 1 or not 1 <= len(axes) <= 2:
        raise ValueError(f"`axes` is {axes!r}, but must be one or two numbers of axes")
    chosen = [whole_number("axes", axis) for axis in axes]
    # The default fits models of one axis too.
    if there == 1 and chosen == [0, 1]:
        chosen = [0]
    for axis in chosen:
        if not 0 <= axis < there:
            raise IndexError(f"axis {axis} was asked for, but there are 0 to {there - 1}")
    return chosen


def _mask(held_out: ArrayLike | None, samples: int) -> NDArray[np.bool_] | None:
    if held_out is None:
        return None
    given = np.asarray(held_out)
    if given.dtype == np.bool_:
        if given.shape != (samples,):
            raise ValueError(f"`held_out` is a mask of shape {given.shape}, but there are {samples} samples")
        return given
    mask = np.zeros(samples, dtype=np.bool_)
    if given.size:
        if given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= samples:
            raise ValueError(f"`held_out` must be a mask, or positions from 0 to {samples - 1}")
        mask[given] = True
    return mask


def _draw_ellipse(ax: Axes, points: Floats, colour: str) -> None:
    from matplotlib.patches import Ellipse
    from scipy.stats import chi2

    values, vectors = np.linalg.eigh(np.cov(points.T))
    # Rounding may leave the covariance of points on a line a little negative.
    width, height = 2 * np.sqrt(chi2.ppf(INSIDE, 2) * values.clip(0))
    angle = math.degrees(math.atan2(vectors[1, 0], vectors[0, 0]))
    centre = points.mean(axis=0)
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.0, "zorder": 2}
    ax.add_patch(Ellipse((centre[0], centre[1]), width, height, angle=angle, **look))
    ax.autoscale_view()


def _draw_regions(ax: Axes, model: Any, shown: list[int], classes: NDArray[Any]) -> None:
    """Colour the plane by what the model predicts for samples that project there."""
    from matplotlib.colors import ListedColormap

    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    across, down = np.linspace(left, right, GRID), np.linspace(low, high, GRID)
    plane = np.zeros((GRID * GRID, len(model.components_)))
    plane[:, shown] = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    if isinstance(model, Decider):
        # In the projected space, since samples may be prepared before.
        given = model.classes_[model._model.classify(plane, model._threads())]
    else:
        given = _by_samples(model, plane)
    # Classes that `y` lacks stay white.
    known, colours = list(classes), ["#ffffff", *(class_look(place)[0] for place in range(len(classes)))]
    places = {name: place + 1 for place, name in enumerate(known)}
    picture = np.array([places.get(name, 0) for name in given]).reshape(GRID, GRID)
    span: dict[str, Any] = {"vmin": -0.5, "vmax": len(colours) - 0.5, "origin": "lower", "aspect": "auto", "zorder": 0}
    ax.imshow(picture, extent=(left, right, low, high), cmap=ListedColormap(colours), alpha=0.13, **span)


def _by_samples(model: Any, plane: Floats) -> NDArray[Any]:
    """Predict for samples that project to points of the plane."""
    # x = mean + z W⁺ projects to z.
    inverse = np.linalg.pinv(np.asarray(model.components_, dtype=np.float64)).T
    rows = max(1, BATCH // inverse.shape[1])
    mean = np.asarray(model.mean_, dtype=np.float64)
    return np.concatenate(
        [_quiet_predict(model, mean + plane[start : start + rows] @ inverse) for start in range(0, len(plane), rows)]
    )


def _quiet_predict(model: Any, x: Floats) -> NDArray[Any]:
    """Predict without scikit-learn's remark that these samples have no names."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(model.predict(x))
