from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from retrieval_report import ColumnError, KeyMismatchError, evaluate, summarise
from retrieval_report.ties.rounding import ROUNDING_EFFECT, rounding_effect

# Rounded to whole numbers, "close" ties its relevant item with another and loses the lead; "far" is
# whole already.
RANKINGS = pl.DataFrame(
    {
        "model": ["close"] * 3 + ["far"] * 3,
        "query": ["q"] * 6,
        "item": list("abc") * 2,
        "distance": [0.8, 1.2, 5.0, 1.0, 3.0, 2.0],
        "relevance": [1, 0, 0] * 2,
    }
)
ASKED: dict[str, Any] = {"metrics": ("rr", "precision"), "cutoffs": (1, None)}


def summary(
    decimals: int | None = None, rankings: pl.DataFrame = RANKINGS, **options: Any
) -> pl.DataFrame:
    return summarise(evaluate(rankings, decimals=decimals, **{**ASKED, **options}))


def test_scores_stand_beside_each_other() -> None:
    frame = rounding_effect(summary(), summary(0))
    assert dict(frame.schema) == {name: dtype() for name, dtype in ROUNDING_EFFECT.items()}
    assert frame.select("metric", "cutoff").unique(maintain_order=True).rows() == [
        ("rr", 1),
        ("rr", None),
        ("precision", 1),
        ("precision", None),
    ]
    close = frame.row(
        by_predicate=(pl.col("model") == "close")
        & (pl.col("metric") == "rr")
        & (pl.col("cutoff") == 1)
    )
    assert close[3:] == (1.0, 0.5, -0.5, 0.0, 0.5, 1, 2)
    far = frame.row(
        by_predicate=(pl.col("model") == "far")
        & (pl.col("metric") == "rr")
        & (pl.col("cutoff") == 1)
    )
    assert far[3:] == (1.0, 1.0, 0.0, 0.0, 0.0, 1, 1)


def test_rows_of_a_measure_stay_together() -> None:
    last = (
        pl.when((pl.col("model") == "far") & (pl.col("item") == "a"))
        .then(9.0)
        .otherwise("distance")
    )
    apart = RANKINGS.with_columns(distance=last)
    frame = rounding_effect(
        summary(rankings=apart, cutoffs=1), summary(0, rankings=apart, cutoffs=1)
    )
    assert frame.select("metric", "model", "rank").rows() == [
        ("rr", "close", 1),
        ("rr", "far", 2),
        ("precision", "close", 1),
        ("precision", "far", 2),
    ]


def test_the_best_comes_first_and_what_did_not_move_changed_by_nothing() -> None:
    worse = RANKINGS.with_columns(relevance=pl.when(pl.col("item") == "b").then(1).otherwise(0))
    rows = rounding_effect(summary(rankings=worse), summary(3, rankings=worse)).filter(
        pl.col("metric") == "rr"
    )
    whole = rows.filter(pl.col("cutoff").is_null())
    assert whole["model"].to_list() == ["close", "far"]
    assert whole["value"].to_list() == [0.5, 1 / 3]
    assert whole["change"].to_list() == [0.0, 0.0]
    assert whole.select("rank", "rank_rounded").rows() == [(1, 1), (2, 2)]


def test_the_tie_std_is_that_of_the_mean() -> None:
    both = pl.concat([RANKINGS, RANKINGS.with_columns(query=pl.lit("r"))])
    frame = rounding_effect(summary(rankings=both), summary(0, rankings=both))
    close = frame.filter(
        (pl.col("model") == "close") & (pl.col("metric") == "rr") & (pl.col("cutoff") == 1)
    )
    assert close["tie_std_rounded"].to_list() == [pytest.approx(0.5 / 2**0.5)]


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(KeyMismatchError, match="rounded: models, metrics or cutoffs differ"):
        rounding_effect(summary(), summary(0, cutoffs=1))
    with pytest.raises(KeyMismatchError):
        rounding_effect(summary(rankings=RANKINGS.filter(model="far")), summary(0))
    with pytest.raises(ColumnError, match="summary: no row of policy 'expected'"):
        rounding_effect(summary(policies="naive"), summary(0))
