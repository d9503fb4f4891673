"""Cut lists and pooled R on Spark: what is decided, and every bit, as in memory."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from stored_cuts import METRICS, complete, top

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report import spark as on

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:ndcg. for .* lists only some relevant items:retrieval_report.RetrievalReportWarning"
    ),
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ASKED: Any = {
    "metrics": METRICS,
    "cutoffs": (1, 5, 12, None),
    "policies": ("expected", "worst", "best"),
}


def both(spark: Any, rankings: pl.DataFrame, **options: Any) -> pl.DataFrame:
    """Scores of Spark, after they were found equal to those of memory."""
    scores = on.evaluate(
        spark.createDataFrame(rankings.to_arrow()), partitions=2, **ASKED, **options
    )
    with on.our_errors():
        found = pl.DataFrame(pl.from_arrow(scores.toArrow()))
    found = found.sort("model", "query", maintain_order=True)
    expected = rr.evaluate(rankings, **ASKED, **options)
    assert_frame_equal(found, expected, check_exact=True)
    return found


def test_what_proves_that_lists_are_whole_or_not(spark: Any):
    whole = complete(3, 2)
    first = pl.col("model") == "m0"
    beside = pl.concat([whole.filter(first), top(whole.filter(~first), 10)])
    assert not both(spark, whole)["truncated"].any()
    assert both(spark, beside).filter("truncated")["model"].unique().to_list() == ["m1"]


def test_counts_say_how_their_lists_end(spark: Any):
    counts = rr.count_ties(complete(3, 1)).with_columns(truncated=pl.lit("between_ties"))
    assert both(spark, counts)["truncated"].any()
    counted = on.count_ties(spark.createDataFrame(counts.to_arrow())).toArrow()
    assert set(counted["truncated"].to_pylist()) == {"between_ties"}


def test_top_k_lists_without_judgements_pool_their_relevant_items(spark: Any):
    scores = both(spark, top(complete(3), 10))
    assert scores.filter(metric="ap")["pooled"].all()
    assert scores["truncated"].any()
