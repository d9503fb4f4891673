"""Convert frames to NumPy arrays: columns to keys and codes, rows to lists of ties of cells."""

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import Array
from retrieval_report.kernels import grouping, shuffling
from retrieval_report.kernels.compile import Kernel
from retrieval_report.kernels.lists import (
    FEW,
    Cells,
    Codes,
    Floats,
    Integers,
    Keys,
    Lists,
    Rows,
    Scalar,
    all_frozen,
    frozen,
    running,
    runs,
)

Result = TypeVar("Result")

SERIAL_BELOW = 20_000  # with fewer rows or cells, threads cost more than they save
SAMPLE = 1_000  # lists whose first rows show whether rows are in random order
CHUNKS = 4  # ranges per thread, so that one long list does not keep the others waiting


def over_ranges(
    task: Callable[[int, int], Result], work: Integers, workers: int, most: int = 2**62
) -> list[Result]:
    """Run ``task(first, last)`` over ranges of lists with about the same work, given as running
    totals, and about ``most`` at the most.
    """
    total, lists = int(work[-1]), work.size - 1
    number = max(1 if workers == 1 or total < SERIAL_BELOW else workers * CHUNKS, total // most)
    if number == 1:
        return [task(0, lists)]
    ends = np.searchsorted(work, np.linspace(0, total, number + 1)[1:-1]).tolist()
    pairs = itertools.pairwise(sorted({0, *ends, lists}))
    if workers == 1:
        return list(itertools.starmap(task, pairs))
    pool = _pool(workers, os.getpid())
    try:
        return list(pool.map(lambda pair: task(*pair), pairs))
    except (KeyboardInterrupt, SystemExit):
        # A thread that was about to start is not in the interpreter's list of threads to wake
        # before it waits for all.
        pool.shutdown(wait=False, cancel_futures=True)
        _pool.cache_clear()
        raise


@lru_cache(maxsize=4)
def _pool(workers: int, process: int) -> ThreadPoolExecutor:
    """Return a pool that is kept, since starting threads can take longer than a kernel; a forked
    process has none.
    """
    return ThreadPoolExecutor(workers, thread_name_prefix="retrieval_report")


def starts(codes: NDArray[np.integer], lists: int) -> Integers:
    """Return the first row of each list, for rows sorted by list code, as ``lists`` + 1 entries.

    >>> starts(np.array([0, 0, 2]), 4)
    array([0, 2, 2, 3, 3])
    """
    return running(np.bincount(codes, minlength=lists))


def id_keys(ids: pl.Series) -> Keys:
    """Return a 64-bit key for every id: whole numbers as
    they are, others hashed. Equal ids have equal keys.
    """
    if not ids.dtype.is_integer() or ids.dtype in (pl.Int128, pl.UInt128):
        return frozen(ids.hash().to_numpy())
    return frozen(
        ids.cast(pl.UInt64 if ids.dtype == pl.UInt64 else pl.Int64).to_numpy().view(np.uint64)
    )


def order_keys(values: pl.Series, *, falling: bool) -> Integers:
    """Return distances or scores as int64 keys: equal exactly where the values are equal, small
    where they are near.

    Nothing is negated or rounded: float64 is ordered by its bits, and larger-is-nearer by the
    complement, which no number overflows.

    >>> order_keys(pl.Series([-128, 127], dtype=pl.Int8), falling=True).tolist()
    [127, -128]
    """
    dtype = values.dtype
    if dtype.is_float():
        floats = values.cast(pl.Float64).to_numpy() + 0.0  # makes −0.0 equal 0.0
        keys = _turned(floats.view(np.int64))
    elif _fits(dtype):
        keys = values.cast(pl.Int64).to_numpy()
    else:  # decimals and larger numbers do not fit, but their ranks do
        keys = values.rank("dense").cast(pl.Int64).to_numpy()
    return ~keys if falling else keys


def key_values(keys: Integers, of: pl.Series, *, falling: bool) -> pl.Series:
    """Return the distances or scores that have these keys, by `order_keys` of the values ``of``.

    >>> values = pl.Series([0.5, -0.0])
    >>> key_values(order_keys(values, falling=True), values, falling=True).to_list()
    [0.5, 0.0]
    """
    keys = ~keys if falling else keys
    if of.dtype.is_float():
        return pl.Series(of.name, _turned(keys.copy()).view(np.float64)).cast(of.dtype)
    if _fits(of.dtype):
        return pl.Series(of.name, keys).cast(of.dtype)
    return of.unique().sort()[keys - 1]


def _fits(dtype: pl.DataType) -> bool:
    """Return whether whole numbers of a type fit into 64 bits with a sign."""
    return dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128)


