"""ManifoldElasticNetCV beside GridSearchCV over the same grid: the same scores, and how long both take.

    target/venv/bin/python scripts/bench_cv.py [--threads N]

Both have the same number of threads: GridSearchCV as processes that fit with one thread each, menet inside one process.
GridSearchCV gets the settings that menet tries, and none twice.
"""

import argparse
import time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from menet import ManifoldElasticNet, ManifoldElasticNetCV
from menet.datasets import load_digits, load_leukemia


def seconds(work):
    start = time.perf_counter()
    out = work()
    return out, time.perf_counter() - start


def compare(name, X, y, threads):
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    search, ours = seconds(lambda: ManifoldElasticNetCV(cv=cv, n_jobs=threads).fit(X, y))
    settings = [{key: [value] for key, value in one.items()} for one in search.cv_results_["params"]]
    plain = GridSearchCV(ManifoldElasticNet(), settings, cv=cv, scoring="balanced_accuracy", n_jobs=threads)
    plain, theirs = seconds(lambda: plain.fit(X, y))
    apart = np.abs(plain.cv_results_["mean_test_score"] - search.cv_results_["mean_test_score"]).max()
    print(f"{name}: {X.shape[0]} x {X.shape[1]}, {len(settings)} settings, 5 folds, {threads} threads")
    print(f"  GridSearchCV         {theirs:8.1f} s")
    print(f"  ManifoldElasticNetCV {ours:8.1f} s, {theirs / ours:.0f} times faster")
    print(f"  scores differ by at most {apart:.0e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of both")
    options = parser.parse_args()
    compare("leukemia", *load_leukemia(return_X_y=True), options.threads)
    compare("digits", *load_digits(return_X_y=True), options.threads)


if __name__ == "__main__":
    main()
