"""False and missed variables of every penalty, in the usual simulation.

    python scripts/penalty_simulation.py [--repeats 50]

n = 100 and 200 samples of p = 1,000 variables, neighbours correlated by 0.5, 10 true variables of size 0.5 to 1.5 and
either sign, noise of standard deviation 1. Every method gives a sequence of models. Of each, the first model that has
found R of the true variables is read, and its false variables are counted. Where a method never finds so many, its
largest model counts, and the repeat is marked. Needs menet and NumPy.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import menet

P, TRUE, LARGEST = 1_000, 10, 40
PENALTIES = ("l1", "adaptive", "reweighted", "scad", "mcp", "l0")


def simulated(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """Return columns of mean 0 and length 1, a response of mean 0, and the true variables."""
    rng = np.random.default_rng([n, seed])
    X = rng.normal(size=(n, P))
    for j in range(1, P):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    true = rng.choice(P, TRUE, replace=False)
    y = X[:, true] @ (rng.choice([-1.0, 1.0], TRUE) * rng.uniform(0.5, 1.5, TRUE)) + rng.normal(size=n)
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean(), set(true.tolist())


def support(w: np.ndarray) -> set[int]:
    """Return the variables that are used."""
    return set(np.flatnonzero(w).tolist())


def models(penalty: str, X: np.ndarray, y: np.ndarray) -> list[set[int]]:
    """Return the variables of the models of 1, 2, ... variables."""
    if penalty in ("l1", "adaptive", "l0"):
        path = menet.lars_path(X, y, max_nonzeros=LARGEST, penalty=penalty)
        return [support(path.at_nonzeros(k)) for k in range(1, LARGEST + 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rounds that do not settle, which count as they are
        paths = [menet.lars_path(X, y, max_nonzeros=k, penalty=penalty) for k in range(1, LARGEST + 1)]
    return [support(path.coefs[:, -1]) for path in paths]


def stable(X: np.ndarray, y: np.ndarray, seed: int, pairs: int = 25, of: int = 20) -> list[set[int]]:
    """Return the 1, 2, ... variables that most half-samples select among their first `of`."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(P)
    for _ in range(pairs):
        order = rng.permutation(len(y))
        for half in (order[: len(y) // 2], order[len(y) // 2 :]):
            path = menet.lars_path(X[half], y[half] - y[half].mean(), max_nonzeros=of)
            counts[np.flatnonzero(path.at_nonzeros(of))] += 1
    order = np.argsort(-counts, kind="stable")
    return [set(order[:k].tolist()) for k in range(1, LARGEST + 1)]


def false_at(found: list[set[int]], true: set[int], recall: int) -> tuple[int, bool]:
    """Return the false variables of the first model with so many true ones, and whether there is one."""
    for model in found:
        if len(model & true) >= recall:
            return len(model - true), True
    return len(found[-1] - true), False


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50)
    repeats = parser.parse_args().repeats
    print("| n | method | false at recall 0.8 | false at recall 0.9 | false, missed at 10 variables |")
    print("|---|---|---|---|---|")
    for n in (100, 200):
        rows: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(repeats):
            X, y, true = simulated(n, seed)
            paths = {penalty: models(penalty, X, y) for penalty in PENALTIES}
            paths["stability"] = stable(X, y, seed)
            for name, found in paths.items():
                (eight, had_8), (nine, had_9) = (false_at(found, true, r) for r in (8, 9))
                ten = found[TRUE - 1]
                rows.setdefault(name, []).append((eight, not had_8, nine, not had_9, len(ten - true), len(true - ten)))
        for name, row in rows.items():
            mean = np.mean(row, axis=0)
            missed = [f" ({100 * m:.0f} % never)" if m else "" for m in (mean[1], mean[3])]
            cells = [f"{mean[0]:.1f}{missed[0]}", f"{mean[2]:.1f}{missed[1]}", f"{mean[4]:.1f}, {mean[5]:.1f}"]
            print(f"| {n} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
