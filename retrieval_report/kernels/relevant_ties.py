"""Group rows into lists, ties and cells where few of them have a grade above 0: only these are
sorted, and what lies between two of their ties is one tie.
"""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.compile import ZERO, allocating, costs, elements, kernel
from retrieval_report.kernels.grouping import (
    RISING,
    Filled,
    Listed,
    Tally,
    Together,
    Written,
    flush,
    longest_list,
    no_tally,
    sort_keys,
)
from retrieval_report.kernels.lists import Integers


@kernel
def _gather(begin: int, end: int, listed: Listed, graded: Together) -> int:
    """Copy key and grade of the rows of a grade above 0; return how many there are."""
    rows = ZERO
    for row in range(begin, end):
        if listed.grade[row]:
            graded.key[rows] = listed.key[row]
            graded.grade[rows] = listed.grade[row]
            rows += 1
    return rows


@kernel
def _count_others(key: Integers, level: Integers, ends: Integers, others: Integers) -> None:
    """Count rows of grade 0 before (even), at (odd) and after the levels, which ascend; so many
    graded rows (``ends``) are at or before each.
    """
    graded = ends[level.size - 1] if level.size else ZERO
    before = ZERO
    left = key.size - graded
    for index in range(level.size):  # many rows at a time, where a search for each would branch
        value = level[index]
        at_least = ZERO
        above = ZERO
        for row in range(key.size):
            at_least += int(key[row] >= value)
            above += int(key[row] > value)
        at_least -= graded - before
        before = ends[index]
        above -= graded - before
        others[2 * index] = left - at_least
        others[2 * index + 1] = at_least - above
        left = above
    others[2 * level.size] = left


@kernel
def _write(
    graded: Together, ends: Integers, others: Integers, tallied: Tally, done: Written, out: Filled
) -> Written:
    """Write the ties of one list: others before a level, those at it with what is graded."""
    ties, cells = done
    row = ZERO
    for part in range(2 * ends.size + 1):
        kinds = ZERO
        before = cells
        if others[part]:
            tallied.items[0] = others[part]
            tallied.seen[0] = 0
            kinds += 1
        while part & 1 and row < ends[part >> 1]:
            code = graded.grade[row]
            if tallied.items[code] == 0:
                tallied.seen[kinds] = code
                kinds += 1
            tallied.items[code] += 1
            row += 1
        if kinds:
            cells = flush(tallied, kinds, out.grade, out.items, cells, RISING)
            out.tie_key[ties] = part
            out.tie_cells[ties] = cells - before
            ties += 1
    return Written(ties, cells)


def levels_walked(first: int, last: int, listed: Listed, kinds: int, out: Filled) -> float:
    """Estimate the work of `count_relevant`: all rows of a list, for each that is graded."""
    rows = listed.key.size / max(listed.of_list.begin.size, 1)
    return elements(listed, out) + float(np.count_nonzero(listed.grade)) * rows


@costs(levels_walked)
@allocating
def count_relevant(
    first: int, last: int, listed: Listed, kinds: int, out: Filled
) -> tuple[int, int]:
    """As `count_cells`, of rows that are one item each, with ties of grade 0 alone that follow each
    other as one; the keys of the ties are small numbers in the same order.
    """
    begin = listed.of_list.begin
    end = listed.of_list.end
    longest = longest_list(first, last, listed.of_list)
    gathered = Together(
        np.empty(longest, np.int64), np.empty(longest, np.int32), np.empty(0, np.int64)
    )
    order = np.empty(longest, np.int64)
    level = np.empty(longest, np.int64)
    ends = np.empty(longest, np.int64)
    others = np.empty(2 * longest + 1, np.int64)
    codes = np.empty(longest, np.int32)
    tallied = no_tally(kinds)
    done = Written(ZERO, ZERO)
    for q in range(first, last):
        size = _gather(begin[q], end[q], listed, gathered)
        levels = ZERO
        before = done.ties
        if size:
            key = gathered.key[:size]
            low = key[0]
            high = key[0]
            for row in range(size):
                low = min(low, key[row])
                high = max(high, key[row])
            sort_keys(key, low, np.uint64(high - low), order)
        for row in range(size):
            codes[row] = gathered.grade[order[row]]
            if levels == 0 or level[levels - 1] != gathered.key[order[row]]:
                level[levels] = gathered.key[order[row]]
                levels += 1
            ends[levels - 1] = row + 1
        rows = slice(begin[q], end[q])
        _count_others(listed.key[rows], level[:levels], ends[:levels], others)
        graded = Together(gathered.key, codes, gathered.items)
        done = _write(graded, ends[:levels], others, tallied, done, out)
        out.list_ties[q - first] = done.ties - before
    return done.ties, done.cells
