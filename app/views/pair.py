"""The page on two models: whether the lead is safe, which queries decide, and both lists of a query
side by side.
"""

import polars as pl
import streamlit as st

from cached import answered
from chart_display import say
from page import Page
from records import SCORING
from retrieval_report import charts
from retrieval_report.comparison.pairs import turned
from retrieval_report.comparison.verdicts import CHECK, both_among, chance_of, with_chances
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.registry import column
from retrieval_report.study.caveats import significance
from retrieval_report.study.study import Study
from retrieval_report.study.terminal import marks_note, with_marked_values
from retrieval_report.study.verdict import verdict
from retrieval_report.ties.orders import ranking_ties, side_by_side
from retrieval_report.writing.names import with_number
from retrieval_report.writing.numbers import interval, number, size
from tables import LISTED, PAIRS, brushed_table, frame_table, items_table
from text import plain, short
from url_controls import choose_one, choose_query

INTERVAL = column("board", "interval")
QUERY = "pair_query"
DECIDING = "query order_unsure difference lowest highest value_a value_b decides"
POLICIES = {"expected": 0, "shuffled": 1, "naive": 2}  # in this order
LIST: Named = {
    "of": "side_by_side",
    "show": "ranks item text image relevance other_ranks distance score",
    "widths": {
        "text": 260,
        "ranks": 58,
        "relevance": 74,
        "other_ranks": 74,
        "score": 56,
    },
    "alt": "A list.",
}


def show(page: Page) -> None:
    """Draw the page."""
    page.link("overview", "All models")
    ranked = page.ranked
    leading = page.study.deciding.head(1)  # empty if data leave fewer than two models
    best, next_best = leading.select("model_a", "model_b").row(0) if leading.height else ranked[:2]
    first_side, right = st.columns(2)
    with first_side:
        first = choose_one("Model A", ranked, name="a", default=best, hold=True)
    with right:
        second = choose_one("Model B", ranked, name="b", default=next_best, hold=True)
    if first == second:
        st.info("These are the same model twice. Choose another one to compare it with.")
        return
    pair = first, second
    pair_study = page.study.pair(*pair)
    if pair_study.status == CHECK:  # a model whose data may be wrong is compared with none
        say(CHECK, pair_study.verdict)
        return
    page.name_suspects()
    _verdict(page, pair_study, first)
    queries = pair_study.deciding.filter(policy="expected")
    queries = queries.sort("order_unsure", descending=True, nulls_last=True, maintain_order=True)
    if queries.height:
        _queries(page, queries, pair)
        _alike(pair_study.similarity_means)


def _queries(page: Page, queries: pl.DataFrame, pair: tuple[str, str]) -> None:
    """Show the queries as points and as a table; a rectangle around points chooses among them."""
    st.header("Query by query")
    rows = brushed_table(
        charts.pair_scatter,
        queries,
        ("value_a", "value_b"),
        page.choice.at,
        "query",
        "{}: first those on which tie order can change who is ahead, then the largest "
        "differences. Drag a rectangle on the chart to choose among them; choose a row to see both "
        "lists.",
        of="deciding",
        show=DECIDING,
        take=_take,
    )
    _lists(page, rows, pair)


def _take(row: Named) -> None:
    """Choose the query in a row of the table."""
    st.session_state[QUERY] = short(row["query"])


def _lists(page: Page, rows: pl.DataFrame, pair: tuple[str, str]) -> None:
    """Show both lists of one query, with steps to the query before and after it."""
    st.header("Both lists of a query")
    query = choose_query(rows["query"], QUERY, LISTED)
    if query is None:
        st.info("No query of this name was scored by both models.")
        return
    _steps([short(name) for name in rows["query"].head(LISTED)])
    _ranges(page, query, rows.filter(query=query).row(0, named=True))
    if page.data.source.counted:
        st.info("Counts have no items, so there are no ranked lists to show.")
        return
    rules = {"query": query, **page.choice.only(SCORING)}
    runs = [_run(page, model, side) for model, side in zip(pair, "AB", strict=True)]
    lists = [answered(page.data, ranking_ties, {"model": run, **rules}) for run in runs]
    places = st.columns(2)
    for place, model, list_rows, other_list in zip(places, runs, lists, lists[::-1], strict=True):
        with place:
            st.subheader(plain(model, 60))
            items_table(page.data, side_by_side(list_rows, other_list), query, **LIST)
    st.caption(
        "A bracket holds items that tie: any of them may come first. “Other list” has the ranks "
        "of the same item there. “–” as relevance: nobody judged the item."
    )


