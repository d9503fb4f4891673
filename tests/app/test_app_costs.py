"""The page Costs sets scores beside costs, with the numbers of the study."""

import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from cached import report
from made_pages import drawn, made_data, open_page, words
from made_reports import made_rankings
from records import USUAL, Upload
from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.wording import speaking_to
from retrieval_report.reading.files import costs_from
from uploads import opened
from wording import DashboardReader

DATA = made_data(made_rankings(("coarse", "fine", "middle")))
ASKED = f"asked of {DATA.digest}"
COSTS = "model,bytes,milliseconds\ncoarse,8,3\nfine,64,3\n"


def upload(page: AppTest, content: str) -> AppTest:
    uploader: Any = page.file_uploader(key="costs upload")
    return drawn(uploader.set_value(("costs.csv", content.encode(), "text/csv")).run())


@pytest.mark.slow
def test_the_front_is_that_of_the_study_and_goes_into_the_report():
    page = open_page("costs", DATA)
    assert page.info[0].value == "No costs entered yet."
    for content, message in (
        ("name,bytes\nfine,8\n", "costs.csv: the costs lack model; found “name”, “bytes”"),
        ("model,bytes\nfine,-8\n", "costs.csv: column 'bytes': 1 negative"),
    ):
        refused = upload(page, content)
        said = refused.error[0].value.replace("\\", "")
        assert message in said
        assert "on the page" not in said  # which has no box for costs
    of_others = upload(page, "model,bytes\nfoo,8\n").warning[0].value
    assert of_others.startswith("No row of the table names one of these models")
    assert len(page.dataframe) == 1  # the table in which costs are entered stays
    page = upload(page, COSTS)
    assert "Bytes" not in page.dataframe[0].proto.columns  # headings keep units as they are written
    assert "middle has no bytes\\; chart and table do not show it" in words(page)
    study = rr.Study(DATA.frames["rankings"], "ndcg@3", costs=pl.read_csv(COSTS.encode()))
    truth = study.costs.filter(policy="expected")
    for kind in ("bytes", "milliseconds"):
        page = drawn(page.selectbox(key="cost").set_value(kind).run())
        rows, shown = truth.filter(cost=kind), page.dataframe[-1].value
        for name in ("model", "amount", "value", "front"):
            assert list(shown[name]) == rows[name].to_list()
        assert f"against {kind}" in words(page)
    costs = page.session_state[ASKED]["costs"]
    assert sorted(costs.rows()) == pl.read_csv(COSTS.encode()).rows()
    choice = replace(DATA.start, models=DATA.models, options={**USUAL, "shuffles": 5})
    chosen = replace(choice, models=("fine", "middle"))
    part = report(DATA, chosen, {"baseline": "coarse", "margin": 0.01, "costs": costs})
    assert b"No worse than" not in part  # its baseline was not chosen
    assert b"Scores against costs" in part


def test_a_file_that_is_no_csv_is_refused():
    with pytest.raises(FileError, match=r"costs\.csv"):
        costs_from(opened(Upload("costs.csv", b"\x89PNG\r\n\x1a\n" + bytes(200))))
    judgements = opened(Upload("qrels.txt", b"q 0 a 1\nq 0 b 0\n"))
    box = re.escape("pass it as “Judgements (qrels)” on the page “Data & export”")
    with speaking_to(DashboardReader()), pytest.raises(FileError, match=f"{box}$"):
        costs_from(judgements)


def test_known_costs_stand_in_the_table_and_are_drawn_at_once():
    costs = pl.DataFrame({"model": ["coarse", "fine"], "bytes": [8, 64]})
    page = open_page("costs", replace(DATA, costs=costs))
    assert not page.info
    assert ASKED not in page.session_state  # nobody entered them
    assert list(page.dataframe[0].value["model"]) == [*DATA.models]  # whoever leads
    shown = page.dataframe[-1].value
    assert list(shown["model"]) == ["coarse", "fine"]
    assert list(shown["amount"]) == [8, 64]
    assert "against bytes" in words(page)


@pytest.mark.slow
def test_scores_of_cut_lists_are_marked_as_estimates():
    lists = DATA.frames["rankings"]
    short = lists.filter(pl.int_range(pl.len()).over("model", "query") < 3, model="coarse")
    data = made_data(pl.concat([lists.filter(model="fine"), short]))
    page = upload(open_page("costs", data, truncated="within_tie"), COSTS)
    assert {str(value)[0] for value in page.dataframe[-1].value["value"]} == {"≈"}
    assert "≈: estimates" in words(page)
