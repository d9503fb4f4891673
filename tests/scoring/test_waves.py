"""Characteristic functions and closed forms of single lists, against what evaluate says of them and
against all their orders.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_reports import grid
from retrieval_report.contracts.options import Options
from retrieval_report.kernels.waves import Complex
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring import waves
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import Run
from retrieval_report.scoring.score_distribution import OrderScores, score_orders
from retrieval_report.scoring.waves import TiedList, tied_lists

SUMS = (
    *(
        "ap",
        "ap(denominator=min)",
        "wap",
        "ndcg",
        "ndcg(ideal=list)",
        "dcg",
        "acg",
    ),
    *("rbp", "err", "ap_at_r", "ndcg(gain=exp2,discount=reciprocal)"),
)


def made(queries: int, items: int, seed: int, *, grades: int = 3) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    size = queries, items
    relevance = random.integers(0, grades, size) * (random.random(size) < 0.5)
    rows = grid(distance=random.integers(0, 4, size), relevance=relevance)
    return rows.with_columns(model=pl.lit("m"))


def run_of(rankings: pl.DataFrame, metric: str, cutoff: int | None, **options: Any) -> Run:
    asked = Options(policies=("expected",), **options)
    return Run(
        lay_out(judge(rankings, None, None, asked), asked), parse_metrics(metric, cutoff), asked
    )


def orders(
    rankings: pl.DataFrame, metric: str, cutoff: int | None, **options: Any
) -> list[OrderScores]:
    return score_orders(run_of(rankings, metric, cutoff, **options))


def wave(one: TiedList, step: float, terms: int) -> Complex:
    assert one.wave is not None
    return one.wave(step, terms)


@settings(max_examples=40, deadline=None)
@given(
    metric=st.sampled_from(SUMS), seed=st.integers(0, 1000), cutoff=st.sampled_from([2, 4, None]),
    items=st.integers(1, 6),
)  # fmt: skip
def test_a_wave_is_all_orders(metric: str, seed: int, cutoff: int | None, items: int):
    rankings = made(1, items, seed).with_columns(
        pl.when(pl.col("item") == 0).then(1).otherwise("relevance").alias("relevance")
    )
    (own,) = orders(rankings, metric, cutoff)
    truth = np.exp(1j * np.outer(1.7 * np.arange(40), own.value)) @ own.chance
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(waves, "BLOCK", 1)
        patched.setattr(waves, "score_orders", lambda *_: [])
        (walked,) = tied_lists(run_of(rankings, metric, cutoff))
    np.testing.assert_allclose(wave(walked, 1.7, 40), truth, atol=1e-9)
    (known,) = tied_lists(run_of(rankings, metric, cutoff))
    np.testing.assert_allclose(wave(known, 1.7, 40), truth, atol=1e-9)


@pytest.mark.parametrize("metric", ["bpref", "ap(denominator=retrieved)"])
def test_metrics_that_are_no_sums_have_no_wave(metric: str):
    (one,) = tied_lists(run_of(made(1, 60, 5), metric, None))
    assert one.wave is None
    assert one.spread is None
