from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from made_scores import within
from retrieval_report import ColumnError, evaluate, shuffled_means
from retrieval_report.analysis.comparison import compare
from retrieval_report.analysis.tie_chance import drawn_chance, normal_chance

SHUFFLES = 3000


def tied_rankings(queries: int, seed: int, items: int = 12) -> pl.DataFrame:
    """Two models that see the relevance through noise and round it to few distances."""
    draw = np.random.default_rng(seed)
    relevance = draw.integers(0, 2, size=(queries, items))
    parts = []
    for model, noise in (("rough", 2.5), ("rougher", 2.7)):
        distance = np.round(2 - relevance + noise * draw.normal(size=relevance.shape)).astype(int)
        parts.append(
            pl.DataFrame(
                {
                    "model": model,
                    "query": np.repeat(np.arange(queries), items),
                    "item": np.tile(np.arange(items), queries),
                    "distance": distance.ravel(),
                    "relevance": relevance.ravel(),
                }
            )
        )
    return pl.concat(parts)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_p_tie_is_the_share_of_shuffles_that_show_the_other_order(seed: int) -> None:
    rankings = tied_rankings(60, seed)
    scores = evaluate(rankings, metrics=("ap", "ndcg", "precision"), cutoffs=5, policies="expected")
    draws = shuffled_means(rankings, metrics=("ap", "ndcg", "precision"), cutoffs=5, shuffles=SHUFFLES, seed=99)
    wide = draws.pivot("model", index=["metric", "draw"], values="value")
    for row in compare(scores, resamples=99).iter_rows(named=True):
        assert row["p_tie_method"] == "normal"
        here = wide.filter(metric=row["metric"])
        sign = np.sign(row["difference"])
        ahead = (here["rough"] - here["rougher"]).to_numpy() * sign
        # Means of k / 5 are often equal: a normal distribution gives each order half of those draws.
        share = float((ahead < -1e-12).mean() + (np.abs(ahead) <= 1e-12).mean() / 2)
        assert abs(share - row["p_tie"]) < 0.01 + 4 * np.sqrt(share * (1 - share) / SHUFFLES)


def test_draws_are_used_where_few_queries_are_tied() -> None:
    rankings = tied_rankings(6, 3, items=6)
    options = {"metrics": "ap", "cutoffs": None}
    scores = evaluate(rankings, policies="expected", **options)  # type: ignore[arg-type]
    draws = shuffled_means(rankings, shuffles=SHUFFLES, seed=7, **options)  # type: ignore[arg-type]
    other = shuffled_means(rankings, shuffles=SHUFFLES, seed=8, **options)  # type: ignore[arg-type]
    row = compare(scores, draws=draws).row(0, named=True)
    assert row["p_tie_method"] == "shuffles"
    assert row["tied_queries"] <= 6
    ahead = other.filter(model="rough")["value"].to_numpy() - other.filter(model="rougher")["value"].to_numpy()
    assert 0 < row["p_tie"] < 1
    assert within(float((ahead * np.sign(row["difference"]) < -1e-12).mean()), row["p_tie"], SHUFFLES)
    assert compare(scores)["p_tie_method"].to_list() == ["normal"]


def test_draws_are_not_used_where_they_do_not_speak_of_the_pair() -> None:
    rankings = tied_rankings(6, 3, items=6)
    scores = evaluate(rankings, metrics="ap", cutoffs=None, policies="expected")
    draws = shuffled_means(rankings, metrics="ap", cutoffs=5, shuffles=9)
    assert compare(scores, draws=draws)["p_tie_method"].to_list() == ["normal"]
    many = tied_rankings(60, 0)
    scores = evaluate(many, metrics="ap", cutoffs=None, policies="expected")
    draws = shuffled_means(many, metrics="ap", cutoffs=None, shuffles=9)
    assert compare(scores, draws=draws)["p_tie_method"].to_list() == ["normal"]
    with pytest.raises(ColumnError, match="draws: no column 'draw'; expected what shuffled_means returns"):
        compare(scores, draws=draws.drop("draw"))


def test_normal_chance() -> None:
    chance = normal_chance(np.array([0.1, -0.1, 0.1, 0.0, 0.1]), np.array([0.1, 0.1, 0.0, 0.1, np.nan]))
    np.testing.assert_allclose(chance, [0.158655, 0.158655, 0.0, np.nan, np.nan], atol=1e-6)


def test_drawn_chance_counts_all_pairs_of_draws() -> None:
    draw = np.random.default_rng(1)
    leader, other = draw.integers(3, 9, size=40) / 10, draw.integers(1, 8, size=30) / 10
    expected = np.mean([one < two - 1e-9 for one in leader for two in other])
    assert drawn_chance(leader + 0.1 - 0.1, other) == pytest.approx(expected)
