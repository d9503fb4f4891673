"""Every answer of a study is about the average that was asked for."""

from __future__ import annotations

import re
from itertools import permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import retrieval_report as rr
from retrieval_report.study.caveats import OTHER_MEANS, winner_sentences

# Three labels of 2, 2 and 3 queries; the order of an item's letters is that of its distance.
LABELS = dict(zip("pqrstuv", "xxyyzzz", strict=True))
WEIGHTS = {query: float(number) for number, query in enumerate(LABELS)}
QUERIES = {"query": [*LABELS], "label": [*LABELS.values()], "weight": [*WEIGHTS.values()]}
# Relevances of the tied items at each distance.
LISTS = {
    "tied": ["01 0 1", "10 01", "1 01", "110 0", "1 001", "011", "1 0 1"],
    "fine": ["1 0 0 1", "1 0 10", "0 1 1", "0 1 1 0", "10 0 1", "1 0 1", "0 11"],
    "rest": ["10 01", "0 1 1", "0 1", "0 011", "00 11", "0 11", "1 0 0"],
}
AVERAGES = ("macro", "weighted")
EACH = pytest.mark.parametrize("average", AVERAGES)


def rows() -> pl.DataFrame:
    """The lists as rows; items of a query are the same for all models."""
    return pl.DataFrame(
        [
            {"model": model, "query": query, "item": f"{model}{distance}{place}"}
            | {"distance": distance, "relevance": int(grade)}
            for model, lists in LISTS.items()
            for query, text in zip(LABELS, lists, strict=True)
            for distance, tie in enumerate(text.split())
            for place, grade in enumerate(tie)
        ]
    )


def study(average: str, data: pl.DataFrame | None = None, **options: Any) -> rr.Study:
    asked: Any = {"queries": QUERIES, "average": average, "truncated": "no", **options}
    return rr.Study(rows() if data is None else data, "rr@3", **asked)


def weights(average: str) -> np.ndarray:
    """The weight of every query in the mean, by the definition."""
    if average == "weighted":
        return np.array([*WEIGHTS.values()]) / sum(WEIGHTS.values())
    labels = [*LABELS.values()]
    return np.array([1 / len({*labels}) / labels.count(label) for label in labels])


def scores_in_all_orders(text: str) -> list[float]:
    """Reciprocal rank at 3 in every order of the items inside their ties."""
    orders = product(*(permutations(tie) for tie in text.split()))
    relevances = ("".join(map("".join, order)) for order in orders)
    return [1 / (found + 1) if 0 <= (found := line.find("1")) < 3 else 0.0 for line in relevances]


def means_in_all_orders(model: str, average: str) -> tuple[np.ndarray, np.ndarray]:
    """Every mean that orders give, and how many of them do; a list is added at a time."""
    sums = {0.0: 1.0}
    for weight, text in zip(weights(average), LISTS[model], strict=True):
        scores = scores_in_all_orders(text)
        added: dict[float, float] = {}
        for total, chance in sums.items():
            for score in scores:
                key = round(total + weight * score, 12)
                added[key] = added.get(key, 0.0) + chance / len(scores)
        sums = added
    return np.array([*sums]), np.array([*sums.values()])


@EACH
def test_chances_of_a_reversal_are_those_of_all_orders(average: str):
    made = study(average)
    means = {model: means_in_all_orders(model, average) for model in LISTS}
    for row in made.comparison.filter(policy="expected").iter_rows(named=True):
        (a, chance_a), (b, chance_b) = (means[row[f"model_{side}"]] for side in "ab")
        expected = a @ chance_a - b @ chance_b
        assert row["difference"] == pytest.approx(expected, abs=1e-9)
        apart, chances = np.subtract.outer(a, b) * np.sign(expected), np.outer(chance_a, chance_b)
        found = row["p_tie"], row["p_tie_low"], row["p_tie_high"], row["p_equal"]
        reversed_in = chances[apart < -1e-9].sum()
        level_in = chances[np.abs(apart) < 1e-9].sum()
        assert found == pytest.approx((*[reversed_in] * 3, level_in), abs=1e-12)
        assert row["p_tie_method"] == "exact"
        assert row["tie_std"] == pytest.approx(
            np.sqrt(sum(c @ (m - m @ c) ** 2 for m, c in ((a, chance_a), (b, chance_b))))
        )
    verdicts = made.flips.select("model_a", "model_b", "p_tie", "family_p")
    pairs = made.comparison.filter(policy="expected").select(verdicts.columns)
    assert_frame_equal(verdicts, pairs)
    assert made.reversals.row(0, named=True)["reversal"] in verdicts["p_tie"].to_list()


