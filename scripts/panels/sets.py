"""The sets that panels and defaults are measured on."""

from pathlib import Path

import numpy as np

from menet.datasets import load_digits, load_leukemia, load_orl


def files(folder):
    """Yield names, samples and classes of the .npz files in a folder."""
    for path in sorted(Path(folder).glob("*.npz")) if folder else []:
        with np.load(path) as archive:
            yield path.stem, archive["X"].astype(float), archive["y"]


def built_in():
    """Yield the same of the sets that come with menet."""
    for name, load in {"leukemia": load_leukemia, "orl": load_orl, "digits": load_digits}.items():
        X, y = load(return_X_y=True)
        yield name, np.asarray(X, dtype=float), np.asarray(y)
