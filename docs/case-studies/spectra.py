"""
Spectra: which wavelengths to keep
==================================

A near-infrared spectrometer measures grain at 700 wavelengths. You want a cheap sensor with a dozen of them that tells
three qualities apart. Which dozen? And since neighbouring wavelengths say nearly the same: can we see *regions* instead
of single ones?
"""

# %%
# Realistic data from a recipe
# ----------------------------
# No free set of spectra comes with the packages, so we make one. The recipe follows what a spectrometer sees:
#
# - Absorbance is a sum of constituents: water, protein, starch and fat, each with overtone bands at known wavelengths
#   (such as 1450 and 1940 nm for water, 2055 and 2180 nm for protein).
# - The three qualities differ in their protein and fat by about one part in a hundred of the sample. Their water and
#   starch vary more than that, and mean nothing.
# - Light scatters differently in every sample: a random gain, an offset, and a slope over the wavelengths. These
#   effects are larger than the chemistry.
# - The detector adds noise.
#
# So nothing is easy, and we know the truth: the information is in the bands of protein and fat.

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import savgol_filter
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from menet import L1, ManifoldElasticNet, plot

wavelengths = np.arange(1100, 2500, 2)
# Centre (nm), width (nm) and height of the bands of every constituent.
BANDS = {
    "water": [(1450, 45, 1.0), (1940, 50, 1.6), (1190, 40, 0.25)],
    "protein": [(1510, 30, 0.35), (2055, 28, 0.6), (2180, 25, 0.55), (1735, 22, 0.25)],
    "starch": [(1580, 40, 0.4), (2100, 45, 0.9), (2280, 40, 0.5), (1360, 35, 0.2)],
    "fat": [(1725, 16, 0.45), (1765, 14, 0.35), (2310, 18, 0.8), (2348, 14, 0.5), (1210, 25, 0.25)],
}
# Share of every constituent: mean over all samples, and spread inside a quality.
SHARES = {"water": (0.12, 0.012), "protein": (0.12, 0.004), "starch": (0.65, 0.02), "fat": (0.03, 0.0012)}
# What a quality adds to protein and fat.
QUALITIES = {"bread": (0.010, 0.000), "feed": (-0.008, 0.0025), "malt": (-0.004, -0.0030)}


def spectra(per_quality, rng):
    """Return spectra and qualities of this many samples per quality."""
    pure = {
        name: sum(height * np.exp(-0.5 * ((wavelengths - centre) / width) ** 2) for centre, width, height in bands)
        for name, bands in BANDS.items()
    }
    X, y = [], []
    for quality, (more_protein, more_fat) in QUALITIES.items():
        for _ in range(per_quality):
            share = {name: rng.normal(mean, spread) for name, (mean, spread) in SHARES.items()}
            share["protein"] += more_protein
            share["fat"] += more_fat
            absorbance = sum(share[name] * pure[name] for name in pure)
            slope = np.linspace(-1, 1, len(wavelengths))
            scattered = rng.normal(1, 0.08) * absorbance + rng.normal(0.3, 0.05) + rng.normal(0, 0.03) * slope
            X.append(scattered + rng.normal(0, 0.0004, len(wavelengths)))
            y.append(quality)
    return np.array(X), np.array(y)


X, y = spectra(120, np.random.default_rng(0))
train, test, quality, quality_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

COLOURS = dict(zip(QUALITIES, ("#0072b2", "#d55e00", "#009e73"), strict=True))
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for spectrum, name in zip(train[::4], quality[::4], strict=True):
    ax.plot(wavelengths, spectrum, color=COLOURS[name], linewidth=0.7)
ax.set(xlabel="wavelength (nm)", ylabel="absorbance", title="Raw spectra: scatter hides the qualities")
ax.legend([plt.Line2D([], [], color=colour) for colour in COLOURS.values()], COLOURS)
plt.show()

# %%
# Preprocessing belongs in the pipeline
# -------------------------------------
# Chemometricians remove scatter with the *standard normal variate*: every spectrum is centred and divided by its own
# standard deviation. A first derivative (by the filter of Savitzky and Golay) removes what is left of offsets and
# slopes. Both work row by row, so they cannot leak; in a pipeline they are applied to new samples as well.


def snv(spectra):
    """Return every spectrum with mean 0 and standard deviation 1."""
    spectra = np.asarray(spectra)
    return (spectra - spectra.mean(axis=1, keepdims=True)) / spectra.std(axis=1, keepdims=True)


def slopes(spectra):
    """Return the first derivative of every spectrum after that."""
    return savgol_filter(snv(spectra), 15, 2, deriv=1, axis=1)


