"""Group rows into lists, ties and cells: how many
items of each grade every tie of every list holds.

One pass finds out whether a list is already sorted; otherwise it is. Order keys are int64: equal
keys are ties, and small keys are near. Where few items are relevant, nothing need be sorted: those
nearer than each of them, and as near, are counted.
"""

from typing import NamedTuple, cast

import numpy as np

from retrieval_report.contracts.arguments import Array
from retrieval_report.kernels.compile import (
    ZERO,
    Kernel,
    allocating,
    costs,
    elements,
    inlined,
    kernel,
)
from retrieval_report.kernels.lists import Cells, Codes, Integers, Rows

MOST_PLACES = 1 << 16  # of keys and grades: as many as stay in the processor's cache

# Numba would compile `flush` once for a plain True and once for a plain False.
RISING = cast(bool, np.bool_(False))
FALLING = cast(bool, np.bool_(True))

# `np.iinfo` would be stored with a reference to Numba's linear algebra, which loads SciPy's.
LEAST = cast(int, np.int64(-(2**63)))
LARGEST = cast(int, np.int64(2**63 - 1))


Together = tuple[Integers, Codes, Integers]  # key, grade and items of a list's rows
Tally = tuple[Integers, Codes]  # the items of each grade in a tie, and the grades seen


class Listed(NamedTuple):
    """Rows of lists, with the key that orders them, their
    grade, and how many items each stands for (empty: one).
    """

    of_list: Rows
    key: Integers
    grade: Codes
    items: Integers


class Filled(NamedTuple):
    """Ties of every list, key and cells of every tie, grade and items of every cell, and every
    row's grade if there is room.
    """

    list_ties: Integers
    tie_key: Integers
    tie_cells: Integers
    grade: Codes
    items: Integers
    naive_grade: Codes


@allocating
def no_tally(kinds: int) -> Tally:
    """Return the tally of no items, with room for so many grades."""
    return np.zeros(kinds, np.int64), np.empty(kinds, np.int32)


@allocating
def flush(
    tallied: Tally, kinds: int, grade: Codes, items: Integers, cells: int, falling: bool
) -> int:
    """Write the grades seen, in order and with their tallies, after ``cells``; clear the tallies."""
    tally, touched = tallied
    for index in range(1, kinds):  # `np.sort` alone takes a second to compile
        code = touched[index]
        position = index
        while position and touched[position - 1] > code:
            touched[position] = touched[position - 1]
            position -= 1
        touched[position] = code
    for index in range(kinds):
        code = touched[kinds - 1 - index] if falling else touched[index]
        grade[cells] = code
        items[cells] = tally[code]
        tally[code] = 0
        cells += 1
    return cells


@kernel
def _count_runs(
    order: Integers, rows: Together, tallied: Tally, ties: int, cells: int, out: Filled
) -> tuple[int, int]:
    """Write the ties and cells of one list whose rows are taken in ``order``; return how many there
    are then.
    """
    key, grade, count = rows
    tally, touched = tallied
    kinds = ZERO
    before = cells
    for index in range(key.size):
        row = order[index]
        ends = index + 1 == key.size or key[row] != key[order[index + 1]]
        code = grade[row]
        if ends and kinds == 0:  # a tie of one row needs no tally
            out.grade[cells] = code
            out.items[cells] = count[row]
            cells += 1
        else:
            if tally[code] == 0:
                touched[kinds] = code
                kinds += 1
            tally[code] += count[row]
            if ends:
                cells = flush(tallied, kinds, out.grade, out.items, cells, RISING)
        if ends:
            out.tie_key[ties] = key[row]
            out.tie_cells[ties] = cells - before
            ties += 1
            kinds = ZERO
            before = cells
    return ties, cells


