"""The page on single queries: which scores depend on tie order, and one ranked list under its
possible orders.
"""

from __future__ import annotations

import polars as pl
import streamlit as st

from cached import ranked, remember
from chart_display import brushed, show_chart
from page import Page
from records import SCORING, Choice, Data
from retrieval_report import charts
from retrieval_report.contracts.arguments import Named
from retrieval_report.ties.distributions import score_distribution
from tables import ITEMS, LISTED, NARROW, frame_table, judged_alone, with_texts
from text import plain, short
from url_controls import choose_one, choose_query

BRUSHED = "rectangle"
RECEIVED = "order received"
SHOWN = "query expected lowest highest model naive spread std naive_error truncated"
ITEMS_SHOWN = "rank tie tie_size tie_relevant item text image relevance distance score"
NUMBERS = {
    "Order received": "naive",
    "Expected": "expected",
    "± tie std": "std",
    "Lowest": "lowest",
    "Highest": "highest",
}


def show(page: Page) -> None:
    """Draw the page."""
    with st.spinner("Laying out the queries …"):
        known = page.study.queries.drop_nulls("expected").sort("truncated", maintain_order=True)
    if known.is_empty():
        st.info(
            f"No query has a score for {page.measure}: the rules in the sidebar leave all of them "
            "out."
        )
        return
    if known["spread"].max() == 0:
        st.success(f"No query’s {page.measure} is affected by tie order.")
    left, right = st.columns([5, 7])
    with left:
        rows = _brushed(page, known)
    with right:
        _table(rows, known.height)
    st.header("One ranked list", anchor="list")
    st.caption(
        "Tied items have the same distance or score for the query, and nothing in the data says which "
        f"of them comes first. The order received is one possibility; the expected {page.measure} "
        "is the mean over all."
    )
    scores = _choose(known, page.choice.models)
    if scores is not None:
        _list(page, scores)


def _brushed(page: Page, known: pl.DataFrame) -> pl.DataFrame:
    """Draw the scatter, and return the rows inside the rectangle drawn on it, or all."""
    if page.data.source.counted:
        st.caption("Counts have no order, so there is no naive score to compare with.")
        return known
    axes = "naive", "expected"
    rows, box = brushed(charts.query_scatter, known, *axes, key="scatter", **page.choice.at)
    if rows.is_empty():
        st.info("No query lies inside the rectangle; all are listed.")
        return known
    if box and box != st.session_state.get(BRUSHED):
        _take(rows.row(0, named=True))
    st.session_state[BRUSHED] = box
    return rows


def _take(row: Named) -> None:
    """Choose the list in a row of the table."""
    st.session_state["model"], st.session_state["query"] = row["model"], short(row["query"])


def _table(rows: pl.DataFrame, total: int) -> None:
    """Show the queries, those most affected by tie order first; choosing a row chooses its list."""
    part = "" if rows.height == total else f" inside the rectangle, of {total}"
    cut = f"; the first {LISTED} are listed" if rows.height > LISTED else ""
    last = "; lists whose missing items can change the score come last"
    last = last if rows["truncated"].any() else ""
    st.caption(
        f"{rows.height} lists{part}{cut}, those that ties can change most first{last}. Choose a row "
        "to see its list."
    )
    frame_table(
        rows.head(LISTED),
        of="queries",
        show=SHOWN,
        widths=NARROW,
        alt="Scores of every query.",
        key="query table",
        on_select=_take,
    )


def _choose(known: pl.DataFrame, models: tuple[str, ...]) -> Named | None:
    """Choose a list by two menus and return its row; any query can be typed.

    The initial options must not depend on the rectangle, which the address does not contain.
    """
    left, right = st.columns(2)
    with left:
        model = choose_one("Model", models, name="model", default=known["model"][0])
    rows = known.filter(model=model)
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
    model, query = key = (scores["model"], scores["query"])
    queries = data.frames.get("queries", pl.DataFrame())
    if "text" in queries.columns:
        texts = queries.filter(query=query)["text"]
        known = texts.cast(pl.String).drop_nulls()
        st.markdown(
            f"The query: {plain(known[0], 500)}" if len(known) else "The query has no text."
        )
    if data.source.counted:
        _numbers(scores)
        st.info("Counts have no items, so there is no ranked list to show.")
        return
    list_key = (data, page.choice.of_list, *key)
    rows = ranked(*list_key)
    if rows.is_empty():
        name = f"query {plain(query, 60)} of {plain(model, 60)}"
        st.info(f"The list of {name} is empty: the model has no rows for it.")
        return
    _numbers(scores)
    if scores["truncated"]:
        st.warning(
            "Items may be missing from this list: lowest and highest allow for them, and the scores "
            "below are those of the items that are there."
        )
    possible = _distribution(*list_key)
    marks = {"expected": scores["expected"], RECEIVED: scores["naive"]}
    show_chart(charts.score_distribution, possible, **page.choice.at, marks=marks)
    _items(judged_alone(rows, data.frames.get("judgements"), query), data.items)


@remember(64)
def _distribution(data: Data, choice: Choice, model: str, query: str | int) -> pl.DataFrame:
    """Return the result of `score_distribution` for one list and the chosen measure."""
    options = choice.only((*SCORING, "seed"))
    return score_distribution(**data.frames, model=model, query=query, **choice.at, **options)


def _items(rows: pl.DataFrame, texts: pl.DataFrame | None) -> None:
    """Show the items of a list, with their texts and pictures if there are any."""
    items = rows.head(ITEMS).with_row_index("rank", 1)
    if rows.height > ITEMS:
        st.caption(f"The first {ITEMS} of {rows.height}.")
    items = with_texts(items, texts)
    alt = "The items in the order received."
    frame_table(items, of="tie_groups", show=ITEMS_SHOWN, widths={"text": 360}, alt=alt)


def _numbers(scores: Named) -> None:
    """Show the scores of one list side by side."""
    with st.container(horizontal=True, gap="medium"):
        for title, name in NUMBERS.items():
            if scores.get(name) is not None:
                st.metric(title, f"{scores[name]:.4f}", width="content")
