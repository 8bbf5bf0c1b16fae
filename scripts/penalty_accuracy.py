"""Nested balanced accuracy of every penalty at 10, 20 and 50 distinct variables.

    python scripts/penalty_accuracy.py FOLDER [--sets tox_171 lung_small] [--penalties l1 scad]

FOLDER has .npz files with `X` and `y`. Classes with fewer than five samples are left out. The outer folds are five,
stratified. Ridge, refit and rule are chosen inside every training part by a search over three folds. Needs menet and
scikit-learn.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

import menet

PENALTIES = ("l1", "adaptive", "reweighted", "scad", "mcp", "l0")
SIZES = (10, 20, 50)


def accuracy(X: np.ndarray, y: np.ndarray, penalty: str, size: int) -> tuple[float, float]:
    """Return the mean balanced accuracy over the outer folds, and the mean size of the panels."""
    scores, sizes = [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = menet.ManifoldElasticNetCV(
                panel_size=size, penalty=penalty, ridge=(0.03, 0.3, 3.0), cv=3, n_jobs=2
            )
            search.fit(X[train], y[train])
        scores.append(balanced_accuracy_score(y[test], search.predict(X[test])))
        sizes.append(len(search.best_estimator_.panel_))
    return float(np.mean(scores)), float(np.mean(sizes))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--penalties", nargs="*", default=PENALTIES)
    args = parser.parse_args()
    print("| set | penalty | " + " | ".join(f"{size} variables" for size in SIZES) + " | seconds |")
    print("|---" * (len(SIZES) + 3) + "|")
    for path in sorted(args.folder.glob("*.npz")):
        if args.sets and path.stem not in args.sets:
            continue
        data = np.load(path)
        X, y = data["X"].astype(float), data["y"]
        kept = np.isin(y, [label for label, count in zip(*np.unique(y, return_counts=True), strict=True) if count >= 5])
        for penalty in args.penalties:
            start = time.perf_counter()
            cells = []
            for size in SIZES:
                score, used = accuracy(X[kept], y[kept], penalty, size)
                cells.append(f"{100 * score:.1f} ({used:.0f})")
            seconds = time.perf_counter() - start
            print(f"| {path.stem} | {penalty} | " + " | ".join(cells) + f" | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
