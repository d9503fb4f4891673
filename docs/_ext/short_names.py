"""Resolve short names in docstrings, such as ``evaluate``: a public name has one home, so its last
part finds it.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode


def find(app: Sphinx, env: Any, node: Any, content: nodes.TextElement) -> nodes.reference | None:
    """Resolve what Sphinx did not find: the one documented name that ends like this one."""
    if node.get("refdomain") != "py" or node.get("reftype") not in ("func", "class", "meth"):
        return None
    last = str(node["reftarget"]).rpartition(".")[2]
    objects = env.domains["py"].get_objects()  # (name, shown name, kind, page, anchor, priority)
    homes = {
        (page, anchor)
        for name, _, kind, page, anchor, _ in objects
        if name.rpartition(".")[2] == last
        and kind in ("function", "class")
        and ".charts." not in name
    }
    if len(homes) != 1:
        return None
    ((page, anchor),) = homes
    return make_refnode(app.builder, node["refdoc"], page, anchor, content)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look where Sphinx found nothing."""
    app.connect("missing-reference", find)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
