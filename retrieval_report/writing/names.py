"""Make names of models and metrics fit into charts and sentences; they are never a pattern or an
expression.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from retrieval_report.contracts.wording import counted as counted

LABEL = 28  # characters of a label beside a chart
TOOLTIP = 1000  # nobody reads more, and every row that is drawn repeats the name
INVISIBLE = {"Cc", "Cs", "Zl", "Zp"}
DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
WORD_JOINER = "\u2060"  # has no width
OF_OBJECTS = {
    *("__proto__", "constructor", "toString", "toLocaleString", "valueOf"),
    *("hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *(f"__{verb}{what}__" for verb in ("define", "lookup") for what in ("Getter", "Setter")),
}
"""What every object of JavaScript has: Vega keeps rows by name in objects, and would find these."""
T = TypeVar("T")
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)(?=[-\w]+\.[-\w])", re.IGNORECASE)


def clean(name: str, limit: int = TOOLTIP) -> str:
    r"""Return one line without control characters, shortened in the middle, where names of a series
    differ least.

    >>> clean("a\n\tb"), clean("x" * 10 + "-epoch-12", 12), clean("")
    ('a b', 'xxxxxx…ch-12', '(no name)')
    """
    if len(name) > 2 * TOOLTIP:
        name = name[:TOOLTIP] + name[-TOOLTIP:]
    shown = (
        " " if char in DIRECTIONS or unicodedata.category(char) in INVISIBLE else char
        for char in name
    )
    text = " ".join("".join(shown).split())
    text += WORD_JOINER if text in OF_OBJECTS else ""
    return _cut(text, limit // 2, limit) or "(no name)"


def unlinked(text: str) -> str:
    r"""Keep addresses in a text from becoming links, as they would in Markdown even with its marks
    escaped.

    A word joiner is inserted where an address would have to continue.

    >>> unlinked("see https://a.b, www.a.b, me@a.b, ndcg@5.").count("\u2060")
    3
    """
    return ADDRESS.sub(WORD_JOINER, text)


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many others there are.

    >>> first_names(["a", "b", "c"], 2), first_names(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def numbered(things: Iterable[T], label: Callable[[T], str]) -> dict[T, str]:
    """Return a label for everything; labels that look alike are numbered.

    >>> numbered([0.12, 0.1, 0.13], lambda value: f"{value:.1f}")
    {0.12: '0.1', 0.1: '0.1 (2)', 0.13: '0.1 (3)'}
    """
    labels = {}
    taken = set()
    for thing in dict.fromkeys(things):
        text = label(thing)
        number = 1
        while text in taken:
            number += 1
            text = f"{label(thing)} ({number})"
        taken.add(text)
        labels[thing] = text
    return labels


def unique_labels(names: Iterable[str], limit: int = LABEL) -> dict[str, str]:
    """Return a label for every name. A long one loses letters near its middle, so that what is left
    tells it from the others; names that still look alike are numbered.

    >>> unique_labels(["lsh", "a" * 100 + "b" * 100, "a" * 101 + "b" * 100])["a" * 101 + "b" * 100]
    'aaaaaaaaaaaaaa…bbbbbbbbbbbbb (2)'
    >>> list(unique_labels(["atire-06-18-100-percent", "atire-06-28-100-percent"], 13).values())
    ['atire-06-1…nt', 'atire-06-2…nt']
    """
    known = {name: clean(name) for name in dict.fromkeys(names)}
    head = telling_head(known.values(), limit)
    return numbered(known, lambda name: _cut(known[name], head, limit))


def telling_head(names: Iterable[str], limit: int) -> int:
    """Return after how many letters to cut names that are too long, so that what is left tells as
    many of them apart as it can, and as near to the middle as it can.

    >>> telling_head(["atire-06-18-100-percent", "atire-06-28-100-percent", "bm25"], 13)
    10
    """
    near = sorted(range(1, limit - 1), key=lambda head: abs(limit // 2 - head))
    return max(near, key=lambda head: len({_cut(name, head, limit) for name in names}))


def _cut(text: str, head: int, limit: int) -> str:
    """Return a text without what stands between its first letters and as many last as fit."""
    return text if len(text) <= limit else f"{text[:head]}…{text[head + 1 - limit :]}"


def measure_name(metric: str, cutoff: int | None) -> str:
    """Return the text of a metric at a cutoff.

    >>> measure_name("precision", 1), measure_name("ap(denominator=retrieved)", None)
    ('precision@1', 'ap(denominator=retrieved)@all')
    """
    return f"{clean(metric, 60)}@{'all' if cutoff is None else cutoff}"


def joined(sentences: Iterable[str]) -> str:
    """Join sentences for a screen reader.

    >>> joined(["a leads", "b follows"])
    'a leads; b follows.'
    """
    return "; ".join(sentences) + "."
