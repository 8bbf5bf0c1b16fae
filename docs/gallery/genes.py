"""
Reading the axes
================

Which of five thousand genes make an axis, and in what order did they come?
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from menet import ManifoldElasticNet, plot
from menet.datasets import load_leukemia

# %%
# Three kinds of leukaemia, as a frame: the columns are the genes, and their names stay with the model.

X, y = load_leukemia(return_X_y=True, as_frame=True)
counts = ", ".join(f"{n} {kind}" for kind, n in y.value_counts(sort=False).items())
print(f"{X.shape[0]} samples ({counts}) of {X.shape[1]} genes")

# %%
# Genes differ a thousandfold in scale; standardised, their weights can be compared. ``selected_features_`` has the
# genes in the order in which they entered the path.

model = make_pipeline(StandardScaler(), ManifoldElasticNet.preset("paper", n_nonzeros=8))
model.set_output(transform="pandas")
z = model.fit_transform(X, y)
men = model[-1]
for axis, genes in enumerate(men.selected_features_):
    weights = dict(zip(men.feature_names_in_, men.components_[axis], strict=True))
    print(f"Axis {axis}, in order of entry: gene and weight")
    for gene in genes:
        print(f"  {gene:18} {weights[gene]:+.3f}")

# %%
# The whole path of the first axis: from the left, the level falls, and genes enter.

ax = plot.path(men, 0)
ax.set_title("Leukaemia: the path of axis 0")
plt.show()

# %%
# ``set_output`` made the projection a frame, with the samples' index.

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
looks = (("o", "#0072b2"), ("s", "#d55e00"), ("^", "#009e73"))
for kind, (marker, colour) in zip(men.classes_, looks, strict=True):
    ax.scatter(*z[y == kind].to_numpy().T, marker=marker, color=colour, label=kind, alpha=0.8)
ax.set(xlabel="axis 0", ylabel="axis 1", title="The samples on two axes of eight genes each")
ax.legend()
plt.show()

# %%
# Genes are chosen anew in every fold: chosen on all samples, they would have seen the answers. 38 samples are few: one
# of them is 2.6 %.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = cross_val_score(model, X, y, cv=folds)
print(f"Recognised in five-fold cross-validation: {scores.mean():.1%} (folds: {scores.round(2)})")