def _turned(bits: Integers) -> Integers:
    """Turn the bits of floats into whole numbers of the same order, and back, where they stand."""
    sign = bits >> 63
    sign &= np.int64(2**63 - 1)
    bits ^= sign
    return bits


def grade_indices(relevance: pl.Series, more_grades: Floats) -> tuple[Floats, Codes]:
    """Return the distinct relevances of the rows and of
    ``more_grades``, ascending, and the index of each row's relevance.
    """
    most = relevance.max()
    # A table in place of hashes takes a quarter of the time.
    if isinstance(most, int) and most < SERIAL_BELOW:
        whole = relevance.cast(pl.Int64).to_numpy()
        occurs = np.zeros(most + 1, np.bool_)
        occurs[whole] = True
        grades = np.unique(np.concatenate([[0.0], more_grades, np.flatnonzero(occurs)]))
        return grades, np.searchsorted(grades, np.arange(most + 1)).astype(np.int32)[whole]
    distinct = relevance.unique().cast(pl.Float64).to_numpy()
    grades = np.unique(np.concatenate([[0.0], more_grades, distinct]) + 0.0)  # makes −0.0 equal 0.0
    return grades, np.searchsorted(grades, relevance.cast(pl.Float64).to_numpy()).astype(np.int32)


def locate(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, Rows]:
    """Return the rows with those of each list (model, query) together, the keys of the lists,
    sorted, and the rows of each; lists are numbered in this order.
    """
    names = frame.select(key for key in ("model", "query") if key in frame.columns)
    opens = np.zeros(frame.height, np.bool_)
    opens[:1] = True
    for key in names.columns:
        if key == "query" or not _one_model(names):
            opens[1:] |= (names[key][1:] != names[key][:-1]).to_numpy()
    first = np.flatnonzero(opens)
    heads = names[first[:SAMPLE]]
    if not _repeat(heads) and first.size > SAMPLE:
        heads = names[first]
    if _repeat(heads):
        return locate(frame[_together(names)])
    order = heads.select(pl.arg_sort_by(names.columns)).to_series().to_numpy()
    return frame, heads[order], Rows(first[order], np.append(first[1:], frame.height)[order])


def _one_model(names: pl.DataFrame) -> bool:
    """Return whether all rows are of one model, without a text for every row where it is a literal."""
    model = pl.col("model")
    ends = names.select(model.first() == model.last()).item()
    return bool(ends and names.select(model.min() == model.max()).item())


def _repeat(names: pl.DataFrame) -> bool:
    """Return whether some names occur twice."""
    if names.height < 2:
        return False
    distinct = names.to_series().n_unique() if names.width == 1 else names.n_unique()
    return distinct < names.height


def _together(names: pl.DataFrame) -> pl.Series:
    """Return the numbers of rows with those of each list together, otherwise in their order.

    >>> _together(pl.DataFrame({"query": [7, 5, 7]})).to_list()
    [1, 0, 2]
    """
    if names.width == 1 and _fits(names.dtypes[0]) and not names.to_series().null_count():
        number = names.to_series().cast(pl.Int64).to_numpy()
        low = int(number.min())
        if int(number.max()) - low < 1 << 16:  # NumPy sorts these by their digits
            return pl.Series(np.argsort((number - low).astype(np.uint16), kind="stable"))
    rows = names.with_row_index("row")
    return rows.group_by(names.columns, maintain_order=True).agg("row")["row"].explode()


