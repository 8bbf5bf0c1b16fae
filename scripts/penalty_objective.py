"""The objective that is reached with SCAD and MCP, beside that of skglm's coordinate descent.

    python scripts/penalty_objective.py [--problems 50]

Problems of 100 to 200 samples of 1,000 variables at three levels. Lower is better; the penalties are concave, so two
solvers may end at different stationary points. Needs menet, NumPy and skglm.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from penalty_simulation import simulated
from skglm import GeneralizedLinearEstimator
from skglm.datafits import Quadratic
from skglm.penalties import SCAD, MCPenalty
from skglm.solvers import AndersonCD

import menet


def value(penalty: str, t: np.ndarray, level: float) -> float:
    """Return the sum of the penalties of coefficients of size t, on variables of length 1."""
    if penalty == "mcp":
        t = np.minimum(t, 3 * level)
        return float((level * t - t**2 / 6).sum())
    middle = (7.4 * level * t - t**2 - level**2) / 5.4
    return float(np.where(t <= level, level * t, np.where(t <= 3.7 * level, middle, 2.35 * level**2)).sum())


def main() -> None:
    """Print how often each solver is better."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=50)
    problems = parser.parse_args().problems
    for penalty in ("scad", "mcp"):
        gaps, stationary = [], []
        for seed in range(problems):
            n = 100 if seed % 2 else 200
            X, y, _ = simulated(n, seed)
            # skglm divides the squared error by n, and takes variables of mean square 1 as of length 1.
            Z = np.asfortranarray(X * np.sqrt(n))
            level = (0.5, 0.3, 0.15)[seed % 3] * abs(X.T @ y).max()
            alpha = level / np.sqrt(n)
            theirs = GeneralizedLinearEstimator(
                Quadratic(),
                MCPenalty(alpha, 3.0) if penalty == "mcp" else SCAD(alpha, 3.7),
                AndersonCD(fit_intercept=False, tol=1e-10, max_iter=500, max_epochs=100_000),
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                w = theirs.fit(Z, y).coef_.ravel() * np.sqrt(n)
                path = menet.lars_path(X, y, lambda_min=level, penalty=penalty)
            reached = [0.5 * ((y - X @ w) ** 2).sum() + value(penalty, abs(w), level) for w in (path.coefs[:, -1], w)]
            gaps.append((reached[0] - reached[1]) / reached[1])
            stationary.append(path.stationarity)
        gaps = np.array(gaps)
        print(
            f"{penalty}: menet lower in {np.sum(gaps < -1e-9)}, equal in {np.sum(abs(gaps) <= 1e-9)}, higher in "
            f"{np.sum(gaps > 1e-9)} of {problems} problems; largest gap {gaps.max():.1e}, mean {gaps.mean():.1e}; "
            f"worst stationarity {max(stationary):.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
