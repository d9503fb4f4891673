"""A stream of sorted Arrow batches gives the bits of `evaluate`, wherever batches end; disorder is
refused.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import strategies
from batches import FEW, batches, made, streamed
from retrieval_report import ColumnError, DataError, ParameterError, count_ties, evaluate
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.engines import stream
from retrieval_report.engines.stream import score_stream

POLICIES = ("expected", "naive", "shuffled", "best", "worst")
SORTED = ["model", "query", "distance"]


def agrees(frame: pl.DataFrame, expected: pl.DataFrame, **options: Any) -> None:
    assert_frame_equal(streamed(frame, **options), expected, check_exact=True)


@pytest.fixture(autouse=True, params=[1, 1 << 17])
def chunk_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are scored one by one, or all together."""
    monkeypatch.setattr(stream, "CHUNK_ROWS", request.param)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_where_batches_end_changes_no_bit(size: int) -> None:
    frame = made()
    ordered = frame.sort(SORTED, maintain_order=True)
    assert_frame_equal(
        streamed(ordered, size, policies=POLICIES, **FEW),
        evaluate(frame, policies=POLICIES, **FEW),
        check_exact=True,
    )


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
@given(strategies.frame_cases(), st.integers(1, 8))
def test_the_bits_of_evaluate(case: strategies.FrameCase, size: int) -> None:
    frame = case.rankings
    ordered = frame.sort(SORTED, maintain_order=True)
    expected = evaluate(frame, policies=POLICIES, **FEW)
    found = expected.filter(pl.col("items") > 0)  # a stream knows the lists that are in it
    assert_frame_equal(streamed(ordered, size, policies=POLICIES, **FEW), found, check_exact=True)


def test_partial_counts_are_put_together() -> None:
    frame = made()
    shards = [count_ties(frame[begin::3]) for begin in range(3)]
    parts = pl.concat(shards).sort(SORTED)
    assert parts.height > count_ties(frame).height
    options = {**FEW, "policies": ("expected", "shuffled", "best", "worst")}
    agrees(parts, evaluate(frame, **options), **options)


def test_scores_are_ordered_falling() -> None:
    frame = made().rename({"distance": "score"})
    ordered = frame.sort(
        "model", "query", "score", descending=[False, False, True], maintain_order=True
    )
    agrees(ordered, evaluate(frame, policies=POLICIES, **FEW), policies=POLICIES, **FEW)


def test_zeros_of_both_signs_are_one_tie() -> None:
    distance = [0.0, -0.0, 0.0, -0.0, 1.0]
    frame = pl.DataFrame(
        {
            "query": ["q"] * 5,
            "item": list("abcde"),
            "distance": distance,
            "relevance": [0, 1, 0, 1, 0],
        }
    )
    scores = evaluate(frame, policies="expected", **FEW)
    agrees(frame, scores, size=2, policies="expected", **FEW)
    assert scores.filter(metric="rr")["std"].min() > 0  # type: ignore[operator]


def test_one_large_list_over_many_batches() -> None:
    random = np.random.default_rng(5)
    rows = 100_000
    frame = pl.DataFrame(
        {
            "model": ["m"] * rows,
            "query": ["a"] + ["b"] * (rows - 2) + ["c"],
            "distance": random.integers(0, 300, rows),
            "relevance": random.integers(0, 3, rows),
            "count": random.integers(1, 5, rows),
        }
    ).sort(SORTED)
    agrees(
        frame, evaluate(frame, policies="expected", **FEW), size=1000, policies="expected", **FEW
    )


def test_reads_no_further_than_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "CHUNK_ROWS", 10)
    read: list[int] = []

    def endless() -> Iterator[pa.RecordBatch]:
        for query in range(1_000_000):
            read.append(query)
            yield pa.RecordBatch.from_pydict({"query": [query], "distance": [1], "relevance": [1]})

    scores = score_stream(endless(), policies="expected", metrics="ap", cutoffs=None)
    assert next(scores)["query"].to_pylist() == list(range(10))
    assert len(read) == 11


