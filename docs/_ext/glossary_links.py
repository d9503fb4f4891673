"""Link the first use of a term of art on every page to the glossary, in words or as a column."""

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
COLUMNS = {
    "expected": "expected score",
    "naive": "naive score",
    "shuffled": "shuffled score",
    "shuffled_range": "shuffled score",
    "lowest": "lowest and highest score",
    "highest": "lowest and highest score",
    "tie_std": "tie standard deviation",
    "family_p": "family p",
    "p_tie": "p_tie",
    "truncated": "truncated",
    "tie_ranks": "ranks by tie order",
    "query_ranks": "ranks by tie order",
    "query_rank_low": "ranks by tie order",
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
    terms = {
        part: anchor
        for name, _, kind, place, anchor, _ in app.env.domains.standard_domain.get_objects()
        if kind == "term" and place == GLOSSARY
        for part in name.split(", ")
    }
    if not terms:
        return
    anchors = {name: anchor for name, anchor in terms.items() if name not in PLAIN}
    anchors |= {name: terms[of] for name, of in ALIASES.items()}
    names = sorted(anchors, key=len, reverse=True)
    pattern = re.compile(
        rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?=s?(?![\w-]))", re.IGNORECASE
    )
    glossary = app.builder.get_relative_uri(page, GLOSSARY)
    known = {name.lower(): name for name in names}
    used: set[str] = set()

    def link(anchor: str, *inside: nodes.Node) -> nodes.reference:
        used.add(anchor)
        where = f"{glossary}#{anchor}"
        return nodes.reference(
            "", "", *inside, refuri=where, internal=True, classes=["glossary-term"]
        )

    for text in list(doctree.findall(nodes.Text)):
        above = _above(text)
        if (
            text in COLUMNS
            and terms[COLUMNS[text]] not in used
            and type(text.parent) is nodes.literal
            and not any(isinstance(node, NOT_IN) for node in above[1:])
        ):
            text.parent.replace_self(link(terms[COLUMNS[text]], text.parent.deepcopy()))
        if any(isinstance(node, NOT_IN) for node in above):
            continue
        parts: list[nodes.Node] = []
        end = 0
        for match in pattern.finditer(text):
            name = known[match[1].lower()]
            exact = match[1] == name or (len(name) > 1 and match[1][1:] == name[1:])
            if anchors[name] in used or not exact:
                continue
            term = link(anchors[name], nodes.Text(match[1]))
            parts += [nodes.Text(text[end : match.start()]), term]
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
