"""The page on all pairs of models: how far apart they
are, and whether queries or tie order explain it.
"""

from functools import partial

import polars as pl
import streamlit as st

from cached import ask, remembered_questions
from chart_display import say, show_chart
from page import Page
from retrieval_report import charts
from retrieval_report.comparison.identical import copies_among, without_copies
from retrieval_report.comparison.margins import Margin, parse_margin
from retrieval_report.comparison.pairs import ahead_first
from retrieval_report.comparison.verdicts import CUT, UNKNOWN_R, doubt, with_chances
from retrieval_report.contracts.arguments import Named
from retrieval_report.engines.check_scores import join_left
from retrieval_report.study.decision import decided_by
from retrieval_report.study.tables import queries_to_decide
from retrieval_report.study.terminal import marks_note, with_marked_values
from retrieval_report.study.verdict import margin_sentences
from retrieval_report.writing.names import with_number
from tables import PAIRS, frame_table
from text import plain, short
from url_controls import choose_number, choose_one, set_control

MARGIN = (
    "model verdict value baseline_value difference bound_low bound_high no_worse_p tie_std "
    "detectable queries_needed queries_if_observed queries"
)
MARGIN_UNITS = ("points", "percent")
USUAL_MARGIN = Margin(0.01)
LEAST_MARGIN = 0.0001
CONTROLS = ("baseline", "margin", "margin_unit")
ASKED_OF = "the data that a baseline was last chosen for"
LAST_MARGIN = "the last margin that could be used"
CHOSEN = "the chosen pair"
ALONE = " p is corrected over {} pairs{}; each interval is of its pair alone."
COPIES = ", of which those of models with identical lists are listed once"


def show(page: Page) -> None:
    """Draw the page."""
    page.name_suspects()
    suspects = page.study.suspects
    if len(page.choice.models) - len(suspects) < 2:
        st.info("No two models are left to compare.")
        return
    comparison = without_copies(page.study.comparison, page.study.identical)
    expected = comparison.filter(policy="expected")
    if not expected["difference"].count():
        which = "other models" if suspects else "of these models"
        st.info(f"No two {which} have a score for {page.measure} on the same query.")
        return
    _all_pairs(page, comparison, expected)
    _no_worse(page)


