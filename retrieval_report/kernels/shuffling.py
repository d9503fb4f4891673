"""Random orders inside ties, from a counter-based generator keyed by (seed, model, query, draw).

A number depends only on its key and counter, so a draw is the same for any number of threads, row
order and partition. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood
2014).
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import allocating, kernel
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

LARGE = 4096  # items of a tie; of larger ones the rarer grades are drawn, not every item
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


def list_keys(seed: Keys, model: Keys, query: Keys) -> Keys:
    """Return the key of each list, from the seed and the keys of its model and query."""
    return scrambled(scrambled(scrambled(seed) ^ model) + query)


class Orders(NamedTuple):
    """One random order of each list: down to which rank it is drawn, from which key, and whether
    stretches of the lowest grade share a cell.
    """

    limit: Integers
    keys: Keys
    stretches: bool


class Pool(NamedTuple):
    """The grades of a tie's items, which are dealt in place, and as much room besides."""

    grade: Codes
    room: Codes


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


@kernel
def _fill(tie: int, lists: Lists, lowest: int, pool: Codes) -> int:
    """Write the grades of a tie's items from a grade index on into a pool; return their number."""
    size = 0
    for c in cells_of(tie, lists):
        if lists.grade[c] >= lowest:
            pool[size : size + lists.items[c]] = lists.grade[c]
            size += lists.items[c]
    return size


@kernel
def _deal(
    key: np.uint64, counter: int, slots: int, size: int, other_items: int, pool: Pool
) -> None:
    """Draw the first ``slots`` of a pool's items in random order (Fisher–Yates), until none of the
    ``other_items`` than the lowest grade is left.
    """
    grade, room = pool
    for slot in range(slots):  # at once, which processors do several at a time
        room[slot] = slot + uniform_below(key, counter + slot, size - slot)
    for slot in range(slots):
        swapped = room[slot]
        grade_here = grade[swapped]
        grade[swapped] = grade[slot]
        grade[slot] = grade_here
        other_items -= grade_here != 0
        if other_items == 0:
            break


@kernel
def _deal_large(
    key: np.uint64, counter: int, tie: int, lists: Lists, size: int, pool: Pool
) -> None:
    """Draw a whole large tie: which slots hold the items of other grades than the lowest (Floyd's
    sample, Bentley and Floyd 1987), and the order of these.
    """
    grade, room = pool
    other_items = _fill(tie, lists, 1, room)
    few = min(other_items, size - other_items)
    grade[:size] = 0
    for last in range(size - few, size):
        slot = uniform_below(key, counter + last, last + 1)
        grade[last if grade[slot] else slot] = 1
    other_key = mix(key ^ NEXT_DRAW)
    number = 0
    for slot in range(size):
        if (grade[slot] != 0) == (few == other_items):
            index = number + uniform_below(other_key, counter + number, other_items - number)
            grade[slot] = room[index]
            room[index] = room[number]
            number += 1
        else:
            grade[slot] = 0


@kernel
def _write(slots: int, stretches: bool, pool: Codes, out: int, new: Lists) -> int:
    """Write the grades of a tie's slots as cells, one for every stretch of the lowest grade if
    ``stretches``; return where the next cell goes.
    """
    grade, items = new.grade, new.items
    cell, empty, size = out - 1, False, 0
    for slot in range(slots):  # without branches, which nothing could predict
        lowest = pool[slot] == 0
        longer = 1 if stretches and empty and lowest else 0
        cell += 1 - longer
        size = size * longer + 1
        grade[cell] = pool[slot]
        items[cell] = size
        empty = lowest
    return cell + 1


@allocating
def draw_orders(first: int, last: int, lists: Lists, orders: Orders, new: Lists) -> None:
    """Draw the grades at the slots of every mixed tie of the lists ``first`` … ``last`` − 1, from a
    key for each list.

    What a tie draws depends on its items alone, not on ``limit`` or ``stretches``. Cells that are
    left over hold no item.
    """
    limit, keys, stretches = orders
    longest = 1
    for tie in range(lists.start[first], lists.start[last]):
        longest = max(longest, tie_size(tie, lists))
    pool = Pool(np.empty(longest, np.int32), np.empty(longest, np.int32))
    for q in range(first, last):
        key = mix(keys[q])
        t = 0
        out = new.start[q]
        for tie in ties_of(q, lists):
            if t >= limit[q]:
                break
            cell = lists.tie[tie]
            size = tie_size(tie, lists)
            slots = min(size, limit[q] - t)
            if lists.tie[tie + 1] - cell == 1:
                new.grade[out] = lists.grade[cell]
                new.items[out] = size
                out += 1
            elif size > LARGE:
                _deal_large(key, t, tie, lists, size, pool)
                out = _write(slots, stretches, pool.grade, out, new)
            else:
                _fill(tie, lists, 0, pool.grade)
                other_items = size - lists.items[cell] if lists.grade[cell] == 0 else size
                _deal(key, t, slots, size, other_items, pool)
                out = _write(slots, stretches, pool.grade, out, new)
            t += size
        new.grade[out : new.start[q + 1]] = 0
        new.items[out : new.start[q + 1]] = 0
