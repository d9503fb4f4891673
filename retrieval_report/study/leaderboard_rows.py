"""The one leaderboard that the terminal, notebooks, the report and the dashboard show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.comparison.verdicts import CHECK
from retrieval_report.engines.check_scores import IS_ESTIMATE, MEAN, at_measure, board, join_left
from retrieval_report.metrics.parsing import Measure, measure_text
from retrieval_report.scoring.health import NO_LIST
from retrieval_report.study.notebook import html_table
from retrieval_report.study.table_columns import DASH, MODEL_WIDTH, joined_texts
from retrieval_report.study.terminal import frame_table, marks_note, visible
from retrieval_report.study.three_tables import (
    LEVEL,
    MAX_MEASURES,
    is_moved,
    three_rows,
    with_copies_folded,
)
from retrieval_report.writing.names import first_names

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

COUNTED = ["queries", "unpaired"]  # of all models together
# The other measures follow.
COLUMNS = [
    "rank",
    "model",
    "cost_amount",
    "answered",
    "expected",
    "shuffled_range",
    "naive",
    "tie_ranks",
    "query_ranks",
    "interval",
]
# What the three scores add to a summary.
THREE = [*MEAN, "order_low", "order_high", "order_method", "copy_of"]


def leaderboard_rows(
    summary: pl.DataFrame,
    ranks: pl.DataFrame,
    measures: Sequence[Measure],
    three: pl.DataFrame,
    health: pl.DataFrame,
) -> pl.DataFrame:
    """Return one row per model, best by the first measure first and those without a rank last, with
    what one random order prints and every other measure as a column; ``estimates`` names the
    columns of a row that are estimates. Copies of a model share its row.

    ``ranks`` and ``three`` are the results of `leaderboard` and `three_scores`; of one model
    nothing is ranked. ``health`` says which models lack lists.
    """
    rows = board(summary.filter(at_measure(*measures[0])), pl.max("unjudged"))
    rows = join_left(rows, three.select(THREE), MEAN)
    if rows.height > 1:
        rows = with_ranks(rows.drop("queries"), ranks).with_columns(pl.max(*COUNTED))
        rows = rows.sort(pl.col("rank").is_null(), maintain_order=True)
    rows = rows.with_columns(joined_texts(rows, "interval", "shuffled_range"))
    rows = _with_answered(rows, health).with_columns(estimates=_if_estimate("expected"))
    for measure in measures[1:]:
        name = measure_text(*measure)
        of_measure = board(summary.filter(at_measure(*measure)))
        value = pl.col("value").alias(name)
        rows = join_left(rows, of_measure.select("model", value, mark=_if_estimate(name)), "model")
        marks = pl.concat_list("estimates", pl.col("mark").fill_null([]))
        rows = rows.with_columns(estimates=marks).drop("mark")
    is_ranked = "rank" in rows.columns and rows["rank"].count() > 1
    ranges = ("tie_ranks", "query_ranks") if is_ranked else ()
    rows = with_copies_folded(rows)
    return rows.with_columns(joined_texts(rows, *ranges))


def _if_estimate(name: str) -> pl.Expr:
    """Return a list of this name where its mean is an estimate; elsewhere it is empty."""
    return pl.when(IS_ESTIMATE).then([name]).otherwise([])


def with_ranks(rows: pl.DataFrame, ranks: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of :func:`leaderboard` that rows about models do not have."""
    return join_left(rows, ranks.drop(set(rows.columns) - {*MEAN}, strict=False), MEAN)


def _with_answered(rows: pl.DataFrame, health: pl.DataFrame) -> pl.DataFrame:
    """Add how many of the judged queries every model answers, if one lacks some."""
    lacking = health.filter(finding=NO_LIST).select("model", "affected", "total")
    if lacking.is_empty():
        return rows
    total = lacking["total"].max()
    number = total - pl.col("affected").fill_null(0)
    answered = pl.format("{} of {}", number, pl.lit(total)).alias("answered")
    return join_left(rows, lacking, "model").with_columns(answered).drop("affected", "total")


def leaderboard_of(
    study: Study, ranks: pl.DataFrame | None = None, others: Study | None = None
) -> tuple[pl.DataFrame, str, str]:
    """Return the leaderboard of a study, of which only the headline needs ``ranks``; the names of
    the columns to show; and what a mark in them means. The measures of ``others``, a study of the
    same models, follow its own.
    """
    ranks = study.headline.leaderboard if ranks is None else ranks
    both = [study] if others is None else [study, others]
    means = pl.concat(one._undrawn.summary for one in both)
    measures = [measure for one in both for measure in one.measures]
    rows = leaderboard_rows(means, ranks, measures, study.headline.three_scores, study.health)
    rows = with_costs(rows, study.headline.costs)
    return rows, leaderboard_columns(rows), estimates_line(rows)


