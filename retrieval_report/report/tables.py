"""Turn frames into tables for reading, with chosen columns, few digits, short names, and values to sort by."""

from __future__ import annotations

import polars as pl

from retrieval_report.analysis.audit import furthest_off
from retrieval_report.analysis.comparison import ahead_first
from retrieval_report.analysis.inputs import MEAN, at_cutoff, at_measure, side_by_side
from retrieval_report.analysis.tukey import MANY
from retrieval_report.analysis.verdicts import DEPENDS
from retrieval_report.contracts.truncated import BETWEEN_TIES, NO, WITHIN_TIE
from retrieval_report.report.contents import Report
from retrieval_report.report.question_tables import measure, measured_rows, measured_table, questions
from retrieval_report.report.table_columns import (
    FULL_NAME,
    INTERVAL_COLUMN,
    NOTHING,
    Cell,
    Column,
    Row,
    Table,
    column_of,
    columns_of,
    counts_column,
    sort_key,
    table_of,
)
from retrieval_report.report.terminal import COUNTS, visible
from retrieval_report.writing.numbers import column_decimals, number, span

SAME = 1e-12
LISTS = {
    NO: "hold all items",
    BETWEEN_TIES: "are cut after a whole tie",
    WITHIN_TIE: "are cut, maybe inside their last tie",
}


def report_tables(report: Report) -> dict[str, Table]:
    """Return all tables of the page by id, except those without rows."""
    tables = (
        *questions(report),
        _summary(report),
        *_comparisons(report),
        _agreement(report),
        *_audits(report),
        _profile(report),
        _queries(report),
        _truncation(report),
        _fingerprint(report),
    )
    return {table.id: table for table in tables if table.rows or table.note}


def _fingerprint(report: Report) -> Table:
    """Return the table of the frames received."""
    frame = report.fingerprint
    columns = [column_of("fingerprint", name, width=64) for name in frame.columns]
    return table_of("fingerprint", "The data this report was made from", columns, frame.iter_rows(named=True))


def _summary(report: Report) -> Table:
    names = {"expected": "expected", "naive": "naive", "lowest": "worst", "highest": "best"}
    counts = [name for name in COUNTS if report.summary[name].sum()]
    values = pl.col("tie_std", "truncated_share", "ci_low", "ci_high", "queries", *counts)
    others = values.filter(policy="expected").first()
    wide = side_by_side(report.summary, MEAN, names, others)
    wide = wide.with_columns(naive_error=pl.col("naive") - pl.col("expected"))
    best = wide.sort(pl.col("expected").fill_null(0.0), descending=True, maintain_order=True)
    digits = {key: column_decimals(part["expected"]) for key, part in best.group_by("metric", "cutoff")}
    rows = [
        {**row, "measure": measure(row), "digits": digits[row["metric"], row["cutoff"]]}
        for row in best.iter_rows(named=True)
    ]
    naive = ("naive", "naive_error") if "naive" in report.summary["policy"] else ()
    cut = ("truncated_share",) if report.cut else ()
    first = ("model", "measure", "expected", "tie_std", *naive, "lowest", "highest", *cut)
    columns = columns_of("board", *first, INTERVAL_COLUMN, "queries", *counts)
    return table_of("summary", "Mean scores of all models", columns, rows, chosen=report.measure)


def _comparisons(report: Report) -> list[Table]:
    """Every pair; of many models those whose order depends on tie order by themselves, and the others to be folded."""
    keys = ["model_a", "model_b", "metric", "cutoff"]
    frame = report.comparison.filter(policy="expected").join(
        report.flips.select(*keys, "verdict", "disagree"), on=keys, nulls_equal=True, maintain_order="left"
    )
    counts = counts_column("comparison", ("wins", "ties", "losses"))
    differs = (column_of("comparison", "difference"), INTERVAL_COLUMN)
    shown = ("model_a", "model_b", "measure", *differs, "family_p", "p_tie", "disagree", counts, "verdict")
    columns = columns_of("flips", *shown)
    rows = measured_rows(report, ahead_first(frame, pl.col("difference") < 0))
    plain = "" if report.parameters["average"] == "micro" else ", by their plain means over the queries"
    caption, note = f"Every pair of models{plain}", ""
    if report.comparison["model_a"].n_unique() > 1:
        note = "Each interval is for one pair: unlike p-values, intervals are not adjusted for the number of pairs."
    models = pl.concat([report.comparison["model_a"], report.comparison["model_b"]]).n_unique()
    first = [row for row in rows if row["verdict"] == DEPENDS]
    if models < MANY or report.measure not in [row["measure"] for row in first]:
        return [table_of("comparison", caption, columns, rows, chosen=report.measure, note=note)]
    rest = [row for row in rows if row["verdict"] != DEPENDS]
    accidents = "Pairs whose order depends on tie order"
    return [
        table_of("comparison", accidents, columns, first, chosen=report.measure),
        table_of("comparison-rest", "All other pairs of models", columns, rest, chosen=report.measure, note=note),
    ]