def test_scores_come_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH_ROWS", 20)
    frame = made().sort(SORTED, maintain_order=True)
    sizes = [batch.num_rows for batch in score_stream(batches(frame), policies="expected", **FEW)]
    assert max(sizes) <= 20
    assert sum(sizes) == evaluate(frame, policies="expected", **FEW).height


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int32, pl.Int64, pl.String, pl.Categorical])
def test_ids_keep_their_kind(kind: Any) -> None:
    numbers = pl.DataFrame(
        {"query": [9, 9, 10, 10], "distance": [1, 2, 1, 1], "relevance": [0, 1, 1, 0]}
    )
    text = pl.col("query").cast(pl.String)
    frame = numbers.with_columns(
        text if kind in (pl.String, pl.Categorical) else pl.col("query")
    ).sort("query", "distance")
    expected = evaluate(
        frame.with_columns(pl.col("query").cast(kind), count=1),
        policies=("expected", "shuffled"),
        **FEW,
    )
    frame = frame.with_columns(pl.col("query").cast(kind))
    agrees(frame, expected, policies=("expected", "shuffled"), **FEW)


def test_nothing_in_nothing_out() -> None:
    nothing = made()[:0]
    assert list(score_stream(iter([]))) == []
    assert list(score_stream(nothing.to_arrow().to_batches())) == []
    gaps = [*batches(nothing), *batches(made(1).sort(SORTED)), *batches(nothing)]
    assert len(list(score_stream(gaps, policies="expected"))) == 1


def test_arguments_are_checked_at_once() -> None:
    with pytest.raises(ParameterError, match="policies: 'mean'"):
        score_stream(iter([]), policies="mean")
    with pytest.raises(ParameterError, match="cutoff"):
        score_stream(iter([]), cutoffs=0)


def test_it_travels_to_other_processes() -> None:
    score = pickle.loads(
        pickle.dumps(partial(score_stream, metrics="ap", policies="expected", cutoffs=None))
    )
    assert [batch.num_rows for batch in score(batches(made(3).sort(SORTED)))] != []


ROWS: dict[str, list[Any]] = {
    "model": ["m", "m", "m", "n"],
    "query": ["a", "a", "b", "a"],
    "distance": [1.0, 2.0, 1.0, 1.0],
    "relevance": [1.0, 0.0, 1.0, 1.0],
    "count": [1, 2, 1, 1],
}


def changed(column: str, row: int, value: Any) -> pl.DataFrame:
    frame = pl.DataFrame(ROWS)
    values = frame[column].to_list()
    values[row] = value
    return frame.with_columns(pl.Series(column, values, dtype=frame.schema[column]))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("distance", float("nan")),
        ("distance", None),
        ("distance", float("inf")),
        ("relevance", float("nan")),
        ("relevance", None),
        ("relevance", -1.0),
        ("relevance", float("inf")),
        ("query", None),
        ("model", None),
        ("count", 0),
        ("count", None),
    ],
)
def test_bad_values_are_refused_as_by_evaluate(column: str, value: Any) -> None:
    frame = changed(column, 2, value)
    with pytest.raises(DataError) as expected:
        evaluate(frame, policies="expected")
    with pytest.raises(DataError) as found:
        streamed(frame, size=2, policies="expected")
    rule, location = re.sub(r" \(row \d+\)|^counts: ", "", str(expected.value)).split(", first ")
    assert location.split(";")[0] in str(found.value)
    if column != "relevance":  # counts have no option for rows that nobody judged
        assert str(found.value).startswith(rule)
    assert "row 2" not in str(found.value)
    assert any("scored together" in note for note in found.value.__notes__)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([1, 0, 2, 3], "column 'distance': 1.0 comes after 2.0 in query 'a' of model 'm'"),
        ([2, 0, 1, 3], "query 'a' of model 'm' comes after query 'b' of model 'm'"),
        ([3, 0, 1, 2], "query 'a' of model 'm' comes after query 'a' of model 'n'"),
        (
            [0, 2, 1, 3],
            "query 'a' of model 'm' comes after query 'b' of model 'm'",
        ),  # a list comes back
        ([0, 1, 2, 3, 1], "query 'a' of model 'm' comes after query 'a' of model 'n'"),
    ],
)
@pytest.mark.parametrize("size", [1, 100])
def test_disorder_is_refused(rows: list[int], named: str, size: int) -> None:
    with pytest.raises(DataError, match=re.escape(named)):
        streamed(pl.DataFrame(ROWS)[rows], size, policies="expected")


