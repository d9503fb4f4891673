"""Frames as tables for reading: chosen columns, few digits, short names, and values to sort by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from retrieval_report.analysis.audit import furthest_off
from retrieval_report.analysis.comparison import turned
from retrieval_report.contracts.truncated import BETWEEN_TIES, NO, WITHIN_TIE
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.report.contents import Report
from retrieval_report.report.question_tables import questions
from retrieval_report.report.table_columns import (
    FULL_NAME,
    NOTHING,
    Cell,
    Column,
    Row,
    chance_column,
    counts_column,
    deviation_column,
    interval_column,
    number_column,
    reversal_column,
    share_column,
    sort_key,
    text_column,
    yes_column,
)
from retrieval_report.report.terminal import visible
from retrieval_report.writing.numbers import column_decimals, number, span

__all__ = ["Cell", "Column", "Table", "plain_table", "report_tables"]

ROWS = 1000  # more would make the page slow; the files have all
SAME = 1e-12
LISTS = {
    NO: "hold all items",
    BETWEEN_TIES: "are cut behind a whole tie",
    WITHIN_TIE: "are cut, maybe inside their last tie",
}
ESTIMATE = "; of cut lists an estimate, from the rows that are there"
NONE = "; cut: there is none, it depends on items that were not retrieved"
DEEPER = ", and whatever a deeper retrieval could show of cut lists"


@dataclass(frozen=True)
class Table:
    """One table of the page; ``measures`` holds each row's metric@cutoff where rows can be chosen by it."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    measures: tuple[str, ...] = ()
    note: str = ""
    chosen: str = ""  # the measure shown at first

    @property
    def choices(self) -> tuple[str, ...]:
        """The different measures, in their order."""
        return tuple(dict.fromkeys(self.measures))


def report_tables(report: Report) -> dict[str, Table]:
    """All tables of the page by id, those without rows left out."""
    tables = (
        *(
            _table(id, caption, columns, rows, by_measure=by_measure, chosen=report.measure if by_measure else "")
            for id, caption, columns, rows, by_measure in questions(report)
        ),
        _summary(report),
        _comparison(report),
        _agreement(report),
        *_audits(report),
        _profile(report),
        _queries(report),
        _truncation(report),
        plain_table("fingerprint", "The data this report was made from", report.fingerprint),
    )
    return {table.id: table for table in tables if table.rows or table.note}


def plain_table(id: str, caption: str, frame: pl.DataFrame) -> Table:
    """Show a small frame as it is."""
    columns = [
        number_column(name, name, 0) if dtype.is_numeric() else text_column(name, name, width=64)
        for name, dtype in frame.schema.items()
    ]
    return _table(id, caption, columns, frame.iter_rows(named=True))


def _summary(report: Report) -> Table:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in report.summary.iter_rows(named=True):
        key = (row["model"], measure(row))
        merged = rows.setdefault(key, {**row, "measure": measure(row)})
        merged[row["policy"]] = row["value"]
        if row["policy"] == "expected":
            merged.update({name: row[name] for name in ("tie_std", "truncated_share", "ci_low", "ci_high", "queries")})
        if row["policy"] == "naive":
            merged["off"] = row["value"]
    ranked = sorted(rows.values(), key=lambda row: -(row.get("expected") or 0.0))
    for row in ranked:
        naive, expected = row.get("naive"), row.get("expected")
        row["off"] = None if naive is None or expected is None else naive - expected
    columns = [
        text_column("Model", "model"),
        text_column("Measure", "measure"),
        number_column("Expected", "expected", help="exact mean over all orders inside ties" + ESTIMATE * report.cut),
        deviation_column(
            "± tie std", "tie_std", help="standard deviation of that mean under random tie order" + NONE * report.cut
        ),
        number_column(
            "Naive", "naive", help="with ties in the order received: what a tool that knows nothing of ties prints"
        ),
        number_column("Naive is off by", "off", sign="+", help="naive − expected"),
        number_column("Lowest", "worst", help="under the worst order inside ties" + DEEPER * report.cut),
        number_column("Highest", "best", help="under the best order inside ties" + DEEPER * report.cut),
        share_column("Cut", "truncated_share", help="queries whose score depends on items that were not retrieved"),
        interval_column(
            "95% interval", help="of the expected mean, under sampling of queries; of each model by itself"
        ),
        number_column("Queries", "queries", 0),
    ]
    absent = {*([] if _has_naive(report) else ["Naive", "Naive is off by"]), *([] if report.cut else ["Cut"])}
    present = [column for column in columns if column.header not in absent]
    for name in {row["measure"] for row in ranked}:
        own = [row for row in ranked if row["measure"] == name]
        digits = column_decimals([row.get("expected") for row in own])
        for row in own:
            row["digits"] = digits
    return _table("summary", "Mean scores of all models", present, ranked, chosen=report.measure)


