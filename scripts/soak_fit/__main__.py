"""Whole fits of random small problems against dense NumPy.

Run with a Python that has menet:

    target/venv/bin/python scripts/soak_fit --problems 10000

Every stage is compared: preparation, weights, patches, definiteness, target, the conditions of optimality of every path
by the oracle's own Gram matrix, panels, refits, projection, and the decision rules. A problem in which rounding decides
is ambiguous and does not count; one that the fit refuses, with a reason that is known, counts as refused. The last line
says how many were the same. Any that is off is printed with its number, and `--only` runs it alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from check import Off, compare
from numpy.linalg import LinAlgError
from problems import problem


def main() -> int:
    """Run the problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=10_000, help="how many problems count")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="one problem alone, by its number")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    index = 0 if options.only is None else options.only
    wanted = options.problems if options.only is None else 1
    while counts["same"] + counts["off"] + counts["refused"] < wanted:
        made = problem(options.seed, index)
        try:
            counts[compare(made)] += 1
        except (Off, LinAlgError) as off:
            counts["off"] += 1
            print(f"problem {index}: {off}\n  {made.settings}", flush=True)
        index += 1
        if options.only is not None:
            break
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("same", "refused", "ambiguous", "off"))
    print(f"seed {options.seed}: {told}")
    return 1 if counts["off"] else 0


if __name__ == "__main__":
    sys.exit(main())
