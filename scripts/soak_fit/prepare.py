"""From the samples of a caller to the distinct, centred samples of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A deviation, or a centred column, this small a part of the size of the values is rounding.
CONSTANT = 1e-12


class Ambiguous(Exception):
    """Rounding decides what the fit does: another order of summation would give another answer."""


class Preparation:
    """What the labelled samples say about how samples are scaled and filled."""

    def __init__(self, X, weights, batches, settings):
        """Learn from samples with weights, and from their batches if they have any."""
        self.settings = settings
        self.asked = settings["impute"] is not None or settings["scale"] != "none" or batches is not None
        if not self.asked:
            return
        missing = weights @ np.isnan(X) / weights.sum()
        self.dropped = missing > settings["max_missing"] + 1e-12
        X = self._logs(X)
        self.batches = {}
        if batches is not None:
            for name in dict.fromkeys(batches):
                rows = np.array([batch == name for batch in batches])
                # A batch in which no sample counts is still centred.
                own = weights[rows] if weights[rows].any() else np.ones(rows.sum())
                spread = np.array([deviation(x, own) for x in X[rows].T])
                divisor = np.where(spread > 0, spread, 1.0) if settings["batch_scale"] else np.ones(X.shape[1])
                self.batches[name] = (np.array([mean(x, own) for x in X[rows].T]), divisor)
            X = self._unbatched(X, batches)
        scale = settings["scale"]
        self.divisors = np.ones(X.shape[1])
        if scale in ("unit", "pareto", "log1p-unit"):
            spread = np.array([deviation(x, weights) for x in X.T])
            self.divisors = np.where(spread > 0, np.sqrt(spread) if scale == "pareto" else spread, 1.0)
        if settings["impute"] is not None:
            of = {"mean": mean, "median": median}[settings["impute"]]
            self.fill = np.array([of(x, weights) for x in X.T]) / self.divisors

    def apply(self, X, batches=None):
        """Return prepared samples."""
        if not self.asked:
            return X
        X = self._logs(X)
        if self.batches:
            X = self._unbatched(X, batches)
        X = X / self.divisors
        if self.settings["impute"] is not None:
            X = np.where(np.isnan(X), self.fill, X)
        X[:, self.dropped] = 0.0
        return X

    def _logs(self, X):
        return np.log1p(X) if self.settings["scale"].startswith("log1p") else X.copy()

    def _unbatched(self, X, batches):
        X = X.copy()
        for i, name in enumerate(batches or []):
            centre, divisor = self.batches[name]
            X[i] = (X[i] - centre) / divisor
        return X


def there(x, weights):
    """Return the values that are there and count, and their weights."""
    rows = ~np.isnan(x) & (weights > 0)
    return x[rows], weights[rows]


def mean(x, weights):
    """Return the weighted mean of the values that are there."""
    x, weights = there(x, weights)
    if not len(x):
        return np.nan
    # Of equal values exactly that value, so that nothing is left of them.
    return x[0] if np.all(x == x[0]) else weights @ x / weights.sum()


def deviation(x, weights):
    """Return their standard deviation, 0 where it is rounding."""
    x, weights = there(x, weights)
    if not len(x):
        return 0.0
    total = weights.sum()
    spread = np.sqrt(weights @ (x - weights @ x / total) ** 2 / total)
    return spread if spread > CONSTANT * np.sqrt(weights @ x**2 / total) else 0.0


def median(x, weights):
    """Return their weighted median."""
    x, weights = there(x, weights)
    if not len(x):
        return np.nan
    order = np.argsort(x, kind="stable")
    x, below = x[order], np.cumsum(weights[order])
    half = below[-1] / 2
    at = int(np.argmax(below >= half * (1 - 1e-12)))
    if abs(below[at] - half) <= 1e-12 * half and at + 1 < len(x):
        return x[at] / 2 + x[at + 1] / 2
    return x[at]


@dataclass
class Samples:
    """The samples that a fit sees: distinct ones with a label, and after them those without."""

    raw: np.ndarray
    codes: np.ndarray
    weights: np.ndarray  # of the labelled ones, 1 on average
    weighted: bool
    mean: np.ndarray
    norms: np.ndarray
    centred: np.ndarray

    @property
    def labelled(self):
        """Return how many samples have a label."""
        return len(self.codes)

    @property
    def d(self):
        """Return the weight of every sample in the loss."""
        return np.concatenate([self.weights, np.zeros(len(self.raw) - self.labelled)])


def samples(X, codes, weights, others):
    """Merge equal samples of one class, leave out those that do not count, and centre."""
    X, codes, weights = merged(X, codes, weights)
    weighted = not np.all(weights == weights[0])
    weights = weights / weights.mean()
    raw = np.vstack([X, others])
    in_norm = np.concatenate([weights, np.ones(len(others))])
    centre = weights @ X / weights.sum()
    # Of equal values exactly that value, also where only samples without a label have others.
    centre += weights @ (X - centre) / weights.sum()
    centre = np.where(X.max(axis=0) == X.min(axis=0), X[0], centre)
    centred = raw - centre
    norms = np.sqrt(in_norm @ centred**2)
    constant = (raw.max(axis=0) == raw.min(axis=0)) | (norms <= CONSTANT * np.sqrt(in_norm @ raw**2))
    centred[:, constant], norms[constant] = 0.0, 0.0
    return Samples(raw, codes, weights, weighted, centre, norms, centred)


def merged(X, codes, weights):
    """Return the distinct samples, in the order of the first of each kind."""
    kinds = {}
    for i in np.flatnonzero(weights > 0):
        kinds.setdefault(((X[i] + 0.0).tobytes(), codes[i]), []).append(i)
    first = [rows[0] for rows in kinds.values()]
    return X[first], codes[first], np.array([weights[rows].sum() for rows in kinds.values()])
