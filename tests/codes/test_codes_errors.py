"""What count_codes refuses, and the rule, place and value that its messages name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrieval_report.codes import count_codes, count_relevant
from retrieval_report.contracts.errors import (
    DataError,
    KeyMismatchError,
    ParameterError,
    RetrievalReportError,
)

GOOD = np.array([[0, 1, 0], [1, 1, 0]])
LABELS: dict[str, Any] = {"query_labels": [0, 1], "item_labels": [0, 1]}
NAN, HALF = GOOD.astype(float), GOOD.astype(float)
NAN[1, 2], HALF[0, 1] = np.nan, 0.5
BYTES = np.array([[3, 1], [0, 0]], np.uint8)


@pytest.mark.parametrize(
    ("queries", "items", "options", "error", "message"),
    [
        (GOOD[0], GOOD, LABELS, DataError, r"query_codes: shape \(3,\)"),
        (GOOD, GOOD[:0], LABELS, DataError, r"item_codes: empty, shape \(0, 3\)"),
        (GOOD, [], {"query_labels": [0, 1]}, DataError, "item_codes: no shards"),
        (GOOD.astype(str), GOOD, LABELS, DataError, "query_codes: <U21 values; codes are numbers"),
        (GOOD, GOOD[:, :2], LABELS, DataError, "item_codes: 2 columns where query_codes have 3"),
        (
            GOOD,
            NAN,
            LABELS,
            DataError,
            "item_codes: 1 values are neither .* first nan in row 1, column 2",
        ),
        (2 * GOOD, GOOD, LABELS, DataError, "first 2 in row 0, column 1"),
        (BYTES, BYTES, LABELS, DataError, "first 3 in row 0, column 0; packed codes need bits="),
        (
            GOOD,
            np.array([[0, 1, -1], [0, 1, 1]]),
            LABELS,
            DataError,
            ("item_codes: holds both -1 and 0"),
        ),
        (
            GOOD,
            [(GOOD, [0, 1]), (NAN, [0, 1])],
            {"query_labels": [0, 1]},
            DataError,
            ("item_codes of shard 1: 1 values are"),
        ),
        (
            GOOD,
            [(GOOD, [0, 1])],
            LABELS,
            ParameterError,
            ("item_labels: given beside shards; a shard holds its own"),
        ),
        (GOOD, GOOD, {}, ParameterError, "query_labels: none given"),
        (
            GOOD,
            GOOD,
            {"query_labels": [0, 1]},
            ParameterError,
            ("query_labels: given without item_labels"),
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "query_labels": [0]},
            DataError,
            "query_labels: 1 labels for 2 rows",
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "item_labels": [0.0, 1.0]},
            DataError,
            "item_labels: Float64 values",
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "item_labels": [0, None]},
            DataError,
            "item_labels: 1 null, first in row 1",
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "item_labels": ["a", "b"]},
            KeyMismatchError,
            ("classes are never cast"),
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "item_labels": np.array([1, 2**63], np.uint64)},
            DataError,
            "beyond int64",
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "item_labels": GOOD},
            DataError,
            (
                r"shape \(2, 3\); query_labels "
                r"are class ids"
            ),
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "query_labels": GOOD},
            DataError,
            ("query_labels are multi-hot over 3 classes"),
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "query_labels": [[0, 1], [2, 0]]},
            DataError,
            (
                r"first 2 in row 1, "
                r"column 0"
            ),
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "relevance": "all"},
            ParameterError,
            ("relevance: 'all' is not one of"),
        ),
        (
            GOOD,
            GOOD,
            {**LABELS, "bits": 4},
            ParameterError,
            ("bits: 4 bits do not fit query_codes of 3 int64 columns"),
        ),
        (
            BYTES,
            BYTES.astype(int),
            {**LABELS, "bits": 16},
            DataError,
            ("int64 values where query_codes are packed in"),
        ),
        (GOOD, GOOD, {**LABELS, "depth": 0}, ParameterError, "depth: 0 is not"),
        (GOOD, GOOD, {**LABELS, "depth": True}, ParameterError, "depth: True is not"),
        (
            GOOD,
            GOOD,
            {**LABELS, "query_ids": ["a", "a"]},
            DataError,
            "query_ids: 2 ids repeat another, first 'a'",
        ),
        (GOOD, GOOD, {**LABELS, "query_ids": ["a", 1]}, DataError, "query_ids: not all text"),
        (
            GOOD,
            GOOD,
            {**LABELS, "query_ids": np.array([1, 2**63], np.uint64)},
            DataError,
            "query_ids: beyond int64",
        ),
    ],
)
def test_bad_input_is_refused_with_rule_place_and_value(
    queries: Any,
    items: Any,
    options: dict[str, Any],
    error: type[RetrievalReportError],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        count_codes(queries, items, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"query_ids": ["a", "b"]},
            ParameterError,
            "exclude_self: requires both query_ids and ids of the items, or neither",
        ),
        (
            {"query_ids": ["a", "b"], "item_ids": [1, 2]},
            KeyMismatchError,
            "query ids are String, item ids Int64",
        ),
        (
            {"query_ids": ["a", "b"], "item_ids": ["c", "d"]},
            KeyMismatchError,
            "no query is among the items.* 'a'",
        ),
        (
            {},
            KeyMismatchError,
            "2 of them have other codes or labels, first 0; give query_ids and item_ids",
        ),
    ],
)
def test_self_matches_that_cannot_be_told(
    options: dict[str, Any], error: type[RetrievalReportError], message: str
) -> None:
    with pytest.raises(error, match=message):
        count_codes(GOOD, GOOD[::-1], exclude_self=True, **LABELS, **options)


def test_a_query_among_the_items_twice_is_refused() -> None:
    shard = (GOOD, [0, 1], ["a", "b"])
    with pytest.raises(DataError, match="query 'a' is among the items more than once"):
        count_codes(
            GOOD, [shard, shard], query_labels=[0, 1], query_ids=["a", "b"], exclude_self=True
        )


def test_labels_without_length_are_refused() -> None:
    with pytest.raises(ParameterError, match="item_labels: a int is not a list"):
        count_relevant([1], 3)
