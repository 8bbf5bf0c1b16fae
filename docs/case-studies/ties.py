"""
Ties, and why exactness matters
===============================

Two variables *tie* when they reach the path at the same moment. With measured real numbers that never happens. With
pixels, counts, genotypes, answers to questionnaires or one-hot columns it happens all the time. This page shows what
ties do to a lasso path, here and in scikit-learn, by a check that belongs to neither.
"""

# %%
# The check
# ---------
# Let :math:`c = X^\top(y - Xw)`. The weights :math:`w` minimise :math:`\tfrac12\|y - Xw\|^2 + \lambda\|w\|_1` if and
# only if :math:`c_j = \lambda\,\mathrm{sign}(w_j)` where :math:`w_j \neq 0`, and :math:`|c_j| \le \lambda` elsewhere.
# So anyone can check a path with five lines of NumPy, without trusting the solver. The function returns the largest
# violation.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.linear_model import lars_path

import menet
from menet import plot


def violation(X, y, levels, coefs):
    """Return how far a path is from optimal at its worst knot, relative to the largest correlation."""
    c = X.T @ (y[:, None] - X @ coefs)
    zero = np.abs(coefs) <= 1e-10 * np.abs(coefs).max(axis=0)  # what rounding alone keeps from zero
    broken = np.where(zero, np.abs(c) - levels, np.abs(c - levels * np.sign(coefs)))
    return broken.max() / np.abs(X.T @ y).max()


def by_menet(X, y):
    """Return levels and coefficients at the knots."""
    path = menet.lars_path(X, y)
    return path.lambdas, path.coefs


def by_sklearn(X, y):
    """Return the same; scikit-learn's objective has a 1/n, hence its alphas are levels over n."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alphas, _, coefs = lars_path(X, y, method="lasso")
    return alphas * len(y), coefs


# %%
# Without ties, both are right
# ----------------------------

rng = np.random.default_rng(0)
worst = {by_menet: 0.0, by_sklearn: 0.0}
for _ in range(200):
    X, y = rng.normal(size=(20, 12)), rng.normal(size=20)
    for solve in worst:
        worst[solve] = max(worst[solve], violation(X, y, *solve(X, y)))
print(f"200 problems of Gaussian numbers: the worst violation is {worst[by_menet]:.0e} with menet")
print(f"and {worst[by_sklearn]:.0e} with scikit-learn {sklearn.__version__}.")

# %%
# With ties, one of them is not
# -----------------------------
# The values are now −1, 0 and 1, as in genotypes. scikit-learn's remedy is its ``jitter``: a little noise on y, which
# breaks ties at random.

wrong = {"menet": 0, "scikit-learn": 0, "scikit-learn with jitter": 0}
for _ in range(500):
    X, y = rng.integers(-1, 2, size=(20, 12)).astype(float), rng.integers(-1, 2, size=20).astype(float)
    wrong["menet"] += violation(X, y, *by_menet(X, y)) > 1e-9
    wrong["scikit-learn"] += violation(X, y, *by_sklearn(X, y)) > 1e-9
    wrong["scikit-learn with jitter"] += violation(X, y, *by_sklearn(X, y + 1e-10 * rng.uniform(size=20))) > 1e-9
print("Of 500 problems, paths that violate optimality by more than 1e-9:")
for name, count in wrong.items():
    print(f"  {name:24} {count:4}")

# %%
# By hand
# -------
# Take the identity matrix and :math:`y = (1, -1)`. Each coefficient is its response, moved towards zero by the level.
# So both must start at level 1, together, and end at :math:`(1, -1)`.

X, y = np.eye(2), np.array([1.0, -1.0])
for name, solve in (("menet", by_menet), ("scikit-learn", by_sklearn)):
    levels, coefs = solve(X, y)
    print(f"{name:12} ends at level {levels[-1]:g} with {coefs[:, -1]}: violation {violation(X, y, levels, coefs):.1g}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
levels, coefs = by_sklearn(X, y)
for j, (colour, dash) in enumerate((("#0072b2", "-"), ("#d55e00", "--"))):
    right.plot(levels, coefs[j], dash, color=colour, linewidth=1.8)
    right.annotate(
        str(j), (levels[-1], coefs[j, -1]), (4, 0), textcoords="offset points", color=colour, va="center", fontsize=8
    )
right.axhline(0, color="#808080", linewidth=0.8, zorder=1)
right.set(xlim=(1.02, 0), xlabel="level λ", title="scikit-learn: at level 1 one is already 1")
plot.path(menet.lars_path(X, y), ax=left)
left.set_title("menet: both move together")
plt.show()

# %%
# Duplicates
# ----------
# Two columns that are equal tie at every step. With a ridge, the elastic net gives them equal weights, whatever the
# noise does. That is what the theory says (the *grouping effect*), and what a reader of the weights expects.

X = rng.integers(0, 3, size=(60, 8)).astype(float)
X[:, 5] = X[:, 2]
y = X[:, 2] - X[:, 0] + 0.1 * rng.normal(size=60)
path = menet.lars_path(X, y, ridge=0.1)
print("weights of columns 2 and 5 at the last knot:", path.coefs[[2, 5], -1])
print(f"violation of the whole path: {path.kkt.max():.0e}")

# %%
# Why it matters
# --------------
# A path that has left the optimum still looks like a path. Nothing warns you. Its variables are not the ones that the
# problem selects, and a paper that reports them reports an accident of the solver. In menet a tie is solved as a small
# problem of its own (:doc:`/mathematics`), and the certificate is recomputed from the data at every knot.