def _agreement(report: Report) -> Table:
    columns = columns_of("agreement", "policy_a", "policy_b", "measure", "tau", "same_winner")
    # Shuffles repeat the expectation with noise, and pairs that agree need only one sentence.
    frame = report.agreement.filter((pl.col("policy_a") != "shuffled") & (pl.col("policy_b") != "shuffled"))
    differing = frame.filter((pl.col("tau") < 1 - SAME) | ~pl.col("same_winner"))
    alike = frame.height - differing.height
    note = f"{alike} pairs of policies rank the models the same way and name the same winner." if alike else ""
    if frame.height and not differing.height:
        note = "All policies rank the models the same way, by every measure: Kendall’s τ is 1."
    return measured_table(report, "agreement", "Where policies disagree on the ranking", columns, differing, note)


def _audits(report: Report) -> tuple[Table, ...]:
    """Return the table of numbers that tie order changes or may change, best models first, and that of the others."""
    if report.audit.is_empty():
        return ()
    system, order = column_of("audit", "system", key="name"), column_of("audit", "order", width=80)
    numbers = (_printed(), "exact", "definition_shift", "off", "z")
    columns = columns_of("audit", system, "call", "model", *numbers, _same_winner(), order)
    rows = report.audit.filter(at_measure(report.metric, report.cutoff)).with_columns(
        name=pl.concat_str("system", "version", separator=" ", ignore_nulls=True),
        misled=pl.col("same_winner").eq(False).fill_null(False),
    )
    rows = rows.sort("misled", "exact", furthest_off, descending=True, nulls_last=True, maintain_order=True)
    settled = (pl.col("off") == 0).fill_null(False) & ~pl.col("misled")
    parts = {"audit": rows.filter(~settled), "audit-exact": rows.filter(settled)}
    caption = f"What other systems would print for {report.measure}"
    captions = {"audit": caption, "audit-exact": f"{caption}: the exact score of its definition"}
    return tuple(table_of(id, captions[id], columns, part.iter_rows(named=True)) for id, part in parts.items())


def _printed() -> Column:
    """Return a column with the number that a system prints, or the range of those it could print."""

    def fill(row: Row) -> Cell:
        low, high = row["prints_low"], row["prints_high"]
        if low is None:
            return Cell(NOTHING)
        if row["prints"] is not None:
            return Cell(number(low), sort_key(low))
        return Cell(span(low, high, " – "), sort_key(low))

    known = column_of("audit", "prints")
    return Column(known.header, fill, f"{known.help}; a range if its order is not defined")


def _same_winner() -> Column:
    known = column_of("audit", "same_winner")

    def fill(row: Row) -> Cell:
        several = row["winner"] is not None and row["same_winner"] is None
        return Cell("open", "open", visible(row["winner"][:FULL_NAME])) if several else known.fill(row)

    return Column(known.header, fill, f"{known.help}; open: several models could win", numeric=False)


def _profile(report: Report) -> Table:
    shown = ("cut_share", "mixed_share", "ends_in_cut_tie", "tied_items", "mixed_items", "tie_median", "tie_max")
    cutoff = column_of("profile", "cutoff", nothing="all")
    columns = columns_of("profile", "model", cutoff, *shown, "items", "distances", "bits")
    rows = _best_first(report, report.profile).iter_rows(named=True)
    return table_of("profile", "How much the distances tie", columns, rows)


def _truncation(report: Report) -> Table:
    """Return the table of how the lists of every model are treated, at the cutoff of the verdict."""
    here = report.truncation.filter(at_cutoff(report.cutoff))
    lists_are = column_of("truncation", "truncated", key="lists_are")
    reason = column_of("truncation", "reason", width=80)
    numbers = ("lists", "shortest", "longest", "open_share", "sufficient_depth")
    columns = columns_of("truncation", "model", lists_are, reason, *numbers)
    rows = _best_first(report, here).with_columns(
        lists_are=pl.col("truncated").replace_strict(LISTS, return_dtype=pl.String)
    )
    caption = f"How the lists are treated, for {report.measure}"
    return table_of("truncation", caption, columns, rows.iter_rows(named=True))


def _queries(report: Report) -> Table:
    shown = ("query", "model", "measure", "naive", "expected", "std", "lowest", "highest", "spread")
    affected = report.queries.filter(pl.col("spread") > 0)
    caption = f"Queries whose score is most affected by tie order{' or by the cut of their list' * report.cut}"
    return measured_table(report, "queries", caption, columns_of("queries", *shown), affected)


def _best_first(report: Report, frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of the models in the order of the verdict's leaderboard."""
    here = report.leaderboard.filter(at_measure(report.metric, report.cutoff))
    order = here.select("model", order=pl.int_range(pl.len()))
    ranked = frame.join(order, on="model", how="left", maintain_order="left")
    return ranked.sort("order", nulls_last=True, maintain_order=True).drop("order")
