"""Checks the built site: every link inside it leads to a page and a place on it, and no page fetches anything."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, by tag and attribute.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
# Links that say something about a page, without being loaded.
SAID = {"canonical", "author", "license", "search", "index", "genindex", "next", "prev", "top", "up", "copyright"}
STYLE_URL = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """The identifiers of a page, where its links lead, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(values[name] for name in ("id", "name") if values.get(name))
        for name, value in attributes:
            if value and (tag, name) in LOADED and values.get("rel") not in SAID:
                self.loads.add(value)
            elif value and name == "href":
                self.links.add(value)


def check(site):
    """Return what is wrong, one line per link."""
    # rustdoc sees to the links inside its own pages, and what is in _static is no page.
    files = [
        file for file in sorted(site.rglob("*.html")) if file.relative_to(site).parts[0] not in ("rust", "_static")
    ]
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    problems = []
    for file, page in pages.items():
        here = file.relative_to(site)
        for target in sorted(page.loads | page.links):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    problems.append(f"{here}: loads {target}, which is not part of the site")
                continue
            goal = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            goal = goal / "index.html" if goal.is_dir() else goal
            if not goal.is_file():
                problems.append(f"{here}: {target} does not exist")
            elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].ids:
                problems.append(f"{here}: {target} leads to no place on that page")
    for file in sorted(site.rglob("*.css")):
        if "rust" in file.relative_to(site).parts[:1]:
            continue
        for target in STYLE_URL.findall(file.read_text(encoding="utf-8")):
            problems.append(f"{file.relative_to(site)}: loads {target}, which is not part of the site")
    if not pages:
        problems.append(f"{site} has no pages")
    return problems
