"""The three scores side by side: what single random orders print, and who wins in them."""

from itertools import permutations
from math import comb
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from made_reports import grid, lettered

ORDERS = 1500


def tied(models: int, queries: int, items: int, values: int, seed: int = 0) -> pl.DataFrame:
    """Rankings in which distances have few values, all models with the same judgements."""
    generator = np.random.default_rng(seed)
    relevance = generator.choice([0, 0, 0, 1, 2], (queries, items))
    distances = generator.integers(0, values, (models, queries, items))
    return pl.concat(
        grid(distance=distance, relevance=relevance).with_columns(model=pl.lit(f"m{number}"))
        for number, distance in enumerate(distances)
    )


@pytest.mark.slow
@pytest.mark.parametrize("queries", [3, 60])
@pytest.mark.parametrize("measure", ["precision@4", "ndcg@5"])
def test_drawn_orders_agree_with_the_exact_mean_deviation_and_percentiles(
    measure: str, queries: int
):
    study = rr.Study(tied(2, queries, 12, 4), measure, truncated="no", shuffles=ORDERS)
    for row in study.three_scores.iter_rows(named=True):
        drawn = study.shuffled.filter(model=row["model"])["value"].to_numpy()
        assert row["orders"] == drawn.size == ORDERS
        assert row["first_order"] == drawn[0]
        assert row["shuffled"] == pytest.approx(drawn.mean(), abs=1e-12)
        assert row["shuffled_std"] == pytest.approx(drawn.std(ddof=1), abs=1e-12)
        assert abs(row["expected"] - row["shuffled"]) < 5 * row["tie_std"] / ORDERS**0.5
        assert row["shuffled_std"] == pytest.approx(row["tie_std"], rel=0.12)
        slack = 0.05 * row["tie_std"]
        # Four standard errors of a share of 5 %, and what a normal distribution leaves open.
        allowed = 4 * (0.05 * 0.95 / ORDERS) ** 0.5 + (
            0.0 if row["order_method"] == "exact" else 0.02
        )
        assert (drawn < row["order_low"] - slack).mean() <= 0.05 + allowed
        assert (drawn <= row["order_low"] + slack).mean() >= 0.05 - allowed
        assert (drawn > row["order_high"] + slack).mean() <= 0.05 + allowed
        assert (drawn >= row["order_high"] - slack).mean() >= 0.05 - allowed


def test_few_lists_have_exact_percentiles_and_many_normal_ones():
    few = rr.Study(tied(2, 3, 8, 3), "rr", truncated="no").three_scores
    many = rr.Study(tied(2, 60, 8, 3), "rr", truncated="no").three_scores
    cut = rr.Study(tied(2, 60, 8, 3), "ap", truncated="within_tie").three_scores
    assert [set(one["order_method"]) for one in (few, many, cut)] == [
        {"exact"},
        {"normal"},
        {"normal"},
    ]
    # One random order prints the mean of the items given, whatever was cut off behind them.
    ends = ["order_low", "order_high"]
    whole = rr.Study(tied(2, 60, 8, 3), "ap", truncated="no").three_scores
    assert cut["tie_std"].null_count() == 2
    assert cut.select(ends).to_numpy() == pytest.approx(whole.select(ends).to_numpy())
    reach = NormalDist().inv_cdf(0.95) * many["tie_std"]
    for column, end in (("order_low", -reach), ("order_high", reach)):
        assert many[column].to_list() == pytest.approx((many["expected"] + end).to_list())


def coins(queries: int, fixed: int, first: int, ties: int, measure: str) -> rr.Study:
    """Two models on lists of one relevant item and another: "fixed" has the relevant one first in
    some of the queries, and "tied" in fewer, while it tosses a coin in others.
    """

    def lists(first: int, ties: int) -> dict[str, dict[str, float]]:
        scores = [1.0] * ties + [2.0] * first + [0.0] * (queries - ties - first)
        return {f"q{number}": {"hit": score, "miss": 1.0} for number, score in enumerate(scores)}

    # Of two models that can come first, the pair would be compared instead; the third comes first
    # if 21 coins fall alike.
    models = {"fixed": lists(fixed, 0), "tied": lists(first, ties), "third": lists(fixed - 20, 21)}
    judgements = {query: {"hit": 1} for query in models["fixed"]}
    return rr.Study(models, measure, judgements=judgements, truncated="no")


