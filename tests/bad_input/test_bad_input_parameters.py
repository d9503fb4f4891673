"""Rows 59 to 62, 70 and 71 of the table of bad input: arguments, and chance."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

from bad_input import one_list, rankings, scores, value
from catalogue_texts import TEXTS
from retrieval_report import AP, DCG, NDCG, Metric, evaluate, shuffled_means
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.lists import query_weights

NO_CUTOFFS = [
    *(
        0,
        -1,
        2.5,
        2.0,
        True,
        False,
        "5",
        "",
        "five",
        b"5",
        "nan",
        float("inf"),
        1j,
        Decimal(2),
        Fraction(2),
    ),
    *(
        *(math.nan, np.float32("nan"), [1, math.nan]),
        np.float64(3),
        np.True_,
        np.array([1.0]),
        np.array(3),
        np.array([True]),
        object(),
        [[1]],
        [1, None, 0],
        slice(2),
    ),
]


@pytest.mark.parametrize("cutoffs", NO_CUTOFFS)
def test_row_059_cutoffs_that_are_no_whole_numbers(cutoffs: Any):
    with pytest.raises(
        ParameterError, match=r"cutoffs: .* is not a whole number from 1 on, None or 'all'"
    ):
        evaluate(rankings(), cutoffs=cutoffs)
    with pytest.raises(ParameterError, match="cutoffs"):
        shuffled_means(rankings(), cutoffs=cutoffs)


@pytest.mark.parametrize("integer", [np.int8, np.uint64])
def test_row_059_numpy_integers(integer: Any):
    frame = one_list([1, 2], [1, 0])
    for cutoffs in (integer(2), [integer(2)]):
        assert scores(frame, "precision", cutoffs) == [0.5]
    assert scores(frame, "precision", np.array([1, 2], dtype=integer)) == [1.0, 0.5]


@pytest.mark.parametrize("missing", [None, "all", pd.NA, pd.NaT])
def test_row_059_what_pandas_makes_of_no_cutoff_is_the_whole_list(missing: Any):
    frame = one_list([1, 2], [1, 0])
    assert scores(frame, "precision", missing) == scores(frame, "precision", [missing]) == [0.5]
    assert scores(frame, "precision", [1, missing, None]) == [1.0, 0.5]


def test_row_059_the_whole_list_and_other_iterables():
    frame = one_list([1, 2, 3], [1, 0, 1])
    for whole in (None, "all", [None], ["all", None]):
        assert scores(frame, "precision", whole) == pytest.approx([2 / 3])
    for some in (
        range(1, 3),
        (k for k in (1, 2)),
        iter([1, 2]),
        pl.Series([1, 2]),
        pd.Series([1, 2]),
        {1: 0, 2: 0},
    ):
        assert scores(frame, "precision", some) == [1.0, 0.5]
    with pytest.raises(ParameterError, match="cutoffs: none given"):
        evaluate(frame, cutoffs=[])


def test_row_060_cutoff_beyond_the_list():
    frame = one_list([1, 1, 2], [1, 0, 1])
    short = evaluate(frame, metrics=TEXTS, cutoffs=3, policies="expected")
    far = evaluate(frame, metrics=TEXTS, cutoffs=12, policies="expected")
    ratio = dict(zip(short["metric"], far["value"] / short["value"], strict=True))
    for metric in ("precision", "acg", "ap(denominator=k)", "wap(denominator=k)"):  # divide by k
        assert ratio.pop(metric) == pytest.approx(3 / 12, rel=1e-12)
    assert ratio.pop("f1") == pytest.approx((3 + 2) / (12 + 2), rel=1e-12)
    assert list(ratio.values()) == pytest.approx([1.0] * len(ratio), rel=1e-12)
    assert value(frame, "precision(denominator=retrieved)", 12) == pytest.approx(2 / 3, rel=1e-12)


@pytest.mark.parametrize("metrics", [5, AP, [AP], [None], Metric(), [Metric()]])
def test_row_062_what_is_no_metric(metrics: Any):
    for call in (evaluate, shuffled_means, query_weights):
        with pytest.raises(ParameterError, match="measures: "):
            call(rankings(), metrics=metrics)


@pytest.mark.parametrize("make", [DCG, NDCG])
@pytest.mark.parametrize("gain", [None, [0, 1], {"a": 1}, {0: "x"}, {}])
def test_row_062_gains_that_are_no_gains(make: type[DCG], gain: Any):
    with pytest.raises(ParameterError, match="gain"):
        evaluate(rankings(), metrics=make(gain=gain))


@pytest.mark.parametrize(
    "function",
    [lambda x: x * np.nan, lambda x: -x, lambda x: x[:1], lambda x: None],
)
def test_row_062_gain_functions_that_give_no_gains(function: Any):
    with pytest.raises(ParameterError, match="gain"):
        evaluate(rankings(), metrics=DCG(gain=function))


@pytest.mark.parametrize(
    "discount",
    [None, [1, 0.5], np.array([1, 0.5]), "log", lambda rank: rank],
)
def test_row_062_discounts_that_are_no_discounts(discount: Any):
    with pytest.raises(ParameterError, match="discount"):
        evaluate(rankings(), metrics=DCG(discount=discount))


@pytest.mark.parametrize("policies", [None, ["Expected"], "", [["best"]]])
def test_row_062_what_is_no_policy(policies: Any):
    with pytest.raises(ParameterError, match="policies"):
        evaluate(rankings(), policies=policies)


def test_row_062_numpy_scalars_are_numbers():
    frame = one_list([1, 2, 3], [1, 2, 0])
    for one in (np.int64(2), np.float32(2)):
        assert scores(frame, "recall", relevant_from=one) == [1.0]
        assert value(frame, "rr", distance_threshold=one) == 1.0
    others: Any = {"decimals": np.int64(1), "threads": np.int32(1), "seed": np.int64(7)}
    assert value(frame, "rr", **others, shuffles=np.int8(2)) == 1.0


GOLDEN_DRAWS = [0.25, 1.0, 1.0, 1 / 3, 1.0, 1.0, 0.5, 0.5]
GOLDEN_INTEGER_DRAWS = [1.0, 0.2, 0.5, 1.0, 0.2, 0.5, 1.0, 1 / 3]


def test_row_070_draws_are_the_same_everywhere_and_always():
    frame = one_list([1] * 6, [1, 0, 0, 0, 0, 1])

    def draws(frame: pl.DataFrame, **asked: Any):
        return shuffled_means(frame, metrics="rr", cutoffs=None, **asked)["value"].to_list()

    assert draws(frame, shuffles=8) == GOLDEN_DRAWS
    assert draws(frame, shuffles=3) == GOLDEN_DRAWS[:3]
    assert draws(frame, shuffles=8, seed=1) != GOLDEN_DRAWS
    for dtype in (pl.Int8, pl.UInt64, pl.Int128):
        numbered = frame.with_columns(query=pl.lit(7).cast(dtype))
        assert draws(numbered, shuffles=8) == GOLDEN_INTEGER_DRAWS


@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), np.uint64(5)])
def test_row_070_numpy_seeds(seed: Any):
    given = {"metrics": "rr", "cutoffs": None, "policies": "shuffled", "shuffles": 5}
    assert scores(rankings(), seed=seed, **given) == scores(rankings(), seed=5, **given)


def test_row_071_one_shuffle_has_no_spread():
    found = evaluate(
        one_list([1, 1], [1, 0]), metrics="rr", cutoffs=1, policies="shuffled", shuffles=1
    )
    assert found["value"].item() in (0.0, 1.0)
    assert found["std"].item() is None
