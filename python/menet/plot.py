"""Drawing what was learned, with matplotlib (``pip install menet[plot]``).

Every function draws on the Axes that it is given, or on those of a new figure, and returns them; none shows or saves
anything.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from menet._cv import SEARCHED, ManifoldElasticNetCV
from menet._decisions import Decider
from menet._input import Floats, Samples
from menet._lars import LarsPath
from menet._men import ManifoldElasticNet
from menet._settings import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bases", "path", "rates", "reliability", "selection"]

# The looks of the command's figures: Okabe and Ito's colours without their yellow, then three of Tol's, each with a
# dash and a marker, so that nothing relies on colour alone.
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#882255",
    "#999933",
    "#808080",
)
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.8)), (0, (5, 2, 1.2, 2)))
MARKERS = "os^Dv+x*"

# Against, unused, for: what no common colour blindness confuses.
DIVERGING = ("#004488", "#ffffff", "#b34700")

# The height of a picture's heading, and the space between pictures, over the side of a square as large as a picture.
HEADING, SPACE = 0.18, 0.08

# The inches of such a side, and of the widest figure: on a page a wider one would shrink, and its numbers with it.
INCHES, WIDEST = 1.2, 9.0

# The columns of the table that ``menet evaluate`` writes.
COLUMNS = ("data", "train_per_class", "method", "repeat", "dimension", "rate")

# Percentages over the repeats, by dimension.
Curve: TypeAlias = dict[int, list[float]]


def path(
    model: ManifoldElasticNet | ManifoldElasticNetCV | LarsPath,
    component: int = 0,
    *,
    ax: Axes | None = None,
    labels: int = 8,
    **kwargs: Any,
) -> Axes:
    """Draw the path of a component: its weights against the level, which falls to the right.

    Between its knots a path is straight, and so it is drawn: the scale of levels is linear, which has room for level 0
    too. Variables that are zero all along have no line. Weights are in the units of ``components_``: where variables
    have scales of their own, standardised ones are easier to compare.

    Parameters
    ----------
    model : ManifoldElasticNet, ManifoldElasticNetCV or LarsPath
        A fitted estimator, or a path itself.
    component : int, default=0
        The component, counted from 0; a path itself has but one.
    ax : matplotlib Axes, optional
        Where to draw. None: on a new figure.
    labels : int, default=8
        How many variables are coloured and named at the right margin: those of the heaviest weights where the path
        ends. The others are grey.
    **kwargs : dict
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = ManifoldElasticNet(n_nonzeros=5, preset="paper").fit(X, y)
    >>> ax = plot.path(men, 1, labels=3)
    >>> print(*(text.get_text() for text in ax.texts))
    U05259_rna1_at M55150_at U82759_at
    """
    if isinstance(model, LarsPath):
        whole, names = model, None
    elif isinstance(model, Decider):
        whole, names = model.path(component), getattr(model, "feature_names_in_", None)
    else:
        raise TypeError(f"`model` is a {type(model).__name__}, but must be a fitted ManifoldElasticNet or a LarsPath")
    levels, coefs = whole.lambdas, whole.coefs
    used = np.flatnonzero(coefs.any(axis=1))
    # The heaviest at the end first.
    order = used[np.argsort(-np.abs(coefs[used, -1]), kind="stable")]
    named = [j for j in order[: count("labels", labels)] if coefs[j, -1] != 0]

    ax = _axes(ax, figsize=(7, 4.2))
    given = _line_style(kwargs)
    ax.axhline(0, color="#808080", linewidth=0.8, zorder=1)
    looks = {j: {"color": colour, "linestyle": dash} for j, (colour, dash, _) in zip(named, _looks(), strict=False)}
    # The heaviest last, above the others.
    for j in order[::-1]:
        # From where it leaves zero: before, it would only thicken the axis.
        start = max(int(np.flatnonzero(coefs[j])[0]) - 1, 0)
        look = {"linewidth": 1.8, **looks[j]} if j in looks else {"linewidth": 0.8, "color": "#b8b8b8"}
        ax.plot(levels[start:], coefs[j, start:], **{**look, **given})
    # A path of one knot has no width.
    width = levels[0] - levels[-1] or 1.0
    ax.set_xlim(levels[-1] + 1.02 * width, levels[-1])
    ax.set_xlabel("level λ")
    ax.set_ylabel("coefficient")
    texts = [str(j) if names is None else _short(str(names[j])) for j in named]
    _name_at_margin(ax, coefs[named, -1], texts, [looks[j]["color"] for j in named])
    return ax


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

    Blue pixels count against, orange ones for, and white ones are not used. Every axis is scaled by its own largest
    weight, and drawn by the square root of what is left, with its sign, which keeps light weights visible.

    Parameters
    ----------
    model : estimator
        Any fitted estimator with ``components_``.
    shape : tuple of int, optional
        Height and width of the images; the variables are their pixels, row by row. None: square images.
    ax : matplotlib Axes, optional
        Where to draw. None: on a new figure.
    n_components : int, default=10
        How many axes to draw, or all if there are fewer.
    columns : int, optional
        How many to draw beside each other. None: five, or fewer if the images are wide.
    **kwargs : dict
        Passed to ``Axes.imshow`` for every axis.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

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
    n = min(_positive("n_components", n_components), len(weights))
    side = math.sqrt(height * width)
    heading, space = HEADING * side, SPACE * side
    across, down = width + space, height + heading + space
    if columns is None:
        columns = min(5, max(1, int(WIDEST / INCHES * side / across)))
    columns = min(_positive("columns", columns), n)
    rows = -(-n // columns)
    size = np.array([columns * across, rows * down])

    ax = _axes(ax, figsize=size * min(INCHES / side, WIDEST / size[0]))
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
    # Every picture sets them to its own.
    ax.set(xlim=(0, size[0]), ylim=(size[1], 0))
    return ax


def rates(
    results: Mapping[str, ArrayLike] | str | PathLike[str],
    *,
    ax: Axes | None = None,
    data: str | None = None,
    train_per_class: int | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw recognition rates in percent against the dimension, one line a method.

    A ring marks the best of a line, and the legend says what and where it is. Of repeats there is the mean, and a band
    of one standard deviation about it.

    Parameters
    ----------
    results : mapping or path-like
        From a method's name to its rates by dimension, from 1: fractions from 0 to 1, as ``score`` gives them, in an
        array of shape (n_dimensions,) or (n_repeats, n_dimensions), with NaN where there is none. Or the folder that
        ``menet evaluate --out`` wrote, or its ``results.csv``.
    ax : matplotlib Axes, optional
        Where to draw. None: on a new figure.
    data : str, optional
        Which of the data sets, if a folder has several.
    train_per_class : int, optional
        Which of the numbers of training samples a class, if a folder has several.
    **kwargs : dict
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from menet import plot
    >>> ax = plot.rates({"men": [0.5, 0.9, 0.9], "pca": [[0.4, 0.6, 0.7], [0.2, 0.6, 0.9]]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['men: 90.0 % at 2', 'pca: 80.0 % at 3']
    """
    if isinstance(results, Mapping):
        if data is not None or train_per_class is not None:
            raise ValueError(
                "`data` and `train_per_class` choose among the results of a folder, and these are a mapping"
            )
        curves = {str(name): _fractions(str(name), values) for name, values in results.items()}
    else:
        curves = _chosen(_table(results), data, train_per_class)
    if not any(curves.values()):
        raise ValueError("`results` has no rates to draw")

    ax = _axes(ax, figsize=(7, 4.2))
    from matplotlib.ticker import MaxNLocator

    given = _line_style(kwargs)
    for (name, curve), (colour, dash, marker) in zip(curves.items(), _looks(), strict=False):
        # A method without rates keeps its place, and so the others their colours.
        if not curve:
            continue
        dimensions = sorted(curve)
        mean = np.array([np.mean(curve[d]) for d in dimensions])
        spread = np.array([np.std(curve[d], ddof=1) if len(curve[d]) > 1 else 0.0 for d in dimensions])
        if spread.any():
            low, high = (mean - spread).clip(0, 100), (mean + spread).clip(0, 100)
            ax.fill_between(dimensions, low, high, color=colour, alpha=0.13, linewidth=0)
        # The lowest dimension of equals.
        best = int(np.flatnonzero(mean > mean.max() - 1e-9)[0])
        label = f"{_short(name)}: {mean[best]:.1f} % at {dimensions[best]}".replace("$", r"\$")
        look = {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4, "linewidth": 1.6}
        every = max(1, len(dimensions) // 10)
        ax.plot(dimensions, mean, **{"label": label, "markevery": every, **look, **given})
        ax.plot(
            dimensions[best], mean[best], "o", markersize=9, markerfacecolor="none", markeredgecolor=colour, zorder=3
        )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("dimension")
    ax.set_ylabel("recognition rate (%)")
    ax.grid(color="#e0e0e0", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(title="best", loc="best", fontsize="small", title_fontsize="small", handlelength=3.2)
    return ax


def selection(cv: ManifoldElasticNetCV, *, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Draw what a search found: the mean score against the number of variables, one line per refit and rule.

    Of the settings of one size, refit and rule the best is drawn. Bars are one standard error of the mean over the
    folds; lines are moved aside by a percent or two, so that bars do not hide each other. A ring marks the setting that
    was chosen.

    Parameters
    ----------
    cv : ManifoldElasticNetCV
        A fitted search.
    ax : matplotlib Axes, optional
        Where to draw. None: on a new figure.
    **kwargs : dict
        Passed to ``Axes.errorbar`` for every line.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from menet import ManifoldElasticNetCV, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True)
    >>> search = ManifoldElasticNetCV(panel_size=[5, 10], refit="panel", rule=["centroid", "gaussian"]).fit(X, y)
    >>> ax = plot.selection(search)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['panel, centroid', 'panel, gaussian', 'chosen']
    """
    if not isinstance(cv, ManifoldElasticNetCV):
        raise TypeError(f"`cv` is a {type(cv).__name__}, but must be a fitted ManifoldElasticNetCV")
    check_is_fitted(cv, "cv_results_")
    found = cv.cv_results_
    mean, variables = found["mean_test_score"], found["mean_n_features"]
    folds = np.stack([found[f"split{fold}_test_score"] for fold in range(cv.n_splits_)], axis=1)
    error = folds.std(axis=1, ddof=1) / math.sqrt(cv.n_splits_) if cv.n_splits_ > 1 else np.zeros(len(mean))
    # What is the same for all settings is the best one's.
    best = cv.best_estimator_
    params = [{name: one.get(name, getattr(best, name)) for name in SEARCHED} for one in found["params"]]
    lines: dict[tuple[str, str], dict[Any, int]] = {}
    for place, one in enumerate(params):
        if not np.isfinite(mean[place]):
            continue
        sizes = lines.setdefault((one["refit"], one["rule"]), {})
        size = (one["n_nonzeros"], one["panel_size"])
        if size not in sizes or mean[place] > mean[sizes[size]]:
            sizes[size] = place

    ax = _axes(ax, figsize=(7, 4.2))
    given = _line_style(kwargs)
    drawn: list[Any] = []
    for line, ((names, sizes), (colour, dash, marker)) in enumerate(zip(lines.items(), _looks(), strict=False)):
        aside = 1.012 ** (line - (len(lines) - 1) / 2)
        places = sorted(sizes.values(), key=lambda place: variables[place])
        look = {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4, "linewidth": 1.6}
        bars = {"label": ", ".join(names), "capsize": 2.5, "elinewidth": 0.9}
        drawn.append(ax.errorbar(aside * variables[places], mean[places], error[places], **{**bars, **look, **given}))
    chosen = cv.best_index_
    drawn += ax.plot(
        variables[chosen],
        mean[chosen],
        "o",
        label="chosen",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor="#000000",
        markeredgewidth=1.4,
        zorder=4,
    )
    _whole_log_scale(ax, variables[[place for sizes in lines.values() for place in sizes.values()]])
    ax.set_xlabel("distinct variables (mean over the folds)")
    ax.set_ylabel(cv.scoring.replace("_", " ").replace("neg ", "negative ").replace("roc auc ovr", "AUC"))
    ax.grid(color="#e0e0e0", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(handles=drawn, loc="best", fontsize="small", handlelength=3.2)
    return ax


def reliability(
    estimator: Any, X: Samples, y: ArrayLike, *, ax: Axes | None = None, bins: int = 10, **kwargs: Any
) -> Axes:
    """Draw how often predictions are right against how probable they were said to be.

    Samples are grouped by the probability of the class that they are given. Where the line runs along the diagonal,
    probabilities are honest; below it they are too high. Bars are one standard error. The grey columns show what share
    of the samples each group has, and the numbers how many.

    Parameters
    ----------
    estimator : estimator
        Any fitted classifier with ``predict_proba``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples that were not used in the fit.
    y : array-like of shape (n_samples,)
        Their classes.
    ax : matplotlib Axes, optional
        Where to draw. None: on a new figure.
    bins : int, default=10
        How many groups, of equal width, from 0 to 1.
    **kwargs : dict
        Passed to ``Axes.errorbar`` for the line.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> men = ManifoldElasticNet(n_nonzeros=5, rule="gaussian").fit(X[:900], y[:900])
    >>> ax = plot.reliability(men, X[900:], y[900:])
    >>> sum(int(text.get_text().replace(",", "")) for text in ax.texts)
    897
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"`estimator` is a {type(estimator).__name__}, which has no predict_proba")
    count_of_bins = _positive("bins", bins)
    probabilities = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    truth = np.asarray(y)
    if truth.shape != (len(probabilities),):
        raise ValueError(f"`y` has shape {truth.shape}, but there are {len(probabilities)} samples")
    confidence = probabilities.max(axis=1).clip(0, 1)
    right = np.asarray(estimator.classes_)[probabilities.argmax(axis=1)] == truth
    group = np.minimum((confidence * count_of_bins).astype(np.int64), count_of_bins - 1)
    counts = np.bincount(group, minlength=count_of_bins)
    used = np.flatnonzero(counts)
    said = np.bincount(group, confidence, count_of_bins)[used] / counts[used]
    rate = np.bincount(group, right, count_of_bins)[used] / counts[used]
    error = np.sqrt(rate * (1 - rate) / counts[used])

    ax = _axes(ax, figsize=(5.2, 4.6))
    given = _line_style(kwargs)
    width = 1 / count_of_bins
    ax.bar((used + 0.5) * width, counts[used] / counts.sum(), 0.9 * width, color="#dcdcdc", label="share of samples")
    ax.plot([0, 1], [0, 1], color="#808080", linewidth=0.8, linestyle=(0, (5, 2)), label="honest")
    look = {"color": COLOURS[0], "linestyle": "-", "marker": "o", "markersize": 4.5, "linewidth": 1.6}
    bars = {"label": "predictions", "capsize": 2.5, "elinewidth": 0.9}
    ax.errorbar(said, rate, error, **{**bars, **look, **given})
    for place in used:
        ax.text((place + 0.5) * width, 0.012, f"{counts[place]:,}", ha="center", va="bottom", fontsize=7)
    ax.set(xlim=(0, 1), ylim=(0, 1.02))
    ax.set_xlabel("probability of the predicted class")
    ax.set_ylabel("share of predictions that are right")
    ax.legend(loc="upper left", fontsize="small")
    return ax


def _whole_log_scale(ax: Axes, values: Floats) -> None:
    """Make the horizontal scale logarithmic, with whole numbers at round places."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = float(values.min()), float(values.max())
    low, high = low / 1.15, high * 1.15
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    round_numbers = [factor * 10**power for power in range(8) for factor in (1, 2, 3, 5)]
    ticks = [number for number in round_numbers if low <= number <= high]
    ticks = ticks if len(ticks) > 1 else sorted({round(float(value)) for value in values})
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels([f"{tick:,}" for tick in ticks])


def _axes(ax: Axes | None, figsize: Any) -> Axes:
    """Return the Axes to draw on: those given, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("menet.plot needs matplotlib: pip install menet[plot]") from e
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def _looks() -> Iterator[tuple[str, Any, str]]:
    """Return colour, dash and marker of one line after the other, as the command's figures have them."""
    for i in itertools.count():
        turn = i // len(COLOURS)
        yield COLOURS[i % len(COLOURS)], DASHES[(i + turn) % len(DASHES)], MARKERS[i % len(MARKERS)]


def _line_style(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a line's keywords under their full names: ``lw`` beside our ``linewidth`` would be refused."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(kwargs, Line2D)


def _short(name: str, most: int = 22) -> str:
    """Return a name cut in the middle: names often begin alike."""
    tail = most // 3
    return name if len(name) <= most else f"{name[: most - tail - 1]}…{name[-tail:]}"


def _positive(name: str, value: int) -> int:
    whole = count(name, value)
    if whole == 0:
        raise ValueError(f"`{name}` is 0, but must be at least 1")
    return whole


def _name_at_margin(ax: Axes, heights: Floats, texts: list[str], colours: list[str]) -> None:
    """Write names beside the ends of lines, as near to them as leaves each a line of its own."""
    if not texts:
        return
    low, high = ax.get_ylim()
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    # A little more than a line, and small enough for all.
    size = min(8.0, points / (1.3 * len(texts)))
    step = 1.3 * size / points * (high - low)
    order = np.argsort(heights, kind="stable")
    ranks = step * np.arange(len(texts))
    # The nearest heights, in squares, of which each is at least a step above the one before.
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


def _image_shape(shape: tuple[int, int] | None, variables: int) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(variables)
        if side * side != variables:
            raise ValueError(f"{variables} variables make no square: give `shape`, the images' height and width")
        return side, side
    if np.shape(shape) != (2,):
        raise ValueError(f"`shape` is {shape!r}, but must be the images' height and width")
    height, width = (_positive("shape", side) for side in shape)
    if height * width != variables:
        raise ValueError(
            f"`shape` is {height} x {width}, {height * width} pixels, but the axes have {variables} variables"
        )
    return height, width


def _strengths(weights: Floats) -> Floats:
    """Return how strong the colour of every weight is, from −1 to 1."""
    largest = np.abs(weights).max()
    strengths: Floats = np.sign(weights) * np.sqrt(np.abs(weights) / largest) if largest > 0 else weights
    return strengths


def _fractions(name: str, values: ArrayLike) -> Curve:
    """Return a curve in percent from fractions by dimension, or by repeat and dimension."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"the rates of {name!r} have shape {array.shape}, but must be (dimensions,) or (repeats, dimensions)"
        )
    finite = array[np.isfinite(array)]
    if finite.size and not 0 <= finite.min() <= finite.max() <= 1:
        raise ValueError(
            f"the rates of {name!r} go from {finite.min():g} to {finite.max():g}, but in a mapping they are "
            "fractions, from 0 to 1"
        )
    by_dimension = ((d, column[np.isfinite(column)]) for d, column in enumerate(np.atleast_2d(array).T, 1))
    return {d: (100 * column).tolist() for d, column in by_dimension if column.size}


def _table(results: str | PathLike[str]) -> list[dict[str, str]]:
    """Return the rows of a run's table."""
    file = Path(results)
    file = file / "results.csv" if file.is_dir() else file
    with file.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{file} is no results.csv of `menet evaluate`: its first line is not {','.join(COLUMNS)}")
        return list(reader)


def _chosen(rows: list[dict[str, str]], data: str | None, train_per_class: int | None) -> dict[str, Curve]:
    """Return the curves of one data set and training size, in the order of the run's methods."""
    train = None if train_per_class is None else str(count("train_per_class", train_per_class))
    settings = list(dict.fromkeys((row["data"], row["train_per_class"]) for row in rows))
    fit = [one for one in settings if data in (None, one[0]) and train in (None, one[1])]
    if len(fit) != 1:
        what = "nothing" if not fit else f"{len(fit)} sets of results"
        there = ", ".join(f"data={name!r} with train_per_class={size}" for name, size in settings)
        raise ValueError(f"`data` and `train_per_class` choose {what}; there is {there or 'nothing at all'}")
    # All methods of the run, so that a method looks the same whatever is chosen.
    curves: dict[str, Curve] = {row["method"]: {} for row in rows}
    for row in rows:
        rate = float(row["rate"])
        if (row["data"], row["train_per_class"]) == fit[0] and math.isfinite(rate):
            curves[row["method"]].setdefault(int(row["dimension"]), []).append(rate)
    return curves
