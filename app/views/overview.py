"""The first page: the three scores of every model side
by side, who wins by each, and whether that is safe.
"""

from collections.abc import Sequence

import polars as pl
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cached import remembered_questions
from chart_display import say, show_chart
from page import Page
from retrieval_report import charts
from retrieval_report.comparison.verdicts import CHECK, accidental_winners
from retrieval_report.contracts.arguments import Named
from retrieval_report.study.by_cutoff import cutoffs_sentence, reached_cutoffs
from retrieval_report.study.caveats import health_sentences, more_findings, split_findings
from retrieval_report.study.notebook import html_table
from retrieval_report.study.reversals import reversals_note, title, varied
from retrieval_report.study.three_tables import (
    COLUMNS,
    by_items_retrieved,
    copies_text,
    is_moved,
    share_of_orders,
    three_rows,
    without_draws,
)
from retrieval_report.writing.names import EQUALS, listed, with_number
from tables import frame_table, leaderboard_table
from text import plain
from url_controls import another_order

TURNING = "source reversal verdict family_p varied"  # what fits a phone first
NOBODY = "–"
AWAITED = "…"
OTHERS = "The verdict on the other models"
LETTERS = 90  # of the names of winners
WIDTHS = {"shuffled_range": 130}
ROW = 25  # pixels of a row of the table
ROWS, FEWER_ROWS = 13, 8  # before it scrolls; fewer below findings, so that charts begin as high
ALONG = "along-the-cutoffs"  # the address of a part of the page
SHORT = 130  # letters of a verdict that fits beside the numbers
ACCIDENT = "an accident of tie order"
ITEMS = "The winner by the items in the lists alone. What these may leave out could put another model first."
MEANINGS = (
    "Items with the same distance or score are *tied*: nothing says which comes first, and "
    "measures depend on it. *Expected*: the exact mean over all orders of the tied items, free of "
    "chance; where items may be missing from the lists, an estimate (≈) from the given ones. "
    "*Shuffled*: what 90 % of random orders print. *Naive*: ties in the order of the data, as "
    "some tools score them."
)


def show(page: Page) -> None:
    """Draw the page."""
    study = page.asked
    waits = page.draws_wait
    (page.curve if waits else page.drawn_curve).summary  # noqa: B018  # of which the headline is part
    three, winners = (
        without_draws(study) if waits else (page.drawn.three_scores, page.drawn.winners)
    )
    rows = three_rows(three, study.measures[0])
    findings = study.findings
    # Each in its own colour: a model may be shipped though it is open which of two is best.
    boxes = [(study.status, list(findings[1:2] or findings))]
    if study.decision:
        boxes.insert(0, (study.chip, [study.decision]))
    faults = health_sentences(study.health.filter("serious"))
    folded, heading = list[str](), OTHERS
    if study.status == CHECK:  # the cause, and on whom there is no verdict; not yet who leads
        shown, more = split_findings(faults)
        others = {*page.choice.models}.difference(study.suspects)
        folded = [*more, *filter(None, [study.decision] if others else []), *findings[1:3]]
        boxes = [(CHECK, [*shown, findings[0]])]
        heading = more_findings(more) if more else OTHERS
    leader = listed((winners["winner"][0] or NOBODY).split(EQUALS))
    # A short verdict stands beside the numbers, so that charts begin higher.
    # What awaits the orders is as high as what has them, so that they move nothing.
    awaited = page.choice.options["shuffles"] if waits else 0
    beside = _winners(rows, winners.row(0, named=True), study.suspects, awaited)
    is_short = len(boxes) == 1 and sum(map(len, boxes[0][1])) <= SHORT and not folded
    with beside if is_short else st.container():
        for place, box in zip(st.columns(len(boxes)), boxes, strict=True):
            with place:
                # The sentence that names the leader stands far below.
                say(
                    box[0],
                    [text.replace("Its lead", f"The lead of {leader}", 1) for text in box[1]],
                )
        if folded:
            with st.expander(heading):
                st.markdown("\n\n".join(map(plain, folded)))
    has_curve = len(page.choice.cutoffs) > 1
    remarks = _first_order(rows)
    if has_curve:
        curves = without_draws(page.curve)[0] if waits else page.drawn_curve.three_scores
        reached = reached_cutoffs(study)  # as deep as the report looks; the charts go on
        at_cutoffs = pl.col("cutoff").is_in(reached)
        at_cutoffs |= pl.col("cutoff").eq_missing(page.choice.cutoff)
        if accidents := cutoffs_sentence(curves.filter(at_cutoffs)):
            depths = [cutoff for cutoff in page.choice.cutoffs if cutoff is not None]
            beyond = {*depths}.difference(reached_cutoffs(study, depths))
            if beyond:
                accidents += f" Fewer than half of the lists have {min(beyond)} items."
            remarks = [plain(accidents), *remarks, f"[Along the cutoffs](#{ALONG})"]
    if study.decision and "margin" in remembered_questions(page.data):
        remarks.append("Baseline and margin are those chosen on Compare, whose address keeps them.")
    if remarks:  # above the table, which fills a telephone
        st.caption(" ".join(remarks))
    how: Named = {"of": "three_scores", "show": COLUMNS, "widths": WIDTHS}
    how |= {"row_height": ROW, "most_rows": FEWER_ROWS if folded else ROWS}
    if len(page.data.models) > 1:
        how |= {"key": "three scores", "selection_mode": "multi-row"}
    narrow = rows.with_columns(shuffled="shuffled_range")
    st.html(f'<div class="phone">{html_table(narrow, "model expected shuffled naive")}</div>')
    _choose_models(page, frame_table(rows, alt="The three scores, best first.", **how))
    chart_side, right = st.columns([5, 7]) if has_curve else (st.container(), None)
    with chart_side:
        at = page.choice.at
        shuffled = pl.DataFrame() if waits else page.drawn.shuffled
        look: Named = {"awaited": True} if awaited else {}
        show_chart(charts.scores, three, shuffled, study.summary, **at, **look)
    if right is not None:
        with right:
            show_chart(charts.along_cutoffs, curves, **at)
    single = findings if len(findings) == 2 and folded else ()  # one other model: no verdict on it
    if waits:  # everything that is known without them is there, and stays where it is
        page.drawn.three_scores  # noqa: B018
        st.rerun()
    _details(page, [*faults, *(text for _, box in boxes for text in box), *single])


