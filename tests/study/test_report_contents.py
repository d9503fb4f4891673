import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import retrieval_report as rr
from made_reports import made_rankings, made_report
from retrieval_report.report import report_contents
from retrieval_report.study.fingerprint import content_hash
from retrieval_report.study.html import render_html
from retrieval_report.study.latex_markdown import latex_table, markdown_table


def test_the_verdict_is_about_the_first_measure():
    rankings = made_rankings(("a",), queries=1)
    for metrics, cutoffs, measure in (
        ("precision", (1, 3, None), "precision@1"),
        ("rr", None, "rr@all"),
        ("ap@2, rr@1", None, "ap@2"),
    ):
        assert report_contents(rankings, metrics=metrics, cutoffs=cutoffs).measure == measure
    study = rr.Study(rankings, ["rr", "ap"], cutoffs=(1, 2))
    assert study.at("map@1", "rr@1").contents().measure == "ap@1"


def test_counts_have_no_naive_policy_and_no_audit():
    counts = rr.count_ties(made_rankings(("a", "b")))
    report = report_contents(counts, metrics="ap", cutoffs=2)
    assert report.audit.width == 0
    assert "naive" not in report.summary["policy"]
    assert not any("Naive" in sentence for sentence in report.verdict)


def test_measures_that_no_other_system_prints_have_a_report_without_audit():
    study = rr.Study(made_rankings(("a", "b"), queries=3), "rbp@2", shuffles=2)
    report = study.contents()
    assert report.audit.is_empty()
    assert 'id="audit"' not in render_html(report, [])


def test_judgements_queries_and_options_reach_every_part():
    rankings = made_rankings(("a", "b")).drop("relevance")
    judgements = made_rankings(("a",)).select("query", "item", "relevance")
    queries = rankings.select("query").unique(maintain_order=True).with_columns(label=pl.lit("x"))
    report = report_contents(
        rankings,
        judgements=judgements,
        queries=queries,
        metrics="ap",
        cutoffs=2,
        average="macro",
        decimals=1,
        threads=1,
    )
    assert report.fingerprint["frame"].to_list() == ["rankings", "judgements", "queries"]
    assert report.parameters["average"] == "macro"
    assert "threads" not in report.parameters
    assert report.command == (
        "retrieval_report.Study(rankings, judgements=judgements, queries=queries, "
        "measures=['ap@2'], average='macro', decimals=1).report('report')"
    )


def test_the_call_that_repeats_a_decision_by_costs_asks_for_them():
    study = rr.Study(made_rankings(("a", "b")), "ap@2")
    assert "costs" not in study.contents().command
    command = study.using(costs=dict.fromkeys(study.model_names, 1)).contents().command
    assert command.startswith("retrieval_report.Study(rankings, costs=costs, measures=")


def test_the_fingerprint_follows_content_and_not_the_format(tmp_path: Path):
    frame = made_rankings(("a",))
    frame.write_parquet(tmp_path / "a.parquet")
    assert content_hash(pl.read_parquet(tmp_path / "a.parquet")) == content_hash(frame)
    assert content_hash(frame.rechunk()) == content_hash(pl.concat([frame[:5], frame[5:]]))
    assert content_hash(frame.reverse()) != content_hash(frame)
    assert content_hash(frame) == hashlib.sha256(frame.write_csv().encode()).hexdigest()


def test_naive_scores_of_another_system_are_not_said_to_have_the_order_received():
    data = {"coarse": {"q": {"a": 1, "b": 1}}, "fine": {"q": {"a": 2, "b": 1}}}
    for asked, order in (
        ({}, "in the order received"),
        ({"naive_order": "item_descending"}, "in descending order of their item ids"),
        ({"like": "trec_eval"}, "as trec_eval orders them"),
    ):
        study = rr.Study(data, "recall@1", judgements={"q": {"a": 1}}, truncated="no", **asked)  # type: ignore[arg-type]
        assert f"with ties {order}, are off" in " ".join(study.sentences)
        assert study.contents().verdict == study.sentences
        page = render_html(study.contents(), [])
        assert all(text in page for text in (f"take ties {order}.", f"naive: ties {order}</small>"))


def test_markdown_and_latex_mark_the_best_and_what_is_significant():
    report = made_report()
    lines = markdown_table(report).splitlines()
    width = report.summary.select("metric", "cutoff").n_unique() + 1
    assert [line.replace("\\|", "").count("|") for line in lines[:5]] == [width + 1] * 5
    assert lines[2].startswith("| **")
    text = latex_table(report)
    assert text.count(r"\\") == 4
    assert r"ap(denominator=retrieved)@3" in text


@pytest.mark.parametrize("table", [latex_table, markdown_table])
def test_papers_see_which_models_have_no_verdict(
    table: Callable[[rr.Study], str],
):
    judgements = {f"q{i}": {f"{name}{i}": 1 for name in "ab"} for i in range(40)}
    whole = {f"q{i}": {f"a{i}": 2.0, f"b{i}": 1.0} for i in range(40)}
    half = {name: whole[name] for name in list(whole)[:20]}
    other = {
        name: {f"x{item}": score for item, score in row.items()} for name, row in whole.items()
    }
    found = {
        name: table(rr.Study(runs, "precision@2", judgements=judgements, truncated="no"))
        for name, runs in {
            "half": {"whole": whole, "half": half},
            "ids": {"whole": whole, "x": other},
        }.items()
    }
    for text in found.values():
        assert "0?" in text
        assert "no verdict, and never the highest" in text
    runs = {"whole": {**whole, "q0": {"z": 1.0}}, "half": half}
    half_first = table(
        rr.Study(runs, "precision@2", judgements=judgements, truncated="no", missing_query="skip")
    )
    assert "1.0000 ± 0.0000?" in half_first.replace(r"$\pm$", "±")
    assert "**0.97" in half_first or r"\textbf{0.97" in half_first
    assert "?" not in table(
        rr.Study(
            {"whole": whole, "same": whole}, "precision@2", judgements=judgements, truncated="no"
        )
    )


ACTING = (
    *("a|b`c`_d_", "50% & $x_1$ {~^\\}", "\x1b[31m<b>"),
    *("https://evil.example/x", "WWW.evil.example", "me@evil.example"),
)


def test_row_105_names_cannot_act_in_markdown_and_latex():
    report = made_report(ACTING)
    markdown, latex = markdown_table(report), latex_table(report)
    assert r"a\|b\`c\`\_d\_" in markdown
    assert "<b>" not in markdown
    assert r"50\% \& \$x\_1\$ \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}" in latex
    assert "\x1b" not in markdown + latex
    assert not re.search(r"(?i)https?://\w|www\.|@\w+\.\w", markdown)
    assert markdown.replace("\u2060", "").count("evil.example") == 3
