"""Who solves what when: every solver in processes of its own, one after the other, several times around."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

from floor import timed
from problems import CASES

THREADS = 2

# In a process a solver warms up (some start others first, all touch new memory) once at least and for WARM seconds, and
# is then timed so often at most, within so many seconds, but once at least; what takes LONG is timed at once.
WARM, MOST, WITHIN, LONG = 1.0, 15, 3.0, 7.0


def threads(count):
    """The environment in which every library uses so many threads."""
    return {"OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(count)}


def take(case, repeats):
    """Runs by solver, in turns; the last of menet's is on one thread."""
    kind = CASES[case]
    solvers = [solver for part in (kind, *kind.parts) for solver, _ in part.solvers]
    runs = {solver: [] for solver in solvers}
    for _ in range(repeats):
        for solver in solvers:
            again(runs[solver], case, solver, THREADS)
    again(runs["menet"], case, "menet", 1)
    return runs


def again(runs, case, solver, count):
    """One more run, unless there was trouble before."""
    if not any("trouble" in run for run in runs):
        runs.append(in_process(case, solver, count))


def in_process(case, solver, count):
    command = [sys.executable, str(Path(__file__).parent), "--here", case, solver, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | threads(count))
    print(done.stderr, end="", file=sys.stderr)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"trouble": "failed"}


def here(case, solver, count):
    """One solver on one problem, in this process; prints what was found as JSON."""
    problem = CASES[case]()
    solvers = dict(pair for part in (problem, *problem.parts) for pair in part.solvers)
    work = solvers[solver](problem, count)
    try:
        run = measured(work, once=count != THREADS)
    except (TypeError, ValueError) as e:
        if not problem.may_refuse:
            raise
        print(f"{solver} on {problem.title}: {e}", file=sys.stderr)
        run = {"trouble": "refused"}
    else:
        run |= problem.check(run.pop("out"))
    print(json.dumps(run))


def measured(work, once):
    """What came out, seconds, and the peak of memory."""
    run = {}

    def keep():
        run["out"] = work()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = warm = timed(keep)
        while not once and warm < WARM:
            warm += timed(keep)
        more = 0 if once or first > LONG else min(MOST, max(1, int(WITHIN / first)))
        run["seconds"] = [timed(keep) for _ in range(more)] or [first]
    return run | {"peak": peak_memory()}


def peak_memory():
    """The largest resident sets so far of this process and those it started, in GB, the problem itself included."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return sum(status(process) for process in ("self", *children)) / 1e6


def status(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
