"""What `make site` relies on, checked in seconds: links between files, lists of pages, the help of the command."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from menet import ManifoldElasticNet, ManifoldElasticNetCV
from menet._settings import described

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCRIPTS = ROOT / "scripts/site"
MARKDOWN = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", flags=re.DOTALL | re.MULTILINE)
# Made by `make site`.
GENERATED = re.compile(r"(generated/|reference/command|command/index|(case-studies|gallery)/index)")

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the sources of the site are not here")


def script(name, folder=SCRIPTS):
    """Import a module of a folder that is no package."""
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(f"site_{name}", folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("file", MARKDOWN, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_to_files(file):
    text = FENCE.sub("", file.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.split("#")[0]
        if path and "://" not in path and not GENERATED.search(path):
            assert (file.parent / path).exists(), target


def test_every_page_is_listed_once():
    listed = []
    for file in sorted(DOCS.rglob("*.md")):
        for contents in re.findall(r"```\{toctree\}\n(.*?)```", file.read_text(encoding="utf-8"), flags=re.DOTALL):
            for line in contents.splitlines():
                if line and not line.startswith(":"):
                    name = re.sub(r".*<(.*)>", r"\1", line)
                    listed.append((file.parent / f"{name}.md").resolve())
    pages = {page for page in DOCS.rglob("*.md") if page.name != "README.md"} - {DOCS / "index.md"}
    assert pages <= set(listed), "pages that no list of contents has"
    assert len(listed) == len(set(listed))


def test_scripts_have_a_place():
    order = script("order", DOCS / "_extensions").ORDER
    scripts = {file.name for folder in ("case-studies", "gallery") for file in (DOCS / folder).glob("*.py")}
    assert scripts == set(order)


def test_links_become_pages():
    site_links = script("stage").site_links
    assert site_links("[x](case-studies/ties.py)") == "[x](case-studies/ties.rst)"
    assert site_links("[ties.py](../gallery/genes.py)") == "[](../gallery/genes.rst)"
    assert site_links("[docs/data.md](docs/data.md), [a](b.md#c)") == "[](docs/data.md), [a](b.md#c)"
    assert site_links("[data.md](../data.md#text)") == "[](../data.md#text)"
    assert site_links("[gallery](docs/gallery/README.md)") == "[gallery](docs/gallery/index.rst)"
    code = "```sh\n[data.md](data.md)\n```\n"
    assert site_links(code) == code


def test_no_option_of_the_command_is_lost(command, tmp_path):
    script("commands").write(command, tmp_path / "docs/reference/command")
    pages = sorted((tmp_path / "docs/reference/command").glob("*.md"))
    assert len(pages) > 10
    for page in pages:
        arguments = [] if page.stem == "index" else [page.stem]
        text = subprocess.run([command, *arguments, "--help"], capture_output=True, text=True, check=True).stdout
        written = page.read_text(encoding="utf-8")
        for flag in re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", text, flags=re.MULTILINE):
            assert flag in written, f"{page.stem}: {flag}"
    assert (tmp_path / "docs/generated/parameters.json").read_text().count('"about"') >= 40


def test_the_guide_has_advice_on_every_parameter():
    page = (DOCS / "guide/parameters.md").read_text(encoding="utf-8")
    written = re.findall(r"^```\{parameter\} (\S+)", page, flags=re.MULTILINE)
    assert sorted(written) == sorted(described())


@pytest.mark.parametrize("file", [*DOCS.rglob("*.py"), *(ROOT / "scripts").rglob("*.py")], ids=lambda it: it.name)
def test_scripts_name_parameters_that_exist(file):
    known = {
        kind.__name__: set(inspect.signature(kind).parameters) for kind in (ManifoldElasticNet, ManifoldElasticNetCV)
    }
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        name = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", None))
        if isinstance(node, ast.Call) and name in known:
            given = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            assert given <= known[name], f"line {node.lineno}"


def test_bad_links_are_found(tmp_path):
    check = script("links").check
    (tmp_path / "other.html").write_text('<p id="here">text</p>')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">good</a><a href="https://example.org">good: only a link</a>'
        '<a href="other.html#there"></a><a href="gone.html"></a><script src="https://example.org/x.js"></script>'
    )
    found = check(tmp_path)
    assert len(found) == 3
    assert any("other.html#there leads to no place" in line for line in found)
    assert any("gone.html does not exist" in line for line in found)
    assert any("loads https://example.org/x.js" in line for line in found)
