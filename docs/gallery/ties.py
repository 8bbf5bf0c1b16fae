"""Ties: what discrete data do to a path, here and in scikit-learn, by a check that belongs to neither.

Run it as `python ties.py [FOLDER]`; figures go to FOLDER, or to `gallery-output`.
"""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.linear_model import lars_path

import menet
from menet import plot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")
folder.mkdir(parents=True, exist_ok=True)


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


def violation(X, y, levels, coefs):
    """Return how far a path is from optimal at its worst knot, relative to the largest correlation.

    With c = X'(y - Xw), w minimises ½‖y - Xw‖² + level Σ|w| exactly if c is level times the sign of w where w is not
    zero, and at most level in size elsewhere. Coefficients that rounding alone keeps from zero count as zero.
    """
    c = X.T @ (y[:, None] - X @ coefs)
    zero = np.abs(coefs) <= 1e-10 * np.abs(coefs).max(axis=0)
    broken = np.where(zero, np.abs(c) - levels, np.abs(c - levels * np.sign(coefs)))
    return broken.max() / np.abs(X.T @ y).max()


# Continuous data have no ties: the two agree, and the check finds nothing in either.
rng = np.random.default_rng(0)
apart = worst = 0.0
for _ in range(200):
    X, y = rng.normal(size=(20, 12)), rng.normal(size=20)
    ours, theirs = by_menet(X, y), by_sklearn(X, y)
    at = np.linspace(0, ours[0][0], 100)
    for mine, other in zip(ours[1], theirs[1], strict=True):
        difference = np.interp(at, ours[0][::-1], mine[::-1]) - np.interp(at, theirs[0][::-1], other[::-1])
        apart = max(apart, np.abs(difference).max())
    worst = max(worst, violation(X, y, *ours), violation(X, y, *theirs))
print(f"scikit-learn {sklearn.__version__} beside menet.")
print(f"200 Gaussian problems: the paths differ by at most {apart:.0e}, the worst violation of all is {worst:.0e}.")

# Values of -1, 0 and 1 make variables tie all the time. scikit-learn's remedy is noise: its LassoLars has a `jitter`,
# which is added to y. Here it is so small that what it moves is below what counts as a violation.
wrong = {"menet": 0, "scikit-learn": 0, "scikit-learn with jitter": 0}
for _ in range(500):
    X, y = rng.integers(-1, 2, size=(20, 12)).astype(float), rng.integers(-1, 2, size=20).astype(float)
    wrong["menet"] += violation(X, y, *by_menet(X, y)) > 1e-9
    wrong["scikit-learn"] += violation(X, y, *by_sklearn(X, y)) > 1e-9
    wrong["scikit-learn with jitter"] += violation(X, y, *by_sklearn(X, y + 1e-10 * rng.uniform(size=20))) > 1e-9
print("500 problems of -1, 0 and 1: paths that violate optimality by more than 1e-9:")
for name, count in wrong.items():
    print(f"  {name:24} {count:4}")

# A problem to solve by eye: with X the identity, each coefficient is its response, moved to zero by the level.
X, y = np.eye(2), np.array([1.0, -1.0])
print(f"\nX the 2 x 2 identity, y = {y}: at level 0 the coefficients are y.")
for name, solve in (("menet", by_menet), ("scikit-learn", by_sklearn)):
    levels, coefs = solve(X, y)
    far = violation(X, y, levels, coefs)
    print(f"  {name:12} ends at level {levels[-1]:g} with {coefs[:, -1]}, violation {far:.1g}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
levels, coefs = by_sklearn(X, y)
for j, (colour, dash) in enumerate((("#0072b2", "-"), ("#d55e00", "--"))):
    right.plot(levels, coefs[j], dash, color=colour, linewidth=1.8)
    end = levels[-1], coefs[j, -1]
    right.annotate(str(j), end, (4, 0), textcoords="offset points", color=colour, va="center", fontsize=8)
right.axhline(0, color="#808080", linewidth=0.8, zorder=1)
right.set(xlim=(1.02, 0), xlabel="level λ", title="scikit-learn: at level 1 one is already 1")
plot.path(menet.lars_path(X, y), ax=left)
left.set_title("menet: both move together")
figure.savefig(folder / "gallery-ties-paths.png", dpi=100)
