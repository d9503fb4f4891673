"""The page Costs sets scores beside costs, with the numbers of the study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from cached import ASKED, _report
from made_pages import drawn, made_data, open_page, words
from made_reports import made_rankings
from records import Questions, Upload, first_choice
from retrieval_report.contracts.errors import FileError
from uploads import read_costs

RANKINGS = made_rankings(("coarse", "fine", "middle"))
COSTS = "model,bytes,milliseconds\ncoarse,8,3\nfine,64,3\n"


def opened(content: str) -> AppTest:
    page = open_page("costs", made_data(RANKINGS))
    assert page.info[0].value == "No cost is known yet."
    uploader: Any = page.file_uploader(key="costs upload")
    return drawn(uploader.set_value(("costs.csv", content.encode(), "text/csv")).run())


def test_the_front_is_that_of_the_study() -> None:
    page = opened(COSTS)
    truth = rr.Study(RANKINGS, "ndcg@3", costs=pl.read_csv(COSTS.encode())).costs.filter(
        policy="expected"
    )
    for kind in ("bytes", "milliseconds"):
        page = drawn(page.selectbox(key="cost").set_value(kind).run())
        rows, shown = truth.filter(cost=kind), page.dataframe[0].value
        for name in ("model", "amount", "value", "front"):
            assert list(shown[name]) == rows[name].to_list()
        assert f"against {kind}" in words(page)


def test_costs_and_margin_go_into_the_exported_report() -> None:
    data = made_data(RANKINGS)
    page = opened(COSTS)
    kept = page.session_state[ASKED]
    assert kept.costs is not None
    assert pl.read_json(kept.costs.encode()).rows() == pl.read_csv(COSTS.encode()).rows()
    compared = open_page("compare", data, baseline="coarse").session_state[ASKED]
    assert (compared.baseline, compared.margin) == ("coarse", 0.01)
    asked = Questions(data.digest, "coarse", 0.01, kept.costs)
    choice = first_choice(data)
    whole, part = (
        _report(data, choice, asked),
        _report(data, replace(choice, models=("fine", "middle")), asked),
    )
    plain = _report(data, choice, Questions())
    for table, there in (
        ("Scores against costs", part),
        ("Scores against costs", whole),
        ("No worse than", whole),
    ):
        assert table.encode() in there
        assert table.encode() not in plain
    assert b"No worse than" not in part  # its baseline was not chosen


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model,bytes\nother,8\n", "costs\\.csv\\: there is no model \\'other\\' in this data"),
        ("name,bytes\nfine,8\n", "costs.csv: the costs lack model"),
        ("model,bytes\nfine,-8\n", "negative"),
    ],
)
def test_what_is_no_table_of_costs_is_refused_in_words(content: str, message: str) -> None:
    assert message.replace("\\", "") in opened(content).error[0].value.replace("\\", "")


def test_a_file_that_is_no_csv_is_refused() -> None:
    with pytest.raises(FileError, match=r"costs\.csv"):
        read_costs(Upload("costs.csv", b"\x89PNG\r\n\x1a\n" + bytes(200)))
