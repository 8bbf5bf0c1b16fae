"""
60,000 images
=============

Fashion-MNIST has 60,000 training images of clothes, 28 × 28 pixels, in ten classes. A matrix of samples by samples,
which the formulas of the method ask for, would have 3.6 billion entries. menet never forms it: how a fit is computed
depends on the size of the data, and the fit says how.
"""

# %%
# The data
# --------
# Debian and Ubuntu have the set as the package ``dataset-fashion-mnist``. Where it is not installed, this page uses the
# built-in digits instead, and says so: the code is the same, the point about the size is lost.

import gzip
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from menet import ManifoldElasticNet, Patch, plot
from menet.datasets import load_digits

FOLDER = Path("/usr/share/datasets/fashion-mnist")
CLOTHES = "T-shirt trousers pullover dress coat sandal shirt sneaker bag boot".split()


def read_idx(name):
    """Return the array of an IDX file of bytes."""
    raw = gzip.decompress((FOLDER / name).read_bytes())
    shape = [int.from_bytes(raw[4 + 4 * k : 8 + 4 * k], "big") for k in range(raw[3])]
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


if FOLDER.is_dir():
    found = [file.name for file in FOLDER.iterdir()]
    train, test = (
        read_idx(next(name for name in found if name.startswith(f"{part}-images")))
        .reshape(size, 784)
        .astype(np.float32)
        for part, size in (("train", 60_000), ("t10k", 10_000))
    )
    kind, kind_test = (
        np.array(CLOTHES)[read_idx(next(name for name in found if name.startswith(f"{part}-labels")))]
        for part in ("train", "t10k")
    )
    shape = (28, 28)
else:
    print("dataset-fashion-mnist is not installed: this run uses the 1,797 built-in digits instead")
    X, y = load_digits(return_X_y=True)
    train, test, kind, kind_test = train_test_split(X, y.astype(str), test_size=0.3, stratify=y, random_state=0)
    shape = (8, 8)
print(f"{len(train)} images of {train.shape[1]} pixels to learn from, {len(test)} to recognise")

# %%
# The fit
# -------
# Half of the time of such a fit is the search for neighbours. ``Patch(search="approximate")`` looks only where
# neighbours are likely, and measures what it missed. (It pays from about 50,000 samples on; below 10,000 the search is
# exact anyway.)

began = time.perf_counter()
men = ManifoldElasticNet(n_nonzeros=60, patch=Patch(search="approximate"), n_jobs=-1).fit(train, kind)
print(f"{time.perf_counter() - began:.0f} s for {men.n_components_} axes of at most 60 pixels per path")
recall = "all, the search was exact" if men.neighbor_recall_ is None else f"{men.neighbor_recall_:.3f}"
print(f"share of the true neighbours that were found: {recall}")
print(f"certificate of the paths: {men.kkt_violation_.max():.0e}")
print(men.regime_["why"].replace("; ", ";\n"))

# %%
# Where the time went, in seconds:

for stage, seconds in men.seconds_.items():
    print(f"  {stage:12} {seconds:6.2f}")

# %%
# What was learned
# ----------------
# The panel is the set of all pixels that some axis uses. Everything else need not be looked at.

print(f"{len(men.panel_)} of {train.shape[1]} pixels in the panel")
began = time.perf_counter()
rate = men.score(test, kind_test)
print(f"{rate:.1%} of the {len(test)} other images are right ({time.perf_counter() - began:.1f} s to classify them)")

plain = men.at(n_nonzeros=20)
print(f"{plain.score(test, kind_test):.1%} with at most 20 pixels per path, read from the same fit")

# %%
# Which clothes are confused?

figure, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
classes = list(men.classes_)
guess = men.predict(test)
counts = np.array([[np.sum((kind_test == a) & (guess == b)) for b in classes] for a in classes])
shares = 100 * counts / counts.sum(axis=1, keepdims=True)
ax.imshow(shares, cmap="Blues", vmin=0, vmax=100)
for i, j in zip(*np.nonzero(shares > 2), strict=True):
    ax.text(j, i, f"{shares[i, j]:.0f}", ha="center", va="center", color="white" if shares[i, j] > 50 else "black")
ax.set_xticks(range(len(classes)), classes, rotation=45, ha="right")
ax.set_yticks(range(len(classes)), classes)
ax.set(xlabel="taken for", ylabel="true class", title="Percent of every class")
plt.show()

# %%
# Shirts, T-shirts, pullovers and coats. Nine numbers that are weighted sums of pixels cannot match a neural network
# here, but you can look at them. Which pixels does the model use, by their importance, beside the mean image?

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
left.imshow(train.mean(axis=0).reshape(shape), cmap="gray_r")
right.imshow(men.feature_importances_.reshape(shape), cmap="magma_r")
for ax, title in ((left, "mean image"), (right, "importance of pixels")):
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# And the samples on the first two axes (2,000 of them):

rng = np.random.default_rng(0)
some = rng.choice(len(test), min(2000, len(test)), replace=False)
ax = plot.samples(men, test[some], kind_test[some], ellipses=False)
ax.set_title("Held-out images on the first two axes")
plt.show()

# %%
# If the samples do not fit in memory, read on with :doc:`larger_than_memory`.
