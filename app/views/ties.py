"""The page on ties: how many there are, and where the cutoff splits one."""

import polars as pl
import streamlit as st

from cached import answered
from chart_display import show_chart
from page import Page
from records import OF_ROWS
from retrieval_report import charts
from retrieval_report.comparison.identical import folded
from retrieval_report.contracts.arguments import grouped
from retrieval_report.engines.check_scores import at_cutoff
from retrieval_report.study.by_cutoff import depth_sentence
from retrieval_report.study.caveats import joined_hints
from retrieval_report.ties.hints import WORTH_SAYING
from retrieval_report.ties.profile import ties_at_cutoff
from tables import frame_table
from text import plain

LISTED = 500
MAX_EXAMPLES = 2  # oddities of one kind that are shown at once
PROFILE = (
    "model cut_share mixed_share ends_in_cut_tie tied_items mixed_items tie_median tie_max "
    "items distances bits near_ties queries"
)
CUTS = "model query first last size inside relevant mixed"
COVERAGE = "model metric value tie_std queries"


def show(page: Page) -> None:
    """Draw the page."""
    copies = page.runs.identical
    profile = folded(page.curve.profile, copies)
    if profile.is_empty():
        st.info("There are no lists.")
        return
    tied = (profile["tied_items"] > 0).any()
    if tied:
        show_chart(charts.profile, profile)
    else:
        st.info(
            "No two items of a list tie: every evaluator that sorts correctly prints the same "
            "scores."
        )
    oddities = st.container()  # shown first, but computed last, because it takes longest
    st.subheader(f"Ties at the cutoff: {page.measure}")
    rows = page.best_first(profile.filter(at_cutoff(page.choice.cutoff)))
    frame_table(rows, of="profile", show=PROFILE, alt="Ties of every model at the cutoff.")
    ends = page.study.truncation.filter(at_cutoff(page.choice.cutoff))
    if deep := depth_sentence(ends, page.measure):
        st.caption(deep)  # the name of the measure is Markdown already
    if tied:
        _cuts(page, rows["ends_in_cut_tie"].max())
    if "judgements" in page.data.frames and not page.data.source.counted:
        st.subheader("How much is judged")
        covered = folded(page.study.coverage, copies).filter(at_cutoff(page.choice.cutoff))
        if (covered.filter(metric="judged")["value"] == 1).all():
            st.markdown("Every item up to the cutoff is judged.")
        else:
            st.caption(
                "judged: share of judged items at the cutoff; rbp_residual: the weight of ranks "
                "without a judged item, and of those beyond the list or the cutoff."
            )
            frame_table(
                page.best_first(covered).sort("metric", maintain_order=True),
                of="coverage",
                show=COVERAGE,
                widths={"metric": 150},
                alt="Judged share of every model at the cutoff.",
            )
    with oddities:
        _hints(page)


def _hints(page: Page) -> None:
    """Show oddities of the data; many of one kind are folded."""
    hints = page.study.hints
    hint_texts = grouped(
        (kind, (f"**{plain(models)}**: " if models else "") + plain(message))
        for kind, models, message in joined_hints(hints)
    )
    for sentences in hint_texts.values():
        for sentence in sentences[:MAX_EXAMPLES]:
            st.warning(sentence)
        if more := sentences[MAX_EXAMPLES:]:
            with st.expander(f"{len(more)} more of this kind"):
                st.markdown("\n".join(f"- {sentence}" for sentence in more))
    if "near_ties" not in hint_texts:
        st.caption(
            f"Near ties: fewer than {WORTH_SAYING:.0%} of the gaps between neighbours in a list "
            "are as small as rounding errors."
        )


def _cuts(page: Page, may_end: object) -> None:
    """Show the lists whose cutoff falls inside a tie; ``may_end`` says whether some may end in one."""
    st.subheader("Where the cutoff splits a tie")
    cutoff = page.choice.cutoff
    if cutoff is None:
        st.info(
            "The whole list is scored, so no cutoff splits a tie. Choose a cutoff in the sidebar."
        )
        return
    rules = page.choice.only(("relevant_from", *OF_ROWS))
    cuts = answered(page.data, ties_at_cutoff, {"cutoff": cutoff, **rules})
    cuts = folded(cuts.filter(pl.col("model").is_in(page.runs.model_names)), page.runs.identical)
    if cuts.is_empty():
        st.info(
            f"No list shows ranks {cutoff} and {cutoff + 1} in one tie."
            + f" Lists that end by rank {cutoff} may hide one." * bool(may_end)
        )
        return
    largest = f" The {LISTED} largest are listed." if cuts.height > LISTED else ""
    copies = " A model and its copies count once." if page.runs.identical else ""
    st.markdown(
        f"In {cuts.height} lists, ranks {cutoff} and {cutoff + 1} are in one tie; in "
        f"{cuts['mixed'].sum()} of them the tied items differ in relevance grade, so chance decides "
        f"which grades are counted.{copies}{largest}"
    )
    frame_table(
        cuts.head(LISTED), of="ties_at_cutoff", show=CUTS, alt="Lists whose cutoff splits a tie."
    )
