"""Keys are sorted and counted as in plain Python, whatever they are."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report.kernels import grouping
from retrieval_report.kernels.grouping import count_smaller, rows_walked
from retrieval_report.kernels.lists import Rows
from retrieval_report.scoring.arrays import lists_from_rows

INT64 = st.integers(-(2**63), 2**63 - 1)
KEYS = st.one_of(
    st.integers(0, 3),
    INT64,
    st.integers(2**40, 2**40 + 50),
    st.floats(allow_nan=False, allow_infinity=False).map(
        lambda number: int(np.float64(number).view(np.int64))
    ),
)


@given(
    st.sampled_from([KEYS, INT64, st.sampled_from([0, 1, 2**62, -(2**62)])]).flatmap(
        lambda of: st.lists(of)
    )
)
def test_keys_are_sorted_and_equal_ones_stay_in_order(keys: list[int]):
    order = np.empty(len(keys), np.int64)
    low, high = min(keys, default=0), max(keys, default=0)
    grouping.sort_keys(np.array(keys, np.int64), low, np.uint64(high - low), order)
    assert order.tolist() == sorted(range(len(keys)), key=lambda row: keys[row])


@pytest.mark.parametrize("far", [2**30, 2**62])
def test_an_outlier_that_hides_the_bits_of_all_others_is_no_obstacle(far: int):
    keys = np.append(np.random.default_rng(3).permutation(2000), far)
    order = np.empty(keys.size, np.int64)
    grouping.sort_keys(keys, 0, np.uint64(far), order)
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=12),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([-(2**63) + 3, 0, 2**63 - 4]),
)
def test_rows_are_counted_as_numpy_counts_them(lists: list[list[tuple[int, int]]], middle: int):
    key = np.array([key for rows in lists for key, _ in rows], np.int64)
    grade = np.array([grade for rows in lists for _, grade in rows], np.int32)
    ends = np.cumsum([len(rows) for rows in lists])
    rows, none = Rows(np.append(0, ends[:-1]), ends), np.empty(0, np.int64)
    found = []
    for compiled in (True, False):  # NumPy counts what no kernel does
        with patch.object(grouping.count_cells, "compiles", return_value=compiled):
            ties, *others = lists_from_rows(rows, key + middle, grade, none, 3, workers=1)
        found.append([np.asarray(part).tolist() for part in (*ties, *others)])
    assert found[0] == found[1]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-2, 2), st.booleans()), max_size=12), min_size=1, max_size=6
    )
)
def test_smaller_and_equal_keys_are_counted_within_their_list(
    lists: list[list[tuple[int, bool]]],
):
    key = np.array([key for rows in lists for key, _ in rows], np.int64)
    which = np.flatnonzero([asked for rows in lists for _, asked in rows])
    ends = np.cumsum([len(rows) for rows in lists])
    smaller, equal = np.empty((2, which.size), np.int64)
    count_smaller(key, Rows(np.append(0, ends[:-1]), ends), which, smaller, equal)
    wanted = [
        (sum(other < key for other, _ in rows), sum(other == key for other, _ in rows))
        for rows in lists
        for key, asked in rows
        if asked
    ]
    assert list(zip(smaller.tolist(), equal.tolist(), strict=True)) == wanted


def test_the_work_of_counting_grows_with_what_is_asked_for():
    rows = Rows(np.array([0, 100]), np.array([100, 200]))
    assert rows_walked(np.arange(200), rows, np.arange(3)) == 3 * 100
