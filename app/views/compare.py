"""The page on two models and on all pairs: how far apart they are, and whether queries or tie order
explain it.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

import retrieval_report as rr
from cached import ask, ranked_models, shown, study_of, winners
from chart_display import BOXES, chart_of, show_chart
from records import Choice, Data
from retrieval_report import charts
from retrieval_report.comparison.pairs import ahead_first, turned
from retrieval_report.comparison.verdicts import (
    CUT,
    NO_WORSE,
    NOT_DECIDED,
    NOTHING,
    UNKNOWN_R,
    WORSE,
    with_chances,
)
from retrieval_report.contracts.columns import INTERVAL
from retrieval_report.contracts.registry import column
from retrieval_report.study.caveats import naive_ties, significance
from retrieval_report.study.terminal import deviation
from retrieval_report.study.verdict import pair_verdict
from retrieval_report.writing.numbers import chance_text, interval
from tables import frame_table, heading
from text import plain, short
from url_controls import choose_number, choose_one, choose_pair

SHOWN = (
    *(
        "policy",
        "model_a",
        "model_b",
        "value_a",
        "value_b",
        "difference",
        "ci_low",
        "ci_high",
        "family_p",
    ),
    *("tie_std", "p_tie", "wins", "ties", "losses"),
)
MARGIN = (
    *(
        "model",
        "verdict",
        "value",
        "baseline_value",
        "difference",
        "bound_low",
        "bound_high",
        "no_worse_p",
    ),
    *("tie_std", "detectable", "queries_needed", "queries"),
)
MATRIX = 60  # most models for which all pairs are drawn; a table holds any number


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Compare: {plain(choice.measure)}", data)
    if len(choice.models) < 2:
        st.info(
            "It takes two models to compare. Choose more in the sidebar, or open data that has "
            "several."
        )
        return
    study = study_of(data, choice).at(choice.measure)
    found = study.comparison
    expected = found.filter(pl.col("policy") == "expected")
    if expected["difference"].null_count() == expected.height:
        st.info(
            f"No two of these models have a score for {plain(choice.measure)} on the same query."
        )
        return
    first, second = _choose(study)
    if first != second:
        _two(data, choice, study, first, second)
    st.header("All pairs", anchor="all-pairs")
    if len(choice.models) <= MATRIX:
        show_chart(chart_of(data, choice, study.plot.comparison_matrix))
    else:
        st.caption(
            f"More than {MATRIX} models are listed below, not drawn; choose some in the sidebar to "
            "see them."
        )
    st.caption(
        "Pairs that tie order reverses most easily come first. Choose a row to see that pair above."
    )
    rows = ahead_first(expected, pl.col("difference") < 0)
    rows = rows.sort(
        pl.col("p_tie_high").fill_null(1.0), descending=True, maintain_order=True
    ).drop("policy")

    def take(row: dict[str, Any]) -> None:
        st.session_state["a"], st.session_state["b"] = row["model_a"], row["model_b"]

    alt = "Every pair of models, the least safe first."
    frame_table(
        with_chances(rows), of="comparison", show=SHOWN, alt=alt, key="pairs", on_select=take
    )
    _no_worse(data, study, choice)
    if first != second:
        _alike(study, first, second)


def _alike(study: rr.Study, first: str, second: str) -> None:
    """Show whether the lists of two models differ in more than the order of their ties."""
    alike = study.pair(first, second).similarity
    if alike.width:
        st.header("How alike are the lists?", anchor="alike")
        frame_table(
            alike,
            of="similarity_means",
            show=alike.columns,
            alt="Similarity of the lists of both models.",
        )
        st.caption(
            "Whether they differ in more than the order of their ties; relevance does not matter "
            "here."
        )


def _choose(study: rr.Study) -> tuple[str, str]:
    """Choose the pair; at first the best model and the one that only seems to be best, or the
    second best.
    """
    said, ranked = winners(study), ranked_models(study)
    best = (said.best or tuple(ranked))[0]
    rivals = [model for model in (*said.printed, *ranked) if model != best]
    return choose_pair(ranked, best, rivals[0])


def _no_worse(data: Data, study: rr.Study, choice: Choice) -> None:
    """Show which models lose no more than a margin against a baseline."""
    st.header("No worse than", anchor="no-worse")
    st.caption(
        "That a difference is not significant does not show that there is none. Two one-sided "
        "tests ask whether a "
        "model loses less than a margin that would matter, for example after quantising or pruning."
    )
    columns = st.columns(2)
    with columns[0]:
        baseline = choose_one("Baseline", ranked_models(study), name="baseline")
    with columns[1]:
        margin = choose_number(
            "Margin", name="margin", low=0.0001, default=0.01, step=0.005, format="%g"
        )
    ask(data, baseline=baseline, margin=float(margin))
    found = study.using(baseline=baseline, margin=float(margin)).no_worse
    found = found.sort("difference", descending=True, nulls_last=True)
    said = {
        NO_WORSE: "No worse than {} by {}",
        WORSE: "Worse than {} by more than {}",
        NOT_DECIDED: "These queries do not show whether the loss against {} is below {}",
        CUT: "The lists are cut, so that they do not show whether the loss against {} is below {}",
        UNKNOWN_R: "R is not known, so that nothing shows whether the loss against {} is below {}",
        NOTHING: "Without a relevant item, nothing shows whether the loss against {} is below {}",
    }
    names = {
        verdict: ", ".join(plain(name, 60) for name in found.filter(verdict=verdict)["model"])
        for verdict in said
    }
    for verdict, sentence in said.items():
        if names[verdict]:
            st.markdown(
                f"- {sentence.format(plain(baseline, 60), f'{margin:g}')}: {names[verdict]}."
            )
    alt = f"Models against {short(baseline)} at {choice.measure}, the best first."
    frame_table(found, of="no_worse", show=MARGIN, alt=alt)


def _two(data: Data, choice: Choice, study: rr.Study, first: str, second: str) -> None:
    """Show everything about one pair."""
    ties = naive_ties(study.like, study.options.naive_order)
    status, sentences = pair_verdict(study.flips, first, second, **choice.at, ties=ties)
    BOXES.get(status, st.info)("\n\n".join(plain(sentence) for sentence in sentences))
    both = pl.col("model_a").is_in([first, second]) & pl.col("model_b").is_in([first, second])
    pair = turned(study.comparison.filter(both), pl.col("model_a") != first)
    exact = pair.filter(pl.col("policy") == "expected")
    if exact["difference"].null_count():
        st.info(
            f"They have no query in common on which both have a score for {plain(choice.measure)}."
        )
        return
    _numbers(exact.row(0, named=True))
    if choice.average != "micro":
        st.caption(
            "Differences, intervals and p-values refer to plain means over queries, whatever the "
            "average."
        )
    bounds = shown(study.summary, choice) if choice.average == "micro" else None
    show_chart(
        chart_of(
            data, choice, charts.intervals, pair, **choice.at, summary=bounds, key=(first, second)
        )
    )
    st.subheader("What each kind of score says", anchor="policies")
    rows = with_chances(pair.drop("model_a", "model_b"))
    frame_table(rows, of="comparison", show=SHOWN, alt="The pair under every kind of score.")
    st.subheader("What repeated runs would print", anchor="runs")
    _runs(data, choice, study.models(first, second), (first, second))


def _runs(data: Data, choice: Choice, pair: rr.Study, names: tuple[str, str]) -> None:
    """Show what two models would score if their ties were shuffled again and again."""
    if data.large and "shuffled" not in choice.policies:
        st.info(
            "Choose *shuffled* under “Scores shown” in the sidebar to draw random tie orders: it "
            "takes minutes."
        )
        return
    with st.spinner(f"Drawing {choice.draws.shuffles} random orders of the ties …", show_time=True):
        pair.draws  # noqa: B018  # what takes long
    show_chart(chart_of(data, choice, pair.plot.shuffled_distribution, one_axis=True, key=names))


def _numbers(row: dict[str, Any]) -> None:
    """Show the difference and both kinds of uncertainty."""
    names = f"A is {plain(row['model_a'], 60)}, B is {plain(row['model_b'], 60)}"
    tie = deviation({"tie_std": row["tie_std"], "truncated_share": row["truncated_queries"]})
    known = {name: column("comparison", name) for name in ("tie_std", "p_tie")}
    chance = chance_text(row["p_tie"], row["p_tie_low"], row["p_tie_high"])
    figures = (
        ("A − B, expected", f"{row['difference']:+.4f}".replace("-", "−"), names),
        (
            f"{INTERVAL.title} over queries",
            interval(row["ci_low"], row["ci_high"], 4),
            INTERVAL.help,
        ),
        (
            "Tie order moves it by",
            tie if row["tie_std"] is None else f"± {tie}",
            known["tie_std"].help,
        ),
        (known["p_tie"].title, chance, known["p_tie"].help),
    )
    with st.container(horizontal=True, gap="large"):
        for title, text, meaning in figures:
            st.metric(title, text, help=meaning, width="content")
    said = "not known" if row["family_p"] is None else significance(row)
    st.markdown(
        f"{names}. Of {row['queries']} queries A wins {row['wins']}, B wins {row['losses']}, "
        f"{row['ties']} are equal. "
        f"Significance of the difference over the queries: {said}."
    )
