"""The variables of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from menet._settings import whole_number
from menet.plot._looks import new_axes, positive
from menet.plot._panel import class_look, fitted, literal, variable_name, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def loadings(model: Any, *, axis: int = 0, top: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the largest weights of an axis times the standard deviations of their variables, as bars.

    The colour is that of the class that a larger value of the variable points to while all other variables stay as
    they are. Weights alone would depend on the units of the variables. A model that does not know the standard
    deviations is drawn with weights alone, and the label says so.

    Parameters
    ----------
    model : ManifoldElasticNet
        A fitted model.
    axis : int, default=0
        The axis, counted from 0.
    top : int, default=20
        How many variables to draw at most.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from menet import ManifoldElasticNet, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    >>> ax = plot.loadings(men, axis=1, top=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['M55150_at', 'U05259_rna1_at']
    """
    men = fitted(model)
    axes, known = men._model_of_fit().effects()
    k = whole_number("axis", axis)
    if not 0 <= k < len(axes):
        raise IndexError(f"axis {k} was asked for, but there are 0 to {len(axes) - 1}")
    effects = axes[k][: positive("top", top)]
    names = getattr(men, "feature_names_in_", None)

    ax = new_axes(ax, figsize=(6.4, 1.2 + 0.19 * max(len(effects), 4)))
    from matplotlib.patches import Patch

    colours = ["#9a9a9a" if place is None else class_look(place)[0] for *_, place in effects]
    ax.barh(range(len(effects)), [value for _, value, _ in effects], color=colours, height=0.75)
    ax.axvline(0, color="#777777", linewidth=0.8)
    ax.set_yticks(range(len(effects)), [variable_name(names, j) for j, *_ in effects], fontsize="small")
    ax.set_ylim(max(len(effects), 1) - 0.4, -0.6)
    ax.set_xlabel(f"weight times standard deviation, axis {k}" if known else f"weight, axis {k}")
    present = sorted({place for *_, place in effects if place is not None})
    if present:
        handles = [Patch(color=class_look(place)[0], label=visible(men.classes_[place])) for place in present]
        # Beside the bars: they may fill the whole height on both sides.
        where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        ax.legend(
            handles=handles,
            title="a larger value points\nto, others fixed",
            fontsize="small",
            title_fontsize="small",
            **where,
        )
    ax.grid(axis="x", color="#e0e0e0", linewidth=0.6)
    ax.set_axisbelow(True)
    literal(ax)
    return ax
