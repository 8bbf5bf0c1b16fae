"""How well a few variables decide: menet beside what people use, at equal numbers of distinct variables.

    python scripts/panels [--data FOLDER] [--splits 10] [--write]

FOLDER holds sets as .npz files with ``X`` and ``y``; the built-in set leukemia is always among them. Two thirds of
every class are for training. Every choice (ridge, refit, rule, metric, priors) is made by cross-validation inside
them, at every size. The table is the mean balanced accuracy in percent; ``--write`` puts it in docs/panels.md,
between its marks.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from baselines import BASELINES, standardised, stratified_split
from sets import built_in, files
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from menet import ManifoldElasticNetCV

SIZES = (10, 20, 50, 100)
GRID = {
    "ridge": (0.1, 0.3, 1.0),
    "refit": ("panel", "discriminant"),
    "rule": ("nearest", "centroid", "gaussian"),
    "rule__metric": ("euclidean", "cosine"),
    "rule__priors": ("train", "equal"),
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "panels.md"
# Large, and not of the kind that panels are asked of.
NOT_HERE = {"orl", "digits"}
BEGIN, END = "<!-- panels: begin -->", "<!-- panels: end -->"


def men(X_train, y_train, X_test, sizes):
    """Predict by panels of menet, each chosen by cross-validation inside the training samples."""
    X_train, X_test = standardised(X_train, X_test)
    out = {}
    for m in sizes:
        cv = ManifoldElasticNetCV(panel_size=m, param_grid=GRID, cv=folds(y_train), n_jobs=-1).fit(X_train, y_train)
        assert len(cv.panel_) <= m
        out[m] = cv.predict(X_test)
    return out


def folds(y):
    """Return five folds; small classes are missing from some."""
    return StratifiedKFold(5, shuffle=True, random_state=0)


METHODS = {"menet": men, **BASELINES}
NAMES = {
    "menet": "menet",
    "anova": "ANOVA filter, shrinkage LDA",
    "l1": "L1 logistic regression",
    "l1+lda": "its variables, shrinkage LDA",
    "anova+elimination": "ANOVA to 300, elimination by shrinkage LDA",
}


def measured(folder, splits):
    """Return the balanced accuracies in percent: set, method and size to one number per split."""
    found = {}
    for name, X, y in [*files(folder), *built_in()]:
        if name in NOT_HERE:
            continue
        for method, predict in METHODS.items():
            began = time.perf_counter()
            for split in range(splits):
                train, test = stratified_split(y, split)
                predicted = predict(X[train], y[train], X[test], SIZES)
                for m in SIZES:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        rate = 100 * balanced_accuracy_score(y[test], predicted[m])
                    found.setdefault((name, method, m), []).append(rate)
            rates = " ".join(f"{np.mean(found[name, method, m]):5.1f}" for m in SIZES)
            print(f"{name:12s} {method:18s} {rates}  {time.perf_counter() - began:6.1f} s", flush=True)
    return found


def table(found):
    """Return the means as Markdown: first over the sets, then set by set."""
    names = list(dict.fromkeys(name for name, _, _ in found))
    lines = ["| set | method | " + " | ".join(map(str, SIZES)) + " |", "|---|---|" + "---|" * len(SIZES)]
    for name in ["mean", *names]:
        for method in METHODS:
            chosen = names if name == "mean" else [name]
            means = [np.mean([np.mean(found[one, method, m]) for one in chosen]) for m in SIZES]
            cells = [f"**{x:.1f}**" if method == "menet" and name == "mean" else f"{x:.1f}" for x in means]
            lines.append(f"| {name} | {NAMES[method]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder of .npz files")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="put the table in docs/panels.md")
    options = parser.parse_args()
    result = table(measured(options.data, options.splits))
    print(result)
    if options.write:
        before, rest = DOCUMENT.read_text().split(BEGIN)
        _, after = rest.split(END)
        DOCUMENT.write_text(f"{before}{BEGIN}\n{result}\n{END}{after}")


if __name__ == "__main__":
    main()
