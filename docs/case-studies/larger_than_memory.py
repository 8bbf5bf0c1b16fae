"""
Data larger than memory, on Dask
================================

The samples are in files, and together they are larger than the memory of any one process. ``menet.dask`` fits them
chunk by chunk, on one machine or on many, and learns the same model.

To run in seconds, this page uses a small set and pretends. The code is what you would write for a real one: change the
files and the address of the scheduler. :doc:`/scale-out` has measurements on 1.2 GB with workers of 1 GB, and a
prediction for ten million samples.
"""

# %%
# Files on disk
# -------------
# We write twelve files of 1,000 samples, one after the other, so that never more than one is in memory. The classes
# differ in a few of the 200 variables.

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

import menet
from menet import plot
from menet.dask import ManifoldElasticNet

FILES, ROWS, VARIABLES, CLASSES = 12, 1000, 200, 4
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
centres = np.zeros((CLASSES, VARIABLES))
centres[:, :12] = rng.normal(scale=1.1, size=(CLASSES, 12))  # only the first twelve variables matter
mixing = np.eye(VARIABLES) + 0.4 * np.eye(VARIABLES, k=1)  # neighbours are correlated
for part in range(FILES):
    y = rng.integers(CLASSES, size=ROWS)
    X = (rng.normal(size=(ROWS, VARIABLES)) + centres[y]) @ mixing
    np.save(folder / f"{part}.npy", X.astype(np.float32))
    np.save(folder / f"labels-{part}.npy", y)
total = sum(file.stat().st_size for file in folder.iterdir())
print(f"{FILES} files, {FILES * ROWS} samples, {total / 1e6:.0f} MB")

# %%
# A lazy array
# ------------
# One chunk per file. Nothing is read yet.


def lazy(path):
    """Return an array of Dask whose file is read by the worker that needs it; any reader of files would do."""
    return da.from_delayed(dask.delayed(np.load)(path), shape=(ROWS, VARIABLES), dtype=np.float32)


X = da.concatenate([lazy(folder / f"{part}.npy") for part in range(FILES)])
y = np.concatenate([np.load(folder / f"labels-{part}.npy") for part in range(FILES)])
print(X)

# %%
# Workers
# -------
# A scheduler and two workers of one thread, started by Dask's own commands. On a real cluster they run on other
# machines, and the client is ``Client("tcp://scheduler:8786")``.


def start(*arguments):
    """Start a command of Dask that knows the others by a file."""
    command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(folder / "scheduler.json")]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


started = [start("scheduler", "--port", "0", "--no-dashboard")]
started += [start("worker", "--nthreads", "1", "--memory-limit", "1GB", "--no-dashboard") for _ in range(2)]
while not (folder / "scheduler.json").exists():
    time.sleep(0.1)
client = Client(scheduler_file=str(folder / "scheduler.json"))
client.wait_for_workers(2)
print(f"{len(client.scheduler_info()['workers'])} workers of 1 GB")

# %%
# The fit
# -------
# The same estimator, the same parameters.

men = ManifoldElasticNet(n_nonzeros=15).fit(X, y)
print(f"{men.n_components_} axes; optimal to {men.kkt_violation_.max():.0e}")
print("panel:", *men.panel_)
print("seconds by stage:", {stage: round(seconds, 1) for stage, seconds in men.seconds_.items()})

# %%
# Is it the same model?
# ---------------------
# These data do fit in memory, so we can look.

inside = menet.ManifoldElasticNet(n_nonzeros=15).fit(X.compute(), y)
print("the same panel:", bool(np.array_equal(inside.panel_, men.panel_)))
apart = np.abs(inside.components_ - men.components_).max() / np.abs(inside.components_).max()
print(f"the weights differ by {apart:.0e}, relative to the largest")

# %%
# Use it
# ------
# Predictions of a Dask array are lazy, too: they are computed chunk by chunk when you ask for them or write them.

labels = men.predict(X)
print(labels)
print(f"first labels: {labels[:8].compute()}, true: {y[:8]}")

ax = plot.samples(men, X[:ROWS].compute(), y[:ROWS])
ax.set_title("The samples of the first file on the first two axes")
plt.show()

# %%
# The model file is the ordinary one. The command and Python read it without Dask.

men.save(folder / "men.safetensors")
client.close()
for process in reversed(started):
    process.terminate()
    process.wait()
again = menet.ManifoldElasticNet.load(folder / "men.safetensors")
print(f"{again.n_components_} axes of {len(again.panel_)} variables from the file")

# %%
# The whole page as one command, for files of any size:
#
# .. code-block:: sh
#
#     python -m menet.dask fit --data 'part-*.parquet' --label y --model men.safetensors
