"""The page on single queries: which scores depend on tie order, and one ranked list under its
possible orders.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from cached import ranked_models, study_of
from chart_display import chart_of, show_chart
from details import distribution, drawn, ranked
from records import Choice, Data
from retrieval_report import charts
from tables import frame_table, heading
from text import plain, short
from url_controls import choose_number, choose_one, choose_pair

LISTED = 1000  # rows of the table and of the menu; every other query can be typed
ITEMS = 1000
MOST_DRAW = 1_000_000
DRAWN = 20  # queries that decide
BRUSHED = "rectangle"
RECEIVED = "order received"
SHOWN = (
    *(
        "query",
        "model",
        "naive",
        "expected",
        "spread",
        "lowest",
        "highest",
        "std",
        "naive_error",
        "truncated",
    ),
)
DECIDING = (
    "query",
    "difference",
    "lowest",
    "highest",
    "value_a",
    "value_b",
    "share",
    "decides",
    "order_unsure",
)
ITEMS_SHOWN = (
    "rank",
    "item",
    "text",
    "image",
    "relevance",
    "distance",
    "score",
    "tie",
    "tie_size",
    "tie_relevant",
)


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Queries: {plain(choice.measure)}", data)
    with st.spinner("Laying out the queries …"):
        table = study_of(data, choice).at(choice.measure).query_table
    known = table.filter(pl.col("expected").is_not_null())
    if known.is_empty():
        st.info(
            f"No query has a score for {plain(choice.measure)}: the rules in the sidebar leave all "
            "of them out."
        )
        return
    if known["spread"].max() == 0:
        st.success(f"No query’s {plain(choice.measure)} is affected by tie order.")
    left, right = st.columns([5, 7])
    with left:
        rows = _brushed(data, choice, known)
    with right:
        _table(rows, known.height)
    if len(choice.models) > 1:
        _deciding(data, choice)
    st.header("One ranked list", anchor="list")
    st.caption(
        "Tied items are at the same distance from the query, and nothing in the data says which of "
        "them comes first. "
        "The order received is one possibility, every random order another; the expected score is "
        "the mean over all."
    )
    chosen = _choose(known, choice)
    if chosen is not None:
        _list(data, choice, chosen)


def _brushed(data: Data, choice: Choice, known: pl.DataFrame) -> pl.DataFrame:
    """Draw the scatter, and return the rows inside the rectangle drawn on it, or all."""
    if data.counted:
        st.caption("Counts have no order, so there is no naive score to compare with.")
        return known
    event = show_chart(
        chart_of(data, choice, charts.query_scatter, known, **choice.at, listed=False),
        key="scatter",
        on_select="rerun",
        selection_mode="brush",
    )
    box = event["selection"].get("brush") or {}
    inside = [
        pl.col(name).is_between(*sorted(box[name])) for name in ("naive", "expected") if name in box
    ]
    rows = known.filter(*inside)
    if rows.is_empty():
        st.info("No query lies inside the rectangle; all are listed.")
        return known
    if inside and box != st.session_state.get(BRUSHED):
        _take(rows.row(0, named=True))
    st.session_state[BRUSHED] = box
    return rows


def _take(row: dict[str, Any]) -> None:
    """Choose the list in a row of the table."""
    st.session_state["model"], st.session_state["query"] = row["model"], short(row["query"])


def _table(rows: pl.DataFrame, total: int) -> None:
    """Show the queries, those most affected by tie order first; choosing a row chooses its list."""
    part = "" if rows.height == total else f" inside the rectangle, of {total}"
    cut = f"; the first {LISTED} are listed" if rows.height > LISTED else ""
    st.caption(
        f"{rows.height} lists{part}{cut}, those most affected by tie order first. Choose a row to "
        "see its list."
    )
    frame_table(
        rows.head(LISTED),
        of="queries",
        show=SHOWN,
        widths={"query": 170},  # long names would push the scores out of sight
        alt="Scores of every query.",
        key="query table",
        on_select=_take,
    )


def _deciding(data: Data, choice: Choice) -> None:
    """Show which queries decide between two models."""
    st.header("Which queries decide between two models?", anchor="deciding")
    study = study_of(data, choice).at(choice.measure)
    ranked = ranked_models(study)
    pair = choose_pair(ranked, *ranked[:2])
    if pair[0] == pair[1]:
        return
    found = study.pair(*pair).queries.filter(policy="expected")
    if found.is_empty():
        st.info("They have no query in common on which both have a score.")
        return
    show_chart(
        chart_of(data, choice, charts.deciding_queries, found, **choice.at, most=DRAWN, key=pair)
    )
    st.caption(
        "The largest differences come first, whichever model they favour. A wins where they are "
        "above 0."
    )
    frame_table(
        found.head(LISTED),
        of="deciding",
        show=DECIDING,
        widths={"query": 170},
        alt="Differences of two models, query by query.",
    )


def _choose(known: pl.DataFrame, choice: Choice) -> dict[str, Any] | None:
    """Choose a list by two menus and return its row; any query can be typed.

    The initial options must not depend on the rectangle, which the address does not contain.
    """
    columns = st.columns(2)
    with columns[0]:
        model = choose_one("Model", choice.models, name="model", default=known["model"][0])
    mine = known.filter(pl.col("model") == model)
    options = [short(query) for query in mine["query"].head(LISTED)]
    text = columns[1].selectbox(
        "Query",
        options,
        key="query",
        accept_new_options=True,
        bind="query-params",
        help="Queries most affected by tie order come first; any other can be typed.",
    )
    found = mine.filter(pl.col("query").cast(pl.String) == text)
    if found.is_empty() and "#" in str(text):  # shortened, or not shown literally
        found = mine.filter(
            pl.Series([short(query) == text for query in mine["query"]], dtype=pl.Boolean)
        )
    if found.is_empty():
        st.info(f"{plain(model, 60)} has no score for a query “{plain(text, 60)}”.")
        return None
    return found.row(0, named=True)


def _list(data: Data, choice: Choice, chosen: dict[str, Any]) -> None:
    """Show one list: its numbers, its orders with their scores, and its distances."""
    name = f"query {plain(chosen['query'], 60)} of {plain(chosen['model'], 60)}"
    if data.queries is not None and "text" in data.queries.columns:
        text = (
            data.queries.filter(pl.col("query") == pl.lit(chosen["query"]))["text"]
            .cast(pl.String)
            .drop_nulls()
        )
        st.markdown(f"The query: {plain(text[0], 500)}" if len(text) else "The query has no text.")
    if data.counted:
        _numbers(chosen, None)
        st.info("Counts have no items, so there is no ranked list to show.")
        return
    key = (chosen["model"], chosen["query"])
    rows = ranked(data, choice.of_list, *key)
    if rows.is_empty():
        st.info(f"The list of {name} is empty: the model has no rows for it.")
        return
    draw_number = _draw_number()
    redrawn = drawn(data, choice.of_list, *key, draw_number)
    _numbers(chosen, redrawn.score)
    drawing = f"draw {draw_number}"
    orders = {RECEIVED: rows, drawing: redrawn.rows}
    drawn_key = (*key, draw_number)
    show_chart(
        chart_of(data, choice, charts.list_orders, orders, cutoff=choice.cutoff, key=drawn_key)
    )
    st.subheader("All possible scores", anchor="scores")
    found = distribution(data, choice.of_list, *key)
    marks = {"expected": chosen["expected"], RECEIVED: chosen["naive"], drawing: redrawn.score}
    show_chart(
        chart_of(
            data, choice, charts.score_distribution, found, **choice.at, marks=marks, key=drawn_key
        )
    )
    st.subheader("Distances", anchor="distances")
    show_chart(chart_of(data, choice, charts.ranked_list, rows, key=key))
    with st.expander("The items"):
        items = rows.head(ITEMS).with_row_index("rank", 1)
        if rows.height > ITEMS:
            st.caption(f"The first {ITEMS} of {rows.height}.")
        if data.items is not None:
            texts = data.items.unique("item", keep="first", maintain_order=True)
            named = items.with_columns(pl.col("item").cast(pl.String))
            items = named.join(texts, on="item", how="left", maintain_order="left")
        frame_table(
            items,
            of="tie_groups",
            show=ITEMS_SHOWN,
            widths={"text": 360},
            alt="The items in the order received.",
        )


def _draw_number() -> int:
    """Choose which random order to show."""

    def again() -> None:
        st.session_state["draw"] = (st.session_state["draw"] + 1) % (MOST_DRAW + 1)

    columns = st.columns([1, 1, 2], vertical_alignment="bottom")
    with columns[0]:
        number = choose_number(
            "Random order number",
            name="draw",
            low=0,
            high=MOST_DRAW,
            default=0,
            help="The order of this list in this draw, with the seed in the sidebar; it never "
            "changes.",
        )
    columns[1].button("Draw again", on_click=again)
    return int(number)


def _numbers(chosen: dict[str, Any], score: float | None) -> None:
    """Show the scores of one list side by side."""
    asked = {
        "Order received": chosen["naive"],
        "Expected": chosen["expected"],
        "± tie std": chosen["std"],
        "Lowest": chosen["lowest"],
        "Highest": chosen["highest"],
        "This draw": score,
    }
    there = {name: value for name, value in asked.items() if value is not None}
    with st.container(horizontal=True, gap="medium"):
        for name, value in there.items():
            st.metric(name, f"{value:.4f}", width="content")
