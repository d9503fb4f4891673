"""The page on scores against costs: which models no other model beats at both."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from cached import ask, ranked_models, study_of
from chart_display import chart_of, show_chart
from records import Choice, Data, Upload
from retrieval_report import charts
from retrieval_report.contracts.errors import FileError
from tables import frame_table, heading
from text import plain
from uploads import read_costs
from url_controls import choose_one

SHOWN = (
    *(
        "model",
        "amount",
        "value",
        "tie_std",
        "lowest",
        "highest",
        "front",
        "front_in_every_order",
        "beaten_by",
    ),
)


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Costs: {plain(choice.measure)}", data)
    st.markdown(
        "Enter the cost of every model, such as bytes per vector, milliseconds or dollars; less is "
        "better. Or open a "
        "table with a column *model* and a column of numbers for each kind of cost."
    )
    study = study_of(data, choice).at(choice.measure).under("expected", "best", "worst")
    file = st.file_uploader("Costs", key="costs upload")
    if file is None:
        costs = _entered(ranked_models(study))
    else:
        costs = read_costs(Upload(file.name, file.getvalue()))
        strange = sorted(set(costs["model"].drop_nulls()) - set(data.models))
        if strange:
            raise FileError(f"{file.name}: there is no model {strange[0]!r} in this data")
        costs = costs.filter(pl.col("model").is_in(choice.models))
    table = study.using(costs=costs).costs
    ask(data, costs=None if table.is_empty() else costs.write_json())
    if table.is_empty():
        st.info("No cost is known yet.")
        return
    kind = choose_one(
        "Kind of cost", table["cost"].unique(maintain_order=True).to_list(), name="cost"
    )
    here = table.filter(cost=kind)
    key = (kind, tuple(here["amount"]))
    show_chart(chart_of(data, choice, charts.costs, here, **choice.at, cost=kind, key=key))
    whole = here.select(
        ((pl.col("amount") == pl.col("amount").round()) & (pl.col("amount") < 2**53)).all()
    ).item()
    rows = here.with_columns(pl.col("amount").cast(pl.Int64 if whole else pl.Float64))
    frame_table(rows, of="costs", show=SHOWN, alt="Models and their costs, cheapest first.")


def _entered(models: list[str]) -> pl.DataFrame:
    """Return what was typed into the table of models."""
    empty = pl.DataFrame({"model": models}, schema={"model": pl.String}).with_columns(
        cost=pl.lit(None, pl.Float64)
    )
    config: dict[str, Any] = {
        "model": st.column_config.TextColumn("Model", disabled=True),
        "cost": st.column_config.NumberColumn("Cost", min_value=0.0),
    }
    shown: dict[str, Any] = {
        "column_config": config,
        "hide_index": True,
        "key": "costs table",
        "placeholder": "–",
    }
    edited: pl.DataFrame = st.data_editor(empty, **shown)
    return edited.drop_nulls("cost")
