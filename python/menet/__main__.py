"""``python -m menet``: the command ``menet``, where it is installed."""

import os
import shutil
import subprocess
import sys

MISSING = """\
The command menet is not on this machine: the Python package does not hold it. To get it, install Rust and run

  cargo install --locked menet-cli

or take a program from the releases of the project. In Python, begin with help(menet.ManifoldElasticNet)."""


def main() -> int:
    """Run the command with the arguments given, or say where to get it."""
    command = os.environ.get("MENET_COMMAND") or shutil.which("menet")
    if command is None:
        print(MISSING, file=sys.stderr)
        return 1
    return subprocess.run([command, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
