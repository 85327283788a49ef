"""Formulas as MathML, which browsers draw themselves: no script and no network is needed."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

log = logging.getLogger(__name__)

FUNCTION = re.compile(r"(</mi>\s*<mo>&ApplyFunction;</mo>)(?!\s*<m(o|row)>)")  # with no bracket after it


def _mathml(node, as_block):
    code = node.astext()
    try:
        return FUNCTION.sub(r'\1<mspace width="0.1667em"></mspace>', tex2mathml(code, as_block=as_block))
    except MathError as error:
        log.warning("formula that cannot be drawn: %s (%s)", code, error, location=node)
        return ""


def inline(self, node):
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def block(self, node):
    self.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer, and take it."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
