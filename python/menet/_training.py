"""The training samples that a fitted estimator keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from menet import _core
from menet._input import Floats, contiguous
from menet._weights import SampleWeighting


@dataclass(frozen=True)
class Training:
    """The training samples. The weights and the rule of a smaller model are computed from them."""

    X: Any
    codes: NDArray[np.int64]
    counting: SampleWeighting
    # The variables that some path reaches, and whether `X` has only these.
    variables: NDArray[np.int64]
    alone: bool
    # Whether these are all samples and variables of the fit, as it saw them, so that they can be fitted again.
    whole: bool = field(default=False, kw_only=True)
    # Their projection on a fixed random axis, to notice a change in place.
    trace: Floats

    @classmethod
    def of_model(
        cls,
        model: _core.Model,
        X: Any,
        codes: NDArray[np.int64],
        counting: SampleWeighting,
        batches: list[str] | None,
        threads: int,
    ) -> Training:
        """Remember labelled samples; if the model prepares them, prepared and with the variables that paths reach."""
        labelled = codes >= 0
        whole = bool(labelled.all())
        if not whole:
            X, codes = X[labelled], codes[labelled]
        variables = np.array(model.reachable(), dtype=np.int64)
        if json.loads(model.preparation()) is None:
            return cls.of(X, codes, counting, variables, model.mean(), threads, whole=whole)
        rows, weights = _core.distinct(contiguous(X), codes, counting, threads)
        batches = None if batches is None else [batches[row] for row in rows.tolist()]
        kept = model.prepared(contiguous(X[rows]), threads, batches, variables.tolist())
        counting = {"weights": weights, "balanced": False, "distinct": True}
        bare = cls(kept, codes[rows], counting, variables, alone=True, trace=np.empty(0))
        return replace(bare, trace=bare._traced(model.mean(), threads))

    @classmethod
    def of(
        cls,
        X: Any,
        codes: NDArray[np.int64],
        counting: SampleWeighting,
        variables: NDArray[np.int64],
        mean: Floats,
        threads: int,
        *,
        whole: bool,
    ) -> Training:
        """Remember samples as they are now."""
        bare = cls(X, codes, counting, variables, alone=False, trace=np.empty(0), whole=whole)
        return replace(bare, trace=bare._traced(mean, threads))

    def samples(self, mean: Floats, threads: int) -> tuple[Any, NDArray[np.int64], SampleWeighting]:
        """Return the samples, with zeros for the variables that were not kept, their classes and weights."""
        if not np.array_equal(self._traced(mean, threads), self.trace):
            raise ValueError(
                "the training samples were changed in place since the fit: fit again, or keep them as they were, "
                "to make the model smaller"
            )
        if not self.alone:
            return contiguous(self.X), self.codes, self.counting
        kept = sparse.csc_array(self.X)
        counts = np.zeros(len(mean), dtype=np.int64)
        counts[self.variables] = np.diff(kept.indptr)
        starts = np.concatenate([[0], np.cumsum(counts)])
        whole = (kept.data, kept.indices.astype(np.int64), starts)
        return sparse.csc_array(whole, shape=(kept.shape[0], len(mean))), self.codes, self.counting

    def state(self) -> dict[str, Any]:
        """Return the fields of `reachable`, which are plain arrays."""
        kept = self.reachable()
        return {field.name: getattr(kept, field.name) for field in fields(kept)}

    def reachable(self) -> Training:
        """Return the distinct samples with only the variables that some path reaches."""
        if self.alone:
            return self
        # On one thread: a pickle may be made in a process that must not start more.
        rows, weights = _core.distinct(contiguous(self.X), self.codes, self.counting, 1)
        kept = self.X[rows][:, self.variables]
        bare = replace(
            self,
            X=kept if sparse.issparse(kept) else np.ascontiguousarray(kept),
            codes=self.codes[rows],
            counting={"weights": weights, "balanced": False, "distinct": True},
            alone=True,
            whole=False,
        )
        return replace(bare, trace=self.trace[rows])

    def _traced(self, mean: Floats, threads: int) -> Floats:
        weights = np.random.default_rng(0).standard_normal(len(self.variables))
        places = self.variables
        if self.alone:
            mean, places = mean[places], np.arange(len(places), dtype=np.int64)
        projected: Floats = _core.project(contiguous(self.X), mean, places, weights, threads)
        return projected
