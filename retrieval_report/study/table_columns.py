"""Tables of a report and the kinds of their columns: what a cell shows, sorts by and shows as a
tool tip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval_report.comparison.verdicts import chance_of
from retrieval_report.contracts.columns import INTERVAL
from retrieval_report.contracts.registry import column
from retrieval_report.study.terminal import deviation, visible
from retrieval_report.writing.numbers import (
    DECIMALS,
    amount,
    chance_text,
    interval,
    number,
    share,
    size,
)

Row = Mapping[str, Any]
KINDS = {"measure": "measure-name", "order": "long-prose", "call": "prose"}  # kinds of text columns
NAME_WIDTH = 36
FULL_NAME = 300  # characters of a long name that its tool tip shows; the files have all
NOTHING = "–"
TEXTS: Mapping[str, Callable[[Any], str]] = {
    "share": share,
    "chance": chance_text,
    "amount": amount,
}
ROWS = 1000  # more would make the page slow; the files hold all rows


@dataclass(frozen=True)
class Cell:
    """The text shown, the key it sorts by (empty: last), and the full text if the shown one is
    shortened.
    """

    text: str
    sort: str = ""
    title: str = ""


@dataclass(frozen=True)
class Column:
    """A heading, its meaning, and the function that fills the column's cells."""

    header: str
    fill: Callable[[Row], Cell]
    help: str = ""
    numeric: bool = True
    name: str = ""

    @property
    def kind(self) -> str:
        """Return the class by which the page's style and script identify the column."""
        return "number" if self.numeric else KINDS.get(self.name, "")


def column_of(
    frame: str,
    name: str,
    *,
    width: int = NAME_WIDTH,
    nothing: str = NOTHING,
    key: str = "",
    title: str = "",
) -> Column:
    """Return a column with its declared title, meaning and format.

    ``key`` is the row's key for the value if it is not the column's name; ``title`` replaces the
    declared title.

    >>> share = column_of("profile", "cut_share")
    >>> share.header, share.fill({"cut_share": 0.25}).text
    ('Cut a tie', '25.0%')
    """
    known = column("board" if name == "measure" else frame, name)
    known = known._replace(title=title or known.title)
    if name in ("tie_std", "std"):
        return Column(known.title, _deviation(name), known.help)
    if name == "p_tie":
        return Column(known.title, _reversal, known.help)
    fill = (
        _text(key or name, width)
        if known.format == "text"
        else _value(key or name, known.format, nothing)
    )
    return Column(known.title, fill, known.help, known.format not in ("text", "flag"), name)


def columns_of(frame: str, *parts: str | Column) -> list[Column]:
    """Return columns as they were declared, by their names in one text, and others as they are.

    Each row may have its ``measure``.

    >>> [column.header for column in columns_of("profile", "cut_share tie_max", INTERVAL_COLUMN)]
    ['Cut a tie', 'Largest tie', '95% interval']
    """
    columns: list[Column] = []
    for part in parts:
        columns += (
            [part]
            if isinstance(part, Column)
            else [column_of(frame, name) for name in part.split()]
        )
    return columns


def _text(name: str, width: int) -> Callable[[Row], Cell]:
    """Return a function that fills a cell with text, shortened in the middle if it is long."""

    def fill(row: Row) -> Cell:
        value = row.get(name)
        if value is None or value == "":
            return Cell(NOTHING)
        text = str(value)
        short, full = visible(text, width), visible(text[:FULL_NAME])
        return Cell(short, short, "" if short == full else full)

    return fill


def _value(name: str, format: str, nothing: str) -> Callable[[Row], Cell]:
    """Return a function that fills a cell with a number (in the row's ``digits``), a share, a
    probability or yes/no.
    """
    digits = {"count": 0, "tenth": 1}.get(format, DECIMALS)

    def fill(row: Row) -> Cell:
        value = row.get(name)
        if value is None or value != value:
            return Cell(nothing)
        if format == "flag":
            return Cell("yes" if value else "no", "yes" if value else "no")
        if format in TEXTS:
            return Cell(TEXTS[format](value), sort_key(value))
        if format == "signed":
            return Cell(size(value, row.get("digits", digits), "+"), sort_key(value))
        return Cell(
            number(value, row.get("digits", digits) if format == "number" else digits),
            sort_key(value),
        )

    return fill


def _deviation(name: str) -> Callable[[Row], Cell]:
    """Return a function that fills a cell with a standard deviation, or the reason why there is
    none.
    """

    def fill(row: Row) -> Cell:
        value = row.get(name)
        open_share = row.get("truncated_share") or row.get("truncated")
        shown = {**row, "tie_std": value, "truncated_share": open_share}
        return Cell(deviation(shown), "" if value is None else sort_key(value))

    return fill


def _reversal(row: Row) -> Cell:
    """Return a cell with the probability that tie order reverses a pair, sorted by its upper
    bound.
    """
    most = row["p_tie_high"]
    return Cell(
        NOTHING if most is None else chance_of(row),
        "" if most is None else sort_key(row["p_tie"] or most),
    )


def sort_key(value: float) -> str:
    """Return enough digits to sort by, since the text shown may round neighbours to the same
    value.
    """
    return f"{value:.9g}"


def range_column(
    low: str, high: str, text: Callable[[Any, Any], str], title: str, help: str
) -> Column:
    """Return a column with the range between two columns as text; it sorts by the lower end."""

    def fill(row: Row) -> Cell:
        first, last = row[low], row[high]
        if first is None or last is None:
            return Cell(NOTHING)
        return Cell(text(first, last), sort_key(first))

    return Column(title, fill, help)


INTERVAL_COLUMN = range_column("ci_low", "ci_high", interval, INTERVAL.title, INTERVAL.help)


def counts_column(frame: str, names: Sequence[str]) -> Column:
    """Return a column that shows several counts side by side."""
    known = [column(frame, name) for name in names]

    def fill(row: Row) -> Cell:
        return Cell(" – ".join(str(row[name]) for name in names), str(row[names[0]]))

    return Column(
        " – ".join(part.title for part in known), fill, "; ".join(part.help for part in known)
    )


@dataclass(frozen=True)
class Table:
    """One table of the page; ``measures`` holds each row's metric@cutoff if rows can be filtered by
    it.
    """

    id: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    measures: Sequence[str]
    note: str
    chosen: str  # the measure shown at first
    section: str = ""  # of the page, in which tables with a layout follow each other
    folded: str = ""  # the line that opens it

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the distinct measures, in order."""
        return tuple(dict.fromkeys(self.measures))


def table_of(
    id: str,
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    *,
    chosen: str = "",
    note: str = "",
    section: str = "",
    folded: str = "",
) -> Table:
    """Return a table of rows; readers can filter it by measure if it is said which one is shown at
    first.
    """
    everything = list(rows)
    shown = everything[:ROWS]
    if len(shown) < len(everything):
        note = (
            f"The first {ROWS} of {len(everything)} rows are shown; the CSV files hold all. {note}"
        ).strip()
    cells = [[column.fill(row) for column in columns] for row in shown]
    return Table(
        id,
        caption,
        columns,
        cells,
        [row["measure"] for row in shown] if chosen else [],
        note,
        chosen,
        section,
        folded,
    )
