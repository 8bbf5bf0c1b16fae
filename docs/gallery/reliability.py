"""
Are probabilities honest?
=========================

How often is a prediction right, compared with how sure the rule is? Digits, with a panel of 15 pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from menet import ManifoldElasticNet, plot
from menet.datasets import load_digits

# %%
# Few images to learn from, and a panel of few pixels, so that there is something to be unsure of.

X, y = load_digits(return_X_y=True)
train, test, digit, digit_test = train_test_split(X, y, test_size=0.7, stratify=y, random_state=0)
guess = log_loss(digit_test, np.tile(np.bincount(digit) / len(digit), (len(test), 1)))

# %%
# Predictions are right about as often as their probabilities say, or slightly more often. The numbers in the figure are
# the sizes of the groups.

figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
for ax, rule in zip(axes, ("nearest", "centroid", "gaussian"), strict=True):
    men = ManifoldElasticNet(panel_size=15, rule=rule).fit(train, digit)
    loss = log_loss(digit_test, men.predict_proba(test))
    rate = men.score(test, digit_test)
    print(f"{rule:9} {rate:.1%} right, log loss {loss:.2f}, against {guess:.2f} of a constant guess")
    plot.reliability(men, test, digit_test, ax=ax)
    ax.set_title(f"{rule}: log loss {loss:.2f}")
for ax in axes[1:]:
    ax.set_ylabel("")
    ax.get_legend().remove()
plt.show()
