"""Threads for the core, and warnings that point at the user's line."""

from __future__ import annotations

import os
import sys
import warnings

from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from menet._settings import whole_number

# A warning does not point at frames of these packages.
INSIDE = ("menet.", "sklearn.", "joblib.")


def threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for, by joblib's rules, but not more than there are cores."""
    if n_jobs is not None:
        n_jobs = whole_number("n_jobs", n_jobs, or_none=True)
    return min(int(effective_n_jobs(n_jobs)), os.cpu_count() or 1)


def warn_user(message: str, category: type[Warning] = ConvergenceWarning) -> None:
    """Warn at the line that called into this package or scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