def _has_naive(report: Report) -> bool:
    return "naive" in report.summary["policy"]


def _comparison(report: Report) -> Table:
    keys = ["model_a", "model_b", "metric", "cutoff"]
    frame = report.comparison.filter(policy="expected").join(
        report.flips.select(*keys, "verdict", "disagree"), on=keys, nulls_equal=True, maintain_order="left"
    )
    columns = [
        text_column("Model a", "model_a"),
        text_column("Model b", "model_b"),
        text_column("Measure", "measure"),
        number_column("a − b", "difference", sign="+", help="difference of the expected means"),
        interval_column("95% interval", help="of the difference, under sampling of queries"),
        chance_column("Holm p", "family_p", help="sign-flip permutation test, corrected for the number of pairs"),
        reversal_column("Tie-flip chance", help="probability that random tie order shows the pair in the other order"),
        text_column("Disagreeing", "disagree", help="which of shuffled and naive means order the pair otherwise"),
        counts_column("Wins – equal – losses", ("wins", "ties", "losses"), help="queries that a wins, shares, loses"),
        text_column(
            "Verdict", "verdict", help="safe: the order does not depend on tie order, and the difference is significant"
        ),
    ]
    ahead = turned(frame, pl.col("difference") < 0)  # the better model first, and the best pairs on top
    best = ahead.sort("value_a", "value_b", descending=True, nulls_last=True, maintain_order=True)
    rows = _first_measure(report, best)
    plain = "" if report.parameters["average"] == "micro" else ", by their plain means over the queries"
    caption, note = f"Every pair of models{plain}", ""
    if report.comparison["model_a"].n_unique() > 1:
        note = "Intervals are of each pair by itself: they are not adjusted for the number of pairs, as p-values are."
    return _table("comparison", caption, columns, rows, chosen=report.measure, note=note)


def _agreement(report: Report) -> Table:
    columns = [
        text_column("Policy", "policy_a"),
        text_column("Other policy", "policy_b"),
        text_column("Measure", "measure"),
        number_column("Kendall’s τ", "tau", 3, help="1: the same ranking of the models, −1: the reverse"),
        yes_column("Same winner", "same_winner"),
    ]
    # Shuffles repeat the expectation with noise; what agrees is a sentence, not a row each.
    frame = report.agreement.filter((pl.col("policy_a") != "shuffled") & (pl.col("policy_b") != "shuffled"))
    differing = frame.filter((pl.col("tau") < 1 - SAME) | ~pl.col("same_winner"))
    alike = frame.height - differing.height
    note = f"{alike} pairs of policies rank the models the same way and name the same winner." if alike else ""
    if frame.height and not differing.height:
        note = "All policies rank the models the same way, by every measure: Kendall’s τ is 1."
    rows = _first_measure(report, differing)
    return _table(
        "agreement", "Where policies disagree on the ranking", columns, rows, chosen=report.measure, note=note
    )


def _audits(report: Report) -> tuple[Table, ...]:
    """What other systems print that is not exact, the best models first, and what they print that is."""
    if report.audit.is_empty():
        return ()
    columns = [
        text_column("System", "name"),
        text_column("Call", "call"),
        text_column("Model", "model"),
        _printed("Prints", help="one number, or the range of those it could print where its order is open"),
        number_column("Exact", "exact", help="exact value of the metric asked for"),
        number_column("By definition", "definition_shift", sign="+", help="what the system's own definition adds"),
        number_column("By tie order", "off", sign="+", help="what its order inside ties adds"),
        number_column("z", "z", 1, sign="+", help="by tie order, in standard deviations of random tie order"),
        _same_winner("Same winner", help="whether it names the model that is best under its own definition"),
        text_column("Order inside ties", "order", width=80),
    ]
    here = (pl.col("metric") == report.metric) & pl.col("cutoff").eq_missing(pl.lit(report.cutoff, dtype=pl.Int64))
    rows = report.audit.filter(here).with_columns(
        name=pl.concat_str("system", "version", separator=" ", ignore_nulls=True),
        misled=pl.col("same_winner").eq(False).fill_null(False),
    )
    rows = rows.sort("misled", "exact", furthest_off, descending=True, nulls_last=True, maintain_order=True)
    exact = (pl.col("prints") == pl.col("exact")).fill_null(False)
    parts = {"audit": rows.filter(~exact), "audit-exact": rows.filter(exact)}
    caption = f"What other systems would print for {report.measure}"
    captions = {"audit": caption, "audit-exact": f"{caption}: the exact score"}
    return tuple(
        _table(id, captions[id], columns, part.iter_rows(named=True), by_measure=False) for id, part in parts.items()
    )


