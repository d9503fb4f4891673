"""Cut lists and pooled R on Spark: what is decided, and every bit, as in memory."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.contracts.options import Options
from stored_cuts import METRICS, behind_ties, complete, top

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report import spark as on
from retrieval_report.spark.known import join_beside
from retrieval_report.spark.sources import open_rows
from retrieval_report.spark.truncation import decide_on_cluster

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:ndcg. for .* lists only some relevant items:retrieval_report.RetrievalReportWarning"
    ),
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ASKED: dict[str, Any] = {
    "metrics": METRICS,
    "cutoffs": (1, 5, 12, None),
    "policies": ("expected", "worst", "best"),
}


def both(spark: Any, rankings: pl.DataFrame, **options: Any) -> tuple[pl.DataFrame, str]:
    """Scores of Spark, after they were found equal to those of memory; and the reasons of both."""
    sent = spark.createDataFrame(rankings.to_arrow())
    scores = on.evaluate(sent, partitions=2, plan="rows", **ASKED, **options)
    with on.our_errors():
        found = pl.DataFrame(pl.from_arrow(scores.toArrow())).sort(
            "model", "query", maintain_order=True
        )
    here = rr.evaluate(rankings, **ASKED, **options).sort("model", "query", maintain_order=True)
    assert_frame_equal(found, here, check_exact=True)
    given = {name: options.pop(name, None) for name in ("judgements", "queries")}
    checked = Options(policies="expected", **options)
    source, beside = join_beside(
        open_rows(sent, checked, judged=given["judgements"] is not None), *given.values()
    )
    decided = decide_on_cluster(source, beside, sorted(rankings["model"].unique()), checked)
    known = rr.truncated_lists(rankings, cutoffs=10, **given, **options).select(
        "model", "truncated", "reason"
    )
    assert [(model, *decision) for model, decision in decided.items()] == known.rows()
    return found, "; ".join(known["reason"])


def test_what_proves_that_lists_are_whole_or_not(spark: Any) -> None:
    whole, same = complete(3, 2), "every list holds the same items"
    first = pl.col("model") == "m0"
    beside = pl.concat([whole.filter(first), top(whole.filter(~first), 10)])
    assert both(spark, whole)[1] == f"{same}; {same}"
    assert both(spark, beside)[1].startswith(f"{same}; another model retrieved items")
    item = (
        pl.when(~first & (pl.col("item") == beside["item"][-1])).then(pl.lit("x")).otherwise("item")
    )
    assert same not in both(spark, beside.with_columns(item=item))[1]
    numbers = [pl.col(name).rank("dense").cast(pl.Int64).alias(name) for name in ("query", "item")]
    themselves = whole.with_columns(numbers).filter(pl.col("query") != pl.col("item"))
    assert both(spark, themselves)[1] == f"{same}; {same}"


def test_counts_say_how_their_lists_end(spark: Any) -> None:
    counts = rr.count_ties(complete(3, 1)).with_columns(truncated=pl.lit("between_ties"))
    scores, said = both(spark, counts)
    assert said == "as the counts say"
    assert scores["truncated"].any()
    counted = on.count_ties(spark.createDataFrame(counts.to_arrow())).toArrow()
    assert set(counted["truncated"].to_pylist()) == {"between_ties"}


def test_top_k_lists_without_judgements_pool_their_relevant_items(spark: Any) -> None:
    scores, said = both(spark, top(complete(3), 10))
    assert "another model retrieved items for query" in said
    assert scores["pooled"].all()
    assert scores["truncated"].any()


def test_one_model_is_judged_by_its_own_lists(spark: Any) -> None:
    _, said = both(spark, top(complete(3, 1), 10))
    assert said == "not known"


def test_lists_that_end_with_a_tie(spark: Any) -> None:
    whole = complete(3, 1)
    n_relevant = whole.group_by("query").agg(n_relevant=(pl.col("relevance") > 0).sum())
    scores, said = both(spark, behind_ties(whole, 10), queries=n_relevant)
    assert "not every known relevant item" in said
    assert not scores.filter(cutoff=5, metric="precision")["truncated"].any()


def test_judgements_and_a_mapping(spark: Any) -> None:
    whole = complete(4)
    judgements = whole.select("query", "item", "relevance").unique(maintain_order=True)
    rankings = top(whole, 10).drop("relevance")
    assert "not every known relevant item" in both(spark, rankings, judgements=judgements)[1]
    scores, said = both(
        spark,
        rankings,
        judgements=judgements,
        truncated={"m0": "no", "m1": "within_tie"},
        relevant_items="own",
    )
    assert said == "as given; as given"
    assert scores.filter("truncated")["model"].unique().to_list() == ["m1"]


def test_clustered_rows_cannot_be_pooled(spark: Any) -> None:
    rankings = spark.createDataFrame(top(complete(3), 10).to_arrow())
    with pytest.raises(rr.ParameterError, match="relevant_items='own'"):
        on.evaluate(rankings, clustered=True, truncated="no", policies="expected")
