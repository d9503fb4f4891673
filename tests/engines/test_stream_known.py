"""What judgements, queries, masks and nulls say reaches a stream as rows, and means what it means
to `evaluate`.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from batches import FEW, made, streamed
from retrieval_report import DataError, KeyMismatchError, evaluate
from retrieval_report.scoring.judged import KNOWN, NOT_RETRIEVED, RETRIEVED

POLICIES = ("expected", "shuffled", "best", "worst")


def lists(models: int = 2) -> pl.DataFrame:
    """Two models, some of whose lists are missing; they agree about relevance."""
    frames = [
        made(seed=seed).with_columns(
            model=pl.lit(f"m{seed}"),
            relevance=(pl.col("query") + pl.col("item")).hash(seed=7) % 4 // 2,
        )
        for seed in range(models)
    ]
    return pl.concat(frames).filter(~((pl.col("model") == "m1") & (pl.col("query") == "q2")))


def judged(frame: pl.DataFrame) -> pl.DataFrame:
    """Judgements of the items and of one that no model has found, for all queries but one, and of
    one query more.
    """
    known = frame.select("query", "item", pl.col("relevance").cast(pl.Int64)).unique(
        maintain_order=True
    )
    lone = [("q1", "unseen", 3), ("q9", "unseen", 1)]
    more = pl.DataFrame(lone, schema=known.schema, orient="row")
    return pl.concat([known.filter(pl.col("query") != "q3"), more])


def stream_of(rows: pl.DataFrame, known: pl.DataFrame | None) -> pl.DataFrame:
    """Rows, and what is known of the lists of every model, in the order that a stream needs."""
    rows = rows if "role" in rows.columns else rows.with_columns(role=pl.lit(RETRIEVED, pl.Int8))
    rows = rows.with_columns(count=pl.lit(1, pl.Int64))
    if known is not None:
        every = known.join(rows.select("model").unique(), how="cross").with_columns(
            role=pl.lit(KNOWN, pl.Int8)
        )
        rows = pl.concat([rows, every], how="diagonal_relaxed")
    return rows.sort("model", "query", "distance", nulls_last=False, maintain_order=True)


def asked(names: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"query": names, "count": [0] * len(names)}, schema_overrides={"count": pl.Int64}
    )


def agrees(stream: pl.DataFrame, expected: pl.DataFrame, **options: Any) -> None:
    assert_frame_equal(
        streamed(stream, size=3, policies=POLICIES, **FEW, **options), expected, check_exact=True
    )


def with_judgements() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Rankings, judgements, and the stream of both."""
    frame = lists()
    known = judged(frame)
    rows = frame.drop("relevance").join(known, on=["query", "item"], how="left")
    cells = known.group_by("query", "relevance").agg(count=pl.len().cast(pl.Int64))
    universe = asked(frame["query"].unique().to_list())
    return (
        frame.drop("relevance"),
        known,
        stream_of(rows, pl.concat([cells, universe], how="diagonal_relaxed")),
    )


def test_judged_items_count_whether_retrieved_or_not() -> None:
    frame, known, stream = with_judgements()
    expected = evaluate(frame, judgements=known, unjudged_query="skip", policies=POLICIES, **FEW)
    assert expected["n_relevant"].null_count() > 0
    assert (expected["items"] == 0).any()
    agrees(stream, expected, judged=True, unjudged_query="skip")


def test_rows_that_nobody_judged_can_leave() -> None:
    frame, known, stream = with_judgements()
    some = known.filter(pl.col("item") != "i2")
    rows = stream.with_columns(
        relevance=pl.when((pl.col("role") == KNOWN) | (pl.col("item") != "i2")).then("relevance")
    )
    lost = known.filter(pl.col("item") == "i2").group_by("query", "relevance").agg(lost=pl.len())
    rows = rows.join(
        lost, on=["query", "relevance"], how="left", maintain_order="left"
    ).with_columns(
        count=pl.when(pl.col("role") == KNOWN)
        .then(pl.col("count") - pl.col("lost").fill_null(0))
        .otherwise("count")
    )
    options: dict[str, Any] = {"unjudged": "drop", "unjudged_query": "skip"}
    agrees(
        rows,
        evaluate(frame, judgements=some, policies=POLICIES, **FEW, **options),
        judged=True,
        **options,
    )


def test_unjudged_queries_are_refused() -> None:
    with pytest.raises(
        KeyMismatchError, match="queries have no judgements, first 'q3'; unjudged_query='skip'"
    ):
        streamed(with_judgements()[2], judged=True, policies="expected")


