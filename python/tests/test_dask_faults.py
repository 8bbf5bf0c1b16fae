"""Workers that die, a scheduler that goes away, little memory: the same bits, or one clear error."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, WorkerPlugin
from distributed.comm import CommClosedError

from menet import Patch
from menet.dask import ManifoldElasticNet, _fit, _neighbors
from menet.datasets import load_digits

# The kinds of tasks of a fit, in the order of its stages; Dask's own of a rechunk by way of disks; those of an
# approximate search; and the one of a fit with no more samples than variables.
STEPS = {
    "chunks": (
        "outline sums nearest merge align scatter target cut join images gram lars spread panel project rule".split()
    ),
    "disks": ["rechunk-transfer", "rechunk-p2p"],
    "approximate": "sample cells send take bucket nearest merge recall".split(),
    "few": ["fit"],
}

# Those that the tests try, at least one per stage; all of them with MENET_SOAK.
TRIED = (
    STEPS
    if os.environ.get("MENET_SOAK")
    else {
        "chunks": ["outline", "nearest", "align", "target", "images", "lars", "rule"],
        "disks": ["rechunk-p2p"],
        "few": ["fit"],
    }
)


class Dies(WorkerPlugin):
    """Kills its worker when a task of some kind begins, once."""

    name = "dies"

    def __init__(self, step, marker):
        self.step, self.marker = step, marker

    def setup(self, worker):
        pass

    def transition(self, key, start, finish, **_):
        name = str(key[0] if isinstance(key, tuple) else key)
        if finish != "executing" or not re.match(rf"(menet-[a-z]+-)?{self.step}(-|$)", name):
            return
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def bits(men):
    return (
        men.components_.tobytes(),
        men.mean_.tobytes(),
        men._model.log_probabilities(men._model.project(load_digits(return_X_y=True)[0], 1, False), 1).tobytes(),
    )


@pytest.mark.parametrize("how", TRIED)
def test_a_worker_may_be_killed_in_any_stage(tmp_path, monkeypatch, how):
    X, y = load_digits(return_X_y=True)
    X, y = (X[:60], y[:60]) if how == "few" else (X, y)
    X = da.from_array(X, chunks=(len(X) // 4, -1))
    # Rows become columns by way of the disk, however few; or by tasks.
    monkeypatch.setattr(_fit, "ON_DISK", 0 if how == "disks" else np.inf)
    monkeypatch.setattr(_fit, "BUFFERED", 0)
    monkeypatch.setattr(_neighbors, "MANY", 0)
    monkeypatch.setattr(_neighbors, "LARGEST_SHARE", 1.0)
    search = "approximate" if how == "approximate" else "exact"

    def fitted():
        return bits(ManifoldElasticNet(n_nonzeros=10, patch=Patch(search=search)).fit(X, y))

    with (
        dask.config.set(
            {
                "distributed.logging.distributed": "critical",
                "distributed.admin.log-format": "%(message)s",
                # A local cluster gives up a worker that is away so long after it died once, even if it died again.
                "distributed.deploy.lost-worker-timeout": "1 hour",
            }
        ),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL") as cluster,
        Client(cluster) as client,
    ):
        whole = fitted()
        for step in TRIED[how]:
            client.wait_for_workers(2, timeout=60)
            marker = str(tmp_path / step)
            client.register_plugin(Dies(step, marker))
            found = fitted()
            client.unregister_worker_plugin("dies")
            assert Path(marker).exists(), f"no worker died in {step}"
            assert found == whole, step


@pytest.mark.filterwarnings("ignore:.* are copies of others")
def test_a_scheduler_that_goes_away_is_one_clear_error():
    code = (
        "from distributed import LocalCluster; import time\n"
        "if __name__ == '__main__':\n"
        "    how = {'processes': False, 'protocol': 'tcp', 'dashboard_address': ':0'}\n"
        "    c = LocalCluster(n_workers=1, threads_per_worker=1, **how)\n"
        "    print(c.scheduler_address, flush=True); time.sleep(600)"
    )
    X, y = load_digits(return_X_y=True)
    X = da.from_array(np.tile(X, (8, 1)), chunks=(1000, -1))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as scheduler:
        in_any_case = threading.Timer(30.0, scheduler.kill)
        in_any_case.daemon = True  # else the tests would end only with it
        in_any_case.start()
        address = scheduler.stdout.readline().strip()
        with (
            # The scheduler is among them, so that it is set back: Dask does not do it for a client that lost its own.
            dask.config.set(
                {
                    "distributed.comm.timeouts.connect": "2s",
                    "distributed.client.scheduler-info-interval": "1s",
                    "scheduler": None,
                }
            ),
            Client(address, set_as_default=True) as client,
        ):
            men = ManifoldElasticNet(n_nonzeros=5)
            threading.Timer(0.5, scheduler.kill).start()
            with pytest.raises(ConnectionError, match=r"lost in the stage \w+: nothing was learned"):
                for _ in range(50):
                    men.fit(X, np.tile(y, 8))
                    del men.components_
            assert not hasattr(men, "components_")
            client.close(timeout=1)


def test_a_dead_scheduler_is_a_connection_error_before_the_first_stage_too(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X = da.from_array(X, chunks=(500, -1))
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        men = ManifoldElasticNet(n_nonzeros=5).fit(X, y)

        def gone(*_, **__):
            raise CommClosedError("in <TCP (closed)>: Stream is closed")

        lost = pytest.raises(ConnectionError, match=f"scheduler {client.scheduler.address} was lost while")
        # What fails if the scheduler died a moment ago, and the client does not know it yet.
        with monkeypatch.context() as patched:
            patched.setattr(client, "sync", gone)
            with lost:
                ManifoldElasticNet(n_nonzeros=5).fit(X, y)
        with monkeypatch.context() as patched:
            patched.setattr(client, "scatter", gone)
            patched.setattr("menet.dask._lazy.LARGE", 0)
            with lost:
                men.predict(X)
        with monkeypatch.context() as patched:
            patched.setattr(dask, "compute", gone)
            with lost:
                men.score(X, y)
        with monkeypatch.context() as patched:
            patched.setattr(da.Array, "compute", gone)
            with lost:
                ManifoldElasticNet(n_nonzeros=5).fit(X, da.from_array(y, chunks=500))


@pytest.mark.filterwarnings("ignore:.* are copies of others")
def test_ctrl_c_cancels_what_runs():
    X, y = load_digits(return_X_y=True)
    # One small array twenty times: a large one inside the graph would be warned of.
    X = da.concatenate([da.from_array(X, chunks=(-1, -1))] * 20).rechunk((2000, -1))
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        # Python drops the exception of a signal that comes in a finalizer. A person would press the keys again.
        interrupted = threading.Event()
        threading.Thread(target=press_ctrl_c_until, args=[interrupted], daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(50):
                ManifoldElasticNet(n_nonzeros=20).fit(X, np.tile(y, 20))
        interrupted.set()
        until = time.monotonic() + 20
        while any(client.processing().values()) and time.monotonic() < until:
            time.sleep(0.1)
        assert not any(client.processing().values())


def press_ctrl_c_until(interrupted):
    waits = 1.5
    while not interrupted.wait(waits):
        os.kill(os.getpid(), signal.SIGINT)
        waits = 15
