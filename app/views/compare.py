"""The page on two models and on all pairs: how far apart they are, and whether queries or tie order
explain it.
"""

from __future__ import annotations

import polars as pl
import streamlit as st

from cached import ask
from chart_display import BOXES
from page import Page
from retrieval_report.comparison.pairs import ahead_first, turned
from retrieval_report.comparison.verdicts import with_chances
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.registry import column
from retrieval_report.study.caveats import naive_ties, significance
from retrieval_report.study.terminal import deviation
from retrieval_report.study.verdict import margin_sentences, verdict
from retrieval_report.writing.numbers import chance_text, interval
from tables import frame_table
from text import plain, short
from url_controls import choose_number, choose_one, choose_pair

SHOWN = (
    "policy model_a model_b value_a value_b difference ci_low ci_high family_p tie_std p_tie "
    "wins ties losses"
)
MARGIN = (
    "model verdict value baseline_value difference bound_low bound_high no_worse_p tie_std "
    "detectable queries_needed queries"
)
INTERVAL = column("board", "interval")


def show(page: Page) -> None:
    """Draw the page."""
    page.heading(f"Compare: {page.measure}")
    if len(page.choice.models) < 2:
        st.info(
            "It takes two models to compare. Choose more in the sidebar, or open data that has "
            "several."
        )
        return
    expected = page.study.comparison.filter(policy="expected")
    if expected["difference"].null_count() == expected.height:
        st.info(f"No two of these models have a score for {page.measure} on the same query.")
        return
    ranked = page.ranked
    pair = choose_pair(ranked, *ranked[:2])
    if pair[0] != pair[1]:
        _two(page, *pair)
    _all_pairs(page, expected)
    _no_worse(page, ranked)
    if pair[0] != pair[1]:
        _alike(page, *pair)


def _all_pairs(page: Page, expected: pl.DataFrame) -> None:
    """Show every pair, as a chart and a table."""
    st.header("All pairs", anchor="all-pairs")
    page.show(page.study.plot.comparison_matrix)
    st.caption(
        "Pairs that tie order reverses most easily come first. Choose a row to see that pair above."
    )
    rows = ahead_first(expected.drop("policy"), pl.col("difference") < 0)
    unsure = pl.col("p_tie_high").fill_null(1.0)
    rows = rows.sort(unsure, descending=True, maintain_order=True)
    alt = "Every pair of models, the least safe first."
    frame_table(
        with_chances(rows), of="comparison", show=SHOWN, alt=alt, key="pairs", on_select=_take
    )


def _take(row: Named) -> None:
    """Choose the pair in a row of the table."""
    st.session_state["a"], st.session_state["b"] = row["model_a"], row["model_b"]


def _alike(page: Page, first: str, second: str) -> None:
    """Show whether the lists of two models differ in more than the order of their ties."""
    alike = page.study.pair(first, second).similarity_means
    if alike.width:
        st.header("How alike are the lists?", anchor="alike")
        alt = "Similarity of the lists of both models."
        frame_table(alike, of="similarity_means", alt=alt)
        st.caption(
            "Whether they differ in more than the order of their ties; relevance does not matter "
            "here."
        )


def _no_worse(page: Page, ranked: list[str]) -> None:
    """Show which models lose no more than a margin against a baseline."""
    st.header("No worse than", anchor="no-worse")
    st.caption(
        "That a difference is not significant does not show that there is none. Two one-sided "
        "tests ask whether a "
        "model loses less than a margin that would matter, for example after quantising or pruning."
    )
    left, right = st.columns(2)
    with left:
        baseline = choose_one("Baseline", ranked, name="baseline")
    with right:
        margin = choose_number(
            "Margin", name="margin", low=0.0001, default=0.01, step=0.005, format="%g"
        )
    ask(page.data, baseline=baseline, margin=margin)
    rows = page.study.using(baseline=baseline, margin=margin).no_worse
    rows = rows.sort("difference", descending=True, nulls_last=True)
    for sentence in margin_sentences(rows, page.choice.measure):
        st.markdown(plain(sentence))
    alt = f"Models against {short(baseline)} at {page.choice.measure}, the best first."
    frame_table(rows, of="no_worse", show=MARGIN, alt=alt)


def _two(page: Page, first: str, second: str) -> None:
    """Show everything about one pair."""
    study, at = page.study, page.choice.at
    ties = naive_ties(study.like, study.options.naive_order)
    both = pl.all_horizontal(pl.col("model_a", "model_b").is_in([first, second]))
    means = study.summary.filter(pl.col("model").is_in([first, second]))
    status, sentences = verdict(means, study.flips.filter(both), **at, ties=ties)
    BOXES.get(status, st.info)("\n\n".join(map(plain, (*sentences, *study.notices))))
    pair = turned(study.comparison.filter(both), pl.col("model_a") != first)
    exact = pair.filter(policy="expected")
    if exact["difference"].null_count():
        st.info(f"They have no query in common on which both have a score for {page.measure}.")
        return
    _numbers(exact.row(0, named=True))
    plain_means = page.choice.options["average"] == "micro"
    if not plain_means:
        st.caption(
            "Differences, intervals and p-values refer to plain means over queries, whatever the "
            "average."
        )
    st.subheader("What each kind of score says", anchor="policies")
    rows = with_chances(pair.drop("model_a", "model_b"))
    frame_table(rows, of="comparison", show=SHOWN, alt="The pair under every kind of score.")


def _numbers(row: Named) -> None:
    """Show the difference and both kinds of uncertainty."""
    names = f"A is {plain(row['model_a'], 60)}, B is {plain(row['model_b'], 60)}"
    tie = deviation({"tie_std": row["tie_std"], "truncated_share": row["truncated_queries"]})
    moves, reversal = (column("comparison", name) for name in ("tie_std", "p_tie"))
    chance = chance_text(row["p_tie"], row["p_tie_low"], row["p_tie_high"])
    spread = interval(row["ci_low"], row["ci_high"], 4)
    difference = f"{row['difference']:+.4f}".replace("-", "−")
    with st.container(horizontal=True, gap="large"):
        for title, text, meaning in (
            ("A − B, expected", difference, names),
            (f"{INTERVAL.title} over queries", spread, INTERVAL.help),
            ("Tie order moves it by", tie if row["tie_std"] is None else f"± {tie}", moves.help),
            (reversal.title, chance, reversal.help),
        ):
            st.metric(title, text, help=meaning, width="content")
    known = "not known" if row["family_p"] is None else significance(row)
    st.markdown(
        f"{names}. Of {row['queries']} queries A wins {row['wins']}, B wins {row['losses']}, "
        f"{row['ties']} are equal. Significance of the difference over the queries: {known}."
    )
