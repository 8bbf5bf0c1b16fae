"""
A gene panel, from CSV to methods paragraph
===========================================

A colleague sends you a table: 38 patients, 5000 genes, three kinds of leukaemia. She wants a panel of about ten genes
that the hospital's laboratory can measure, and a paragraph for the paper. She also asks: "Can I trust it?"

This page goes all the way, from the file to the words.
"""

# %%
# The table
# ---------
# We write the built-in leukaemia samples to a CSV file. Put your own file in its place: one row per sample, one column
# with the labels, numbers in all other columns.

import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import train_test_split

import menet
from menet import plot
from menet.datasets import load_leukemia

folder = Path(tempfile.mkdtemp())
load_leukemia(as_frame=True).frame.rename(columns={"target": "kind"}).to_csv(folder / "genes.csv", index=False)

table = pd.read_csv(folder / "genes.csv")
print(table["kind"].value_counts().to_string())
table.iloc[:4, :5]

# %%
# Some patients play the role of those who come to the hospital later. Only the map below shows them, and the end of the
# page tests on them; no choice looks at them.

now, later = train_test_split(table, test_size=0.3, stratify=table["kind"], random_state=1)
X, y = now.drop(columns="kind"), now["kind"]
print(f"{len(now)} patients to learn from, {len(later)} later ones")

# %%
# A first look
# ------------
# ``panel_size=10`` limits the whole model to ten genes. The path proposes some 300 candidates; then the gene whose loss
# hurts the separation of the kinds least is dropped, again and again, until ten are left.

men = menet.ManifoldElasticNet(panel_size=10).fit(X, y)
print(f"{men.n_components_} axes; the paths are optimal to {men.kkt_violation_.max():.0e}")
men.panel_table()[["variable", "effect", "importance", "higher_in", "class"]].round(2)

# %%
# ``effect`` is how far one standard deviation of the gene moves a patient. ``higher_in`` is the kind in which the gene
# is highest on average; ``class`` is the kind that a larger value favours while all other genes stay as they are. On
# the map, pale patients were used for the fit and full colours were not:

everyone = pd.concat([now, later])
ax = plot.samples(
    men, everyone.drop(columns="kind"), everyone["kind"], held_out=range(len(now), len(everyone)), regions=True
)
ax.set_title("Patients on the two axes")
plt.show()

# %%
# Can I trust it?
# ---------------
# A map of the samples that made it proves nothing. ``validate`` repeats *everything*, including the choice of the genes
# and of the settings, on parts of the data, and looks only at patients that were left out. We let it choose how many
# genes an axis may use, and take the smallest model within one standard error of the best. (``n_nonzeros`` counts per
# axis. A list of panel sizes would do as well, but takes longer: every panel is made by elimination.)

procedure = menet.ManifoldElasticNetCV(param_grid={"n_nonzeros": [3, 5, 10]}, one_standard_error=True, cv=3)
found = menet.validate(procedure, X, y, n_repeats=5, compare=["anova-lda"], out=folder / "trust", n_jobs=-1)
found

# %%
# **How good?** The balanced accuracy is the mean over the kinds of the share that is right. The interval takes the
# patient as its unit, so it is as wide as this number of patients makes it. Beside it stands an ANOVA filter with
# linear discriminants, on the same folds: look at the last column, too, which counts the genes.
#
# **Chance?** The whole procedure ran on permuted labels, too:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot.permutation(found, ax=left)
plot.confusion(found, ax=right)
plt.show()

# %%
# **The same genes?** Half of the patients select a panel, then the other half, fifty times over. A gene that is only in
# for luck comes and goes.

ax = plot.stability(found, top=20)
ax.figure.set_size_inches(7, 5)
plt.show()
print(f"Stability index of panels of {found.stability.size}: {found.stability.index} (below 0.4 is poor)")
stable = [str(found.feature_names[j]) for j in found.stability.stable]
print(f"Stable at {found.stability.threshold:.0%}: {', '.join(stable) or 'none'}")

# %%
# So tell her both things. The panel predicts well. But it is one of many panels that would: correlated genes stand in
# for each other. The stable genes are the ones to follow up in the laboratory.
#
# The panel
# ---------

panel = found.to_frame("panel")
panel[["name", "frequency", "effect", "class", "stable"]].round(2)

# %%
# The later patients
# ------------------

final = found.estimator_
X_later, y_later = later.drop(columns="kind"), later["kind"]
print(f"{(final.predict(X_later) == y_later).sum()} of {len(later)} later patients are right")
pd.DataFrame(final.predict_proba(X_later).round(2), columns=final.classes_, index=y_later).head()

# %%
# Hand it over
# ------------
# The model file is what the laboratory uses, in Python or with ``menet predict``. ``report.html`` has all of the
# above in one file that needs no network.

final.save(folder / "panel.safetensors")
for file in sorted(folder.rglob("*")):
    if file.suffix in (".safetensors", ".html"):
        print(f"{file.relative_to(folder)}: {file.stat().st_size // 1000} kB")

# %%
# And this is the paragraph for the paper, written from what was computed:

for paragraph in found.words:
    print(textwrap.fill(paragraph, 100), end="\n\n")

# %%
# At the command line
# -------------------
# The same, without Python:
#
# .. code-block:: sh
#
#     menet validate --data genes.csv --label kind --nonzeros 3,5,10 --one-standard-error \
#         --out trust --model panel.safetensors
#     menet inspect --model panel.safetensors --panel
#     menet predict --model panel.safetensors --data later.csv --label kind --out labels.csv