def with_costs(rows: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """Add what every model costs by the first kind of cost, and what that is; of models that share
    a row, if they cost the same.
    """
    if not costs.width:
        return rows
    of_models = costs.filter(cost=pl.first("cost"), policy="expected")
    of_models = of_models.unique("model").select("cost", "amount", part="model")
    amount = pl.when(pl.n_unique("amount") == 1).then(pl.first("amount"))
    of_rows = join_left(rows.select("model", part="row_models").explode("part"), of_models, "part")
    of_rows = of_rows.group_by("model").agg(pl.first("cost"), cost_amount=amount)
    return join_left(rows, of_rows, "model")


def _below_three(study: Study, ranks: pl.DataFrame | None = None) -> tuple[pl.DataFrame, str, str]:
    """Return the same without the columns that the table of the three scores shows above it."""
    rows, columns, note = leaderboard_of(study, ranks)
    if is_moved(three_rows(study.headline.three_scores, study.measures[0])):
        shown = {"shuffled_range", "naive"}
        columns = " ".join(name for name in columns.split() if name not in shown)
    return rows, columns, note


def leaderboard_table(study: Study, ranks: pl.DataFrame | None = None) -> str:
    """Return the leaderboard of a study as text, without what the three scores above it show."""
    rows, columns, note = _below_three(study, ranks)
    rows = rows.with_columns(unpaired=0) if "unpaired" not in rows.columns else rows
    table = frame_table(rows, columns, by="metric cutoff queries unpaired")
    return "\n".join(filter(None, [table, note]))


def leaderboard_html(study: Study) -> str:
    """Return the same as HTML."""
    rows, columns, note = _below_three(study)
    return html_table(rows, columns, note=note)


def leaderboard_columns(rows: pl.DataFrame) -> str:
    """Return the names of the columns to show, which are those that say something."""
    column_names = [name for name in COLUMNS if name in rows.columns]
    column_names += [name for name in rows.columns if "@" in name]
    return " ".join(name for name in column_names if rows[name].null_count() < rows.height)


def in_order_of(ranked: Sequence[str], frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows about models in the order of a leaderboard."""
    places = range(len(ranked))
    order = pl.col("model").replace_strict(ranked, places, default=None, return_dtype=pl.Int64)
    return frame.sort(order, nulls_last=True, maintain_order=True)


def other_leaders(rows: pl.DataFrame) -> str:
    """Say which model leads by other measures of a leaderboard where it is another one.

    >>> other_leaders(
    ...     pl.DataFrame({"model": ["a", "b"], "rank": [1, 2], "ap@5": [0.5, 0.6], "rr@5": [0, 1]})
    ... )
    'By ap@5 and rr@5, b leads.'
    >>> rows = {"model": ["a", "b", "c"], "rank": [1, 2, 2], "ap@5": [0.5, 0.6, 0.6]}
    >>> other_leaders(pl.DataFrame(rows))
    'By ap@5, b and c share the lead.'
    """
    if "rank" not in rows.columns:
        return ""
    by_leaders: dict[str, list[str]] = {}
    ranked = rows.drop_nulls("rank")
    for name in (name for name in ranked.columns if "@" in name):
        best = ranked.filter(pl.col(name) >= pl.max(name) - LEVEL)
        if best.height and best["rank"].min() != 1:
            leaders = [visible(model, MODEL_WIDTH) for model in best["model"]]
            lead = f"{first_names(leaders, MAX_MEASURES)} {'share the lead' if leaders[1:] else 'leads'}"
            by_leaders.setdefault(lead, []).append(visible(name))
    return " ".join(
        f"By {first_names(measures, MAX_MEASURES)}, {lead}."
        for lead, measures in by_leaders.items()
    )


def estimates_line(rows: pl.DataFrame) -> str:
    """Return who leads by other measures, why a model has no rank, what the mark of a leaderboard
    means, if a number has it, that ranks by ties also hold what may be missing, if they do, and
    what costs are of, if they have a name.
    """
    columns = leaderboard_columns(rows).split()
    is_unranked = "rank" in columns and rows["rank"].has_nulls()
    unranked = f"No rank ({DASH}): see “{CHECK.capitalize()}”." if is_unranked else ""
    is_open = "tie_ranks" in columns and (rows["truncated_share"] > 0).any()
    ranks = (
        "Where lists may be cut, ranks by ties hold whatever items are missing." if is_open else ""
    )
    # Of folded models that cost different amounts no cost is shown.
    has_costs = "cost_amount" in columns
    costs = rows["cost"].drop_nulls()[:1].to_list() if has_costs else []
    return " ".join(
        filter(
            None,
            [
                other_leaders(rows),
                unranked,
                marks_note(rows),
                ranks,
                *(f"Cost: {visible(cost)}." for cost in costs if cost != "cost"),
            ],
        )
    )
