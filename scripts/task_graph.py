"""Draws the tasks of a fit of three chunks on Dask, as they are.

python scripts/task_graph.py docs/figures/task-graph.svg
"""

import sys
from collections import Counter
from typing import NamedTuple

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.delayed import Delayed

from menet.dask import _engine, _estimator


class Task(NamedTuple):
    step: str
    stage: str
    key: str
    needs: list


TASKS = []


class Recorded(_engine.Engine):
    """Remembers every task."""

    now = ""

    def stage(self, name):
        self.now = name
        return super().stage(name)

    def task(self, step, function, *args):
        made = super().task(step, function, *args)
        TASKS.append(Task(step, self.now, made.key, keys(args)))
        return made


def keys(value):
    """Our tasks that a value is made from, by way of Dask's own."""
    if isinstance(value, Delayed):
        graph, ours = value.__dask_graph__(), {task.key for task in TASKS}
        found, open_keys = [], [value.key]
        while open_keys:
            key = open_keys.pop()
            if key in ours:
                found.append(key)
            elif key in graph:
                open_keys.extend(getattr(graph[key], "dependencies", ()))
        return found
    if isinstance(value, (list, tuple)):
        return [key for part in value for key in keys(part)]
    return []


def levels():
    """How far right a task stands: after what it needs, and after all tasks of earlier stages."""
    level, starts, depth = {}, {}, 0
    for stage in dict.fromkeys(task.stage for task in TASKS):
        starts[stage] = depth
        own = [task for task in TASKS if task.stage == stage]
        for task in own:
            level[task.key] = max([depth, *(level[need] + 1 for need in task.needs if level.get(need, -1) >= depth)])
        depth = 1 + max(level[task.key] for task in own)
    return level, starts


def draw(file):
    level, starts = levels()
    count, seen, places = Counter(level.values()), Counter(), {}
    for task in TASKS:
        at = level[task.key]
        places[task.key] = (at, seen[at] - (count[at] - 1) / 2)
        seen[at] += 1
    top = max(count.values()) / 2
    figure, axes = plt.subplots(figsize=(15, 4.5))
    for task in TASKS:
        for need in set(task.needs) & places.keys():
            (x0, y0), (x1, y1) = places[need], places[task.key]
            axes.plot([x0, x1], [y0, y1], color="0.8", lw=0.6, zorder=1)
    for k, (stage, start) in enumerate(starts.items()):
        color = plt.get_cmap("tab10")(k)
        x, y = zip(*(places[task.key] for task in TASKS if task.stage == stage), strict=True)
        axes.scatter(x, y, s=34, color=color, zorder=2)
        axes.text(start, top + 0.7, stage, color=color, rotation=35, fontsize=10)
    for at in count:
        steps = dict.fromkeys(task.step for task in TASKS if level[task.key] == at)
        axes.text(
            at, -top - 0.7, "\n".join(steps), fontsize=6, ha="right", va="top", rotation=50, rotation_mode="anchor"
        )
    axes.set_axis_off()
    axes.set_ylim(-top - 2.5, top + 2.5)
    figure.savefig(file, bbox_inches="tight", dpi=110)
    print(f"{file}: {len(TASKS)} tasks")


if __name__ == "__main__":
    _estimator.Engine = Recorded
    X = da.from_array(np.random.default_rng(0).standard_normal((300, 24)), chunks=(100, -1))
    with dask.config.set(scheduler="synchronous"):
        _estimator.ManifoldElasticNet(n_nonzeros=3).fit(X, np.arange(300) % 3)
    draw(sys.argv[1])
