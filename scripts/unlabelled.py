"""Do samples without a label help? Rates on held-out samples, with 2 and 5 labelled samples per class.

    python scripts/unlabelled.py [--data FOLDER] [--splits N]

Digits are built in; Fashion-MNIST is Debian's package dataset-fashion-mnist; FOLDER may hold yale_40.npz (X, y). Half
of the samples that are not labelled take part without a label (10,000 of Fashion-MNIST), and the other half is
predicted (2,000). All methods see the same samples. "chosen" picks among the rows above it by cross-validation of the
labelled samples, which keeps the unlabelled ones in every training part. docs/real-samples.md has the results.
"""

import argparse
import gzip
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from menet import Manifold, ManifoldElasticNet, WhitenedTarget
from menet.datasets import load_digits

FASHION = Path("/usr/share/datasets/fashion-mnist")
NONE = -1

# Settings of menet: with labelled samples alone, or with all.
ALONE = {
    "labelled alone": ManifoldElasticNet(),
    "labelled alone, paper": ManifoldElasticNet.preset("paper"),
}
OF_ALL = WhitenedTarget(spread="all")
TOGETHER = {
    "unlabelled": ManifoldElasticNet(),
    "unlabelled, spread of all": ManifoldElasticNet(target=OF_ALL),
    "unlabelled, paper": ManifoldElasticNet.preset("paper"),
    "unlabelled, paper, spread of all": ManifoldElasticNet.preset("paper", target=OF_ALL),
    "unlabelled, paper, spread of all, beta 10": ManifoldElasticNet.preset(
        "paper", target=OF_ALL, manifold=Manifold(beta=10.0)
    ),
}


def sets(folder):
    """Return the sets that can be had: X, y, and how many take part without a label and are predicted."""
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y, None
    if folder is not None and (folder / "yale_40.npz").exists():
        yale = np.load(folder / "yale_40.npz")
        yield "yale_40", yale["X"].astype(float), yale["y"], None
    if FASHION.is_dir():

        def read(name, skip):
            return np.frombuffer(gzip.decompress((FASHION / name).read_bytes()), np.uint8)[skip:]

        X = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(float)
        yield "Fashion-MNIST", X, read("train-labels-idx1-ubyte.gz", 8).astype(int), (10_000, 2_000)


def split(y, per_class, sizes, random):
    """Return the places of the samples with a label, without one, and held out."""
    order = random.permutation(len(y))
    labelled = np.concatenate([order[y[order] == label][:per_class] for label in np.unique(y)])
    rest = np.setdiff1d(order, labelled)
    rest = random.permutation(rest)
    without, test = sizes or (len(rest) // 2, len(rest) - len(rest) // 2)
    return labelled, rest[:without], rest[without : without + test]


def menet(estimator, X, y, others=None):
    """Return a fit of labelled samples, and of others without a label."""
    men = clone(estimator).set_params(n_jobs=-1)
    if others is not None:
        X, y = np.vstack([X, others]), np.concatenate([y, np.full(len(others), NONE)])
        men.set_params(unlabelled=NONE)
    return men.fit(X, y)


def chosen(X, y, others):
    """Return the best row by cross-validation of the labelled samples; the first of equals."""
    folds = min(5, int(np.bincount(y).min()))
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y))

    def rate(name):
        left = None if name in ALONE else others
        estimator = (ALONE | TOGETHER)[name]
        return np.mean([np.mean(menet(estimator, X[a], y[a], left).predict(X[b]) == y[b]) for a, b in parts])

    return max([*ALONE, *TOGETHER], key=rate)


def rates(X, y, labelled, without, test):
    """Return the rate of every method on the held-out samples."""
    given, classes, others = X[labelled], y[labelled], X[without]
    found = {}
    for name, estimator in ALONE.items():
        found[name] = menet(estimator, given, classes).predict(X[test])
    for name, estimator in TOGETHER.items():
        found[name] = menet(estimator, given, classes, others).predict(X[test])
    found["chosen"] = found[chosen(given, classes, others)]
    both = np.vstack([given, others])
    marked = np.concatenate([classes, np.full(len(others), NONE)])
    spreading = make_pipeline(StandardScaler(), LabelSpreading(kernel="knn", n_neighbors=7, max_iter=100))
    found["LabelSpreading, 7 neighbours"] = spreading.fit(both, marked).predict(X[test])
    discriminant = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    found["LDA, labelled alone"] = discriminant.fit(given, classes).predict(X[test])
    found["SelfTraining, LDA"] = SelfTrainingClassifier(discriminant).fit(both, marked).predict(X[test])
    nearest = KNeighborsClassifier(1)
    found["1-NN, labelled alone"] = nearest.fit(given, classes).predict(X[test])
    return {name: 100 * float(np.mean(labels == y[test])) for name, labels in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with yale_40.npz")
    parser.add_argument("--splits", type=int, default=10, help="random splits; a third of them for Fashion-MNIST")
    args = parser.parse_args()
    # A path that ends early, or samples that no chain of neighbours joins to a labelled one: expected with two samples.
    warnings.simplefilter("ignore")
    for name, X, y, sizes in sets(args.data):
        splits = args.splits if sizes is None else max(args.splits // 3, 1)
        for per_class in (2, 5):
            start = time.perf_counter()
            random = np.random.default_rng(per_class)
            found = [rates(X, y, *split(y, per_class, sizes, random)) for _ in range(splits)]
            print(f"\n{name}, {per_class} labelled per class, {splits} splits, {time.perf_counter() - start:.0f} s")
            for method in found[0]:
                values = [one[method] for one in found]
                print(f"  {method:<44} {np.mean(values):5.1f}  (sd {np.std(values):.1f})", flush=True)


if __name__ == "__main__":
    main()
