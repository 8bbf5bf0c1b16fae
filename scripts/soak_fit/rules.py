"""The decision rules in the projected space, and how sure they are."""

from __future__ import annotations

import numpy as np
from prepare import Ambiguous
from refits import ledoit_wolf


def log_probabilities(s, kind, metric, samples, Z, new, given):
    """Return the log-probabilities of new scores by a rule learned from Z; `given` is the covariance if it is known."""
    masses, priors = np.bincount(samples.codes, weights=samples.weights), log_priors(s, samples)
    if kind == "nearest":
        values = nearest(s, metric, samples, Z, new, masses, priors)
    else:
        values = linear(kind, samples, Z, new, masses, priors, given)
    return values - np.logaddexp.reduce(values, axis=1)[:, None]


def log_priors(s, samples):
    """Return the log-probabilities that the classes have before anything is known of a sample."""
    masses = np.bincount(samples.codes, weights=samples.weights)
    priors = {"train": masses, "equal": np.ones(len(masses))}.get(s["priors"] if isinstance(s["priors"], str) else "")
    priors = np.log(np.asarray(s["priors"]) if priors is None else priors)
    return priors - np.logaddexp.reduce(priors)


def distances(metric, a, b):
    """Return the distance of every row of a to every row of b."""
    if metric == "euclidean":
        return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))
    of_a, of_b = np.sqrt((a**2).sum(axis=1)), np.sqrt((b**2).sum(axis=1))
    if min(of_a.min(), of_b.min()) < 1e-10 * of_b.max():
        raise Ambiguous("samples at the mean, which have no direction")
    lengths = of_a[:, None] * of_b
    inner = a @ b.T
    return np.where(lengths > 0, np.maximum(1 - inner / np.where(lengths > 0, lengths, 1), 0), 1.0)


def nearest(s, metric, samples, Z, new, masses, priors):
    """Return the values of the rule `nearest`."""
    codes, d, k = samples.codes, samples.weights, s["n_neighbors"]
    shifts = np.zeros(len(masses))
    if samples.weighted or s["priors"] != "train":
        shifts = priors - np.log(np.bincount(codes) / len(codes))
    own = distances(metric, Z, Z)
    rows = np.flatnonzero(np.bincount(codes)[codes] > 1)
    trials = []
    for i in rows:
        row = own[i].copy()
        row[i] = np.inf
        trials.append(votes(row, codes, len(masses), k))
    found = temperature(np.array(trials), codes[rows], d[rows], masses, None)
    if found is None:
        found = 1.0
        if k == 1:
            mean = own.sum() / (len(own) * max(len(own) - 1, 1))
            found = mean if mean > 0 else 1.0
    values = np.array([votes(row, codes, len(masses), k) for row in distances(metric, new, Z)])
    return np.maximum(values / found, -1e300) + shifts


def votes(row, codes, classes, k):
    """Return the values of the classes of a sample, times the temperature."""
    near = np.array([row[codes == c].min() for c in range(classes)])
    if k == 1:
        return -near
    order = np.argsort(row, kind="stable")
    k = min(k, len(row))
    tied = np.abs(row[order] - row[order[k - 1]]) < 1e-9 * row[np.isfinite(row)].max()
    if tied[k:].any() and len(set(codes[order[tied]])) > 1:
        raise Ambiguous("voters at one distance")
    voters = [j for j in order[:k] if np.isfinite(row[j])]
    found = np.bincount(codes[voters], minlength=classes).astype(float)
    total = near[np.isfinite(near)].sum()
    with np.errstate(invalid="ignore"):
        return found - (near / total if total > 0 else 0.0)


def linear(kind, samples, Z, new, masses, priors, given):
    """Return the values of the rules `centroid` and `gaussian`."""
    codes, d, (n, axes) = samples.codes, samples.weights, Z.shape
    means = np.array([d[codes == c] @ Z[codes == c] / masses[c] for c in range(len(masses))])
    residuals = Z - means[codes]
    degrees, kept = n - len(masses), None
    if kind == "centroid":
        variance = (d @ residuals**2).sum() / (max(degrees, 1) * axes)
        if variance < 1e-24 * (Z**2).sum():
            raise Ambiguous("scores without spread")
        sigma = variance * np.eye(axes)
    elif given is not None:
        sigma = definite(given)[0]
    else:
        rooted = np.sqrt(d)[:, None] * residuals
        rho, trace = ledoit_wolf(rooted, d, degrees) if degrees > 0 else (0.0, 0.0)
        kept = 1 - rho
        sigma, floor = definite(kept * rooted.T @ rooted / max(degrees, 1) + rho * trace / axes * np.eye(axes))
        kept *= 1 - floor
    inverse = np.linalg.inv(sigma)

    def squares(x):
        return np.einsum("ij,jk,ik->i", x, inverse, x)

    rows = np.flatnonzero(np.bincount(codes)[codes] > 1)
    found, logs = None, np.log(masses / masses.sum())
    if kind == "centroid" or kept is None or degrees > 1:
        trials = []
        for i in rows:
            away = masses[codes[i]] / (masses[codes[i]] - d[i])
            apart = Z[i] - means
            apart[codes[i]] *= away
            own = squares(apart)
            if kept is not None:
                weight, scale = kept * d[i] * away / degrees, max(degrees - d[i], 1) / degrees
                left = max(1 - weight * squares(residuals[i][None])[0], np.finfo(float).eps)
                own = scale * (own + weight * (apart @ inverse @ residuals[i]) ** 2 / left)
            trials.append(logs - own / 2)
        found = temperature(np.array(trials), codes[rows], d[rows], masses, 1.0)
    found = 1.0 if found is None else found
    return np.array([(priors - squares(x - means) / 2) / found for x in new])


def definite(sigma):
    """Return a covariance that is clearly definite, and the share of the identity that was mixed in, which is none."""
    mean = np.trace(sigma) / len(sigma)
    if np.abs(sigma).max() < 1e-290:
        return np.eye(len(sigma)), 1.0
    try:
        pivots = np.diag(np.linalg.cholesky(sigma)) ** 2 / mean
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    if np.all(pivots >= 1e-6):
        return sigma, 0.0
    raise Ambiguous("a covariance that is nearly singular")


def temperature(scores, own, weights, masses, least):
    """Return the temperature that minimises the log loss of left-out samples; None if they cannot tell."""
    if not len(scores):
        return None
    apart = scores.max(axis=1) - scores.min(axis=1)
    # Where the classes of a sample are equally good but for rounding, the unit may be another.
    doubtful = np.any(apart < 1e-9 * apart.max())
    apart = np.sort(apart[apart > 0])
    if not len(apart):
        return None
    unit = apart[len(apart) // 2]
    x = (scores - scores.max(axis=1)[:, None]) / unit
    m = masses[own]
    rows = np.arange(len(x))
    others = x.copy()
    others[rows, own] = -np.inf
    share = (m + 1) / (m + 2)
    wanted = share * x[rows, own] + (1 - share) * others.max(axis=1)

    def slope(sharpness):
        p = np.exp(sharpness * x)
        p /= p.sum(axis=1)[:, None]
        return weights @ ((p * x).sum(axis=1) - wanted)

    high = 1e4 if least is None else unit / least
    low = min(1e-3, high)
    if doubtful and (slope(10 * low) >= 0 or (least is None and slope(high / 10) <= 0)):
        raise Ambiguous("scores of classes that are nearly equal")
    if slope(high) <= 0:
        return least or unit / high
    if slope(low) >= 0:
        return max(unit / low, least or 0.0)
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return max(unit / middle, least or 0.0)
