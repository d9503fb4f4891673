"""Two models side by side, and all pairs: how far apart, could it be the queries, could it be the tie order."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from cached import Data, at_cutoff, comparison, flips, shuffled, summary, verdict
from chart_display import BOXES, draw
from controls import Choice
from retrieval_report import charts
from retrieval_report.analysis.comparison import turned
from retrieval_report.analysis.verdicts import chance_of
from retrieval_report.contracts.columns import INTERVAL
from retrieval_report.contracts.registry import column
from retrieval_report.report.terminal import deviation
from retrieval_report.report.verdict import pair_verdict
from tables import frame_table, with_chances
from text import plain
from url_controls import choose_one

__all__ = ["show"]

SHOWN = (
    *("policy", "model_a", "model_b", "value_a", "value_b", "difference", "ci_low", "ci_high", "family_p"),
    *("tie_std", "p_tie", "wins", "ties", "losses"),
)
MATRIX = 60  # models up to which all pairs are drawn; a table holds any number


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    st.title(f"Compare: {plain(choice.measure)}")
    if len(choice.models) < 2:
        st.info("It takes two models to compare. Choose more in the sidebar, or open data that has several.")
        return
    found = comparison(data, choice)
    expected = found.filter(pl.col("policy") == "expected")
    if expected["difference"].null_count() == expected.height:
        st.info(f"No two of these models have a score for {plain(choice.measure)} on the same query.")
        return
    first, second = _choose(data, choice)
    if first == second:
        st.info("These are the same model twice. Choose another one to compare it with.")
    else:
        _two(data, choice, found, first, second)
    st.header("All pairs", anchor="all-pairs")
    if len(choice.models) <= MATRIX:
        draw(
            lambda: charts.comparison_matrix(found, metric=choice.metric, cutoff=choice.cutoff),
            *("comparison_matrix", data.digest, choice),
        )
    else:
        st.caption(f"More than {MATRIX} models are listed below, not drawn; choose some in the sidebar to see them.")
    st.caption("Pairs that tie order reverses most easily come first. Choose a row to see that pair above.")
    rows = expected.sort(pl.col("p_tie_high").fill_null(1.0), descending=True, maintain_order=True).drop("policy")

    def take() -> None:
        for number in st.session_state["pairs"]["selection"]["rows"]:
            st.session_state["a"], st.session_state["b"] = rows.select("model_a", "model_b").row(number)

    alt = "Every pair of models, the least safe first."
    shown = with_chances(rows)
    frame_table(shown, of="comparison", show=SHOWN, alt=alt, key="pairs", on_select=take)


def _choose(data: Data, choice: Choice) -> tuple[str, str]:
    """The pair in question; at first the best model and the one that only seems to be, or the second best."""
    said = verdict(data, choice)
    means = at_cutoff(summary(data, choice), choice).filter(pl.col("policy") == "expected")
    ranked = means.sort("value", "model", descending=[True, False], nulls_last=True)["model"].to_list()
    best = (said.best or choice.models)[0]
    rivals = [model for model in (*said.printed, *ranked, *choice.models) if model != best]
    columns = st.columns(2)
    with columns[0]:
        first = choose_one("Model A", choice.models, name="a", default=best)
    with columns[1]:
        second = choose_one("Model B", choice.models, name="b", default=rivals[0])
    return first, second


def _two(data: Data, choice: Choice, found: pl.DataFrame, first: str, second: str) -> None:
    """Everything about one pair."""
    measure: dict[str, Any] = {"metric": choice.metric, "cutoff": choice.cutoff}
    status, sentences = pair_verdict(flips(data, choice), first, second, **measure)
    BOXES.get(status, st.info)("\n\n".join(plain(sentence) for sentence in sentences))
    both = pl.col("model_a").is_in([first, second]) & pl.col("model_b").is_in([first, second])
    pair = turned(found.filter(both), pl.col("model_a") != first)
    exact = pair.filter(pl.col("policy") == "expected")
    if exact["difference"].null_count():
        st.info(f"They have no query in common on which both have a score for {plain(choice.measure)}.")
        return
    _numbers(exact.row(0, named=True))
    if choice.average != "micro":
        st.caption("Differences, intervals and p-values are of plain means over the queries, whatever is averaged.")
    key = (data.digest, choice, first, second)
    bounds = summary(data, choice) if choice.average == "micro" else None
    draw(lambda: charts.intervals(pair, **measure, summary=bounds), "intervals", *key)
    st.subheader("What each kind of score says", anchor="policies")
    shown = with_chances(pair.drop("model_a", "model_b"))
    frame_table(shown, of="comparison", show=SHOWN, alt="The pair under every kind of score.")
    st.subheader("What repeated runs would print", anchor="runs")
    if "shuffled" in choice.policies:
        means, known = shuffled(data, choice), at_cutoff(summary(data, choice), choice)
        models = [first, second]
        draw(
            lambda: charts.shuffled_distribution(means, known, **measure, models=models, one_axis=True),
            *("shuffled_distribution", *key),
        )
    else:
        st.info("Choose *shuffled* under “Scores shown” in the sidebar to draw random tie orders.")


def _numbers(row: dict[str, Any]) -> None:
    """The difference, and both kinds of uncertainty beside it."""
    names = f"A is {plain(row['model_a'], 60)}, B is {plain(row['model_b'], 60)}"
    interval = "–" if row["ci_low"] is None else f"{row['ci_low']:+.4f} … {row['ci_high']:+.4f}"
    tie = deviation({"tie_std": row["tie_std"], "truncated_share": row["truncated_queries"]})
    known = {name: column("comparison", name) for name in ("tie_std", "p_tie")}
    with st.container(horizontal=True, gap="large"):
        st.metric("A − B, expected", f"{row['difference']:+.4f}", help=names, width="content")
        st.metric(f"{INTERVAL.title} over queries", interval, help=INTERVAL.help, width="content")
        st.metric(
            "Tie order moves it by",
            tie if row["tie_std"] is None else f"± {tie}",
            help=known["tie_std"].help,
            width="content",
        )
        st.metric(known["p_tie"].title, chance_of(row), help=known["p_tie"].help, width="content")
    p_value = "not known" if row["family_p"] is None else f"p = {row['family_p']:.4f} after Holm’s correction"
    st.markdown(
        f"{names}. Of {row['queries']} queries A wins {row['wins']}, B wins {row['losses']}, {row['ties']} are equal. "
        f"Significance of the difference over the queries: {p_value}."
    )
