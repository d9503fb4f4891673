"""What a page draws from: the data, the choices and their study."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl
import streamlit as st

import retrieval_report as rr
from cached import remembered_questions, study_of, usual_study
from records import MEASURES, Choice, OpenedData
from retrieval_report.contracts.arguments import Named
from retrieval_report.study.leaderboard_rows import in_order_of
from retrieval_report.study.three_tables import are_drawn
from retrieval_report.study.verdict import no_verdict_on
from text import plain

VIEWS = "pages of the dashboard by name"
PAGES = {
    "overview": "Overview",
    "compare": "Compare",
    "pair": "Two models",
    "queries": "Queries",
    "history": "History",
    "segments": "Segments",
    "neighbours": "Nearest neighbours",
    "thresholds": "Thresholds",
    "ties": "Ties",
    "costs": "Costs",
    "audit": "Audit",
    "data": "Data & export",
}
TWO = "Comparing takes two models. Choose more in the sidebar, or open data that has several."
WHY_EMPTY = {  # what a page says if it does not answer; others are only left out of the menu
    "compare": TWO,
    "pair": TWO,
    "history": (
        "No pattern says which part of a run’s name is its version. Start the dashboard with "
        "*--history*, such as `--history '(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})'`."
    ),
    "segments": (
        "No column divides these queries into segments. Open a file of queries with a column "
        "such as *language* or *label*, on the page Data & export."
    ),
    "neighbours": (
        "The items have no labels yet. Start the dashboard with *--labels* and a file with the "
        "columns item and label."
    ),
    "audit": (
        "This data consists of counts. What others print depends on the order of items, which "
        "counts do not have."
    ),
}
MOST_SEGMENTS = 200  # a column with more values identifies queries rather than groups of them
MANY_ROWS = 2_000_000  # a million rows of Hamming distances are drawn in an eighth of a second
NO_SEGMENTS = ("query", "weight", "n_relevant", "n_relevant_from")
# What of the choice a page is about; all others are about the measure.
ABOUT = {**dict.fromkeys(("neighbours", "thresholds", "ties", "data"), "")}


@dataclass(frozen=True)
class Page:
    """The data and the choices of a visitor, and the study that answers by them."""

    data: OpenedData
    choice: Choice

    @cached_property
    def all_measures(self) -> rr.Study:
        """Return the study of all measures; the chosen one is its headline."""
        return study_of(self.data, self.choice)

    @property
    def study(self) -> rr.Study:
        """Return the study of the chosen measure, without random orders."""
        return self.drawn._undrawn

    @property
    def questions(self) -> Named:
        """Return what was entered on other pages: costs, and a baseline with its margin if it is
        among the chosen models.
        """
        questions = remembered_questions(self.data)
        if questions.get("baseline") not in {None, *self.choice.models}:
            questions |= {"baseline": None, "margin": None}
        return questions

    @cached_property
    def asked(self) -> rr.Study:
        """Return the same study with what was entered on other pages."""
        return self.study.using(**self.questions) if self.questions else self.study

    @property
    def runs(self) -> rr.Study:
        """Return the study of single runs where models are means over them, else the same study:
        lists belong to runs.
        """
        return self.study.runs

    @property
    def ranked_runs(self) -> list[str]:
        """Return the runs, the best by the chosen measure first."""
        return self.runs.under("expected").table()["model"].to_list()

    def runs_of(self, model: str) -> list[str]:
        """Return the runs of a model, which is its own run unless models are means over runs."""
        return [run for run, name in self.study.of_run.items() if name == model] or [model]

    @property
    def others(self) -> rr.Study:
        """Return the study of the usual measures, which stand beside the chosen one."""
        usual = [name for name in self.choice.leading(MEASURES) if name != self.choice.measure]
        return usual_study(self.data, self.choice).at(*usual)

    @cached_property
    def drawn(self) -> rr.Study:
        """Return the study of the chosen measure with random orders."""
        return self.all_measures.at(self.choice.measure)

    @property
    def draws_wait(self) -> bool:
        """Return whether random orders are still to be drawn, and may take long."""
        return self.data.frames["rankings"].height > MANY_ROWS and not are_drawn(self.drawn)

    @property
    def curve(self) -> rr.Study:
        """Return the study of the chosen metric at the cutoffs of its curve, whichever of them is
        chosen, without random orders.
        """
        return self.drawn_curve._undrawn

    @cached_property
    def drawn_curve(self) -> rr.Study:
        """Return the same with random orders."""
        return self.all_measures.at(*self.choice.along_cutoffs)

    @property
    def ranked(self) -> list[str]:
        """Return the models, the best by the chosen measure first."""
        return self.study.under("expected").table()["model"].to_list()

    def best_first(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows about models or their runs, the best by the chosen measure first."""
        return in_order_of([*dict.fromkeys([*self.ranked, *self.ranked_runs])], rows)

    @property
    def measure(self) -> str:
        """Return the chosen measure as Markdown."""
        return plain(self.choice.measure)

    @cached_property
    def segment_columns(self) -> list[str]:
        """Return columns of the queries with few enough
        values to be segments; floats must be binned first.
        """
        return [
            values.name
            for values in self.data.frames.get("queries", pl.DataFrame())
            if values.name not in NO_SEGMENTS
            and not (
                values.dtype.is_float() or values.dtype.is_decimal() or values.dtype.is_nested()
            )
            and values.n_unique() <= MOST_SEGMENTS
        ]

    def answers(self, name: str) -> bool:
        """Return whether a page has anything to show of these data."""
        source = self.data.source
        several = len(self.choice.models) > 1
        answered = {
            "compare": several,
            "pair": several,
            "costs": several,
            "history": self.data.history is not None,
            "segments": bool(self.segment_columns),
            "neighbours": "labels" in source.frames,
            # scores of different queries can seldom be compared
            "thresholds": "distance" in source.frames["rankings"].columns
            or source.also["calibrate"] is not None,
            "audit": not source.counted,
        }
        return answered.get(name, True)

    def heading(self, name: str) -> None:
        """Show the title of a page, and the name and size of the data below it."""
        about = getattr(self.choice, ABOUT.get(name, "measure"), "")
        st.title(f"{PAGES[name]}: {plain(about)}" if about else PAGES[name])
        some = f"{len(self.choice.models)} of " if self.choice.models != self.data.models else ""
        st.caption(f"{plain(self.data.name)} · {some}{self.data.size}")

    def name_suspects(self) -> None:
        """Name the models that are left out because their data may be wrong, with a link
        to the cause.
        """
        if suspects := self.study.suspects:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(plain(no_verdict_on(suspects)), width="content")
                self.link("overview", "What is wrong with the data")

    def link(self, name: str, label: str, **controls: str) -> None:
        """Offer another page, with some of its controls set."""
        if view := st.session_state.get(VIEWS, {}).get(name):
            st.page_link(view, label=label, query_params=controls)

    def go(self, name: str, **controls: str) -> None:
        """Open another page, with some of its controls set."""
        if view := st.session_state.get(VIEWS, {}).get(name):
            st.switch_page(view, query_params=controls)