@kernel
def _count_places(
    rows: Together,
    low: int,
    places: Integers,
    kinds: int,
    written: tuple[int, int, int],
    out: Filled,
) -> tuple[int, int]:
    """Do what `_count_runs` does, and write the grade of every row, for a list whose keys lie close
    together: no row moves, each is counted at the place of its key and grade. The ``places`` are 0,
    and are so again; ``written`` are the ties, cells and rows before.
    """
    ties, cells, before = written
    key, grade, _ = rows
    for row in range(key.size):
        places[(key[row] - low) * kinds + grade[row]] += 1
    for first in range(0, places.size, kinds):
        of_tie = cells
        begin = before
        for code in range(kinds):
            number = places[first + code]
            places[first + code] = 0
            if number:
                out.grade[cells] = code
                out.items[cells] = number
                cells += 1
                before += number
        if cells > of_tie:
            out.tie_key[ties] = low + first // kinds
            out.tie_cells[ties] = cells - of_tie
            ties += 1
        places[first] = begin  # of the tie's next row
    for row in range(key.size):
        first = (key[row] - low) * kinds
        out.naive_grade[places[first]] = grade[row]
        places[first] += 1
    for first in range(0, places.size, kinds):
        places[first] = 0
    return ties, cells


@allocating
def sort_digits(key: Integers, low: int, begin: int, bits: int, step: int, order: Integers) -> None:
    """Fill in the indices that sort the bits ``begin`` … ``bits`` − 1 of the keys less ``low``,
    equal ones as received (radix sort, ``step`` bits at a time).
    """
    size = key.size
    room = np.empty(size + (1 << step) + 1, np.int64)  # for the keys, and for where digits start
    for row in range(size):
        order[row] = row
    for shift in range(begin, bits, step):
        digits = 1 << min(bits - shift, step)
        mask = np.uint64(digits - 1)
        for digit in range(digits + 1):
            room[size + digit] = 0
        for row in range(size):
            room[size + 1 + int((np.uint64(key[row] - low) >> np.uint64(shift)) & mask)] += 1
        for digit in range(1, digits):
            room[size + digit] += room[size + digit - 1]
        for index in range(size):
            digit = size + int((np.uint64(key[order[index]] - low) >> np.uint64(shift)) & mask)
            room[room[digit]] = order[index]
            room[digit] += 1
        for index in range(size):  # a slice would take two seconds to compile
            order[index] = room[index]


@kernel
def insert_keys(key: Integers, order: Integers) -> bool:
    """Sort indices of keys that are nearly in order, equal keys as they are; return whether that
    was so, or give up.
    """
    moves = ZERO
    for index in range(1, key.size):
        row = order[index]
        position = index
        while position and key[order[position - 1]] > key[row]:
            order[position] = order[position - 1]
            position -= 1
        order[position] = row
        moves += index - position
        if moves > key.size:
            return False
    return True


