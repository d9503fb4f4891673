"""The judged share of the top k and RBP's residual, against plain recounts over all orders."""

import itertools

import numpy as np
import polars as pl
import pytest

from retrieval_report.lists import judgement_coverage


def recount(ties: list[list[bool]], k: int, p: float) -> tuple[list[float], list[float]]:
    """Share and residual in every order."""
    shares, residuals = [], []
    for parts in itertools.product(*(itertools.permutations(tie) for tie in ties)):
        flags = [flag for part in parts for flag in part][:k]
        shares.append(sum(flags) / len(flags))
        residuals.append(1 - sum((1 - p) * p**index for index, flag in enumerate(flags) if flag))
    return shares, residuals


@pytest.mark.parametrize("k", [1, 3, 4, 9])
def test_share_and_residual_are_those_of_all_orders(k: int) -> None:
    ties = [[True, False], [False, True, True], [False]]
    rows = [(f"{t}{n}", t, flag) for t, tie in enumerate(ties) for n, flag in enumerate(tie)]
    frame = pl.DataFrame(rows, schema=["item", "distance", "judged"], orient="row").with_columns(
        query=pl.lit("q")
    )
    judgements = frame.filter("judged").select("query", "item", relevance=pl.lit(0))
    scores = judgement_coverage(frame.drop("judged"), judgements, cutoffs=k, p=0.6, truncated="no")
    assert scores["policy"].to_list() == ["expected", "naive", "best", "worst"] * 2
    for metric, values in zip(
        ("judged", "rbp_residual(p=0.6)"), recount(ties, k, 0.6), strict=True
    ):
        own = dict(scores.filter(metric=metric).select("policy", "value").iter_rows())
        assert own["expected"] == pytest.approx(np.mean(values), rel=1e-12)
        assert (own["worst"], own["best"]) == (
            pytest.approx(min(values)),
            pytest.approx(max(values)),
        )
        assert own["naive"] == pytest.approx(values[0])
        std = scores.filter(metric=metric, policy="expected")["std"].item()
        assert std == pytest.approx(np.std(values), rel=1e-9, abs=1e-15)
