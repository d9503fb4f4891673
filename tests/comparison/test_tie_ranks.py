"""Ranks under tie order, and the leaderboard that they are part of."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import retrieval_report as rr
from made_scores import bounded_scores, scores_of

VALUES = {"a": [0.8, 0.2, 0.6], "b": [0.3, 0.7, 0.5], "c": [0.1, 0.1, 0.2]}
TIED = {"a": [0.1, 0.0, 0.2], "b": [0.0, 0.1, 0.0], "c": [0.0, 0.0, 0.0]}


def by_model(ranks: pl.DataFrame) -> dict[str, tuple[int, int]]:
    return {
        model: (low, high)
        for model, low, high in ranks.select("model", "rank_low", "rank_high").iter_rows()
    }


def test_ties_alone_by_their_moments():
    scores = scores_of(VALUES, stds=TIED)
    ranks = rr.stats.tie_ranks(scores, resamples=40_000)
    lead = (np.sum(VALUES["a"]) - np.sum(VALUES["b"])) / np.sqrt(0.1**2 + 0.2**2 + 0.1**2)
    ahead = float(stats.norm.cdf(lead))  # how often "a" is first, and "b" second
    for tail, expected in (
        (1.9 * (1 - ahead), {"a": (1, 2), "b": (1, 2)}),
        (2.1 * (1 - ahead), {"a": (1, 1), "b": (2, 2)}),
    ):
        found = rr.stats.tie_ranks(
            scores_of(VALUES, stds=TIED), resamples=40_000, confidence=1 - tail
        )
        assert by_model(found) == {**expected, "c": (3, 3)}
    assert by_model(ranks) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert set(ranks["method"]) == {"normal"}


@pytest.mark.parametrize(("scale", "correction"), [(1, "holm"), (1e8, "max-t")])
def test_the_same_scores_in_another_order_share_a_rank(scale: float, correction: str):
    for seed in range(2):
        random = np.random.default_rng(seed)
        values = random.random(5) * scale
        scores = scores_of({name: random.permutation(values) for name in "abc"}, metric="dcg")
        board = rr.leaderboard(scores, correction=correction, resamples=99)
        ranks = board.select("model", "rank", "tie_rank_low", "tie_rank_high")
        assert ranks.rows() == [("a", 1, 1, 1), ("b", 1, 1, 1), ("c", 1, 1, 1)]
        assert set(rr.flips(rr.summarise(scores))["verdict"]) == {"equal"}


def test_a_cut_list_counts_by_its_bounds_and_the_others_as_they_are():
    """One of four lists of "b" may score anything; all of its lists in their worst order, or those
    of "a" in their best, would meet the other.
    """
    ahead, behind = [0.8] * 4, [0.4] * 4
    scores = bounded_scores(
        {"a": (ahead, ahead, [0.0] * 4, [1.0] * 4), "b": (behind, behind, [0.0] * 4, [1.0] * 4)}
    )
    first = (pl.col("model") == "b") & (pl.col("query") == scores["query"][0])
    std = pl.when(pl.col("policy") == "expected").then(pl.when(first).then(None).otherwise(0.01))
    cut = scores.with_columns(std=std, truncated=first)
    found = rr.stats.tie_ranks(cut, policies="expected")
    assert by_model(found) == {"a": (1, 1), "b": (2, 2)}
    assert found["method"].to_list() == ["normal", "bounds"]


CUT = {  # means, and the bounds of those whose lists are cut
    "a": (0.9, None),
    "b": (0.7, (0.6, 0.8)),
    "c": (0.65, None),
    "d": (0.5, (0.45, 0.7)),
    "e": (0.3, None),
}


def cut_scores() -> pl.DataFrame:
    rows = {model: [mean] * 3 for model, (mean, _) in CUT.items()}
    ends = {
        model: (mean, mean) if bounds is None else bounds for model, (mean, bounds) in CUT.items()
    }
    scores = bounded_scores(
        {
            model: (rows[model], rows[model], [low] * 3, [high] * 3)
            for model, (low, high) in ends.items()
        }
    )
    cut = pl.col("model").is_in(["b", "d"])
    known = pl.when(pl.col("policy") == "expected").then(pl.when(~cut).then(0.0))
    return scores.with_columns(truncated=cut & (pl.col("query") == "q00000"), std=known)


def test_models_whose_lists_are_cut_leave_the_others_their_ranks():
    ranks = rr.stats.tie_ranks(cut_scores(), policies="expected")
    assert by_model(ranks) == {"a": (1, 1), "b": (2, 4), "c": (2, 4), "d": (2, 4), "e": (5, 5)}
    methods = dict(ranks.select("model", "method").iter_rows())
    assert methods == {"a": "exact", "b": "bounds", "c": "exact", "d": "bounds", "e": "exact"}