for name, treatment in (("raw spectra", None), ("after SNV", snv), ("its derivative", slopes)):
    model = make_pipeline(FunctionTransformer(treatment), ManifoldElasticNet(panel_size=12))
    scores = cross_val_score(model, train, quality, cv=5)
    print(f"{name:15} 12 wavelengths: {scores.mean():.1%} right in cross-validation")

# %%
# Which twelve?
# -------------

model.fit(train, quality)  # the last one: on derivatives
men = model[-1]
print(f"held-out samples: {model.score(test, quality_test):.1%} right with {len(men.panel_)} of 700 wavelengths")
everything = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(slopes(train), quality)
print(f"linear discriminants of all 700, for comparison: {everything.score(slopes(test), quality_test):.1%}")
informative = [(centre, 2 * width) for name in ("protein", "fat") for centre, width, _ in BANDS[name]]
near = [any(abs(wavelengths[j] - centre) <= reach for centre, reach in informative) for j in men.panel_]
print(f"{sum(near)} of the {len(near)} lie within two widths of a band of protein or fat")


def show_bands(ax):
    """Shade the bands of protein and fat, where the truth lies."""
    for name, colour in (("protein", "#cc79a7"), ("fat", "#e69f00")):
        for k, (centre, width, _) in enumerate(BANDS[name]):
            ax.axvspan(centre - width, centre + width, color=colour, alpha=0.22, label=name if k == 0 else None)


figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
show_bands(ax)
ax.plot(wavelengths, snv(train).mean(axis=0), color="#606060", linewidth=1)
for j in men.panel_:
    ax.axvline(wavelengths[j], color="#0072b2", linewidth=1.2)
ax.set(xlabel="wavelength (nm)", ylabel="mean spectrum", title="The panel (blue) and the bands that carry information")
ax.legend(loc="upper left")
plt.show()

# %%
# A dozen wavelengths do as well as all of them. Not all lie on a band of protein or fat: some are references. The
# scatter moves the whole spectrum, so that a band can be judged only against something that carries no information
# itself. A method that ranks wavelengths one by one would miss those. (A derivative is taken over some neighbouring
# wavelengths, so a sensor needs a narrow pair of filters for each.)
#
# Regions instead of single wavelengths
# -------------------------------------
# Of ten neighbouring wavelengths that say the same, a path takes one or two. With a *feature graph* neighbours pull
# each other in. ``feature_graph="chain"`` links every variable to the next one; ``refit="none"`` shows the axes as
# the path leaves them.


def axes_of(**graph):
    """Return the axes of a fit with 60 wavelengths per axis, as the path leaves them."""
    model = ManifoldElasticNet(n_nonzeros=60, refit="none", penalty=L1(**graph))
    return model.fit(slopes(train), quality).components_


def regions(axis):
    """Count the runs of neighbouring wavelengths that an axis uses."""
    used = np.concatenate([[False], axis != 0])
    return int((used[1:] & ~used[:-1]).sum())


plain, smooth = axes_of(), axes_of(feature_graph="chain", graph_weight=10.0)
figure, rows = plt.subplots(2, 1, figsize=(8, 4.6), layout="constrained", sharex=True)
for ax, axes, name in ((rows[0], plain, "no graph"), (rows[1], smooth, "chain, weight 10")):
    show_bands(ax)
    ax.vlines(wavelengths, 0, axes[0], color="#0072b2", linewidth=1)
    ax.axhline(0, color="#808080", linewidth=0.8)
    ax.set(ylabel="weight", title=f"{name}: {regions(axes[0])} regions on the first axis")
rows[1].set_xlabel("wavelength (nm)")
plt.show()

# %%
# The regions are what you show to an engineer who has to choose filters. To *decide* with few wavelengths, the panel
# above is the better tool. If the windows are given, say one per filter, use :doc:`groups </groups>`: then all
# wavelengths of a window enter together.

windows = [list(range(start, start + 25)) for start in range(0, 700, 25)]
men = ManifoldElasticNet(n_nonzeros=3, penalty=L1(feature_groups=windows, group_axes="together")).fit(
    slopes(train), quality
)
starts = sorted({wavelengths[25 * (j // 25)] for j in men.panel_})
print(f"three windows of 50 nm, from {', '.join(str(start) for start in starts)} nm on:")
print(f"{men.score(slopes(test), quality_test):.1%} of the held-out samples are right")

ax = plot.samples(men, slopes(test), quality_test)
ax.set_title("Held-out samples on the axes of three windows")
plt.show()
