"""The batches of samples on their way to the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from menet._exact import check_mask


def batch_names(batch: Any, n_samples: int) -> list[str] | None:
    """Return the name of the batch of every sample; None without batches."""
    if batch is None:
        return None
    check_mask("batch", batch)
    values = batch.tolist() if isinstance(batch, np.ndarray) else list(batch)
    if len(values) != n_samples:
        raise ValueError(f"`batch` has {len(values)} entries for {n_samples} samples; give one per sample")
    for row, value in enumerate(values):
        if missing(value):
            raise ValueError(f"`batch` has no value for sample {row} (counted from 0); give every sample a batch")
        if isinstance(value, list | dict | set):
            raise TypeError(f"`batch` has {value!r}, which cannot be a batch: use numbers or text")
    return [str(value) for value in values]


def missing(value: Any) -> bool:
    """Return whether a value says that there is none."""
    # pandas' NA is not even comparable.
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )
