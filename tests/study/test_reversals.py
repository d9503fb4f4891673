"""What could turn the lead round: the rows, their numbers, and where they are shown."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import retrieval_report as rr
from made_reports import lettered, made_rankings
from retrieval_report.comparison.new_draws import enough_queries, new_queries
from retrieval_report.study.reversals import (
    reversals_note,
    reversals_text,
    varied,
)
from retrieval_report.study.verdict import verdict

RANKINGS = made_rankings(("coarse", "fine", "middle"))


def row(study: rr.Study, source: str) -> dict[str, Any]:
    return study.reversals.row(by_predicate=pl.col("source") == source, named=True)


def test_ties_and_queries_have_the_numbers_of_the_pair():
    study = rr.Study(RANKINGS, "ndcg@3, ap")
    first, second = study.leaderboard.filter(metric="ndcg")["model"].to_list()[:2]
    pair = study.at("ndcg@3").compare(first, second).filter(policy="expected")
    ties, queries = row(study, "tie order"), row(study, "queries")
    assert (ties["model_a"], ties["model_b"]) == (first, second)
    assert ties["reversal"] == pair["p_tie"].item()
    scores = study.scores.filter(metric="ndcg", policy="expected").sort("query")
    a, b = (scores.filter(model=name)["value"].to_numpy() for name in (first, second))
    chance = stats.t.sf(abs((a - b).mean()) / np.sqrt(2 / a.size) / (a - b).std(ddof=1), a.size - 1)
    assert queries["reversal"] == pytest.approx(chance, rel=1e-9)
    assert queries["verdict"] == ("depends on the queries" if chance > 0.05 else "safe")
    both, error = row(study, "both"), (a - b).std(ddof=1) * np.sqrt(2 / a.size)
    total = np.hypot(error, pair["tie_std"].item())
    expected = stats.t.sf(abs((a - b).mean()) / total, a.size - 1)
    assert both["reversal"] == pytest.approx(max(expected, ties["reversal"]), rel=1e-9)


def test_a_difference_that_is_always_the_same_is_too_few_to_tell_until_six_queries():
    assert new_queries(np.full(5, 0.25)) == 0.0
    assert new_queries(np.array([0.25])) is None
    assert enough_queries(np.array([0.1] * 6 + [0.0] * 9))


def test_sources_without_data_are_one_line():
    study = rr.Study(RANKINGS, "ndcg@3")
    assert varied(study.reversals)["source"].to_list() == ["tie order", "queries", "both"]
    assert reversals_note(study.reversals) == "Not varied: judge, seed, data set."
    assert "Not varied: judge (judgements={'human': …}), seed (replicate=)," in repr(study)
    assert "What could turn the lead of fine over coarse around\nsource" in repr(study)
    assert "What could turn the lead of fine over coarse around" in study._repr_html_()


def test_where_a_significant_lead_depends_on_the_queries_both_words_are_explained():
    queries = [f"q{number}" for number in range(20)]
    firsts = {"first": [1] * 14 + [2] * 6, "second": [2] * 14 + [1] * 6}
    firsts["second"][:14:2] = [3] * 7
    runs = {
        name: {
            query: {"x": -1.5, "y": -2.5, "hit": 0.0 - place}
            for query, place in zip(queries, places, strict=True)
        }
        for name, places in firsts.items()
    }
    judged = {query: {"hit": 1} for query in queries}
    study = rr.Study(runs, "rr@3", judgements=judged, truncated="no")
    found = row(study, "queries")
    assert found["family_p"] < 0.05 < found["reversal"], found
    words = (
        "Significant: a lead that is hardly chance; “safe” if tie order, too, reverses it with a "
        "probability of at most 0.05."
    )
    for face in (repr(study), study._repr_html_(), reversals_note(study.reversals)):
        assert words in face
    surer = study.reversals.with_columns(verdict=pl.lit("safe"))
    for other in (surer, study.reversals.with_columns(family_p=0.2)):
        assert "Significant" not in reversals_note(other)
        assert "Safe here" not in reversals_note(other)
    note = reversals_note(surer.with_columns(family_p=0.06))
    assert note.startswith("Safe here: one new draw of the source reverses the lead with a ")


def test_new_queries_may_reverse_means_over_labels_too():
    names = RANKINGS["query"].unique().sort()
    weights = np.where(np.arange(names.len()) < 2, 0.25, 0.5 / (names.len() - 2))
    labels = pl.DataFrame({"query": names, "label": ["few"] * 2 + ["rest"] * (names.len() - 2)})
    study = rr.Study(RANKINGS, "ndcg@3", queries=labels, average="macro")
    scores = study.under("expected").scores.pivot("model", index="query", values="value")
    first, second = study.leaderboard["model"][:2]
    gap = pl.col(first) - pl.col(second)
    difference = scores.sort("query").select(gap).to_series().to_numpy() * weights * names.len()
    assert difference.mean() == pytest.approx(study.compare(first, second)["difference"][0])
    found, both = row(study, "queries"), row(study, "both")
    assert found["reversal"] == pytest.approx(new_queries(difference))
    assert found["reversal"] < both["reversal"]


def test_one_model_and_no_score_have_no_rows():
    study = rr.Study(RANKINGS, "ndcg@3")
    scoreless = rr.Study(RANKINGS.with_columns(relevance=0), "ndcg@3", no_relevant="skip")
    with pytest.warns(rr.RetrievalReportWarning, match="no query has a relevant item"):
        assert scoreless.reversals["verdict"].is_empty()
    assert scoreless.status == "check your data"
    assert "is relevant (" in scoreless.verdict[0]
    assert study.under("best", "worst").reversals.height == 0
    for nothing in (study.models("fine"), scoreless):
        assert nothing.reversals.height == 0
        assert reversals_text(nothing.reversals) == ""
        assert "turn it around" not in repr(nothing) + nothing._repr_html_()


def judged(*against: str, ties: bool = False) -> rr.Study:
    """Two models, of which the first wins under the human judge, and the second under others."""
    lists = {"first": {"a": 2, "b": 1}, "second": {"a": 1, "b": 1 if ties else 2}}
    runs = {name: {f"q{number}": items for number in range(12)} for name, items in lists.items()}
    said = {"human": "a", "x": "a", "y": "a"} | dict.fromkeys(against, "b")
    given = {
        judge: {f"q{number}": {item: 1} for number in range(12)} for judge, item in said.items()
    }
    return rr.Study(runs, "rr@2", judgements=given, truncated="no")


def test_other_judges_count_and_the_verdict_says_so_where_they_turn_it_round():
    study = judged("y")
    found = row(study, "judge")
    assert (found["varied"], found["reversal"]) == ("1 of 2 other judges against", 0.5)
    assert (found["votes"], found["votes_against"], found["votes_level"]) == (2, 1, 0)
    assert found["verdict"] == "too few to tell"
    sentence = "Of 2 other judges, 1 orders these two the other way."
    assert study.verdict[1] == sentence
    assert study.verdict[2] == judged().verdict[1]
    assert len(study.sentences) == len(judged().sentences) + 1


def test_a_third_model_that_tie_order_may_put_first_is_said_beside_the_lead_over_the_second():
    """The second never passes the first; the third does if it shows an answer at once."""
    lists = {"first": "b A c d e f g h i", "second": "b c A d e f g h i", "third": "Abcdefghi"}
    rows = lettered({model: [letters] * 2 for model, letters in lists.items()})
    study = rr.Study(rows, "rr@9", truncated="no")
    assert study.verdict[0].startswith(
        "first has the highest expected rr@9: 0.5000, ahead of second"
    )
    chance = study.flips.filter(pl.col("model_b") == "third", pl.col("model_a") == "first")["p_tie"]
    assert chance.item() == pytest.approx(17 / 81, abs=0.01)
    said = study.verdict[1]
    assert said.startswith("Its lead over second cannot be reversed by any tie order")
    assert said.endswith("Its lead over third is not safe from tie order.")
    ties = row(study, "tie order")
    assert (ties["reversal"], ties["varied"]) == (
        0,
        "the order inside every tie of first and second",
    )
    two = row(study.models("first", "second"), "tie order")
    assert two["varied"] == "the order inside every tie"
    # However significant the lead over the second is, the winner is not safe.
    is_second = pl.col("model_b") == "second"
    sure = study.flips.with_columns(
        verdict=pl.when(is_second).then(pl.lit("safe")).otherwise("verdict")
    )
    status, _ = verdict(study.summary, sure, metric="rr", cutoff=9)
    assert status == "depends on tie order"


def test_no_source_is_safe_where_one_score_is_an_estimate_of_whole_ties():
    """A constant instead of scores: no depth tells its lists apart, and no list ends between ties."""
    draw, labels = np.random.default_rng(0), np.arange(200) % 5
    apart = (labels[:60, None] != labels) + draw.normal(0, 0.4, (60, 200))
    nearest = np.argsort(apart, axis=1)[:, :30]
    found = np.take_along_axis(apart, nearest, axis=1), nearest
    searches = {"cos": found, "const": (np.zeros((60, 30)), nearest)}
    study = rr.Study(
        rr.from_search(searches, query_labels=labels[:60], item_labels=labels), "ndcg@10"
    )
    assert "whose lists may be cut. Retrieve deeper (no depth can be told" in str(study)
    verdicts_of = dict(study.reversals.select("source", "verdict").iter_rows())
    assert verdicts_of["queries"] == verdicts_of["tie order"] == "lists are cut"
    assert "between_ties" not in str(study)


@pytest.mark.parametrize(("cut_lists", "word"), [(5, "lists are cut"), (1, "safe")])
def test_new_queries_are_not_safe_where_missing_items_would_change_that(cut_lists: int, word: str):
    """Some lists of the second model hold one item; as if the relevant one came next in five of
    them, new queries reverse the lead more often than in one of twenty draws, and in one, less.
    """
    draw = np.random.default_rng(0)
    runs: dict[str, Any] = {"a": {}, "b": {}}
    for query in range(24):
        for model, ranks in (("a", [1, 1, 1, 2, 3]), ("b", [1, 1, 2, 2, 3])):
            items = ["x", "y"]
            items.insert(int(draw.choice(ranks)) - 1, "hit")
            runs[model][f"q{query:02}"] = {item: -float(rank) for rank, item in enumerate(items)}
    for query in range(5):
        short = {"x": 0.0} if query < cut_lists else {"x": 0.0, "y": -1.0, "hit": -2.0}
        runs["b"][f"q{query:02}"] = short
    judged = {f"q{query:02}": {"hit": 1, "x": 0, "y": 0} for query in range(24)}
    cut = {"a": "no", "b": "between_ties"}
    made = rr.Study(runs, "rr@2", judgements=judged, truncated=cut)
    queries, both = made.reversals[1:3].iter_rows(named=True)
    means = {row["model"]: row for row in made.leaderboard.iter_rows(named=True)}
    scores = made.under("expected").scores.pivot("model", index="query", values="value")
    difference = (scores["a"] - scores["b"]).to_numpy()
    leads = difference.mean(), means["a"]["lowest"] - means["b"]["highest"]
    chance, highest = stats.t.sf(leads / (difference.std(ddof=1) * np.sqrt(2 / 24)), 23)
    assert queries["reversal"] == pytest.approx(chance)
    assert chance < 0.05
    assert (highest < 0.05) == (word == "safe")
    assert queries["verdict"] == both["verdict"] == word
    assert both["reversal_high"] == (pytest.approx(highest) if word == "safe" else None)


def test_a_cut_list_among_many_leaves_a_bound_that_holds_whatever_it_lacks():
    """One list of sixty ends after its first item, while tie order moves all others."""

    def chance(last: str, ends: str) -> tuple[float | None, ...]:
        rows = lettered({"first": ["Ab c"] * 60, "second": ["bcA"] * 59 + [last]})
        study = rr.Study(rows, "rr@2", truncated={"first": "no", "second": ends})
        words = {"safe"} if ends == "no" or last == "b" else {"lists are cut"}
        assert {*study.reversals["verdict"].head(3), *study.flips["verdict"]} == words
        return row(study, "tie order")["reversal_high"], row(study, "both")["reversal_high"]

    highest, of_both = chance("b", "between_ties")
    completions = (chance(last, "no")[0] for last in ("b", "b A", "b Ac", "b c A", "b cA"))
    assert highest is not None
    assert of_both is not None
    assert 0 < max(filter(None, completions)) < highest <= of_both < 0.05
    assert chance("bc", "within_tie") == (None, None)  # every list may lack items of its only tie
