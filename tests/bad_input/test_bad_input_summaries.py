"""Rows 1 to 73 of the table of bad input where they concern scores, weights and labels on their way
to a summary.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bad_input import numbers, rankings
from retrieval_report import evaluate, summarise
from retrieval_report.contracts.errors import (
    ColumnError,
    RetrievalReportError,
)

SCORES = evaluate(
    rankings(),
    metrics=["rr", "ndcg"],
    cutoffs=[1, None],
    policies=("expected", "best", "worst"),
    truncated="no",
)
QUERIES = pl.DataFrame({"query": ["q1", "q2"], "label": ["x", "y"], "weight": [1.0, 3.0]})


Errors = type[RetrievalReportError] | tuple[type[RetrievalReportError], ...]


def refused_summary(scores: object, error: Errors, *words: str, **given: Any):
    with pytest.raises(error) as caught:
        summarise(scores, **given)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"no {missing} in {caught.value}"


def test_row_001_nan_and_null_values_are_queries_left_out():
    half = pl.when(pl.col("query") == "q1").then("value")
    for other in (SCORES.with_columns(half), SCORES.with_columns(half.fill_null(float("nan")))):
        assert summarise(other)["queries"].unique().to_list() == [1]
        assert summarise(other)["value"].to_list() == SCORES.filter(query="q1")["value"].to_list()
    nothing = summarise(SCORES.with_columns(value=pl.lit(None, pl.Float64)))
    assert nothing.select("value", "query_se", "queries").unique().rows() == [(None, None, 0)]


@pytest.mark.parametrize("weight", [1e308, 1e-300])
def test_row_028_weights_of_any_size_weigh(weight: float):
    even = QUERIES.with_columns(weight=pl.lit(weight))
    found = summarise(SCORES, queries=even, average="weighted")
    np.testing.assert_allclose(
        found["value"].to_numpy(), summarise(SCORES)["value"].to_numpy(), rtol=1e-12
    )


@pytest.mark.parametrize(
    "labels", [["x", "y"], [7, 9], [True, False], numbers([2**100, 0], pl.Int128)]
)
def test_row_045_labels_of_every_kind(labels: Any):
    wanted = summarise(SCORES, queries=QUERIES, average="macro")
    label = pl.Series(labels)
    kinds = [label] if label.dtype != pl.String else [label.cast(pl.Categorical), label]
    for kind in kinds:
        found = summarise(SCORES, queries=QUERIES.with_columns(label=kind), average="macro")
        assert_frame_equal(found, wanted)
    for odd in (pl.lit(1.5), pl.lit(None)):
        bad = QUERIES.with_columns(label=odd)
        refused_summary(SCORES, ColumnError, "'label'", queries=bad, average="macro")
