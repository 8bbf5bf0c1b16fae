"""Certificates of the paths, and the weights on the selected variables, from the reduced problem."""

from __future__ import annotations

import numpy as np
from oracle import signs
from prepare import Ambiguous

# The least share of its variance that a variable has within classes, and the least intensity of shrinkage.
LEAST_SHARE, LEAST_INTENSITY = 0.01, 1e-6


def violation(gram, b, factors, w, level):
    """Return by how much coefficients violate the conditions of the l1 problem, relative to the largest correlation."""
    c = b - gram @ w
    allowed = np.isfinite(factors)
    if np.any(w[~allowed] != 0):
        return np.inf
    active = (w != 0) | (factors == 0)
    pull = level * np.where(allowed, factors, 0.0)
    off = np.where(active, np.abs(c - pull * np.sign(w)), np.maximum(np.abs(c) - pull, 0.0))
    return np.max(off[allowed], initial=0.0) / max(np.abs(b).max(), 1e-300)


def solve(a, b):
    """Solve a system; a singular one has the shortest solution."""
    values, V = np.linalg.eigh(a)
    near = values / values[-1]
    if np.any((near > 1e-15) & (near < 1e-9)):
        raise Ambiguous("a system that is nearly singular")
    inverse = np.where(near > 1e-12, 1 / np.where(near > 1e-12, values, 1.0), 0.0)
    return V @ (inverse[:, None] * (V.T @ b))


class Within:
    """The shrunken within-class covariance of some variables, each over its within-class deviation."""

    def __init__(self, samples, variables):
        """Estimate it from the labelled samples."""
        X, d, codes = samples.centred[: samples.labelled, variables], samples.weights, samples.codes
        self.n, self.weights = len(X), d
        self.masses = np.bincount(codes, weights=d)
        self.centres = np.array([d[codes == c] @ X[codes == c] / mass for c, mass in enumerate(self.masses)])
        self.degrees = max(len(X) - len(self.masses), 1)
        V = X - self.centres[codes]
        variance = np.maximum(d @ V**2 / self.degrees, LEAST_SHARE * (d @ X**2) / len(X))
        self.scale = np.where(variance > 0, np.sqrt(variance), 1.0)
        self.V, self.centres = np.sqrt(d)[:, None] * V / self.scale, self.centres / self.scale

    def sigma(self, kept=None):
        """Return the covariance of all, or of some of the variables alone, and its intensity."""
        V = self.V if kept is None else self.V[:, kept]
        rho, trace = ledoit_wolf(V, self.weights, self.degrees)
        rho = min(max(rho, LEAST_INTENSITY), 1.0) if trace > 1e-24 * V.shape[1] else 1.0
        return (1 - rho) * V.T @ V / self.degrees + rho * np.eye(V.shape[1]), rho


def ledoit_wolf(V, weights, degrees):
    """Return the intensity of shrinkage and the trace of the covariance; rows come times the roots of their weights."""
    S, p = V.T @ V / degrees, V.shape[1]
    trace, size = np.trace(S), (S**2).sum()
    fourth = ((V**2).sum(axis=1) ** 2 / weights).sum()
    noise, excess = (fourth / degrees - size) / degrees, size - trace**2 / p
    if p > 1 and 1e-15 * size < excess < 1e-11 * size:
        raise Ambiguous("a covariance that is nearly spherical")
    return (min(max(noise / excess, 0.0), 1.0) if p > 1 and excess > 1e-14 * size else 0.0), trace


def spread(samples, W):
    """Return one over the root of the variance of the scores within classes, on average over the axes."""
    Z = samples.centred[: samples.labelled] @ W
    d, codes, total = samples.weights, samples.codes, 0.0
    for c in range(codes.max() + 1):
        own = Z[codes == c]
        total += (d[codes == c] @ (own - d[codes == c] @ own / d[codes == c].sum()) ** 2).sum()
    size = (d @ Z**2).sum()
    if total <= 1e-20 * size:
        if total > 1e-30 * size:
            raise Ambiguous("scores without spread")
        return 1.0
    return 1 / np.sqrt(total / (max(len(Z) - codes.max() - 1, 1) * W.shape[1]))


def discriminants(samples, panel, most):
    """Return the axes along which the classes lie farthest apart on a panel."""
    within = Within(samples, panel)
    sigma, rho = within.sigma()
    share = np.sqrt(within.masses / within.masses.sum())[:, None]
    B = share * within.centres
    solved = np.linalg.solve(sigma, B.T)
    values, U = np.linalg.eigh(B @ solved)
    values, U = values[::-1], U[:, ::-1]
    axes = min(most, len(panel), len(values) - 1)
    values, U = values[:axes], U[:, :axes]
    if np.any((values > 1e-13 * values[0]) & (values < 1e-7 * values[0])) or np.any(
        -np.diff(values) < 1e-6 * values[0]
    ):
        raise Ambiguous("discriminants that are equally good")
    keep = values > 1e-10 * values[0]
    values, U = values[keep], U[:, keep]
    W = np.zeros((samples.raw.shape[1], len(values)))
    W[panel] = solved @ (signs(U / share) * U / np.sqrt(values)) / within.scale[:, None]
    return W, rho


def covariance(samples, panel, W):
    """Return the within-class covariance of scores, from that of the panel."""
    within = Within(samples, panel)
    scaled = within.scale[:, None] * W[panel]
    return scaled.T @ within.sigma()[0] @ scaled


def dropped(samples, variables, free, size):
    """Return the panel that remains when variables are dropped one by one, always the one that is least missed."""
    within, kept = Within(samples, variables), list(range(len(variables)))
    is_free = [v in free for v in variables]
    least = max(size, 1) + sum(is_free)
    while len(kept) > least:
        share = 0.25 if len(kept) > 100 else 0.1
        count = min(max(int(len(kept) * share), 1), len(kept) - least)
        block, sigma = list(kept), within.sigma(kept)[0]
        for _ in range(count):
            bounds = [np.inf if is_free[j] else bound(within, block, sigma, kept, j) for j in kept]
            order = np.argsort(bounds)
            if bounds[order[1]] - bounds[order[0]] < 1e-9:
                raise Ambiguous("variables that are equally useful")
            kept.pop(int(order[0]))
    return np.array(variables)[kept]


def bound(within, block, sigma, kept, without):
    """Return the logarithm of the bound on the errors without a variable."""
    at = [k for k, j in enumerate(block) if j in kept and j != without]
    centres = within.centres[:, [block[k] for k in at]]
    pairs = np.triu_indices(len(centres), 1)
    apart = centres[pairs[0]] - centres[pairs[1]]
    if not at:
        return np.log(len(pairs[0]))
    squares = np.einsum("ij,ij->i", apart, np.linalg.solve(sigma[np.ix_(at, at)], apart.T).T)
    return np.logaddexp.reduce(-squares / 8)
