"""Rows that count, and plain means: the same as `evaluate` and `summarise` have them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.analysis.rows import judged_rows, tie_means, told_once, within_threshold
from retrieval_report.contracts.errors import KeyMismatchError, RetrievalReportWarning
from retrieval_report.contracts.options import Options

RANKINGS = pl.DataFrame(
    {
        "model": ["m"] * 5,
        "query": ["q", "q", "q", "r", "r"],
        "item": ["a", "b", "c", "a", "b"],
        "distance": [0.11, 0.12, 0.5, 1.0, None],
        "mask": [True, True, True, True, True],
    }
)
JUDGEMENTS = pl.DataFrame({"query": ["q", "q"], "item": ["b", "z"], "relevance": [2, 1]})


def rows_of(rankings: pl.DataFrame, judgements: pl.DataFrame | None, **options: object) -> list[tuple[object, ...]]:
    settings = Options(policies=("expected",), **options)  # type: ignore[arg-type]
    return judged_rows(rankings, judgements, None, settings).select("query", "item", "distance", "relevance").rows()


def test_rows_take_the_judgements_relevance_and_leave_out_what_evaluate_leaves_out() -> None:
    rows = rows_of(RANKINGS, JUDGEMENTS, unjudged_query="skip", null_distance="not_retrieved")
    assert rows == [("q", "a", 0.11, 0), ("q", "b", 0.12, 2), ("q", "c", 0.5, 0)]


def test_unjudged_rows_can_be_dropped_and_masked_rows_are_gone() -> None:
    masked = RANKINGS.with_columns(mask=pl.col("item") != "c")
    options = {"unjudged_query": "skip", "null_distance": "not_retrieved"}
    assert [item for _, item, _, _ in rows_of(masked, JUDGEMENTS, **options)] == ["a", "b"]
    assert [item for _, item, _, _ in rows_of(RANKINGS, JUDGEMENTS, **options, unjudged="drop")] == ["b"]


def test_distances_are_rounded_and_far_items_are_not_relevant() -> None:
    rankings = RANKINGS.drop_nulls().with_columns(relevance=pl.lit(1))
    options = Options(policies=("expected",), decimals=1, distance_threshold=0.3)
    rows = within_threshold(judged_rows(rankings, None, None, options), options)
    found = rows.sort("distance").select("distance", "relevance").rows()
    assert found == [(0.1, 1), (0.1, 1), (0.5, 0), (1.0, 0)]


def test_frames_that_do_not_fit_are_refused_as_in_evaluate() -> None:
    with pytest.raises(KeyMismatchError, match="queries have no judgements"):
        rows_of(RANKINGS.drop_nulls(), JUDGEMENTS)


def test_a_counts_frame_keeps_its_counts() -> None:
    counts = rr.count_ties(RANKINGS.drop_nulls().with_columns(relevance=pl.lit(1)))
    assert judged_rows(counts, None, None, Options(policies=("expected",)))["count"].sum() == 4


def test_means_are_those_of_summarise() -> None:
    rankings = pl.DataFrame(
        {
            "model": ["a", "a", "a", "b", "b"],
            "query": ["q", "q", "r", "q", "q"],
            "item": ["x", "y", "x", "x", "y"],
            "distance": [1, 1, 1, 2, 1],
            "relevance": [1, 0, 0, 1, 0],
        }
    )
    scores = rr.evaluate(rankings, policies=("expected", "best"), no_relevant="skip", missing_query="zero")
    means, summary = tie_means(scores), rr.summarise(scores)
    keys = ["model", "metric", "cutoff", "policy"]
    assert means.select(keys).equals(summary.select(keys))
    assert means["value"].to_list() == pytest.approx(summary["value"].to_list(), rel=1e-14)
    exact = means["policy"] == "expected"
    assert means.filter(exact)["tie_std"].to_list() == pytest.approx(summary.filter(exact)["tie_std"].to_list())
    assert dict(means.select("model", "shortest").iter_rows()) == {"a": 1, "b": 0}


def test_means_of_cut_lists_are_those_of_summarise() -> None:
    rows = {"query": list("ppqq"), "item": list("abab"), "distance": [1, 2, 1, 1], "relevance": [1, 0, 1, 0]}
    options: dict[str, Any] = {"truncated": "within_tie", "policies": ("expected", "worst", "best")}
    scores = rr.evaluate(rows, metrics=("precision", "dcg"), cutoffs=(1, None), **options)
    means, summary = tie_means(scores), rr.summarise(scores)
    assert means["value"].to_list() == summary["value"].to_list()
    assert means["tie_std"].to_list() == summary["tie_std"].to_list()
    assert means.select(pl.col("value", "tie_std").is_null().any()).row(0) == (True, True)


def test_a_mean_of_no_query_is_null_and_no_scores_have_no_means() -> None:
    rankings = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [0]})
    with pytest.warns(RetrievalReportWarning, match="no query has a relevant item"):
        scores = rr.evaluate(rankings, metrics="ap", cutoffs=1, policies="expected", no_relevant="skip")
    assert tie_means(scores).select("value", "tie_std").row(0) == (None, None)
    assert tie_means(scores.clear()).is_empty()


def test_told_once_silences_only_this_packages_warnings() -> None:
    rankings = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [0]})
    with told_once():
        rr.evaluate(rankings, metrics="ap", policies="expected")
