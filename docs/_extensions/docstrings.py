"""Docstrings from scikit-learn refer to places of its own site, which is not here: they keep the words alone."""

import re

REFERENCE = re.compile(r":(?:ref|term):`([^`<]*?)\s*(?:<[^`>]*>)?`")


def keep_words(app, what, name, thing, options, lines):
    """Replace references by their words. A reference may begin on one line and end on the next."""
    lines[:] = REFERENCE.sub(lambda found: " ".join(found[1].split()), "\n".join(lines)).split("\n")


def setup(app):
    """Listen to autodoc."""
    app.connect("autodoc-process-docstring", keep_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
