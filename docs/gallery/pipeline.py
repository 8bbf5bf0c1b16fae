"""
A pipeline and a search
=======================

How many pixels does each axis need? scikit-learn's own search finds out, on handwritten digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from menet import ManifoldElasticNet
from menet.datasets import load_digits

# %%
# Half of the 1797 images is held out; the search never sees it. All pixels have the same range, so that scaling changes
# little here; with other data it may change much.

X, y = load_digits(return_X_y=True)
train, test, digit, digit_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = Pipeline([("scale", MinMaxScaler()), ("men", ManifoldElasticNet.preset("paper"))])
sizes = [2, 4, 8, 16, 32, 64]
search = GridSearchCV(model, {"men__n_nonzeros": sizes, "men__n_components": [5, 9]}, cv=5).fit(train, digit)
best = {name.removeprefix("men__"): value for name, value in search.best_params_.items()}
print(f"Best of {len(search.cv_results_['params'])} settings: {best['n_nonzeros']} of 64 pixels per axis,")
print(f"{best['n_components']} axes; {search.best_score_:.1%} recognised in five-fold cross-validation,")
print(f"{search.score(test, digit_test):.1%} of the {len(test)} images held out.")

# %%
# The bars are one standard deviation over the folds.

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
found = search.cv_results_
for axes, look, colour in ((9, "o-", "#0072b2"), (5, "s--", "#d55e00")):
    of = found["param_men__n_components"] == axes
    mean, spread = 100 * found["mean_test_score"][of], 100 * found["std_test_score"][of]
    ax.errorbar(sizes, mean, spread, fmt=look, color=colour, capsize=3, label=f"{axes} axes")
ax.set_xscale("log", base=2)
ax.set_xticks(sizes, sizes)
ax.set(xlabel="pixels per axis", ylabel="cross-validated rate (%)", title="Digits: rate by sparsity")
ax.legend(loc="lower right")
plt.show()

# %%
# Fitted again on all training images, the best model is there to look into.

confused = confusion_matrix(digit_test, search.predict(test))
confused[range(10), range(10)] = 0
truth, taken = divmod(confused.argmax(), 10)
print(f"The commonest error: {truth} taken for {taken}, {confused.max()} times.")

# %%
# The search fits every setting again in every fold. All are on the paths of one fit per fold, and ``at`` reads them off
# it: axes that are, bit for bit, those of a fit of their own. ``ManifoldElasticNetCV`` makes use of that.

one = ManifoldElasticNet.preset("paper").fit(MinMaxScaler().fit_transform(train), digit)
same = np.array_equal(one.at(**best).components_, search.best_estimator_["men"].components_)
fits = search.n_splits_ * len(search.cv_results_["params"]) + 1
print(f"That took {fits} fits. One with the defaults, read with `at` at the best setting,")
print(f"has the same axes, bit for bit: {'yes' if same else 'no'}.")