def _run(page: Page, model: str, side: str) -> str:
    """Return whose list is shown for a model: of several runs, the chosen one."""
    runs = page.runs_of(model)
    return runs[0] if len(runs) == 1 else choose_one(f"Run of {side}", runs, name=f"run_{side}")


def _steps(names: list[str]) -> None:
    """Offer the query before and the one after, in the order of the table."""
    current = names.index(st.session_state[QUERY]) if st.session_state[QUERY] in names else 0
    with st.container(horizontal=True):
        for label, step in (
            ("← Previous query", current - 1),
            ("Next query →", current + 1),
        ):
            inside = 0 <= step < len(names)
            name = names[step] if inside else ""
            st.button(
                label,
                disabled=not inside,
                on_click=st.session_state.update,
                kwargs={QUERY: name},
            )


def _ranges(page: Page, query: object, row: Named) -> None:
    """Say what both lists score, and what tie order could make of them."""
    scores = page.study.queries.filter(query=query)
    with st.container(horizontal=True, gap="large"):
        for side in "ab":
            of = scores.filter(model=row[f"model_{side}"]).row(0, named=True)
            by = "ties or missing items" if of["truncated"] else "tie order"
            span = f"{number(of['lowest'])} to {number(of['highest'])} by {by}"
            moved = "the same in every tie order" if of["spread"] == 0 else span
            name = plain(row[f"model_{side}"], 60)
            st.metric(name, number(of["expected"]), moved, delta_color="off", delta_arrow="off")
    if row["order_unsure"]:
        st.markdown("Within these ranges, either model may be ahead on this query.")


def _alike(alike: pl.DataFrame) -> None:
    """Show whether the lists of two models differ in more than the order of their ties."""
    if alike.width:
        st.header("How alike are the lists?")
        frame_table(alike, of="similarity_means", alt="Similarity of the lists of both models.")
        st.caption(
            "This compares the lists alone: do they differ in more than the order of their ties? "
            "Relevance plays no part. RBO^a, rank-biased overlap with ties averaged, weighs the "
            "first ranks most; Kendall’s τ_b compares the order of the items in both lists. *Other "
            "items*, *Same* and *Only ties* are shares of the queries: *Only ties* if some tie "
            "order makes both lists the same."
        )


def _verdict(page: Page, study: Study, first: str) -> None:
    """Say whether the lead is safe, corrected for all pairs, and show it under every kind of score."""
    status, sentences = verdict(
        study.summary, page.study.flips, **page.choice.at, identical=study.identical
    )
    say(status, (*sentences, *study.notices))
    # With random orders, which the sentences above do without.
    rows = page.drawn.comparison.filter(both_among(study.model_names))
    pair = turned(rows, pl.col("model_a") != first)
    pair = pair.sort(pl.col("policy").replace_strict(POLICIES, default=3), maintain_order=True)
    exact = pair.filter(policy="expected")
    if exact["difference"].null_count():
        st.info(f"They have no query in common on which both have a score for {page.measure}.")
        return
    _numbers(exact.row(0, named=True))
    st.subheader("What each kind of score says")
    rows = with_chances(with_marked_values(pair, study.summary)).drop("model_a", "model_b")
    frame_table(rows, of="comparison", show=PAIRS, alt="The pair under every kind of score.")
    if note := marks_note(rows):
        st.caption(note)


def _numbers(row: Named) -> None:
    """Show the difference and both kinds of uncertainty."""
    names = f"A is {plain(row['model_a'], 60)}, B is {plain(row['model_b'], 60)}"
    tie = size(row["tie_std"])  # "–" if lists are cut, as in the table below
    moves, reversal = (column("comparison", name) for name in ("tie_std", "p_tie"))
    spread = interval(row["ci_low"], row["ci_high"], 4)
    with st.container(horizontal=True, gap="large"):
        for title, text, meaning in (
            ("A − B, expected", size(row["difference"], sign="+"), names),
            (f"{INTERVAL.title} over queries", spread, INTERVAL.help),
            ("Tie order moves it by", tie if row["tie_std"] is None else f"± {tie}", moves.help),
            (reversal.title, chance_of(row), reversal.help),
        ):
            st.metric(title, text, help=meaning, width="content")
    p_text = "not known" if row["family_p"] is None else significance(row)
    what = "difference, an estimate," if row["truncated_queries"] else "difference"
    st.markdown(
        f"{names}. Of {with_number(row['queries'], 'query')} A wins {row['wins']} and B {row['losses']}; equal: "
        f"{row['ties']}. Significance of the {what} over the queries: {p_text}."
    )
