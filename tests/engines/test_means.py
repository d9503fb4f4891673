"""Plain means agree with those of `summarise`."""

import polars as pl
import pytest

import retrieval_report as rr
from made_reports import lettered
from retrieval_report.contracts.errors import RetrievalReportWarning
from retrieval_report.engines.score_grid import tie_means


def test_means_are_those_of_summarise():
    rankings = lettered({"a": ["Xy", "x"], "b": ["y X"]})
    scores = rr.evaluate(
        rankings, policies=("expected", "best"), no_relevant="skip", missing_query="zero"
    )
    means, summary = tie_means(scores), rr.summarise(scores)
    keys = ["model", "metric", "cutoff", "policy"]
    assert means.select(keys).equals(summary.select(keys))
    assert means["value"].to_list() == pytest.approx(summary["value"].to_list(), rel=1e-14)
    exact = means["policy"] == "expected"
    assert means.filter(exact)["tie_std"].to_list() == pytest.approx(
        summary.filter(exact)["tie_std"].to_list()
    )
    assert dict(means.select("model", "shortest").iter_rows()) == {"a": 1, "b": 0}


def test_a_mean_of_no_query_is_null_and_no_scores_have_no_means():
    rankings = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [0]})
    with pytest.warns(RetrievalReportWarning, match="no query has a relevant item"):
        scores = rr.evaluate(
            rankings, metrics="ap", cutoffs=1, policies="expected", no_relevant="skip"
        )
    assert tie_means(scores).select("value", "tie_std").row(0) == (None, None)
    assert tie_means(scores.clear()).is_empty()
