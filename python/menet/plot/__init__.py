"""Figures of what was learned, with matplotlib (``pip install menet[plot]``).

Every function draws on the given Axes, or on the Axes of a new figure, and returns them. No function shows or saves
a figure.
"""

from menet.plot._bases import bases
from menet.plot._batches import batches
from menet.plot._confusion import confusion
from menet.plot._heatmap import heatmap
from menet.plot._loadings import loadings
from menet.plot._path import path
from menet.plot._permutation import permutation
from menet.plot._rates import rates
from menet.plot._reliability import reliability
from menet.plot._samples import samples
from menet.plot._selection import selection
from menet.plot._stability import stability

__all__ = [
    "bases",
    "batches",
    "confusion",
    "heatmap",
    "loadings",
    "path",
    "permutation",
    "rates",
    "reliability",
    "samples",
    "selection",
    "stability",
]
