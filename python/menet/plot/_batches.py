"""Samples by batch, before and after the fit subtracted the mean of every batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from menet._batches import batch_names
from menet._exact import validated
from menet._input import Floats, Samples, check_memory
from menet._parameters import stage_of
from menet.plot._looks import new_axes
from menet.plot._panel import class_look, fitted, literal, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A legend of more batches is longer than the figure.
LEGEND = 14


def batches(model: Any, X: Samples, batch: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw samples by batch on their first two principal components, before and after the preparation.

    On the left are the samples scaled as the model does, missing values replaced by the mean of their variable; on the
    right as the fit sees them, less the mean of their batch. Batches that lie apart on the left and on top of each
    other on the right differed in their means. What is left on the right is not removed by centring.

    Parameters
    ----------
    model : ManifoldElasticNet or ManifoldElasticNetCV
        A model that was fitted with batches.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    batch : array-like of shape (n_samples,)
        The batch of every sample.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure. Its two ``child_axes`` hold the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> batch = np.arange(300) % 3
    >>> shifted = X[:300] + 5.0 * batch[:, None]
    >>> men = ManifoldElasticNet(n_nonzeros=10).fit(shifted, y[:300], batch=batch)
    >>> [panel.get_title() for panel in plot.batches(men, shifted, batch).child_axes]
    ['before', 'after']
    """
    model = fitted(model)
    after = model.prepared(X, batch=batch)
    before = _filled(model, X)
    names = np.array(batch_names(batch, len(after)))
    known = list(dict.fromkeys([*(model.batches_ or []), *names.tolist()]))
    known = [name for name in known if (names == name).any()]
    ax = new_axes(ax, figsize=(9.0, 4.2))
    ax.set_axis_off()
    for left, title, values in ((0.0, "before", before), (0.54, "after", after)):
        panel = ax.inset_axes((left, 0.0, 0.46, 1.0))
        scores, shares = _principal(values)
        for place, name in enumerate(known):
            colour, marker = class_look(place)
            rows = names == name
            style: dict[str, Any] = {"s": 16, "marker": marker, "color": colour, "alpha": 0.7, "linewidths": 0.8}
            panel.scatter(scores[rows, 0], scores[rows, 1], label=visible(name), **style)
        panel.set_title(title)
        panel.set_xlabel(f"first component ({shares[0]:.0%} of the variance)")
        panel.set_ylabel(f"second ({shares[1]:.0%})")
        panel.tick_params(labelsize="small")
    if len(known) <= LEGEND:
        panel.legend(title="batch", loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize="small", frameon=False)
    for child in ax.child_axes:
        literal(child)
    return ax


def _filled(model: Any, X: Samples) -> Floats:
    """Return the samples, dense, scaled as the model does, missing values replaced by the mean of their variable."""
    X = validated(model, X, reset=False)
    if not isinstance(X, np.ndarray):
        check_memory(X, 3)
        X = X.toarray()
    values: Floats = np.array(X, dtype=np.float64)
    scale = stage_of("prepare", model.prepare).scale
    if scale.startswith("log1p"):
        values = np.log1p(values)
    lacking = np.isnan(values)
    if lacking.any():
        counts = (~lacking).sum(axis=0)
        means = np.where(lacking, 0.0, values).sum(axis=0) / np.maximum(counts, 1)
        values[lacking] = np.broadcast_to(means, values.shape)[lacking]
    if scale not in ("none", "log1p"):
        deviations = values.std(axis=0)
        scales = np.sqrt(deviations) if scale == "pareto" else deviations
        values /= np.where(scales > 0, scales, 1.0)
    return values


def _principal(X: Floats) -> tuple[Floats, Floats]:
    """Return the scores on the first two principal components, and their shares of the variance."""
    centred = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    scores = np.zeros((len(X), 2))
    count = min(2, len(s))
    scores[:, :count] = u[:, :count] * s[:count]
    # A component has no sign of its own.
    largest = np.abs(scores).argmax(axis=0)
    scores *= np.where(scores[largest, [0, 1]] < 0, -1.0, 1.0)
    shares = np.zeros(2)
    shares[:count] = s[:count] ** 2 / max(float((s**2).sum()), np.finfo(np.float64).tiny)
    return scores, shares
