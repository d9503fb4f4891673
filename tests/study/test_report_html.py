import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files

import altair as alt
import polars as pl
import pytest

from made_reports import HOSTILE, made_rankings, made_report
from retrieval_report.charts import IN_REPORT
from retrieval_report.charts.responsive import Panel, Responsive
from retrieval_report.report import report_contents
from retrieval_report.study.html import render_html, vega_bundle
from retrieval_report.study.pictures import Picture
from retrieval_report.study.questions import QUESTIONS
from retrieval_report.study.tables import MOST_ROWS, ROWS, report_tables

PLAIN = ("fine", "middle", "coarse")
VOID = {"meta", "link", "input", "img", "br", "hr"}


class Page(HTMLParser):
    """Elements with their attributes and own text, as a browser would see them."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self.open: list[tuple[str, list[str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]):
        text: list[str] = []
        self.elements.append((tag, {name: value or "" for name, value in attributes}, text))
        if tag not in VOID:
            self.open.append((tag, text))

    def handle_endtag(self, tag: str):
        assert self.open, f"</{tag}> ends nothing"
        opened, _ = self.open.pop()
        assert opened == tag

    def handle_data(self, data: str):
        for _, text in self.open:
            text.append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str], str]]:
        return [
            (attributes, "".join(text)) for name, attributes, text in self.elements if name == tag
        ]


def chart(**extra: str) -> Picture:
    values = [{"model": name, "value": 1.0} for name in HOSTILE]
    drawn = alt.Chart(alt.InlineData(values=values)).mark_bar().encode(x="value:Q", y="model:N")
    parts = Responsive(
        "Finding", "how to read it", "told", (Panel(drawn.to_dict() | extra, None),), 1
    )
    return Picture("tiny", "comparison", parts)


@cache
def page(models: tuple[str, ...] = HOSTILE, title: str = HOSTILE[0]) -> tuple[str, Page]:
    text = render_html(made_report(models, title), [chart()])
    return text, Page(text)


def test_row_104_hostile_names_come_out_as_text():
    _text, parsed = page()
    assert parsed.open == []
    assert not any(name == "img" for name, _, _ in parsed.elements)
    assert not any(
        attribute.startswith("on")
        for _, attributes, _ in parsed.elements
        for attribute in attributes
    )
    names = [shown for attributes, shown in parsed.all("th") if attributes.get("scope") == "row"]
    assert any(name.startswith("</script><img src=x") for name in names)
    assert parsed.all("h1")[0][1].startswith("</script><img")
    # One script of Vega, one of our own, and data.
    scripts = [attributes.get("type", "") for attributes, _ in parsed.all("script")]
    assert scripts == ["application/json", "", ""]


def test_row_104_only_what_this_package_wrote_is_not_escaped():
    template = files("retrieval_report.study").joinpath("templates/report.html.j2")
    values = re.findall(r"{{(.*?)}}", template.read_text("utf-8"))
    raw = {value.strip() for value in values if re.search(r"\|\s*safe\b", value)}
    assert raw == {"style | safe", "scripts.charts | safe", "scripts.behaviour | safe"}
    assert not re.search(r"{%-?\s*(autoescape|filter\s+safe)", template.read_text("utf-8"))


def test_row_104_json_in_the_page_is_escaped_and_reads_as_it_was():
    _, parsed = page()
    data = next(text for attributes, text in parsed.all("script") if attributes.get("type"))
    assert not re.search("[<>&\u2028\u2029]", data)
    assert json.loads(data) == chart().drawn.panels[0].specification


def test_row_107_nan_in_a_chart_is_an_error_and_not_a_broken_page():
    picture = chart()
    picture.drawn.panels[0].specification["value"] = float("nan")
    with pytest.raises(ValueError, match="Out of range float"):
        render_html(made_report(), [picture])


def test_row_106_long_and_right_to_left_names_are_cut_and_harmless():
    text, parsed = page()
    assert "\u202e" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    cells = [shown for tag in ("td", "th") for _, shown in parsed.all(tag)]
    assert max(len(cell.strip()) for cell in cells) < 400
    assert "\\u202eright to left \u05e2\u05d1\u05e8\u05d9\u05ea" in " ".join(cells)


def test_the_page_allows_its_own_scripts_and_style_and_nothing_else():
    _text, parsed = page()
    policy = next(
        a["content"]
        for a, _ in parsed.all("meta")
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        contents = [shown for attributes, shown in parsed.all(tag) if not attributes.get("type")]
        hashes = [
            f"'sha256-{base64.b64encode(hashlib.sha256(c.encode()).digest()).decode()}'"
            for c in contents
        ]
        assert rules[rule].split() == hashes
    assert not any("style" in attributes for _, attributes, _ in parsed.elements)


@pytest.mark.slow
def test_every_link_within_the_page_and_every_label_has_a_target():
    for models in (HOSTILE, ("alone",)):
        _, parsed = page(models)
        ids = [attributes["id"] for _, attributes, _ in parsed.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        for _, attributes, _ in parsed.elements:
            named = [
                attributes.get(name, "")
                for name in ("aria-controls", "aria-labelledby", "data-target")
            ]
            targets = [target for target in named if target] + [attributes.get("href", "")[1:]]
            assert all(
                target in ids for target in targets if target and not target.startswith("ata:")
            )


def test_tables_can_be_read_aloud():
    _, parsed = page(PLAIN, "Retrieval report")
    assert len(parsed.all("table")) == len(parsed.all("caption"))
    assert all(caption.strip() for _, caption in parsed.all("caption"))
    assert all(attributes.get("scope") in ("row", "col") for attributes, _ in parsed.all("th"))
    assert parsed.all("html")[0][0]["lang"] == "en"


def test_the_verdict_comes_first_and_the_sections_follow():
    _, parsed = page(PLAIN, "Retrieval report")
    sections = [attributes["id"] for attributes, _ in parsed.all("section")]
    assert sections == [
        "verdict",
        "three",
        "summary",
        "comparison",
        "cutoffs",
        "audit",
        "ties",
        "method",
        "repeat",
    ]
    verdict = parsed.all("section")[0][1]
    for sentence in made_report().verdict:
        assert sentence in verdict
    method = parsed.all("section")[7][1]
    assert "the relevant items among the top k" in method


def test_vega_is_embedded_once_however_many_charts():
    report = made_report()
    one, three = (render_html(report, [chart()] * count) for count in (1, 3))
    assert len(three) - len(one) < 40_000
    assert render_html(report, []).count("embedChart = vegaEmbed") == 0
    assert len(render_html(report, [])) < 200_000


def test_the_bundle_keeps_its_names_to_itself_and_cannot_end_its_element():
    bundle = vega_bundle()
    assert bundle.startswith("(()=>{")
    assert bundle.endswith("})();")
    assert "</script" not in bundle.lower()
    assert "<!--" not in bundle


def test_rows_beyond_the_limit_are_left_to_the_files():
    report = made_report()
    for name, most in {"queries": ROWS, **MOST_ROWS}.items():
        many = pl.concat([report.frames[name]] * 300)
        table = report_tables(replace(report, frames={**report.frames, name: many}))[name]
        assert len(table.rows) == most
        assert table.question.note.startswith(f"The first {most} of ")


def test_columns_without_a_value_are_left_out():
    report = report_contents(made_rankings(("a",), queries=1), metrics="precision@1")
    headers = [column.header for column in report_tables(report)["summary"].columns]
    assert "Expected" in headers
    assert {"Rank", "95% interval", "Ranks by queries"}.isdisjoint(headers)


def test_queries_that_were_left_out_are_counted_in_the_table_of_means():
    runs = {"m": {"q": {"a": 2, "b": 1}, "unjudged": {"a": 2, "b": 1}}}
    report = report_contents(
        runs, judgements={"q": {"a": 1}}, metrics="rr", truncated="no", unjudged_query="skip"
    )
    table = report_tables(report)["summary-all"]
    assert [column.header for column in table.columns][-2:] == ["Queries", "Not judged"]
    assert [cell.text for cell in table.rows[0]][-2:] == ["1", "1"]


def test_the_page_has_the_section_of_every_table_and_chart():
    page = files("retrieval_report.study").joinpath("templates/report.html.j2").read_text("utf-8")
    tables = {part.section for part in QUESTIONS} - {""}
    assert tables <= set(re.findall(r'of_section\("(\w+)"\)', page))
    assert {*IN_REPORT.values()} == set(re.findall(r'figures\("(\w+)"\)', page))


def test_the_audit_folds_what_tie_order_does_not_change():
    report = made_report()
    tables = report_tables(report)
    here = report.audit.filter(pl.col("cutoff").eq_missing(report.cutoff), metric=report.metric)
    settled = (
        here.filter(off=0.0, same_winner=True).height
        + here.filter(pl.col("same_winner").is_null(), off=0.0).height
    )
    assert 0 < settled < here.height
    assert [len(tables[name].rows) for name in ("audit", "audit-exact")] == [
        here.height - settled,
        settled,
    ]


def test_the_audit_says_which_rules_it_does_not_apply():
    said = "Not applied here, because evaluators have no such rule: "
    assert said not in render_html(made_report(), [])
    rounded = report_contents(made_rankings(("fine",)), metrics="ndcg", cutoffs=3, decimals=1)
    page = render_html(rounded, [])
    assert f"{said}Decimals kept.</p>" in page