@allocating
def sort_keys(key: Integers, low: int, spread: np.uint64, order: Integers) -> None:
    """Fill in the indices that sort the keys in ascending order, equal keys as received (nothing
    moves where ``spread``, that of the keys, is 0).

    Their highest bits nearly sort random keys, and inserting each does the rest.
    """
    bits = ZERO
    while bits < 64 and spread >> np.uint64(bits) > np.uint64(0):
        bits += 1
    enough = ZERO + 4
    while (1 << enough) < 16 * key.size:
        enough += 1
    begin = max(bits - enough, ZERO)
    step = min((enough + 1) // 2, 8)
    sort_digits(key, low, begin, bits, step, order)
    if begin and not insert_keys(key, order):
        sort_digits(key, low, ZERO, bits, 8, order)


@kernel
def gather(begin: int, list_rows: Listed, rows: Together) -> tuple[int, int, bool]:
    """Copy the rows of a list into ``rows``; return the
    smallest and largest key and whether the keys ascend.
    """
    key, grade, count = rows
    low = LARGEST
    high = LEAST
    ascending = True
    last = LEAST
    for position in range(key.size):
        value = list_rows.key[begin + position]
        key[position] = value
        grade[position] = list_rows.grade[begin + position]
        if list_rows.items.size:
            count[position] = list_rows.items[begin + position]
        ascending = ascending and value >= last
        low = min(low, value)
        high = max(high, value)
        last = value
    return low, high, ascending


@inlined
def longest_list(first: int, last: int, rows: Rows) -> int:
    """Return the rows of the longest of the lists ``first`` … ``last`` − 1, at least 1."""
    longest = 1
    for q in range(first, last):
        longest = max(longest, rows.end[q] - rows.begin[q])
    return longest


def rows_counted(
    first: int, last: int, list_rows: Listed, kinds: int, out: Filled | None = None
) -> float:
    """Estimate the work of `count_cells`; a fifth of the rows while NumPy counts them in its place."""
    if cast(Kernel, count_cells).unmade:
        return 0.2 * float((list_rows.of_list.end - list_rows.of_list.begin)[first:last].sum())
    return elements(first, last, list_rows, kinds, *(out or ()))


@costs(rows_counted)
@allocating
def count_cells(
    first: int, last: int, list_rows: Listed, kinds: int, out: Filled
) -> tuple[int, int]:
    """Write ties per list, key and cells per tie, and grade and items of every cell (grades
    ascending); return their numbers.

    If ``naive_grade`` has room, the grades are also written in order of distance, nearest first and
    ties as received, one list after the other.
    """
    begin = list_rows.of_list.begin
    end = list_rows.of_list.end
    naive_grade = out.naive_grade
    cell_count = ZERO
    ties = cells = ZERO
    longest = longest_list(first, last, list_rows.of_list)
    keys = np.empty(longest, np.int64)
    grades = np.empty(longest, np.int32)
    counts = np.ones(longest, np.int64)
    order = np.empty(longest, np.int64)
    places = np.zeros(min(4 * longest, MOST_PLACES), np.int64)
    tallied = no_tally(kinds)
    for q in range(first, last):
        size = end[q] - begin[q]
        before = ties
        rows = keys[:size], grades[:size], counts[:size]
        if size:
            low, high, ascending = gather(begin[q], list_rows, rows)
            # modulo 2**64, so right even where the difference passes 2**63
            spread = np.uint64(0) if ascending else np.uint64(high - low)
            near = spread < np.uint64(min(4 * size, places.size) // kinds)
            if near and not ascending and naive_grade.size:
                used = places[: (int(spread) + 1) * kinds]
                written = ties, cells, cell_count
                ties, cells = _count_places(rows, low, used, kinds, written, out)
            else:
                sort_keys(rows[0], low, spread, order)
                ties, cells = _count_runs(order, rows, tallied, ties, cells, out)
                if naive_grade.size:
                    for position in range(size):
                        naive_grade[cell_count + position] = grades[order[position]]
            cell_count += size
        out.list_ties[q - first] = ties - before
    return ties, cells


@inlined
def tally_cells(
    begin: int, end: int, grade: Codes, items: Integers, tallied: Tally, seen_kinds: int
) -> int:
    """Add the cells ``begin`` … ``end`` − 1 to the tallies; return how many grades have been seen."""
    tally, touched = tallied
    for cell in range(begin, end):
        code = grade[cell]
        if tally[code] == 0 and items[cell]:
            touched[seen_kinds] = code
            seen_kinds += 1
        tally[code] += items[cell]
    return seen_kinds


@allocating
def ideal_cells(ideal_items: Cells, two: Cells, kinds: int, new: Cells) -> int:
    """Fill in every list's items and extra items, one cell per grade, highest first; return the
    number of cells.
    """
    cells = ZERO
    tallied = no_tally(kinds)
    for q in range(ideal_items.start.size - 1):
        cell_count = tally_cells(
            ideal_items.start[q],
            ideal_items.start[q + 1],
            ideal_items.grade,
            ideal_items.items,
            tallied,
            ZERO,
        )
        cell_count = tally_cells(
            two.start[q], two.start[q + 1], two.grade, two.items, tallied, cell_count
        )
        cells = flush(tallied, cell_count, new.grade, new.items, cells, FALLING)
        new.start[q + 1] = cells
    return cells


def rows_walked(key: Array, rows: Rows, which: Integers, *counts: object) -> float:
    """Estimate the work of `count_smaller`: all rows of a list, for each row asked for."""
    return float(which.size) * key.size / max(rows.begin.size, 1)


@costs(rows_walked)
@kernel
def count_smaller(
    key: Array, rows: Rows, which: Integers, smaller: Integers, equal: Integers
) -> None:
    """Count the rows of the same list whose keys are smaller than that of each row asked for
    (``which`` ascends), and those equal to it.
    """
    number = ZERO
    for q in range(rows.begin.size):
        keys = key[rows.begin[q] : rows.end[q]]
        while number < which.size and which[number] < rows.end[q]:
            value = key[which[number]]
            below = ZERO
            up_to = ZERO
            for row in range(keys.size):  # without branches: many rows at a time
                below += int(keys[row] < value)
                up_to += int(keys[row] <= value)
            smaller[number] = below
            equal[number] = up_to - below
            number += 1
