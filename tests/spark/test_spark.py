"""Every option of `evaluate` means on Spark what it means without, or is refused by name."""

from pathlib import Path
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

ASKED: Any = {
    "metrics": ("precision", "ap", "ndcg", "rr"),
    "cutoffs": (3, None),
    "partitions": 2,
    "truncated": "no",
}
EXPECTED = {**ASKED, "policies": "expected"}


def sent(spark: Any, frame: pl.DataFrame):
    return spark.createDataFrame(frame.to_arrow())


def collected(scores: Any) -> pl.DataFrame:
    with on.our_errors():
        frame = pl.DataFrame(pl.from_arrow(scores.toArrow()))
    return frame.sort("model", "query", maintain_order=True)


def agrees(spark: Any, frame: pl.DataFrame, **options: Any):
    scores = collected(on.evaluate(sent(spark, frame), **{**ASKED, **options}))
    assert_frame_equal(scores, without_spark(frame, **{**ASKED, **options}), check_exact=True)


def without_spark(frame: pl.DataFrame, **options: Any) -> pl.DataFrame:
    here = {
        name: value for name, value in options.items() if name not in ("partitions", "clustered")
    }
    return rr.evaluate(frame, **here)


SHARES = pl.Series("share", [number * 0.37 % 1 for number in range(1000)])


def near(frame: pl.DataFrame) -> pl.DataFrame:
    """Distances that rounding makes ties of."""
    return frame.with_columns(distance=pl.col("distance") + SHARES[: frame.height])


def some(column: str) -> pl.Expr:
    """The column with nulls."""
    return pl.when(pl.col("item").cast(pl.Int64) % 4 != 1).then(column)


