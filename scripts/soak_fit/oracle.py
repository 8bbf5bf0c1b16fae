"""The reduction of the Manifold Elastic Net to a lasso, and the refits, by dense NumPy.

Every stage is the formula of docs/mathematics.md with weights and samples without a label. It shares no code with menet
and is not fast. `scripts/bench/numpy_fit.py` is the fast version, of the plainest case.
"""

from __future__ import annotations

import numpy as np
from prepare import Ambiguous
from scipy.linalg import cho_factor, cho_solve, eigh

# Quantities closer than this, relative to their size, are told apart by rounding.
NEAR = 1e-10


def reduced(samples, s):
    """Return the Gram matrix without the ridge, the correlations, the lengths of columns, and the kappa in use."""
    A, kappa = operator(samples, *alignment(samples, s), s)
    Y = target(samples, s)
    lengths = np.where(samples.norms > 0, samples.norms, 1.0) if s["standardize"] else np.ones(len(samples.norms))
    X = samples.centred / lengths
    d = samples.weights[:, None]
    b = X[: samples.labelled].T @ (d * Y)
    return X.T @ A @ X, b, lengths, kappa


def alignment(samples, s):
    """Return what keeps labelled samples together, what pushes them apart, and what the others add, n x n."""
    n, m = len(samples.raw), samples.labelled
    supervised, patch = not s["patch"].endswith("-unsupervised"), s["patch"].removesuffix("-unsupervised")
    squares = ((samples.raw[:, None, :] - samples.raw[None, :, :]) ** 2)[:, :, samples.norms > 0].sum(axis=2)
    same = samples.codes[:, None] == samples.codes[None, :]
    anyone = np.arange(n)
    near = [
        nearest(samples, squares, i, np.flatnonzero(same[i]) if supervised else anyone[:m], s["k_within"])
        for i in range(m)
    ]
    attract, repel, unlabelled = np.zeros((3, n, n))
    patches(samples, squares, attract, (range(m), near), patch, s)
    if n > m:
        others = [nearest(samples, squares, i, anyone, s["k_within"]) for i in range(m, n)]
        patches(samples, squares, unlabelled, (range(m, n), others), patch, s)
    if patch == "dla":
        for i in range(m):
            for j in nearest(samples, squares, i, np.flatnonzero(~same[i]), s["k_between"]):
                star(repel, i, j, 1.0)
    return attract, repel, unlabelled


def nearest(samples, squares, i, among, k):
    """Return the k nearest of those samples, ties to the first; never the sample itself."""
    among = among[among != i]
    order = among[np.lexsort((among, squares[i, among]))]
    if 0 < k < len(order):
        tied = order[np.abs(squares[i, order] - squares[i, order[k - 1]]) <= NEAR * squares[i, order[k]]]
        copies = np.all(samples.raw[tied] == samples.raw[tied[0]])
        whole = np.all(samples.raw == np.round(samples.raw)) and np.abs(samples.raw).max() < 1e6
        if np.isin(tied, order[k:]).any() and not copies and not whole:
            raise Ambiguous("neighbours at one distance")
    return order[:k]


