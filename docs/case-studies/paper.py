"""
Reproducing the paper's table and figures
=========================================

Section 3 of the paper compares MEN with six baselines on faces: several random splits, every dimension, the best mean
rate. One command runs that experiment on any data. This page runs it on the built-in ORL faces and looks at what it
writes.
"""

# %%
# The experiment
# --------------
# Five photographs of every person for learning, the other five to be recognised, and all methods on the same splits.
# The paper repeats this five times. We do it twice here, so that the page is quick; leave out ``--repeats 2`` for the
# default of five. A stopped run continues where it was.

import csv
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from menet import plot

folder = Path(tempfile.mkdtemp()) / "orl-run"
command = f"menet evaluate --data orl --dims 1-39 --repeats 2 --quiet --out {folder}"
print("$", command.replace(str(folder), "orl-run"))
done = subprocess.run(command.split(), check=True, capture_output=True)  # it prints the table, too

# %%
# The table
# ---------
# ``rate`` is the best mean over all dimensions, as in the paper. That is optimistic, because the test samples choose
# the dimension; ``--tune`` chooses inside the training half. ``variables`` counts the distinct pixels that a method
# looks at.

summary = pd.read_csv(folder / "summary.csv")
shown = ["method", "rate", "sd", "balanced", "dimension", "variables", "seconds"]
summary[shown].set_index("method").round(1)

# %%
# ``men`` is menet with its defaults, ``men-paper`` is the method as the paper defines it. The paper used other crops of
# other faces (UMIST, Yale, FERET), which cannot be distributed, so compare the order of the methods, not the digits.
# :doc:`/panels` has our numbers on those sets.
#
# The figures
# -----------
# Recognition by dimension, from ``results.csv``:

rates = {}
with open(folder / "results.csv", newline="") as file:
    for row in csv.DictReader(file):
        rates.setdefault(row["method"], {}).setdefault(int(row["dimension"]), []).append(float(row["rate"]))
shown = ("men", "men-paper", "dla", "slpp", "flda", "pca")
curves = {name: [sum(found) / len(found) / 100 for _, found in sorted(rates[name].items())] for name in shown}
ax = plot.rates(curves)
ax.figure.set_size_inches(8, 4.6)
ax.set_title("ORL faces: recognition by dimension, mean of two splits")
plt.show()

# %%
# The command draws this and more itself. The first axes of every method as pictures:


def show(name, width):
    """Show a figure that the command has drawn."""
    picture = plt.imread(next((folder / "figures").glob(name)))
    height = width * picture.shape[0] / picture.shape[1]
    figure = plt.figure(figsize=(width, height))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.imshow(picture)
    ax.set_axis_off()
    plt.show()


show("bases-*.png", 9)

# %%
# The axes of ``men-paper`` are pixels that you can point at, up to a hundred each. Those of ``men`` share one panel:
# the weights are computed again on all pixels that some path has selected, which raises the rate and fills the
# pictures. (To have both, limit the panel: ``panel_size = 100`` in a file for ``--params``.) The other figures, and a
# page with an explorer of every path, are in the folder:

print(*sorted(file.name for file in (folder / "figures").glob("*.png")), sep="\n")
print(f"report.html: {(folder / 'report.html').stat().st_size / 1e6:.1f} MB, opens without a network")

# %%
# Your own faces
# --------------
# A folder with one sub-folder of pictures per person is a data set:
#
# .. code-block:: sh
#
#     menet evaluate --data faces/ --size 40x40 --train-per-class 4,5 --tune --out faces-run
#
# :doc:`/experiments` describes the protocol, all columns, and how parameters are chosen.
