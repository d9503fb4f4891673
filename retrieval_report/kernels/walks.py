"""A list's score under random tie order as a walk: each step draws an item and adds an amount to
the score.

A node holds what the rest of the score depends on: how many items of each grade the tie has left.
Each walk from the first node to the last has the probability of its orders, and its amounts add up
to the score. There are few nodes even where there are more orders than atoms in the universe, and
the characteristic function E exp(i·t·score) takes one pass over the steps for every t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.compile import allocating, costs, inlined, kernel, power, squared
from retrieval_report.kernels.lists import Bools, Floats, Integers, Lists, count_relevant
from retrieval_report.kernels.shuffling import uniform

NEGLIGIBLE = 1e-10  # a factor is at most 1 in size, so a product this small stays that small
IMPROBABLE = 1e-12  # numbers of relevant items less likely than this are left out
WEIGHTED, PAIRS, CASCADE = 0, 1, 2  # Σ value·weight; Σ values of the relevant so far / rank; ERR
AFRESH = 512  # rotations after which they are computed anew, so that rounding errors do not pile up


class Steps(NamedTuple):
    """Steps from node to node; each comes after all steps that lead to its source."""

    source: Integers
    target: Integers
    chance: Floats
    amount: Floats


class Terms(NamedTuple):
    """What an item at a rank adds to a score."""

    form: int
    value: Floats  # of each grade: what it counts, or the chance that it ends the search
    relevant: Bools
    weight: Floats  # of each rank, from index 1
    retrieved: bool  # whether to divide by the relevant items found


class Walk(NamedTuple):
    """Where the steps of a list are written, what its items add, and the factor applied to it."""

    steps: Steps
    terms: Terms
    scale: float


class Reached(NamedTuple):
    """The steps written so far: their number, and the last node."""

    steps: int
    node: int


class Seen(NamedTuple):
    """What an item's contribution depends on: its rank, the sum of values before it, and the chance
    to get that far.
    """

    position: int
    before: float
    going: float


@inlined
def _amount(terms: Terms, position: int, grade: int, sum_before: float, going: float) -> float:
    """Return what an item adds at a rank, given the sum of values before it and the chance to get
    that far.
    """
    value = terms.value[grade]
    if terms.form == WEIGHTED:
        counted = value
    elif terms.form == PAIRS:
        counted = sum_before + value if terms.relevant[grade] else 0.0
    else:
        counted = going * value
    amount: float = counted * terms.weight[position]
    return amount


@kernel
def _whole(
    terms: Terms, position: int, grade: int, items: int, before: float, going: float
) -> tuple[float, float, float]:
    """Return what items of one grade add from a rank on, and the sum of values and the chance to go
    on after them.
    """
    total = 0.0
    for item in range(items):
        total += _amount(terms, position + item, grade, before, going)
        before += terms.value[grade] if terms.relevant[grade] else 0.0
        going *= 1.0 - terms.value[grade] if terms.form == CASCADE else 1.0
    return total, before, going


@allocating
def _tie_steps(
    walk: Walk, reached: Reached, seen: Seen, items: Integers, grades: Integers, slots: int
) -> tuple[int, int]:
    """Write the steps through a tie of several grades; return their number (−1: no room) and the
    node after it.
    """
    steps, terms, scale = walk
    count, node = reached
    position, before, going = seen
    kinds, size = items.size, items.sum()
    stride = np.ones(kinds + 1, np.int64)
    for kind in range(1, kinds):
        stride[kind + 1] = stride[kind] * (items[kind] + 1)
    states = stride[kinds]
    dealt = np.empty(kinds, np.int64)
    layer, following = node, node + 1
    there = np.zeros(states, np.bool_)
    there[0] = True
    for slot in range(slots):
        last = slot == slots - 1
        ahead = np.zeros(states, np.bool_)
        for state in range(states):
            if not there[state]:
                continue
            dealt[0] = slot
            total, chance_on = before, going
            for kind in range(1, kinds):
                dealt[kind] = (state // stride[kind]) % (items[kind] + 1)
                dealt[0] -= dealt[kind]
            for kind in range(kinds):
                value = terms.value[grades[kind]]
                total += dealt[kind] * value if terms.relevant[grades[kind]] else 0.0
                chance_on *= power(1.0 - value, dealt[kind]) if terms.form == CASCADE else 1.0
            for kind in range(kinds):
                if dealt[kind] == items[kind]:
                    continue
                if count == steps.source.size:
                    return -1, node
                other = state + (stride[kind] if kind else 0)
                ahead[other] = True
                steps.source[count] = layer + (state if slot else 0)
                steps.target[count] = following + (0 if last else other)
                steps.chance[count] = (items[kind] - dealt[kind]) / (size - slot)
                steps.amount[count] = scale * _amount(
                    terms, position + slot, grades[kind], total, chance_on
                )
                count += 1
        there = ahead
        layer, following = following, following + (1 if last else states)
    return count, layer


@allocating
def _line(
    walk: Walk, reached: Reached, q: int, lists: Lists, depth: int, hits: int
) -> tuple[int, int]:
    """Write the steps of one list; ``hits`` relevant items of its cut tie are above the cutoff (−1:
    a random number).

    The count is −1 if there is no room.
    """
    steps, terms, scale = walk
    count, node = reached
    position, before, going = 1, 0.0, 1.0
    for tie in range(lists.start[q], lists.start[q + 1]):
        if position > depth:
            break
        c0, c1 = lists.tie[tie], lists.tie[tie + 1]
        items = lists.items[c0:c1].copy()
        grades = lists.grade[c0:c1].astype(np.int64)
        slots = min(items.sum(), depth - position + 1)
        if slots < items.sum() and hits >= 0:
            for kind in range(items.size):
                items[kind] = hits if terms.relevant[grades[kind]] else slots - hits
        largest = np.argmax(items)
        items[0], items[largest] = items[largest], items[0]
        grades[0], grades[largest] = grades[largest], grades[0]
        if items[0] == items.sum():
            if count == steps.source.size:
                return -1, node
            total, before, going = _whole(terms, position, grades[0], slots, before, going)
            steps.source[count], steps.target[count] = node, node + 1
            steps.chance[count], steps.amount[count] = 1.0, scale * total
            count, node = count + 1, node + 1
        else:
            count, node = _tie_steps(
                walk, Reached(count, node), Seen(position, before, going), items, grades, slots
            )
            if count < 0:
                return count, node
            for kind in range(items.size):
                value = terms.value[grades[kind]]
                before += items[kind] * value if terms.relevant[grades[kind]] else 0.0
                going *= power(1.0 - value, items[kind]) if terms.form == CASCADE else 1.0
        position += slots
    return count, node


@allocating
def list_steps(
    q: int, lists: Lists, depth: int, terms: Terms, scale: float, steps: Steps
) -> tuple[int, int]:
    """Write the steps of a list's score; return their number (−1: no room, or no such walk) and the
    last node.

    If the sum is divided by the relevant items found, and a cut tie makes their number random, the
    first step chooses it; given that number, the part of the tie above the cutoff is a whole tie.
    """
    if not terms.retrieved:
        return _line(Walk(steps, terms, scale), Reached(0, 0), q, lists, depth, -1)
    position, sure = 0, 0
    size, relevant, kinds = 0, 0, 0
    for tie in range(lists.start[q], lists.start[q + 1]):
        if position >= depth:
            break
        sure += relevant
        size, relevant = count_relevant(tie, lists, terms.relevant)
        kinds = lists.tie[tie + 1] - lists.tie[tie]
        position += size
    slots = size - max(position - depth, 0)
    if slots == size or relevant == 0 or relevant == size:
        found = sure + (min(relevant, slots) if relevant else 0)
        return _line(Walk(steps, terms, scale / max(found, 1)), Reached(0, 0), q, lists, depth, -1)
    if kinds != 2:
        return -1, 0
    least, chances = hypergeometric_band(size, relevant, slots)
    likely = np.flatnonzero(chances > IMPROBABLE)
    least, chances = least + likely[0], chances[likely] / chances[likely].sum()
    count, node = chances.size, 1
    ends = np.empty(chances.size, np.int64)
    if count + chances.size > steps.source.size:
        return -1, 0
    for index in range(chances.size):
        steps.source[index], steps.target[index] = 0, node
        steps.chance[index], steps.amount[index] = chances[index], 0.0
        hits = least + index
        walk = Walk(steps, terms, scale / max(sure + hits, 1))
        count, node = _line(walk, Reached(count, node), q, lists, depth, hits)
        if count < 0 or count + chances.size > steps.source.size:
            return -1, 0
        ends[index] = node
        node += 1
    for index in range(chances.size):
        steps.source[count], steps.target[count] = ends[index], node
        steps.chance[count], steps.amount[count] = 1.0, 0.0
        count += 1
    return count, node


@allocating
def walk_moments(steps: Steps, last: int) -> tuple[float, float, float, float]:
    """Return mean and variance of the sum over a walk, and its least and greatest value."""
    chance, mean, square = np.zeros(last + 1), np.zeros(last + 1), np.zeros(last + 1)
    least, most = np.full(last + 1, np.inf), np.full(last + 1, -np.inf)
    chance[0], least[0], most[0] = 1.0, 0.0, 0.0
    for step in range(steps.source.size):
        a, b, p, x = steps.source[step], steps.target[step], steps.chance[step], steps.amount[step]
        chance[b] += p * chance[a]
        mean[b] += p * (mean[a] + x * chance[a])
        square[b] += p * (square[a] + 2.0 * x * mean[a] + x * x * chance[a])
        least[b], most[b] = min(least[b], least[a] + x), max(most[b], most[a] + x)
    return mean[last], max(square[last] - squared(mean[last]), 0.0), least[last], most[last]


@costs(lambda steps, _last, _step, product, _terms: float(steps.source.size) * product.size)
@allocating
def multiply_characteristics(
    steps: Steps, last: int, step: float, product: NDArray[np.complex128], terms: int
) -> int:
    """Multiply the first entries of ``product`` by a walk's characteristic function; entry n is at
    t = n·step.

    Returns how many entries are worth another factor; all later ones are negligible and remain an
    upper bound.
    """
    count = steps.source.size
    turn, here = np.empty(count, np.complex128), np.empty(count, np.complex128)
    reached = np.empty(last + 1, np.complex128)
    for n in range(terms):
        if n % AFRESH == 0:
            for edge in range(count):
                angle = step * steps.amount[edge]
                turn[edge] = np.exp(1j * angle)
                here[edge] = steps.chance[edge] * np.exp(1j * (n * angle))
        reached[:] = 0.0
        reached[0] = 1.0
        for edge in range(count):
            reached[steps.target[edge]] += reached[steps.source[edge]] * here[edge]
            here[edge] *= turn[edge]
        product[n] *= reached[last]
    while terms > 1 and abs(product[terms - 1]) < NEGLIGIBLE:
        terms -= 1
    return terms


@costs(lambda steps, last, _key, found: float(last) * found.size)
@allocating
def sampled_walks(steps: Steps, last: int, key: np.uint64, found: Floats) -> None:
    """Write the sums of random walks, one for every entry of ``found``; the steps from a node
    follow each other.
    """
    first = np.full(last + 1, steps.source.size)
    for edge in range(steps.source.size - 1, -1, -1):
        first[steps.source[edge]] = edge
    counter = np.uint64(0)
    for draw in range(found.size):
        node, edge, total, left = -1, 0, 0.0, 0.0
        while node != last:
            if (
                edge == steps.source.size or steps.source[edge] != node
            ):  # the start, or where rounding stopped it
                node, edge, total = 0, first[0], 0.0
                counter += np.uint64(1)
                left = uniform(key, counter)
            if left < steps.chance[edge]:
                node, total = steps.target[edge], total + steps.amount[edge]
                edge = first[node]
                counter += np.uint64(1)
                left = uniform(key, counter)
            else:
                left -= steps.chance[edge]
                edge += 1
        found[draw] = total
