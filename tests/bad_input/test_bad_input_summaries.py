"""Rows 1 to 73 of the table of bad input where they concern scores, weights and labels on their way
to a summary.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bad_input import numbers, rankings
from retrieval_report import evaluate, summarise
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    RetrievalReportError,
)
from retrieval_report.lists import query_weights

SCORES = evaluate(
    rankings(),
    metrics=["rr", "ndcg"],
    cutoffs=[1, None],
    policies=("expected", "best", "worst"),
    truncated="no",
)
WEIGHTS = query_weights(rankings(weight=[1.0, 2.0, 3.0, 4.0]), metrics=["rr", "ndcg"])
QUERIES = pl.DataFrame({"query": ["q1", "q2"], "label": ["x", "y"], "weight": [1.0, 3.0]})


def refused_scores(error: type[RetrievalReportError], *words: str, **columns: Any) -> None:
    refused_summary(SCORES.with_columns(**columns), error, *words)


Errors = type[RetrievalReportError] | tuple[type[RetrievalReportError], ...]


def refused_summary(scores: object, error: Errors, *words: str, **given: Any) -> None:
    with pytest.raises(error) as caught:
        summarise(scores, **given)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"no {missing} in {caught.value}"


def test_row_001_nan_and_null_values_are_queries_left_out() -> None:
    half = pl.when(pl.col("query") == "q1").then("value")
    for other in (SCORES.with_columns(half), SCORES.with_columns(half.fill_null(float("nan")))):
        assert summarise(other)["queries"].unique().to_list() == [1]
        assert summarise(other)["value"].to_list() == SCORES.filter(query="q1")["value"].to_list()
    nothing = summarise(SCORES.with_columns(value=pl.lit(None, pl.Float64)))
    assert nothing.select("value", "query_se", "queries").unique().rows() == [(None, None, 0)]


def test_row_003_infinite_values() -> None:
    refused_scores(DataError, "'value'", "24 infinite", "'q1'", "'itq'", value=pl.lit(float("inf")))
    for std in (float("inf"), -1.0):
        refused_scores(DataError, "'std'", "24 ", std=pl.lit(std))


@pytest.mark.parametrize(
    ("column", "given"),
    [
        ("value", "x"),
        ("items", "2"),
        ("n_relevant", [1]),
        ("model", 1),
        ("query", 1.5),
        ("query", [1]),
        ("cutoff", "5"),
    ],
)
def test_row_019_scores_of_other_types(column: str, given: Any) -> None:
    refused_scores(ColumnError, f"'{column}'", **{column: pl.lit(given)})


@pytest.mark.parametrize("cutoff", [2.5, 1e30])
def test_row_059_cutoffs_of_scores_are_whole_numbers(cutoff: float) -> None:
    frame = SCORES.filter(cutoff=1).with_columns(cutoff=pl.lit(cutoff))
    refused_summary(frame, RetrievalReportError, "'cutoff'")
    whole = SCORES.with_columns(
        pl.col("cutoff").cast(pl.Float64)
    )  # what pandas makes of a column with null
    assert_frame_equal(summarise(whole), summarise(SCORES))


def test_row_036_scores_that_are_there_twice() -> None:
    refused_summary(
        pl.concat([SCORES, SCORES[:1]]),
        DataError,
        "2 ",
        "'q1'",
        "'itq'",
        "same model, query, metric",
    )


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), None])
@pytest.mark.parametrize("frame", [WEIGHTS, QUERIES], ids=["by list", "by query"])
def test_row_024_weights_that_are_no_weights(frame: pl.DataFrame, weight: float | None) -> None:
    bad = frame.with_columns(
        weight=pl.when(pl.int_range(pl.len()) < 1)
        .then(pl.lit(weight, pl.Float64))
        .otherwise("weight")
    )
    refused_summary(SCORES, DataError, "'weight'", "'q1'", queries=bad, average="weighted")


def test_row_055_weights_that_do_not_cover_the_scores() -> None:
    refused_summary(
        SCORES,
        DataError,
        "'weight'",
        "'itq'",
        queries=WEIGHTS.filter(metric="rr"),
        average="weighted",
    )
    one_query = WEIGHTS.filter(query="q1")
    refused_summary(
        SCORES, DataError, "'weight'", "'q2'", "'itq'", queries=one_query, average="weighted"
    )


@pytest.mark.parametrize("weight", [1e308, 1e-300])
def test_row_028_weights_of_any_size_weigh(weight: float) -> None:
    even = QUERIES.with_columns(weight=pl.lit(weight))
    found = summarise(SCORES, queries=even, average="weighted")
    np.testing.assert_allclose(
        found["value"].to_numpy(), summarise(SCORES)["value"].to_numpy(), rtol=1e-12
    )


@pytest.mark.parametrize(
    "labels", [["x", "y"], [7, 9], [True, False], numbers([2**100, 0], pl.Int128)]
)
def test_row_045_labels_of_every_kind(labels: Any) -> None:
    wanted = summarise(SCORES, queries=QUERIES, average="macro")
    label = pl.Series(labels)
    kinds = [label] if label.dtype != pl.String else [label.cast(pl.Categorical), label]
    for kind in kinds:
        found = summarise(SCORES, queries=QUERIES.with_columns(label=kind), average="macro")
        assert_frame_equal(found, wanted)
    for odd in (pl.lit(1.5), pl.lit(None)):
        bad = QUERIES.with_columns(label=odd)
        refused_summary(SCORES, ColumnError, "'label'", queries=bad, average="macro")
