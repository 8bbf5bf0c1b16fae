"""The first problems of `make soak`: whole fits against dense NumPy."""

import subprocess
import sys

from conftest import ROOT


def test_whole_fits_are_those_of_the_oracle():
    command = [sys.executable, str(ROOT / "scripts/soak_fit"), "--problems", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.endswith(" 0 off"), last
    # Most problems are compared to the end.
    assert int(last.split(": ")[1].split(" same")[0]) > 80, last
