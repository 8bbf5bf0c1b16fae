"""The training samples that a fitted estimator keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from menet import _core
from menet._input import Floats, contiguous


@dataclass(frozen=True)
class Training:
    """The training samples. The weights and the rule of a smaller model are computed from them."""

    X: Any
    codes: NDArray[np.int64]
    # The variables that some path reaches, and whether `X` has only these.
    variables: NDArray[np.int64]
    alone: bool
    # Their projection on a fixed random axis, to notice a change in place.
    trace: Floats

    @classmethod
    def of(cls, X: Any, codes: NDArray[np.int64], variables: NDArray[np.int64], mean: Floats, threads: int) -> Training:
        """Remember samples as they are now."""
        bare = cls(X, codes, variables, alone=False, trace=np.empty(0))
        return replace(bare, trace=bare._traced(mean, threads))

    def samples(self, mean: Floats, threads: int) -> tuple[Any, NDArray[np.int64]]:
        """Return the samples, with zeros for the variables that were not kept, and their classes."""
        if not np.array_equal(self._traced(mean, threads), self.trace):
            raise ValueError(
                "the training samples were changed in place since the fit: fit again, or keep them as they were, "
                "to make the model smaller"
            )
        if not self.alone:
            return contiguous(self.X), self.codes
        kept = sparse.csc_array(self.X)
        counts = np.zeros(len(mean), dtype=np.int64)
        counts[self.variables] = np.diff(kept.indptr)
        starts = np.concatenate([[0], np.cumsum(counts)])
        whole = (kept.data, kept.indices.astype(np.int64), starts)
        return sparse.csc_array(whole, shape=(kept.shape[0], len(mean))), self.codes

    def state(self) -> dict[str, Any]:
        """Return the fields of `reachable`, which are plain arrays."""
        kept = self.reachable()
        return {"X": kept.X, "codes": kept.codes, "variables": kept.variables, "alone": kept.alone, "trace": kept.trace}

    def reachable(self) -> Training:
        """Return the same samples with only the variables that some path reaches."""
        if self.alone:
            return self
        kept = self.X[:, self.variables]
        return replace(self, X=kept if sparse.issparse(kept) else np.ascontiguousarray(kept), alone=True)

    def _traced(self, mean: Floats, threads: int) -> Floats:
        weights = np.random.default_rng(0).standard_normal(len(self.variables))
        places = self.variables
        if self.alone:
            mean, places = mean[places], np.arange(len(places), dtype=np.int64)
        projected: Floats = _core.project(contiguous(self.X), mean, places, weights, threads)
        return projected
