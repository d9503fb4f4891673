"""Rows 23 to 35 of the table of bad input: relevances, and queries in which nothing is relevant."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import polars as pl
import pytest

from bad_input import LAST, POLICIES, numbers, one_list, rankings, refused, scores, value
from catalogue_texts import TEXTS
from retrieval_report import count_ties, evaluate, shuffled_means, summarise
from retrieval_report.contracts.arguments import number_text
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    ParameterError,
    RetrievalReportError,
    RetrievalReportWarning,
)

NAN, INFINITY = float("nan"), float("inf")
JUDGEMENTS = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "item": ["a", "b", "b"], "relevance": [1, 0, 1]}
)
INTEGERS = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128),
    *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.UInt128),
)


def judged(*relevance: Any) -> pl.DataFrame:
    return JUDGEMENTS.with_columns(relevance=pl.Series(relevance))


def refused_judgements(
    judgements: pl.DataFrame, error: type[RetrievalReportError], *words: str
) -> None:
    refused(rankings(relevance=None), error, *words, judgements=judgements)


@pytest.mark.parametrize(
    "relevance", [numbers([1, 0, 0, None], pl.Int64), numbers([1, 0, 0, NAN], pl.Float64)]
)
def test_row_023_null_or_nan_relevance(relevance: pl.Series) -> None:
    frame = rankings(relevance=relevance)
    words = ("'relevance'", "1 null or NaN", *LAST, "unjudged='non_relevant'", "'drop'")
    refused(frame, DataError, *words, unjudged=None)
    refused(frame, DataError, *words, unjudged="error")
    assert scores(frame, "precision", 2, unjudged="non_relevant") == [0.5, 0.0]
    dropped = evaluate(
        frame, metrics="precision", cutoffs=None, policies="expected", unjudged="drop"
    )
    assert dropped.select("value", "items").rows() == [(0.5, 2), (0.0, 1)]


def test_row_023_counts_and_weights_need_every_relevance_too() -> None:
    frame = rankings(relevance=numbers([1, 0, 0, None], pl.Int64))
    with pytest.raises(DataError, match="'relevance'"):
        count_ties(frame)
    counts = count_ties(rankings()).with_columns(relevance=numbers([1, 0, 0, None], pl.Int64))
    refused(counts, DataError, "'relevance'", "1 null", "'q2'", "'itq'", policies="expected")


def test_row_023_the_row_named_is_the_row_given() -> None:
    frame = rankings(relevance=[None, 0, 0, None], mask=[False, True, True, True])
    refused(frame, DataError, "1 null or NaN", *LAST, "(row 3)", unjudged=None)


def test_row_023_judgements_without_relevance() -> None:
    refused_judgements(judged(1, 0, None), DataError, "'relevance'", "1 null", "'q2'", "'b'")
    refused_judgements(judged(1.0, NAN, NAN), DataError, "'relevance'", "2 NaN", "'q1'", "'b'")


def test_row_023_a_list_that_loses_all_rows_is_empty_not_gone() -> None:
    frame = rankings(relevance=[1, 0, None, None])
    found = evaluate(frame, metrics="recall", cutoffs=None, policies="expected", unjudged="drop")
    assert found.select("query", "value", "items").rows() == [("q1", 1.0, 2), ("q2", 0.0, 0)]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Float64, pl.Decimal(10, 2)])
def test_row_024_negative_relevance(dtype: Any) -> None:
    refused(
        rankings(relevance=numbers([1, 0, 0, -1], dtype)),
        DataError,
        "'relevance'",
        "1 negative",
        *LAST,
    )
    negative = judged(1, 0, -1).with_columns(pl.col("relevance").cast(dtype))
    refused_judgements(
        negative, DataError, "'relevance'", "1 negative", "'q2'", "'b'", "negative='unjudged'"
    )


def test_row_024_infinite_relevance() -> None:
    refused(
        rankings(relevance=[1.0, 0.0, 0.0, INFINITY]), DataError, "'relevance'", "1 infinite", *LAST
    )
    refused_judgements(
        judged(1.0, 0.0, INFINITY), DataError, "'relevance'", "1 infinite", "'q2'", "'b'"
    )


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Decimal(10, 3)])
def test_row_025_fractional_relevance(dtype: Any) -> None:
    grades = numbers([Decimal("0.25"), Decimal("1.5")], pl.Decimal(10, 3)).cast(dtype)
    frame = one_list([1, 2], grades)
    assert value(frame, "dcg") == pytest.approx(0.25 + 1.5 / math.log2(3), rel=1e-12)
    assert value(frame, "precision") == value(frame, "precision", relevant_from=0.25) == 1.0
    assert value(frame, "rr", relevant_from=0.2501) == 0.5


@pytest.mark.parametrize("grade", [1e-3, 1e-12])
def test_row_025_small_fractions_keep_their_digits(grade: float) -> None:
    with mpmath.workdps(40):
        gain = mpmath.mpf(2) ** mpmath.mpf(grade) - 1
    frame = one_list([1], [grade])
    assert value(frame, "dcg(gain=exp2)") == pytest.approx(float(gain), rel=1e-12, abs=0)
    assert value(frame, "err") == pytest.approx(float(gain / 16), rel=1e-12, abs=0)


def test_row_026_boolean_relevance() -> None:
    as_numbers, as_booleans = rankings(), rankings(relevance=[True, False, False, True])
    assert scores(as_booleans, TEXTS, [1, None]) == scores(as_numbers, TEXTS, [1, None])
    truth = judged(True, False, True)
    assert scores(rankings(relevance=None), "recall", 1, judgements=truth) == [1.0, 0.0]


def test_row_027_text_relevance() -> None:
    refused(
        rankings(relevance=["yes", "no", "no", "1"]),
        ColumnError,
        "'relevance'",
        "String",
        "must be a number",
    )
    refused_judgements(
        judged("1", "0", "1"),
        ColumnError,
        "judgements",
        "'relevance'",
        "String",
        "must be a number",
    )


STEEP = (
    "ignore:gain 'exp2' with grades up to:retrieval_report.contracts.errors.RetrievalReportWarning"
)


@pytest.mark.filterwarnings(STEEP)
@pytest.mark.parametrize("dtype", [*INTEGERS, pl.Float32, pl.Float64])
def test_row_028_gains_are_computed_in_float64(dtype: Any) -> None:
    for grade in (10, 40, 62, 63, 64, 100, 127):
        frame = one_list([1, 2], numbers([grade, 0], dtype))
        assert scores(frame, ["dcg(gain=exp2)", "ndcg(gain=exp2)"]) == [2.0**grade - 1.0, 1.0]


@pytest.mark.filterwarnings(STEEP)
def test_row_028_the_largest_grade_that_has_a_gain() -> None:
    frame = one_list([1, 2], [1023, 0])
    assert value(frame, "dcg(gain=exp2)") == 2.0**1023
    assert scores(frame, ["ndcg(gain=exp2)", "ndcg(gain=exp2,ideal=list)"]) == [1.0, 1.0]


@pytest.mark.parametrize("metric", ["dcg()", "ndcg()"])
@pytest.mark.parametrize(
    ("grade", "printed"), [(1024, "2^1024"), (2**62, "2^4.611686018427388e+18")]
)
def test_row_028_gain_that_is_not_finite(metric: str, grade: int, printed: str) -> None:
    frame = one_list([1, 2], [grade, 0])
    steep = metric.replace("(", "(gain=exp2,")
    refused(frame, DataError, "exp2", number_text(grade), "not finite", "linear", metrics=steep)
    assert value(frame, metric) == (1.0 if "ndcg" in metric else float(grade))


def test_row_028_gain_of_a_judged_item_that_is_not_retrieved() -> None:
    judgements = pl.DataFrame(
        {"query": ["q1", "q2", "q2"], "item": ["a", "b", "far"], "relevance": [1, 1, 1024]}
    )
    refused(
        rankings(relevance=None),
        DataError,
        "exp2",
        "1024",
        judgements=judgements,
        metrics="ndcg(gain=exp2)",
    )


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
def test_row_028_sums_that_are_not_finite_are_no_silent_null(metric: str, grade: float) -> None:
    try:
        found = value(one_list([1, 1, 1], [grade] * 3), metric)
    except (DataError, ParameterError):
        return
    assert found is not None
    assert math.isfinite(found)


@pytest.mark.parametrize("grade", [10**9, 2**62])
def test_row_029_large_grades_need_no_table(grade: int) -> None:
    frame = one_list([1, 2, 2], [0, grade, 1])
    assert value(frame, "acg", 2) == pytest.approx((grade + 1) / 4, rel=1e-12)
    assert value(frame, "dcg", 2) == pytest.approx((grade + 1) / 2 / math.log2(3), rel=1e-12)
    assert value(frame, "ap") == pytest.approx((1 / 2 + 2 / 3) / 2, rel=1e-12)
    assert count_ties(frame)["relevance"].to_list() == [0, 1, grade]


@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Int128, pl.UInt128])
def test_row_029_integers_above_2_to_the_63(dtype: Any) -> None:
    frame = one_list([1, 2], numbers([2**64 - 1, 1], dtype))
    assert value(frame, "acg") == 2.0**63
    assert value(frame, "recall") == 1.0


@pytest.mark.parametrize("dtype", INTEGERS)
def test_row_030_small_integers_do_not_wrap_in_sums(dtype: Any) -> None:
    n = 1000
    frame = one_list(np.arange(n) // 10, numbers([100] * n, dtype))
    assert value(frame, "acg") == 100.0
    assert value(frame, "recall", 700) == 0.7
    assert value(frame, "dcg(discount=reciprocal)") == pytest.approx(
        100 * math.fsum(1 / rank for rank in range(1, n + 1)), rel=1e-12
    )


ONE = ("recall", "ap", "wap", "ndcg", "rr", "hit_rate", "r_precision", "ap_at_r", "bpref")


@pytest.mark.parametrize("policy", POLICIES)
def test_row_031_query_without_relevant_item(policy: str) -> None:
    frame = rankings(relevance=[1, 0, 0, 0])
    given = {"metrics": TEXTS, "cutoffs": [1, None], "policies": policy, "shuffles": 2}
    given["truncated"] = "no"

    def found(rule: str) -> pl.DataFrame:
        return evaluate(frame, no_relevant=rule, **given).filter(query="q2")  # type: ignore[arg-type]

    assert found("zero")["value"].unique().to_list() == [0.0]
    assert found("skip")["value"].unique().to_list() == [None]
    for metric, score in found("one").select("metric", "value").iter_rows():
        assert score == float(metric.partition("(")[0] in ONE), metric
    assert found("one")["std"].drop_nulls().unique().to_list() in ([0.0], [])


def test_row_031_the_count_is_shown() -> None:
    frame = rankings(relevance=[1, 0, 0, 0])
    for rule, mean, queries in (("zero", 0.5, 2), ("skip", 1.0, 1), ("one", 1.0, 2)):
        found = summarise(
            evaluate(frame, metrics="recall", cutoffs=None, policies="expected", no_relevant=rule)
        )
        assert found.select("value", "queries", "no_relevant").row(0) == (mean, queries, 1)
        drawn = shuffled_means(frame, metrics="recall", cutoffs=None, shuffles=1, no_relevant=rule)
        assert drawn["value"].to_list() == [mean]


def test_row_031_error_on_request() -> None:
    refused(
        rankings(relevance=[1, 0, 0, 0]),
        DataError,
        "1 ",
        "no relevant item",
        "'q2'",
        "'itq'",
        no_relevant="error",
    )
    refused(
        rankings(),
        DataError,
        "2 ",
        "no relevant item",
        "'q1'",
        "'itq'",
        no_relevant="error",
        relevant_from=2,
    )


@pytest.mark.parametrize(("rule", "row"), [("skip", (None, 0, 2)), ("zero", (0.0, 2, 2))])
def test_row_032_no_relevant_item_in_any_query(rule: str, row: tuple[Any, ...]) -> None:
    asked: Any = {"metrics": ["ap", "precision"], "cutoffs": None, "no_relevant": rule}
    with pytest.warns(RetrievalReportWarning, match="no query has a relevant item"):
        found = summarise(evaluate(rankings(relevance=[0, 0, 0, 0]), **asked))
    assert found.select("value", "queries", "no_relevant").unique().rows() == [row]


@pytest.mark.parametrize("policy", POLICIES)
def test_row_033_all_relevant(policy: str) -> None:
    frame = one_list([1, 1, 2, 3, 3, 3], [2] * 6)
    names = [
        "ap",
        "ndcg",
        "rr",
        "hit_rate",
        "recall",
        "precision",
        "f1",
        "r_precision",
        "ap_at_r",
        "ndcg(gain=exp2)",
    ]
    found = scores(frame, names, policies=policy, shuffles=3)
    assert found == pytest.approx([1.0] * len(names), rel=1e-12)


DISAGREEING: dict[str, Any] = {
    "model": ["a", "a", "b", "b"],
    "query": ["q"] * 4,
    "item": ["x", "y", "y", "x"],
}


def test_row_034_models_that_disagree_about_an_item() -> None:
    frame = rankings(**DISAGREEING, relevance=[1, 0, 0, 2])
    words = ("'relevance'", "'x'", "'q'", "'a'", "models disagree about 1 items", "2 in model")
    refused(frame, DataError, *words, metrics="ap")
    with pytest.raises(DataError, match="disagree"):
        shuffled_means(frame, metrics="ap", shuffles=1)
    agreeing = rankings(**DISAGREEING, relevance=[1, 0, 0, 1])
    assert scores(agreeing, "rr") == [1.0, 0.5]


def test_row_034_a_threshold_on_the_distance_is_no_disagreement() -> None:
    frame = rankings(**DISAGREEING, relevance=[1, 0, 0, 1], distance=[1, 2, 1, 5])
    assert scores(frame, "rr", distance_threshold=2) == [1.0, 0.0]


def test_row_034_rankings_that_disagree_with_the_judgements() -> None:
    refused(rankings(), DataError, "'relevance'", "1 differ", *LAST, judgements=judged(1, 0, 2))


def test_row_035_steep_gains_are_warned_of() -> None:
    frame = one_list([1, 2, 3], [100, 0, 50])
    with pytest.warns(RetrievalReportWarning, match=r"exp2.*100.*one item decides"):
        assert value(frame, "ndcg(gain=exp2)") == pytest.approx(1.0, rel=1e-12)
    with pytest.warns(RetrievalReportWarning, match=r"exp2.*100"):
        value(frame, "dcg(gain=exp2)")
    # No warning where the gain is another, or no gain is taken.
    assert value(frame, "dcg") == 125.0
    assert value(frame, "ap") == pytest.approx((1 + 2 / 3) / 2, rel=1e-12)
