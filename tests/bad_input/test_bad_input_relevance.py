"""Rows 23 to 35 of the table of bad input: relevances, and queries in which nothing is relevant."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from bad_input import JUDGEMENTS, POLICIES, numbers, one_list, rankings, refused, scores, value
from catalogue_texts import TEXTS
from retrieval_report import count_ties, evaluate
from retrieval_report.contracts.errors import (
    DataError,
    ParameterError,
)

INTEGERS = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128),
    *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.UInt128),
)


def test_row_023_counts_and_weights_need_every_relevance_too():
    frame = rankings(relevance=numbers([1, 0, 0, None], pl.Int64))
    with pytest.raises(DataError, match="'relevance'"):
        count_ties(frame)
    counts = count_ties(rankings()).with_columns(relevance=numbers([1, 0, 0, None], pl.Int64))
    refused(counts, DataError, "'relevance'", "1 null", "'q2'", "'itq'", policies="expected")


def test_row_026_boolean_relevance():
    as_numbers, as_booleans = rankings(), rankings(relevance=[True, False, False, True])
    assert scores(as_booleans, TEXTS, [1, None]) == scores(as_numbers, TEXTS, [1, None])
    truth = JUDGEMENTS.with_columns(relevance=pl.Series([True, False, True]))
    assert scores(rankings(relevance=None), "recall", 1, judgements=truth) == [1.0, 0.0]


STEEP = (
    "ignore:gain 'exp2' with grades up to:retrieval_report.contracts.errors.RetrievalReportWarning"
)


@pytest.mark.filterwarnings(STEEP)
@pytest.mark.parametrize("dtype", [*INTEGERS, pl.Float32, pl.Float64])
def test_row_028_gains_are_computed_in_float64(dtype: Any):
    for grade in (10, 40, 62, 63, 64, 100, 127):
        frame = one_list([1, 2], numbers([grade, 0], dtype))
        assert scores(frame, ["dcg(gain=exp2)", "ndcg(gain=exp2)"]) == [2.0**grade - 1.0, 1.0]


@pytest.mark.filterwarnings(STEEP)
def test_row_028_the_largest_grade_that_has_a_gain():
    frame = one_list([1, 2], [1023, 0])
    assert value(frame, "dcg(gain=exp2)") == 2.0**1023
    assert scores(frame, ["ndcg(gain=exp2)", "ndcg(gain=exp2,ideal=list)"]) == [1.0, 1.0]


@pytest.mark.filterwarnings(STEEP)
@pytest.mark.parametrize(
    ("metric", "grade"),
    [
        ("dcg(gain=exp2)", 1023),
        ("ndcg(gain=exp2)", 1023),
        ("dcg", 1.7e308),
        ("acg", 1.7e308),
        ("wap", 1.7e308),
    ],
)
def test_row_028_sums_that_are_not_finite_are_no_silent_null(metric: str, grade: float):
    try:
        found = value(one_list([1, 1, 1], [grade] * 3), metric)
    except (DataError, ParameterError):
        return
    assert found is not None
    assert math.isfinite(found)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_row_030_small_integers_do_not_wrap_in_sums(dtype: Any):
    n = 1000
    frame = one_list(np.arange(n) // 10, numbers([100] * n, dtype))
    assert value(frame, "acg") == 100.0
    assert value(frame, "recall", 700) == 0.7
    assert value(frame, "dcg(discount=reciprocal)") == pytest.approx(
        100 * math.fsum(1 / rank for rank in range(1, n + 1)), rel=1e-12
    )


# The metrics that have no meaning without a relevant item.
ONE = ("recall", "ap", "wap", "ndcg", "rr", "hit_rate", "r_precision", "ap_at_r", "bpref")


@pytest.mark.parametrize("policy", POLICIES)
def test_row_031_query_without_relevant_item(policy: str):
    frame = rankings(relevance=[1, 0, 0, 0])
    given = {"metrics": TEXTS, "cutoffs": [1, None], "policies": policy, "shuffles": 2}
    given["truncated"] = "no"

    def found(rule: str):
        return evaluate(frame, no_relevant=rule, **given).filter(query="q2")  # type: ignore[arg-type]

    assert found("zero")["value"].unique().to_list() == [0.0]
    assert found("skip")["value"].unique().to_list() == [None]
    for metric, score in found("one").select("metric", "value").iter_rows():
        is_one = metric.partition("(")[0] in ONE
        assert score == is_one, f"{metric}: should ONE name it, or does it lack needs_relevant?"
    assert found("one")["std"].drop_nulls().unique().to_list() in ([0.0], [])
