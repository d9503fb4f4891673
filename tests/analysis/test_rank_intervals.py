"""Ranks under tie order, under sampling of queries, and both; and the leaderboard made of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import retrieval_report as rr
from made_scores import bounded_scores, scores_of, within
from real_data import adhoc
from retrieval_report.analysis.rank_intervals import resampled_means
from retrieval_report.analysis.tukey import range_draws

VALUES = {"a": [0.8, 0.2, 0.6], "b": [0.3, 0.7, 0.5], "c": [0.1, 0.1, 0.2]}
TIED = {"a": [0.1, 0.0, 0.2], "b": [0.0, 0.1, 0.0], "c": [0.0, 0.0, 0.0]}


def by_model(ranks: pl.DataFrame, source: str) -> dict[str, tuple[int, int]]:
    rows = ranks.filter(source=source)
    return {model: (low, high) for model, low, high in rows.select("model", "rank_low", "rank_high").iter_rows()}


def test_samples_of_queries_are_all_that_there_are() -> None:
    """All 27 samples of three queries by hand, a and b level in some."""
    values = np.array(list(VALUES.values()))
    samples = [values[:, list(queries)].mean(axis=1) for queries in product(range(3), repeat=3)]
    first = np.mean([np.isclose(means, means.max()) for means in samples], axis=0)
    ranks = rr.stats.rank_intervals(scores_of(VALUES), sources="queries", resamples=40_000).sort("model")
    for seen, expected in zip(ranks["first_share"], first, strict=True):
        assert within(seen, float(expected), 40_000)
    assert by_model(ranks, "queries") == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert set(ranks["method"]) == {"bootstrap"}


def test_ties_alone_by_their_moments() -> None:
    ranks = rr.stats.rank_intervals(scores_of(VALUES, stds=TIED), sources="ties", resamples=40_000)
    lead = (np.sum(VALUES["a"]) - np.sum(VALUES["b"])) / np.sqrt(0.1**2 + 0.2**2 + 0.1**2)
    shares = dict(ranks.select("model", "first_share").iter_rows())
    assert within(shares["a"], float(stats.norm.cdf(lead)), 40_000)
    assert within(shares["b"], float(stats.norm.sf(lead)), 40_000)
    assert by_model(ranks, "ties") == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert set(ranks["method"]) == {"normal"}


def test_without_ties_ranks_are_exact_whatever_the_queries() -> None:
    ranks = rr.stats.rank_intervals(scores_of(VALUES))
    assert by_model(ranks, "ties") == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
    assert set(ranks.filter(source="ties")["method"]) == {"exact"}
    assert by_model(ranks, "queries")["a"] == (1, 2)


def test_ties_leave_samples_of_queries_alone() -> None:
    plain, tied = (rr.stats.rank_intervals(scores_of(VALUES, stds=stds), sources="queries") for stds in (None, TIED))
    assert plain.equals(tied)


def test_both_is_wider_than_either() -> None:
    generator = np.random.default_rng(2)
    values = {f"m{row}": (0.5 + 0.02 * row + 0.1 * generator.random(20)).tolist() for row in range(6)}
    stds = {name: [0.1] * 20 for name in values}
    ranks = rr.stats.rank_intervals(scores_of(values, stds=stds), sources=("ties", "queries", "both"))
    width = {
        source: int(ranks.filter(source=source).select(pl.col("rank_high") - pl.col("rank_low")).sum().item())
        for source in ("ties", "queries", "both")
    }
    assert width["both"] >= max(width["ties"], width["queries"]) > 0
    assert set(ranks.filter(source="both")["method"]) == {"normal+bootstrap"}


def test_variance_of_both_is_the_sum() -> None:
    values, std = np.random.default_rng(0).random((1, 30)), np.full((1, 30), 0.3)
    plain, both = (np.concatenate(list(resampled_means(values, 40_000, 1, spread))).var() for spread in (None, std))
    assert plain == pytest.approx(values.var() / 30, rel=0.03)
    assert both == pytest.approx(values.var() / 30 + 0.09 / 30, rel=0.03)


def test_draws_are_counted_where_they_are_given() -> None:
    rankings = pl.DataFrame(
        {
            "model": ["coarse"] * 8 + ["fine"] * 8,
            "query": list("ppqqrrss") * 2,
            "item": list("xy") * 8,
            "distance": [1] * 8 + [1, 2] * 3 + [2, 1],
            "relevance": [1, 0] * 8,
        }
    )
    asked = {"metrics": "rr", "cutoffs": None}
    scores = rr.evaluate(rankings, **asked, policies="expected")  # type: ignore[arg-type]
    means = rr.shuffled_means(rankings, **asked, shuffles=4_000)  # type: ignore[arg-type]
    ranks = rr.stats.rank_intervals(scores, sources="ties", shuffled=means)
    shares = dict(ranks.select("model", "first_share").iter_rows())
    # Of 16 orders of four ties one puts coarse ahead, four leave both level.
    assert within(shares["coarse"], 5 / 16, 4_000)
    assert within(shares["fine"], 15 / 16, 4_000)
    assert set(ranks["method"]) == {"draws"}
    with pytest.raises(rr.KeyMismatchError, match=r"lacks draws of some model at rr@all"):
        rr.stats.rank_intervals(scores, sources="ties", shuffled=means.filter(model="fine"))


def test_draws_over_other_queries_are_not_counted() -> None:
    """Of the shared queries, "tied" is ahead in every order; its four other queries have nothing relevant on top."""
    shared, own = ["p", "q"], ["r", "s", "t", "u"]
    lists = [("tied", query, (1, 1, 2, 3)) for query in shared] + [("tied", query, (9, 1, 2, 3)) for query in own]
    lists += [("third", query, (3, 1, 2, 4)) for query in shared]
    rows = [
        (model, query, item, distance, int(item == "w"))
        for model, query, distances in lists
        for item, distance in zip("wxyz", distances, strict=True)
    ]
    names = ["model", "query", "item", "distance", "relevance"]
    study = rr.Study(pl.DataFrame(rows, names, orient="row"), "rr@3", missing_query="skip", shuffles=50, truncated="no")
    columns = ["model", "rank", "tie_rank_low", "tie_rank_high", "queries", "unpaired"]
    assert study.board.select(columns).rows() == [("tied", 1, 1, 1, 2, 4), ("third", 2, 2, 2, 2, 4)]
    assert study.board.equals(rr.leaderboard(study.scores, policies="expected"))
    ranks = rr.stats.rank_intervals(study.scores, sources="ties", policies="expected", shuffled=study.draws)
    assert set(ranks["method"]) == {"normal"}


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
def test_queries_that_are_all_left_out_leave_no_ranks() -> None:
    rows = {"query": ["q"] * 2, "item": list("xy"), "distance": [1, 1], "relevance": [0, 0]}
    study = rr.Study({"a": rows, "b": rows}, "rr@1", no_relevant="skip", shuffles=3, truncated="no")
    assert study.status == "no score"
    assert study.board.select("model", "rank", "tie_rank_low", "queries").rows() == [
        ("a", None, None, 0),
        ("b", None, None, 0),
    ]
    assert study.deciding.is_empty()


def test_a_policy_without_tie_spread_says_nothing_of_ties() -> None:
    ranks = rr.stats.rank_intervals(scores_of(VALUES, policy="naive"), sources=("ties", "queries", "both"))
    assert ranks.filter(pl.col("source") != "queries")["rank_low"].null_count() == 6
    assert ranks.filter(source="queries")["rank_low"].null_count() == 0


def test_level_models_share_the_better_rank() -> None:
    ranks = rr.stats.rank_intervals(scores_of({"a": [0.3, 0.1], "b": [0.1, 0.3], "c": [0.0, 0.0]}), sources="ties")
    assert dict(ranks.select("model", "rank").iter_rows()) == {"a": 1, "b": 1, "c": 3}
    assert by_model(ranks, "ties") == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}


@pytest.mark.parametrize("scale", [1, 1e4, 1e8])
@pytest.mark.parametrize("test", ["holm", "tukey"])
def test_the_same_scores_in_another_order_share_a_rank(scale: float, test: str) -> None:
    for seed in range(10):
        random = np.random.default_rng(seed)
        values = random.random(5) * scale
        scores = scores_of({name: random.permutation(values) for name in "abc"}, metric="dcg")
        board = rr.leaderboard(scores, test=test, resamples=99)
        ranks = board.select("model", "rank", "tie_rank_low", "tie_rank_high")
        assert ranks.rows() == [("a", 1, 1, 3), ("b", 1, 1, 3), ("c", 1, 1, 3)]
        assert set(rr.flips(rr.summarise(scores))["verdict"]) == {"equal"}


def test_nothing_shared() -> None:
    scores = scores_of({"a": [0.5, None], "b": [None, 0.5]})
    ranks = rr.stats.rank_intervals(scores)
    assert ranks["rank_low"].to_list() == ranks["value"].to_list() == [None] * 4
    board = rr.leaderboard(scores, test="tukey")
    assert board.select("queries", "unpaired").rows() == [(0, 2)] * 2


@pytest.mark.parametrize("wrong", [{"sources": "tie"}, {"sources": ()}, {"confidence": 2}, {"resamples": 0}])
def test_wrong_arguments(wrong: dict[str, object]) -> None:
    with pytest.raises(rr.ParameterError, match=next(iter(wrong))):
        rr.stats.rank_intervals(scores_of(VALUES), **wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_bootstrap_of_runs_125_and_126_of_ad_hoc_8_is_the_published_one() -> None:
    """Urbano, Lima and Hanjalic (SIGIR 2019): the shifted bootstrap gives 0.000586 at 10⁶ draws, two-sided."""
    values = adhoc(8)[124:126]
    difference = values[:1] - values[1:]
    means = np.concatenate(list(resampled_means(difference, 1_000_000, 0)))[:, 0]
    assert within(float((np.abs(means - means.mean()) >= abs(difference.mean())).mean()), 0.000586, 500_000)


def board_of(models: int, **settings: object) -> pl.DataFrame:
    generator = np.random.default_rng(1)
    values = generator.random((models, 25)) * 0.4 + np.linspace(0.5, 0.2, models)[:, None]
    scores = scores_of({f"m{row:02}": values[row] for row in range(models)})
    return rr.leaderboard(scores, **settings)  # type: ignore[arg-type]


def test_the_leaderboard_holds_what_its_parts_say() -> None:
    scores = bounded_scores(
        {name: (column, column, np.array(column) - 0.1, np.array(column) + 0.1) for name, column in VALUES.items()}
    )
    board = rr.leaderboard(scores, policies="expected")
    assert board["model"].to_list() == ["a", "b", "c"]
    summary = rr.summarise(scores).filter(policy="expected")
    for name in ("value", "lowest", "highest", "ci_low", "ci_high", "tie_std", "queries"):
        assert board.sort("model")[name].to_list() == summary.sort("model")[name].to_list()
    ranks = rr.stats.rank_intervals(scores, policies="expected")
    assert list(zip(board["tie_rank_low"], board["tie_rank_high"], strict=True)) == list(
        by_model(ranks, "ties").values()
    )
    assert list(zip(board["query_rank_low"], board["query_rank_high"], strict=True)) == list(
        by_model(ranks, "queries").values()
    )


@pytest.mark.parametrize("test", ["holm", "tukey", "max-t"])
def test_letters_of_the_leaderboard_are_those_of_the_pairs(test: str) -> None:
    generator = np.random.default_rng(1)
    values = generator.random((12, 25)) * 0.4 + np.linspace(0.6, 0.2, 12)[:, None]
    scores = scores_of({f"m{row:02}": values[row] for row in range(12)})
    pairs = rr.compare(scores, correction="holm") if test == "holm" else rr.stats.compare_many(scores, test=test)
    letters = rr.stats.compact_letters(pairs, p="family_p")
    board = rr.leaderboard(scores, test=test)
    assert board.select("model", "letters").equals(letters.select("model", "letters"))
    if test == "tukey":
        honest = board["honest_difference"][0]
        told = pairs.filter(pl.col("family_p") < 0.05)["difference"].min()
        kept = pairs.filter(pl.col("family_p") >= 0.05)["difference"].max()
        assert float(str(kept)) <= honest < float(str(told))


@pytest.mark.parametrize("resamples", [18, 19, 20, 99, 100, 101])
def test_the_honest_difference_is_the_largest_that_is_not_significant(resamples: int) -> None:
    values = np.random.default_rng(3).random((4, 12))
    [honest] = rr.leaderboard(scores_of(dict(zip("abcd", values, strict=True))), test="tukey", resamples=resamples)[
        "honest_difference"
    ].unique()
    draws = range_draws(values, resamples, 0)
    kept = [float(draw) for draw in draws if (np.sum(draws >= draw) + 1) / (resamples + 1) >= 0.05]
    assert honest == (max(kept) if 1 / (resamples + 1) < 0.05 else None)


def test_which_test_draws_the_tiers() -> None:
    assert board_of(9)["honest_difference"].null_count() == 9
    assert board_of(10)["honest_difference"].null_count() == 0
    assert board_of(9, test="tukey")["honest_difference"].null_count() == 0
    assert board_of(1)["letters"].to_list() == ["a"]
    assert rr.leaderboard(scores_of({"a": []})).height == 0
    with pytest.raises(rr.ParameterError, match="test: 'hsd'"):
        board_of(3, test="hsd")


def test_queries_that_a_model_lacks_are_left_out_for_all() -> None:
    values = {name: [*column, 0.9] for name, column in VALUES.items()}
    values["c"][3] = None  # type: ignore[call-overload]
    board = rr.leaderboard(scores_of(values))
    assert board["value"].to_list() == rr.leaderboard(scores_of(VALUES))["value"].to_list()
    assert board.select("queries", "unpaired").rows() == [(3, 1)] * 3
