"""Builds the documentation site: `python scripts/site`, in the environment that `make site` makes.

The sources are docs/*.md, README.md, CONTRIBUTING.md and CHANGELOG.md, the docstrings of the Python package, the help
of the command, and the scripts in docs/case-studies and docs/gallery, which are run. Nothing is fetched. Warnings are
errors, and so are links that lead nowhere. `--quick` keeps the results of scripts that have not changed since the last
build.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import links
import picture
import stage

ROOT = Path(__file__).parents[2]
SOURCE, SITE = ROOT / "target/site-source", ROOT / "target/site"
COMMAND, RUSTDOC = ROOT / "target/release/menet", ROOT / "target/doc"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="run only the scripts that have changed")
    quick = parser.parse_args().quick
    if not quick:
        shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    stage.stage(ROOT, SOURCE)
    generated = SOURCE / "docs/generated"
    generated.mkdir(exist_ok=True)
    commands.write(COMMAND, SOURCE / "docs/reference/command")
    stage.model_file(ROOT / "crates/menet-io/src/model.rs", generated / "model-file.md")
    picture.draw(generated)

    # The scripts call the command by its name, and find no display.
    environment = {
        **os.environ,
        "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}",
        "MPLBACKEND": "Agg",
        "MENET_COMMAND": str(COMMAND),
    }
    sphinx = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going", "--quiet"]
    doctrees = SOURCE / "doctrees"
    done = subprocess.run([*sphinx, "--doctree-dir", doctrees, SOURCE / "docs", SITE], env=environment, check=False)
    if done.returncode != 0:
        return done.returncode
    shutil.copytree(RUSTDOC, SITE / "rust", ignore=shutil.ignore_patterns(".lock", "src"))
    problems = links.check(SITE)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"open {(SITE / 'index.html').relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
