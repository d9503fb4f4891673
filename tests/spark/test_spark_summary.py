"""Means and counts on Spark: the numbers and the words of one machine."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from stored_frames import made

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report import spark as on

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

KEYS = ["model", "metric", "cutoff", "policy"]


def sent(spark: Any, frame: pl.DataFrame):
    return spark.createDataFrame(frame.to_arrow())


@pytest.fixture(scope="module")
def scores():
    """Scores with all that a mean has to tell apart: skipped, missing, unjudged and cut queries,
    and no deviation.
    """
    frame = made()
    judgements = frame.filter(pl.col("query") != "q4").select("query", "item", "relevance").unique()
    return rr.evaluate(
        frame,
        judgements=judgements,
        metrics=("ap", "dcg", "err"),
        cutoffs=(2, None),
        policies=("expected", "naive", "best", "worst"),
        unjudged_query="skip",
        no_relevant="skip",
        truncated={"m0": "within_tie", "m1": "no"},
    )


def queries_of(scores: pl.DataFrame) -> pl.DataFrame:
    number = pl.col("query").str.slice(1).cast(pl.Int64)
    names = scores.select("query").unique().sort("query")
    return names.with_columns(label=pl.format("l{}", number % 4), weight=number * 7 % 5 / 4)


def agrees(summary: pl.DataFrame, expected: pl.DataFrame):
    assert_frame_equal(summary.sort(KEYS), expected.sort(KEYS), check_exact=True)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_averages(spark: Any, scores: pl.DataFrame, average: str):
    queries = None if average == "micro" else queries_of(scores)
    told = sent(spark, queries) if queries is not None and average == "weighted" else queries
    summary = on.summarise(sent(spark, scores), queries=told, average=average, confidence=0.9)
    agrees(summary, rr.summarise(scores, queries=queries, average=average, confidence=0.9))
    assert summary["policy"][:4].to_list() == ["expected", "naive", "best", "worst"]
    assert summary["lowest"].null_count() == 0


def test_weights_of_lists(spark: Any, scores: pl.DataFrame):
    rankings = made().with_columns(weight=pl.col("query").rank("dense") + 0.5)
    weights = rr.lists.query_weights(rankings, metrics=("ap", "dcg", "err"))
    lists = scores.join(
        weights, on=["model", "query"], how="semi"
    )  # missing lists have no items to weigh
    agrees(
        on.summarise(sent(spark, lists), queries=weights, average="weighted"),
        rr.summarise(lists, queries=weights, average="weighted"),
    )


def test_few_queries_and_equal_values(spark: Any):
    rows = [
        ("m", "q", "ap", 0.1, None),
        ("n", "q", "ap", 0.1, 0.0),
        ("n", "r", "ap", 0.1, 0.0),
        ("o", "q", "ap", None, None),
    ]
    frame = pl.DataFrame(rows, schema=["model", "query", "metric", "value", "std"], orient="row")
    frame = frame.with_columns(cutoff=3, policy=pl.lit("expected"), items=2, n_relevant=1)
    frame = frame.cast({"cutoff": pl.Int64, "items": pl.Int64, "n_relevant": pl.Int64})
    queries = pl.DataFrame({"query": ["q", "r"], "weight": [0.0, 0.0], "label": [1, 2]})
    for average in ("micro", "macro", "weighted"):
        told = None if average == "micro" else queries
        summary = on.summarise(sent(spark, frame), queries=told, average=average)
        agrees(summary, rr.summarise(frame, queries=told, average=average))
        # Model o has no value, and without any weight there is no mean.
        assert summary["value"].null_count() == (3 if average == "weighted" else 1)


def test_bad_scores(spark: Any):
    row = {"model": "m", "query": "q", "metric": "ap", "cutoff": 1, "policy": "expected"}
    frame = pl.DataFrame(
        {**row, "value": [float("inf")], "std": [0.0], "items": 1, "n_relevant": 1}
    )
    message = "column 'value': 1 infinite, first in query 'q' of model 'm'"
    with pytest.raises(rr.DataError, match=message):
        on.summarise(sent(spark, frame))


def counted(frame: Any) -> pl.DataFrame:
    with on.our_errors():
        counts = pl.DataFrame(pl.from_arrow(frame.toArrow()))
    return counts.sort(counts.columns[:4])


def test_count_ties(spark: Any):
    masked = made().with_columns(
        mask=pl.col("item").cast(pl.Int64) % 3 > 0, distance=pl.col("distance") - 2.0
    )
    zeros = masked.with_columns(
        distance=pl.when(pl.col("item") == "4").then(-0.0).otherwise("distance")
    )
    for frame in (
        zeros,
        made(text=False).rename({"distance": "score"}).drop("model").unique(["query", "item"]),
    ):
        expected = rr.count_ties(frame)
        if (
            "retrieved" in expected.columns
        ):  # what other models retrieved is not counted on a cluster
            expected = expected.filter("retrieved").drop("retrieved")
        assert_frame_equal(counted(on.count_ties(sent(spark, frame))), expected, check_exact=True)
        shards = pl.concat([expected, expected[::2]])
        assert_frame_equal(
            counted(on.count_ties(sent(spark, shards))), rr.count_ties(shards), check_exact=True
        )
