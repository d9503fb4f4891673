"""The page on scores against costs: which models no other model beats at both."""

from collections.abc import Sequence

import polars as pl
import streamlit as st

from cached import ask, remembered_questions
from chart_display import show_chart
from page import Page
from retrieval_report import charts
from retrieval_report.contracts.wording import speaking_to
from retrieval_report.reading.files import costs_from
from retrieval_report.study.caveats import names_text
from retrieval_report.study.terminal import marks_note, with_marked_values
from tables import frame_table, table_height
from text import plain
from uploads import offered, opened
from url_controls import choose_one
from wording import DashboardReader

EDITOR = "costs table"
COLUMNS = "model amount value tie_std lowest highest front front_in_every_order beaten_by"


def show(page: Page) -> None:
    """Draw the page."""
    st.markdown(
        "Enter the cost of every model, such as bytes per vector, milliseconds or dollars; less is "
        "better. You can also open a table with a column *model* and a column of numbers for each "
        "kind of cost."
    )
    page.name_suspects()
    study = page.study.under("expected", "best", "worst")
    known_costs = remembered_questions(page.data).get("costs", page.data.costs)
    key = of_data = f"{EDITOR} {page.data.digest}"
    if upload := offered("Costs", "costs upload"):
        with speaking_to(DashboardReader(columns=False)):
            uploaded = costs_from(opened(upload))
        if {*uploaded["model"]} & {*page.choice.models}:
            known_costs, key = uploaded, f"{key} {upload.label}"
        else:
            said = f"of the table names one of these models, such as {page.ranked[0]}: it has"
            names = names_text(uploaded["model"])
            st.warning(plain(f"No row {said} {names}. The costs below are unchanged."))
    # What is typed belongs to a row: the order must not depend on the measure or the chosen models.
    costs = _entered(page.data.models, known_costs, key)
    table = study.using(costs=costs).costs
    if key != of_data or st.session_state[key]["edited_rows"]:
        ask(page.data, costs=None if table.is_empty() else costs)
    if table.is_empty():
        st.info("No costs entered yet.")
        return
    kind = choose_one(
        "Kind of cost", table["cost"].unique(maintain_order=True).to_list(), name="cost"
    )
    rows = table.filter(cost=kind)
    without = [name for name in page.ranked if name not in rows["model"]]
    if without:
        has, shows = ("have", "show them") if len(without) > 1 else ("has", "show it")
        st.caption(plain(f"{names_text(without)} {has} no {kind}; chart and table do not {shows}."))
    show_chart(charts.costs, rows, **page.choice.at, cost=kind)
    rows = with_marked_values(rows, study.summary)
    frame_table(rows, of="costs", show=COLUMNS, alt="Models and their costs, cheapest first.")
    if note := marks_note(rows):
        st.caption(note)


def _entered(models: Sequence[str], known_costs: pl.DataFrame | None, key: str) -> pl.DataFrame:
    """Return what was typed into the table of models, which begins with the known costs."""
    names = pl.DataFrame({"model": models}, schema={"model": pl.String})
    if known_costs is None:
        table = names.with_columns(cost=pl.lit(None, pl.Float64))
    else:
        table = names.join(known_costs, on="model", how="left", maintain_order="left")
    kinds = [name for name in table.columns if name != "model"]
    edited: pl.DataFrame = st.data_editor(
        table,
        column_config={
            "model": st.column_config.TextColumn("Model", disabled=True),
            **dict.fromkeys(kinds, st.column_config.NumberColumn(min_value=0.0)),
        },
        hide_index=True,
        key=key,
        height=table_height(len(models)),
        placeholder="–",
    )
    return edited.filter(pl.any_horizontal(pl.col(kinds).is_not_null()))
