"""What a deeper retrieval could show of a cut list, by enumeration, without the package under test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from oracles import Grade, Ties, moments


class Completion(NamedTuple):
    """A cut list as a deeper retrieval could have it, and the grades of all relevant items there are."""

    ties: tuple[tuple[Grade, ...], ...]
    judged: tuple[Grade, ...]


def completions(
    ties: Ties, *, within: bool, unseen: Sequence[Grade], unknown: Sequence[Sequence[Grade]], zeros: int
) -> Iterator[Completion]:
    """Every way a list may go on: some of the unseen items, and up to so many irrelevant ones, at one distance.

    ``within``: the last distance of the list; else one behind it. ``unseen``: grades of known items that the list
    does not show. ``unknown``: each a choice of grades that further relevant items of the query may have.
    """
    shown = tuple(grade for tie in ties for grade in tie)
    closed = tuple(tuple(tie) for tie in (ties[:-1] if within else ties))
    last = tuple(ties[-1]) if within else ()
    for grades in unknown:
        others = tuple(unseen) + tuple(grades)
        parts = {
            tuple(sorted(some)) for size in range(len(others) + 1) for some in itertools.combinations(others, size)
        }
        for part in sorted(parts):
            for more in range(zeros + 1):
                tail = last + part + (0,) * more
                yield Completion((*closed, tail) if tail else closed, shown + others)


def completed_extremes(
    ties: Ties,
    text: str,
    k: int | None,
    *,
    within: bool,
    unseen: Sequence[Grade] = (),
    unknown: Sequence[Sequence[Grade]] = ((),),
    zeros: int = 3,
    **options: Any,
) -> tuple[Fraction, Fraction]:
    """The least and the largest score over all completions and all their orders."""
    found = [
        moments(whole.ties, text, k, judged=whole.judged, **options)
        for whole in completions(ties, within=within, unseen=unseen, unknown=unknown, zeros=zeros)
    ]
    return min(one.minimum for one in found), max(one.maximum for one in found)
