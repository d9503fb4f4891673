"""Columns as keys: order and equality of every type survive."""

from __future__ import annotations

import decimal
import os
import threading
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report.kernels.lists import Lists
from retrieval_report.scoring import arrays

WHOLE = {
    pl.Int8: (-(2**7), 2**7 - 1),
    pl.Int64: (-(2**63), 2**63 - 1),
    pl.UInt8: (0, 2**8 - 1),
    pl.UInt64: (0, 2**64 - 1),
    pl.Int128: (-(2**100), 2**100),
}


def same_order(values: list[Any], series: pl.Series) -> None:
    for falling in (False, True):
        keys = arrays.order_keys(series, falling=falling).tolist()
        for i, one in enumerate(values):
            for j, other in enumerate(values):
                assert (keys[i] == keys[j]) == (one == other)
                assert (keys[i] < keys[j]) == ((one > other) if falling else (one < other))


@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_of_every_width_keep_their_order(dtype: Any) -> None:
    low, high = WHOLE[dtype]
    values = [low, high, low + 1, high - 1, 0, 1, low, 7]
    same_order(values, pl.Series(values, dtype=dtype))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_floats_keep_their_order(values: list[float]) -> None:
    values = [*values, 0.0, -0.0, 5e-324, -5e-324]
    same_order(values, pl.Series(values, dtype=pl.Float64))


def test_float32_and_decimals_keep_their_order() -> None:
    narrow = pl.Series([0.1, 0.1 + 1e-7, -3.0, 0.0], dtype=pl.Float32)
    same_order(narrow.to_list(), narrow)
    exact = [
        decimal.Decimal("0.10"),
        decimal.Decimal("0.11"),
        decimal.Decimal("-2.00"),
        decimal.Decimal("0.10"),
    ]
    same_order(exact, pl.Series(exact))


def test_locate_finds_rows_that_stand_together_and_gathers_those_that_do_not() -> None:
    together = pl.DataFrame({"query": [5, 5, 2, 2, 2, 9], "row": range(6)})
    frame, names, rows = arrays.locate(together)
    assert frame.equals(together)
    assert names["query"].to_list() == [2, 5, 9]
    assert rows.list_of().tolist() == [1, 1, 0, 0, 0, 2]
    scattered = pl.DataFrame({"model": ["b", "b", "a", "b"], "query": [5] * 4, "row": range(4)})
    frame, names, rows = arrays.locate(scattered)
    assert names.rows() == [("a", 5), ("b", 5)]
    assert frame["row"].to_list() == [0, 1, 3, 2]
    assert rows.list_of().tolist() == [1, 1, 1, 0]


def test_fractional_grades_have_codes_in_order() -> None:
    grades, codes = arrays.grade_indices(pl.Series([0.5, 2.0, -0.0, 0.5]), np.array([3.0]))
    assert grades.tolist() == [0.0, 0.5, 2.0, 3.0]
    assert codes.tolist() == [1, 2, 0, 1]
    whole, codes = arrays.grade_indices(pl.Series([3, 0, 1]), np.empty(0))
    assert whole.tolist() == [0.0, 1.0, 3.0]
    assert codes.tolist() == [2, 0, 1]


def test_best_and_worst_turn_the_cells_of_each_tie() -> None:
    lists = Lists(
        np.array([0, 2]),
        np.array([0, 3, 4]),
        np.array([0, 1, 2, 1], np.int32),
        np.array([5, 6, 7, 8], np.int64),
    )
    best, worst = arrays.ordered(lists, best=True), arrays.ordered(lists, best=False)
    assert best.grade.tolist() == [2, 1, 0, 1]
    assert best.items.tolist() == [7, 6, 5, 8]
    assert worst.grade.tolist() == [0, 1, 2, 1]
    assert best.start.tolist() == worst.start.tolist() == [0, 4]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_ranges_cover_every_list_once(workers: int) -> None:
    work = np.concatenate([[0], np.cumsum(np.array([50_000, 0, 3, 9, 0, 70_000, 1]))])
    seen = [
        number
        for a, b in arrays.over_ranges(lambda a, b: (a, b), work, workers)
        for number in range(a, b)
    ]
    assert seen == list(range(7))


def test_keys_of_ids_do_not_depend_on_their_company() -> None:
    ids = pl.Series(["q1", "", "ü", "q10"])
    assert arrays.keys_of(ids)[[2]].tolist() == arrays.keys_of(pl.Series(["ü"])).tolist()
    assert len(set(arrays.keys_of(ids).tolist())) == 4
    # the draws of published reports hang on these numbers: they may never change
    assert arrays.keys_of(pl.Series(["q1", "model"])).tolist() == GOLDEN_TEXT
    assert arrays.keys_of(pl.Series([-1, 7])).tolist() == GOLDEN_WHOLE


GOLDEN_TEXT = [5263896526582756136, 15371462944316345693]
GOLDEN_WHOLE = [16490336266968443936, 7191089600892374487]


def test_ranges_share_their_threads_from_call_to_call() -> None:
    work = np.array([0, arrays.SERIAL_BELOW, 2 * arrays.SERIAL_BELOW])
    names = {
        name
        for _ in range(3)
        for name in arrays.over_ranges(lambda first, last: threading.current_thread().name, work, 2)
    }
    assert len(names) <= 2


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking is what is tried
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    work = np.array([0, arrays.SERIAL_BELOW, 2 * arrays.SERIAL_BELOW])
    arrays.over_ranges(lambda first, last: None, work, 2)
    child = os.fork()
    if child == 0:  # pragma: no cover - in another process
        os._exit(0 if len(arrays.over_ranges(lambda first, last: last, work, 2)) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_items_of_lists_and_of_their_last_ties_are_counted_by_grade() -> None:
    # lists: two ties ([2 of grade 0, 1 of grade 1], [4 of grade 1]); none; one tie of 3 of grade 0
    lists = Lists(
        np.array([0, 2, 2, 3]),
        np.array([0, 2, 3, 4]),
        np.array([0, 1, 1, 0], np.int32),
        np.array([2, 1, 4, 3]),
    )
    relevant = np.array([False, True])
    assert lists.length.tolist() == [7, 0, 3]
    assert lists.total(relevant).tolist() == [5, 0, 0]
    assert lists.total_of_last().tolist() == [4, 0, 3]
    assert lists.total_of_last(~relevant).tolist() == [0, 0, 3]


@pytest.mark.parametrize("queries", [["b", "b", "a", "c", "c"], ["b", "a", "b", "c", "a"], []])
def test_every_row_has_the_number_of_its_list(queries: list[str]) -> None:
    frame = pl.DataFrame({"query": queries}, schema={"query": pl.String})
    found, names, rows = arrays.locate(frame)
    assert names["query"].gather(rows.list_of()).equals(found["query"])
    assert sorted(found["query"]) == sorted(queries)
