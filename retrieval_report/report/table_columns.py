"""The kinds of columns in tables of a report: what a cell shows, sorts by and shows as a tool tip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval_report.analysis.verdicts import chance_of
from retrieval_report.contracts.columns import INTERVAL
from retrieval_report.contracts.registry import column
from retrieval_report.report.terminal import deviation, visible
from retrieval_report.writing.numbers import DECIMALS, amount, chance_text, interval, number, share, size

Row = Mapping[str, Any]
KINDS = {"measure": "measure-name", "order": "long-prose", "call": "prose"}  # kinds of text columns
NAME_WIDTH = 36
FULL_NAME = 300  # characters of a long name that its tool tip shows; the files have all
NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """The text shown, the key it sorts by (empty: last), and the full text if the shown one is shortened."""

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
    frame: str, name: str, *, width: int = NAME_WIDTH, nothing: str = NOTHING, key: str = "", title: str = ""
) -> Column:
    """Return a column with its declared title, meaning and format.

    ``key`` is the row's key for the value if it is not the column's name; ``title`` replaces the declared title.

    >>> share = column_of("profile", "cut_share")
    >>> share.header, share.fill({"cut_share": 0.25}).text
    ('Cut a tie', '25.0%')
    """
    known = column(frame, name)
    known = known._replace(title=title or known.title)
    if name in ("tie_std", "std"):
        return Column(known.title, _deviation(name), known.help)
    if name == "p_tie":
        return Column(known.title, _reversal, known.help)
    fill = _text(key or name, width) if known.format == "text" else _value(key or name, known.format, nothing)
    return Column(known.title, fill, known.help, known.format not in ("text", "flag"), name)


def columns_of(frame: str, *names: str) -> list[Column]:
    """Return columns as they were declared; ``measure`` and ``interval`` are put together from several."""
    shared = {"measure": MEASURE, "interval": INTERVALS}
    return [shared[name] if name in shared else column_of(frame, name) for name in names]


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
    """Return a function that fills a cell with a number (in the row's ``digits``), a share, a probability or yes/no."""
    digits = {"count": 0, "tenth": 1}.get(format, DECIMALS)

    def fill(row: Row) -> Cell:
        value = row.get(name)
        if value is None or value != value:
            return Cell(nothing)
        if format == "flag":
            return Cell("yes" if value else "no", "yes" if value else "no")
        if format == "share":
            return Cell(share(value), sort_key(value))
        if format == "chance":
            return Cell(chance_text(value), sort_key(value))
        if format == "amount":
            return Cell(amount(value), sort_key(value))
        if format == "signed":
            return Cell(size(value, row.get("digits", digits), "+"), sort_key(value))
        return Cell(number(value, row.get("digits", digits) if format == "number" else digits), sort_key(value))

    return fill


def _deviation(name: str) -> Callable[[Row], Cell]:
    """Return a function that fills a cell with a standard deviation, or the reason why there is none."""

    def fill(row: Row) -> Cell:
        value = row.get(name)
        shown = {"tie_std": value, "truncated_share": row.get("truncated_share") or row.get("truncated")}
        return Cell(deviation(shown), "" if value is None else sort_key(value))

    return fill


def _reversal(row: Row) -> Cell:
    """Return a cell with the probability that tie order reverses a pair, sorted by its upper bound."""
    most = row["p_tie_high"]
    return Cell(NOTHING if most is None else chance_of(row), "" if most is None else sort_key(row["p_tie"] or most))


def sort_key(value: float) -> str:
    """Return enough digits to sort by, since the text shown may round neighbours to the same value."""
    return f"{value:.9g}"


def _interval(row: Row) -> Cell:
    """Return a cell with the ends of a confidence interval."""
    low, high = row["ci_low"], row["ci_high"]
    return Cell(NOTHING) if low is None or high is None else Cell(interval(low, high), sort_key(low))


def ranks_column(frame: str, names: Sequence[str], title: str) -> Column:
    """Return a column with the range of ranks between two columns, or one rank."""
    low, high = names

    def fill(row: Row) -> Cell:
        first, last = row[low], row[high]
        if first is None or last is None:
            return Cell(NOTHING)
        return Cell(str(first) if first == last else f"{first} to {last}", str(first))

    return Column(title, fill, "; ".join(column(frame, name).help for name in names))


def counts_column(frame: str, names: Sequence[str]) -> Column:
    """Return a column that shows several counts side by side."""
    known = [column(frame, name) for name in names]

    def fill(row: Row) -> Cell:
        return Cell(" – ".join(str(row[name]) for name in names), str(row[names[0]]))

    return Column(" – ".join(part.title for part in known), fill, "; ".join(part.help for part in known))


MEASURE = column_of("board", "measure")
INTERVALS = Column(INTERVAL.title, _interval, INTERVAL.help)
