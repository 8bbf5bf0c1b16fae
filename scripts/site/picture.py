"""The picture of the front page: a table of genes, the panel that menet selects from it, and the classes told apart.

All of it is computed: the built-in leukaemia samples, a panel of ten genes, and samples that the model has not seen.
"""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import menet
from menet.datasets import load_leukemia

INKS = {"light": "#222832", "dark": "#ced6dd"}
COLOURS = ("#0072b2", "#d55e00", "#009e73")
# The genes that are drawn, out of 5000: more would be a grey blur.
SHOWN = 120


def draw(folder):
    """Write the picture for light and dark pages."""
    X, y = load_leukemia(return_X_y=True, as_frame=True)
    train, test, kind, kind_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    men = menet.ManifoldElasticNet(panel_size=10).fit(train, kind)
    found = dict(zip(men.feature_names_in_, range(X.shape[1]), strict=True))
    panel = [found[name] for name in men.panel_table()["variable"]]
    rng = np.random.default_rng(3)
    others = rng.choice(np.setdiff1d(np.arange(X.shape[1]), panel), SHOWN - len(panel), replace=False)
    places = np.sort(rng.choice(np.arange(4, SHOWN - 4, 3), len(panel), replace=False))
    order = np.empty(SHOWN, dtype=int)
    order[places] = panel
    order[np.setdiff1d(np.arange(SHOWN), places)] = others

    rows = np.argsort(kind.to_numpy(), kind="stable")
    table = np.log(train.to_numpy() + 200.0)
    table = (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-9)
    z = men.transform(test)
    right = men.score(test, kind_test)
    for scheme, ink in INKS.items():
        style = {
            "text.color": ink,
            "axes.edgecolor": ink,
            "axes.labelcolor": ink,
            "xtick.color": ink,
            "ytick.color": ink,
        }
        with mpl.rc_context({**style, "font.size": 10, "svg.fonttype": "path", "svg.hashsalt": "menet"}):
            sketch(folder / f"picture-{scheme}.svg", men, table[rows], order, places, panel, z, kind_test, right, ink)


def sketch(file, men, table, order, places, panel, z, kind, right, ink):
    """Draw the three parts."""
    figure, (left, middle, scatter) = plt.subplots(
        1, 3, figsize=(11, 3.5), layout="constrained", width_ratios=[1.35, 0.75, 1.0]
    )
    left.imshow(table[:, order], aspect="auto", cmap="Greys", vmin=-2, vmax=2.5, interpolation="nearest")
    for place in places:
        left.axvline(place, color="#d55e00", linewidth=1.6)
    left.set(xticks=[], yticks=[], xlabel="5000 genes (some of them)", ylabel="samples")
    left.set_title("A table with labels …", loc="left")

    effects = np.array([abs(effect) for effect in men.panel_table()["effect"]])
    classes = list(men.classes_)
    favoured = [classes.index(name) for name in men.panel_table()["higher_in"]]
    middle.barh(range(len(panel)), effects, color=[COLOURS[k] for k in favoured])
    middle.set_yticks(range(len(panel)), men.panel_table()["variable"], fontsize=8)
    middle.invert_yaxis()
    middle.set(xticks=[], xlabel="effect of a gene")
    middle.set_title("… ten genes that matter …", loc="left")
    for k, (name, marker) in enumerate(zip(classes, "os^", strict=True)):
        of = (kind == name).to_numpy()
        scatter.scatter(*z[of, :2].T, color=COLOURS[k], marker=marker, s=42, label=name, alpha=0.9)
    scatter.set(xticks=[], yticks=[], xlabel="axis 1", ylabel="axis 2")
    scatter.set_title("… and new samples told apart", loc="left")
    legend = scatter.legend(frameon=False, fontsize=9, title=f"{right:.0%} of {len(z)} right", title_fontsize=9)
    legend.get_title().set_color(ink)
    for ax in (left, middle, scatter):
        ax.patch.set_alpha(0)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    figure.savefig(file, transparent=True, metadata={"Date": None})
    plt.close(figure)
