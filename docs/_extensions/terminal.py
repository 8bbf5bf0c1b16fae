"""The directive `terminal`: commands that are run while the site is built, each with what it prints.

The commands of a page run one after the other in one empty folder, so that a command finds the files of those before
it. A command that fails is an error. With ``:lines: 12`` only the first lines of the output are shown, and a last line
says how many are left out.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

SECONDS = 300


class Terminal(SphinxDirective):
    """Runs the lines of its content as commands."""

    has_content = True
    option_spec = {"lines": directives.positive_int, "hide": directives.flag}  # noqa: RUF012, what docutils asks for

    def run(self):
        """Run the commands, and show them with their output."""
        shown = []
        for line in self.content:
            if not line.strip():
                continue
            done = subprocess.run(
                line, shell=True, cwd=folder_of(self.env), text=True, capture_output=True, timeout=SECONDS, check=False
            )
            if done.returncode != 0:
                raise self.error(f"{line!r} ended with {done.returncode}: {done.stderr}")
            shown.append(f"$ {line}")
            printed = (done.stderr + done.stdout).rstrip("\n").splitlines()
            most = self.options.get("lines", len(printed))
            shown += printed[:most]
            if len(printed) > most:
                shown.append(f"... ({len(printed) - most} more lines)")
            shown.append("")
        if "hide" in self.options:
            return []
        text = "\n".join(shown).rstrip("\n")
        block = nodes.literal_block(text, text, language="console", classes=["terminal"])
        self.set_source_info(block)
        return [block]


def folder_of(env):
    """Return the folder of the page that is being read."""
    folders = env.temp_data.setdefault("terminal_folder", None)
    if folders is None:
        folders = env.temp_data["terminal_folder"] = Path(tempfile.mkdtemp(prefix="menet-site-"))
        env.app.connect("build-finished", lambda *_: shutil.rmtree(folders, ignore_errors=True))
    return folders


def setup(app):
    """Register the directive."""
    app.add_directive("terminal", Terminal)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