def lists_from_rows(
    rows: Rows,
    key: Integers,
    grade: Codes,
    count: Integers,
    kinds: int,
    *,
    workers: int,
) -> tuple[Lists, Codes | None, Integers]:
    """Return lists with their true ties, the grades of the rows, nearest first and in the order
    received where they tie, and the key of every tie.

    ``count`` of length 0 means that every row is one item; only then do the rows have an order.
    """
    list_rows = grouping.Listed(rows, frozen(key), frozen(grade), frozen(count))
    work = rows.work
    if work[-1] and not cast(Kernel, grouping.count_cells).compiles(
        0, work.size - 1, list_rows, kinds
    ):
        return _counted_by_numpy(list_rows, kinds)
    size = int(work[-1])
    list_ties = np.zeros(work.size - 1, np.int64)
    tie_key, tie = np.empty(size, np.int64), np.zeros(size + 1, np.int64)
    tie_cells = tie[1:]
    cell_grade, cell_items = np.empty(size, np.int32), np.empty(size, np.int64)
    order = np.empty(0 if count.size else size, np.int32)

    def task(first: int, last: int) -> tuple[int, int, int]:
        task_rows = slice(work[first], work[last])
        of_rows: tuple[Array, ...] = (tie_key, tie_cells, cell_grade, cell_items, order)
        filled = grouping.Filled(list_ties[first:last], *(part[task_rows] for part in of_rows))
        ties, cells = grouping.count_cells(first, last, list_rows, kinds, filled)
        return int(work[first]), ties, cells

    parts = over_ranges(task, work, workers)
    ties = [(first, number) for first, number, _ in parts]
    cells = [(first, number) for first, _, number in parts]
    moved = _moved(tie_cells, ties)
    np.cumsum(moved, out=moved)
    lists = Lists(
        running(list_ties),
        fitting(tie[: moved.size + 1]),
        fitting(_moved(cell_grade, cells)),
        fitting(_moved(cell_items, cells)),
    )
    return lists, None if count.size else order, fitting(_moved(tie_key, ties))


def _counted_by_numpy(
    list_rows: grouping.Listed, kinds: int
) -> tuple[Lists, Codes | None, Integers]:
    """Return what `lists_from_rows` does, without its kernel: as compiling takes longer than some
    million rows, and Python is slower than both.
    """
    rows, key, grade, count = list_rows
    start = rows.work
    sizes = np.diff(start)
    if (rows.begin != start[:-1])[sizes > 0].any():
        order = np.repeat(rows.begin - start[:-1], sizes) + np.arange(start[-1])
        key, grade, count = _taken(order, key, grade, count)
    heads = start[:-1][sizes > 0]
    falls = key[1:] < key[:-1]
    falls[heads[1:] - 1] = False
    if falls.any():
        order = np.lexsort((key, np.repeat(np.arange(sizes.size), sizes)))
        key, grade, count = _taken(order, key, grade, count)
    opens = np.append(True, key[1:] != key[:-1])  # a tie
    opens[heads] = True
    naive = None if count.size else grade.copy()
    if (~opens[1:] & (grade[1:] < grade[:-1])).any():
        order = np.argsort(np.cumsum(opens) * kinds + grade, kind="stable")
        grade, count = _taken(order, grade, count)
    leads = opens[1:] | (grade[1:] != grade[:-1])  # a cell
    ties = np.flatnonzero(opens)
    list_start, tie_key = np.searchsorted(ties, start), key[ties]
    del ties, key  # since all that lives here at once is the peak of memory
    ends = np.flatnonzero(np.concatenate([[True], leads, [True]]))
    cells = ends[:-1]
    tie = np.flatnonzero(np.append(opens[cells], True))
    items = np.add.reduceat(count, cells) if count.size else np.diff(ends)
    return Lists(list_start, tie, grade[cells], items), naive, tie_key


