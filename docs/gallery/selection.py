"""Genes again: which panel, how large, and decided on by which rule, all chosen by cross-validation.

Run it as `python selection.py [FOLDER]`; the figure goes to FOLDER, or to `gallery-output`.
"""

import sys
from pathlib import Path

from menet import ManifoldElasticNetCV, plot
from menet.datasets import load_leukemia

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")
folder.mkdir(parents=True, exist_ok=True)

# Three kinds of leukaemia, 5000 genes.
X, y = load_leukemia(return_X_y=True, as_frame=True)

# Of two panels that are as good within one standard error, the smaller is the better one to measure in a laboratory.
search = ManifoldElasticNetCV(panel_size=[3, 5, 10, 20, 50], one_standard_error=True, n_jobs=-1).fit(X, y)
print(f"{len(search.cv_results_['params'])} settings, {search.n_splits_} folds. The choice:")
for name, value in search.best_params_.items():
    print(f"  {name:10} {value}")
print(f"It has a cross-validated balanced accuracy of {search.best_score_:.1%}.\n")

# Fitted to all samples, the panel is there to look at: what a gene weighs, and which kind it speaks for.
table = search.panel_table()
print(f"{len(search.panel_)} of {X.shape[1]} genes, the most important first:")
print(table[["variable", "effect", "importance", "class"]].head(10).round(2).to_string(index=False))

ax = plot.selection(search)
ax.set_title("Leukaemia: score by panel")
ax.figure.savefig(folder / "gallery-selection.png", dpi=100)
