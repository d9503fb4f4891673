"""Convert formulas to MathML while the site is built; browsers draw it without scripts, fonts or
network.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula inside a line."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, in a box that scrolls where the page is narrow."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the writer as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
