"""Names that would act as Markdown, HTML, mathematics or an icon are text on every page."""

import pytest

from made_pages import NAMES, made_data, open_page, table, words
from made_reports import made_rankings
from retrieval_report.writing.names import unique_labels
from tables import NAME_LETTERS
from text import plain

DATA = made_data(made_rankings(NAMES))
CHOSEN = {"pair": {"a": "**bold**", "b": "<b>tag</b>"}}


@pytest.mark.parametrize("name", ["overview", "pair", "compare", "ties", "audit", "queries"])
def test_names_are_text(name: str):
    page = open_page(name, DATA, **CHOSEN.get(name, {}))
    said = words(page)
    assert not [text for text in NAMES if text in said]
    if name == "overview":
        assert all(plain(text, 60) in said for text in NAMES[:2])
    if name == "ties":  # literally, long ones shortened
        assert {*table(page, 0)["model"]} == {*unique_labels(NAMES, NAME_LETTERS).values()}
    if name == "pair":
        assert r"A is \*\*bold\*\*, B is \<b\>tag\<\/b\>" in said
        page.selectbox(key="b").set_value("x" * 5000).run()
        assert max(map(len, words(page).splitlines())) < 600