def _winners(
    rows: pl.DataFrame, winners: Named, unranked: Sequence[str], awaited: int
) -> DeltaGenerator:
    """Show who wins exactly, who by the naive order, and in how many of the orders drawn, or still
    ``awaited``, ``unranked`` models aside; return the place beside them.
    """
    exact, naive, agreeing, beside = st.columns([48, 48, 75, 70])
    first_by = [(winners[order] or "").split(EQUALS) for order in ("naive_winner", "winner")]
    without = f"without {with_number(len(unranked), 'model')}" if unranked else None
    remark = ACCIDENT if accidental_winners(*first_by) else without
    exactly, limits = (
        ("by items retrieved", ITEMS) if by_items_retrieved(winners) else ("exactly", "")
    )
    for place, how, winner, rank, below, meaning in (
        (exact, exactly, "winner", "expected_rank", without, limits),
        (naive, "by the naive order", "naive_winner", "naive_rank", remark, ""),
    ):
        first = rows.filter(pl.col(rank) == 1)["row_models"].to_list()
        copies = ", ".join(name for names in first for name in names[1:])
        names_text = ", ".join(copies_text(names[0], names) for names in first)
        place.metric(
            f"{'First' if EQUALS in (winners[winner] or '') else 'Wins'} {how}",  # fits a line
            plain(names_text or NOBODY, LETTERS),
            delta=below if first else None,
            delta_color="off",
            delta_arrow="off",
            help="  \n".join(
                filter(None, [meaning, f"The same lists: {plain(copies)}" * bool(copies)])
            )
            or None,
        )
    share = share_of_orders(winners)
    share_text = f"{share} of all orders" if share else NOBODY
    orders = winners["orders"] or awaited
    agreeing_orders = AWAITED if awaited else winners["agreeing"]
    drawing = agreeing.container(horizontal=True, vertical_alignment="center", gap="small")
    drawing.metric(
        "Random orders that agree",
        f"{agreeing_orders} of {orders}" if orders else share_text,
        delta=share_text if awaited or (orders and share) else None,
        delta_color="off",
        delta_arrow="off",
        width="content",
        help="The number of drawn random orders in which the exact winner, or one of several, comes "
        "first, alone or level with others; and their share of all orders, ≈ where it is approximated.",
    )
    if awaited or is_moved(rows):  # else every order gives the same
        with drawing:
            another_order()
    return beside


def _first_order(rows: pl.DataFrame) -> list[str]:
    """Say who comes first in the first random order, where orders differ and are drawn."""
    if "shuffled_rank" not in rows.columns or not is_moved(rows):
        return []
    first = rows.filter(shuffled_rank=1)["model"].to_list()
    return [plain(f"The first random order puts {listed(first)} first.")] if first else []


def _choose_models(page: Page, rows: pl.DataFrame) -> None:
    """Offer to show the models in the chosen rows alone, or all of them again."""
    names = [name for group in rows["row_models"] for name in group]
    firsts = [group[0] for group in rows["row_models"]]
    narrowed = page.choice.models != page.data.models
    if not (names or narrowed):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if names:
            label = f"Show only {with_number(len(names), 'model')}"
            st.button(label, on_click=st.session_state.update, kwargs={"models": names})
        if narrowed:
            st.button("Show all models", on_click=st.session_state.update, kwargs={"models": []})
        if len(firsts) == 2 and st.button("Compare these two, query by query"):
            page.go("pair", **dict(zip("ab", firsts, strict=True)))


def _details(page: Page, above: list[str]) -> None:
    """Show the verdict without the sentences that stand ``above``, what could turn it around, and
    the leaderboard of all measures.
    """
    study = page.asked
    if sentences := [plain(text) for text in study.verdict if text not in above]:
        st.subheader("Verdict")
        st.markdown("\n\n".join(sentences))
    reversals = study.reversals
    if reversals.height:
        heading = title(reversals)
        st.subheader(plain(heading))
        frame_table(varied(reversals), of="reversals", show=TURNING, alt=heading)
        if note := reversals_note(reversals):
            st.caption(plain(note))
    if len(page.choice.cutoffs) > 1:
        st.subheader("How far naive scores are off, along the cutoffs", anchor=ALONG)
        show_chart(charts.off_by, page.drawn_curve.three_scores, **page.choice.at)
    st.subheader("Leaderboard")
    leaderboard_table(study, page.others)
    st.caption(MEANINGS)
    if len(page.choice.models) > 1:
        page.link("compare", "See every pair of models, and whether its order depends on ties")
    if len(page.choice.cutoffs) > 1:
        curve = st.expander("Precision along recall", key="recall_curve", bind="query-params")
        if curve.open:
            with curve:
                precision = study.recall_curve
                if precision.width:
                    show_chart(charts.recall_curve, precision)
                else:
                    st.info(
                        "The ties of these lists are so large that the curve would take too long. "
                        "Choose fewer models: those with smaller ties have one."
                    )
