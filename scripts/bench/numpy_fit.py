"""The fit of the Manifold Elastic Net as one would write it with NumPy, SciPy and scikit-learn.

What menet's preset "paper" says holds here: DLA patches, the whitened target, columns of length 1, kappa lowered as
far as definiteness asks. For a few thousand samples and variables: distances, A and the Gram matrix are dense.
"""

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian
from sklearn.linear_model import lars_path_gram
from sklearn.metrics.pairwise import euclidean_distances

ALPHA, BETA, KAPPA, RIDGE, FLOOR, SHRINKAGE = 1.0, 1.0, 0.1, 0.03, 0.5, 0.1
WITHIN = BETWEEN = 5


def fit(X, y, nonzeros, processes):
    """Return W (p x d), with at most so many nonzeros a column and one column fewer than there are classes."""
    G, b, norms = reduced(X, y)
    columns = in_processes(processes, path_end, ((G, c, nonzeros) for c in b.T))
    return (1 + RIDGE) * np.column_stack(columns) / norms[:, None]


def reduced(X, y):
    """Return the lasso that the fit comes down to: the Gram matrix, the correlations, and the norms of the columns."""
    L_within, L_between = alignment(X, y)
    X = X - X.mean(axis=0)
    norms = np.linalg.norm(X, axis=0)
    Y = target(X, y)
    X = X / norms
    A = smoothness(L_within, L_between)
    G = X.T @ (A @ X)
    G[np.diag_indices_from(G)] += RIDGE
    return G, X.T @ Y, norms


def alignment(X, y):
    """Return the Laplacians of the nearest of the same class and of the nearest of other classes."""
    distances = euclidean_distances(X, squared=True)
    same = y[:, None] == y
    others = ~same
    np.fill_diagonal(same, False)
    return [
        laplacian(neighbours + neighbours.T)
        for neighbours in (nearest(distances, same, WITHIN), nearest(distances, others, BETWEEN))
    ]


def nearest(distances, allowed, k):
    """Return the graph of the k nearest of those allowed, or of as many as there are."""
    masked = np.where(allowed, distances, np.inf)
    columns = np.argpartition(masked, k, axis=1)[:, :k].ravel()
    rows = np.repeat(np.arange(len(distances)), k)
    found = np.isfinite(masked[rows, columns])
    return csr_array((np.ones(found.sum()), (rows[found], columns[found])), shape=distances.shape)


def target(X, y):
    """Return the centres of the classes after whitening, in the basis in which they spread widest."""
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    rank = np.count_nonzero(s > 1e-12 * s[0])
    scores = U[:, :rank] * s[:rank]
    _, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    members = csr_array((1 / counts[y], (y, np.arange(len(y)))))
    centres = members @ scores
    inner = scores - centres[y]
    within = inner.T @ inner
    within[np.diag_indices_from(within)] += SHRINKAGE * np.trace(within) / rank
    whitened = solve_triangular(cholesky(within, lower=True), centres.T, lower=True).T
    weights = np.sqrt(counts / len(y))[:, None]
    U, s, _ = np.linalg.svd(weights * whitened, full_matrices=False)
    U, s = U[:, : len(counts) - 1], s[: len(counts) - 1]
    # The class farthest out is on the positive side; among equals the first.
    farthest = (np.abs(U) >= (1 - 1e-8) * np.abs(U).max(axis=0)).argmax(axis=0)
    signs = np.sign(U[farthest, np.arange(len(s))])
    return (signs * s * U / weights)[y]


def smoothness(L_within, L_between):
    """Return A = I + αβ L (αL + βI)⁻¹, where L = L_within − κ L_between with the largest κ that definiteness allows."""
    n = L_within.shape[0]
    bound = BETA / ALPHA * (1 - FLOOR) / (1 - FLOOR + BETA)
    L_within, L_between = L_within.toarray(), L_between.toarray()
    # No eigenvalue of L is below the bound up to one over the largest root of this pair.
    root = eigh(L_between, L_within + bound * np.eye(n), eigvals_only=True, subset_by_index=[n - 1, n - 1])[0]
    L = L_within - min(KAPPA, 1 / root) * L_between
    factor = cho_factor(ALPHA * L + BETA * np.eye(n))
    A = np.eye(n) + ALPHA * BETA * cho_solve(factor, L)
    return (A + A.T) / 2


def path_end(G, b, nonzeros):
    """Return the coefficients where the path is about to have more nonzeros than that."""
    # Steps are counted, and drops are steps too.
    steps = nonzeros + nonzeros // 2
    while True:
        _, _, path = lars_path_gram(b, G, n_samples=1, max_iter=steps, method="lasso")
        # What was dropped may be left with a rounding error.
        path[np.abs(path) <= 1e-12 * np.abs(path).max()] = 0
        between_knots = (path[:, :-1] != 0) | (path[:, 1:] != 0)
        exceeding = np.flatnonzero(between_knots.sum(axis=0) > nonzeros)
        if exceeding.size:
            return path[:, exceeding[0]]
        if path.shape[1] <= steps:
            return path[:, -1]
        steps *= 2


def in_processes(count, work, arguments, **options):
    """Return the results of work on each of the arguments, by so many processes of one thread each."""
    with parallel_config("loky", n_jobs=count, inner_max_num_threads=1):
        return Parallel()(delayed(work)(*args, **options) for args in arguments)
