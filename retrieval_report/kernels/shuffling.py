"""Random orders inside ties, from a counter-based generator keyed by (seed, model, query, draw).

A number depends only on its key and counter, so a draw is the same for any number of threads, row
order and partition. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood
2014).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import allocating, kernel
from retrieval_report.kernels.lists import Integers, Keys, Lists, cells_of, tie_size, ties_of

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


def list_keys(seed: Keys, model: Keys, query: Keys) -> Keys:
    """Return the key of each list, from the seed and the keys of its model and query."""
    return scrambled(scrambled(scrambled(seed) ^ model) + query)


@kernel
def draw_layout(lists: Lists, limit: Integers, new: Lists) -> int:
    """Lay out the drawn lists: a tie of one grade stays one cell, a mixed tie gets one cell per
    slot up to ``limit``.

    Only the grades of the slots change between draws. Returns the number of cells.
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
            new.grade[cells : cells + slots] = lists.grade[first]
            new.items[cells : cells + slots] = 1 if mixed else size
            cells += slots
            t += size
        new.start[q + 1] = cells
    return cells


def draw_keys(keys: Keys, number: Integers) -> Keys:
    """Return the key of one random order of each list, from the lists' keys and the numbers of the
    orders.

    >>> draw_keys(np.array([7], np.uint64), np.array([0, 1])).tolist()
    [7, 15074714826142052252]
    """
    return keys + number.astype(np.uint64) * NEXT_DRAW


@allocating
def draw_orders(
    first: int, last: int, lists: Lists, limit: Integers, keys: Keys, new: Lists
) -> None:
    """Draw the grades at the slots of every mixed tie of the lists ``first`` … ``last`` − 1
    (Fisher–Yates), from a key for each list.
    """
    new_start = new.start
    new_grade = new.grade
    longest = 1
    for tie in range(lists.start[first], lists.start[last]):
        longest = max(longest, tie_size(tie, lists))
    pool = np.empty(longest, np.int32)
    for q in range(first, last):
        key = mix(keys[q])
        t = 0
        out = new_start[q]
        for tie in ties_of(q, lists):
            if t >= limit[q]:
                break
            size = 0
            for c in cells_of(tie, lists):
                pool[size : size + lists.items[c]] = lists.grade[c]
                size += lists.items[c]
            if lists.tie[tie + 1] - lists.tie[tie] == 1:
                out += 1
            else:
                slots = min(size, limit[q] - t)
                for slot in range(slots):
                    other = slot + uniform_below(key, t + slot, size - slot)
                    new_grade[out + slot] = pool[other]
                    pool[other] = pool[slot]
                out += slots
            t += size
