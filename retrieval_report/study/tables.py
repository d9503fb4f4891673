"""Turn frames into tables for reading, with chosen columns, few digits, short names, and values to
sort by.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from retrieval_report.comparison.pairs import ahead_first
from retrieval_report.comparison.verdicts import DEPENDS
from retrieval_report.contracts.truncated import BETWEEN_TIES, NO, WITHIN_TIE
from retrieval_report.engines.check_scores import MEAN, SIDES, at_cutoff, at_measure, side_by_side
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.scoring.truncation import NOT_KNOWN
from retrieval_report.study.caveats import uneven_lengths
from retrieval_report.study.contents import Report
from retrieval_report.study.questions import QUESTIONS, Layout, Question
from retrieval_report.study.table_columns import (
    FULL_NAME,
    INTERVAL_COLUMN,
    Cell,
    Column,
    Row,
    Table,
    column_of,
    columns_of,
    counts_column,
    range_column,
    table_of,
)
from retrieval_report.study.terminal import COUNTS, visible
from retrieval_report.systems.audit import SAME, furthest_off
from retrieval_report.writing.numbers import column_decimals, number, span

MANY = 10  # models from which not all pairs are shown at first
LISTS = {
    NO: "hold all items",
    BETWEEN_TIES: "are cut after a whole tie",
    WITHIN_TIE: "are cut, maybe inside their last tie",
}


def report_tables(report: Report) -> dict[str, Table]:
    """Return all tables of the page by id, except those without rows, as of questions that were not
    asked.
    """
    tables = [table for question in QUESTIONS for table in _tables_of(report, question)]
    return {table.id: table for table in tables if table.rows or table.note}


def _tables_of(report: Report, question: Question) -> Iterable[Table]:
    if question.table is not None:
        return [_plain(report, question.name, question.table)]
    return BUILDERS[question.name](report) if question.name in BUILDERS else []


def _plain(report: Report, name: str, layout: Layout) -> Table:
    """Return the table of a frame as its layout says."""
    frame = report.frames[name]
    if "policy" in frame.columns:
        frame = frame.filter(policy="expected")
    return table_of(
        layout.id or name,
        layout.caption.format_map(defaultdict(str, report.parameters, measure=report.measure)),
        columns_of(name, layout.columns),
        _measured_rows(report, frame),
        chosen=report.measure if layout.choice else "",
        section=layout.section,
        folded=layout.folded,
    )


def _leaderboard(report: Report) -> list[Table]:
    ranks = (_ranks("tie", "Ranks by tie order"), _ranks("query", "Ranks by queries"))
    rows = report.leaderboard if report.leaderboard["model"].n_unique() > 1 else pl.DataFrame()
    letters = ["letters"] if "letters" in rows.columns else []
    columns = columns_of(
        "leaderboard", "rank model measure value tie_std", *letters, *ranks, INTERVAL_COLUMN
    )
    return [_by_measure(report, "leaderboard", "Models, best first", columns, rows)]


def _ranks(source: str, title: str) -> Column:
    """Return a column with the range of ranks by tie order or by queries, or one rank."""
    low, high = (column_of("leaderboard", f"{source}_rank_{end}") for end in ("low", "high"))
    help = f"{low.help}; {high.help}"
    return range_column(
        low.name, high.name, lambda a, b: str(a) if a == b else f"{a} to {b}", title, help
    )


def _deciding(report: Report) -> list[Table]:
    here = report.deciding
    if here.width:
        here = here.filter(at_measure(report.metric, report.cutoff))
    able = (pl.col("difference") != 0) | (pl.col("lowest") != 0) | (pl.col("highest") != 0)
    rows = _measured_rows(report, here.filter(able.fill_null(False))) if here.height else []
    names = [rows[0]["model_a"], rows[0]["model_b"]] if rows else ["", ""]
    values = [
        column_of("deciding", f"value_{side}", title=name)
        for side, name in zip("ab", names, strict=True)
    ]
    columns = columns_of(
        "deciding", "query", *values, "difference lowest highest share decides order_unsure"
    )
    caption = f"Which queries decide {report.measure} between the first two models"
    alike = here.height - len(rows)
    caption += (
        f"; on {alike} {'other' if alike == 1 else 'others'} they never differ"
        if rows and alike
        else ""
    )
    return [table_of("deciding", caption, columns, rows)]


def _curve(report: Report) -> list[Table]:
    """A row for every model, a column for every level of recall."""
    frame, name = report.recall_curve, "recall_curve"
    levels = [f"{level:g}" for level in frame["recall"].unique().sort()] if frame.width else []
    columns = [
        column_of(name, "model"),
        *(column_of(name, "value", key=level, title=level) for level in levels),
    ]
    rows: dict[str, dict[str, Any]] = {}
    for model, recall, value in (
        frame.select("model", "recall", "value").iter_rows() if frame.width else ()
    ):
        rows.setdefault(model, {"model": model})[f"{recall:g}"] = value
    return [table_of("recall-curve", "Interpolated precision along recall", columns, rows.values())]


def _summary(report: Report) -> list[Table]:
    counts = [name for name in COUNTS if report.summary[name].sum()]
    values = pl.col("tie_std", "truncated_share", "pooled", "ci_low", "ci_high", "queries", *counts)
    wide = side_by_side(report.summary, MEAN, SIDES, values.filter(policy="expected").first())
    wide = wide.with_columns(naive_error=pl.col("naive") - pl.col("expected"))
    best = wide.sort(pl.col("expected").fill_null(0.0), descending=True, maintain_order=True)
    digits = {
        key: column_decimals(part["expected"]) for key, part in best.group_by("metric", "cutoff")
    }
    rows = [
        {**row, "measure": _measure(row), "digits": digits[row["metric"], row["cutoff"]]}
        for row in best.iter_rows(named=True)
    ]
    naive = "naive naive_error" if "naive" in report.summary["policy"] else ""
    cut = "truncated_share" if report.cut else ""
    first = f"model measure expected tie_std {naive} lowest highest {cut}"
    columns = columns_of("board", first, INTERVAL_COLUMN, "queries", *counts)
    measures = report.summary.select("metric", "cutoff").unique(maintain_order=True).rows()
    others = [
        measure for measure in measures if measure != (report.metric, report.cutoff)
    ]  # the verdict names it
    note = " ".join(uneven_lengths(report.scores, others))
    return [
        table_of(
            "summary", "Mean scores of all models", columns, rows, chosen=report.measure, note=note
        )
    ]


def _comparisons(report: Report) -> list[Table]:
    """Every pair; of many models those whose order depends on tie order by themselves, and the
    others to be folded.
    """
    keys = ["model_a", "model_b", "metric", "cutoff"]
    frame = report.comparison.filter(policy="expected").join(
        report.flips.select(*keys, "verdict", "disagree"),
        on=keys,
        nulls_equal=True,
        maintain_order="left",
    )
    counts = counts_column("comparison", ("wins", "ties", "losses"))
    differs = (column_of("comparison", "difference"), INTERVAL_COLUMN)
    columns = columns_of(
        "flips", "model_a model_b measure", *differs, "family_p p_tie disagree", counts, "verdict"
    )
    rows = _measured_rows(report, ahead_first(frame, pl.col("difference") < 0))
    plain = (
        "" if report.parameters["average"] == "micro" else ", by their plain means over the queries"
    )
    caption, note = f"Every pair of models{plain}", ""
    if report.comparison["model_a"].n_unique() > 1:
        note = (
            "Each interval is for one pair: unlike p-values, intervals are not adjusted for the "
            "number of pairs."
        )
    models = pl.concat([report.comparison["model_a"], report.comparison["model_b"]]).n_unique()
    first = [row for row in rows if row["verdict"] == DEPENDS]
    if models < MANY or report.measure not in [row["measure"] for row in first]:
        return [table_of("comparison", caption, columns, rows, chosen=report.measure, note=note)]
    rest = [row for row in rows if row["verdict"] != DEPENDS]
    accidents = "Pairs whose order depends on tie order"
    return [
        table_of("comparison", accidents, columns, first, chosen=report.measure),
        table_of(
            "comparison-rest",
            "All other pairs of models",
            columns,
            rest,
            chosen=report.measure,
            note=note,
        ),
    ]


def _agreement(report: Report) -> list[Table]:
    columns = columns_of("agreement", "policy_a policy_b measure tau same_winner")
    # Shuffles repeat the expectation with noise, and pairs that agree need only one sentence.
    frame = report.agreement.filter(
        (pl.col("policy_a") != "shuffled") & (pl.col("policy_b") != "shuffled")
    )
    differing = frame.filter((pl.col("tau") < 1 - SAME) | ~pl.col("same_winner"))
    alike = frame.height - differing.height
    note = (
        f"{alike} pairs of policies rank the models the same way and name the same winner."
        if alike
        else ""
    )
    if frame.height and not differing.height:
        note = "All policies rank the models the same way, by every measure: Kendall’s τ is 1."
    return [
        _by_measure(
            report, "agreement", "Where policies disagree on the ranking", columns, differing, note
        )
    ]


def _audits(report: Report) -> list[Table]:
    """Return the table of numbers that tie order changes or may change, best models first, and that
    of the others.
    """
    if report.audit.is_empty():
        return []
    system, order = column_of("audit", "system", key="name"), column_of("audit", "order", width=80)
    numbers = (_printed(), "exact definition_shift off z")
    columns = columns_of("audit", system, "call model", *numbers, _same_winner(), order)
    rows = report.audit.filter(at_measure(report.metric, report.cutoff)).with_columns(
        name=pl.concat_str("system", "version", separator=" ", ignore_nulls=True),
        misled=pl.col("same_winner").eq(False).fill_null(False),
    )
    rows = rows.sort(
        "misled", "exact", furthest_off, descending=True, nulls_last=True, maintain_order=True
    )
    settled = (pl.col("off") == 0).fill_null(False) & ~pl.col("misled")
    parts = {"audit": rows.filter(~settled), "audit-exact": rows.filter(settled)}
    caption = f"What other systems would print for {report.measure}"
    captions = {"audit": caption, "audit-exact": f"{caption}: the exact score of its definition"}
    return [
        table_of(id, captions[id], columns, part.iter_rows(named=True))
        for id, part in parts.items()
    ]


def _printed() -> Column:
    """Return a column with the number that a system prints, or the range of those it could
    print.
    """

    def text(low: float, high: float) -> str:
        return number(low) if high - low <= SAME else span(low, high, " – ")

    known = column_of("audit", "prints")
    help = f"{known.help}; a range if its order is not defined"
    return range_column("prints_low", "prints_high", text, known.header, help)


def _same_winner() -> Column:
    known = column_of("audit", "same_winner")

    def fill(row: Row) -> Cell:
        several = row["winner"] is not None and row["same_winner"] is None
        return (
            Cell("open", "open", visible(row["winner"][:FULL_NAME])) if several else known.fill(row)
        )

    return Column(
        known.header, fill, f"{known.help}; open: several models could win", numeric=False
    )


def _profile(report: Report) -> list[Table]:
    shares = "cut_share mixed_share ends_in_cut_tie tied_items mixed_items"
    cutoff = column_of("profile", "cutoff", nothing="all")
    columns = columns_of(
        "profile", "model", cutoff, shares, "tie_median tie_max items distances bits"
    )
    rows = _best_first(report, report.profile).iter_rows(named=True)
    return [table_of("profile", "How much the distances tie", columns, rows)]


def _queries(report: Report) -> list[Table]:
    columns = columns_of("queries", "query model measure naive expected std lowest highest spread")
    affected = report.queries.filter(pl.col("spread") > 0)
    caption = (
        "Queries whose score is most affected by tie "
        f"order{' or by the cut of their list' * report.cut}"
    )
    return [_by_measure(report, "queries", caption, columns, affected)]


def _truncation(report: Report) -> list[Table]:
    """Return the table of how the lists of every model are treated, at the cutoff of the
    verdict.
    """
    lists_are = column_of("truncation", "truncated", key="lists_are")
    reason = column_of("truncation", "reason", width=80)
    numbers = "lists shortest longest open_share sufficient_depth"
    known = pl.col("truncated").replace_strict(LISTS, return_dtype=pl.String)
    words = pl.when(pl.col("reason") != NOT_KNOWN).then(known).otherwise(pl.lit("may be cut"))
    rows = _best_first(report, report.truncation.filter(at_cutoff(report.cutoff))).with_columns(
        lists_are=words
    )
    columns = columns_of("truncation", "model", lists_are, reason, numbers)
    return [
        table_of(
            "truncation",
            f"How the lists are treated, for {report.measure}",
            columns,
            rows.iter_rows(named=True),
        )
    ]


def _fingerprint(report: Report) -> list[Table]:
    """Return the table of the frames received."""
    frame = report.fingerprint
    columns = [column_of("fingerprint", name, width=64) for name in frame.columns]
    return [
        table_of(
            "fingerprint",
            "The data this report was made from",
            columns,
            frame.iter_rows(named=True),
        )
    ]


def _best_first(report: Report, frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of the models in the order of the verdict's leaderboard."""
    here = report.leaderboard.filter(at_measure(report.metric, report.cutoff))
    order = here.select("model", order=pl.int_range(pl.len()))
    ranked = frame.join(order, on="model", how="left", maintain_order="left")
    return ranked.sort("order", nulls_last=True, maintain_order=True).drop("order")


def _measure(row: Row) -> str:
    return measure_text(row["metric"], row["cutoff"])


def _measured_rows(report: Report, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their measure, those of the headline first."""
    if not frame.width:  # the question was not asked
        return []
    rows = list(frame.iter_rows(named=True))
    if "metric" not in frame.columns:
        return rows
    rows = [{**row, "measure": _measure(row)} for row in rows]
    return sorted(rows, key=lambda row: row["measure"] != report.measure)


def _by_measure(
    report: Report,
    id: str,
    caption: str,
    columns: list[Column],
    frame: pl.DataFrame,
    note: str = "",
) -> Table:
    """Return a table that readers can filter by measure, with that of the headline shown at
    first.
    """
    return table_of(
        id, caption, columns, _measured_rows(report, frame), chosen=report.measure, note=note
    )


BUILDERS: Mapping[str, Callable[[Report], Iterable[Table]]] = {
    "summary": _summary,
    "comparison": _comparisons,
    "agreement": _agreement,
    "profile": _profile,
    "truncation": _truncation,
    "audit": _audits,
    "queries": _queries,
    "leaderboard": _leaderboard,
    "deciding": _deciding,
    "recall_curve": _curve,
    "fingerprint": _fingerprint,
}
