"""Link the first use of a term of art on every page to the glossary."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "glossary"
# Words that readers know, or that mean something else in most sentences.
PLAIN = {"rank", "relevance", "grade", "safe", "audit", "policy", "flip", "gain", "ideal", "metric"}
PLAIN |= {"cutoff", "measure", "denominator", "completion", "truncated", "discount"}
ALIASES = {
    "expected": "expected score",
    "naive": "naive score",
    "lowest": "lowest and highest score",
    "tie std": "tie standard deviation",
    "shuffled": "shuffled score",
    "ranks by ties": "ranks by tie order",
    "corrected p": "family p",
}
NOT_IN = (
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.title,
    nodes.math,
    nodes.term,
    nodes.caption,
    nodes.raw,
)


def link_terms(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn the first use of every term into a link."""
    if page == GLOSSARY or page.startswith(("generated/", "reference")):
        return
    anchors = {
        part: anchor
        for name, _, kind, place, anchor, _ in app.env.domains.standard_domain.get_objects()
        if kind == "term" and place == GLOSSARY
        for part in name.split(", ")
        if part not in PLAIN
    }
    if not anchors:
        return
    anchors |= {name: anchors[of] for name, of in ALIASES.items()}
    names = sorted(anchors, key=len, reverse=True)
    pattern = re.compile(
        rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?=s?(?![\w-]))", re.IGNORECASE
    )
    glossary = app.builder.get_relative_uri(page, GLOSSARY)
    known = {name.lower(): name for name in names}
    used: set[str] = set()
    for text in list(doctree.findall(nodes.Text)):
        if any(isinstance(above, NOT_IN) for above in _above(text)):
            continue
        parts: list[nodes.Node] = []
        end = 0
        for match in pattern.finditer(text):
            name = known[match[1].lower()]
            exact = match[1] == name or (len(name) > 1 and match[1][1:] == name[1:])
            if anchors[name] in used or not exact:
                continue
            used.add(anchors[name])
            link = nodes.reference(
                "", match[1], refuri=f"{glossary}#{anchors[name]}", internal=True
            )
            link["classes"].append("glossary-term")
            parts += [nodes.Text(text[end : match.start()]), link]
            end = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _above(node: nodes.Node) -> list[nodes.Node]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
