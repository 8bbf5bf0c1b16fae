"""Axes with and without a feature graph: how connected they are, and what they recognise.

    python scripts/graph_axes.py                         # the table of docs/feature-graph.md, from the built-in faces
    python scripts/graph_axes.py --picture FILE          # the picture of axes of these faces on that page
    python scripts/graph_axes.py --picture FILE digits   # the picture of axes of the built-in digits

Every line is one weight of the graph. An axis has at most 100 pixels. Regions are counted on the axes of the paths
(refit "none"): a *region* is a set of pixels of an axis that hang together by their sides. Each seed draws five
photographs per person for training; the other five are recognised.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.ndimage import label

from menet import L1, ManifoldElasticNet
from menet.datasets import load_digits, load_orl

WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
REFITS = ("none", "panel", "discriminant")
SEEDS = 5

# How a set is loaded, the side of its images, and the pixels per axis in its picture.
SETS = {"orl": (load_orl, 40, 100), "digits": (load_digits, 8, 16)}


def regions(axis, shape):
    """Return the number of connected regions of the pixels that an axis uses, and how many pixels the largest has."""
    marked, count = label(axis.reshape(shape) != 0)
    sizes = np.bincount(marked.ravel())[1:]
    return count, sizes.max() / sizes.sum()


def halves(y, seed):
    """Return rows for training and for testing, half of every class each."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(y), dtype=bool)
    for one in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == one))
        train[rows[: len(rows) // 2]] = True
    return train, ~train


def numbers(seeds):
    """Print the table."""
    X, y = load_orl(return_X_y=True)
    shape = (40, 40)
    told = [f"rate, `{refit}`" for refit in REFITS]
    print(f"| {' | '.join(['weight', 'pixels per axis', 'regions per axis', 'share of the largest', *told])} |")
    print("|---|---|---|---|---|---|---|")
    for weight in WEIGHTS:
        penalty = L1(feature_graph="grid:40x40", graph_weight=weight) if weight > 0 else L1()
        found, rates = [], {refit: [] for refit in REFITS}
        for seed in range(seeds):
            train, test = halves(y, seed)
            for refit, scores in rates.items():
                men = ManifoldElasticNet(refit=refit, penalty=penalty, n_nonzeros=100, n_jobs=2).fit(X[train], y[train])
                assert men.kkt_violation_.max() < 1e-9
                scores.append(100 * np.mean(men.predict(X[test]) == y[test]))
                if refit == "none":
                    found += [(np.count_nonzero(axis), *regions(axis, shape)) for axis in men.components_]
        used, count, largest = np.mean(found, axis=0)
        told = " | ".join(f"{np.mean(one):.1f} ± {np.std(one, ddof=1):.1f}" for one in rates.values())
        print(f"| {weight:g} | {used:.0f} | {count:.1f} | {100 * largest:.0f} % | {told} |", flush=True)


def picture(file, of):
    """Draw the first axes with and without the graph."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    load, side, pixels = SETS[of]
    X, y = load(return_X_y=True)
    settings = {"refit": "none", "n_nonzeros": pixels, "n_jobs": 2}
    grid = f"grid:{side}x{side}"
    rows = [
        ("no graph", ManifoldElasticNet(**settings).fit(X, y)),
        ("weight 1", ManifoldElasticNet(penalty=L1(feature_graph=grid), **settings).fit(X, y)),
        ("weight 10", ManifoldElasticNet(penalty=L1(feature_graph=grid, graph_weight=10.0), **settings).fit(X, y)),
    ]
    shown = 6
    figure, axes = plt.subplots(len(rows), shown, figsize=(1.45 * shown, 1.6 * len(rows)), layout="constrained")
    for line, (name, men) in zip(axes, rows, strict=True):
        for k, (ax, axis) in enumerate(zip(line, men.components_, strict=False)):
            # In units of one standard deviation of a pixel, so that pixels can be compared.
            values = (axis * X.std(axis=0)).reshape(side, side)
            limit = np.abs(values).max()
            ax.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit)
            count = regions(axis, (side, side))[0]
            ax.set_title(f"{count} region{'' if count == 1 else 's'}", fontsize=9)
            ax.set(xticks=[], yticks=[])
            if k == 0:
                ax.set_ylabel(name, fontsize=10)
    figure.savefig(file, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture to this file instead")
    parser.add_argument("set", nargs="?", default="orl", choices=SETS, help="of the picture; orl if it is left out")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many random halves")
    given = parser.parse_args()
    if given.picture:
        picture(given.picture, given.set)
    else:
        numbers(given.seeds)
