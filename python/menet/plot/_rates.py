"""Recognition rates against the dimension."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from menet._settings import count
from menet.plot._looks import line_looks, line_style, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The columns of the table that ``menet evaluate`` writes.
COLUMNS = ("data", "train_per_class", "method", "repeat", "dimension", "rate")

# Percentages over the repeats, by dimension.
Curve: TypeAlias = dict[int, list[float]]


def rates(
    results: Mapping[str, ArrayLike] | str | PathLike[str],
    *,
    ax: Axes | None = None,
    data: str | None = None,
    train_per_class: int | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw recognition rates in percent against the dimension, one line per method.

    A ring marks the best rate of a line; the legend gives its value and its dimension. With repeats, the line is their
    mean, with a band of one standard deviation around it.

    Parameters
    ----------
    results : mapping or path-like
        The rates of every method by dimension, from dimension 1 on, under the name of the method. The rates are
        fractions from 0 to 1, as from ``score``, in an array of shape (n_dimensions,) or (n_repeats, n_dimensions),
        with NaN where there is none. Or the folder that ``menet evaluate --out`` wrote, or its ``results.csv``.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.
    data : str, optional
        The data set to draw, if a folder has several.
    train_per_class : int, optional
        The number of training samples per class to draw, if a folder has several.
    **kwargs : dict
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

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

    ax = new_axes(ax, figsize=(7, 4.2))
    from matplotlib.ticker import MaxNLocator

    given = line_style(kwargs)
    for (name, curve), (colour, dash, marker) in zip(curves.items(), line_looks(), strict=False):
        # A method without rates keeps its place, so that the others keep their colours.
        if not curve:
            continue
        dimensions = sorted(curve)
        mean = np.array([np.mean(curve[d]) for d in dimensions])
        spread = np.array([np.std(curve[d], ddof=1) if len(curve[d]) > 1 else 0.0 for d in dimensions])
        if spread.any():
            low, high = (mean - spread).clip(0, 100), (mean + spread).clip(0, 100)
            ax.fill_between(dimensions, low, high, color=colour, alpha=0.13, linewidth=0)
        # The lowest dimension of equal rates.
        best = int(np.flatnonzero(mean > mean.max() - 1e-9)[0])
        label = f"{short(name)}: {mean[best]:.1f} % at {dimensions[best]}".replace("$", r"\$")
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
    """Return the rows of the table of a run."""
    file = Path(results)
    file = file / "results.csv" if file.is_dir() else file
    with file.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{file} is no results.csv of `menet evaluate`: its first line is not {','.join(COLUMNS)}")
        return list(reader)


def _chosen(rows: list[dict[str, str]], data: str | None, train_per_class: int | None) -> dict[str, Curve]:
    """Return the curves of one data set and training size, in the order of the methods of the run."""
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
