"""Digits: are probabilities honest?

Run it as `python reliability.py [FOLDER]`; the figure goes to FOLDER, or to `gallery-output`.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from menet import ManifoldElasticNet, plot
from menet.datasets import load_digits

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")
folder.mkdir(parents=True, exist_ok=True)

# Few images to learn from, and a panel of few pixels, so that there is something to be unsure of.
X, y = load_digits(return_X_y=True)
train, test, digit, digit_test = train_test_split(X, y, test_size=0.7, stratify=y, random_state=0)
guess = log_loss(digit_test, np.tile(np.bincount(digit) / len(digit), (len(test), 1)))

figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
for ax, rule in zip(axes, ("nearest", "centroid", "gaussian"), strict=True):
    men = ManifoldElasticNet(panel_size=15, rule=rule).fit(train, digit)
    loss = log_loss(digit_test, men.predict_proba(test))
    rate = men.score(test, digit_test)
    print(f"{rule:9} {rate:.1%} right, log loss {loss:.2f}, against {guess:.2f} of a constant guess.")
    plot.reliability(men, test, digit_test, ax=ax)
    ax.set_title(f"{rule}: log loss {loss:.2f}")
for ax in axes[1:]:
    ax.set_ylabel("")
    ax.get_legend().remove()
figure.savefig(folder / "gallery-reliability.png", dpi=100)
