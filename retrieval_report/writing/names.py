"""Make names of models and metrics fit into charts and
sentences; they are never a pattern or an expression.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from retrieval_report.contracts.wording import either
from retrieval_report.contracts.wording import with_number as with_number

LABEL = 22  # characters of a label beside a chart, which fit a phone too
TOOLTIP = 1000  # nobody reads more, and every row that is drawn repeats the name
INVISIBLE = {"Cc", "Cs", "Zl", "Zp"}
DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
WORD_JOINER = "\u2060"  # has no width
# What every object of JavaScript has: Vega keeps rows by name in objects, and would find these.
OF_OBJECTS = {
    *("__proto__", "constructor", "toString", "toLocaleString", "valueOf"),
    *("hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *(f"__{verb}{what}__" for verb in ("define", "lookup") for what in ("Getter", "Setter")),
}
T = TypeVar("T")
SEPARATORS = re.compile(r"([^\w.]+|[_.]+)")  # between the words of a name
LONGEST = 5  # limits; longer names are hardly made of words
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)(?=[-\w]+\.[-\w])", re.IGNORECASE)


def clean(name: str, limit: int = TOOLTIP) -> str:
    r"""Return one line without control characters, shortened
    in the middle, where names of a series differ least.

    >>> clean("a\n\tb"), clean("x" * 10 + "-epoch-12", 12), clean("")
    ('a b', 'xxxxxx…ch-12', '(no name)')
    """
    if len(name) > 2 * TOOLTIP:
        name = name[:TOOLTIP] + name[-TOOLTIP:]
    visible_text = (
        " " if char in DIRECTIONS or unicodedata.category(char) in INVISIBLE else char
        for char in name
    )
    text = " ".join("".join(visible_text).split())
    text += WORD_JOINER if text in OF_OBJECTS else ""
    return _cut(text, limit // 2, limit) or "(no name)"


def unlinked(text: str) -> str:
    r"""Keep addresses in a text from becoming links, as
    they would in Markdown even with its marks escaped.

    A word joiner is inserted where an address would have to continue.

    >>> unlinked("see https://a.b, www.a.b, me@a.b, ndcg@5.").count("\u2060")
    3
    """
    return ADDRESS.sub(WORD_JOINER, text)


OR = " or "  # between the names of models that may both be best
EQUALS = " = "  # between the names of level or equal models; commas may be part of one


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', '')
    """
    return either(names, "and")


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many others there are; a single other has its name.

    >>> first_names(["a", "b", "c", "d"], 2), first_names(["a", "b", "c"], 2)
    ('a, b and 2 more', 'a, b and c')
    """
    rest = len(names) - most
    return listed([*names[:most], f"{rest} more"] if rest > 1 else names)


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
    """Return a label for every name. A long one loses whole words, first those that most names
    share, as long as what is left could be no other name; names of one long word, and those of
    which less than half a label would be left, lose letters near their middle. Labels that still
    look alike are numbered.

    >>> list(unique_labels(["atire-06-18-100-percent", "atire-06-28-100-percent"], 13).values())
    ['atire…18…', 'atire…28…']
    >>> unique_labels(["lsh", "a" * 100 + "b" * 100, "a" * 101 + "b" * 100])["a" * 101 + "b" * 100]
    'aaaaaaaaaaa…bbbbbbbbbb (2)'
    """
    clean_names = {name: clean(name) for name in dict.fromkeys(names)}
    texts = list(dict.fromkeys(clean_names.values()))
    shared = Counter(word for text in texts for word in {*SEPARATORS.split(text)[::2]})
    labels = {text: _by_words(text, texts, shared, limit) for text in texts}
    head = telling_head(labels.values(), limit)
    return numbered(clean_names, lambda name: _cut(labels[clean_names[name]], head, limit))


def unlike(name: str, rival: str) -> str:
    """Return the words of a name that another lacks; the whole name if it lacks none.

    >>> unlike("bm25-06-28.run", "bm25-06-18.run"), unlike("bm25", "bm25-2")
    ('…28…', 'bm25')
    """
    parts = SEPARATORS.split(name)
    distinct = [word not in SEPARATORS.split(rival) for word in parts[::2]]
    return "…".join(_runs(parts, distinct)) if any(distinct) else name


def _by_words(text: str, texts: Sequence[str], shared: Counter[str], limit: int) -> str:
    """Return a text without some of its words, so that it fits; or as it is, if that cannot be."""
    if not limit < len(text) <= LONGEST * limit:
        return text
    parts = SEPARATORS.split(text)
    words = parts[::2]
    keeps = [True] * len(words)
    # Names of a series begin alike, but the first word says most.
    for number in sorted(range(len(words)), key=lambda at: (-shared[words[at]], at == 0, at)):
        keeps[number] = False
        runs = _runs(parts, keeps)
        if any(_fits(runs, other_text) for other_text in texts if other_text != text):
            keeps[number] = True
        elif len(label := "…".join(runs)) <= limit:
            return label if 2 * len(label) >= limit else text  # else too little of it is left
    return text


def _runs(parts: Sequence[str], keeps: Sequence[bool]) -> list[str]:
    """Return the texts between words that are left out, with the separators of words that stay."""
    runs, last = [""], -1
    for number, stays in enumerate(keeps):
        if stays and last == number - 1:
            runs[-1] += "".join(parts[max(2 * number - 1, 0) : 2 * number + 1])
        elif stays:
            runs.append(parts[2 * number])
        last = number if stays else last
    return runs if keeps[-1] else [*runs, ""]


def _fits(runs: Sequence[str], text: str) -> bool:
    """Return whether a text begins with the first run, ends with the last, and has the others
    between them in order.
    """
    first, *middle, last = runs
    end = len(text) - len(last)
    if end < len(first) or not text.startswith(first) or not text.endswith(last):
        return False
    place = len(first)
    for run in middle:
        start = text.find(run, place, end)
        if start < 0:
            return False
        place = start + len(run)
    return True


def telling_head(names: Iterable[str], limit: int) -> int:
    """Return after how many letters to cut names that are too long, so that what is left tells as
    many of them apart as it can, and as near to the middle as it can.

    >>> telling_head(["atire-06-18-100-percent", "atire-06-28-100-percent", "bm25"], 13)
    10
    """
    texts = [*names]
    near = sorted(range(1, limit - 1), key=lambda head: abs(limit // 2 - head))
    return max(near, key=lambda head: len({_cut(name, head, limit) for name in texts}))


def _cut(text: str, head: int, limit: int) -> str:
    """Return a text without what stands between its first letters and as many last as fit."""
    return text if len(text) <= limit else f"{text[:head]}…{text[head + 1 - limit :]}"


def measure_name(metric: str, cutoff: int | None) -> str:
    """Return the text of a metric at a cutoff.

    >>> measure_name("precision", 1), measure_name("ap(denominator=retrieved)", None)
    ('precision@1', 'ap(denominator=retrieved)@all')
    """
    return f"{clean(metric, 60)}@{'all' if cutoff is None else cutoff}"
