"""Plain arguments: NumPy's numbers are kept as Python's, and nothing else passes for a number."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from retrieval_report import AP, DCG, RBP, evaluate, summarise
from retrieval_report.contracts.arguments import as_list, check_whole, is_number, is_whole
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options
from retrieval_report.metrics.terms import exponential, warn_steep
from retrieval_report.reading.frames import to_polars

NO_NUMBERS: list[Any] = [
    *(None, np.True_, "1", 1j, math.nan, np.float32("inf"), 10**400, Decimal(1)),
    *(np.array(3), np.timedelta64(3, "s"), [1]),
]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:20])
def test_what_is_no_number(value: Any):
    assert not is_number(value)


def test_numbers_of_python_and_numpy():
    assert all(
        is_number(value) for value in (0, -2.5, np.float16(1), np.uint64(2**64 - 1), 10**300)
    )
    assert [is_whole(value) for value in (3, np.int8(3), 10**400, 3.0, np.float64(3))] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert type(check_whole("seed", np.uint8(7), 0)) is int
    with pytest.raises(ParameterError, match="decimals: 301 is not a whole number from 0 to 300"):
        check_whole("decimals", 301, 0, 300)


def test_options_keep_numbers_as_pythons():
    numbers: Any = {
        "relevant_from": np.float32(2),
        "distance_threshold": np.int64(-3),
        "seed": np.uint64(2**64 - 1),
    }
    options = Options(policies=np.array(["best", "best"]), **numbers)
    assert options.policies == ("best",)
    kept = (options.relevant_from, options.distance_threshold, options.seed)
    assert [(type(number), number) for number in kept] == [
        (float, 2.0),
        (int, -3),
        (int, 2**64 - 1),
    ]
    assert Options(distance_threshold=10**200).distance_threshold == 1e200
    assert RBP(p=np.float32(0.8)) != RBP()  # type: ignore[arg-type]


def test_an_error_inside_an_iterable_is_not_swallowed():
    def broken():
        yield "ap"
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        as_list(broken())


def test_gains_of_small_grades_keep_their_digits():
    whole = np.arange(1024.0)
    assert exponential(whole).tolist() == [2.0**grade - 1.0 for grade in range(1024)]
    tiny = np.array([1e-300, 1e-18, 1e-9])
    np.testing.assert_allclose(exponential(tiny), tiny * math.log(2), rtol=1e-9)
    around = np.array([0.5, np.nextafter(1, 0), 1.0, np.nextafter(1, 2), 1.5])
    assert (np.diff(exponential(around)) >= 0).all()
    np.testing.assert_allclose(exponential(around), 2**around - 1, rtol=1e-15)


def test_steep_gains_are_warned_of_where_they_are_taken():
    with pytest.warns(UserWarning, match="grades up to 40") as caught:
        warn_steep(
            [AP(), DCG(gain="exp2"), DCG(gain="exp2", discount="reciprocal")], np.array([0.0, 40.0])
        )
    assert [warning.filename for warning in caught] == [__file__]
    warn_steep([AP(), DCG()], np.array([0.0, 40.0]))
    warn_steep([DCG(gain="exp2")], np.array([]))


def test_gains_that_are_given_twice_or_cannot_be_told_apart():
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]})
    with pytest.raises(ParameterError, match="one gain per grade"):
        evaluate(frame, metrics="dcg(gain=1:1;1:2)")
    with pytest.raises(ParameterError, match="gain: "):
        DCG(gain=np.poly1d([1, 0]))  # hashing it fails
    with pytest.raises(
        ParameterError, match="gain: the function gave 'x', which is not an array of numbers"
    ):
        evaluate(frame, metrics=DCG(gain=lambda grades: "x"))


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_summaries_of_large_scores_are_exact(average: str):
    frame = pl.DataFrame(
        {
            "query": list("ppqqrrss"),
            "item": list("abababab"),
            "distance": [1, 2] * 4,
            "relevance": [1, 0, 0, 1] * 2,
        }
    )
    scores = evaluate(frame, metrics="rr", cutoffs=None, policies="expected").with_columns(
        metric=pl.lit("seconds")
    )
    huge = scores.with_columns(pl.col("value") * 2.0**500, pl.lit(2.0**500).alias("std"))
    queries = pl.DataFrame(
        {"query": list("pqrs"), "label": list("xxyy"), "weight": [1.0, 2.0, 1.0, 2.0]}
    )
    given: Any = {"queries": queries, "average": average}
    columns = ["value", "query_se", "ci_low"]
    found, plain = (summarise(some, **given).select(columns).row(0) for some in (huge, scores))
    assert found == tuple(number * 2.0**500 for number in plain)


def test_mixed_lists_are_float64_only_where_that_holds_every_number():
    mixed = to_polars({"distance": [None, 2**53, 0.5, np.float64("nan"), np.int8(1)]}, "rankings")[
        "distance"
    ]
    assert mixed.dtype == pl.Float64
    assert mixed[1] == 2**53
    with pytest.raises(ValueError, match="'distance' cannot be used"):
        to_polars({"distance": [2**53 + 1, 0.5]}, "rankings")