def test_bad_judgements_are_refused() -> None:
    stream = with_judgements()[2].with_columns(
        relevance=pl.when(pl.col("role") == KNOWN).then(-pl.col("relevance")).otherwise("relevance")
    )
    with pytest.raises(
        DataError, match=r"judgements: column 'relevance': \d+ negative, first in query 'q0' of"
    ):
        streamed(stream, judged=True, unjudged_query="skip", policies="expected")
    nothing = stream.with_columns(relevance=pl.when(pl.col("role") != KNOWN).then("relevance"))
    with pytest.raises(
        DataError, match=r"judgements: column 'relevance': \d+ null or NaN, first in query 'q0' of"
    ):
        streamed(nothing, judged=True, unjudged_query="skip", policies="expected")


def test_lists_asked_for_are_scored_without_rows() -> None:
    frame = lists()
    names = [f"q{number}" for number in range(10)]
    expected = evaluate(frame, queries=pl.DataFrame({"query": names}), policies=POLICIES, **FEW)
    agrees(stream_of(frame, asked(names)), expected, complete=True)
    with pytest.raises(
        KeyMismatchError, match="pairs have no rows, first query 'q7' of model 'm0'"
    ):
        streamed(
            stream_of(frame, asked(names)),
            complete=True,
            policies="expected",
            missing_query="error",
        )


def test_queries_that_the_frame_lacks_are_refused() -> None:
    with pytest.raises(
        KeyMismatchError, match="queries of the rankings are not in the queries frame, first 'q1'"
    ):
        streamed(
            stream_of(lists(), asked(["q0", "q2", "q3", "q4", "q5", "q6"])),
            complete=True,
            policies="expected",
        )


@pytest.mark.filterwarnings("ignore:ndcg. for .* lists only some relevant items are in the data")
@pytest.mark.parametrize("grades", [2, 3])
def test_the_number_of_relevant_items_is_told(grades: int) -> None:
    frame = lists().with_columns(pl.col("relevance") * (grades - 1))
    frame = frame.with_columns(relevance=pl.col("relevance").clip(0, grades - 1)).cast(
        {"relevance": pl.Int64}
    )
    if grades == 3:
        frame = frame.with_columns(
            relevance=pl.when(pl.col("item") == "i1").then(1).otherwise("relevance")
        )
    queries = (
        frame.select("query").unique().with_columns(n_relevant=pl.lit(30, pl.Int64)).sort("query")
    )
    known = queries.with_columns(count=pl.lit(0, pl.Int64))
    expected = evaluate(frame, queries=queries, policies=POLICIES, **FEW)
    found = frame["relevance"].unique().sort().to_list()
    agrees(stream_of(frame, known), expected, complete=True, grades=(found[1], found[-1]))
    few = stream_of(frame, known.with_columns(n_relevant=1))
    with pytest.raises(DataError, match="hold more relevant items than the queries frame states"):
        streamed(few, complete=True, policies="expected")


def test_grades_of_other_lists_do_not_change_an_ideal() -> None:
    frame = pl.DataFrame({"model": ["m"], "query": ["q"], "distance": [1], "relevance": [1]})
    stream = stream_of(frame, pl.DataFrame({"query": ["q"], "count": [0], "n_relevant": [2]}))
    options: dict[str, Any] = {
        "complete": True,
        "policies": "expected",
        "metrics": "ndcg",
        "cutoffs": None,
    }
    value = streamed(stream, grades=(1.0,), **options)["value"][0]
    assert value == 1 / (1 + 1 / math.log2(3))
    assert streamed(stream, grades=(1.0, 2.0), **options)["value"][0] == value


@pytest.mark.parametrize("unjudged", ["non_relevant", "drop"])
def test_rows_without_relevance(unjudged: str) -> None:
    frame = lists(1).with_columns(relevance=pl.when(pl.col("item") != "i2").then("relevance"))
    expected = evaluate(frame, unjudged=unjudged, policies=POLICIES, **FEW)
    agrees(stream_of(frame, None), expected, unjudged=unjudged)
    with pytest.raises(
        DataError, match=r"column 'relevance': \d+ null or NaN, first in query .*; unjudged="
    ):
        streamed(stream_of(frame, None), policies="expected")


def test_items_known_but_not_retrieved() -> None:
    frame = lists(1).with_columns(distance=pl.when(pl.col("item") != "i2").then("distance"))
    expected = evaluate(frame, null_distance="not_retrieved", policies=POLICIES, **FEW)
    agrees(stream_of(frame, None), expected, null_distance="not_retrieved")


def test_masked_rows_leave_their_lists() -> None:
    frame = lists(1).with_columns(mask=(pl.col("item") != "i2") & (pl.col("query") != "q4"))
    expected = evaluate(frame, policies=POLICIES, missing_query="error", **FEW)
    assert (expected["items"] == 0).any()
    masked = frame.with_columns(
        role=pl.when("mask").then(RETRIEVED).otherwise(NOT_RETRIEVED),
        distance=pl.when("mask").then("distance"),
        relevance=pl.when("mask").then("relevance"),
    )
    agrees(stream_of(masked.drop("mask"), None), expected, missing_query="error")
