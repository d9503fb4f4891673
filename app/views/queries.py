"""The page on single queries: which scores depend on tie
order, and one ranked list under its possible orders.
"""

import polars as pl
import streamlit as st

from cached import answered
from chart_display import show_chart
from page import Page
from records import SCORING
from retrieval_report import charts
from retrieval_report.comparison.identical import folded
from retrieval_report.contracts.arguments import Named
from retrieval_report.ties.distributions import score_distribution
from retrieval_report.ties.orders import ranking_ties
from tables import ITEMS, LISTED, brushed_table, items_table
from text import plain, short
from url_controls import choose_one, choose_query

RECEIVED = "order received"
COLUMNS = "query expected lowest highest model naive spread std naive_error truncated"
ITEMS_SHOWN: Named = {
    "of": "tie_groups",
    "show": "rank tie tie_size tie_relevant item text image relevance distance score",
    "widths": {"text": 360},
    "alt": "The items in the order received.",
}
NUMBERS = {
    "Order received": "naive",
    "Expected": "expected",
    "± tie std": "std",
    "Lowest": "lowest",
    "Highest": "highest",
}


def show(page: Page) -> None:
    """Draw the page."""
    scored = page.runs.queries.drop_nulls("expected").sort("truncated", maintain_order=True)
    if scored.is_empty():
        st.info(
            f"No query has a score for {page.measure}: the rules in the sidebar leave all of them "
            "out."
        )
        return
    if scored["spread"].max() == 0:
        st.info(f"No query’s {page.measure} is affected by tie order.")
    last = "; lists whose missing items can change the score come last"
    last = last if scored["truncated"].any() else ""
    rows = folded(scored, page.runs.identical)
    caption = (
        f"{{}}, those that ties can change most first{last}. Choose a row to see its list."
        + (" Copies of a model are listed with it." if rows.height < scored.height else "")
    )
    brushed_table(
        None if page.data.source.counted else charts.query_scatter,
        rows,
        ("naive", "expected"),
        page.choice.at,
        "list",
        caption,
        of="queries",
        show=COLUMNS,
        take=_take,
    )
    st.header("One ranked list")
    st.caption(
        "Tied items have the same distance or score for the query, and nothing in the data decides "
        "which of them comes first. The order received is one possibility; the expected "
        f"{page.measure} is the mean over all."
    )
    scores = _choose(scored, tuple(page.runs.model_names))
    if scores is not None:
        _list(page, scores)


def _take(row: Named) -> None:
    """Choose the list in a row of the table."""
    st.session_state["model"], st.session_state["query"] = row["model"], short(row["query"])


def _choose(lists: pl.DataFrame, models: tuple[str, ...]) -> Named | None:
    """Choose a list by two menus and return its row; any query can be typed.

    The initial options must not depend on the rectangle, which the address does not contain.
    """
    first_side, right = st.columns(2)
    with first_side:
        model = choose_one("Model", models, name="model", default=lists["model"][0], hold=True)
    rows = lists.filter(model=model)
    with right:
        query = choose_query(rows["query"], "query", LISTED)
    if query is None:
        text = plain(st.session_state["query"], 60)
        st.info(f"{plain(model, 60)} has no score for a query “{text}”.")
        return None
    return rows.filter(query=query).row(0, named=True)


def _list(page: Page, scores: Named) -> None:
    """Show one list: its numbers, all scores that its orders can give, and its items."""
    data = page.data
    model, query = scores["model"], scores["query"]
    queries = data.frames.get("queries", pl.DataFrame())
    if "text" in queries.columns:
        texts_present = queries.filter(query=query)["text"].cast(pl.String).drop_nulls()
        st.markdown(
            f"The query: {plain(texts_present[0], 500)}"
            if len(texts_present)
            else "The query has no text."
        )
    if data.source.counted:
        _numbers(scores)
        st.info("Counts have no items, so there is no ranked list to show.")
        return
    which = {"model": model, "query": query, **page.choice.only(SCORING)}
    rows = answered(data, ranking_ties, which)
    if rows.is_empty():
        name = f"query {plain(query, 60)} of {plain(model, 60)}"
        st.info(f"The list of {name} is empty: the model has no rows for it.")
        return
    _numbers(scores)
    if scores["truncated"]:
        st.warning(
            "Items may be missing from this list. Lowest and highest allow for them; the scores "
            "below use only the items that are there."
        )
    draw_options = {**which, **page.choice.at, "seed": page.choice.options["seed"]}
    possible = answered(data, score_distribution, draw_options)
    marks = {"expected": scores["expected"], RECEIVED: scores["naive"]}
    show_chart(charts.score_distribution, possible, **page.choice.at, marks=marks)
    if rows.height > ITEMS:
        st.caption(f"The first {ITEMS} of {rows.height}.")
    items_table(data, rows.with_row_index("rank", 1), query, **ITEMS_SHOWN)


def _numbers(scores: Named) -> None:
    """Show the scores of one list side by side."""
    with st.container(horizontal=True, gap="medium"):
        for title, name in NUMBERS.items():
            if scores.get(name) is not None:
                st.metric(title, f"{scores[name]:.4f}", width="content")
