from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import retrieval_report as rr
from made_reports import made_rankings, made_report
from retrieval_report.report import report_contents
from retrieval_report.study.fingerprint import content_hash
from retrieval_report.study.html import render_html
from retrieval_report.study.latex_markdown import latex_table, markdown_table
from retrieval_report.study.verdict import verdict


def test_the_verdict_is_about_the_first_measure() -> None:
    rankings = made_rankings(("a",), queries=1)
    for metrics, cutoffs, measure in (
        ("precision", (1, 3, None), "precision@1"),
        ("rr", None, "rr@all"),
        ("ap@2, rr@1", None, "ap@2"),
    ):
        assert report_contents(rankings, metrics=metrics, cutoffs=cutoffs).measure == measure
    study = rr.Study(rankings, ["rr", "ap"], cutoffs=(1, 2))
    assert study.at("map@1", "rr@1").contents().measure == "ap@1"


def test_counts_have_no_naive_policy_and_no_audit() -> None:
    counts = rr.count_ties(made_rankings(("a", "b")))
    report = report_contents(counts, metrics="ap", cutoffs=2)
    assert report.audit.width == 0
    assert "naive" not in report.summary["policy"]
    assert not any("Naive" in sentence for sentence in report.verdict)


def test_measures_that_no_other_system_prints_have_a_report_without_audit() -> None:
    study = rr.Study(made_rankings(("a", "b"), queries=3), "rbp@2", shuffles=2)
    report = study.contents()
    assert report.audit.is_empty()
    assert 'id="audit"' not in render_html(report, [])


def test_judgements_queries_and_options_reach_every_part() -> None:
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


def test_the_fingerprint_follows_content_and_not_the_format(tmp_path: Path) -> None:
    frame = made_rankings(("a",))
    frame.write_parquet(tmp_path / "a.parquet")
    assert content_hash(pl.read_parquet(tmp_path / "a.parquet")) == content_hash(frame)
    assert content_hash(frame.rechunk()) == content_hash(pl.concat([frame[:5], frame[5:]]))
    assert content_hash(frame.reverse()) != content_hash(frame)
    assert content_hash(frame) == hashlib.sha256(frame.write_csv().encode()).hexdigest()


def summary_of(rows: Sequence[tuple[str, str, float, float | None]]) -> pl.DataFrame:
    """A summary of one measure from (model, policy, value, tie_std)."""
    return pl.DataFrame(
        [
            {
                "model": model,
                "metric": "rr",
                "cutoff": None,
                "policy": policy,
                "value": value,
                "tie_std": std,
            }
            for model, policy, value, std in rows
        ],
        schema_overrides={"cutoff": pl.Int64},
    ).with_columns(
        **dict.fromkeys(("query_se", "ci_low", "ci_high", "lowest", "highest"), pl.lit(None)),
        queries=1,
        truncated_share=0.0,
    )


def flips_of(
    verdict: str, p_tie: float | None, disagree: str = "", method: str = "normal"
) -> pl.DataFrame:
    row = {
        "model_a": "a",
        "model_b": "b",
        "metric": "rr",
        "cutoff": None,
        "disagree": disagree,
        "verdict": verdict,
    }
    numbers = {
        "p_tie": p_tie,
        "p_tie_method": method,
        "family_p": 0.25,
        "value_a": 0.75,
        "value_b": 0.5,
        "unpaired": 0,
    }
    chances = {"p_tie_low": p_tie, "p_tie_high": p_tie, "family": 78, "family_method": "max-t"}
    return pl.DataFrame([row | numbers | chances], schema_overrides={"cutoff": pl.Int64})


TWO = [("a", "expected", 0.75, 0.01), ("b", "expected", 0.5, 0.02)]


def test_naive_scores_of_another_system_are_not_said_to_have_the_order_received() -> None:
    data = {"coarse": {"q": {"a": 1, "b": 1}}, "fine": {"q": {"a": 2, "b": 1}}}
    for asked, order in (
        ({}, "in the order received"),
        ({"naive_order": "item_descending"}, "in descending order of their item ids"),
        ({"like": "trec_eval"}, "as trec_eval orders them"),
    ):
        study = rr.Study(data, "recall@1", judgements={"q": {"a": 1}}, truncated="no", **asked)  # type: ignore[arg-type]
        assert f"with ties {order}, are off" in " ".join(study.sentences)
        assert study.contents().verdict == study.sentences
        assert f"take ties {order}." in render_html(study.contents(), [])


def test_the_verdict_answers_the_question_of_the_margin() -> None:
    asked = pl.DataFrame({
        "model": ["b", "c", "d", "e", "z"], "baseline": "a", "metric": "rr", "cutoff": [None] * 4 + [3],
        "verdict": ["no worse", "worse", "worse", "not decided", "worse"], "margin": 0.005,
    }, schema_overrides={"cutoff": pl.Int64})  # fmt: skip
    _, sentences = verdict(summary_of(TWO), flips_of("safe", 0.0), asked, metric="rr", cutoff=None)
    assert sentences[2:6] == (
        "If a loss of up to 0.005 in rr@all does not matter, b is no worse than a.",
        "c and d lose more than 0.005 in rr@all against a.",
        "These queries leave open whether e loses more than 0.005 in rr@all against a.",
        "Each of these models is tested by itself; the tests of pairs are corrected for all pairs.",
    )
    _, unasked = verdict(
        summary_of(TWO), flips_of("safe", 0.0), pl.DataFrame(), metric="rr", cutoff=None
    )
    assert unasked == (*sentences[:2], *sentences[6:])


def test_a_measure_without_score_is_said_so() -> None:
    outcome = verdict(summary_of(TWO), flips_of("safe", 0.0), metric="rr", cutoff=7)
    assert outcome == ("no score", ("No model has a score for rr@7.",))


def test_markdown_and_latex_mark_the_best_and_what_is_significant() -> None:
    report = made_report()
    lines = markdown_table(report).splitlines()
    width = report.summary.select("metric", "cutoff").n_unique() + 1
    assert [line.replace("\\|", "").count("|") for line in lines[:5]] == [width + 1] * 5
    assert lines[2].startswith("| **")
    text = latex_table(report)
    assert text.count(r"\\") == 4
    assert r"ap(denominator=retrieved)@3" in text


ACTING = (
    *("a|b`c`_d_", "50% & $x_1$ {~^\\}", "\x1b[31m<b>"),
    *("https://evil.example/x", "WWW.evil.example", "me@evil.example"),
)


def test_row_105_names_cannot_act_in_markdown_and_latex() -> None:
    report = made_report(ACTING)
    markdown, latex = markdown_table(report), latex_table(report)
    assert r"a\|b\`c\`\_d\_" in markdown
    assert "<b>" not in markdown
    assert r"50\% \& \$x\_1\$ \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}" in latex
    assert "\x1b" not in markdown + latex
    assert not re.search(r"(?i)https?://\w|www\.|@\w+\.\w", markdown)
    assert markdown.replace("\u2060", "").count("evil.example") == 3
