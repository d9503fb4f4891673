"""What a deeper retrieval could show of a cut list, by enumeration, without the package under
test.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from oracles import Grade, Ties, count_relevant, parse, score

Grades = tuple[Grade, ...]
OWN_DEPTH = ("r_precision", "ap_at_r")  # they look at the first R positions, whatever the cutoff


class Completion(NamedTuple):
    """A cut list as a deeper retrieval could have it, and the grades of all relevant items there
    are.
    """

    ties: tuple[Grades, ...]
    judged: Grades


def completions(
    ties: Ties,
    *,
    within: bool,
    unseen: Sequence[Grade],
    unknown: Sequence[Sequence[Grade]],
    zeros: int,
) -> Iterator[Completion]:
    """Every way a list may go on: some of the unseen items, and up to so many irrelevant ones, at
    one distance.

    ``within``: the last distance of the list; else one behind it. ``unseen``: grades of known items
    that the list does not show. ``unknown``: each a choice of grades that further relevant items of
    the query may have.
    """
    shown = tuple(grade for tie in ties for grade in tie)
    closed = tuple(tuple(tie) for tie in (ties[:-1] if within else ties))
    last = tuple(ties[-1]) if within else ()
    for grades in unknown:
        others = tuple(unseen) + tuple(grades)
        parts = {
            tuple(sorted(some))
            for size in range(len(others) + 1)
            for some in itertools.combinations(others, size)
        }
        for part in sorted(parts):
            for more in range(zeros + 1):
                tail = last + part + (0,) * more
                yield Completion((*closed, tail) if tail else closed, shown + others)


def beginnings(ties: Sequence[Grades], depth: int) -> set[Grades]:
    """Every order of the ties that differs in the first so many positions, relevant grades behind
    them falling.

    >>> sorted(beginnings([(1,), (0, 2, 1, 0)], 2))
    [(1, 0, 2, 1), (1, 1, 2), (1, 2, 1)]
    """
    found: set[tuple[Grades, Grades]] = {((), ())}
    for tie in ties:
        found = {
            (first + more, rest + left)
            for first, rest in found
            for more, left in _firsts(Counter(tie), depth - len(first))
        }
    return {
        first + tuple(sorted((grade for grade in rest if grade), reverse=True))
        for first, rest in found
    }


def _firsts(counts: Mapping[Grade, int], size: int) -> Iterator[tuple[Grades, Grades]]:
    """Every sequence of so many of the grades, or of all of them, and the grades that are left."""
    some = [grade for grade, count in counts.items() if count]
    if size <= 0 or not some:
        yield (), tuple(grade for grade in some for _ in range(counts[grade]))
        return
    for grade in some:
        for first, left in _firsts({**counts, grade: counts[grade] - 1}, size - 1):
            yield (grade, *first), left


@lru_cache(maxsize=64)
def _outcomes(
    ties: tuple[Grades, ...],
    depth: int | None,
    within: bool,
    unseen: Grades,
    unknown: tuple[Grades, ...],
    zeros: int,
) -> set[tuple[Grades, Grades]]:
    """Sequences that the completions allow, with all relevant grades; ``depth`` None: as many
    positions as R.
    """
    return {
        (sequence, whole.judged)
        for whole in completions(ties, within=within, unseen=unseen, unknown=unknown, zeros=zeros)
        for sequence in beginnings(
            whole.ties, count_relevant(whole.judged) if depth is None else depth
        )
    }


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
    """The least and the largest score at a cutoff, or at R, over all completions and all their
    orders.

    Orders that agree in the positions the cutoff reaches score alike, so one of them is scored.
    """
    assert k is not None or parse(text)[0] in OWN_DEPTH, "a whole list has no depth"
    tied, choices = tuple(map(tuple, ties)), tuple(map(tuple, unknown))
    found = [
        score(sequence, text, k, judged=judged, **options)
        for sequence, judged in _outcomes(tied, k, within, tuple(unseen), choices, zeros)
    ]
    return min(found), max(found)
