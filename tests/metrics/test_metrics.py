"""Metrics by name and as records, cutoffs, gains, discounts: what is accepted, and what is refused
in which words.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report import AP, DCG, ERR, NDCG, RBP, evaluate
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import (
    CATALOGUE,
    parse_metric,
    parse_metrics,
    split_metrics,
)

FRAME = pl.DataFrame(
    {"query": "q", "item": [1, 2, 3], "distance": [1, 1, 2], "relevance": [0, 1, 2]}
)


def run(metric: Any, frame: pl.DataFrame = FRAME) -> pl.DataFrame:
    return evaluate(frame, metrics=[metric], cutoffs=2, policies="expected")


@pytest.mark.parametrize("name", CATALOGUE)
def test_text_form_of_the_default_record_is_its_name(name: str):
    record = CATALOGUE[name]()
    assert str(record) == name
    assert parse_metric(name) == (record, None)


@given(
    p=st.floats(0, 1, exclude_min=True, exclude_max=True),
    top=st.none() | st.floats(0, 1e300, exclude_min=True) | st.integers(1, 10**30),
    grade=st.floats(0, 1023, exclude_min=True),
    table=st.dictionaries(st.floats(0, 1e300), st.floats(0, 1e300), min_size=1),
)
def test_text_form_round_trips_with_every_digit(
    p: float, top: float | None, grade: float, table: dict[float, float]
):
    for record in (
        RBP(p=p, max_grade=top),
        ERR(max_grade=grade),
        DCG(gain=table),
        NDCG(gain=table),
    ):
        assert parse_metric(str(record)) == (record, None)


def test_text_form_keeps_what_tells_two_metrics_apart():
    assert str(RBP(p=0.99999999)) == "rbp(p=0.99999999)"
    assert str(RBP(p=np.float32(0.9))) == "rbp(p=0.8999999761581421)"  # type: ignore[arg-type]
    assert str(ERR(max_grade=np.float32(4.1))) == "err(max_grade=4.099999904632568)"  # type: ignore[arg-type]
    assert str(DCG(gain={1234567: 1, 1234568: 2})) == "dcg(gain=1234567:1;1234568:2)"
    close = parse_metrics(["rbp(p=0.9000001)", "rbp(p=0.9000002)"], 1)
    assert len({str(metric) for metric, _ in close}) == 2


def test_metrics_must_be_some_and_told_apart():
    with pytest.raises(ParameterError, match="two different metrics are both called"):
        parse_metrics([DCG(gain=lambda g: g), DCG(gain=lambda g: 2 * g)], 10)
    assert parse_metrics(["ap@1", "ap@2", "map"], [2, None]) == [(AP(), (1, 2, None))]
    for text in ("ap,,rr", "ap, rr,", ",ap ,rr"):
        assert split_metrics(text) == ["ap", "rr"]
    assert split_metrics("ap, ndcg(gain=exp2,ideal=list)@10 ,rr") == [
        "ap",
        "ndcg(gain=exp2,ideal=list)@10",
        "rr",
    ]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (DCG(gain=lambda grades: grades[:1]), "is not an array of numbers, one for each of the"),
        (DCG(gain=lambda grades: -grades), "at least 0"),
        (DCG(discount=lambda ranks: ranks), "not increase"),
        (DCG(discount=lambda ranks: 1.0), "is not an array of numbers, one for each of the"),
    ],
)
def test_metrics_that_do_not_fit_the_data(metric: Any, message: str):
    with pytest.raises(ParameterError, match=message):
        run(metric)


SMALL_GRADES = [  # and whether their mean and its deviation still have all digits
    (5e-324, False, False),
    (1e-310, False, False),
    (1e-200, True, False),
    (1e-150, True, False),
    (1e-140, True, True),
    (1e150, True, True),
    (1e200, True, False),
]


@pytest.mark.parametrize("metric", ["dcg@2", "ndcg@1", "dcg(gain=exp2)@2"])
@pytest.mark.parametrize(("grade", "has_mean", "has_deviation"), SMALL_GRADES)
def test_grades_that_underflow_have_no_deviation_and_smaller_ones_no_value(
    metric: str, grade: float, has_mean: bool, has_deviation: bool
):
    if "exp2" in metric and grade > 1:
        return  # refused
    rows = {"query": list("ppqq"), "item": list("abab"), "distance": [1] * 4}
    one, other = (
        evaluate(
            {**rows, "relevance": [scale, 0.0, 1.0, 0.0]},
            metrics=metric,
            policies="expected",
            truncated="no",
        )
        for scale in (grade, 1.0)
    )
    scale = 1.0 if metric.startswith("ndcg") else grade * (np.log(2) if "exp2" in metric else 1)
    value, std = one.select("value", "std").row(0)
    wanted = other.select("value", "std").row(0)
    assert value == (pytest.approx(wanted[0] * scale, rel=1e-12) if has_mean else None)
    assert std == (pytest.approx(wanted[1] * scale, rel=1e-12) if has_deviation else None)
    assert one.row(1) == other.row(1)  # the other list keeps its numbers
