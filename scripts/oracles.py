"""Numbers that the tests of the baselines are held against: crates/menet/tests/data/oracles.json.

Run with NumPy and scikit-learn (made with NumPy 2.4, scikit-learn 1.9):

    python scripts/oracles.py > crates/menet/tests/data/oracles.json

PCA and LDA are scikit-learn's. Sparse PCA (Zou, Hastie and Tibshirani, at a fixed penalty) is an implementation of its
own: the same alternation, with coordinate descent by scikit-learn's ElasticNet in place of LARS.
"""

import json

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import ElasticNet

rng = np.random.default_rng(7)
CLASSES, EACH, P = 4, 10, 12
centres = rng.normal(size=(CLASSES, P))
mix = rng.normal(size=(P, P)) / np.sqrt(P)
y = np.repeat(np.arange(CLASSES), EACH)
x = np.round(centres[y] + rng.normal(size=(CLASSES * EACH, P)) @ mix, 6)


def sparse_pca(x, k, ridge, l1, turns=2000):
    """The objective of ‖X − X B Aᵀ‖² + ridge ‖B‖² + l1 ‖B‖₁ over AᵀA = I, at the end of the alternation."""
    x = x - x.mean(axis=0)
    _, p = x.shape
    a = np.linalg.svd(x, full_matrices=False)[2][:k].T
    best = np.inf
    for _ in range(turns):
        # scikit-learn: 1/(2m) ‖v − Uw‖² + alpha ρ ‖w‖₁ + alpha (1−ρ)/2 ‖w‖²; the ridge as extra rows instead.
        u = np.vstack([x, np.sqrt(ridge) * np.eye(p)])
        b = np.empty((p, k))
        for j in range(k):
            v = np.concatenate([x @ a[:, j], np.zeros(p)])
            net = ElasticNet(alpha=l1 / (2 * len(v)), l1_ratio=1.0, fit_intercept=False, tol=1e-14, max_iter=200_000)
            b[:, j] = net.fit(u, v).coef_
        left, _, right = np.linalg.svd(x.T @ (x @ b), full_matrices=False)
        a = left @ right
        objective = np.sum((x - x @ b @ a.T) ** 2) + ridge * np.sum(b**2) + l1 * np.abs(b).sum()
        if best - objective < 1e-12 * abs(objective):
            break
        best = objective
    return float(min(best, objective))


pca = PCA(svd_solver="full").fit(x)
lda = LinearDiscriminantAnalysis(solver="eigen").fit(x, y)
reduced = PCA(n_components=5, svd_solver="full").fit(x)
lda5 = LinearDiscriminantAnalysis(solver="eigen").fit(reduced.transform(x), y)
print(
    json.dumps(
        {
            "x": x.tolist(),
            "y": y.tolist(),
            "pca": pca.components_.tolist(),
            "lda": lda.scalings_[:, : CLASSES - 1].T.tolist(),
            "lda_after_pca_5": (reduced.components_.T @ lda5.scalings_[:, : CLASSES - 1]).T.tolist(),
            "spca": [
                {"components": k, "ridge": ridge, "l1": l1, "objective": sparse_pca(x, k, ridge, l1)}
                for k, ridge, l1 in [(1, 1.0, 20.0), (2, 0.1, 10.0), (3, 1.0, 10.0), (3, 10.0, 40.0)]
            ],
        }
    )
)
