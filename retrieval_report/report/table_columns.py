"""The kinds of columns that tables of a report have: what a cell shows, sorts by and tells on hovering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval_report.analysis.verdicts import chance_of, chance_text
from retrieval_report.report.terminal import deviation, visible
from retrieval_report.writing.numbers import DECIMALS, interval, number, size

__all__ = [
    "FULL_NAME",
    "NAME_WIDTH",
    "NOTHING",
    "Cell",
    "Column",
    "Row",
    "chance_column",
    "counts_column",
    "deviation_column",
    "interval_column",
    "number_column",
    "reversal_column",
    "share_column",
    "sort_key",
    "text_column",
    "yes_column",
]

Row = Mapping[str, Any]
KINDS = {"Measure": "measure-name", "Order inside ties": "long-prose", "Call": "prose"}  # columns by heading
NAME_WIDTH = 36
FULL_NAME = 300  # characters of a long name that its tool tip shows; the files have all
NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """What is shown, what it sorts by (empty: last), and the full text where the shown one is cut."""

    text: str
    sort: str = ""
    title: str = ""


@dataclass(frozen=True)
class Column:
    """A heading with its meaning, and the function that fills the column's cells."""

    header: str
    fill: Callable[[Row], Cell]
    help: str = ""
    numeric: bool = True

    @property
    def kind(self) -> str:
        """The class that the page's style and script know the column by."""
        return "number" if self.numeric else KINDS.get(self.header, "")


def text_column(header: str, name: str, *, help: str = "", width: int = NAME_WIDTH) -> Column:
    """A text, cut in the middle where it is long."""

    def fill(row: Row) -> Cell:
        value = row.get(name)
        if value is None or value == "":
            return Cell(NOTHING)
        text = str(value)
        short, full = visible(text, width), visible(text[:FULL_NAME])
        return Cell(short, short, "" if short == full else full)

    return Column(header, fill, help, numeric=False)


def number_column(
    header: str, name: str, digits: int = DECIMALS, *, help: str = "", sign: str = "", nothing: str = NOTHING
) -> Column:
    """A number with some digits, or as many as the row says in ``digits``; one with a sign is a difference."""

    def fill(row: Row) -> Cell:
        value = row.get(name)
        if value is None or value != value:
            return Cell(nothing)
        places = row.get("digits", digits) if digits == DECIMALS else digits
        return Cell(size(value, places, sign) if sign else number(value, places), sort_key(value))

    return Column(header, fill, help)


def sort_key(value: float) -> str:
    """Digits enough to sort by; what is shown may round neighbours to the same text."""
    return f"{value:.9g}"


def deviation_column(header: str, name: str, *, help: str = "") -> Column:
    """A standard deviation, or why there is none."""

    def fill(row: Row) -> Cell:
        value = row.get(name)
        shown = {"tie_std": value, "truncated_share": row.get("truncated_share") or row.get("truncated")}
        return Cell(deviation(shown), "" if value is None else sort_key(value))

    return Column(header, fill, help)


def share_column(header: str, name: str, *, help: str = "") -> Column:
    """A share in percent."""

    def fill(row: Row) -> Cell:
        value = row.get(name)
        return Cell(NOTHING) if value is None else Cell(f"{value:.1%}", sort_key(value))

    return Column(header, fill, help)


def chance_column(header: str, name: str, *, help: str = "") -> Column:
    """A probability."""

    def fill(row: Row) -> Cell:
        value = row[name]
        if value is None:
            return Cell(NOTHING)
        return Cell(chance_text(value), sort_key(value))

    return Column(header, fill, help)


def reversal_column(header: str, *, help: str = "") -> Column:
    """The chance that tie order reverses a pair, sorted by the most that it can be."""

    def fill(row: Row) -> Cell:
        most = row["p_tie_high"]
        return Cell(NOTHING if most is None else chance_of(row), "" if most is None else sort_key(row["p_tie"] or most))

    return Column(header, fill, help)


def interval_column(header: str, *, help: str = "") -> Column:
    """The ends of a confidence interval."""

    def fill(row: Row) -> Cell:
        low, high = row["ci_low"], row["ci_high"]
        if low is None or high is None:
            return Cell(NOTHING)
        return Cell(interval(low, high), sort_key(low))

    return Column(header, fill, help)


def counts_column(header: str, names: Sequence[str], *, help: str = "") -> Column:
    """Several counts beside each other."""

    def fill(row: Row) -> Cell:
        return Cell(" – ".join(str(row[name]) for name in names), str(row[names[0]]))

    return Column(header, fill, help)


def yes_column(header: str, name: str, *, help: str = "") -> Column:
    """Yes or no."""

    def fill(row: Row) -> Cell:
        value = row[name]
        return Cell(NOTHING) if value is None else Cell("yes" if value else "no", "yes" if value else "no")

    return Column(header, fill, help, numeric=False)