# 21 of the 40 coins make the two level: no normal distribution says that. 605 of the 1 200 do: a
# smooth distribution takes half of that chance for level, and misses by .011.
@pytest.mark.parametrize(
    ("given", "method", "near", "ends"),
    [
        ((100, 55, 34, 40), "exact", 1e-12, (49, 59)),
        ((1500, 755, 150, 1200), "normal", 2e-4, (722, 778)),
    ],
)
@pytest.mark.parametrize("measure", ["precision@1", "hit_rate@1", "recall@1"])
def test_level_means_of_many_lists_count_as_agreeing(
    measure: str, given: tuple[int, ...], method: str, near: float, ends: tuple[int, int]
):
    queries, fixed, first, tosses = given
    study = coins(queries, fixed, first, tosses, measure)
    found = study.winners.row(0, named=True)
    assert (found["winner"], found["agreeing_method"]) == ("fixed", method)
    up_to_level = sum(comb(tosses, heads) for heads in range(fixed - first + 1)) / 2**tosses
    assert found["agreeing_chance"] == pytest.approx(up_to_level * (1 - 2**-21), abs=near)
    percentiles = study.three_scores.filter(model="tied").select("order_low", "order_high")
    assert percentiles.row(0) == pytest.approx([end / queries for end in ends], abs=1e-12)


def test_percentiles_are_those_of_all_orders_of_a_list():
    relevance = [2, 0, 1, 0, 0]
    frame = {
        "query": ["q"] * 5,
        "item": list("abcde"),
        "distance": [1] * 5,
        "relevance": relevance,
    }
    study = rr.Study(frame, "ndcg", truncated="no")
    weight = 1 / np.log2(np.arange(2, 7))
    gains = [float(grade) for grade in relevance]
    best = np.dot(sorted(gains, reverse=True), weight)
    every = np.sort([np.dot(order, weight) / best for order in permutations(gains)])
    row = study.three_scores.row(0, named=True)
    for name, share in (("order_low", 0.05), ("order_high", 0.95)):
        reached = np.arange(1, every.size + 1) / every.size
        assert row[name] == pytest.approx(every[np.argmax(reached >= share - 1e-12)])
    assert row["order_method"] == "exact"


def test_agreeing_orders_are_the_draws_that_keep_the_winner_ahead_or_level():
    lists = lettered({"fine": ["b A c d"], "poor": ["b c d A"], "tied": ["Abcd"]})
    study = rr.Study(lists, "rr@3", truncated="no", shuffles=2000)
    drawn = study.shuffled.pivot("model", index="draw", values="value")
    [agreeing] = study.winners["agreeing"]
    assert agreeing == drawn.filter(pl.col("fine") >= pl.col("tied")).height
    assert agreeing / 2000 == pytest.approx(0.75, abs=4 * (0.1875 / 2000) ** 0.5)


def test_single_orders_have_the_average_of_the_study():
    frame = tied(2, 6, 8, 3)
    queries = {"query": list(range(6)), "label": ["a", "a", "a", "a", "b", "b"]}
    study = rr.Study(frame, "ndcg@3", queries=queries, average="macro", truncated="no")
    rows, summary = study.three_scores, study.summary
    # The mean of a query over the drawn orders enters the summary with the same weight.
    for column, policy in (("expected", "expected"), ("shuffled", "shuffled"), ("naive", "naive")):
        means = dict(summary.filter(policy=policy).select("model", "value").iter_rows())
        assert rows[column].to_list() == pytest.approx([means[model] for model in rows["model"]])
    first = dict(study.shuffled.filter(draw=0).select("model", "value").iter_rows())
    assert dict(rows.select("model", "first_order").iter_rows()) == first
    assert first != dict(study.shuffled.filter(draw=1).select("model", "value").iter_rows())
    assert set(rows["orders"]) == {10}
    assert "of 10 random orders (" in repr(study)


def test_a_lead_that_few_orders_reverse_is_not_said_to_hold_in_every_order():
    # b ties the relevant item of each query with nine others: first in all 60 lists, it is ahead of
    # a, which has it second; a random order is six standard deviations behind.
    lists = {"a": ["b A c d e f g h i j"] * 60, "b": ["bAcdefghij"] * 60}
    rows = lettered(lists).with_columns(item=pl.col("query") + pl.col("item"))
    study = rr.Study(rows, "ndcg@10", truncated="no")
    found = study.winners.row(0, named=True)
    assert found["winner"] == "a"
    assert found["agreeing_method"] == "normal"
    assert 1 - 1e-6 < found["agreeing_chance"] < 1
    assert "more than 99% of all" in str(study)
    assert "every order" not in str(study)


@pytest.mark.parametrize("queries", [3, 60])
def test_where_two_models_can_lead_every_order_that_does_not_reverse_them_agrees(queries: int):
    # One chance is of a normal distribution of each model, the other of all its lists. A copy of a
    # model has the orders of that one.
    rows = tied(2, queries, 12, 2)
    copy = rows.filter(model="m1").with_columns(model=pl.lit("copy"))
    study = rr.Study(pl.concat([rows, copy]), "ndcg@5", truncated="no")
    (pair,) = study.models("m0", "m1").flips.rows(named=True)
    found = study.winners.row(0, named=True)
    assert 0.01 < pair["p_tie"] < 0.99
    assert found["agreeing_chance"] == 1 - pair["p_tie"]
    assert found["agreeing_method"] == ("exact" if pair["p_tie_method"] == "exact" else "normal")
