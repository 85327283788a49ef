"""Printed sentences are wrapped, printed tables are not.

What code prints stands on the pages as it is, lines of any length. A table would fall apart if its lines
broke, so it scrolls; sentences are read more easily when they do not have to be scrolled.
"""

import re

from docutils import nodes

COLUMNS = re.compile(r"\S {2,}\S")  # a gap within a line: things stand below each other


def is_prose(text: str) -> bool:
    return not COLUMNS.search(text)


def mark(app, doctree):
    for node in doctree.findall(nodes.literal_block):
        if node.get("language") == "text" and is_prose(node.astext()):
            node["classes"].append("prose")


def setup(app):
    """Listen to pages that have been read."""
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