def _all_pairs(page: Page, comparison: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Show every pair, as a chart and a table."""
    st.header("Pairs of models")
    show_chart(charts.comparison_matrix, comparison, **page.choice.at)
    pair = ["model_a", "model_b"]
    judged = join_left(expected.drop("policy"), page.study.flips.select(*pair, "verdict"), pair)
    rows = ahead_first(judged, pl.col("difference") < 0)
    rows = with_marked_values(rows, page.study.summary)
    rows = rows.sort(doubt, -pl.col("p_tie_high"), nulls_last=True, maintain_order=True)
    cut = "those that missing items and tie order could reverse first, then "
    cut, first = (cut, "") if CUT in rows["verdict"] else ("", " first")
    family = int(rows["family"].max() or 0)  # type: ignore[arg-type]
    order = f"{cut}those that tie order may reverse{first}, the likeliest at the top, and the safe ones last"
    corrected = family > 1 and expected["ci_low"].count()
    st.caption(
        (f"{with_number(rows.height, 'pair')}: {order}. " if rows.height > 1 else "")
        + "Choose a row for a link to that pair."
        + (ALONE.format(family, COPIES * bool(page.study.identical)) if corrected else "")
        + f" {marks_note(rows)}"
    )
    frame_table(
        with_chances(rows),
        of="judged_pairs",
        show=PAIRS,
        alt="Every pair of models, the least safe first.",
        key="pairs",
        on_select=_take,
    )
    a, b = st.session_state.get(CHOSEN, ("", ""))
    if {a, b} <= {*page.choice.models}:
        page.link("pair", f"{plain(a, 60)} and {plain(b, 60)}, query by query", a=a, b=b)


def _take(row: Named) -> None:
    """Choose the pair in a row of the table."""
    st.session_state[CHOSEN] = row["model_a"], row["model_b"]


def _convert(page: Page, baseline: str, amount: float) -> None:
    """Turn the margin into the unit that was chosen, so that it allows the same loss."""
    at_baseline = page.study.under("expected").summary.filter(model=baseline)
    percent = abs(at_baseline["value"][0] or 0) / 100
    if percent:
        factor = percent if st.session_state["margin_unit"] == MARGIN_UNITS[0] else 1 / percent
        st.session_state["margin"] = max(float(f"{factor * amount:.3g}"), LEAST_MARGIN)


def _as_controls(page: Page, margin: object) -> tuple[float, str]:
    """Return a margin, or the usual one, as a number and its unit."""
    found = parse_margin(margin).of(**page.choice.at) if margin else None
    found = found or USUAL_MARGIN
    return 100 * found.amount if found.relative else found.amount, MARGIN_UNITS[found.relative]


def _chosen(page: Page, opened_with: tuple[str, float, str]) -> tuple[str, float, str]:
    """Return the baseline, the margin and its unit as they are chosen."""
    first_column, middle, right = st.columns(3)
    # A margin that somebody set is one against the baseline beside it, whoever leads by another metric.
    of_margin = list(zip(CONTROLS, opened_with, strict=True))[1:]
    is_set = any(st.session_state.get(name, default) != default for name, default in of_margin)
    with first_column:
        baseline = choose_one(
            "Baseline", page.ranked, name="baseline", default=opened_with[0], hold=is_set
        )
    with middle:
        # The control would keep a number below its bound to itself, without a word.
        amount = choose_number(
            "Margin", name="margin", default=opened_with[1], step=0.005, format="%g"
        )
        if amount >= LEAST_MARGIN:
            st.session_state[LAST_MARGIN] = amount
        else:
            amount = st.session_state.get(LAST_MARGIN, opened_with[1])
            st.warning(f"The margin must be at least {LEAST_MARGIN:g}; {amount:g} still applies.")
    with right:
        unit = choose_one(
            "Margin in",
            MARGIN_UNITS,
            name="margin_unit",
            default=opened_with[2],
            help="Points of the score, or percent of the baseline's mean.",
            on_change=partial(_convert, page, baseline, amount),
        )
    return baseline, amount, unit


def _no_worse(page: Page) -> None:
    """Show which models lose no more than a margin against a baseline."""
    st.header("No worse than")
    st.caption(
        "If a difference is not significant, that does not show that there is none. Two "
        "one-sided tests answer the better question: does a model lose less than a margin that "
        "would matter, for example after quantising or pruning? The lower bound allows for rare "
        "large losses, so it can lie below the interval of the same pair above. Each model is "
        "tested by itself, so one may lose more here whose difference, corrected for all pairs, "
        "is not significant above."
    )
    asked = page.study.also  # by the study that the dashboard was started for
    kept = remembered_questions(page.data)
    wanted = kept.get("baseline") or asked["baseline"]
    is_hidden = wanted not in {None, *page.ranked}  # by the models that are chosen
    first = asked["baseline"] if asked["baseline"] in page.ranked else page.ranked[0]
    opened_with = (first, *_as_controls(page, asked["margin"]))
    asked_of = page.data.digest, is_hidden
    if st.session_state.get(ASKED_OF, asked_of) != asked_of:
        # What was asked of other data stays with them, and a baseline comes back with its model.
        shown = opened_with
        if "margin" in kept:
            shown = first if is_hidden else wanted, *_as_controls(page, kept["margin"])
        for name, value, default in zip(CONTROLS, shown, opened_with, strict=True):
            set_control(name, value, default)
    st.session_state[ASKED_OF] = asked_of
    baseline, amount, unit = _chosen(page, opened_with)
    # What stands in for a hidden baseline is nobody's wish.
    meant = wanted if is_hidden and baseline == first else baseline
    margin = f"{amount:g} %" if unit == "percent" else amount
    opened = (meant, amount, unit) == (asked["baseline"] or first, *opened_with[1:])
    ask(page.data, as_opened=opened, baseline=meant, margin=margin)
    answers = {"costs": page.data.costs, **kept, "baseline": baseline, "margin": margin}
    study = page.study.using(**answers)
    status, decision = decided_by(study)
    # The report's, in the colour of its own: models to be checked are not among these. Until somebody
    # names a baseline, nobody wants to replace the winner.
    rows = study.no_worse
    is_named = meant == baseline and not (opened and not asked["baseline"])
    if rows.height and not is_named:
        decision = ""
    if decision:
        say(status, [decision])
    if rows.is_empty():  # the baseline has no verdict
        return
    # Of models with identical lists one is shown, and none that are those of the baseline.
    copies = copies_among(page.study.identical, baseline)
    rows = rows.remove(pl.col("model").is_in(copies))
    for sentence in margin_sentences(rows, page.choice.measure, decision):
        st.markdown(plain(sentence))
    not_known = pl.col("verdict").is_in([CUT, UNKNOWN_R])
    rows = rows.with_columns(queries_to_decide(), no_worse_p=pl.when(~not_known).then("no_worse_p"))
    frame_table(
        with_marked_values(rows, study.summary),
        of="no_worse",
        show=MARGIN,
        alt=f"Models against {short(baseline)} at {page.choice.measure}, the best first.",
    )