def patches(samples, squares, L, centres, patch, s):
    """Add the patches around some centres to L."""
    distances = np.sort(
        np.concatenate([np.sqrt(squares[i, near]) for i, near in zip(*centres, strict=True)] or [np.zeros(0)])
    )
    width = s["bandwidth"] or (distances[(len(distances) - 1) // 2] if len(distances) else 1.0)
    for i, near in zip(*centres, strict=True):
        if patch in ("dla", "laplacian-binary", "laplacian"):
            for j in near:
                heat = patch == "laplacian" and squares[i, j] > 0
                star(L, i, j, np.exp(-squares[i, j] / width**2) if heat else 1.0)
            continue
        members = np.concatenate([[i], near]).astype(int)
        local = lle(samples.raw, i, near, s) if patch == "lle" else ltsa(samples, members, s)
        L[np.ix_(members, members)] += local


def star(L, i, j, weight):
    """Add weight (z_i − z_j)²."""
    L[i, i] += weight
    L[j, j] += weight
    L[i, j] -= weight
    L[j, i] -= weight


def lle(raw, i, near, s):
    """Return the square of the sample less its best reconstruction from its neighbours, with weights that sum to 1."""
    if not len(near):
        return np.zeros((1, 1))
    differences = raw[near] - raw[i]
    gram = differences @ differences.T
    trace = np.trace(gram)
    gram[np.diag_indices_from(gram)] += s["lle_regularizer"] * trace if trace > 0 else 1.0
    c = np.linalg.solve(gram, np.ones(len(near)))
    row = np.concatenate([[1.0], -c / c.sum()])
    return np.outer(row, row)


def ltsa(samples, members, s):
    """Return the projection on what no affine map of the local tangent coordinates explains."""
    m = len(members)
    dimension = min(s["ltsa_dimension"] or (m - 1) // 2, samples.raw.shape[1], m - 1)
    patch = samples.raw[members] - samples.raw[members].mean(axis=0)
    values, vectors = np.linalg.eigh(patch @ patch.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    size, next_ = values[0], values[dimension] if dimension < m else 0.0
    small = size <= 1e-20 * (samples.raw[members] ** 2).sum()
    if dimension and (small or values[dimension - 1] < 1e-9 * size or values[dimension - 1] - next_ < 1e-6 * size):
        raise Ambiguous("tangent spaces")
    V = vectors[:, :dimension]
    return np.eye(m) - 1.0 / m - V @ V.T


def operator(samples, attract, repel, unlabelled, s):
    """Return A, and the kappa that definiteness allows."""
    alpha, beta, f, n, m = s["alpha"], s["beta"], s["floor"], len(attract), samples.labelled
    D, kappa = np.diag(samples.d), s["kappa"] if s["patch"] == "dla" else 0.0
    if s["definiteness"] == "floor":
        return floored(attract - kappa * repel, samples, s), kappa
    if alpha > 0 and kappa > 0 and repel.any():
        d = samples.weights
        E = beta / alpha * (1 - f) * d / ((1 - f) * d + beta)
        within = attract[:m, :m] + np.diag(E)
        largest = eigh(repel[:m, :m], within, eigvals_only=True)[-1]
        kappa = min(kappa, 1 / largest)
    L = attract - kappa * repel + unlabelled
    shifted = cho_factor(alpha * L + beta * np.eye(n))
    A = D + alpha * beta * cho_solve(shifted, L)
    return (A + A.T) / 2, kappa


def floored(L, samples, s):
    """Return A with its eigenvalues raised to the floor; with weights, those of D^(-1/2) A D^(-1/2) as well."""
    alpha, beta, f = s["alpha"], s["beta"], s["floor"]
    values, V = np.linalg.eigh(L)
    shifted = alpha * values + beta
    with np.errstate(divide="ignore"):
        a = 1 + alpha * beta * values / shifted
    a = np.where((shifted > 0) & (a >= f), a, f)
    A = (V * a) @ V.T
    if not samples.weighted:
        return A
    roots = np.sqrt(samples.weights)
    values, V = np.linalg.eigh(np.eye(len(A)) + (A - np.eye(len(A))) / np.outer(roots, roots))
    return np.outer(roots, roots) * ((V * np.maximum(values, f)) @ V.T)


def target(samples, s):
    """Return the centre of the class of every labelled sample, in the basis in which the centres spread widest."""
    X, codes, d = samples.centred[: samples.labelled], samples.codes, samples.weights
    masses = np.bincount(codes, weights=d)
    member = (codes[:, None] == np.arange(len(masses))) * d[:, None] / masses
    centres = member.T @ X
    placed = centres
    if s["target"] == "whitened" and len(masses) > 2:
        spread, scale = X - centres[codes], np.sqrt(d)[:, None]
        known = scale * X
        if s["target_spread"] == "all" and len(samples.raw) > len(X):
            known = samples.centred
            spread, scale = known - known.mean(axis=0), 1.0
        within = (scale * spread).T @ (scale * spread)
        trace = np.trace(within)
        if trace > 1e-20 * (samples.norms**2).sum():
            shift = s["target_shrinkage"] * trace / rank(known)
            factor = np.linalg.cholesky(within + shift * np.eye(len(within)))
            placed = np.linalg.solve(factor, centres.T).T
        elif trace > 1e-28 * (samples.norms**2).sum():
            raise Ambiguous("classes without spread")
    share = np.sqrt(masses / masses.sum())[:, None]
    U, values, _ = np.linalg.svd(share * placed, full_matrices=False)
    values = values[: len(masses) - 1]
    values = values[values > 1e-13 * values[0]]
    if not len(values) or values[0] <= 1e-12 * np.linalg.norm(samples.norms):
        raise Ambiguous("class centres that coincide")
    falls = values[:-1] - values[1:]
    if np.any(values < 1e-7 * values[0]) or np.any(falls < 1e-6 * values[0]):
        raise Ambiguous("centres in fewer directions")
    axes = len(values) if s["n_components"] is None else s["n_components"]
    U, values = U[:, :axes], values[:axes]
    return (signs(U) * values * U / share)[codes]


def rank(X):
    """Return the rank of samples, unless it is in doubt."""
    values = np.linalg.svd(X, compute_uv=False)
    if np.any((values > 1e-13 * values[0]) & (values < 1e-5 * values[0])):
        raise Ambiguous("rank of the samples")
    return int(np.count_nonzero(values > 1e-9 * values[0]))


def signs(U):
    """Return the sign of the largest entry of every column; among nearly equal ones that of the first."""
    sizes = np.abs(U)
    first = (sizes >= (1 - 1e-8) * sizes.max(axis=0)).argmax(axis=0)
    return np.sign(U[first, np.arange(U.shape[1])])
