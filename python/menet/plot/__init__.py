"""Figures of what was learned, with matplotlib (``pip install menet[plot]``).

Every function draws on the given Axes, or on the Axes of a new figure, and returns them. No function shows or saves
a figure.
"""

from menet.plot._bases import bases
from menet.plot._path import path
from menet.plot._rates import rates
from menet.plot._reliability import reliability
from menet.plot._selection import selection

__all__ = ["bases", "path", "rates", "reliability", "selection"]