@EACH
def test_a_random_order_prints_what_all_orders_give(average: str):
    made = study(average)
    for row in made.three_scores.iter_rows(named=True):
        mean, chance = means_in_all_orders(row["model"], average)
        order = np.argsort(mean)
        below = np.cumsum(chance[order])
        ends = [mean[order][np.searchsorted(below, share - 1e-12)] for share in (0.05, 0.95)]
        assert [row["order_low"], row["order_high"]] == pytest.approx(ends, abs=1e-11)
        assert row["order_method"] == "exact"
    winner = made.winners.row(0, named=True)
    first, *others = (
        means_in_all_orders(model, average)
        for model in sorted(LISTS, key=lambda name: name != winner["winner"])
    )
    agreeing = sum(
        chance * np.prod([c[m <= mean + 1e-9].sum() for m, c in others])
        for mean, chance in zip(*first, strict=True)
    )
    assert winner["agreeing_chance"] == pytest.approx(agreeing, abs=1e-12)


@EACH
def test_single_orders_have_means_that_some_order_gives(average: str):
    drawn = study(average, shuffles=50).shuffled
    for model in ("tied", "rest"):
        possible, _ = means_in_all_orders(model, average)
        means = drawn.filter(model=model)["value"].to_numpy()
        assert np.abs(means[:, None] - possible).min(axis=1).max() < 1e-9
        assert np.unique(means.round(9)).size > possible.size / 2
    part = study(average, shuffles=50).where(label="z").shuffled
    assert not part["value"].equals(drawn["value"])