def _printed(header: str, *, help: str) -> Column:
    """The number that a system prints, or the range of those that it could print."""

    def fill(row: Row) -> Cell:
        low, high = row["prints_low"], row["prints_high"]
        if low is None:
            return Cell(NOTHING)
        if row["prints"] is not None:
            return Cell(number(low), sort_key(low))
        return Cell(span(low, high, " – "), sort_key(low))

    return Column(header, fill, help)


def _same_winner(header: str, *, help: str) -> Column:
    known = yes_column(header, "same_winner").fill

    def fill(row: Row) -> Cell:
        several = row["winner"] is not None and row["same_winner"] is None
        return Cell("open", "open", visible(row["winner"][:FULL_NAME])) if several else known(row)

    return Column(header, fill, f"{help}; open: several models could win", numeric=False)


def _profile(report: Report) -> Table:
    columns = [
        text_column("Model", "model"),
        number_column("Cutoff", "cutoff", 0, nothing="all"),
        share_column("Cut a tie", "cut_share", help="queries whose cutoff falls inside a tie"),
        share_column(
            "… that matters", "mixed_share", help="of these, queries where the tie holds different relevances"
        ),
        share_column(
            "End in a cut tie", "ends_in_cut_tie", help="queries whose list may go on with items at its last distance"
        ),
        share_column("Tied items", "tied_items", help="of the top k, items that share their distance with another"),
        share_column("In mixed ties", "mixed_items", help="of the top k, items in a tie of different relevances"),
        number_column("Median tie", "tie_median", 0, help="items of the ties that reach into the top k"),
        number_column("Largest tie", "tie_max", 0),
        number_column("Items", "items", 0, help="length of the lists (median)"),
        number_column("Distances", "distances", 0, help="different distances in a list (median)"),
        number_column("Bits", "bits", 1, help="what the distance tells about the order (median)"),
    ]
    return _table(
        "profile", "How much the distances tie", columns, report.profile.iter_rows(named=True), by_measure=False
    )


def _truncation(report: Report) -> Table:
    """What is taken of the lists of every model, at the cutoff of the verdict."""
    here = report.truncation.filter(pl.col("cutoff").eq_missing(pl.lit(report.cutoff, dtype=pl.Int64)))
    columns = [
        text_column("Model", "model"),
        text_column("Its lists", "lists_are"),
        text_column("Because", "reason", width=80),
        number_column("Lists", "lists", 0),
        number_column("Shortest", "shortest", 0, help="items of the shortest list"),
        number_column("Longest", "longest", 0, help="items of the longest list"),
        share_column("Open", "open_share", help="lists where the cutoff reaches into what their cut leaves open"),
        number_column(
            "Depth enough", "sufficient_depth", 0, help="items of every query that would probably have sufficed"
        ),
    ]
    rows = here.with_columns(lists_are=pl.col("truncated").replace_strict(LISTS, return_dtype=pl.String))
    caption = f"What the lists are taken to be, for {report.measure}"
    return _table("truncation", caption, columns, rows.iter_rows(named=True), by_measure=False)


def _queries(report: Report) -> Table:
    columns = [
        text_column("Query", "query"),
        text_column("Model", "model"),
        text_column("Measure", "measure"),
        number_column("Naive", "naive"),
        number_column("Expected", "expected"),
        deviation_column("± tie std", "std"),
        number_column("Lowest", "lowest"),
        number_column("Highest", "highest"),
        number_column("Spread", "spread", help="highest − lowest"),
    ]
    rows = _first_measure(report, report.queries.filter(pl.col("spread") > 0))
    caption = f"Queries whose score tie order{', or the cut of their list,' * report.cut} moves most"
    return _table("queries", caption, columns, rows, chosen=report.measure)


def measure(row: Row) -> str:
    """Metric and cutoff as one text."""
    return measure_text(row["metric"], row["cutoff"])


def _first_measure(report: Report, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their measure, those of the headline first, so that a cut keeps them."""
    rows = [{**row, "measure": measure(row)} for row in frame.iter_rows(named=True)]
    return sorted(rows, key=lambda row: row["measure"] != report.measure)


def _table(
    id: str,
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    *,
    chosen: str = "",
    by_measure: bool = True,
    note: str = "",
) -> Table:
    everything = list(rows)
    shown = everything[:ROWS]
    if len(shown) < len(everything):
        note = f"The first {ROWS} of {len(everything)} rows; the CSV files have all. {note}".strip()
    cells = tuple(tuple(column.fill(row) for column in columns) for row in shown)
    measures = tuple(row["measure"] for row in shown if "measure" in row) if by_measure else ()
    return Table(id, caption, tuple(columns), cells, measures, note, chosen)
