"""How the time of a fit grows: samples, variables, axes and nonzeros, each doubled four times."""

import statistics
import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import table

DOUBLINGS = 4

# Okabe and Ito's, as in all figures.
FIT, LARS, PROPORTIONAL = "#0072b2", "#d55e00", "#808080"


class Curve(NamedTuple):
    """What is doubled, from where, what the rest is, and the largest growth a doubling may bring."""

    symbol: str
    what: str
    base: int
    sizes: dict
    bar: float
    # Stages whose growth is another matter, and whether that of LARS is told by itself.
    without: tuple = ()
    lars: bool = False

    def values(self):
        return [self.base << k for k in range(DOUBLINGS + 1)]

    def rest(self):
        return ", ".join(f"{key} = {value:,}" for key, value in self.sizes.items())


CURVES = (
    Curve("n", "samples", 2000, {"p": 200, "d": 9, "K": 50}, 2.3, without=("neighbors",)),
    Curve("p", "variables", 20_000, {"n": 200, "d": 4, "K": 50}, 2.3),
    Curve("d", "axes", 4, {"n": 1040, "p": 2000, "K": 200}, 2.2, lars=True),
    Curve("K", "nonzeros", 12, {"n": 600, "p": 3000, "d": 39}, 4.5, lars=True),
)


def data(n, p, d, seed=7):
    """Classes of equal size, one more than axes, that differ in a tenth of the variables."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (d + 1)
    X = rng.standard_normal((n, p))
    X[:, : p // 10] += 0.5 * rng.standard_normal((d + 1, p // 10))[y]
    return X, y


def measure(curve, repeats):
    """Median seconds of the fit and of its LARS stage at every size; the sizes take turns."""
    from menet import ManifoldElasticNet

    sizes = [curve.sizes | {curve.symbol: value} for value in curve.values()]
    problems = [data(size["n"], size["p"], size["d"]) for size in sizes]
    models = [
        ManifoldElasticNet.preset("paper", n_components=size["d"], n_nonzeros=size["K"], n_jobs=2) for size in sizes
    ]
    models[0].fit(*problems[0])
    fits, lars = [[] for _ in sizes], [[] for _ in sizes]
    # Twice as often and once more than there are processes of a solver: some of it is over in hundredths of a second.
    for _ in range(2 * repeats + 1):
        for k, (model, problem) in enumerate(zip(models, problems, strict=True)):
            start = time.perf_counter()
            model.fit(*problem)
            whole = time.perf_counter() - start
            fits[k].append(whole - sum(model.seconds_[stage] for stage in curve.without))
            lars[k].append(model.seconds_["lars"])
    return [statistics.median(seconds) for seconds in fits], [statistics.median(seconds) for seconds in lars]


def rows(curve, fit, lars):
    """One row for the fit, and one for LARS alone if the curve tells of it."""
    values = curve.values()
    span = f"{curve.symbol} = {values[0]:,} to {values[-1]:,} ({curve.rest()})"
    what = "fit" + "".join(f" without {stage}" for stage in curve.without)
    lines = [row(span, what, fit, curve.bar)]
    return [*lines, row("", "its LARS stage", lars, curve.bar)] if curve.lars else lines


def row(span, what, seconds, bar):
    ratios = [after / before for before, after in pairwise(seconds)]
    met = "yes" if max(ratios) <= bar else "no"
    cells = [f"{seconds[0]:.3f}", f"{seconds[-1]:.3f}", ", ".join(f"{ratio:.2f}" for ratio in ratios), f"{bar}", met]
    return table.line([span, what, *cells])


HEADER = ("doubled", "timed", "first s", "last s", "each doubling", "bar", "met")


def draw(measured, file):
    """Four panels on logarithmic scales, with thin lines of proportional growth from the first points."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(measured), figsize=(9, 3), layout="constrained")
    for panel, (curve, fit, lars) in zip(panels, measured, strict=True):
        values = curve.values()
        lines = [("fit", fit, {"color": FIT, "marker": "o"})]
        if curve.lars:
            lines.append(("LARS alone", lars, {"color": LARS, "marker": "s", "linestyle": (0, (5, 2))}))
        for _, seconds, _ in lines:
            proportional = [seconds[0] * value / values[0] for value in values]
            panel.plot(values, proportional, color=PROPORTIONAL, linewidth=0.8)
        for label, seconds, look in lines:
            panel.plot(values, seconds, markersize=4, linewidth=1.6, label=label, **look)
        panel.set_title(curve.rest(), fontsize="small")
        panel.set_xlabel(f"{curve.what} {curve.symbol}")
        scale(panel, values)
    panels[0].set_ylabel("seconds")
    panels[-1].plot([], [], color=PROPORTIONAL, linewidth=0.8, label="proportional")
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100)


def scale(panel, values):
    """Logarithmic axes with a tick at every size, and numbers rather than powers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.xaxis.set_major_locator(FixedLocator(values))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize="small")
    panel.grid(color="#e0e0e0", linewidth=0.6)
    panel.set_axisbelow(True)


def short(value):
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