OPTIONS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "scores, without distance, masked": (
        made()
        .rename({"distance": "score"})
        .with_columns(
            some("score").cast(pl.Float64),
            mask=(pl.col("item").cast(pl.Int64) % 3 > 0) & (pl.col("query") != "q7"),
        ),
        {"policies": ("expected", "shuffled", "worst"), "null_distance": "not_retrieved"},
    ),
    "rounded, unjudged, items falling": (
        near(made()).with_columns(some("relevance")),
        {
            "policies": ("naive", "best"),
            "naive_order": "item_descending",
            "unjudged": "drop",
            "decimals": 1,
            "distance_threshold": 2.5,
            "relevant_from": 2,
            "no_relevant": "skip",
        },
    ),
    "types of Spark's own": (
        made(models=1)
        .drop("model")
        .with_columns(
            pl.col("query").cast(pl.Categorical).cast(pl.String),
            pl.col("distance").cast(pl.Decimal(10, 2)),
            pl.col("relevance") > 1,
        ),
        {"policies": "expected"},
    ),
    "row numbers, models as numbers": (
        made()
        .with_columns(model=pl.col("model").str.slice(1).cast(pl.Int64) + 9)
        .with_row_index("row")
        .cast({"row": pl.Int64})
        .sample(fraction=1.0, shuffle=True, seed=4),
        {"policies": ("naive", "shuffled"), "shuffles": 2, "seed": 9},
    ),
    "queries in their own lists, with the largest grade": (
        made()
        .with_columns(pl.col("query").str.slice(1), pl.col("item").cast(pl.String))
        .with_columns(
            relevance=pl.when(pl.col("query") == pl.col("item")).then(7).otherwise("relevance")
        ),
        {"policies": ("expected", "best"), "truncated": "within_tie", "exclude_self": True},
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(spark: Any, case: str):
    frame, options = OPTIONS[case]
    agrees(spark, frame, **options)


def test_ids_that_were_unsigned_are_whole_numbers(spark: Any):
    unsigned = made().with_columns(
        pl.col("query").str.slice(1).cast(pl.UInt64), pl.col("item").cast(pl.UInt64)
    )
    decimals = unsigned.with_columns(
        pl.col("query", "item").cast(pl.Decimal(20, 0))
    )  # as Spark reads UInt64
    scores = collected(on.evaluate(sent(spark, decimals), **EXPECTED))
    assert_frame_equal(
        scores, without_spark(unsigned, **EXPECTED), check_exact=True, check_dtypes=False
    )
    beyond = decimals.with_columns(item=(unsigned["item"] + 2**63).cast(pl.Decimal(20, 0)))
    with pytest.raises(rr.DataError, match=r"column 'item': .* null"):
        collected(on.evaluate(sent(spark, beyond), **EXPECTED))


def test_counts_of_shards_add_up(spark: Any):
    frame = made()
    counts = pl.concat([rr.count_ties(frame[begin::2]) for begin in range(2)]).sort(
        "retrieved", descending=True
    )
    for kind in ("own", "pooled"):
        agrees(spark, counts, relevant_items=kind, policies=("expected", "shuffled"), shuffles=2)
    bad = counts.with_columns(count=pl.when(pl.int_range(pl.len()) == 5).then(0).otherwise("count"))
    with pytest.raises(
        rr.DataError,
        match=r"column 'count': 1 not a whole number from 1 .*, first in query 'q",
    ):
        collected(on.evaluate(sent(spark, bad), **EXPECTED))


def test_no_exchange_of_queries_that_are_together(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    frame = made()
    for number in range(2):
        even = pl.col("query").str.slice(1).cast(pl.Int64) % 2 == number
        frame.filter(even).write_parquet(tmp_path / f"part-{number}.parquet")
    options: Any = {**EXPECTED, "partitions": None}
    together = on.evaluate(spark.read.parquet(str(tmp_path)), clustered=True, **options)
    together.explain()
    assert "hashpartitioning" not in capsys.readouterr().out
    assert_frame_equal(collected(together), without_spark(frame, **options), check_exact=True)


def test_lists_that_are_not_together_are_found_afterwards(spark: Any):
    apart = sent(spark, made()).repartition(3, "item")
    scores = on.evaluate(
        apart, clustered=True, **{**EXPECTED, "partitions": None, "relevant_items": "own"}
    )
    with pytest.raises(
        rr.DataError,
        match="scores of the same model, query, metric, cutoff and policy, first in query 'q",
    ):
        on.summarise(scores)
    with pytest.raises(rr.ParameterError, match="clustered=True: judgements and queries frames"):
        on.evaluate(
            apart,
            judgements=made().select("query", "item", "relevance").unique(),
            clustered=True,
            **EXPECTED | {"partitions": None},
        )


def test_judgements_sent_from_here(spark: Any):
    frame = made()
    judgements = (
        frame.filter(pl.col("query") != "q4")
        .select("query", "item", "relevance")
        .unique(maintain_order=True)
    )
    agrees(spark, frame, judgements=judgements, policies="expected", unjudged_query="skip")
    some = judgements.filter(
        pl.int_range(pl.len()) % 3 > 0
    )  # bpref sees these items alone, AP all of them
    own = {"metrics": "bpref, ap", "cutoffs": None, "judgements": some, "unjudged_query": "skip"}
    agrees(spark, frame.drop("relevance"), **own, policies="expected", unjudged="non_relevant")
    numbers = made(text=False).drop("relevance")
    told = (
        made(text=False)
        .select(pl.col("query").cast(pl.UInt16), "item", "relevance")
        .unique(maintain_order=True)
    )
    queries = pl.DataFrame({"query": range(40)}, schema={"query": pl.Int8})
    agrees(spark, numbers, judgements=told, queries=queries, policies="expected")
    wide = told.with_columns(
        query=pl.lit(2**63, pl.UInt64), item=pl.col("item").rank("ordinal").cast(pl.Int64)
    )
    with pytest.raises(
        rr.ColumnError, match="judgements: Spark has no whole numbers of more than 64 bits"
    ):
        on.evaluate(sent(spark, numbers), judgements=wide, **EXPECTED)


def test_text_spelt_as_numbers_and_numbers_are_the_same_ids(spark: Any):
    numbers = made(text=False)
    told = numbers.select("query", "item", "relevance").unique(maintain_order=True)
    queries = numbers.select("query").unique(maintain_order=True)
    bare, texts = (
        numbers.drop("relevance"),
        (pl.col("query", "item").cast(pl.String), pl.col("query").cast(pl.String)),
    )
    wanted = without_spark(bare, judgements=told, **EXPECTED)
    found = collected(
        on.evaluate(
            sent(spark, bare),
            judgements=told.with_columns(texts[0]),
            queries=queries.select(texts[1]),
            **EXPECTED,
        )
    )
    assert_frame_equal(
        found,
        wanted.with_columns(pl.col("query").cast(found.schema["query"])),
        check_row_order=False,
    )
    text = collected(
        on.evaluate(sent(spark, bare.with_columns(texts[0])), judgements=told, **EXPECTED)
    )
    assert_frame_equal(text, wanted.with_columns(texts[1]), check_row_order=False)
    odd = told.with_columns(pl.format("0{}", "query").alias("query"))
    with pytest.raises(
        rr.KeyMismatchError,
        match=r"'query' is Int64 in the rankings and String .* judgements, where '0",
    ):
        collected(on.evaluate(sent(spark, bare), judgements=odd, **EXPECTED))


def test_batches_without_bound_are_refused_in_a_sentence(spark: Any):
    """PySpark answers with "'max_chunksize' should be strictly positive"."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    frame, before = made(), spark.conf.get(name)
    judgements = frame.select("query", "item", "relevance").unique()
    rankings = sent(spark, frame.drop("relevance"))
    spark.conf.set(name, "-1")
    try:
        with pytest.raises(rr.ParameterError, match="maxRecordsPerBatch is below 1"):
            on.evaluate(rankings, judgements=judgements, **EXPECTED)
    finally:
        spark.conf.set(name, before)


def test_bad_judgements_on_the_cluster(spark: Any):
    frame = made()
    judgements = frame.select("query", "item", pl.col("relevance").cast(pl.Int64)).unique()
    bad = {
        "judgements: .* items with different grades in one query": {"item": pl.lit("1")},
        "column 'relevance': .* differ from the judgements": {"relevance": pl.col("relevance") + 1},
    }
    for message, change in bad.items():
        told = sent(spark, judgements.with_columns(**change))
        with pytest.raises(rr.DataError, match=message):
            collected(on.evaluate(sent(spark, frame), judgements=told, **EXPECTED))


def test_bad_queries_on_the_cluster(spark: Any):
    frame = made()
    names = frame.select("query").unique(maintain_order=True)
    bad = {
        "queries: .* rows? repeats? another's query": pl.concat([names, names[:1]]),
        "n_relevant'.* from 0 to": names.with_columns(
            n_relevant=pl.when(query="q1").then(-1).otherwise(99)
        ),
    }
    for message, queries in bad.items():
        with pytest.raises(rr.DataError, match=message):
            collected(on.evaluate(sent(spark, frame), queries=sent(spark, queries), **EXPECTED))
    with pytest.raises(
        rr.KeyMismatchError,
        match="1 queries of the rankings are not in the queries frame, first 'q",
    ):
        collected(on.evaluate(sent(spark, frame), queries=sent(spark, names[1:]), **EXPECTED))


def test_naive_order_has_to_be_known(spark: Any, tmp_path: Path):
    frame = made()
    for number, part in enumerate(frame.iter_slices(97)):
        part.write_parquet(tmp_path / f"part-{number}.parquet")
    read = spark.read.parquet(str(tmp_path))
    naive = {**EXPECTED, "policies": "naive"}
    expected = without_spark(frame, **naive)
    with_file = read.filter("distance < 99").withColumn(
        "file", read["item"]
    )  # a column of that name is no matter
    assert_frame_equal(collected(on.evaluate(with_file, **naive)), expected, check_exact=True)
    for other in (sent(spark, frame), read.groupBy(*frame.columns).count().drop("count")):
        with pytest.raises(
            rr.ParameterError, match="policies: 'naive' needs the order of the rows"
        ):
            on.evaluate(other, **naive)


def test_arguments_are_refused_at_once(spark: Any):
    frame = sent(spark, made())
    refused: dict[str, dict[str, Any]] = {
        "policies: 'mean'": {"policies": "mean"},
        "no column 'relevance'": {"rankings": frame.drop("relevance")},
        "more than once": {"rankings": frame.select("*", "distance")},
        "distance_threshold: the rankings have a 'score'": {
            "rankings": frame.withColumnRenamed("distance", "score"),
            "distance_threshold": 1,
        },
        "column 'query' is Float64; an id must be text": {
            "rankings": frame.selectExpr("0.5D query", "item", "distance", "relevance")
        },
    }
    for message, options in refused.items():
        arguments = {"rankings": frame, **EXPECTED, **options}
        with pytest.raises(rr.RetrievalReportError, match=message):
            on.evaluate(arguments.pop("rankings"), **arguments)


def test_text_is_compared_by_its_bytes(spark: Any):
    frame = made()
    mixed = frame.with_columns(
        query=pl.when(pl.col("item") == "3")
        .then(pl.col("query").str.to_uppercase())
        .otherwise("query")
    )
    loose = sent(spark, mixed).selectExpr(
        "model", "query COLLATE UTF8_LCASE AS query", "item", "distance", "relevance"
    )
    scores = collected(on.evaluate(loose, **EXPECTED))
    assert_frame_equal(scores, without_spark(mixed, **EXPECTED), check_exact=True)
