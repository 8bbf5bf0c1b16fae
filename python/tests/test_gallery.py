"""The quick scripts of the site run without warnings, and find what their pages say. `make site` runs all of them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# What tells of a bad fit; deprecations of others come and go, and there is no display to show figures on.
WARNINGS = ["ignore", "error::UserWarning", "error::RuntimeWarning", "ignore:FigureCanvasAgg is non-interactive"]

DOCS = Path(__file__).parents[2] / "docs"

# Sentences that would not be there were the result wrong.
SCRIPTS = {
    "case-studies/faces": [
        r"39 axes, each optimal to \de-1[45]\n",
        r"paper, 100 pixels per axis +9[4-7]\.\d%",
        r"PCA +9[1-4]\.\d% +1600",
    ],
    "case-studies/spectra": [
        r"held-out samples: (8|9)\d\.\d% right with 12 of 700 wavelengths",
        r"three windows of 50 nm",
    ],
    "case-studies/ties": [
        r"worst violation is \de-1\d with menet",
        r"  menet +0\n",
        r"menet +ends at level 0 with \[ 1\. -1\.\]: violation 0\n",
    ],
    "gallery/genes": [
        r"19 ALL-B, 8 ALL-T, 11 AML",
        r"Axis 0.*\n  U50136_rna1_at +\+0\.070\n",
        r"cross-validation: 92\.1%",
    ],
    "gallery/pipeline": [r"95\.\d% of the 899 images", r"That took 61 fits\.", r"bit for bit: yes\."],
    "gallery/selection": [r"\d+ settings, 5 folds", r"balanced accuracy of 9\d\.\d%"],
    "gallery/reliability": [r"log loss 0\.\d\d, against 2\.30 of a constant guess"],
}


def test_every_short_example_is_tested():
    assert {f"gallery/{script.stem}" for script in (DOCS / "gallery").glob("*.py")} <= set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_runs_and_finds_what_it_should(name, tmp_path):
    run = subprocess.run(
        [sys.executable, *(word for rule in WARNINGS for word in ("-W", rule)), str(DOCS / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    for sentence in SCRIPTS[name]:
        assert re.search(sentence, run.stdout), f"{sentence!r} is not in:\n{run.stdout}"
