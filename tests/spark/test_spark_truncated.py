"""Cut lists and pooled R on Spark: what is decided, and every bit, as in memory."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from stored_cuts import METRICS, behind_ties, complete, top

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report import spark as on

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ASKED: dict[str, Any] = {"metrics": METRICS, "cutoffs": (1, 5, 12, None), "policies": ("expected", "worst", "best")}


def both(spark: Any, rankings: pl.DataFrame, **options: Any) -> tuple[pl.DataFrame, str]:
    """Scores of Spark, after they were found equal to those of memory; and what was warned of cut lists, alike."""
    said, frames = [], []
    for away in (True, False):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", rr.RetrievalReportWarning)
            if away:
                scores = on.evaluate(
                    spark.createDataFrame(rankings.to_arrow()), partitions=2, plan="rows", **ASKED, **options
                )
                with on.our_errors():
                    frame = pl.DataFrame(pl.from_arrow(scores.toArrow()))
            else:
                frame = rr.evaluate(rankings, **ASKED, **options)
        frames.append(frame.sort("model", "query", maintain_order=True))
        said.append([str(warning.message) for warning in caught if "seem cut" in str(warning.message)])
    assert_frame_equal(frames[0], frames[1], check_exact=True)
    assert said[0] == said[1]
    return frames[0], " ".join(said[0])


def test_top_k_lists_without_judgements_pool_their_relevant_items(spark: Any) -> None:
    scores, said = both(spark, top(complete(3), 10))
    assert "models retrieved different items" in said
    assert scores["pooled"].all()
    assert scores["truncated"].any()


def test_one_model_is_judged_by_its_own_lists(spark: Any) -> None:
    _, said = both(spark, top(complete(3, 1), 10))
    assert "its lists hold 10 items" in said


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
    assert "seem cut" in both(spark, rankings, judgements=judgements)[1]
    scores, said = both(
        spark, rankings, judgements=judgements, truncated={"m0": "no", "m1": "within_tie"}, relevant_items="own"
    )
    assert said == ""
    assert scores.filter("truncated")["model"].unique().to_list() == ["m1"]


def test_clustered_rows_cannot_be_pooled(spark: Any) -> None:
    rankings = spark.createDataFrame(top(complete(3), 10).to_arrow())
    with pytest.raises(rr.ParameterError, match="relevant_items='own'"):
        on.evaluate(rankings, clustered=True, truncated="no", policies="expected")
