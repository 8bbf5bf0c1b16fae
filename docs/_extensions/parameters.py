"""The directive `parameter`: what `menet params` says about a parameter, and our advice below it.

The text comes from the binary (scripts/site/commands.py), so that it cannot go stale. A parameter that the page leaves
out, or one that does not exist, is a warning, and warnings are errors.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id

log = logging.getLogger(__name__)


class Parameter(SphinxDirective):
    """The entry of one parameter; its content is the advice."""

    has_content = True
    required_arguments = 1

    def run(self):
        """Build the entry."""
        name = self.arguments[0]
        known = definitions(self.env.srcdir)
        if name not in known:
            raise self.error(f"menet fit has no parameter {name!r}, but {', '.join(known)}")
        written = self.env.temp_data.setdefault("parameters", set())
        written.add(name)
        one = known[name]
        term = nodes.term("", "", nodes.strong("", "", nodes.literal("", name)))
        term["ids"].append(make_id(self.env, self.state.document, "parameter", name))
        term += nodes.inline("", one["flag"], classes=["flag"])
        body = nodes.definition("", *(nodes.paragraph("", text) for text in (one["about"], one["more"]) if text))
        facts = [f"one of {', '.join(choice['name'] for choice in one['choices'])}"] if one["choices"] else []
        facts += [f"for {', '.join(one['of'])}"] if one["of"] else []
        facts += [] if one["default"] is None else [f"default {json.dumps(one['default']).strip(chr(34))}"]
        if facts:
            told = "; ".join(facts)
            body += nodes.paragraph("", told[0].upper() + told[1:] + ".")
        if self.content:
            body += self.parse_content_to_nodes()
        return [nodes.definition_list("", nodes.definition_list_item("", term, body), classes=["parameter"])]


def definitions(source):
    """Return the parameters that the command knows, by name."""
    return json.loads((Path(source) / "generated/parameters.json").read_text())


def complain_of_gaps(app, document):
    """Warn of parameters that the page which explains them leaves out."""
    written = app.env.temp_data.get("parameters")
    if written and (missing := [name for name in definitions(app.srcdir) if name not in written]):
        log.warning("no entry for the parameters %s", ", ".join(missing), location=app.env.docname)


def setup(app):
    """Register the directive."""
    app.add_directive("parameter", Parameter)
    app.connect("doctree-read", complain_of_gaps)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
