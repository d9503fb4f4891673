"""On one machine, on two executors and through Spark Connect: the bits that `evaluate` gives
without Spark.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from spark_sessions import KINDS

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report import spark as on

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
EVERYWHERE = pytest.mark.parametrize("spark_kind", KINDS)
ELSEWHERE = pytest.mark.parametrize(
    "spark_kind", KINDS[1:]
)  # as other files try it on this machine

ASKED: Any = {
    "metrics": ("precision", "ap", "ndcg", "err", "r_precision"),
    "cutoffs": (3, None),
    "truncated": "no",
}
EXACT = ("expected", "shuffled", "worst", "best")

# How the distances of a model lie, as a function of the random numbers and of how many there are.
DISTANCES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "ties": lambda random, size: random.integers(0, 5, size) * 1.5,
    "unique": lambda random, size: random.permutation(size) / 7.0,
    "zeros": lambda random, size: random.choice([-0.0, 0.0, 0.5], size),
}


def made(*, text: bool) -> pl.DataFrame:
    """Lists of uneven length for models whose distances differ in kind; one model misses a
    query.
    """
    random = np.random.default_rng(7)
    parts = []
    for model, distances in DISTANCES.items():
        for query in range(3 if model == "zeros" else 0, 14):
            items = random.permutation(40)[: random.integers(1, 30)]
            columns = {"query": query, "item": items, "distance": distances(random, items.size)}
            parts.append(pl.DataFrame(columns).with_columns(pl.lit(model).alias("model")))
    frame = pl.concat(parts).with_columns(
        relevance=pl.when(pl.col("query") != 5)
        .then((pl.col("query") * 7 + pl.col("item") * 5) % 4)
        .otherwise(0),
    )
    if not text:
        return frame.select("model", "query", "item", "distance", "relevance")
    return frame.select(
        "model",
        pl.format("q{}", "query").alias("query"),
        pl.format("d{}", "item").alias("item"),
        "distance",
        "relevance",
    )


def shards(folder: Path, frame: pl.DataFrame) -> list[Path]:
    """Files that hold some items of every query each."""
    number = pl.col("item").cast(pl.String).str.extract(r"(\d+)").cast(pl.Int64)
    paths = [folder / f"shard-{shard}.parquet" for shard in range(3)]
    for shard, path in enumerate(paths):
        frame.filter(number % 3 == shard).write_parquet(path)
    return paths


def collected(scores: Any) -> pl.DataFrame:
    with on.our_errors():
        frame = pl.DataFrame(pl.from_arrow(scores.toArrow()))
    return frame.sort("model", "query", maintain_order=True)


def read(spark: Any, paths: Iterable[Path]):
    return spark.read.parquet(*map(str, paths))


@EVERYWHERE
def test_shards_of_the_items_with_ties_unique_distances_and_negative_zero(
    spark: Any, tmp_path: Path
):
    paths = shards(tmp_path, made(text=False))
    policies = ("naive", *EXACT)
    expected = rr.evaluate(rr.read_rankings(paths), **ASKED, policies=policies)
    scores = on.evaluate(read(spark, paths), **ASKED, policies=policies)
    assert_frame_equal(collected(scores), expected, check_exact=True)


@ELSEWHERE
def test_means(spark: Any, spark_kind: str):
    assert ("connect" in type(spark).__module__) == (spark_kind == "connect")
    scores = rr.evaluate(made(text=True), **ASKED, policies=EXACT)
    summary = on.summarise(spark.createDataFrame(scores.to_arrow()))
    keys = ["model", "metric", "cutoff", "policy"]
    assert_frame_equal(summary.sort(keys), rr.summarise(scores).sort(keys), check_exact=True)


def test_judgements_and_queries_join_on_the_cluster(spark: Any, tmp_path: Path):
    frame = made(text=True)
    told = frame.select("query", "item", "relevance").unique(["query", "item"], maintain_order=True)
    more = pl.DataFrame({"query": ["q1", "nobody"], "item": ["unseen", "d1"], "relevance": [3, 1]})
    judgements = pl.concat([told.filter(pl.col("item") != "d7"), more])
    queries = judgements.select("query").unique(maintain_order=True).with_columns(n_relevant=50)
    rankings, told_options = frame.drop("relevance"), {"policies": ("expected", "best"), **ASKED}
    expected = rr.evaluate(rankings, judgements=judgements, queries=queries, **told_options)
    sent = [spark.createDataFrame(table.to_arrow()) for table in (rankings, judgements, queries)]
    scores = on.evaluate(sent[0], judgements=sent[1], queries=sent[2], **told_options)
    assert_frame_equal(collected(scores), expected, check_exact=True)


SKEWED: Any = {
    **ASKED,
    "metrics": ("precision", "ap", "ndcg"),
    "policies": ("expected", "worst"),
}


@pytest.fixture
def skewed(tmp_path: Path):
    """One query of a million items beside twenty small ones, and the scores without Spark."""
    random = np.random.default_rng(3)
    query = np.repeat(np.arange(21), [1_000_000] + [10] * 20)
    columns = {
        "query": query,
        "item": np.arange(query.size),
        "distance": random.integers(0, 65, query.size),
        "relevance": random.integers(0, 2, query.size),
    }
    path = tmp_path / "skew.parquet"
    pl.DataFrame(columns).write_parquet(path, row_group_size=100_000)
    return path, rr.evaluate(pl.DataFrame(columns), **SKEWED)


def test_one_query_of_a_million_items(spark: Any, skewed: tuple[Path, pl.DataFrame]):
    path, expected = skewed
    scores = on.evaluate(read(spark, [path]), **SKEWED)
    assert_frame_equal(collected(scores), expected, check_exact=True)


@ELSEWHERE
def test_bad_values_are_refused_in_the_same_words(spark: Any, tmp_path: Path):
    columns = {
        "model": "m",
        "query": ["q1", "q2", "q3"],
        "item": "i",
        "distance": [1.0, float("nan"), 2.0],
        "relevance": 1,
    }
    frame, message = pl.DataFrame(columns), "column 'distance': 1 NaN, first in query 'q2'"
    with pytest.raises(rr.DataError) as without:
        rr.evaluate(frame)
    assert message in str(without.value)
    frame.write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(rr.DataError) as error:
        collected(on.evaluate(read(spark, [tmp_path / "bad.parquet"])))
    assert message in str(error.value)


def test_columns_are_known_by_our_names_before_those_of_others(spark: Any):
    frame = made(text=True).drop("item")
    both = frame.with_columns(Query=pl.lit("other"), DISTANCE=0.0)
    sent = spark.createDataFrame(both.with_row_index("item").cast({"item": pl.Int64}).to_arrow())
    expected = rr.evaluate(both.with_row_index("item"), **ASKED, policies="expected")
    assert_frame_equal(
        collected(on.evaluate(sent, **ASKED, policies="expected")), expected, check_exact=True
    )
    others = sent.toDF("docno", "system", "qid", "dist", "label", "title", "far")
    assert_frame_equal(
        collected(on.evaluate(others, **ASKED, policies="expected")), expected, check_exact=True
    )
