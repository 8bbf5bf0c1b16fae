"""What the defaults of refit, rule, metric and ridge are worth, and whether probabilities mean something.

    python scripts/panels/defaults.py [--data FOLDER] [--splits 5]

On all .npz files of FOLDER and on the built-in sets, two thirds of every class for training, samples as they are. The
first table has the balanced accuracy in percent at the default number of variables, the second the log loss on the test
samples beside that of a constant prior.
"""

import argparse
import warnings

import numpy as np
from baselines import stratified_split
from sets import built_in, files
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, log_loss

from menet import AutoRule, ManifoldElasticNet, Nearest

SETTINGS = {
    "preset paper": ManifoldElasticNet.preset("paper"),
    "none, cosine": ManifoldElasticNet.preset("paper", rule=Nearest(metric="cosine")),
    "axis": ManifoldElasticNet(refit="axis", ridge=0.3),
    "panel, ridge 0.3": ManifoldElasticNet(refit="panel", ridge=0.3),
    "panel, ridge 1": ManifoldElasticNet(refit="panel", ridge=1.0),
    "discriminant, ridge 0.03": ManifoldElasticNet(ridge=0.03),
    "discriminant, ridge 0.3": ManifoldElasticNet(ridge=0.3),
    "discriminant, ridge 1": ManifoldElasticNet(ridge=1.0),
    "the same, Euclidean": ManifoldElasticNet(ridge=0.3, rule=AutoRule(metric="euclidean")),
    "the same, centroid": ManifoldElasticNet(ridge=0.3, rule="centroid"),
    "the same, gaussian": ManifoldElasticNet(ridge=0.3, rule="gaussian"),
}
PROBABILITIES = {
    "default": ManifoldElasticNet(),
    "preset paper": ManifoldElasticNet.preset("paper"),
    "rule centroid": ManifoldElasticNet(rule="centroid"),
    "rule gaussian": ManifoldElasticNet(rule="gaussian"),
    "rule gaussian, 20 variables": ManifoldElasticNet(rule="gaussian", panel_size=20),
}


def table(sets, splits, settings, score):
    """Return one row of means per setting, one column per set, and the mean of all."""
    lines = ["| | " + " | ".join(sets) + " | mean |", "|---|" + "---|" * (len(sets) + 1)]
    for name, estimator in settings.items():
        means = []
        for X, y in sets.values():
            halves = (stratified_split(y, split) for split in range(splits))
            means.append(np.mean([score(estimator, X[a], y[a], X[b], y[b]) for a, b in halves]))
        digits = 1 if np.mean(means) > 10 else 2
        cells = " | ".join(f"{value:.{digits}f}" for value in [*means, np.mean(means)])
        lines.append(f"| {name} | {cells} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def balanced(estimator, X, y, X_test, y_test):
    """Return the balanced accuracy of a fit in percent."""
    fitted = clone(estimator).set_params(n_jobs=-1).fit(X, y)
    return 100 * balanced_accuracy_score(y_test, fitted.predict(X_test))


def loss(estimator, X, y, X_test, y_test):
    """Return the log loss of a fit, or of the shares of the classes."""
    labels, counts = np.unique(y, return_counts=True)
    if estimator is None:
        return log_loss(y_test, np.tile(counts / len(y), (len(y_test), 1)), labels=labels)
    fitted = clone(estimator).set_params(n_jobs=-1).fit(X, y)
    return log_loss(y_test, fitted.predict_proba(X_test), labels=labels)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder of .npz files")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    sets = {name: (X, y) for name, X, y in [*files(options.data), *built_in()]}
    warnings.simplefilter("ignore")
    print("balanced accuracy")
    print(table(sets, options.splits, SETTINGS, balanced))
    print("log loss")
    print(table(sets, options.splits, {"a constant prior": None, **PROBABILITIES}, loss))


if __name__ == "__main__":
    main()
