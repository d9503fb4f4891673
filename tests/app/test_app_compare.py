"""The page Compare shows all pairs of `compare`, and says in words where there is
nothing to compare.
"""

from dataclasses import replace
from typing import Any

import polars as pl

import retrieval_report as rr
from made_pages import agrees, charts, drawn, made_data, numbers, open_page, table, words
from made_pairs import DATA, RANKINGS, comparison, row_of
from made_reports import upside_down
from retrieval_report.comparison.pairs import ahead_first
from retrieval_report.comparison.verdicts import CUT, NOT_DECIDED, NOT_SIGNIFICANT, chance_of
from text import plain


def test_the_table_holds_the_pairs_of_compare_with_the_model_ahead_first():
    truth = comparison()
    pairs = table(open_page("compare", DATA), 0)
    assert (pairs["difference"] >= 0).all()  # whoever is ahead is A
    assert pairs.height == truth.filter(policy="expected").height
    for row in pairs.iter_rows(named=True):
        exact = row_of(truth, *sorted((row["model_a"], row["model_b"])))
        assert row["difference"] == abs(exact["difference"])
        assert row["p_tie"] == chance_of(exact)
    verdicts = rr.Study(RANKINGS, "ndcg@3").flips["verdict"]
    assert sorted(pairs["verdict"]) == sorted(verdicts)


def test_pairs_that_missing_items_could_reverse_come_first_and_have_no_p_of_a_margin():
    short = RANKINGS.filter(pl.int_range(pl.len()).over("model", "query") < 3, model="coarse")
    cut = pl.concat([RANKINGS.filter(pl.col("model") != "coarse"), short])
    judged = RANKINGS.filter(model="fine").select("query", "item", "relevance")
    data = made_data(cut.drop("relevance"), judgements=judged)
    page = open_page("compare", data, baseline="fine", margin="0.4", truncated="within_tie")
    found = table(page, 0)["verdict"].to_list()
    assert found == [CUT, CUT, NOT_SIGNIFICANT]
    assert "3 pairs: those that missing items and tie order could reverse first" in words(page)
    assert "≈: estimates" in words(page)
    for place, name in ((0, "value_b"), (1, "value")):
        assert sorted({value[0] for value in table(page, place)[name]}) == ["0", "≈"]
    held = dict(table(page, 1).select("verdict", "no_worse_p").rows())
    assert held[CUT] is None
    assert len(held) == 2
    decides = dict(table(page, 1).select("verdict", "queries_needed").rows())
    assert (decides[CUT], decides[NOT_DECIDED] is None) == (None, False)
    assert 0 < float(held[NOT_DECIDED]) < 1


def test_intervals_are_said_to_be_of_one_pair_where_p_is_of_several():
    several, one = open_page("compare", DATA), open_page("compare", DATA, models=["fine", "coarse"])
    said = "p is corrected over 3 pairs; each interval is of its pair alone."
    assert (said in words(several), said in words(one)) == (True, False)
    order = (
        "3 pairs: those that tie order may reverse first, the likeliest at the top, and the safe"
    )
    assert order in words(several)
    assert "pair:" not in words(one)
    assert (table(several, 0).height, table(one, 0).height) == (3, 1)


def test_one_model_has_nothing_to_be_compared_with():
    page = open_page("compare", DATA, models="fine")
    assert page.info[0].value.startswith("Comparing takes two models.")
    assert charts(page) == {}
    assert numbers(page) == {}


def test_no_worse_than_a_baseline_is_said_and_shown():
    page = open_page("compare", DATA, baseline="fine", margin="0.3")
    assert len(page.dataframe) == 2  # all pairs, and no worse than
    study = rr.Study(RANKINGS, "ndcg@3", baseline="fine", margin=0.3)
    truth = study.no_worse.sort("difference", descending=True)
    shown = table(page, 1)
    agrees(shown, truth, "model verdict bound_low")
    assert shown["queries_needed"].to_list() == truth["queries_needed"].to_list()  # not decided
    [sentence] = [line for line in study.sentences if "more than 0.3" in line]
    assert plain(sentence) in words(page)
    assert page.number_input(key="margin").value == 0.3
    assert plain(study.decision) in words(page)
    relative = open_page("compare", DATA, baseline="fine", margin="30", margin_unit="percent")
    share = rr.Study(RANKINGS, "ndcg@3", baseline="fine", margin="30 %").no_worse
    assert plain(f"{share['margin'][0]:.3g}") in words(relative)


def test_the_decision_is_that_of_the_report_and_begins_with_what_a_study_asked():
    asked: Any = {"baseline": "fine", "margin": "90 %"}
    costs = pl.DataFrame({"model": ["coarse", "fine", "middle"], "bytes": [8, 64, 16]})
    query = pl.col("query").cast(pl.String)
    many = pl.concat([RANKINGS.with_columns(query=query + f" {copy}") for copy in range(5)])
    study = rr.Study(many, "ndcg@3", costs=costs, **asked)
    assert study.decision.startswith("Ship coarse")
    data = replace(made_data(many, **asked), costs=costs)
    page = open_page("compare", data)
    assert page.success[0].value == plain(study.decision)
    assert page.number_input(key="margin").value == 90
    assert plain(study.decision) in open_page("overview", data).success[0].value


