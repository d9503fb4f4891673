"""What a study says in the dashboard speaks of controls, and what it says in a report of arguments."""

import pytest

import retrieval_report as rr
from made_pages import made_data, open_page, words
from made_reports import upside_down
from page import Page
from retrieval_report.contracts.wording import PLACEHOLDER, speaking_to
from retrieval_report.study.caveats import health_sentences
from text import plain, sentence
from wording import DashboardReader

UPSIDE_DOWN = upside_down("right")


def test_health_is_said_in_the_words_of_each_reader():
    study = rr.Study(UPSIDE_DOWN, "ndcg@5", truncated="no")
    for _ in range(2):  # whoever asks first
        said = " ".join(health_sentences(study.health))
        assert "negate these scores" in said
    assert study.suspects == ["turned"]
    alone = rr.Study(UPSIDE_DOWN.filter(model="turned"), "ndcg@5", truncated="no")
    for _ in range(2):
        assert "If not: columns={'distance': 'score'}" in " ".join(health_sentences(alone.health))
        with speaking_to(DashboardReader()):
            said = " ".join(health_sentences(alone.health))
        assert "columns=" not in said
        assert "“Column of distance: score”, when you open the files on the page “Data" in said


def test_pages_that_give_no_verdict_lead_to_the_reason(monkeypatch: pytest.MonkeyPatch):
    links = list[str]()
    monkeypatch.setattr(Page, "link", lambda _, name, label: links.append(label))
    for name, *models in ("compare", "right"), ("compare", "a", "b"), ("pair", "a", "b"):
        links.clear()
        page = open_page(name, made_data(upside_down(*models), truncated="no"))
        assert words(page).count(plain("No verdict is given on turned.")) == 1
        assert links[-1:] == ["What is wrong with the data"]
        assert ("No two models are left to compare." in words(page)) is (models == ["right"])


def test_messages_begin_with_a_capital_and_names_are_kept():
    assert sentence("query 'q' has no list").startswith("Query")
    for text in ("lists.csv: no rows", "bm25 has no list", "cutoff: 0 is not above 0", "", "two"):
        assert sentence(text).replace("\\", "").startswith(text[:5])


def test_a_name_to_be_chosen_stands_without_angle_brackets():
    said = DashboardReader(columns=True).setting("columns", ({"distance": PLACEHOLDER},), "")
    assert said == "“Column of distance: your name for it”"
