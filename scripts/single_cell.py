"""A fit of data like those of single cells: counts, 100,000 x 2,000, 5 % of them not zero.

    python scripts/single_cell.py [--cells N] [--genes N] [--density D] [--scale SCALE]

Ten types of cells differ in 20 genes each. Counts are small whole numbers, so ties are everywhere. It prints the
seconds per stage, the largest resident memory, and the rate on cells that were held out. Nothing else should run
meanwhile. docs/real-samples.md has the results.
"""

import argparse
import resource
import time

import numpy as np
from scipy import sparse

from menet import ManifoldElasticNet, Prepare

TYPES, MARKERS = 10, 20


def counts(cells, genes, density, random):
    """Return counts as a sparse matrix, and the types of the cells, whose markers are four times as frequent."""
    y = random.integers(0, TYPES, cells)
    frequent = random.gamma(0.5, size=genes)
    frequent *= density / frequent.mean()
    blocks = []
    for rows in np.array_split(np.arange(cells), 50):
        mean = np.tile(frequent, (len(rows), 1))
        for type_ in range(TYPES):
            mean[np.ix_(y[rows] == type_, np.arange(MARKERS) + MARKERS * type_)] *= 4.0
        blocks.append(sparse.csr_array(random.poisson(mean).astype(np.float32)))
    return sparse.vstack(blocks, format="csr"), y


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--genes", type=int, default=2_000)
    parser.add_argument("--density", type=float, default=0.055, help="the mean count")
    parser.add_argument("--scale", default="log1p")
    args = parser.parse_args()
    X, y = counts(args.cells + 5_000, args.genes, args.density, np.random.default_rng(0))
    print(f"{X.shape[0]} x {X.shape[1]}, {100 * X.nnz / np.prod(X.shape):.1f} % not zero, {X.data.nbytes / 1e6:.0f} MB")
    start = time.perf_counter()
    men = ManifoldElasticNet(n_nonzeros=50, prepare=Prepare(scale=args.scale), n_jobs=-1)
    men.fit(X[: args.cells], y[: args.cells])
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    rate = np.mean(men.predict(X[args.cells :]) == y[args.cells :])
    print(f"fit {seconds:.1f} s: " + ", ".join(f"{stage} {value:.1f}" for stage, value in men.seconds_.items()))
    print(f"peak {peak:.2f} GB; {men.regime_['why']}")
    print(f"certificate {men.kkt_violation_.max():.0e}, conjugate gradients {men.cg_residual_ or 0.0:.0e}")
    found = np.mean(men.panel_ < TYPES * MARKERS)
    print(f"held-out rate {100 * rate:.1f} %; {len(men.panel_)} genes, {100 * found:.0f} % of them markers")


if __name__ == "__main__":
    main()
