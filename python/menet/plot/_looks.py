"""Colours, lines and Axes that all figures share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from menet._settings import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# As in the figures of the command: the colours of Okabe and Ito without yellow, then three of Tol's. Each line also has
# a dash and a marker, so that nothing relies on colour alone.
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#882255",
    "#999933",
    "#808080",
)
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.8)), (0, (5, 2, 1.2, 2)))
MARKERS = "os^Dv+x*"


def new_axes(ax: Axes | None, figsize: Any) -> Axes:
    """Return the given Axes, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("menet.plot needs matplotlib: pip install menet[plot]") from e
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def line_looks() -> Iterator[tuple[str, Any, str]]:
    """Return colour, dash and marker of one line after the other, as in the figures of the command."""
    for i in itertools.count():
        turn = i // len(COLOURS)
        yield COLOURS[i % len(COLOURS)], DASHES[(i + turn) % len(DASHES)], MARKERS[i % len(MARKERS)]


def line_style(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a line under their full names: matplotlib refuses ``lw`` beside our ``linewidth``."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(kwargs, Line2D)


def short(name: str, most: int = 22) -> str:
    """Return a name cut in the middle, since names often begin alike."""
    tail = most // 3
    return name if len(name) <= most else f"{name[: most - tail - 1]}…{name[-tail:]}"


def positive(name: str, value: int) -> int:
    whole = count(name, value)
    if whole == 0:
        raise ValueError(f"`{name}` is 0, but must be at least 1")
    return whole