NAIVE = {"query": ["q"] * 3, "distance": [1, 1, 2], "relevance": [0, 1, 0]}


@pytest.mark.parametrize(
    ("columns", "order", "named"),
    [
        ({"row": [1, 0, 2]}, "row", "column 'row': 0 comes after 1 in query 'q'"),
        ({"file": ["b", "a", "c"], "row": [0, 1, 0]}, "row", "'row': 1 comes after 0"),
        ({"file": ["a", "a", "c"], "row": [1, 0, 0]}, "row", "'row': 0 comes after 1"),
        ({"item": ["b", "a", "c"]}, "item", "column 'item': 'a' comes after 'b'"),
        ({"item": ["a", "b", "c"]}, "item_descending", "column 'item': 'b' comes after 'a'"),
        ({"item": ["a", "a", "c"]}, "item", "column 'item': 'a' comes after 'a'"),
    ],
)
def test_disorder_inside_ties_is_refused(
    columns: dict[str, list[Any]], order: str, named: str
) -> None:
    with pytest.raises(DataError, match=re.escape(named)):
        streamed(pl.DataFrame({**NAIVE, **columns}), policies="naive", naive_order=order)


@pytest.mark.parametrize("order", ["row", "item", "item_descending"])
def test_naive_orders(order: str) -> None:
    frame = made().with_row_index("row")
    inside = "row" if order == "row" else "item"
    falling = [False, False, False, order == "item_descending"]
    agrees(
        frame.sort(*SORTED, inside, descending=falling),
        evaluate(frame, policies="naive", naive_order=order, **FEW),
        policies="naive",
        naive_order=order,
        **FEW,
    )


def test_what_naive_scores_cannot_do_without() -> None:
    with pytest.raises(
        ParameterError, match="'naive' needs the order of the items, and counts above 1 have none"
    ):
        streamed(pl.DataFrame(ROWS), policies="naive")
    with pytest.raises(ColumnError, match="no column 'item', which naive_order='item' needs"):
        streamed(pl.DataFrame(NAIVE), policies="naive", naive_order="item")
    rounds = pl.DataFrame({**NAIVE, "distance": [1.01, 1.02, 2.0]})
    with pytest.raises(DataError, match="for naive scores, round to 1 before sorting"):
        streamed(rounds, policies="naive", decimals=1)


def test_distances_are_rounded_and_cut() -> None:
    frame = made().with_columns(
        distance=pl.col("distance") + pl.Series(np.random.default_rng(1).random(made().height))
    )
    options = {**FEW, "policies": ("expected", "shuffled"), "decimals": 0, "distance_threshold": 2}
    agrees(frame.sort(SORTED), evaluate(frame, **options), **options)


def test_errors_name_columns() -> None:
    with pytest.raises(ColumnError, match="stream: no column 'query'; found 'id'"):
        streamed(pl.DataFrame({"id": ["a"]}))
    with pytest.raises(ParameterError, match="a threshold needs a 'distance'"):
        streamed(
            pl.DataFrame(NAIVE).rename({"distance": "score"})[::-1],
            policies="expected",
            distance_threshold=1,
        )
    with pytest.raises(RetrievalReportError, match="no relevant item, first query 'q'"):
        streamed(
            pl.DataFrame(NAIVE).with_columns(relevance=0), policies="expected", no_relevant="error"
        )
