"""The walk that sums share: along the ties of a list, past one cutoff after the other.

A sum says in a few steps what items and ties add to a state, such as the mean and variance so far,
and what the moments are at a cutoff between two ties or inside one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from retrieval_report.kernels.compile import ZERO, inlined, kernel
from retrieval_report.kernels.lists import (
    Integers,
    Lists,
    Moments,
    Spread,
    Stretch,
    Tie,
    count_relevant,
)

Step = Callable[..., Any]


@inlined
def settled(state: Any, _arguments: object) -> Spread:
    """Return mean and variance of a sum that is kept as a pair, for a cutoff between two ties."""
    return state.high + state.low, state.variance


class Steps(NamedTuple):
    """What a sum does along a list, each a kernel;
    ``given`` is what it needs beside lists and depths.
    """

    look: Step  # (t, tie, ahead, lists, given) → what it asks of a tie after t items, above all its
    # size; ``ahead`` are the depths that no tie has reached yet
    add: Step  # (looked, state, given) → the state after the tie
    inside: Step  # (looked, slots, state, given) → mean and variance after some slots of the tie
    between: Step = settled  # (state, given) → mean and variance after the ties so far
    plain: Step | None = None
    """(stretch, lists, given, state) → how many items precede the first tie that is not plain, or that
    reaches beyond the depth, this tie, and the state there, without the mathematics of ties; None
    leaves all ties to the other steps.
    """
    ended: Step | None = None  # (state) → whether no item after these changes the moments


@inlined
def count_tie(t: int, tie: int, _ahead: Integers, lists: Lists, arguments: Any) -> Tie:
    """Look at a tie as sums do that ask which items are relevant: those of the grades
    ``relevant_grade`` of what is given.
    """
    size, relevant = count_relevant(tie, lists, arguments.relevant_grade)
    return Tie(t, size, relevant)


class Place(NamedTuple):
    """Where a walk along a list stands: how many items and cutoffs lie behind, the next tie, and the
    state there.
    """

    t: int
    j: int
    tie: int
    state: Any


def walk(name: str, start: tuple[float, ...], steps: Steps, compiles: Step = kernel) -> Any:
    """Return the kernel of a sum whose state before the first item is ``start``.

    The kernel writes the mean and the variance of the sum at every depth of the lists ``first`` …
    ``last`` − 1. ``depths`` (lists, cutoffs) ascend along each row and do not exceed the list's
    length. Steps that return arrays need a kernel that ``compiles`` as ``allocating`` does. As
    ``walk_on`` it has the kernel that walks along one list from some place on.
    """
    look, add, inside, between, plain, ended = steps

    def walk_on(
        q: int, place: Place, lists: Lists, depths: Integers, arguments: object, out: Moments
    ) -> None:
        mean, variance = out
        cutoffs = depths.shape[1]
        t, j, tie, state = place
        end = lists.start[q + 1]
        while tie < end and j < cutoffs and not (ended is not None and ended(state)):
            if plain is not None:
                stretch = Stretch(t, tie, end, depths[q, j])
                t, tie, state = plain(stretch, lists, arguments, state)
            if t == depths[q, j]:
                mean[q, j], variance[q, j] = between(state, arguments)
                j += 1
            elif tie < end:
                looked = look(t, tie, depths[q, j:], lists, arguments)
                while j < cutoffs and depths[q, j] < t + looked.size:
                    mean[q, j], variance[q, j] = inside(looked, depths[q, j] - t, state, arguments)
                    j += 1
                if j < cutoffs:
                    state = add(looked, state, arguments)
                t += looked.size
                tie += 1
        for rest in range(j, cutoffs):
            mean[q, rest], variance[q, rest] = between(state, arguments)

    walk_on.__name__ = walk_on.__qualname__ = f"{name}_from"  # under which its code is stored
    walk_on = compiles(walk_on)

    def moments(
        first: int, last: int, lists: Lists, depths: Integers, arguments: object, out: Moments
    ) -> None:
        for q in range(first, last):
            place = Place(ZERO, ZERO, lists.start[q], start)
            walk_on(q, place, lists, depths, arguments, out)

    moments.__name__ = moments.__qualname__ = name
    made = compiles(moments)
    made.walk_on = walk_on
    return made
