"""
Sparse text: whose docstring is this?
=====================================

Text is the classic sparse matrix: thousands of documents, tens of thousands of words, and almost all entries zero. This
page takes real text that every machine with this package has: the docstrings of NumPy, SciPy, pandas, scikit-learn and
matplotlib. Which words give a package away?
"""

# %%
# The documents
# -------------
# Every public function and class of the five packages is a document; its label is the package.

import importlib
import inspect
import pkgutil
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from menet import L1, ManifoldElasticNet, plot

PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "sklearn")


def docstrings(package):
    """Return the distinct docstrings of the public functions and classes of a package."""
    found = {}
    top = importlib.import_module(package)
    for module in pkgutil.iter_modules(top.__path__, prefix=f"{package}."):
        if any(
            part.startswith("_") or part in ("tests", "conftest", "testing", "f2py") for part in module.name.split(".")
        ):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # A part that needs another package.
            continue
        for name, thing in vars(loaded).items():
            home = getattr(thing, "__module__", None) or ""
            if name.startswith("_") or not home.startswith(package) or not (inspect.isclass(thing) or callable(thing)):
                continue
            members = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
            texts = [inspect.getdoc(member) if callable(member) else None for member in members]
            found |= {text: None for text in texts if text and len(text) > 300}
    return list(found)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Deprecated modules say so when they are imported.
    texts = {package: docstrings(package) for package in PACKAGES}
documents = [text for package in PACKAGES for text in texts[package]]
labels = np.repeat(PACKAGES, [len(texts[package]) for package in PACKAGES])
pd.Series({package: len(found) for package, found in texts.items()}, name="documents").to_frame()

# %%
# A sparse matrix
# ---------------
# One column per word of two letters or more. The matrix goes into menet as it is. (It is made dense inside only if that
# takes less than 256 MB.)

vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, token_pattern=r"[A-Za-z_]{2,}")
X = vectorizer.fit_transform(documents)
words = vectorizer.get_feature_names_out()
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.2%} of the entries are not zero")
train, test, package, package_test = train_test_split(X, labels, test_size=0.3, stratify=labels, random_state=0)

# %%
# The first answer is a leak
# --------------------------

began = time.perf_counter()
men = ManifoldElasticNet(panel_size=40, n_jobs=-1).fit(train, package)
print(f"{time.perf_counter() - began:.1f} s; {men.score(test, package_test):.1%} of the held-out documents are right")
table = pd.DataFrame(men.panel_table()).assign(word=lambda rows: words[np.asarray(rows["variable"], dtype=int)])
table[["word", "higher_in", "importance"]].head(12).round(3)

# %%
# Of course: the examples import the package, so its name and its abbreviation are in the text. A model that uses them
# is right and useless. Every field has such variables: the name of the scanner, the day of the measurement. ``never``
# names what the model must not use.

names = [*PACKAGES, "np", "pd", "plt", "mpl", "df", "sp", "matplotlib", "scikit", "learn", "axes", "numpydoc"]
leaks = [int(vectorizer.vocabulary_[name]) for name in dict.fromkeys(names) if name in vectorizer.vocabulary_]
men = ManifoldElasticNet(panel_size=40, penalty=L1(never=leaks), n_jobs=-1).fit(train, package)
print(
    f"without {len(leaks)} words: {men.score(test, package_test):.1%} of the held-out documents are right, by 40 words"
)
table = pd.DataFrame(men.panel_table()).assign(word=lambda rows: words[np.asarray(rows["variable"], dtype=int)])
pd.set_option("display.max_colwidth", None)
table.groupby("higher_in")["word"].apply(lambda found: ", ".join(found[:9])).to_frame(
    "words that are more frequent in it"
)

# %%
# How many words does it take?
# ----------------------------
# All sizes are read from one fit.

full = ManifoldElasticNet(panel_size=200, penalty=L1(never=leaks), n_jobs=-1).fit(train, package)
sizes = (5, 10, 20, 40, 80, 200)
rates = [full.at(panel_size=size).score(test, package_test) for size in sizes]
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(sizes, 100 * np.array(rates), "o-", color="#0072b2")
ax.axhline(100 * np.mean(package_test == pd.Series(package).mode()[0]), color="#808080", linestyle="--")
ax.annotate(
    "the most frequent package",
    (sizes[-1], 100 * np.mean(package_test == pd.Series(package).mode()[0])),
    (0, 4),
    textcoords="offset points",
    ha="right",
    color="#808080",
    fontsize=9,
)
ax.set_xscale("log")
ax.set_xticks(sizes, sizes)
ax.set(xlabel="words in the model", ylabel="right (%)", title="Held-out documents")
plt.show()

# %%
# The map
# -------

ax = plot.samples(full, test, package_test, ellipses=False)
ax.set_title("Held-out documents on the first two axes")
plt.show()

# %%
# At the command line, an svmlight file stays sparse in the same way:
#
# .. code-block:: sh
#
#     menet fit --data documents.svm --panel-size 40 --model words.safetensors
