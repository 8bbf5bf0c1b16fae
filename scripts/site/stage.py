"""Copies the sources of the site to a folder of its own, with links as the site needs them.

On GitHub a link to a script shows the script; on the site it leads to the page that shows the script with its output.
A link whose text is the name of a file becomes one whose text is the title of the page, or of its part.
"""

import re
import shutil
from pathlib import Path

# Galleries: scripts that are run, each with a page. They lie beside the sources, because the pages have their names.
GALLERIES = ("case-studies", "gallery")
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE")

LINK = re.compile(r"\[(?P<text>[^\]\[]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
SCRIPT = re.compile(rf"(?P<page>(?:^|.*/)(?:{'|'.join(GALLERIES)})/\w+)\.py")


def stage(root, source):
    """Fill the folder `source`, and keep what has not changed there."""
    source.mkdir(parents=True, exist_ok=True)
    wanted = {source / name: root / name for name in TOP}
    for file in sorted((root / "docs").rglob("*")):
        inner = file.relative_to(root / "docs")
        # The read-me of a gallery is for those who look at the folder; its page has a header of its own.
        readme = inner.parts[0] in GALLERIES and inner.name == "README.md"
        if file.is_dir() or "__pycache__" in inner.parts or readme:
            continue
        folder = "scripts" if inner.parts[0] in GALLERIES else "docs"
        wanted[source / folder / inner] = file
    for copy, file in wanted.items():
        content = file.read_bytes()
        if file.suffix == ".md":
            content = site_links(content.decode()).encode()
        write(copy, content)
    # What was removed from the sources, but not what a build has generated.
    kept = {*GALLERIES, "generated", "reference"}
    for old in [*(source / "docs").rglob("*"), *(source / "scripts").rglob("*")]:
        inner = old.relative_to(source)
        if old.is_file() and old not in wanted and (inner.parts[0] == "scripts" or inner.parts[1] not in kept):
            old.unlink()


def site_links(text):
    """Turn links between files into links between pages."""

    def page(found):
        target, anchor = found["target"], found["anchor"] or ""
        if re.fullmatch(rf".*(?:{'|'.join(GALLERIES)})/README\.md", target):
            return f"[{found['text']}]({target.removesuffix('README.md')}index.rst)"
        if script := SCRIPT.fullmatch(target):
            return f"[{'' if found['text'].endswith('.py') else found['text']}]({script['page']}.rst{anchor})"
        plain = found["text"].strip("`")
        if target.endswith(".md") and plain in (target, Path(target).name):
            return f"[]({target}{anchor})"
        return found[0]

    # Code keeps what looks like a link.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(page, part) for part in parts)


def model_file(module, page):
    """Write the documentation of a Rust module, whose tables specify the model file, as a page to include."""
    lines = [line[4:] for line in module.read_text().splitlines() if line.startswith("//! ") or line == "//!"]
    text = "\n".join(lines[1:]).strip()
    # Links to Rust items lead nowhere here.
    write(page, re.sub(r"\[(`[^`]+`)\]", r"\1", text).encode() + b"\n")


def write(path, content):
    """Write a file unless it has this content: what is newer than its page is read again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def clear(folder):
    """Remove what an earlier build generated."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
