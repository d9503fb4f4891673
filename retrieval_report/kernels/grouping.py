"""Rows → lists → ties → cells: how many items of each grade every tie of every list holds.

Rows come in any order. One pass sees whether a list is sorted already, or its distances are few enough to count;
only else is it sorted. Order keys are int64, in which equal keys are ties and small keys are near.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.lists import Codes, Integers, Lists

__all__ = ["count_cells", "disagreeing_row", "factorise", "ideal_cells", "repeating_list", "stable_by_code"]

Places = NDArray[np.uint32]
Keys = NDArray[np.uint64]

ROOM = 1024  # a table this small is cheap to clear for every list


@kernel
def _slot(key: np.uint64, mask: np.uint64) -> np.uint64:
    """Where to look for a key first (Fibonacci hashing on mixed bits)."""
    return ((key ^ (key >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask


@kernel
def factorise(keys: Keys, codes: Places) -> Places:
    """Number the distinct keys in order of first appearance; return the row where each appears first."""
    size = 1 << 12
    table = np.zeros(size, np.uint32)  # code + 1, 0 is free
    first = np.empty(size // 2, np.uint32)
    found = 0
    for row in range(keys.size):
        mask = np.uint64(size - 1)
        slot = _slot(keys[row], mask)
        while table[slot] != 0 and keys[first[table[slot] - 1]] != keys[row]:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == 0:
            if found == size // 2:
                size *= 4
                table, mask = np.zeros(size, np.uint32), np.uint64(size - 1)
                longer = np.empty(size // 2, np.uint32)
                longer[:found] = first[:found]
                first = longer
                for code in range(found):
                    slot = _slot(keys[first[code]], mask)
                    while table[slot] != 0:
                        slot = (slot + np.uint64(1)) & mask
                    table[slot] = code + 1
                slot = _slot(keys[row], mask)
                while table[slot] != 0:
                    slot = (slot + np.uint64(1)) & mask
            first[found] = row
            found += 1
            table[slot] = found
        codes[row] = table[slot] - 1
    return first[:found].copy()


@kernel
def stable_by_code(codes: Places, start: Integers, row_of: Places) -> None:
    """Rows in order of their code, rows of one code in the order received (counting sort)."""
    for row in range(codes.size):
        start[codes[row] + 1] += 1
    for code in range(1, start.size):
        start[code] += start[code - 1]
    place = start[:-1].copy()
    for row in range(codes.size):
        row_of[place[codes[row]]] = row
        place[codes[row]] += 1


@kernel
def repeating_list(first: int, last: int, begin: Integers, end: Integers, row_of: Places, item: Keys) -> int:
    """The first of the lists ``first`` … ``last`` − 1 in which two rows have the same item key, or −1."""
    longest = 1
    for q in range(first, last):
        longest = max(longest, end[q] - begin[q])
    size = 4
    while size < 2 * longest:
        size *= 2
    table, stamp = np.empty(size, np.uint64), np.full(size, -1, np.int64)
    for q in range(first, last):
        room = 4
        while room < 2 * (end[q] - begin[q]):
            room *= 2
        mask = np.uint64(room - 1)
        for place in range(begin[q], end[q]):
            key = item[row_of[place]] if row_of.size > 0 else item[place]
            slot = _slot(key, mask)
            while stamp[slot] == q:
                if table[slot] == key:
                    return q
                slot = (slot + np.uint64(1)) & mask
            table[slot], stamp[slot] = key, q
    return -1


@kernel
def disagreeing_row(
    group_start: Integers,
    list_of: Integers,
    begin: Integers,
    end: Integers,
    row_of: Places,
    item: Keys,
    grade: Codes,
) -> int:
    """A row whose item has another grade in another list of the same group (query), or −1."""
    longest = 1
    for group in range(group_start.size - 1):
        rows = 0
        for index in range(group_start[group], group_start[group + 1]):
            rows += end[list_of[index]] - begin[list_of[index]]
        longest = max(longest, rows)
    size = 4
    while size < 2 * longest:
        size *= 2
    mask = np.uint64(size - 1)
    table, stamp, known = np.empty(size, np.uint64), np.full(size, -1, np.int64), np.empty(size, np.int32)
    for group in range(group_start.size - 1):
        for index in range(group_start[group], group_start[group + 1]):
            q = list_of[index]
            for place in range(begin[q], end[q]):
                row = row_of[place] if row_of.size > 0 else place
                slot = _slot(item[row], mask)
                while stamp[slot] == group and table[slot] != item[row]:
                    slot = (slot + np.uint64(1)) & mask
                if stamp[slot] == group and known[slot] != grade[row]:
                    return int(row)
                table[slot], stamp[slot], known[slot] = item[row], group, grade[row]
    return -1


@kernel
def _flush(seen: Codes, found: int, tally: Integers, grade: Codes, items: Integers, cells: int, falling: bool) -> int:
    """Write the grades seen in order, with their tallies, behind ``cells``; clear the tallies."""
    if found > 32:
        seen[:found] = np.sort(seen[:found])
    else:
        for index in range(1, found):
            code, place = seen[index], index
            while place > 0 and seen[place - 1] > code:
                seen[place] = seen[place - 1]
                place -= 1
            seen[place] = code
    for index in range(found):
        code = seen[found - 1 - index] if falling else seen[index]
        grade[cells], items[cells] = code, tally[code]
        tally[code] = 0
        cells += 1
    return cells


@kernel
def _count_table(
    key: Integers, grade: Codes, count: Integers, low: int, kinds: int, table: Integers, ties: int, cells: int,
    tie_cells: Integers, cell_grade: Codes, cell_items: Integers,
) -> tuple[int, int]:  # fmt: skip
    """Ties and cells of one list by counting distances and grades in a table."""
    for place in range(key.size):
        table[(key[place] - low) * kinds + grade[place]] += count[place] if count.size > 0 else 1
    for distance in range(table.size // kinds):
        before = cells
        for code in range(kinds):
            items = table[distance * kinds + code]
            if items > 0:
                cell_grade[cells], cell_items[cells] = code, items
                cells += 1
        if cells > before:
            tie_cells[ties] = cells - before
            ties += 1
    return ties, cells


@kernel
def _count_runs(
    order: Integers, key: Integers, grade: Codes, count: Integers, tally: Integers, seen: Codes, ties: int, cells: int,
    tie_cells: Integers, cell_grade: Codes, cell_items: Integers,
) -> tuple[int, int]:  # fmt: skip
    """Ties and cells of one list whose rows are taken in ``order`` (empty: as they are)."""
    found, before = 0, cells
    for index in range(key.size):
        place = order[index] if order.size > 0 else index
        if index > 0 and key[place] != key[order[index - 1] if order.size > 0 else index - 1]:
            cells = _flush(seen, found, tally, cell_grade, cell_items, cells, False)
            tie_cells[ties] = cells - before
            ties += 1
            found, before = 0, cells
        code = grade[place]
        if tally[code] == 0:
            seen[found] = code
            found += 1
        tally[code] += count[place] if count.size > 0 else 1
    cells = _flush(seen, found, tally, cell_grade, cell_items, cells, False)
    tie_cells[ties] = cells - before
    return ties + 1, cells


@kernel
def _near_first(key: Integers, low: int, width: int) -> Integers:
    """The order of the keys, equal ones as received; by counting where there are few distinct ones."""
    if width > 4 * key.size + ROOM:
        return np.argsort(key, kind="mergesort")
    start = np.zeros(width + 1, np.int64)
    for place in range(key.size):
        start[key[place] - low + 1] += 1
    for distance in range(1, width + 1):
        start[distance] += start[distance - 1]
    order = np.empty(key.size, np.int64)
    for place in range(key.size):
        distance = key[place] - low
        order[start[distance]] = place
        start[distance] += 1
    return order


@kernel
def count_cells(
    first: int,
    last: int,
    begin: Integers,
    end: Integers,
    row_of: Places,
    row_key: Integers,
    row_grade: Codes,
    row_count: Integers,
    kinds: int,
    list_ties: Integers,
    tie_cells: Integers,
    cell_grade: Codes,
    cell_items: Integers,
    naive_grade: Codes,
) -> tuple[int, int]:
    """Write ties per list, cells per tie, and grade and items of every cell (grades ascending); return how many.

    ``row_of`` of length 0 means that the rows of a list stand together as they are; ``row_count`` of length 0 that
    every row is one item. With room in ``naive_grade`` the grades are also written in the order near first, ties as
    received, the lists one after the other.
    """
    ties, cells, written = 0, 0, 0
    tally, seen = np.zeros(kinds, np.int64), np.empty(kinds, np.int32)
    nothing = np.empty(0, np.int64)
    for q in range(first, last):
        rows = end[q] - begin[q]
        before = ties
        if rows > 0:
            if row_of.size > 0:
                places = row_of[begin[q] : end[q]]
                key, grade = row_key[places], row_grade[places]
                count = row_count[places] if row_count.size > 0 else nothing
            else:
                key, grade = row_key[begin[q] : end[q]], row_grade[begin[q] : end[q]]
                count = row_count[begin[q] : end[q]] if row_count.size > 0 else nothing
            low, high, ascending = key[0], key[0], True
            for place in range(1, rows):
                ascending = ascending and key[place] >= key[place - 1]
                low, high = min(low, key[place]), max(high, key[place])
            spread = float(high) - float(low)  # a float: the difference may not fit 64 bits
            width = int(spread) + 1 if spread < 4e18 else np.iinfo(np.int64).max
            if naive_grade.size == 0 and spread < 2 * rows + ROOM and width * kinds <= 4 * rows + ROOM:
                table = np.zeros(width * kinds, np.int64)
                ties, cells = _count_table(
                    key, grade, count, low, kinds, table, ties, cells, tie_cells, cell_grade, cell_items
                )
            else:
                order = nothing if ascending else _near_first(key, low, width)
                ties, cells = _count_runs(
                    order, key, grade, count, tally, seen, ties, cells, tie_cells, cell_grade, cell_items
                )
                if naive_grade.size > 0:
                    for place in range(rows):
                        naive_grade[written + place] = grade[place] if ascending else grade[order[place]]
                    written += rows
        list_ties[q - first] = ties - before
    return ties, cells


@kernel
def ideal_cells(
    lists: Lists,
    extra_start: Integers,
    extra_grade: Codes,
    extra_items: Integers,
    kinds: int,
    list_start: Integers,
    grade: Codes,
    items: Integers,
) -> int:
    """Fill in every list's items and extra items by grade, highest first, one cell a grade; return how many cells."""
    cells = 0
    tally, seen = np.zeros(kinds, np.int64), np.empty(kinds, np.int32)
    for q in range(lists.start.size - 1):
        found = 0
        for cell in range(lists.tie[lists.start[q]], lists.tie[lists.start[q + 1]]):
            code = lists.grade[cell]
            if tally[code] == 0:
                seen[found] = code
                found += 1
            tally[code] += lists.items[cell]
        for cell in range(extra_start[q], extra_start[q + 1]):
            code = extra_grade[cell]
            if tally[code] == 0 and extra_items[cell] > 0:
                seen[found] = code
                found += 1
            tally[code] += extra_items[cell]
        cells = _flush(seen, found, tally, grade, items, cells, True)
        list_start[q + 1] = cells
    return cells
