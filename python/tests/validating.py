"""Samples, classifiers and checks for the tests of `menet.validate`."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# Nothing but the folds, for what does not depend on more.
FOLDS = {"n_repeats": 1, "n_permutations": 0, "n_pairs": 0}


def waves(n=60, p=12, classes=3, seed=0):
    """Samples whose first variables tell the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    X[:, :classes] += 2.5 * np.eye(classes)[y]
    return X, y


def noise(n=60, p=200, seed=0):
    """Samples that say nothing about their class."""
    return np.random.default_rng(seed).standard_normal((n, p)), np.arange(n) % 2


def results(found):
    """Everything that must not depend on threads or on an interruption."""
    of = [(m.name, m.balanced_accuracy, m.rate, m.auc, m.log_loss, m.recall) for m in found._methods()]
    arrays = [
        array.tobytes()
        for method in found._methods()
        for array in (method.confusion, method.samples.given, method.samples.probabilities, *method.scores.values())
        if array is not None
    ]
    test = None if found.permutation is None else (found.p_value, found.permutation.permuted.tobytes())
    stability = None if found.stability is None else (found.stability.index, found.stability.frequencies)
    panel = [(entry.name, entry.frequency, entry.weights.tobytes()) for entry in found.panel]
    return of, arrays, test, stability, panel, found.words


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier for the tests: knows the most frequent class alone."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


class Breaks(Classifier):
    """Raises where it has to learn from a given number of samples."""

    def __init__(self, after=0):
        self.after = after

    def fit(self, X, y):
        calls.append(None)
        if len(calls) > self.after:
            raise ZeroDivisionError("my own mistake")
        return super().fit(X, y)


calls = []
