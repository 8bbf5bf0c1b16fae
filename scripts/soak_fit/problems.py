"""Random small problems, and random settings for each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

PATCHES = [
    "dla",
    "laplacian",
    "laplacian-binary",
    "laplacian-unsupervised",
    "laplacian-binary-unsupervised",
    "lle",
    "lle-unsupervised",
    "ltsa",
    "ltsa-unsupervised",
]


@dataclass
class Problem:
    """Samples, labels (-1 for none), what else a fit is told of them, new samples, and settings."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    settings: dict
    weights: np.ndarray | None = None
    balanced: bool = False
    batches: list | None = None
    new_batches: list | None = None
    core: dict = field(default_factory=dict)


def problem(seed, index):
    """Return a problem that these two numbers decide."""
    rng = np.random.default_rng([seed, index])
    classes = int(rng.integers(2, 6))
    sizes = rng.integers(1, 10, size=classes)
    # Some classes of one sample, but two samples at least in some class.
    sizes[rng.integers(classes)] += rng.integers(3, 8)
    y = np.repeat(np.arange(classes), sizes)
    n, p = len(y), int(rng.integers(2, 31))
    extra = int(rng.integers(1, 8))
    X = values(rng, np.concatenate([y, rng.integers(0, classes, size=extra)]), p)
    X, new = X[:n], X[n:]
    made = Problem(X, y, new, {})
    order = rng.permutation(n)
    made.X, made.y = made.X[order], made.y[order]
    copies(rng, made)
    prepare = preparation(rng, made)
    counted(rng, made)
    made.settings = {**prepare, **manifold(rng), **model(rng, p, classes)}
    if made.balanced:
        made.settings["class_weight"] = "balanced"
    if made.settings["definiteness"] == "floor" and made.settings["route"] == "conjugate":
        made.settings["route"] = "dense"
    if (made.y < 0).any():
        made.settings["unlabelled"] = -1
        made.settings["definiteness"] = "shrink"
        made.settings["target_spread"] = ["classes", "all"][rng.integers(2)]
    return made


def values(rng, y, p):
    """Return samples of these classes, some of few values, with copies of columns and constant ones."""
    n = len(y)
    shift = rng.normal(size=(y.max() + 1, p)) * (rng.random(p) < 0.4) * rng.uniform(0.5, 3)
    X = rng.normal(size=(n, p)) + shift[y]
    kind = rng.integers(6)
    if kind == 0:
        X = np.round(X)
    elif kind == 1:
        X = np.round(np.clip(X, -1, 1))
    elif kind == 2:
        X *= 10.0 ** rng.integers(-2, 3, size=p)
    elif kind == 3:
        X += 10.0 ** rng.integers(0, 4)
    for j in range(p):
        chance = rng.random()
        if chance < 0.04:
            X[:, j] = X[:, rng.integers(p)] * rng.choice([1, -1, 2])
        elif chance < 0.07 and p > 3:
            X[:, j] = rng.choice([0.0, 0.1, 5.0])
    return X


def copies(rng, made):
    """Repeat some samples, in their class or in another."""
    if rng.random() < 0.3:
        for _ in range(rng.integers(1, 4)):
            i, k = rng.integers(len(made.y), size=2)
            if rng.random() < 0.7:
                made.X = np.vstack([made.X, made.X[i]])
                made.y = np.append(made.y, made.y[i])
            elif np.sum(made.y == made.y[k]) > 1:
                made.X[k] = made.X[i]


def preparation(rng, made):
    """Return how samples are prepared, and take values out that are then filled."""
    s = {"impute": None, "scale": "none", "max_missing": 0.5, "batch_scale": False}
    if rng.random() < 0.3:
        s["scale"] = str(rng.choice(["unit", "pareto", "log1p", "log1p-unit"]))
        if s["scale"].startswith("log1p"):
            made.X, made.new = np.abs(made.X), np.abs(made.new)
    if rng.random() < 0.3:
        s["impute"], s["max_missing"] = str(rng.choice(["mean", "median"])), float(rng.choice([0.3, 0.5, 1.0]))
        share = rng.uniform(0.02, 0.4, size=made.X.shape[1])
        lacking = rng.random(made.X.shape) < share
        # Every variable has a value.
        lacking[rng.integers(len(made.X)), :] = False
        made.X = np.where(lacking, np.nan, made.X)
        made.new = np.where(rng.random(made.new.shape) < share, np.nan, made.new)
    if rng.random() < 0.2:
        names = ["a", "b", "c"][: rng.integers(2, 4)]
        made.batches = list(rng.choice(names, size=len(made.X)))
        made.new_batches = list(rng.choice(sorted(set(made.batches)), size=len(made.new)))
        s["batch_scale"] = bool(rng.integers(2))
    return s


