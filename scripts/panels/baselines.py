"""Baselines for panels of a few variables: four ways to choose variables and to decide by them.

Every baseline has the form ``f(X_train, y_train, X_test, sizes)``. For each size it returns the predicted classes of
the test samples, from at most that many variables. The functions standardise the samples by the training half, so
raw data can be passed.
"""

import warnings

import numpy as np
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression


def stratified_split(y, seed, test_share=1 / 3):
    """Return the positions of the training and of the test samples.

    Of every class about the given share is for the test, at least one sample and never all of them; a class of a single
    sample is in the training half.
    """
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        held_out = min(max(1, round(len(members) * test_share)), len(members) - 1)
        test.extend(members[:held_out])
        train.extend(members[held_out:])
    return np.sort(train), np.sort(test)


def standardised(X_train, X_test):
    """Return both halves less the training mean and over the training deviation; constant variables become 0."""
    X_train, X_test = np.asarray(X_train, dtype=float), np.asarray(X_test, dtype=float)
    mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    constant = deviation <= 1e-12 * np.maximum(1, np.abs(mean))
    scale = np.where(constant, 0, 1 / np.where(constant, 1, deviation))
    return (X_train - mean) * scale, (X_test - mean) * scale


def anova_lda(X_train, y_train, X_test, sizes):
    """Predict by shrinkage LDA on the variables with the largest F statistic."""
    X_train, X_test = standardised(X_train, X_test)
    order = by_anova(X_train, y_train)
    return {m: shrinkage_lda(X_train[:, order[:m]], y_train).predict(X_test[:, order[:m]]) for m in sizes}


def anova_elimination_lda(X_train, y_train, X_test, sizes, begin=300, share=0.1):
    """Predict by shrinkage LDA on what recursive elimination leaves of the variables with the largest F statistic.

    Every round drops this share of the variables, at least one: those with the smallest length, over the classes, of
    the weights that shrinkage LDA gives them.
    """
    X_train, X_test = standardised(X_train, X_test)
    panel = by_anova(X_train, y_train)[:begin]
    out = {}
    for m in sorted(sizes, reverse=True):
        lda = shrinkage_lda(X_train[:, panel], y_train)
        while len(panel) > m:
            kept = max(m, len(panel) - max(1, int(share * len(panel))))
            lengths = np.linalg.norm(lda.coef_, axis=0)
            panel = panel[np.sort(np.argsort(-lengths, kind="stable")[:kept])]
            lda = shrinkage_lda(X_train[:, panel], y_train)
        out[m] = lda.predict(X_test[:, panel])
    return out


def l1_logistic(X_train, y_train, X_test, sizes):
    """Predict by multinomial logistic regression with an L1 penalty, where it uses the most variables allowed."""
    X_train, X_test = standardised(X_train, X_test)
    classes, counts = np.unique(y_train, return_counts=True)
    out = dict.fromkeys(sizes, np.repeat(classes[counts.argmax()], len(X_test)))
    for admitted, used, model in l1_path(X_train, y_train, max(sizes)):
        predicted = classes[model.predict(X_test[:, admitted])]
        out.update({m: predicted for m in sizes if used.sum() <= m})
    return out


def l1_lda(X_train, y_train, X_test, sizes):
    """Predict by shrinkage LDA on the variables that L1 logistic regression uses there."""
    X_train, X_test = standardised(X_train, X_test)
    classes, counts = np.unique(y_train, return_counts=True)
    supports = dict.fromkeys(sizes)
    for _, used, _ in l1_path(X_train, y_train, max(sizes)):
        supports.update({m: used for m in sizes if 0 < used.sum() <= m})
    common = np.repeat(classes[counts.argmax()], len(X_test))
    return {
        m: common if used is None else shrinkage_lda(X_train[:, used], y_train).predict(X_test[:, used])
        for m, used in supports.items()
    }


def l1_path(X, y, most, ratio=1.2):
    """Yield the variables given to the solver, those it uses, and the model, until more than ``most`` are used.

    The inverse penalty C grows by a fixed ratio from where the first variable enters. Only variables that the
    sequential strong rule lets through go to the solver; those it wrongly held back are admitted, and the fit is
    repeated.
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    onehot = np.eye(len(classes))[codes]
    probabilities = np.tile(counts / len(codes), (len(codes), 1))
    slopes = np.abs(X.T @ (onehot - probabilities)).max(axis=1)
    penalty = slopes.max()
    used = np.zeros(X.shape[1], dtype=bool)
    while used.sum() <= most and penalty >= 1e-4 * len(codes):
        penalty, before = penalty / ratio, penalty
        admitted = used | (slopes >= 2 * penalty - before)
        while True:
            model = multinomial_l1(X[:, admitted], codes, 1 / penalty)
            # scikit-learn has one row of weights, for the second class, if there are two.
            probabilities = softmax(decision_values(model, X[:, admitted]), axis=1)
            slopes = np.abs(X.T @ (onehot - probabilities)).max(axis=1)
            missed = ~admitted & (slopes > 1.01 * penalty)
            if not missed.any():
                break
            admitted |= missed
        used = np.zeros_like(used)
        used[np.flatnonzero(admitted)[np.abs(model.coef_).max(axis=0) > 0]] = True
        yield admitted, used, model


def multinomial_l1(X, codes, C):
    """Return logistic regression over all classes with an L1 penalty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=C, l1_ratio=1, solver="saga", tol=1e-2, max_iter=300, random_state=0).fit(X, codes)


def decision_values(model, X):
    """Return one decision value per class, for two classes as well."""
    values = model.decision_function(X)
    return np.column_stack([np.zeros(len(X)), values]) if values.ndim == 1 else values


def by_anova(X, y):
    """Return the variables by falling F statistic; constant ones come last."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        F = f_classif(X, y)[0]
    return np.argsort(-np.nan_to_num(F, nan=-1, posinf=np.inf), kind="stable")


def shrinkage_lda(X, y):
    """Return linear discriminant analysis with the covariances of the classes shrunken after Ledoit and Wolf."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)


BASELINES = {
    "anova": anova_lda,
    "l1": l1_logistic,
    "l1+lda": l1_lda,
    "anova+elimination": anova_elimination_lda,
}