@EACH
def test_tests_are_those_of_the_weighted_mean(average: str):
    made = study(average)
    scores = made.under("expected").scores
    by_model = {
        model: scores.filter(model=model).sort("query")["value"].to_numpy() for model in LISTS
    }
    weight = weights(average)
    for row in made.comparison.filter(policy="expected").iter_rows(named=True):
        difference = by_model[row["model_a"]] - by_model[row["model_b"]]
        test = stats.permutation_test(
            (difference,),
            lambda d, axis: (weight * d).sum(axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert row["permutation_p"] == pytest.approx(test.pvalue, abs=1e-12)
        assert row["difference"] == pytest.approx(weight @ difference, abs=1e-12)
        t = stats.ttest_1samp(weight * difference * weight.size, 0.0)
        assert row["t_p"] == pytest.approx(t.pvalue, abs=1e-9)
        ends = t.confidence_interval(0.95)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((ends.low, ends.high), abs=1e-9)
        signs = np.sign(np.round(difference[weight > 0], 12))
        assert (row["wins"], row["losses"]) == ((signs > 0).sum(), (signs < 0).sum())


@EACH
def test_leaderboard_and_margins_have_the_means_and_intervals_of_the_summary(average: str):
    made = study(average, baseline="fine", margin=0.1)
    means = made.summary.filter(policy="expected")
    columns = ["model", "value", "tie_std", "lowest", "highest", "ci_low", "ci_high"]
    board = made.leaderboard.select(columns)
    assert_frame_equal(board, means.select(columns), check_row_order=False)
    assert board["value"].is_sorted(descending=True)
    value = dict(means.select("model", "value").iter_rows())
    for row in made.no_worse.iter_rows(named=True):
        assert row["value"] == pytest.approx(value[row["model"]])
        assert row["baseline_value"] == pytest.approx(value["fine"])
        # A score of rr lies between 0 and 1, so a query can lose its weight at most.
        assert row["largest_loss"] == pytest.approx(weights(average).max() * len(LABELS))


def test_labels_of_one_size_change_no_test_and_no_chance():
    labels = pl.DataFrame(QUERIES).head(6)
    even = rows().filter(pl.col("query") != "v")
    micro, macro = (study(name, even, queries=labels) for name in ("micro", "macro"))
    assert_frame_equal(micro.comparison, macro.comparison)
    assert_frame_equal(micro.flips, macro.flips)
    assert_frame_equal(micro.reversals, macro.reversals)
    assert {*macro.sentences} - {*micro.sentences} == {OTHER_MEANS["macro"]}


@EACH
def test_models_are_compared_on_the_queries_that_all_of_them_have(average: str):
    lacking = rows().remove(model="rest", query="q")
    made = study(average, lacking, missing_query="skip")
    left = pl.DataFrame(QUERIES).remove(query="q")
    whole = study(average, rows().remove(query="q"), queries=left)
    same = pl.all().exclude("unpaired")
    assert set(made.comparison["unpaired"]) == {1}
    assert_frame_equal(made.comparison.select(same), whole.comparison.select(same))
    assert set(made.leaderboard["unpaired"]) == {1}
    ranks = "^(model|query_rank.*)$"
    assert_frame_equal(made.leaderboard.select(ranks), whole.leaderboard.select(ranks))
    assert set(made.flips["unpaired"]) == {1}


def test_seeds_are_compared_by_the_same_means():
    runs = pl.concat([rows().with_columns(model=pl.col("model") + f"-{n}") for n in range(2)])
    made = study("macro", runs, replicate=r"-(?P<replicate>.+)")
    one = study("macro")
    columns = ["model_a", "model_b", "difference", "permutation_p"]
    found, means = (each.comparison.filter(policy="expected") for each in (made, one))
    assert_frame_equal(found.select(columns), means.select(columns))
    found_sizes, sizes = (
        {round(abs(size), 9) for size in rows["difference"]}
        for rows in (made.replicate_pairs, means)
    )
    assert found_sizes == sizes
    # An order is drawn for each of two runs.
    assert (found["p_tie_method"] == "exact").all()
    assert found["tie_std"].to_numpy() == pytest.approx(means["tie_std"].to_numpy() / 2**0.5)


@pytest.mark.parametrize(
    ("average", "column", "sentence"),
    [
        ("macro", [*"xxxyzzz"], "Label 'y' holds one query"),
        ("macro", [*"xxuyzzz"], "2 of 4 labels hold one query, such as 'u'"),
        ("weighted", [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0], "Query 'r' has all weight"),
    ],
)
def test_a_query_that_stands_alone_leaves_nothing_to_test(
    average: str, column: list[Any], sentence: str
):
    name = "label" if average == "macro" else "weight"
    runs = pl.concat([rows().with_columns(model=pl.col("model") + f"-{n}") for n in range(4)])
    options: Any = {"queries": {**QUERIES, name: column}, "baseline": "fine", "margin": 0.1}
    for data, others in ((None, {}), (runs, {"replicate": r"-(?P<replicate>.+)"})):
        made = study(average, data, **options, **others)
        assert made.summary["query_se"].null_count() == made.summary.height
        tested = made.comparison.select("^(ci_.*|.*_p)$")
        assert tested.null_count().row(0) == (made.comparison.height,) * tested.width
        assert {*made.leaderboard["query_rank_low"]} == {1}
        assert {*made.leaderboard["query_rank_high"]} == {3}
        assert {*made.no_worse["verdict"]} == {"not decided"}
        assert "safe" not in {*made.flips["verdict"], *made.reversals["verdict"][1:3]}
        assert f"{sentence}, so nothing can be said of other queries." in made.sentences
        assert "nothing shows whether " in made.decision
        assert "Nothing shows whether " in str(made)
        assert not re.findall("significant|queries (would|cannot|leave open)", str(made))
    assert made.replicate_pairs["family_p"].null_count() == 3


def test_weights_that_are_all_0_are_refused():
    with pytest.raises(rr.RetrievalReportError, match="weight of every query is 0"):
        study("weighted", queries={**QUERIES, "weight": [0] * 7})


@EACH
def test_shares_of_the_difference_are_of_the_weighted_mean(average: str):
    made = study(average)
    deciding = made.deciding.filter(policy="expected")
    expected = made.summary.filter(policy="expected").sort("value", descending=True)["value"]
    weight = dict(zip(LABELS, weights(average), strict=True))
    parts = deciding["difference"] * pl.Series([weight[query] for query in deciding["query"]])
    lead = expected[0] - expected[1]
    assert parts.sum() == pytest.approx(lead, abs=1e-12)
    assert deciding["share"].to_list() == pytest.approx((parts / lead).to_list())
    gains = sorted(parts.to_list(), reverse=True)
    fewest = next(n for n in range(len(gains)) if lead - sum(gains[:n]) <= 1e-12)
    assert deciding["decides"].sum() == fewest
    assert parts.filter(deciding["decides"]).sum() >= lead - 1e-12


def test_what_evaluators_would_print_is_said_to_be_of_plain_means():
    for average in ("micro", *AVERAGES):
        (sentence,) = study(average, rows()).contents().printed
        assert sentence.endswith("so these are plain means.") == (average != "micro"), sentence


def test_an_evaluator_is_apart_if_it_names_another_winner_than_this_average():
    audit = rr.audit(rows(), measures="precision@1", systems=["ranx", "pytrec_eval"])
    best = audit.filter(exact=pl.max("exact"))["model"][0]
    other = next(model for model in LISTS if model != best)
    for named in (best, other):
        means = pl.DataFrame({"model": [*LISTS], "value": [float(name == named) for name in LISTS]})
        said = " ".join(winner_sentences(audit, means))
        assert ("By the mean over all orders" in said) == (named == other), said


@EACH
def test_segments_have_the_means_of_the_average(average: str):
    kinds = ["x", "y", "y", "x", "y", "x", "y"]
    made = study(average, queries={**QUERIES, "kind": kinds}, by="kind")
    for row in made.segments.iter_rows(named=True):
        board = made.where(kind=row["segment"]).leaderboard
        assert row["value"] == pytest.approx(board["value"].max())
        assert row["winner"] in board.filter(rank=1)["model"]
        (overall,) = board.filter(model=row["overall_winner"])["value"]
        assert row["overall_value"] == pytest.approx(overall)
