"""The page Ties shows the numbers of the tie profile and of cut ties."""

from typing import Any

import polars as pl

import retrieval_report as rr
from made_pages import agrees, charts, made_data, open_page, table, words
from made_reports import made_rankings
from retrieval_report.ties.profile import ties_at_cutoff
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle")).with_columns(
    distance=pl.col("distance") / 8 + 0.01
)
DATA = made_data(RANKINGS)
ASKED: Any = {"metrics": "ndcg", "cutoffs": 3}


def best_first(profile: pl.DataFrame) -> pl.DataFrame:
    """Rows of the models in the order of the leaderboard."""
    means = rr.summarise(rr.evaluate(RANKINGS, policies="expected", **ASKED)).sort(
        "value", descending=True
    )
    return means.select("model").join(profile, on="model", maintain_order="left")


def test_the_profile_is_that_of_tie_profile():
    page = open_page("ties", DATA)
    shown, truth = table(page, 0), best_first(rr.tie_profile(RANKINGS, cutoffs=3))
    agrees(shown, truth, "model")
    for name in ("cut_share", "tied_items", "mixed_items", "tie_max", "bits"):
        percent = 1 if name in ("tie_max", "bits") else 100
        assert shown[name].to_list() == (percent * truth[name]).to_list()
    assert any("Ties, and the cutoffs" in title for title in charts(page))
    cuts = ties_at_cutoff(RANKINGS, cutoff=3)
    assert table(page, 1).rows() == cuts.rows()
    assert (
        f"In {cuts.height} lists, ranks 3 and 4 are in one tie; in {cuts['mixed'].sum()} of them"
        in words(page)
    )
    page.multiselect(key="models").set_value(["fine"]).run()
    assert set(table(page, 0)["model"]) == set(table(page, 1)["model"]) == {"fine"}


def test_a_model_and_its_copies_share_a_row_on_the_pages_of_lists():
    copy = RANKINGS.filter(model="fine").with_columns(model=pl.lit("fine again"))
    data = made_data(pl.concat([RANKINGS, copy]))
    assert len(data.models) == 4
    page = open_page("ties", data)
    assert sorted(table(page, 0)["model"]) == ["coarse", "fine = …again", "middle"]
    assert "fine again" not in table(page, 1)["model"].to_list()
    page = open_page("queries", data)
    assert {*table(page, 0)["model"]} == {"coarse", "fine = …again", "middle"}
    assert "Copies of a model are listed with it." in words(page)
    page.selectbox(key="model").set_value("fine again").run()
    assert not page.exception


def test_a_cutoff_between_ties_and_the_whole_list_cut_nothing():
    between = RANKINGS.filter(model="middle").with_columns(
        distance=(pl.col("item") // 4).cast(pl.Float64)
    )
    assert (
        open_page("ties", made_data(between), cutoff="4").info[0].value
        == "No list shows ranks 4 and 5 in one tie."
    )
    whole = open_page("ties", DATA, cutoff="all")
    assert whole.info[0].value.startswith("The whole list is scored, so no cutoff splits a tie.")


def test_near_ties_and_other_oddities_are_told():
    near = pl.DataFrame(
        {
            "query": [query for query in range(8) for _ in range(4)],
            "item": list(range(4)) * 8,
            "distance": [0.5, 0.5 + 1e-16, 0.7, 0.8] * 8,
            "relevance": [1, 0, 0, 1] * 8,
        }
    ).with_columns(
        pl.when(pl.col("item") == 1).then(0.5 + 2**-53).otherwise("distance").alias("distance")
    )
    told = rr.tie_hints(near)
    page = open_page("ties", made_data(near))
    for hint, message in told.select("hint", "message").rows():
        # The dashboard has no control for the argument that cures it.
        fact, _, cure = message.rpartition("; ")
        assert cure == "decimals= ties them"
        assert [box for box in page.warning if box.value.endswith(plain(fact))], hint


def test_what_is_judged_is_listed_metric_by_metric_with_the_best_model_first():
    judged = RANKINGS.filter(pl.col("item") > 0, model="fine").select("query", "item", "relevance")
    data = made_data(RANKINGS.drop("relevance"), judgements=judged)
    page = open_page("ties", data)
    covered = table(page, 2)
    best = table(page, 0)["model"].to_list()
    assert covered["metric"].is_sorted()
    assert covered["metric"].n_unique() == 2
    assert covered["model"].to_list() == best * 2


def test_one_sentence_says_that_everything_is_judged():
    judgements = RANKINGS.select("query", "item", "relevance").unique()
    data = made_data(RANKINGS.drop("relevance"), judgements=judgements)
    page = open_page("ties", data)
    assert "Every item up to the cutoff is judged." in words(page)
    assert "rbp_residual" not in words(page)
