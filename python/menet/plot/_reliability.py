"""Predicted probabilities against the share of correct predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from menet._input import Samples
from menet.plot._looks import COLOURS, line_style, new_axes, positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def reliability(
    estimator: Any, X: Samples, y: ArrayLike, *, ax: Axes | None = None, bins: int = 10, **kwargs: Any
) -> Axes:
    """Draw the share of correct predictions against their predicted probability.

    Samples are grouped by the probability of their predicted class. On the diagonal the probabilities are calibrated;
    below it they are too high. Bars are one standard error. The grey columns show the share of the samples in each
    group, and the numbers show their count.

    Parameters
    ----------
    estimator : estimator
        Any fitted classifier with ``predict_proba``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples that were not used in the fit.
    y : array-like of shape (n_samples,)
        Their classes.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.
    bins : int, default=10
        Number of groups of equal width from 0 to 1.
    **kwargs : dict
        Passed to ``Axes.errorbar`` for the line.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

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
    count_of_bins = positive("bins", bins)
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

    ax = new_axes(ax, figsize=(5.2, 4.6))
    given = line_style(kwargs)
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