def counted(rng, made):
    """Give samples weights, or take labels away."""
    if rng.random() < 0.35:
        made.weights = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.7], size=len(made.y))
        if rng.random() < 0.5:
            made.weights = rng.uniform(0.2, 3, size=len(made.y))
        for c in np.unique(made.y):
            first = np.flatnonzero(made.y == c)[0]
            made.weights[first] = max(made.weights[first], 0.3)
    made.balanced = rng.random() < 0.15
    if rng.random() < 0.2 and made.batches is None:
        keep = [np.flatnonzero(made.y == c)[0] for c in np.unique(made.y)]
        without = rng.random(len(made.y)) < 0.3
        without[keep] = False
        made.y = np.where(without, -1, made.y)


def manifold(rng):
    """Return settings of the manifold term and the target."""
    return {
        "patch": PATCHES[rng.integers(len(PATCHES))] if rng.random() < 0.5 else "dla",
        "k_within": int(rng.integers(1, 7)),
        "k_between": int(rng.integers(0, 7)),
        "bandwidth": None if rng.random() < 0.7 else float(rng.uniform(0.5, 5)),
        "lle_regularizer": float(10 ** rng.uniform(-3, 0)),
        "ltsa_dimension": None if rng.random() < 0.7 else int(rng.integers(1, 3)),
        "alpha": float(rng.choice([0.0, 0.1, 1.0, 10.0])),
        "beta": float(rng.choice([0.1, 1.0, 10.0])),
        "kappa": float(rng.choice([0.0, 0.01, 0.1, 1.0])),
        "definiteness": "floor" if rng.random() < 0.25 else "shrink",
        "floor": float(rng.choice([0.2, 0.5, 0.8])),
        "target": "centres" if rng.random() < 0.4 else "whitened",
        "target_shrinkage": float(10 ** rng.uniform(-2, 1)),
        "target_spread": "classes",
        "route": str(rng.choice(["auto", "dense", "conjugate"])) if rng.random() < 0.5 else "auto",
        "gram": str(rng.choice(["auto", "full", "columns"])),
    }


def model(rng, p, classes):
    """Return settings of the selection, the refit and the rule."""
    s = {
        "preset": str(rng.choice(["default", "paper"])),
        "n_components": None if rng.random() < 0.7 else int(rng.integers(1, min(p, classes - 1) + 1)),
        "n_nonzeros": None if rng.random() < 0.3 else int(rng.integers(1, p + 3)),
        "panel_size": None if rng.random() < 0.6 else int(rng.integers(1, p + 3)),
        "ridge": float(rng.choice([0.01, 0.1, 0.3, 1.0, 10.0])),
        "refit": str(rng.choice(["none", "axis", "panel", "discriminant"])),
        "refit_ridge": None if rng.random() < 0.6 else float(10 ** rng.uniform(-2, 1)),
        "relax": 1.0 if rng.random() < 0.6 else float(rng.random()),
        "standardize": bool(rng.random() < 0.8),
        "rule": [None, "nearest", "centroid", "gaussian"][rng.integers(4)],
        "metric": [None, "euclidean", "cosine"][rng.integers(3 if min(p, classes - 1) > 1 else 2)],
        "n_neighbors": int(rng.choice([1, 1, 1, 3, 5])),
        "priors": ["train", "train", "equal", [float(x) for x in rng.uniform(0.2, 2, size=classes)]][rng.integers(4)],
        "penalty_factors": None,
        "always": None,
        "never": None,
    }
    if s["n_components"] == 1 and s["metric"] == "cosine" and rng.random() < 0.9:
        s["metric"] = None
    if rng.random() < 0.3:
        s["penalty_factors"] = [float(x) for x in rng.choice([0.5, 1.0, 1.0, 2.0], size=p)]
    if rng.random() < 0.2 and p > 3:
        chosen = rng.permutation(p)
        s["always"], s["never"] = chosen[:1].tolist(), chosen[1 : 1 + rng.integers(0, 3)].tolist()
    return s
