"""
Choosing a panel
================

Which panel, how large, and decided by which rule? Cross-validation chooses all three.
"""

import matplotlib.pyplot as plt

from menet import ManifoldElasticNetCV, plot
from menet.datasets import load_leukemia

# %%
# Three kinds of leukaemia, 5000 genes. Of two panels that are as good within one standard error, the smaller is the
# better one to measure in a laboratory.

X, y = load_leukemia(return_X_y=True, as_frame=True)
sizes = {"panel_size": [3, 5, 10, 20, 50]}
search = ManifoldElasticNetCV(param_grid=sizes, one_standard_error=True, n_jobs=-1).fit(X, y)
print(f"{len(search.cv_results_['params'])} settings, {search.n_splits_} folds. The choice:")
for name, value in search.best_params_.items():
    print(f"  {name:12} {value}")
print(f"It has a cross-validated balanced accuracy of {search.best_score_:.1%}.")

# %%
# Bars are one standard error. The ring marks the choice.

ax = plot.selection(search)
ax.set_title("Leukaemia: score by panel")
plt.show()

# %%
# Fitted to all samples, the panel is there to look at: what a gene weighs, and which kind it speaks for.

search.panel_table()[["variable", "effect", "importance", "higher_in"]].head(10).round(2)
