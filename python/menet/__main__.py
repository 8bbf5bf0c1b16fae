"""``python -m menet``: the command ``menet``, where it is installed."""

import os
import shutil
import subprocess
import sys

MISSING = """\
The command menet was not found on PATH: the Python package does not include it. To get it, install Rust and run this in
a clone of the repository:

  cargo install --path crates/menet-cli

In Python, begin with help(menet.ManifoldElasticNet)."""


def main() -> int:
    """Run the command with the arguments given, or say where to get it."""
    command = os.environ.get("MENET_COMMAND") or shutil.which("menet")
    if command is None:
        print(MISSING, file=sys.stderr)
        return 1
    return subprocess.run([command, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
