"""Random orders inside ties, from a counter-based generator keyed by (seed, model, query, draw).

A number depends only on its key and counter, so a draw is the same for any number of threads, row
order and partition. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood
2014).
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import ZERO, allocating, inlined, kernel, popcount
from retrieval_report.kernels.lists import (
    Codes,
    Integers,
    Keys,
    Lists,
    cells_of,
    tie_size,
    ties_of,
)

Word = TypeVar("Word", np.uint64, Keys)

NEXT_DRAW = np.uint64(0xD1342543DE82EF95)  # between the keys of a list's random orders


def scrambled(value: Word) -> Word:
    """Scramble 64 bits, or those of every number of an array."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


mix = kernel(scrambled)


@kernel
def uniform_below(key: np.uint64, counter: int, limit: int) -> int:
    """Return the ``counter``-th whole number in 0 … limit − 1 of a key, from 53 random bits."""
    bits = mix(key + np.uint64(counter + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)
    return int(float(bits) * (1.0 / 9007199254740992.0) * limit)


@kernel
def text_keys(characters: NDArray[np.uint8], start: Integers, keys: Keys) -> None:
    """Write a key for each UTF-8 text (FNV-1a, mixed)."""
    for index in range(keys.size):
        state = np.uint64(0xCBF29CE484222325)
        for position in range(start[index], start[index + 1]):
            state = (state ^ np.uint64(characters[position])) * np.uint64(0x100000001B3)
        keys[index] = mix(state)


@kernel
def integer_keys(numbers: Keys, keys: Keys) -> None:
    """Write a key for each whole number, given as its 64 bits."""
    for index in range(keys.size):
        keys[index] = mix(numbers[index] + np.uint64(0x9E3779B97F4A7C15))


# One random order of each list: down to which rank it is drawn, from which key, and whether stretches
# of the lowest grade share a cell
Orders = tuple[Integers, Keys, bool]


class Pool(NamedTuple):
    """Room for one tie: its slots, each of which holds its own number between two ties; the draws
    of its rarer items; the grades at the slots; and a bit for every slot that a rarer item takes.
    """

    slot: Codes
    draw: Codes
    grade: Codes
    taken: Keys


@kernel
def draw_layout(lists: Lists, limit: Integers, stretches: bool, new: Lists) -> int:
    """Lay out the drawn lists: a tie of one grade stays one cell, a mixed
    tie gets one cell per slot up to ``limit``, or, in ``stretches``, as
    many as its items of other grades than the lowest can part.

    Every cell is a tie of its own. Returns the number of cells.
    """
    cells = 0
    for q in range(lists.start.size - 1):
        t = 0
        for tie in ties_of(q, lists):
            if t >= limit[q]:
                break
            first = lists.tie[tie]
            size = tie_size(tie, lists)
            mixed = lists.tie[tie + 1] - first > 1
            slots = min(size, limit[q] - t) if mixed else 1
            if stretches and mixed and lists.grade[first] == 0:
                slots = min(slots, 2 * (size - lists.items[first]) + 1)
            new.grade[cells : cells + slots] = lists.grade[first]
            new.items[cells : cells + slots] = 1 if mixed else size
            cells += slots
            t += size
        new.start[q + 1] = cells
    return cells


def draw_keys(keys: Keys, number: Integers) -> Keys:
    """Return the key of one random order of each list,
    from the lists' keys and the numbers of the orders.

    >>> draw_keys(np.array([7], np.uint64), np.array([0, 1])).tolist()
    [7, 15074714826142052252]
    """
    return keys + number.astype(np.uint64) * NEXT_DRAW


@inlined
def _most_frequent(tie: int, lists: Lists) -> int:
    """Return the cell with most items of a tie, the one of the lowest grade if there are several."""
    most: int = lists.tie[tie]
    for c in cells_of(tie, lists):
        if lists.items[c] > lists.items[most]:
            most = c
    return most


@kernel
def _deal(key: np.uint64, counter: int, tie: int, lists: Lists, pool: Pool) -> None:
    """Draw a slot for every item of a tie but those of its most frequent grade, which take what is
    left: the first steps of Fisher–Yates, so that every order of the grades is equally likely.
    """
    slot, draw, grade, taken = pool
    size = tie_size(tie, lists)
    most = _most_frequent(tie, lists)
    rarer_items = size - lists.items[most]
    for index in range(rarer_items):  # at once, which processors do several at a time
        draw[index] = index + uniform_below(key, counter + index, size - index)
    first = ZERO
    for c in cells_of(tie, lists):
        if c != most:
            for index in range(first, first + lists.items[c]):
                drawn = draw[index]
                here = slot[drawn]
                slot[drawn] = slot[index]
                grade[here] = lists.grade[c]
                taken[here >> 6] |= np.uint64(1) << np.uint64(here & 63)
            first += lists.items[c]
    for index in range(rarer_items):
        slot[draw[index]] = draw[index]


@kernel
def _write_stretches(slots: int, pool: Pool, out: int, new: Lists) -> int:
    """Write the first slots of a tie as cells: one for each item that was drawn and one for every
    stretch of the lowest grade; return where the next cell goes.
    """
    after = ZERO  # the slot after the last drawn item
    for word in range((slots + 63) >> 6):
        bits = pool.taken[word]
        while bits != np.uint64(0):
            here = (word << 6) + int(popcount((bits & (~bits + np.uint64(1))) - np.uint64(1)))
            bits &= bits - np.uint64(1)
            if here >= slots:
                break
            new.grade[out] = 0  # without a branch, which nothing could predict
            new.items[out] = here - after
            out += here > after
            new.grade[out] = pool.grade[here]
            new.items[out] = 1
            out += 1
            after = here + 1
    if after < slots:
        new.grade[out] = 0
        new.items[out] = slots - after
        out += 1
    return out


@kernel
def _write_slots(slots: int, most: int, pool: Pool, out: int, new: Lists) -> int:
    """Write the first slots of a tie as cells of one item each, of the grade ``most`` where none
    was drawn; return where the next cell goes.
    """
    for here in range(slots):
        drawn = (pool.taken[here >> 6] >> np.uint64(here & 63)) & np.uint64(1)
        new.grade[out + here] = pool.grade[here] if drawn else most
        new.items[out + here] = 1
    return out + slots


@allocating
def _room(first: int, last: int, lists: Lists) -> Pool:
    """Return room for the largest mixed tie of the lists ``first`` … ``last`` − 1."""
    longest = rarer_items = ZERO
    for tie in range(lists.start[first], lists.start[last]):
        if lists.tie[tie + 1] - lists.tie[tie] > 1:
            size = tie_size(tie, lists)
            longest = max(longest, size)
            rarer_items = max(rarer_items, size - lists.items[_most_frequent(tie, lists)])
    return Pool(
        np.arange(longest).astype(np.int32),
        np.empty(rarer_items, np.int32),
        np.empty(longest, np.int32),
        np.zeros((longest + 63) >> 6, np.uint64),
    )


@allocating
def draw_orders(first: int, last: int, lists: Lists, orders: Orders, new: Lists) -> None:
    """Draw the grades at the slots of every mixed tie of the lists ``first`` … ``last`` − 1, from a
    key for each list.

    What a tie draws depends on its items alone, not on ``limit`` or ``stretches``. Cells that are
    left over hold no item.
    """
    limit, keys, stretches = orders
    pool = _room(first, last, lists)
    for q in range(first, last):
        key = mix(keys[q])
        t = 0
        out = new.start[q]
        for tie in ties_of(q, lists):
            if t >= limit[q]:
                break
            size = tie_size(tie, lists)
            slots = min(size, limit[q] - t)
            if lists.tie[tie + 1] - lists.tie[tie] == 1:
                new.grade[out] = lists.grade[lists.tie[tie]]
                new.items[out] = size
                out += 1
            else:
                most = lists.grade[_most_frequent(tie, lists)]
                _deal(key, t, tie, lists, pool)
                if stretches and most == 0:
                    out = _write_stretches(slots, pool, out, new)
                else:
                    out = _write_slots(slots, most, pool, out, new)
                pool.taken[: (size + 63) >> 6] = 0
            t += size
        new.grade[out : new.start[q + 1]] = 0
        new.items[out : new.start[q + 1]] = 0
