"""The scripts of the gallery run, and find what its page says they find."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# What tells of a bad fit; deprecations of others come and go.
WARNINGS = ["-W", "ignore", "-W", "error::UserWarning", "-W", "error::RuntimeWarning"]

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"

# The figures of every script, and sentences that would not be there were the result wrong.
SCRIPTS = {
    "faces": (
        ["gallery-faces-bases.png", "gallery-faces-rates.png"],
        [
            r"39 axes, each optimal to \de-1[45]\.",
            r"men, 100 pixels +9[4-7]\.\d% +100 pixels",
            r"PCA +9[1-4]\.\d% +1600",
        ],
    ),
    "genes": (
        ["gallery-genes-path.png", "gallery-genes-scatter.png"],
        [r"19 ALL-B, 8 ALL-T, 11 AML", r"Axis 0.*\n  U50136_rna1_at +\+0\.070\n", r"cross-validation: 92\.1%"],
    ),
    "pipeline": (
        ["gallery-pipeline-search.png"],
        [r"95\.\d% of the 899 images", r"That took 61 fits\.", r"bit for bit: yes\."],
    ),
    "selection": (
        ["gallery-selection.png"],
        [r"\d+ settings, 5 folds", r"balanced accuracy of 9\d\.\d%", r"\d+ of 5000 genes"],
    ),
    "reliability": (
        ["gallery-reliability.png"],
        [r"log loss 0\.\d\d, against 2\.30 of a constant guess"],
    ),
    "ties": (
        ["gallery-ties-paths.png"],
        [r"differ by at most \de-1\d", r"  menet +0\n", r"  menet +ends at level 0 with \[ 1\. -1\.\], violation 0\n"],
    ),
}


def test_every_script_is_tested():
    assert {script.stem for script in GALLERY.glob("*.py")} == set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_runs_and_finds_what_it_should(name, tmp_path):
    figures, sentences = SCRIPTS[name]
    run = subprocess.run(
        [sys.executable, *WARNINGS, str(GALLERY / f"{name}.py"), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == sorted(figures)
    for sentence in sentences:
        assert re.search(sentence, run.stdout), f"{sentence!r} is not in:\n{run.stdout}"


def test_figures_go_to_a_folder_of_their_own_by_default(tmp_path):
    env = {**os.environ, "MPLBACKEND": "Agg"}
    subprocess.run([sys.executable, str(GALLERY / "ties.py")], cwd=tmp_path, env=env, check=True, capture_output=True)
    assert (tmp_path / "gallery-output" / "gallery-ties-paths.png").is_file()


def test_the_page_shows_every_figure():
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    for figures, _ in SCRIPTS.values():
        for figure in figures:
            assert f"(../figures/{figure})" in page
            assert (GALLERY.parent / "figures" / figure).stat().st_size < 110_000