def test_models_with_identical_lists_are_compared_once():
    copy = RANKINGS.filter(model="fine").with_columns(model=pl.lit("fine again"))
    page = open_page("compare", made_data(pl.concat([RANKINGS, copy])))
    pairs = table(page, 0)
    assert pairs.height == comparison().filter(policy="expected").height
    assert "fine again" not in {*pairs["model_a"], *pairs["model_b"]}
    said = "p is corrected over 6 pairs, of which those of models with identical lists are listed"
    assert said in words(page)
    page = page.selectbox(key="baseline").select("fine again").run()
    # Where the lists are the baseline's, there is nothing to test.
    assert "fine" not in {*table(page, 1)["model"]}
    assert table(page, 1).height == 2


def test_only_a_baseline_and_a_margin_that_somebody_chose_go_into_the_report():
    assert "Keep " not in words(open_page("compare", DATA))  # nor is anything decided about others
    asked = f"asked of {DATA.digest}"
    page = open_page("compare", DATA)
    assert page.session_state[asked] == {}
    page = drawn(page.number_input(key="margin").set_value(0.3).run())
    assert page.session_state[asked] == {"baseline": "fine", "margin": 0.3}
    page.session_state["made page"] = "overview"
    assert "Baseline and margin are those chosen on Compare" in words(drawn(page.run()))
    page.session_state["made page"] = "compare"
    page = drawn(page.run().number_input(key="margin").set_value(0.01).run())
    assert page.session_state[asked] == {}


def test_a_margin_too_small_is_refused_in_words_and_its_unit_converts_it():
    page = open_page("compare", DATA, baseline="fine", margin="0.3")
    page = drawn(page.number_input(key="margin").set_value(0).run())
    assert page.warning[0].value == "The margin must be at least 0.0001; 0.3 still applies."
    assert plain("0.3") in words(page)
    page = drawn(page.number_input(key="margin").set_value(0.2).run())
    assert not [part for part in page.warning if "still applies" in part.value]
    page = drawn(page.selectbox(key="margin_unit").select("percent").run())
    mean = rr.Study(RANKINGS, "ndcg@3").under("expected").summary.filter(model="fine")["value"][0]
    assert page.number_input(key="margin").value == float(f"{20 / mean:.3g}")
    page = drawn(page.selectbox(key="margin_unit").select("points").run())
    assert page.number_input(key="margin").value == 0.2


def test_verdicts_on_pairs_are_those_of_the_means_beside_them_whatever_the_average():
    names = RANKINGS["query"].unique().sort()
    labels = pl.DataFrame({"query": names, "label": ["l0"] + ["l1"] * (names.len() - 1)})
    data = made_data(RANKINGS, queries=labels)
    shown = ["model_a", "model_b", "value_a", "value_b", "difference", "verdict"]
    found = {}
    for average in ("micro", "macro"):
        study = rr.Study(RANKINGS, "ndcg@3", queries=labels, average=average)
        page = table(open_page("compare", data, average=average), 0)
        found[average] = page.sort("model_a", "model_b")
        pairs = study.comparison.filter(policy="expected").select(*shown[:-1])
        pairs = pairs.join(study.flips.select("model_a", "model_b", "verdict"), on=shown[:2])
        truth = ahead_first(pairs, pl.col("difference") < 0).sort("model_a", "model_b")
        agrees(found[average], truth, " ".join(shown))
    differences = [page["difference"].to_list() for page in found.values()]
    assert differences[0] != differences[1]


def test_the_overview_decides_by_the_baseline_and_the_margin_of_compare():
    page = open_page("compare", DATA)
    page = drawn(page.number_input(key="margin").set_value(0.3).run())
    page.session_state["made page"] = "overview"
    page = drawn(page.run())
    decision = rr.Study(RANKINGS, "ndcg@3", baseline="fine", margin=0.3).decision
    assert plain(decision) in words(page)
    page = drawn(page.multiselect(key="models").set_value(["coarse", "rest"]).run())
    assert plain(decision) not in words(page)


def test_a_baseline_whose_data_are_in_doubt_is_named_instead_of_tests_against_it():
    frame = upside_down("right", "also right")
    asked: Any = {"baseline": "turned", "margin": 0.1, "truncated": "no"}
    study = rr.Study(frame, "ndcg@3", **asked)
    assert (study.suspects, study.no_worse.height) == (["turned"], 0)
    assert "verdict" in study.no_worse.columns
    page = open_page("compare", made_data(frame, **asked))
    assert len(page.dataframe) == 1  # all pairs
    assert plain(study.decision) in words(page)


def test_every_data_set_has_its_own_margin():
    asked = rr.Study(RANKINGS, baseline="fine", margin=0.3)
    page = open_page("compare", replace(DATA, source=asked, digest="other"))
    drawn(page.number_input(key="margin").set_value(0.2).run())
    for data, margin in ((DATA, 0.01), (replace(DATA, digest="other"), 0.2)):
        page.session_state["made data"] = data
        assert drawn(page.run()).number_input(key="margin").value == margin
