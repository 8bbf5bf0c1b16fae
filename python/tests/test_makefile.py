"""`make fixtures` fails if its script fails, and tells when there is no Python."""

import os
import shutil
import subprocess

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make_fixtures(folder, python):
    """Run `make fixtures` in an empty folder, with this script as the Python of its environment."""
    shutil.copy(ROOT / "Makefile", folder)
    program = folder / "target/python/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{python}\n")
    program.chmod(0o755)
    # Where the tests themselves run under make, that one must not speak to this one.
    outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", "fixtures"], cwd=folder, env=outside, capture_output=True, text=True, check=False)


def test_a_script_that_fails_is_not_taken_for_a_missing_python(tmp_path):
    done = make_fixtures(tmp_path, 'case "$1" in -m) exit 0;; *) echo "my own mistake" >&2; exit 3;; esac')
    assert done.returncode != 0
    assert "my own mistake" in done.stderr
    assert "no Python" not in done.stdout and "cannot be installed" not in done.stdout


def test_what_is_installed_is_told_first_and_a_failure_to_install_is_no_error(tmp_path):
    done = make_fixtures(tmp_path, "exit 1")
    assert done.returncode == 0
    printed, failed = done.stdout.splitlines()
    assert "a virtual environment with numpy pandas pyarrow scipy" in printed
    assert "cannot be installed: only the committed samples are tested" in failed