def _taken(which: Integers, *columns: Array) -> list[Array]:
    """Return rows of columns, of which some may be empty."""
    return [column[which] if column.size else column for column in columns]


def _moved(room: NDArray[Scalar], parts: Sequence[tuple[int, int]]) -> NDArray[Scalar]:
    """Move parts, given by start and size, to the front
    of their room; copies would be the peak of memory.
    """
    end = 0
    for first, size in parts:
        room[end : end + size] = room[first : first + size]
        end += size
    return room[:end]


def fitting(used: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the used part of a room, copied if that is less than half of it."""
    room = used.base
    return used if room is None or 2 * used.size > np.size(room) else used.copy()


def singles(row_start: Integers, grade: Codes) -> Lists:
    """Return lists in which every row is a tie of its own, in the order received."""
    return Lists(row_start, np.arange(grade.size + 1), grade, np.ones(grade.size, np.int64))


def ordered(lists: Lists, *, best: bool) -> Lists:
    """Return lists with every tie in its best or worst
    order: cells become ties, high or low grades first.
    """
    if lists.grade.size < lists.tie.size:  # no tie is mixed
        return lists
    grade, items = lists.grade, lists.items
    if best:  # the cells of mixed ties turn round
        mixed = np.flatnonzero(np.diff(lists.tie) > 1)
        cells, start = runs(lists.tie, mixed)
        turned = np.repeat(lists.tie[mixed] + lists.tie[mixed + 1] - 1, np.diff(start)) - cells
        grade, items = grade.copy(), items.copy()
        grade[cells], items[cells] = lists.grade[turned], lists.items[turned]
    return Lists(lists.tie[lists.start], np.arange(grade.size + 1), grade, items)


def sums(values: Integers, start: Integers) -> Integers:
    """Return the sum of the values from each start to the next.

    >>> sums(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    array([3, 0, 3])
    """
    return np.diff(running(values)[start])


def ideal_lists(items: Lists | Cells, extra: Cells | None, kinds: int) -> Lists:
    """Return every list's items and extra items, such as
    those known but not retrieved, by descending grade.
    """
    item_cells = items.cells if isinstance(items, Lists) else items
    two = extra or Cells(
        np.zeros_like(item_cells.start), item_cells.grade[:0], item_cells.items[:0]
    )
    room = (item_cells.start.size - 1) * kinds
    if cast(Kernel, grouping.ideal_cells).unmade and FEW < room <= 4 * item_cells.grade.size:
        return _ideal_by_numpy(item_cells, two, kinds)
    most = item_cells.grade.size + two.grade.size
    new = Cells(np.zeros_like(item_cells.start), np.empty(most, np.int32), np.empty(most, np.int64))
    cells = grouping.ideal_cells(all_frozen(item_cells), all_frozen(two), kinds, new)
    return Lists(
        new.start, np.arange(cells + 1), new.grade[:cells].copy(), new.items[:cells].copy()
    )


def _ideal_by_numpy(one: Cells, two: Cells, kinds: int) -> Lists:
    """Return what `ideal_lists` does, without its kernel, where compiling would take longer."""
    lists = one.start.size - 1
    total, occurs = np.zeros(lists * kinds, np.int64), np.zeros(lists * kinds, np.bool_)
    for part in (one, two):  # highest grade first
        code = np.repeat(np.arange(1, lists + 1) * kinds - 1, np.diff(part.start)) - part.grade
        np.add.at(total, code, part.items)
        occurs[code[part.items != 0]] = True
    cells = np.flatnonzero(occurs)
    grade = (kinds - 1 - cells % kinds).astype(np.int32)
    return Lists(starts(cells // kinds, lists), np.arange(cells.size + 1), grade, total[cells])


def stretched(lists: Lists, *, last_stays: bool = False) -> Lists:
    """Return lists in which neighbouring ties of items of the lowest grade alone are one: where
    these bring nothing, only how many they are counts. Items that may follow a list that was cut
    join its last tie, which then stays as it is.

    >>> lists = singles(np.array([0, 5]), np.array([1, 0, 0, 2, 0], np.int32))
    >>> stretched(lists).items.tolist()
    [1, 2, 1, 1]
    >>> lists = singles(np.array([0, 4]), np.array([1, 0, 0, 0], np.int32))
    >>> stretched(lists, last_stays=True).items.tolist()
    [1, 2, 1]
    """
    plain = (np.diff(lists.tie) == 1) & (lists.grade[lists.tie[:-1]] == 0)
    joins = np.zeros(plain.size, np.bool_)
    joins[1:] = plain[1:] & plain[:-1]
    with_ties = np.diff(lists.start) > 0
    joins[lists.start[:-1][with_ties]] = False
    if last_stays:
        joins[lists.start[1:][with_ties] - 1] = False
    lead = np.flatnonzero(~joins)  # the first tie of every stretch, and all other ties
    cells, tie = runs(lists.tie, lead)
    items = np.add.reduceat(lists.items, cells)
    return Lists(np.searchsorted(lead, lists.start), tie, lists.grade[cells], items)


def keys_of(ids: pl.Series) -> Keys:
    """Return a 64-bit key for every id, for random
    draws; it does not depend on machine or row order.

    >>> keys_of(pl.Series(["a", "b"])).tolist() == keys_of(pl.Series(["b", "a"])).tolist()[::-1]
    True
    """
    keys = np.empty(len(ids), np.uint64)
    if ids.dtype == pl.String:
        lengths = ids.str.len_bytes().to_numpy().astype(np.int64)
        characters = np.frombuffer((ids.str.join("").item() or "").encode(), dtype=np.uint8)
        shuffling.text_keys(characters, running(lengths), keys)
    elif ids.dtype in (pl.Int128, pl.UInt128):
        narrow = ids.cast(pl.Int64, strict=False)
        # numbers beyond 64 bits are hashed by their digits
        digits = keys_of(ids.cast(pl.String))
        return np.where(narrow.is_null(), digits, keys_of(narrow.fill_null(0)))
    else:
        shuffling.integer_keys(id_keys(ids), keys)
    return keys


def list_keys(names: pl.DataFrame, seed: int) -> Keys:
    """Return the key from which the random orders of each list (model, query) are drawn."""
    start = np.array([int(seed) % 2**64], np.uint64)
    models = names["model"].rle()  # whose lists follow each other, so that few texts are read
    of_model = keys_of(models.struct["value"])[names["model"].rle_id()]
    of_lists = shuffling.scrambled(shuffling.scrambled(start) ^ of_model)
    return shuffling.scrambled(of_lists + keys_of(names["query"]))


def drawn_lists(ties: Lists, limit: Integers, *, stretches: bool = False) -> Lists:
    """Lay out mixed ties up to the deepest cutoff, slot by slot or in ``stretches`` of the lowest
    grade; draws fill in the grades.
    """
    most = ties.grade.size + int(draw_work(ties, limit, stretches=stretches)[-1])
    start = np.zeros(ties.start.size, np.int64)
    new = Lists(start, start, np.empty(most, np.int32), np.empty(most, np.int64))
    cells = shuffling.draw_layout(ties, limit, stretches, new)
    return Lists(start, np.arange(cells + 1), new.grade[:cells].copy(), new.items[:cells].copy())


def draw_work(ties: Lists, limit: Integers, *, stretches: bool) -> Integers:
    """Return running totals of the cells that drawn lists have at most, beside those of the ties.

    >>> ties = Lists(np.array([0, 1]), np.array([0, 2]), np.array([0, 1]), np.array([9, 1]))
    >>> [draw_work(ties, np.array([10]), stretches=some).tolist() for some in (False, True)]
    [[0, 10], [0, 2]]
    """
    if not stretches:
        return running(limit)
    counting_items = ties.total(np.arange(ties.grade.max(initial=0) + 1) > 0)
    return running(np.minimum(limit, 2 * counting_items))
