"""Faces: one fit gives every sparsity, and the axes can be looked at.

Run it as `python faces.py [FOLDER]`; figures go to FOLDER, or to `gallery-output`.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from menet import FLDA, PCA, ManifoldElasticNet, plot
from menet.datasets import load_orl

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")
folder.mkdir(parents=True, exist_ok=True)

# Ten photographs each of forty persons: five of each to learn from, the other five to recognise.
X, y = load_orl(return_X_y=True)
train, test, who, who_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{len(train)} photographs of {X.shape[1]} pixels to learn from, {len(test)} to recognise.")

# The only fit of MEN, the paper's: 39 axes of at most 100 pixels. Everything sparser is on its paths.
men = ManifoldElasticNet(n_nonzeros=100, preset="paper").fit(train, who)
print(f"{men.n_components_} axes, each optimal to {men.kkt_violation_.max():.0e}.\n")

# At the same dimension, with the nearest neighbour as the classifier throughout.
models = {f"men, {k} pixels": men.at(n_nonzeros=k) for k in (10, 20, 50, 100)}
models["PCA"] = PCA(n_components=39).fit(train, who)
models["FLDA"] = FLDA(n_components=39).fit(train, who)
print("Recognised with 39 axes:")
for name, model in models.items():
    print(f"  {name:15} {model.score(test, who_test):6.1%}   {model.n_nonzeros_.max():4} pixels per axis")

# Fewer axes need no fit either.
shown = ("men, 10 pixels", "men, 100 pixels", "PCA", "FLDA")
rates = {name: [models[name].at(n_components=d).score(test, who_test) for d in range(1, 40)] for name in shown}
ax = plot.rates(rates)
ax.set_title("ORL faces: recognition by dimension, one split")
ax.figure.savefig(folder / "gallery-faces-rates.png", dpi=100)

# White pixels are not looked at; PCA looks at all of them.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot.bases(men, (40, 40), ax=left, n_components=9, columns=3)
plot.bases(models["PCA"], (40, 40), ax=right, n_components=9, columns=3)
left.set_title("Manifold Elastic Net: 100 pixels per axis")
right.set_title("PCA: all 1600")
figure.savefig(folder / "gallery-faces-bases.png", dpi=100)
