"""The scores of a search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from menet._cv import ManifoldElasticNetCV
from menet._input import Floats
from menet._parameters import settings
from menet._search import searched
from menet._settings import value_at
from menet.plot._looks import COLOURS, line_looks, line_style, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def selection(cv: Any, *, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Draw the mean score of a search against the number of variables, one line per refit and rule.

    For every size, refit and rule the best setting is drawn. Bars are one standard error of the mean over the folds.
    Lines are shifted by a percent or two so that bars do not hide each other. A ring marks the chosen setting.

    The result of a validation is drawn with one line, the best over all other settings at every size, and with the
    score that is one standard error below the best.

    Parameters
    ----------
    cv : ManifoldElasticNetCV or Validation
        A fitted search, or the result of a validation.
    ax : matplotlib Axes, optional
        The Axes to draw on. None: a new figure.
    **kwargs : dict
        Passed to ``Axes.errorbar`` for every line.

    Returns
    -------
    matplotlib Axes
        The Axes with the figure.

    Examples
    --------
    >>> from menet import ManifoldElasticNetCV, plot
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True)
    >>> grid = {"panel_size": [5, 10], "rule": ["centroid", "gaussian"]}
    >>> search = ManifoldElasticNetCV(refit="panel", param_grid=grid).fit(X, y)
    >>> ax = plot.selection(search)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['panel, centroid', 'panel, gaussian', 'chosen']
    """
    if not isinstance(cv, ManifoldElasticNetCV):
        if hasattr(cv, "sizes"):
            return _of_validation(cv, ax, kwargs)
        raise TypeError(
            f"`cv` is a {type(cv).__name__}, but must be a fitted ManifoldElasticNetCV or the result of a validation"
        )
    check_is_fitted(cv, "cv_results_")
    found = cv.cv_results_
    mean, variables = found["mean_test_score"], found["mean_n_features"]
    folds = np.stack([found[f"split{fold}_test_score"] for fold in range(cv.n_splits_)], axis=1)
    error = folds.std(axis=1, ddof=1) / math.sqrt(cv.n_splits_) if cv.n_splits_ > 1 else np.zeros(len(mean))
    # A parameter that was not searched has its value in the best estimator.
    best = settings(cv.best_estimator_)
    fixed = {name: value_at(one.path, best) for name, one in searched().items()}
    params = [{**fixed, **one} for one in found["params"]]
    lines: dict[tuple[str, str], dict[Any, int]] = {}
    for place, one in enumerate(params):
        if not np.isfinite(mean[place]):
            continue
        sizes = lines.setdefault((one["refit"], one["rule"]), {})
        size = (one["n_nonzeros"], one["panel_size"])
        if size not in sizes or mean[place] > mean[sizes[size]]:
            sizes[size] = place

    ax = new_axes(ax, figsize=(7, 4.2))
    given = line_style(kwargs)
    drawn: list[Any] = []
    for line, ((names, sizes), (colour, dash, marker)) in enumerate(zip(lines.items(), line_looks(), strict=False)):
        aside = 1.012 ** (line - (len(lines) - 1) / 2)
        places = sorted(sizes.values(), key=lambda place: variables[place])
        look = {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4, "linewidth": 1.6}
        bars = {"label": ", ".join(names), "capsize": 2.5, "elinewidth": 0.9}
        drawn.append(ax.errorbar(aside * variables[places], mean[places], error[places], **{**bars, **look, **given}))
    chosen = cv.best_index_
    drawn += ax.plot(variables[chosen], mean[chosen], **_ring("chosen", "#000000", 11))
    _whole_log_scale(ax, variables[[place for sizes in lines.values() for place in sizes.values()]])
    ax.set_xlabel("distinct variables (mean over the folds)")
    ax.set_ylabel(cv.scoring.replace("_", " ").replace("neg ", "negative ").replace("roc auc ovr", "AUC"))
    ax.grid(color="#e0e0e0", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(handles=drawn, loc="best", fontsize="small", handlelength=3.2)
    return ax


def _of_validation(result: Any, ax: Axes | None, kwargs: dict[str, Any]) -> Axes:
    """Draw the sizes of a validation with the best, the choice and the bound of one standard error."""
    sizes = sorted(result.sizes, key=lambda one: one.variables)
    if not sizes:
        raise ValueError("the validation compared no panel sizes, so there is nothing to draw")
    variables = np.array([one.variables for one in sizes], dtype=np.float64).clip(1)
    mean = 100 * np.array([one.balanced for one in sizes], dtype=np.float64)
    error = 100 * np.nan_to_num(np.array([one.standard_error for one in sizes], dtype=np.float64))

    ax = new_axes(ax, figsize=(7, 4.2))
    look = {"color": COLOURS[0], "linestyle": "-", "marker": "o", "markersize": 4, "linewidth": 1.6}
    bars = {"label": "best at every size", "capsize": 2.5, "elinewidth": 0.9}
    # A balanced accuracy above 100 % has no meaning.
    ends = np.stack([np.minimum(error, mean), np.minimum(error, 100 - mean)]).clip(0)
    drawn: list[Any] = [ax.errorbar(variables, mean, ends, **{**bars, **look, **line_style(kwargs)})]
    best = next((place for place, one in enumerate(sizes) if one.best), None)
    if best is not None:
        drawn += ax.plot(variables[best], mean[best], **_ring("best", COLOURS[1], 15))
        dashed: dict[str, Any] = {"color": "#555555", "linestyle": (0, (5, 3)), "linewidth": 1}
        drawn.append(ax.axhline(mean[best] - error[best], label="best less one standard error", **dashed))
    chosen = next((place for place, one in enumerate(sizes) if one.chosen), None)
    if chosen is not None:
        drawn += ax.plot(variables[chosen], mean[chosen], **_ring("chosen", "#000000", 11))
    _whole_log_scale(ax, variables)
    ax.set_xlabel("distinct variables (mean over the folds)")
    ax.set_ylabel("balanced accuracy (%)")
    ax.grid(color="#e0e0e0", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(handles=drawn, loc="best", fontsize="small", handlelength=3.2)
    return ax


def _ring(label: str, colour: str, size: float) -> dict[str, Any]:
    """Return the look of a ring about a point."""
    face = {"markerfacecolor": "none", "markeredgecolor": colour, "markeredgewidth": 1.4}
    return {"marker": "o", "linestyle": "none", "label": label, "markersize": size, "zorder": 4, **face}


def _whole_log_scale(ax: Axes, values: Floats) -> None:
    """Make the horizontal scale logarithmic, with whole numbers at round places."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = float(values.min()), float(values.max())
    low, high = low / 1.15, high * 1.15
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    round_numbers = [factor * 10**power for power in range(8) for factor in (1, 2, 3, 5)]
    ticks = [number for number in round_numbers if low <= number <= high]
    ticks = ticks if len(ticks) > 1 else sorted({round(float(value)) for value in values})
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels([f"{tick:,}" for tick in ticks])
