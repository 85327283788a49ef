"""Let pages of source lead back to the reference.

Such a page knows one name for its module, the one that is documented first. An object that is documented
under another name (`franchise.read_ldac` beside `franchise.corpus.read_corpus`) gets anchors for the names
that the page may use.
"""

from importlib import import_module

from sphinx import addnodes


def _home(module, name):
    value = import_module(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return getattr(value, "__module__", None) or module


def add_anchors(app, doctree):
    for node in doctree.findall(addnodes.desc_signature):
        module, name = node.get("module"), node.get("fullname")
        if not module or not name:
            continue
        parts = str(_home(module, name)).split(".")
        for i in range(1, len(parts) + 1):
            anchor = ".".join([*parts[:i], name])
            if anchor not in node["ids"] and anchor not in doctree.ids:
                node["ids"].append(anchor)


def setup(app):
    """Listen to pages that have been read."""
    app.connect("doctree-read", add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
